// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// Phase or amplitude of the object, f32 (Y, X): the sum of the phases of all slices, the product of their amplitudes.
/// Phases of a complex object are taken relative to the mean direction of the object inside `view`.
[[nodiscard]] Array phase_image(const Result& result, const Box& view);
[[nodiscard]] Array amplitude_image(const Result& result, const Box& view);

/// The part of an image.
[[nodiscard]] Array cut(const Array& image, const Box& view);

/// A phase or an amplitude as .png with a scale bar (where the pixel size is known), or .tif with the pixel size.
/// Throws Error(usage) for other endings.
void write_picture(const std::string& path, const Array& image, const Sampling& sampling,
                   const std::string& description = "");

}  // namespace sonde::ptycho
