// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/direct/bright_field.h"
#include "sonde/instruments/ptycho/direct/lens.h"

namespace sonde::ptycho {

/// What the images of a weak phase object have in common at the frequency q, once the lens is right.
///   side_bands  G(q,k) conj(Gamma)/|Gamma| over the pixels with one side band: good near focus and to high frequencies
///   parallax    G(q,k) exp(-i q.grad chi(k)) over the pixels with both: images displaced by -grad chi / 2 pi, which
///   holds
///               exactly for defocus and astigmatism; good far from focus
enum class FocusModel { side_bands, parallax };

/// The lens that is known, and what is looked for.
struct FocusSearch {
  double semiangle = 0;  ///< rad
  ApertureEdge edge = ApertureEdge::pixel;
  Aberrations aberrations{};      ///< where the search begins; all but C10, C12 and phi12 stay
  bool astigmatism = true;        ///< C12 and phi12 are free, beside C10
  bool rotation = true;           ///< the scan may be turned, by less than a right angle
  std::optional<double> range{};  ///< A, of C10 about its start; unset: 16 wavelength / semiangle^2
};

struct FocusFit {
  Aberrations aberrations;
  double rotation = 0;  ///< rad, of the scan beyond that of the images' lattice, in the sense of Raster
  /// How much more the images agree than noise: sum over q of |sum over k|^2 over the same with random phases. 1 for
  /// noise, the number of images when they agree entirely.
  double agreement = 0;
  Index frequencies = 0;  ///< of the scan that took part
};

/// C10, C12 and phi12 (and the rotation) at which the images agree best: sum over q of |sum over k of G exp(i theta)|^2
/// / n is largest, the same as the least variance over k. The strongest frequencies of the scan take part; first on a
/// grid of defocus and rotation, then by steps of Gauss and Newton with the derivatives of theta, which are least
/// squares of the images' phases. A turn by half a circle with all aberrations of opposite sign gives the same images
/// with the opposite contrast: the answer is that within a right angle of the given rotation. The same bits on any
/// number of threads. Reports progress, answers interrupts. Throws Error(not_converged) when no frequency reaches the
/// disk.
[[nodiscard]] FocusFit fit_focus(const BrightField& field, const Sampling& sampling, FocusModel model,
                                 const FocusSearch& search);

/// Bytes that fit_focus() holds beside the images.
[[nodiscard]] std::size_t focus_bytes(const ScanLattice& lattice, Index images);

}  // namespace sonde::ptycho
