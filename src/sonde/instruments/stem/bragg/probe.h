// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// A disk of the diffraction pattern: the image of the aperture.
struct Probe {
  double row = 0, col = 0;    ///< centre, px
  double radius = 0;          ///< px
  double edge = 0.5;          ///< w of the soft disk 1 / (1 + exp((r - radius) / w)), px
  double contrast = 300;      ///< disk over background
  double confidence = 1;      ///< of Centre; below 0.5 the disk is a guess
  Index rows = 0, cols = 0;   ///< of the image
  std::vector<double> image;  ///< (row, col) as it was measured, without background; empty: the soft disk
};

/// A soft disk of a given radius, without an image.
[[nodiscard]] Probe soft_probe(double radius, double edge = 0.5);

/// The brightest disk of a mean pattern or of a vacuum scan: what is connected with the brightest pixel at the lowest
/// of the levels 0.5 to 0.9 of it where it is round. Less its background, its radius is the mean of sqrt(area above t /
/// pi) over those of 100 thresholds t, 0.01 to 0.99 of the maximum, where it hardly changes, and its centre the centre
/// of mass above their mean (py4DSTEM, get_probe_size). The edge width w is that of a logistic profile: r(1/4) - r(3/4)
/// = 2 w ln 3. `good` as for find_centre. Throws Error(bad_input) where nothing has the shape of a disk.
[[nodiscard]] Probe measure_probe(View<const double, 2> pattern, std::span<const std::uint8_t> good);
/// The same with its image, which falls off outside the disk: for patterns without a specimen.
[[nodiscard]] Probe measure_vacuum_probe(View<const double, 2> pattern, std::span<const std::uint8_t> good);

/// What is correlated with the pattern: the probe, less a trench around it (py4DSTEM's names), or its logarithm.
///  - flat: the probe, which sums to 1;
///  - gaussian: less exp(-r^2 / (2 sigma^2));
///  - sigmoid: less cos^2(pi/2 clip((r - inner) / (outer - inner), 0, 1));
///  - sigmoid_log: less 1 / (1 + exp((r - (inner + outer) / 2) / ((outer - inner) / 4)));
///  - ring: less cos^2 of the distance from the middle between inner and outer, where it falls to 0;
///  - poisson: log(1 + contrast P / P_max) over its sum: the maximum of its correlation with counts is the most likely
///    place of one disk on a flat background.
/// Trenches sum to 1, so that flat backgrounds correlate with nothing.
enum class KernelShape { flat, gaussian, sigmoid, sigmoid_log, ring, poisson };

[[nodiscard]] std::string_view name(KernelShape shape);

struct KernelSettings {
  KernelShape shape = KernelShape::ring;
  double inner = 0, outer = 0;  ///< px; 0: radius and 2 radius
  double sigma = 0;             ///< px; 0: 2 radius
};

/// (rows, cols) with the centre of the probe at pixel (0, 0), periodic. Throws Error(bad_input) for a probe that is not
/// smaller than the detector, an image of another shape, and a trench without a width.
[[nodiscard]] std::vector<double> make_kernel(const Probe& probe, Index rows, Index cols,
                                              const KernelSettings& settings);

/// Distance at which a kernel has fallen to nothing, px.
[[nodiscard]] double reach(const Probe& probe, const KernelSettings& settings);

}  // namespace sonde::stem
