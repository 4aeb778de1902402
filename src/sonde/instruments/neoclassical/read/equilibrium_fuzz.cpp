// SPDX-License-Identifier: Apache-2.0
// Any classic NetCDF file is an equilibrium whose surfaces make sense, or an Error: through the readers of wout and
// boozmn. Files of NetCDF-4 are left to the HDF5 library, which is not ours to harden.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/read/boozmn.h"
#include "sonde/instruments/neoclassical/read/wout.h"

namespace {

using namespace sonde::neoclassical;

template <class Read>
void survive(Read read) {
  try {
    read();
  } catch (const sonde::Error&) {
  }
}

/// At the axis, between two surfaces, on the edge.
template <class At>
void check_surfaces(At at) {
  for (const double s : {1e-9, 0.4, 1.0})
    survive([&] {
      Notes notes;
      const Surface surface = at(s, notes);
      if (surface.periods < 1 || !(surface.reference_field() > 0) || !std::isfinite(surface.iota)) std::abort();
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 3 || bytes[0] != 'C' || bytes[1] != 'D' || bytes[2] != 'F') return 0;
  static const int memory = memfd_create("equilibrium_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  survive([&] {
    const Wout wout = read_wout(path);
    check_surfaces([&](double s, Notes& notes) { return surface_at(wout, s, 1e-6, notes); });
  });
  survive([&] {
    const BoozerFile file = read_boozmn(path);
    check_surfaces([&](double s, Notes& notes) { return surface_at(file, s, {.snap = true, .min_bmn = 1e-6}, notes); });
    check_surfaces([&](double s, Notes& notes) { return surface_at(file, s, {}, notes); });
  });
  return 0;
}
