// SPDX-License-Identifier: Apache-2.0
// Any text is a plasma at every radius of its table, or an Error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/transport/profile_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::neoclassical;
  try {
    const TabulatedProfiles profiles = parse_profiles({reinterpret_cast<const char*>(bytes), size}, "fuzz.csv");
    for (const double rho : {profiles.first(), (profiles.first() + profiles.last()) / 2, profiles.last()}) {
      for (const Population& population : profiles.plasma(rho, 1))
        if (!(population.density > 0 && population.temperature > 0) || !std::isfinite(population.density_slope) ||
            !std::isfinite(population.temperature_slope))
          std::abort();
      if (!std::isfinite(profiles.radial_field(rho).value_or(0))) std::abort();
    }
  } catch (const sonde::Error&) {
  }
  return 0;
}
