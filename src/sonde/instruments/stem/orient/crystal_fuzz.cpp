// SPDX-License-Identifier: Apache-2.0
// Any text is a crystal with atoms in a cell, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/orient/crystal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::stem;
  try {
    const Crystal crystal = crystal_from_cif({reinterpret_cast<const char*>(bytes), size}, "fuzz.cif");
    if (crystal.atoms.empty() || !(crystal.cell.volume() > 0)) std::abort();
    for (const Atom& atom : crystal.atoms)
      for (const double part : atom.position)
        if (!(part >= 0) || !(part < 1)) std::abort();
  } catch (const sonde::Error&) {
  }
  return 0;
}
