// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/least_curl.h"
#include "sonde/instruments/stem/phase/vector_field.h"

namespace sonde::stem {

/// Which way the specimen stands out. Deflections do not say: half a turn exchanges hills and valleys of the phase.
/// automatic: hills, as atoms are; what does not stand out clearly is reported.
enum class Contrast { automatic, hills, valleys };

/// What is known about the orientation beforehand, and how the rest is found.
struct RotationRequest {
  std::optional<double> rotation{};  ///< rad, of turned(); unset: that of least curl
  std::optional<bool> transpose{};   ///< unset: the one that leaves less curl
  Contrast contrast = Contrast::automatic;
  double blur = 1;  ///< Gaussian on the field before derivatives are taken, in steps: noise limits the angle
};

/// How a detector is turned to the scan.
struct ScanRotation {
  double rotation = 0;  ///< rad, from -pi to pi: turned(field, rotation, transpose) is along the axes of the scan
  bool transpose = false;
  bool given = false;              ///< the rotation was part of the request
  LeastCurl straight, transposed;  ///< what deflections say for either
  double confidence = 0;           ///< 1 - curl left by the better one / curl left by the other: 0 for noise, 1 at best
  double standard_error = 0;       ///< rad, of the angle of least curl with this transposition
  double curl = 0.5;               ///< share of curl^2 in curl^2 + divergence^2 as turned: 0 for a gradient
  double skewness = 0;             ///< of the divergence as turned; negative where hills stand out
  double skewness_error = 0;
  Index used = 0;  ///< positions with derivatives
};

/// The angle and transposition under which the field is most nearly a gradient, in closed form, and of the two angles
/// half a turn apart the one with the contrast asked for: the Laplacian of a hill is strong and negative at its top, so
/// that the divergence is skewed. Errors are those of a bootstrap over blocks of 8 x 8 positions (at least 4 x 4
/// blocks): they include noise and what the field is not a gradient for. Needs 3 x 3 positions; fewer say nothing, and
/// neither does a field of zeros. Tested on fields of wave-optical patterns: 0.1 degrees without noise.
[[nodiscard]] ScanRotation find_rotation(const VectorField& field, const RotationRequest& request);

}  // namespace sonde::stem
