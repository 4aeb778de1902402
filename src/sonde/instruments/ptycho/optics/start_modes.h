// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// Start values of a partially coherent probe: mode 0 is the given one, mode m > 0 a product y^a x^b P_0 in the order
/// y, x, y^2, y x, x^2, y^3, ..., made orthogonal to all before it (<a, b> = sum conj(a) b) and given `share` of the
/// power; mode 0 keeps the rest, so that the sum over modes of |P|^2 stays. `probe` is complex128 (1, rows, cols), the
/// result (modes, rows, cols). Throws Error(bad_input) when there are fewer than one mode, more than the shares allow,
/// or more than the probe has independent products.
[[nodiscard]] Array start_modes(const Array& probe, Index modes, double share = 0.02);

}  // namespace sonde::ptycho
