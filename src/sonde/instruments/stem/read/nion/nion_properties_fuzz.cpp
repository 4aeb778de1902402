// SPDX-License-Identifier: Apache-2.0
// Any text gives calibrations that are positive and finite, or an Error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/nion/nion_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const sonde::Shape& shape : {sonde::Shape{2, 3, 4, 5}, sonde::Shape{6, 4, 5}}) {
    sonde::stem::Acquisition acquisition;
    try {
      (void)sonde::stem::take_nion_properties(text, shape, "properties", acquisition);
    } catch (const sonde::Error&) {
    }
    const sonde::stem::Calibration& c = acquisition.calibration;
    for (const auto& each : {c.scan_step_row_nm, c.scan_step_col_nm, c.detector_step_mrad, c.detector_step_inv_a})
      if (each && !(std::isfinite(each->value) && each->value > 0)) std::abort();
  }
  return 0;
}
