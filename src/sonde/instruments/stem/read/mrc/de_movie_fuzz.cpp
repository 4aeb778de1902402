// SPDX-License-Identifier: Apache-2.0
// Any text is a list of lines, and a scan whose frames are a permutation, no scan, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/mrc/de_movie.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  (void)sonde::stem::parse_de_info(text);
  try {
    const auto scan = sonde::stem::parse_scan_coordinates(text, "a.csv");
    if (!scan) return 0;
    std::vector<bool> seen(scan->frame_of.size());
    if (scan->rows * scan->cols != static_cast<sonde::Index>(seen.size())) std::abort();
    for (const sonde::Index frame : scan->frame_of) {
      if (seen.at(static_cast<std::size_t>(frame))) std::abort();
      seen[static_cast<std::size_t>(frame)] = true;
    }
  } catch (const sonde::Error&) {
  }
  return 0;
}
