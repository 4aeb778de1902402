// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/io/contents.h"
#include "sonde/instruments/maxwell/run/gprmax_gradient.h"
#include "sonde/instruments/maxwell/run/gradient_run.h"

namespace sonde::maxwell {

/// gradient/eps_r, gradient/sigma, gradient/mu_r with the axes of the model, gradient/debye/deps and tau [pole] and
/// these axes, gradient/source [shot][source][step], and misfit: what they differentiate has the same shape.
[[nodiscard]] Contents gradient_contents(const Experiment& experiment, const SurveyGradient& gradient);
/// The same of a model of gprMax, by component: gradient/eps_r_Ez, gradient/debye/deps_Ez and so on, [z][y][x] in the
/// axes of the file, of the edges and faces that have these indices; gradient/source [source][step]. Where the
/// material of an edge has fewer poles than others the gradient by those that it lacks is 0.
[[nodiscard]] Contents gradient_contents(const GprmaxModel& model, const GprmaxGradient& gradient);

/// The gradients of such a result as maps: in three dimensions the plane in the middle of y. Colours end where 99 % of
/// the values are: at sources and receivers gradients are far larger than elsewhere.
[[nodiscard]] Chart gradient_chart(const Contents& contents);

}  // namespace sonde::maxwell
