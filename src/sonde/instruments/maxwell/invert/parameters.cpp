// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

void require_bounds(const std::array<double, 2>& bounds, const char* what, double least, bool above) {
  if (!(bounds[0] < bounds[1]) || !std::isfinite(bounds[1]) || !(above ? bounds[0] > least : bounds[0] >= least))
    throw Error(ErrorKind::bad_input, fmt::format("{}: bounds {} to {}; expected {} {} and finite, lowest first", what,
                                                  bounds[0], bounds[1], above ? "above" : "at least", least));
}

void require_within(const std::vector<double>& values, const std::array<double, 2>& bounds, const Mask& mask,
                    const char* what) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (mask[i] != 0 && !(values[i] >= bounds[0] && values[i] <= bounds[1]))
      throw Error(ErrorKind::bad_input, fmt::format("{} = {} at element {} of the start model; the bounds are {} to {}",
                                                    what, values[i], i, bounds[0], bounds[1]))
          .hint("widen the bounds, or hold these cells by a mask");
}

}  // namespace

void require_valid(const ParameterSettings& settings) {
  if (!settings.eps_r && !settings.sigma)
    throw Error(ErrorKind::bad_input, "parameters: none; expected eps_r, sigma or both");
  if (settings.eps_r) require_bounds(settings.eps_r_bounds, "eps_r", 0, true);
  if (settings.sigma) {
    require_bounds(settings.sigma_bounds, "sigma", 0, settings.sigma_scale == SigmaScale::logarithmic);
    for (const auto& [what, value] : {std::pair{"beta", settings.beta}, std::pair{"sigma0", settings.sigma0}})
      if (!(value > 0) || !std::isfinite(value))
        throw Error(ErrorKind::bad_input, fmt::format("{} = {}; expected a finite number above 0", what, value));
  }
}

Parameters::Parameters(const CellGrid& grid, const ParameterSettings& settings, Model start, Mask mask)
    : grid_(grid),
      settings_(settings),
      start_(std::move(start)),
      mask_(mask.empty() ? Mask(static_cast<std::size_t>(grid.count()), 1.0) : std::move(mask)),
      coarse_(grid.cells, settings.every, settings.spline) {
  require_valid(settings_);
  require_mask(mask_, grid_);
  if (start_.eps_r.size() != cells() || start_.sigma.size() != cells())
    throw Error(ErrorKind::bad_input, fmt::format("start model: {} elements of eps_r and {} of sigma; expected {}",
                                                  start_.eps_r.size(), start_.sigma.size(), cells()));
  const auto add = [&](const std::vector<double>& values, const std::array<double, 2>& bounds, const char* what,
                       const auto& scaled) {
    require_within(values, bounds, mask_, what);
    scaled_bounds_.push_back({scaled(bounds[0]), scaled(bounds[1])});
    std::vector<double>& field = scaled_start_.emplace_back();
    // Cells that are held may have anything, a conductor even.
    for (const double value : values) field.push_back(scaled(std::clamp(value, bounds[0], bounds[1])));
  };
  if (settings_.eps_r) add(start_.eps_r, settings_.eps_r_bounds, "eps_r", [](double value) { return value; });
  if (settings_.sigma)
    add(start_.sigma, settings_.sigma_bounds, "sigma", [&](double value) { return scaled_sigma(value); });
}

double Parameters::scaled_sigma(double sigma) const {
  const double ratio = sigma / settings_.sigma0;
  return settings_.beta * (settings_.sigma_scale == SigmaScale::linear ? ratio : std::log(ratio));
}

/// At each node the mean of a field over the cells that take it, by mask and weight.
std::vector<double> Parameters::means(std::span<const double> field, double without) const {
  std::vector<double> weighted(field.begin(), field.end());
  for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] *= mask_[i];
  std::vector<double> sums = coarse_.to_nodes(weighted);
  const std::vector<double> total = coarse_.to_nodes(mask_);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = total[i] > 0 ? sums[i] / total[i] : without;
  return sums;
}

std::vector<double> Parameters::start() const {
  std::vector<double> numbers;
  for (std::size_t c = 0; c < scaled_start_.size(); ++c) {
    const auto& [low, high] = scaled_bounds_[c];
    for (const double each : means(scaled_start_[c], (low + high) / 2)) numbers.push_back(std::clamp(each, low, high));
  }
  return numbers;
}

Bounds<double> Parameters::bounds() const {
  Bounds<double> bounds;
  for (const auto& [low, high] : scaled_bounds_) {
    bounds.lower.insert(bounds.lower.end(), static_cast<std::size_t>(coarse_.count()), low);
    bounds.upper.insert(bounds.upper.end(), static_cast<std::size_t>(coarse_.count()), high);
  }
  return bounds;
}

