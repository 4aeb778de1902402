// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/direct/bright_field.h"
#include "sonde/instruments/ptycho/direct/lens.h"
#include "sonde/instruments/ptycho/direct/wave_spectrum.h"

namespace sonde::ptycho {

/// Tilt-corrected bright field: the image of pixel k is displaced by -grad chi(k) / (2 pi); displaced back, all are
/// averaged. In a spectrum of (finer rows) x (finer cols) frequencies, i times the spectrum of the average less its
/// mean:
///   values(q) = i sum over k of G(q,k) exp(-i q.grad chi(k)) / sum over k of G(0,k) = i phi(q) transfer(q)
/// for a weak phase, with the transfer i sum over k of Gamma(q,k) exp(-i q.grad chi(k)) / sum |A|^2, of which the real
/// part is kept: 2 sin chi(q) times the overlap for defocus and astigmatism. So that wave() is 1 + i (average - 1).
/// Images that are displaced by parts of a step tell of more frequencies than one of them: `upsample` times as many
/// rows and columns are put together from the periods of G. One transform per pair of images, one pass; the same
/// bits on any number of threads. Throws Error(bad_input) for an upsample below 1.
[[nodiscard]] WaveSpectrum parallax(const BrightField& field, const Lens& lens, Index upsample = 1);

/// Bytes that parallax() holds beside the images.
[[nodiscard]] std::size_t parallax_bytes(const ScanLattice& lattice, Index images, Index upsample);

}  // namespace sonde::ptycho
