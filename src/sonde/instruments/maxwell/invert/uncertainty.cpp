// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cmath>

#include "sonde/instruments/maxwell/invert/inversion.h"
#include "sonde/instruments/maxwell/invert/inversion_stage.h"
#include "sonde/instruments/maxwell/invert/low_rank.h"

namespace sonde::maxwell {

Uncertainty Inversion::uncertainty() {
  assert(finished_ && measurements_.noise > 0);
  make_stage(ends_.back().stage);
  stage_->active = stage_->all;
  const double noise = measurements_.noise * stage_->filter.noise_gain(), prior = settings_.uncertainty.prior;
  stage_->scale = std::pow(noise / prior, 2);
  const std::vector<double> fields = parameters_.fields(numbers_);
  const Eigenpairs found = largest_eigenpairs(
      [&](std::span<const double> direction) {
        return parameters_.by_numbers(misfit_product(fields, parameters_.field_change(direction)));
      },
      parameters_.count(), settings_.uncertainty.rank);
  stage_.reset();
  std::vector<double> variances = parameters_.field_variances(prior * prior);
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    const std::vector<double> along = parameters_.field_change(found.vectors[k]);
    const double known = prior * prior * found.values[k] / (1 + found.values[k]);
    for (std::size_t i = 0; i < variances.size(); ++i) variances[i] -= known * along[i] * along[i];
  }
  // Rounding of what is nearly known.
  for (double& each : variances) each = std::sqrt(std::max(0.0, each));
  Uncertainty made{parameters_.model_change(fields, variances), found.values};
  return made;
}

}  // namespace sonde::maxwell
