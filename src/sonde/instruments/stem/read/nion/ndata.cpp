// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/nion/ndata.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/zip.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/read/file_cursor.h"
#include "sonde/instruments/stem/read/frame_block.h"
#include "sonde/instruments/stem/read/nion/nion_properties.h"
#include "sonde/instruments/stem/read/npy.h"

namespace sonde::stem {
namespace {

const ZipEntry* find(const ZipReader& archive, const char* name) {
  const auto found = std::find_if(archive.entries().begin(), archive.entries().end(),
                                  [&](const ZipEntry& entry) { return entry.name == name; });
  return found == archive.entries().end() ? nullptr : &*found;
}

/// Where the bytes of a stored entry begin: behind a local header, whose name and further fields have lengths of their
/// own (APPNOTE 4.3.7).
std::uint64_t data_offset(const File& file, const ZipEntry& entry) {
  FileCursor cursor(file, entry.header_offset);
  if (cursor.little<std::uint32_t>("data.npy") != 0x04034b50)
    throw damaged(file.path(), "data.npy has no header in the archive");
  cursor.skip(22, "data.npy");
  const auto name_bytes = cursor.little<std::uint16_t>("data.npy");
  const auto extra_bytes = cursor.little<std::uint16_t>("data.npy");
  cursor.skip(std::uint64_t{name_bytes} + extra_bytes, "data.npy");
  cursor.require(entry.bytes, "data.npy");
  return cursor.position();
}

}  // namespace

std::unique_ptr<Source> open_ndata(const std::string& path, const ReadOptions& options) {
  const ZipReader archive(path);
  const ZipEntry* data = find(archive, "data.npy");
  if (data == nullptr)
    throw Error(ErrorKind::bad_file, path + ": an archive without data.npy; expected one as Nion Swift writes it");
  if (data->method != ZipMethod::stored)
    throw Error(ErrorKind::not_supported, path + ": data.npy is compressed in the archive; stored arrays are read")
        .hint("unpack the archive and name data.npy");
  File file(path);
  const NpyHeader header = read_npy_header(file, data_offset(file, *data), data->bytes, path + ", data.npy");
  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "Nion Swift ndata";
  acquisition.files = {path};
  acquisition.stored = header.dtype;
  std::optional<StatedGrid> line;
  if (const ZipEntry* entry = find(archive, "metadata.json")) {
    constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;
    if (entry->bytes > most_bytes)
      throw damaged(path, fmt::format("metadata.json has {} bytes; expected at most {}", entry->bytes, most_bytes));
    const std::vector<std::byte> text = archive.read(*entry);
    const std::string_view json(reinterpret_cast<const char*>(text.data()), text.size());
    line = take_nion_properties(json, header.shape, path + ", metadata.json", acquisition);
    acquisition.original_metadata["metadata.json"] = std::string(json);
  }
  derive_detector_steps(acquisition.calibration);
  apply_array_shape(acquisition, header.shape, options, line);
  FrameLayout layout;
  layout.offset = header.data_offset;
  layout.frame_bytes = static_cast<std::size_t>(acquisition.rows * acquisition.cols) * size_bytes(header.dtype);
  return plain_source(std::move(acquisition), FrameBlock(std::move(file), layout), header.big_endian);
}

}  // namespace sonde::stem
