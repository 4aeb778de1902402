// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// What the headers of an MRC file say (MRC2014: Cheng et al., J. Struct. Biol. 192 (2015) 146), with the extended
/// header of FEI and Thermo Fisher microscopes.
struct MrcHeader {
  Index cols = 0, rows = 0, frames = 0;
  DType dtype = DType::u8;
  bool half = false;  ///< mode 12: stored as IEEE half precision, given as f32
  bool big_endian = false;
  std::uint64_t data_offset = 0;
  Calibration calibration;                      ///< high tension and camera length of the extended header
  std::map<std::string, std::string> metadata;  ///< what else the headers say

  [[nodiscard]] std::size_t stored_element_bytes() const { return half ? 2 : size_bytes(dtype); }
};

/// Throws Error(bad_file) "FILE: damaged: ..." and Error(not_supported) for modes that are no counts.
[[nodiscard]] MrcHeader read_mrc_header(const File& file);

}  // namespace sonde::stem