std::vector<double> Parameters::fields(std::span<const double> numbers) const {
  std::vector<double> fields;
  for (std::size_t c = 0; c < scaled_start_.size(); ++c) {
    const auto nodes = static_cast<std::size_t>(coarse_.count());
    const std::vector<double> free = coarse_.to_cells(numbers.subspan(c * nodes, nodes));
    for (std::size_t i = 0; i < free.size(); ++i)
      fields.push_back(mask_[i] == 1 ? free[i] : scaled_start_[c][i] + mask_[i] * (free[i] - scaled_start_[c][i]));
  }
  return fields;
}

Model Parameters::model(std::span<const double> fields) const {
  Model model = start_;
  // Rounding of scales must not leave the bounds.
  const auto take = [&](std::vector<double>& values, std::size_t c, const std::array<double, 2>& bounds,
                        const auto& physical) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (mask_[i] != 0) values[i] = std::clamp(physical(fields[c * cells() + i]), bounds[0], bounds[1]);
  };
  if (settings_.eps_r) take(model.eps_r, 0, settings_.eps_r_bounds, [](double field) { return field; });
  if (settings_.sigma)
    take(model.sigma, scaled_start_.size() - 1, settings_.sigma_bounds, [&](double field) {
      const double ratio = field / settings_.beta;
      return settings_.sigma0 * (settings_.sigma_scale == SigmaScale::linear ? ratio : std::exp(ratio));
    });
  return model;
}

/// d(sigma)/d(field).
double Parameters::sigma_slope(double field) const {
  const double factor = settings_.sigma0 / settings_.beta;
  return settings_.sigma_scale == SigmaScale::linear ? factor : factor * std::exp(field / settings_.beta);
}

std::vector<double> Parameters::by_fields(std::span<const double> fields, const ModelChange& by_model) const {
  std::vector<double> by;
  if (settings_.eps_r) by = by_model.eps_r;
  if (settings_.sigma) {
    const std::span<const double> of_sigma = fields.subspan(by.size());
    for (std::size_t i = 0; i < cells(); ++i) by.push_back(by_model.sigma[i] * sigma_slope(of_sigma[i]));
  }
  return by;
}

std::vector<double> Parameters::field_change(std::span<const double> number_change) const {
  std::vector<double> change;
  const auto nodes = static_cast<std::size_t>(coarse_.count());
  for (std::size_t c = 0; c < scaled_start_.size(); ++c) {
    const std::vector<double> free = coarse_.to_cells(number_change.subspan(c * nodes, nodes));
    for (std::size_t i = 0; i < free.size(); ++i) change.push_back(mask_[i] * free[i]);
  }
  return change;
}

std::vector<double> Parameters::field_variances(double of_numbers) const {
  const std::vector<double> free =
      coarse_.variances(std::vector<double>(static_cast<std::size_t>(coarse_.count()), of_numbers));
  std::vector<double> made;
  for (std::size_t c = 0; c < scaled_start_.size(); ++c)
    for (std::size_t i = 0; i < free.size(); ++i) made.push_back(mask_[i] * mask_[i] * free[i]);
  return made;
}

ModelChange Parameters::model_change(std::span<const double> fields, std::span<const double> field_change) const {
  ModelChange change{std::vector<double>(cells()), std::vector<double>(cells()), {}};
  if (settings_.eps_r) std::copy_n(field_change.begin(), cells(), change.eps_r.begin());
  if (settings_.sigma) {
    const std::size_t first = fields.size() - cells();
    for (std::size_t i = 0; i < cells(); ++i)
      change.sigma[i] = field_change[first + i] * sigma_slope(fields[first + i]);
  }
  return change;
}

std::vector<double> Parameters::by_numbers(std::span<const double> by_fields) const {
  std::vector<double> numbers;
  for (std::size_t c = 0; c < scaled_start_.size(); ++c) {
    std::vector<double> masked(cells());
    // What is held has no gradient, whatever a sweep has left there.
    for (std::size_t i = 0; i < cells(); ++i) masked[i] = mask_[i] == 0 ? 0 : mask_[i] * by_fields[c * cells() + i];
    const std::vector<double> of_class = coarse_.to_nodes(masked);
    numbers.insert(numbers.end(), of_class.begin(), of_class.end());
  }
  return numbers;
}

std::vector<double> Parameters::preconditioner(std::span<const double> fields, const ModelChange& illumination,
                                               double damping) const {
  const std::vector<double> ones(cells(), 1.0), slopes = by_fields(fields, {ones, ones, {}});
  std::vector<double> diagonal;
  double first = 0;
  for (std::size_t c = 0; c < scaled_start_.size(); ++c) {
    std::vector<double> light = c == 0 && settings_.eps_r ? illumination.eps_r : illumination.sigma;
    for (std::size_t i = 0; i < cells(); ++i) light[i] *= std::pow(slopes[c * cells() + i], 2);
    light = means(light, 0);
    const double most = std::ranges::max(light);
    if (c == 0) first = most;
    for (const double each : light) diagonal.push_back(most > 0 ? (1 + damping) * first / (each + damping * most) : 1);
  }
  return diagonal;
}

}  // namespace sonde::maxwell
