// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/maxwell/invert/inversion.h"
#include "sonde/instruments/maxwell/read/observed_data.h"
#include "sonde/instruments/maxwell/run/experiment_waves.h"
#include "sonde/instruments/maxwell/run/run_file.h"

namespace sonde::maxwell {

/// Records as gathers, [receiver][step], of one shot.
[[nodiscard]] Gather gather_of(const ObservedData& data, Index shot);

/// What [data] says: the records of its file, their weights (0 where they are muted) and noise; and the sources of the
/// experiment. Throws what require_recorded_by() throws, Error(bad_input) for weights below 0 and for arrays of another
/// shape. Settings may name arrays that `find` knows in place of files.
[[nodiscard]] Measurements make_measurements(const RunFile& run_file, const Experiment& experiment,
                                             const ObservedData& observed, const FindArray& find);

/// Which cells may change: the product of inversion.mask with what is held near sources and receivers and above a
/// depth; empty where nothing is held. Throws Error(bad_input) for an array of another shape or outside of 0 to 1.
[[nodiscard]] Mask make_mask(const RunFile& run_file, const Experiment& experiment, const FindArray& find);

/// How the waves of an inversion are run: for all models within its bounds.
[[nodiscard]] WaveSettings wave_settings(const RunFile& run_file, const ParameterSettings& unknowns,
                                         const Experiment& experiment);

}  // namespace sonde::maxwell
