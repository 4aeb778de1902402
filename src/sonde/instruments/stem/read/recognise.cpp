// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/recognise.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/file.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

/// The first bytes of a file.
class Start {
 public:
  explicit Start(const File& file) : bytes_(std::min<std::uint64_t>(file.size(), 4096)) { file.read_at(0, bytes_); }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  [[nodiscard]] bool has(std::string_view magic, std::size_t offset = 0) const {
    return text().size() >= offset && text().substr(offset).starts_with(magic);
  }
  [[nodiscard]] std::uint32_t big(std::size_t offset) const {
    return offset + 4 <= bytes_.size() ? load_big<std::uint32_t>(&bytes_[offset]) : ~0u;
  }
  [[nodiscard]] std::uint32_t little(std::size_t offset) const {
    return offset + 4 <= bytes_.size() ? load_little<std::uint32_t>(&bytes_[offset]) : ~0u;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// HDF5 may begin behind a block of the user's: at 0, 512, 1024, ...
bool is_hdf5(const File& file) {
  for (std::uint64_t offset = 0; offset + 8 <= file.size(); offset = offset == 0 ? 512 : 2 * offset) {
    std::byte signature[8];
    file.read_at(offset, signature);
    if (std::string_view(reinterpret_cast<const char*>(signature), 8) == "\x89HDF\r\n\x1a\n"sv) return true;
  }
  return false;
}

/// Gatan's version 3 or 4: big-endian version, length (32 or 64 bits), then the byte order, 0 or 1.
bool is_digital_micrograph(const Start& start) {
  return (start.big(0) == 3 && start.big(8) <= 1) || (start.big(0) == 4 && start.big(12) <= 1);
}

/// TVIPS: the size of the head, version, then the sizes of the picture; the head says 256 bytes in all files known.
bool is_tvips(const Start& start, const std::string& extension) {
  return extension == ".tvips" && start.little(0) == 256 && start.little(4) <= 2;
}

struct Refusal {
  std::string_view format, remedy;
};

std::optional<Refusal> known_but_not_read(const Start& start, const std::string& extension) {
  if (start.has("PK\3\4") || start.has("PK\5\6"))
    return extension == ".npz" ? Refusal{"an NPZ archive", "store the scan alone as NPY: numpy.save"}
                               : Refusal{"a ZIP archive", "unpack it and name the scan inside"};
  if (start.has("MAP ", 208) || extension == ".mrc")
    return Refusal{"an MRC movie", "convert it to NPY, for instance with mrcfile and numpy.save"};
  if (is_digital_micrograph(start))
    return Refusal{"a DigitalMicrograph file (DM3 or DM4)", "export the data from DigitalMicrograph as raw or HDF5"};
  if (is_tvips(start, extension))
    return Refusal{"a TVIPS movie", "convert it to NPY or HDF5, for instance with RosettaSciIO"};
  if (start.has("II*\0"sv) || start.has("MM\0*"sv) || start.has("II+\0"sv) || start.has("MM\0+"sv))
    return Refusal{"a TIFF stack", "convert it to NPY: numpy.save"};
  return std::nullopt;
}

ScanFormat recognise_folder(const std::string& path) {
  std::error_code ignored;
  for (const char* name : {".zarray", ".zgroup", "zarr.json"})
    if (fs::exists(fs::path(path) / name, ignored)) return ScanFormat::zarr;
  throw Error(ErrorKind::bad_file, path + ": is a folder, but no Zarr array or group").hint("name a file inside it");
}

std::optional<ScanFormat> by_content(const File& file, const Start& start) {
  if (is_hdf5(file)) return ScanFormat::hdf5;
  if (start.has("\x93NUMPY")) return ScanFormat::npy;
  if (start.has("MQ1,")) return ScanFormat::mib;
  if (start.has("IMGBLO")) return ScanFormat::blo;
  const bool is_xml = start.has("<?xml") || start.has("<root");
  if (is_xml && start.text().find("<raw_file") != std::string_view::npos) return ScanFormat::empad;
  return std::nullopt;
}

}  // namespace

ScanFormat recognise(const std::string& path, const ReadOptions& options) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return recognise_folder(path);
  const File file(path);
  const Start start(file);
  const bool described_as_raw = !options.raw_shape.empty() || !options.raw_dtype.empty();
  if (const auto format = by_content(file, start)) {
    if (described_as_raw)
      throw Error(ErrorKind::usage,
                  path + ": --shape and --raw-dtype describe raw frames, but this file says them itself")
          .hint("leave them away; --scan-shape gives the shape of the scan");
    return *format;
  }
  if (options.preset == "empad") return ScanFormat::empad;
  if (!options.preset.empty())
    throw Error(ErrorKind::usage,
                fmt::format("unknown preset \"{}\"{}", options.preset, did_you_mean(options.preset, {"empad"})))
        .hint("the presets are: empad");
  if (described_as_raw) return ScanFormat::raw;
  const std::string extension = to_lower(fs::path(path).extension().string());
  if (const auto refusal = known_but_not_read(start, extension))
    throw Error(ErrorKind::not_supported, fmt::format("{}: is {}, which is not read", path, refusal->format))
        .hint(std::string(refusal->remedy));
  if (start.has("HDR,") && extension == ".hdr")
    throw Error(ErrorKind::bad_file, path + ": is the text header of a Merlin scan")
        .hint("name the .mib file beside it");
  throw Error(ErrorKind::bad_file, path + ": is in no format that is known")
      .hint("for raw frames give --shape Ry,Rx,Qy,Qx and --raw-dtype, or --preset empad");
}

}  // namespace sonde::stem
