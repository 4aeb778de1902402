// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/moment_images.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/results/save_image.h"

namespace sonde::stem {
namespace {

constexpr std::pair<std::string_view, Moment> moment_words[] = {{"com-row", Moment::row},
                                                                {"com-col", Moment::col},
                                                                {"com-magnitude", Moment::magnitude},
                                                                {"com-angle", Moment::angle}};

/// Sum of the image's elements. Plain doubles: of an origin no more is asked.
double sum_of(const Array& image) {
  double sum = 0;
  const auto add = [&](const auto* values) {
    for (Index p = 0; p < image.count(); ++p) sum += static_cast<double>(values[p]);
  };
  if (image.dtype() == DType::u64)
    add(static_cast<const std::uint64_t*>(image.data()));
  else
    add(static_cast<const double*>(image.data()));
  return sum;
}

}  // namespace

std::optional<Moment> moment_of(const std::string& detector) {
  const std::string word = to_lower(trim(detector));
  for (const auto& [known, moment] : moment_words)
    if (word == known) return moment;
  return std::nullopt;
}

bool is_moment(const std::string& detector) { return moment_of(detector).has_value(); }

Array centre_of_mass(const Dataset& dataset, bool of_rows) {
  const Array& moment = of_rows ? dataset.moments().moment_row : dataset.moments().moment_col;
  const Array& total = dataset.moments().total;
  Array image(Device::cpu(), dataset.shape().first(2), DType::f64);
  auto* to = static_cast<double*>(image.data());
  const auto divide = [&](const auto* sums, const auto* totals) {
    for (Index p = 0; p < dataset.positions(); ++p)
      to[p] = totals[p] == 0 ? std::numeric_limits<double>::quiet_NaN()
                             : static_cast<double>(sums[p]) / static_cast<double>(totals[p]);
  };
  if (total.dtype() == DType::u64)
    divide(static_cast<const std::uint64_t*>(moment.data()), static_cast<const std::uint64_t*>(total.data()));
  else
    divide(static_cast<const double*>(moment.data()), static_cast<const double*>(total.data()));
  return image;
}

DeflectionOrigin deflection_origin(const Dataset& dataset, const DetectorGeometry& geometry) {
  if (geometry.centre_row && geometry.centre_col) return {*geometry.centre_row, *geometry.centre_col, true};
  const Moments& moments = dataset.moments();
  const double total = sum_of(moments.total);
  if (total == 0) return {0, 0, false};
  return {sum_of(moments.moment_row) / total, sum_of(moments.moment_col) / total, false};
}

double deflection(Moment moment, double row, double col, double per_px) {
  switch (moment) {
    case Moment::row:
      return row * per_px;
    case Moment::col:
      return col * per_px;
    case Moment::magnitude:
      return std::hypot(row, col) * per_px;
    case Moment::angle:
      return std::atan2(row, col);
  }
  return 0;
}

Array deflection_image(const Dataset& dataset, Moment moment, const DeflectionOrigin& origin, double per_px) {
  if (moment == Moment::row || moment == Moment::col) {  // the other component is not needed
    const bool of_rows = moment == Moment::row;
    Array image = centre_of_mass(dataset, of_rows);
    auto* value = static_cast<double*>(image.data());
    for (Index p = 0; p < image.count(); ++p) value[p] = (value[p] - (of_rows ? origin.row : origin.col)) * per_px;
    return image;
  }
  Array rows = centre_of_mass(dataset, true);
  const Array cols = centre_of_mass(dataset, false);
  auto* row = static_cast<double*>(rows.data());
  const auto* col = static_cast<const double*>(cols.data());
  for (Index p = 0; p < rows.count(); ++p)
    row[p] = deflection(moment, row[p] - origin.row, col[p] - origin.col, per_px);
  return rows;
}

DeflectionUnit deflection_unit(Moment moment, std::optional<double> pixel_mrad) {
  if (moment == Moment::angle) return {1, "rad"};
  return pixel_mrad ? DeflectionUnit{*pixel_mrad, "mrad"} : DeflectionUnit{1, "px"};
}

DeflectionUnit deflection_unit(Moment moment, const Dataset& dataset) {
  const ImageScale scale = detector_scale(dataset.calibration(), dataset.det_bin());
  return deflection_unit(moment, scale.unit == "mrad" ? scale.row_step : std::nullopt);
}

}  // namespace sonde::stem
