// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/grid_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/grid/stencil.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/read/gprmax_cells.h"
#include "sonde/instruments/maxwell/read/gprmax_model.h"
#include "sonde/instruments/maxwell/read/resampled_model.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "sonde/instruments/maxwell/run/gprmax_run.h"
#include "sonde/instruments/maxwell/run/operator.h"
#include "sonde/instruments/maxwell/run/run_plan.h"

namespace sonde::maxwell {
namespace {

constexpr std::array orders{2, 4, 6, 8};
constexpr std::array factors{1 / 8.0, 1 / 6.0, 1 / 5.0, 1 / 4.0, 1 / 3.0, 2 / 5.0, 1 / 2.0, 2 / 3.0, 3 / 4.0, 1.0,
                             5 / 4.0, 3 / 2.0, 7 / 4.0, 2.0,     5 / 2.0, 3.0,     4.0,     5.0,     6.0,     8.0};
/// Of the largest stable step, which itself would leave nothing for rounding.
constexpr std::array step_shares{0.99, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1};
/// Beyond it cells are smaller than any accuracy needs.
constexpr double most_cells_per_wavelength = 200;

/// Time of a cell update over that of order 2 in float32, layers included (`sonde bench maxwell-forward` and
/// `maxwell-forward-2d`, two cores). A model, so that the choice does not depend on what else the machine does.
double update_cost(const GridSpec& grid, Precision precision) {
  const auto at = static_cast<std::size_t>(grid.order / 2 - 1);
  constexpr std::array in_section{1.0, 1.35, 1.8, 2.2}, in_volume{1.0, 1.5, 2.1, 2.75};
  return (grid.mode == Mode::tm2d ? in_section : in_volume)[at] * (precision == Precision::f64 ? 2 : 1);
}

std::size_t bytes_of(const Grid& grid, const GridQuestion& question) {
  const PropagatorBytes fields = question.precision == Precision::f32
                                     ? Propagator<float>::bytes_for(grid, question.poles)
                                     : Propagator<double>::bytes_for(grid, question.poles);
  return medium_bytes(grid, question.poles) + fields.lasting + fields.in_preparation;
}

double stable_step(const GridQuestion& question, int order, double factor) {
  return question.stable_step * factor / stencil_sum(order);
}

bool fits_stencil(const GridSpec& spec) {
  for (const Axis axis : all_axes) {
    const std::size_t a = dimension(axis);
    if (axis == Axis::y && spec.mode == Mode::tm2d) continue;
    if (spec.cells[a] < 1 || spec.cells[a] + spec.pml[a][0] + spec.pml[a][1] < spec.order) return false;
  }
  return true;
}

GridOption option_of(const GridQuestion& question, const GridSpec& spec, double factor, double dt, Index ratio) {
  const Grid grid(spec);
  GridOption made{.factor = factor, .grid = spec, .dt = dt, .ratio = ratio};
  made.steps =
      std::max<Index>(1, static_cast<Index>(std::ceil(static_cast<double>(question.steps) * question.dt / dt - 1e-6)));
  made.cells_per_wavelength = cells_per_wavelength(grid, question.band.slowest, question.band.highest_frequency);
  made.velocity_error =
      made.cells_per_wavelength < least_cells_per_wavelength(spec.order)
          ? std::numeric_limits<double>::infinity()
          : largest_velocity_error(grid, question.corrected && spec.order > 2 ? 0 : made.inner_dt(), question.band);
  made.cell_updates =
      static_cast<double>(grid.count()) * static_cast<double>(made.steps) * static_cast<double>(made.ratio);
  made.cost = made.cell_updates * update_cost(spec, question.precision);
  made.bytes = bytes_of(grid, question);
  return made;
}

Index least_ratio(double dt, double stable) {
  return std::max<Index>(1, static_cast<Index>(std::ceil(std::min(dt / stable, 1e6) - 1e-9)));
}

void add_options(const GridQuestion& question, const GridSpec& spec, double factor, std::vector<GridOption>& made) {
  const double stable = stable_step(question, spec.order, factor);
  if (question.keeps_dt) {
    const Index least = least_ratio(question.dt, stable);
    for (Index ratio = least; ratio <= std::min(most_sub_steps, 10 * least); ++ratio)
      made.push_back(option_of(question, spec, factor, question.dt, ratio));
    return;
  }
  if (question.dt <= stable * (1 + 1e-9)) made.push_back(option_of(question, spec, factor, question.dt, 1));
  for (const double share : step_shares) made.push_back(option_of(question, spec, factor, share * stable, 1));
}

}  // namespace

double parse_accuracy(std::string_view text, std::string_view where) {
  std::string_view digits = trim(text);
  const bool percent = digits.ends_with('%');
  if (percent) digits = trim(digits.substr(0, digits.size() - 1));
  double value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool number = status == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  constexpr double most = 0.2;  // a fifth of a wavelength in each
  if (percent) value /= 100;
  if (number && value > 0 && value <= most) return value;
  throw Error(ErrorKind::usage,
              fmt::format("{}: \"{}\"; expected a percentage above 0, at most 20 %, such as 1%, or the fraction 0.01",
                          where, text));
}

GridQuestion grid_question(const Experiment& experiment) {
  const Grid grid(experiment.grid);
  const ComponentMedium medium = medium_of(experiment, grid);
  GridQuestion made{.precision = experiment.precision,
                    .poles = experiment.poles.size(),
                    .corrected = experiment.corrected,
                    .stable_step = largest_time_step(grid, medium) * stencil_sum(grid.order()),
                    .dt = experiment.dt,
                    .steps = experiment.steps,
                    .keeps_dt = !experiment.dt_follows};
  made.band.highest_frequency = highest_frequency(experiment);
  made.band.slowest = slowest_velocity(grid, medium, made.band.highest_frequency);
  made.band.fastest = fastest_velocity(medium);
  const bool stay = !why_cells_stay(experiment).empty();
  made.cells = [spec = experiment.grid, stay](double factor) -> std::optional<GridSpec> {
    if (stay && factor != 1) return std::nullopt;
    GridSpec other = spec;
    for (const Axis axis : axes_of(spec.mode)) {
      const std::size_t a = dimension(axis);
      const auto so_many = [&](Index cells, double rounding) {
        return static_cast<Index>(std::ceil(static_cast<double>(cells) / factor - rounding));
      };
      other.spacing[a] *= factor;
      other.cells[a] = std::max<Index>(1, so_many(spec.cells[a], 1e-6));
      for (Index& width : other.pml[a]) width = std::max(width, so_many(width, 1e-6));
    }
    return other;
  };
  return made;
}

GridQuestion grid_question(const GprmaxInput& input, Index runs) {
  const GprmaxModel model = make_gprmax_model(input);
  const Grid grid(model.grid);
  GridQuestion made{.poles = model.medium.poles.size(),
                    .stable_step = input.time_step() / input.stability_factor,
                    .dt = model.dt,
                    .steps = model.iterations};
  made.band.highest_frequency = highest_frequency(input);
  made.band.slowest = slowest_velocity(grid, model.medium, made.band.highest_frequency);
  made.band.fastest = fastest_velocity(model.medium);
  made.cells = [&input, runs](double factor) -> std::optional<GridSpec> {
    const auto other = with_cells(input, factor, runs);
    return other ? std::optional(gprmax_grid(*other)) : std::nullopt;
  };
  return made;
}

GridOption own_option(const GridQuestion& question, int order) {
  GridSpec spec = question.cells(1).value();
  spec.order = order;
  return option_of(question, spec, 1, question.dt, least_ratio(question.dt, stable_step(question, order, 1)));
}

std::vector<GridOption> grid_options(const GridQuestion& question) {
  std::vector<GridOption> made;
  for (const double factor : factors) {
    std::optional<GridSpec> spec = question.cells(factor);
    if (!spec) continue;
    for (const int order : orders) {
      if (question.order && order != *question.order) continue;
      spec->order = order;
      if (!fits_stencil(*spec)) continue;
      if (cells_per_wavelength(Grid(*spec), question.band.slowest, question.band.highest_frequency) >
              most_cells_per_wavelength &&
          factor != 1)
        continue;
      add_options(question, *spec, factor, made);
    }
  }
  std::stable_sort(made.begin(), made.end(), [](const GridOption& a, const GridOption& b) { return a.cost < b.cost; });
  return made;
}

const GridOption* cheapest(const std::vector<GridOption>& options, double velocity_error, std::size_t most_bytes) {
  const auto found = std::find_if(options.begin(), options.end(), [&](const GridOption& each) {
    return each.velocity_error <= velocity_error && each.bytes <= most_bytes;
  });
  return found == options.end() ? nullptr : &*found;
}

std::vector<GridOption> alternatives(const std::vector<GridOption>& options, const GridOption& chosen,
                                     double velocity_error) {
  std::vector<GridOption> made;
  const GridOption* cheaper = nullptr;
  for (const GridOption& each : options)
    if (each.cost < chosen.cost && each.velocity_error > velocity_error && std::isfinite(each.velocity_error))
      cheaper = &each;
  if (cheaper != nullptr) made.push_back(*cheaper);
  for (const GridOption& each : options) {
    const bool first = std::none_of(made.begin(), made.end(), [&](const GridOption& before) {
      return before.grid.order == each.grid.order && before.velocity_error <= velocity_error;
    });
    if (&each == &chosen || (first && each.grid.order != chosen.grid.order && each.velocity_error <= velocity_error))
      made.push_back(each);
  }
  return made;
}

}  // namespace sonde::maxwell
