// SPDX-License-Identifier: Apache-2.0
// Private to the reader of ARINA acquisitions.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/hdf5_frames.h"

namespace sonde::stem::arina {

inline constexpr const char* data_group = "/entry/data";
inline constexpr const char* frames_path = "/entry/data/data";

/// The frames that a master leads to, every part checked.
struct Files {
  std::vector<Hdf5Frames> parts;
  std::vector<std::string> paths;          ///< of the files that hold them, each once
  std::vector<Choice<std::string>> notes;  ///< repairs
  bool complete = true;                    ///< false: parts are missing, so the number of frames is unknown
};

/// Whether a name in /entry/data is one of data_000001, data_000002, ...
[[nodiscard]] bool is_numbered(const std::string& name);

/// "scan" for "/x/scan_master.h5" and "/x/scan_data_000001.h5".
[[nodiscard]] std::string base_name(const std::string& path);

/// Opens all parts in numeric order and compares them; their lists of chunks fit into `memory_bytes`. Everything that
/// is wrong is added to `problems`.
[[nodiscard]] Files open_files(const Hdf5File& master, std::size_t memory_bytes, Problems& problems);

/// Compares the numbers of images that data files may state (image_nr_low, image_nr_high) with the frames they hold.
/// Problems are a file that lost frames (unless the scan may be incomplete) and files that were exchanged; numbers that
/// make no other sense are not used, as programs that rewrite files seldom keep them right.
void check_image_numbers(const std::vector<Hdf5Frames>& parts, bool allow_incomplete, Problems& problems);

}  // namespace sonde::stem::arina
