// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// The transforms and conventions of ptychography in double precision, for start values, references and tests; a plan
/// is made for each call. Arrays are contiguous, on the host, and end in (rows, cols); every leading index is one
/// plane. Forward has exp(-2 pi i k r), both directions are unitary: sum |psi|^2 = sum |F psi|^2.

/// Frequency of transform index i of n in cycles per sample, in [-1/2, 1/2): i / n, or (i - n) / n from the middle on.
[[nodiscard]] double frequency(Index i, Index n);

/// In place, of complex128.
void fourier(Array& waves);
void inverse_fourier(Array& waves);

/// Moves index floor(n / 2) of both axes, the centre of files and probes, to index 0 ("ifftshift"), and back
/// ("fftshift"). Any element type.
[[nodiscard]] Array centre_to_corner(const Array& planes);
[[nodiscard]] Array corner_to_centre(const Array& planes);

/// psi(r) -> psi(r - shift) by F^-1[exp(-2 pi i k shift) F psi], in place, of complex128; the shift in pixels, cyclic.
/// The Nyquist line has a factor of modulus one like all others, so that the shift by the opposite amount is inverse
/// and adjoint.
void shift_waves(Array& waves, double rows, double cols);

}  // namespace sonde::ptycho
