// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sonde/instruments/stem/read/scan_shape.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// What the XML file of an EMPAD acquisition says.
struct EmpadHeader {
  std::string raw_file;  ///< name of the file with the frames
  std::optional<StatedGrid> grid;
  Calibration calibration;                      ///< high tension, camera length
  std::map<std::string, std::string> metadata;  ///< path -> text of every leaf
};

/// Throws Error(bad_file) when the text is no EMPAD header; `name` stands in messages.
[[nodiscard]] EmpadHeader parse_empad_header(std::string_view xml, const std::string& name);

/// Whether a file is the raw file of an EMPAD acquisition by its name and size: "scan_x64_y32.raw" of 32 x 64 frames.
[[nodiscard]] bool is_empad_raw(const std::string& path, std::uint64_t bytes);

/// Opens an EMPAD acquisition by its XML file, or by its raw file (recognised by name and size, else --preset empad),
/// beside which an XML file of the same name may be. Frames are 130 x 128 little-endian float32, of which the last two
/// rows are no picture and are dropped. Throws Error(not_supported) when there is a header but no raw file,
/// Error(bad_file) for files of another size.
[[nodiscard]] std::unique_ptr<Source> open_empad(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
