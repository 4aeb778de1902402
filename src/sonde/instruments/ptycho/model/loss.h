// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace sonde::ptycho {

/// How far a model intensity I lies from a measured one I_m, summed over the measured pixels of a frame:
///   amplitude   (sqrt(I + eps) - sqrt(I_m))^2              the modulus constraint of the projection engines
///   anscombe    (sqrt(I + 3/8) - sqrt(I_m + 3/8))^2        counting noise made uniform (Anscombe 1948)
///   poisson     I - I_m log(I + eps), plus the constant that makes its minimum 0
///   intensity   (I - I_m)^2 / (I_m + 1)                    least squares with Poisson weights
/// eps = 1e-10 of the mean counts per frame.
enum class Loss { amplitude, anscombe, poisson, intensity };

[[nodiscard]] std::string_view name(Loss loss);
/// Throws Error(usage) naming the known ones.
[[nodiscard]] Loss parse_loss(std::string_view text);

}  // namespace sonde::ptycho
