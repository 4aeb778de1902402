// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <optional>
#include <vector>

#include "sonde/engine/array/view.h"

namespace sonde::stem {

enum class Window { none, hann };

/// |sum_rc w(r, c) (image(r, c) - mean) exp(-2 pi i (k r / rows + l c / cols))| as (rows, cols), zero frequency at
/// (rows / 2, cols / 2) (whole division). The mean is taken away before the window, so that the constant part does not
/// spread over the low frequencies; what is not finite counts as the mean. `hann` is the periodic window
/// sin^2(pi r / rows) sin^2(pi c / cols).
[[nodiscard]] std::vector<float> fourier_magnitude(View<const double, 2> image, Window window);

/// The largest magnitude but for zero frequency: the pixel, and cycles per pixel of the image.
struct SpectrumPeak {
  Index row = 0, col = 0;
  double row_frequency = 0, col_frequency = 0;
};
/// One of each pair of opposite frequencies is looked at, that with the larger row (column). Nothing for a single
/// pixel.
[[nodiscard]] std::optional<SpectrumPeak> spectrum_peak(View<const float, 2> magnitude);

}  // namespace sonde::stem
