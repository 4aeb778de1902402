// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/instruments/maxwell/read/observed_data.h"
#include "sonde/instruments/maxwell/run/run_file.h"

// The example of an inversion: two boreholes 4 m apart, 6 m deep, in ground of eps_r 5 and 3 mS/m that holds what the
// run file does not know.

namespace sonde::maxwell {

/// The run file of the example, which is examples/crosshole.toml too. Its start is the ground without anomalies.
[[nodiscard]] std::string crosshole_run_file();

enum class CrossholeGround {
  discs,  ///< two discs of radius 0.5 m with eps_r 6.5 and 4, and a patch of 10 mS/m
  smooth  ///< eps_r with a Gaussian anomaly of 1 and a standard deviation of 0.7 m
};
/// Centres of the discs, upper (6.5) and lower (4), z and x in m.
inline constexpr double upper_disc[2] = {1.8, 1.4}, lower_disc[2] = {4.2, 2.6};

/// The ground on the cells of an experiment.
[[nodiscard]] Model crosshole_model(const Experiment& experiment, CrossholeGround ground);
/// 1 for cells between the boreholes, 0 for the others.
[[nodiscard]] std::vector<double> between_boreholes(const Experiment& experiment);

/// What the survey of an experiment records of that ground, computed on cells `finer` times smaller with stencils of
/// this order.
[[nodiscard]] ObservedData crosshole_records(const Experiment& experiment, CrossholeGround ground, Index finer,
                                             int order);

}  // namespace sonde::maxwell
