// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sonde/instruments/ptycho/direct/bright_field.h"
#include "sonde/instruments/ptycho/direct/lens.h"
#include "sonde/instruments/ptycho/direct/wave_spectrum.h"

namespace sonde::ptycho {

/// Single side band (Rodenburg, McCallum, Nellist 1993; Pennycook et al. 2015). With G(q,k) the scan's transform of the
/// counts and Gamma(q,k) = A*(k) A(k-q) - A(k) A*(k+q), A with its phase: a weak phase object has G = i phi(q) Gamma,
/// and
///   values(q) = sum over k of G conj(Gamma)/|Gamma| / sum over k of G(0,k),
/// over the pixels where exactly one of A(k-q), A(k+q) is not zero. The transfer is sum |Gamma| / sum |A|^2: twice the
/// overlap outside of the triple one, in areas of the disk. Lines of frequency one half have no partner and are left
/// out. One transform per pair of images, one pass over them; the same bits on any number of threads. Reports progress,
/// answers interrupts.
[[nodiscard]] WaveSpectrum single_side_band(const BrightField& field, const Lens& lens);

/// Bytes that single_side_band() holds beside the images.
[[nodiscard]] std::size_t side_band_bytes(const ScanLattice& lattice, Index images);

}  // namespace sonde::ptycho
