// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/zarr.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

std::string read_metadata_text(const std::string& folder) {
  const fs::path path(folder);
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) throw Error(ErrorKind::bad_file, folder + ": no such folder");
  if (fs::exists(path / ".zarray", ignored)) return read_text((path / ".zarray").string());
  if (fs::exists(path / "zarr.json", ignored))
    throw Error(ErrorKind::not_supported, folder + ": is Zarr version 3, version 2 is read")
        .hint("store it with zarr_format=2");
  const std::vector<std::string> arrays = find_zarr_arrays(folder);
  if (arrays.empty()) throw Error(ErrorKind::bad_file, folder + ": holds no Zarr array (no file .zarray)");
  throw Error(ErrorKind::bad_file, fmt::format("{}: is a Zarr group that holds {}", folder, join_words(arrays)))
      .hint("name one of its arrays");
}

/// Reads a chunk's file; nothing when it does not exist, which means that the chunk is all fill value.
std::optional<std::vector<std::byte>> read_chunk(const std::string& path) {
  std::error_code failure;
  if (!fs::exists(path, failure) && !failure) return std::nullopt;
  const File file(path);
  std::vector<std::byte> bytes(file.size());
  file.read_at(0, bytes);
  return bytes;
}

}  // namespace

ZarrArray::ZarrArray(const std::string& folder)
    : folder_(folder),
      metadata_(parse_zarr_metadata(read_metadata_text(folder), (fs::path(folder) / ".zarray").string())),
      frames_(
          metadata_.shape, metadata_.chunks,
          {metadata_.fill.begin(), metadata_.fill.begin() + static_cast<std::ptrdiff_t>(size_bytes(metadata_.dtype))}) {
  if (metadata_.shape.rank() < 2)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: shape {}, expected at least two dimensions", folder, metadata_.shape.text()));
}

std::string ZarrArray::chunk_path(Index chunk) const {
  const Shape& grid = frames_.grid();
  std::string name;
  for (int i = grid.rank() - 1; i >= 0; --i) {
    name = fmt::format("{}{}{}", chunk % grid[i], name.empty() ? "" : std::string(1, metadata_.separator), name);
    chunk /= grid[i];
  }
  return (fs::path(folder_) / name).string();
}

void ZarrArray::read_frames(Index first, Index last, std::span<std::byte> elements) const {
  const auto decode = [&](Index chunk, Worker&, std::vector<std::byte>& decoded) {
    const std::string path = chunk_path(chunk);
    const auto stored = read_chunk(path);
    if (!stored) return false;
    decoded.resize(metadata_.chunk_bytes());
    decode_zarr_chunk(metadata_, *stored, decoded, path);
    return true;
  };
  frames_.read(first, last, decode, elements);
}

std::vector<std::string> find_zarr_arrays(const std::string& folder) {
  std::error_code ignored;
  if (fs::exists(fs::path(folder) / ".zarray", ignored)) return {""};
  std::vector<std::string> arrays;
  for (auto each = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, ignored);
       each != fs::recursive_directory_iterator(); each.increment(ignored)) {
    if (!each->is_directory(ignored) || !fs::exists(each->path() / ".zarray", ignored)) continue;
    each.disable_recursion_pending();  // below lie chunks, perhaps very many
    arrays.push_back(each->path().lexically_relative(folder).generic_string());
  }
  std::sort(arrays.begin(), arrays.end());
  return arrays;
}

std::map<std::string, std::string> read_zarr_attributes(const std::string& folder) {
  const std::string path = (fs::path(folder) / ".zattrs").string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  return parse_zarr_attributes(read_text(path), path);
}

}  // namespace sonde
