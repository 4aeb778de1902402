// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "sonde/instruments/maxwell/grid/grid.h"
#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/read/experiment.h"
#include "sonde/instruments/maxwell/read/gprmax_input.h"

namespace sonde::maxwell {

/// The largest error of the phase velocity that is accepted, of "1%" or of a fraction, "0.01". Throws Error(usage)
/// beginning with `where` for anything else, and for what is not above 0 and at most 20 %.
[[nodiscard]] double parse_accuracy(std::string_view text, std::string_view where);

/// A way to compute the waves of a model: order of the stencils, cells and time step.
struct GridOption {
  double factor = 1;           ///< length of its cells over that of the model's
  GridSpec grid;               ///< with its order and layers
  double dt = 0;               ///< s, of the records
  Index steps = 0, ratio = 1;  ///< of the records, and inner ones in each of them
  double velocity_error = 0;   ///< largest_velocity_error(); infinity with too few cells per wavelength
  double cells_per_wavelength = 0;
  double cell_updates = 0;
  /// In cell updates of order 2 in float32: what one takes of an order and precision, times how many.
  double cost = 0;
  std::size_t bytes = 0;  ///< of medium, fields and factors, about

  [[nodiscard]] double inner_dt() const { return dt / static_cast<double>(ratio); }
};

/// What is known of a model whose grid is sought.
struct GridQuestion {
  WaveBand band{};
  Precision precision = Precision::f32;
  std::size_t poles = 0;
  bool corrected = false;      ///< whether time dispersion is corrected, at orders above 2
  std::optional<int> order{};  ///< the only one that is allowed
  double stable_step = 0;      ///< s, the largest at order 2 on the cells of the model
  double dt = 0;               ///< s, of the records as the model says it
  Index steps = 0;             ///< of them
  bool keeps_dt = false;       ///< whether the records must have that step: then inner ones divide it
  /// The grid of the model with cells so many times as large, of any order; nothing where it allows none.
  std::function<std::optional<GridSpec>(double factor)> cells{};
};

/// Of an experiment: cells of any size, with layers that are not thinner than they are and have no fewer cells.
[[nodiscard]] GridQuestion grid_question(const Experiment& experiment);
/// Of a model of gprMax: those of with_cells(), and the steps that gprMax would take. `input` must outlive it.
[[nodiscard]] GridQuestion grid_question(const GprmaxInput& input, Index runs);

/// What the model is computed with as it is, by stencils of this order.
[[nodiscard]] GridOption own_option(const GridQuestion& question, int order);
/// All of them, the cheapest first: orders 2 to 8, cells from an eighth to eight times those of the model, and time
/// steps from the largest stable one down to a tenth of it.
[[nodiscard]] std::vector<GridOption> grid_options(const GridQuestion& question);

/// The first that has at most this error and takes at most so many bytes; nullptr where there is none.
[[nodiscard]] const GridOption* cheapest(const std::vector<GridOption>& options, double velocity_error,
                                         std::size_t most_bytes);
/// What the chosen one is compared with, the cheapest first, itself included: the cheapest of every other order that is
/// as accurate, and the next cheaper one, which is not.
[[nodiscard]] std::vector<GridOption> alternatives(const std::vector<GridOption>& options, const GridOption& chosen,
                                                   double velocity_error);

}  // namespace sonde::maxwell
