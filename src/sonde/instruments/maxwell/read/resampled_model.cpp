// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/resampled_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

/// More cells than that along an axis come from a wrong unit.
constexpr double most_cells_of_axis = 1e7;

/// One element of a line of new ones: the mean of old elements first, first + 1, ...
struct Share {
  std::size_t first = 0;
  std::vector<double> weights{};  // their sum is 1
};

/// `ratio` new cells have the length of an old one.
std::vector<Share> shares_of(Index before, Index after, double ratio, MaterialLocation location) {
  const double to_node = location == MaterialLocation::node ? 0.5 : 0;
  std::vector<Share> made(static_cast<std::size_t>(after));
  for (Index i = 0; i < after; ++i) {
    // In old elements, each of which reaches from its number to the next one.
    const auto edge = [&](Index at) { return (static_cast<double>(at) - to_node) / ratio + to_node; };
    const double low = edge(i), high = edge(i + 1), last = static_cast<double>(before - 1);
    // A rounded edge takes nothing from the element beyond it.
    const double first = std::floor(low + 1e-9), end = std::ceil(high - 1e-9);
    Share& share = made[static_cast<std::size_t>(i)];
    share.first = static_cast<std::size_t>(std::clamp(first, 0.0, last));
    share.weights.resize(static_cast<std::size_t>(std::clamp(end - 1, 0.0, last)) - share.first + 1);
    double sum = 0;
    for (double old = first; old < end; old += 1) {
      const double overlap = std::min(high, old + 1) - std::max(low, old);
      share.weights[static_cast<std::size_t>(std::clamp(old, 0.0, last)) - share.first] += overlap;
      sum += overlap;
    }
    for (double& weight : share.weights) weight /= sum;
  }
  return made;
}

/// Means along one dimension of [z][y][x].
std::vector<double> averaged(const std::vector<double>& values, const Triple& extents, std::size_t along,
                             const std::vector<Share>& shares) {
  Index outer = 1, inner = 1;
  for (std::size_t a = 0; a < 3; ++a) (a < along ? outer : inner) *= a == along ? 1 : extents[a];
  const auto count = static_cast<std::size_t>(inner), line = static_cast<std::size_t>(extents[along]) * count;
  std::vector<double> made(static_cast<std::size_t>(outer) * shares.size() * count);
  std::size_t to = 0;
  for (Index o = 0; o < outer; ++o)
    for (const Share& share : shares)
      for (std::size_t i = 0; i < count; ++i, ++to)
        for (std::size_t w = 0; w < share.weights.size(); ++w)
          made[to] += share.weights[w] * values[static_cast<std::size_t>(o) * line + (share.first + w) * count + i];
  return made;
}

bool uniform(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double each) { return each == values.front(); });
}

}  // namespace

std::string why_cells_stay(const Experiment& experiment) {
  const auto& sigma = experiment.model.sigma;
  if (std::any_of(sigma.begin(), sigma.end(), [](double each) { return std::isinf(each); }))
    return "sigma is infinite in some elements, which are conductors of whole cells";
  for (const ModelPole& pole : experiment.poles)
    if (!uniform(pole.tau))
      return "tau of its Debye poles varies: the mean of two relaxation times is not a relaxation";
  return "";
}

void resample(Experiment& experiment, const std::array<double, 3>& spacing) {
  for (const Axis axis : axes_of(experiment.grid.mode))
    if (const double d = spacing[dimension(axis)]; !(d > 0) || !std::isfinite(d))
      throw Error(ErrorKind::bad_input, fmt::format("spacing of the computed cells = {} m; expected above 0", d));
  if (spacing == experiment.grid.spacing) return;
  if (const std::string why = why_cells_stay(experiment); !why.empty())
    throw Error(ErrorKind::bad_input, "the model keeps its cells: " + why).hint("leave out the spacing of other ones");
  GridSpec& grid = experiment.grid;
  Model& model = experiment.model;
  std::vector<std::vector<double>*> arrays{&model.eps_r, &model.sigma};
  if (!model.mu_r.empty()) arrays.push_back(&model.mu_r);
  for (ModelPole& pole : experiment.poles) arrays.insert(arrays.end(), {&pole.deps, &pole.tau});
  for (const Axis axis : axes_of(grid.mode)) {
    const std::size_t a = dimension(axis);
    const double ratio = grid.spacing[a] / spacing[a], cells = static_cast<double>(grid.cells[a]) * ratio;
    if (!(cells <= most_cells_of_axis))
      throw Error(ErrorKind::bad_input, fmt::format("{} cells of {} m along {}; expected at most {:g}", cells,
                                                    spacing[a], "zyx"[a], most_cells_of_axis));
    const Index after = std::max<Index>(1, static_cast<Index>(std::ceil(cells - 1e-6)));
    const std::vector<Share> shares = shares_of(grid.cells[a], after, ratio, model.location);
    for (std::vector<double>* array : arrays) *array = averaged(*array, grid.cells, a, shares);
    grid.cells[a] = after;
    grid.spacing[a] = spacing[a];
  }
}

}  // namespace sonde::maxwell
