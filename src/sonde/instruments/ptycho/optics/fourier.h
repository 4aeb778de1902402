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

/// The index among `m` >= n of the frequency (in cycles per length of the window) that index i of n has: the middle of
/// a larger spectrum is cut out, or a smaller one is put into a larger one, index by index.
[[nodiscard]] inline Index same_frequency(Index i, Index n, Index m) { return i < (n + 1) / 2 ? i : i + m - n; }

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
