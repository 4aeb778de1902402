// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// Phase (rad) or amplitude of every slice, f32 (S, rows, cols). Phases of a complex object are taken relative to the
/// mean direction of its slice inside `view`.
[[nodiscard]] Array phase_slices(const Result& result, const Box& view);
[[nodiscard]] Array amplitude_slices(const Result& result, const Box& view);

/// The same of the whole object, f32 (rows, cols): the sum of the phases of all slices, the product of their
/// amplitudes.
[[nodiscard]] Array phase_image(const Result& result, const Box& view);
[[nodiscard]] Array amplitude_image(const Result& result, const Box& view);

/// The part of an image.
[[nodiscard]] Array cut(const Array& image, const Box& view);

/// A bar beside the picture whose numbers have this unit ("rad"; "" for amplitudes), and a scale bar: in nm, or in
/// pixels where their size is not known.
[[nodiscard]] ImageStyle measured_style(const Sampling& sampling, const std::string& value_unit);

/// What a picture, and the page of a result, are to the run that writes them beside it.
[[nodiscard]] OutputRole picture_role();
[[nodiscard]] OutputRole page_role();

/// Phases or amplitudes with their unit, in measured_style() as .png, or with the pixel size as .tif; of a stack
/// (S, rows, cols) .tif has one page for each. Throws Error(usage) for other endings.
void write_picture(const std::string& path, const Array& image, const Sampling& sampling, const std::string& value_unit,
                   const std::string& description = "", const OutputRole& role = {});

}  // namespace sonde::ptycho
