// SPDX-License-Identifier: Apache-2.0
// Any text is a surface, a Boozer file, or an Error: the same bytes through the readers of every text format.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/read/bc.h"
#include "sonde/instruments/neoclassical/read/dkes.h"

namespace {

template <class Parse>
void survive(Parse parse) {
  try {
    parse();
  } catch (const sonde::Error&) {
  }
}

void check(const sonde::neoclassical::AnalyticSurface& surface) {
  if (surface.b.modes.size() != surface.b.cosine.size() || surface.periods < 1 || surface.psi_p == 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::neoclassical;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  survive([&] {
    Notes notes;
    check(parse_dkes(text, "fuzz.data", notes));
  });
  survive([&] { check(parse_table(text, "fuzz.txt")); });
  survive([&] {
    const BoozerFile file = parse_bc(text, "fuzz.bc");
    if (file.b.cosine.size() != file.s.size() * file.modes.size()) std::abort();
  });
  return 0;
}
