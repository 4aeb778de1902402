// SPDX-License-Identifier: Apache-2.0
// Any bytes are the header of a classic NetCDF file, too short for one, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/netcdf_classic.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto all = std::as_bytes(std::span(bytes, size));
  if (!sonde::netcdf::is_classic(all)) return 0;
  try {
    const auto header = sonde::netcdf::parse_header(all, 2 * size, "fuzz.nc");
    if (!header) return 0;
    for (const auto& [name, variable] : header->variables)
      if (variable.record && variable.shape.rank() == 0) std::abort();
  } catch (const sonde::Error&) {
  }
  return 0;
}
