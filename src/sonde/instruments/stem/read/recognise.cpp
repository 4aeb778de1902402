// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/recognise.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/read/empad.h"
#include "sonde/instruments/stem/read/file_start.h"
#include "sonde/instruments/stem/read/foreign.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

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
bool is_digital_micrograph(const FileStart& start) {
  if (start.extension() == ".gtg") return false;  // the same tags, but of a K2 camera, and without its frames
  return (start.big(0) == 3 && start.big(8) <= 1) || (start.big(0) == 4 && start.big(12) <= 1);
}

/// The machine stamp of MRC2014, or the ending of files that are older than it.
bool is_mrc(const FileStart& start) {
  return start.has("MAP", 208) || start.extension() == ".mrc" || start.extension() == ".mrcs";
}

bool is_tiff(const FileStart& start) {
  return start.has("II*\0"sv) || start.has("MM\0*"sv) || start.has("II+\0"sv) || start.has("MM\0+"sv);
}

ScanFormat recognise_folder(const std::string& path) {
  if (is_scan_folder(path)) return ScanFormat::zarr;
  throw Error(ErrorKind::bad_file, path + ": is a folder, but no Zarr array or group").hint("name a file inside it");
}

std::optional<ScanFormat> by_content(const File& file, const FileStart& start) {
  if (is_hdf5(file)) return ScanFormat::hdf5;
  if (start.has("\x93NUMPY")) return ScanFormat::npy;
  if (start.has("MQ1,")) return ScanFormat::mib;
  if (start.has("IMGBLO")) return ScanFormat::blo;
  const bool is_xml = start.has("<?xml") || start.has("<root");
  if (is_xml && start.text().find("<raw_file") != std::string_view::npos) return ScanFormat::empad;
  if (is_tiff(start)) return ScanFormat::tiff;
  if (start.has("PK\3\4"sv) && start.extension() == ".ndata") return ScanFormat::ndata;
  if (is_digital_micrograph(start)) return ScanFormat::dm;
  if (start.extension() == ".tvips") return ScanFormat::tvips;
  if (is_mrc(start)) return ScanFormat::mrc;
  return std::nullopt;
}

}  // namespace

bool is_scan_folder(const std::string& path) {
  std::error_code ignored;
  for (const char* name : {".zarray", ".zgroup", "zarr.json"})
    if (fs::exists(fs::path(path) / name, ignored)) return true;
  return false;
}

ScanFormat recognise(const std::string& path, const ReadOptions& options) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return recognise_folder(path);
  const File file(path);
  const FileStart start(file);
  const bool described_as_raw = !options.raw_shape.empty() || !options.raw_dtype.empty();
  if (const auto format = by_content(file, start)) {
    if (described_as_raw)
      throw Error(ErrorKind::usage, path + ": " + setting("raw_shape") + " and " + setting("raw_dtype") +
                                        " describe raw frames, but this file says them itself")
          .hint("omit them; " + setting("scan_shape") + " gives the shape of the scan");
    return *format;
  }
  if (options.preset == "empad") return ScanFormat::empad;
  if (!options.preset.empty())
    throw Error(ErrorKind::usage,
                fmt::format("unknown preset \"{}\"{}", options.preset, did_you_mean(options.preset, {"empad"})))
        .hint("the presets are: empad");
  if (described_as_raw) return ScanFormat::raw;
  if (is_empad_raw(path, file.size())) return ScanFormat::empad;
  if (const auto format = foreign_format(start)) throw foreign_error(path, *format);
  if (start.has("HDR,") && start.extension() == ".hdr")
    throw Error(ErrorKind::bad_file, path + ": is the text header of a Merlin scan")
        .hint("name the .mib file beside it");
  throw Error(ErrorKind::bad_file, path + ": unknown file format")
      .hint("for raw frames give " + setting("raw_shape") + " Ry,Rx,Qy,Qx and " + setting("raw_dtype") + ", or " +
            setting("preset", "empad"));
}

}  // namespace sonde::stem
