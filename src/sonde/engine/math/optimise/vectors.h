// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace sonde {

/// Sums and combinations of vectors of one length, float or double, on all threads. Sums are in double precision, over
/// pieces of fixed size in a fixed order: the same bits on any number of threads.
template <class Real>
[[nodiscard]] double dot(std::span<const Real> a, std::span<const Real> b);

/// y = keep y + fresh x.
template <class Real>
void combine(double keep, std::span<Real> y, double fresh, std::span<const Real> x);

}  // namespace sonde
