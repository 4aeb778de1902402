// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/run/operator.h"

namespace sonde::maxwell {

/// The medium of an experiment's model on its grid, with its poles.
[[nodiscard]] ComponentMedium medium_of(const Experiment& experiment, const Grid& grid);

/// The operator of an experiment. Throws what require_valid() and Operator() throw.
[[nodiscard]] Operator make_operator(const Experiment& experiment, Threads threads = Threads::all,
                                     double least_eps_r = 0, Device device = Device::cpu(), Index shots = 1);

/// A shot on the grid of the operator. Places between nodes are the sinc of interpolation.h; `warnings` gets those that
/// are so near the end of the grid that part of it is lost. Throws Error(bad_input) for places outside.
[[nodiscard]] Shot shot_on_grid(const SurveyShot& shot, const Grid& grid, std::vector<std::string>& warnings);

/// Warnings of shot_on_grid() for all shots, each once.
[[nodiscard]] std::vector<std::string> place_warnings(const Experiment& experiment, const Grid& grid);

/// The highest frequency in the amplitudes of an experiment (signal/wavelet.h), Hz.
[[nodiscard]] double highest_frequency(const Experiment& experiment);

}  // namespace sonde::maxwell
