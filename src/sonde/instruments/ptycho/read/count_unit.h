// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/array/array.h"

namespace sonde::ptycho {

/// How many counts one unit of the values is, and why that is believed. Counting noise can be assessed only with it.
struct CountUnit {
  double counts_per_unit = 1;  ///< 0: not known
  std::string because;         ///< empty for counts
};

/// Judges from a sample of the patterns (any real type). Values that are all whole multiples of one number are counts
/// in units of it: integers with a common divisor, counts divided by a flux or an exposure. Fractions without a common
/// unit (flat fields, background subtraction, analogue detectors) leave the unit unknown, and so do whole numbers whose
/// small values are no mixture of Poisson distributions (the read-out noise of an analogue detector). Values that are
/// not finite or not above zero say nothing.
[[nodiscard]] CountUnit count_unit_of(const Array& patterns);

}  // namespace sonde::ptycho
