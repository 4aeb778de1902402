// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/optics/propagate.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// What the detector sees, step by step in double precision and nothing saved on the way:
///   psi = probe mode shifted by the placement's fraction,
///   psi <- psi O_s, and between slices psi <- F^-1 H_s F psi,
///   I(k) = sum over the modes of |F psi|^2, F unitary;
/// float64 (rows, cols), zero frequency at [0,0]. Everything faster is tested against it. `object` is complex128
/// (slices, Y, X), the transmission of every slice; `probe` complex128 (modes, rows, cols), centred; `propagators` as
/// from slice_propagators(). Throws Error(bad_input) when shapes do not belong together and for a window outside the
/// object. Cost: 2 (S + 1) transforms of each mode.
[[nodiscard]] Array far_field_intensity(const Array& object, const Array& probe, const Array& propagators,
                                        const Placement& at);
/// The same for many, (placements, rows, cols), on all threads.
[[nodiscard]] Array far_field_intensities(const Array& object, const Array& probe, const Array& propagators,
                                          std::span<const Placement> placements);

}  // namespace sonde::ptycho
