// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/maxwell/results/inversion_result.h"

namespace sonde::maxwell {

/// Start, found and, where it is known, true model with what remains between them, a row for each unknown, as one
/// picture, u8 (rows, cols, 3); of a model in three dimensions its middle section along the line. Fields of a row have
/// the colours of one range.
[[nodiscard]] Array model_picture(const InversionResult& result);
/// Measured and computed records of a shot beside what remains, all with the colours of the measured ones, the last
/// enlarged where little remains; time runs downwards, receivers are in the order of the survey. Throws
/// Error(bad_input) for a shot that is not there.
[[nodiscard]] Array gather_picture(const InversionResult& result, Index shot);

/// The objective over the iterations, a line for each stage, and where the noise is known chi^2 below it.
[[nodiscard]] Chart misfit_chart(const InversionResult& result);
/// Amplitude spectra over all traces: measured, computed and what remains, with the limits of the stages.
[[nodiscard]] Chart spectrum_chart(const InversionResult& result);
/// The source of the first shot as it was given and as it is estimated.
[[nodiscard]] Chart source_chart(const InversionResult& result);
/// Whether an inversion has changed its sources.
[[nodiscard]] bool has_other_sources(const InversionResult& result);

/// The page of an inversion: one file, which fetches nothing. `name` is what it is about.
[[nodiscard]] std::string inversion_page(const InversionResult& result, const std::string& name);

}  // namespace sonde::maxwell
