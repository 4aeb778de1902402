// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/centres.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/instruments/stem/results/moment_images.h"

namespace sonde::stem {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

bool is_centre(const Dataset& dataset, const VectorField& field, std::size_t here, double min_counts) {
  return dataset.valid()[here] != 0 && field.counts[here] > 0 && field.counts[here] >= min_counts &&
         std::isfinite(field.x[here]) && std::isfinite(field.y[here]);
}

}  // namespace

VectorField centre_field(const Dataset& dataset, double min_counts) {
  const Shape shape = dataset.shape();
  VectorField field = make_field(shape[0], shape[1]);
  const Array rows = centre_of_mass(dataset, true), cols = centre_of_mass(dataset, false);
  const Array& total = dataset.moments().total;
  for (Index i = 0; i < field.positions(); ++i) {
    const auto here = static_cast<std::size_t>(i);
    field.x[here] = static_cast<const double*>(cols.data())[i];
    field.y[here] = static_cast<const double*>(rows.data())[i];
    field.counts[here] = total.dtype() == DType::u64
                             ? static_cast<double>(static_cast<const std::uint64_t*>(total.data())[i])
                             : static_cast<const double*>(total.data())[i];
    if (is_centre(dataset, field, here, min_counts)) continue;
    field.valid[here] = 0;
    field.x[here] = field.y[here] = nothing;
  }
  return field;
}

std::optional<CountingNoise> counting_noise(const VectorField& deflections, const CentreErrors& errors) {
  std::vector<double> known;
  double noise = 0, deflection = 0;
  for (std::size_t i = 0; i < errors.x.size(); ++i) {
    if (deflections.valid[i] == 0) continue;
    known.push_back(std::hypot(errors.x[i], errors.y[i]));
    noise += known.back() * known.back();
    deflection += deflections.x[i] * deflections.x[i] + deflections.y[i] * deflections.y[i];
  }
  if (!(deflection > 0)) return std::nullopt;
  const auto middle = known.begin() + std::ssize(known) / 2;
  std::nth_element(known.begin(), middle, known.end());
  return CountingNoise{*middle, std::sqrt(deflection / static_cast<double>(known.size())), noise / deflection};
}

Centres centres_of(const Dataset& dataset, const CentreSums& sums, double min_counts) {
  const Shape shape = dataset.shape();
  Centres centres{make_field(shape[0], shape[1])};
  VectorField& field = centres.field;
  CentreErrors& errors = centres.errors;
  const bool counts = sums.total.dtype() == DType::u64;
  if (counts) {
    errors.x.assign(field.x.size(), nothing);
    errors.y.assign(field.x.size(), nothing);
  }
  for (Index i = 0; i < field.positions(); ++i) {
    const auto here = static_cast<std::size_t>(i);
    const PatternCentre centre = sums.centre(i);
    field.x[here] = centre.col;
    field.y[here] = centre.row;
    field.counts[here] = sums.counts(i);
    if (!is_centre(dataset, field, here, min_counts)) {
      field.valid[here] = 0;
      field.x[here] = field.y[here] = nothing;
    } else if (counts) {
      errors.x[here] = centre.sigma_col;
      errors.y[here] = centre.sigma_row;
    }
  }
  errors.threshold = sums.threshold();
  if (!errors.threshold) return centres;
  double kept = 0, all = 0;
  const VectorField whole = centre_field(dataset, 0);
  for (std::size_t i = 0; i < field.counts.size(); ++i) {
    kept += field.counts[i];
    all += whole.counts[i];
  }
  errors.counts_kept = all > 0 ? kept / all : 1;
  return centres;
}

}  // namespace sonde::stem
