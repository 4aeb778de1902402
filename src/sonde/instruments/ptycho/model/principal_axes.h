// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// V of G = V D V^H, both (n, n) row-major: orthonormal columns in the order of falling eigenvalues, each with the
/// phase that makes its largest element positive, so that a diagonal G gives a permutation. `hermitian` is G, of which
/// the lower triangle counts. Throws Error(internal) when it has not n * n elements.
[[nodiscard]] std::vector<std::complex<double>> principal_axes(std::span<const std::complex<double>> hermitian,
                                                               Index n);

}  // namespace sonde::ptycho
