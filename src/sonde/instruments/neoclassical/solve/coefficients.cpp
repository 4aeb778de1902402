// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/solve/coefficients.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {

std::string_view name(Path path) {
  switch (path) {
    case Path::dense:
      return "dense";
    case Path::spd:
      return "spd";
    case Path::quasidefinite:
      return "quasidefinite";
    case Path::krylov:
      return "krylov";
  }
  return "";
}

Path path_named(std::string_view wanted) {
  for (const Path path : {Path::dense, Path::spd, Path::quasidefinite})
    if (name(path) == wanted) return path;
  throw Error(ErrorKind::bad_input, fmt::format("path = \"{}\": expected dense, spd or quasidefinite", wanted));
}

std::string_view name(Precision precision) { return precision == Precision::f64 ? "f64" : "f32-refine"; }

}  // namespace sonde::neoclassical
