// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/gradient_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

constexpr const char* group = "gradient/";
constexpr const char* gradient_schema = "sonde.maxwell.gradient/1";

/// Of 1/2 sum (V/m)^2, where the records are electric.
const char* gradient_unit(const std::string& name) {
  return name.starts_with("sigma") ? "(V/m)^2 m/S" : name.starts_with("debye/tau") ? "(V/m)^2/s" : "(V/m)^2";
}

void add_map(Contents& contents, const std::string& name, const std::vector<std::string>& axes, Array values,
             const std::vector<double>& spacing) {
  Contents::Variable& made = contents.add(group + name, axes, std::move(values));
  made.unit(gradient_unit(name));
  made.attributes.emplace_back("spacing", spacing);
}

void add_sources(Contents& contents, const std::vector<std::vector<double>>& sources, std::vector<std::string> axes,
                 const std::vector<Index>& shape) {
  if (sources.empty()) return;
  std::vector<double> all;
  for (const std::vector<double>& each : sources) all.insert(all.end(), each.begin(), each.end());
  Shape made;
  for (const Index extent : shape) made.append(extent);
  contents.add(group + std::string("source"), std::move(axes), Array::from(all, made));
}

/// One component of a gprMax model in the axes of its file, at the end of `made`.
void append_in_file_axes(const GprmaxModel& model, const Grid& grid, const std::vector<double>& nodes,
                         std::vector<double>& made) {
  made.reserve(made.size() + nodes.size());
  XyzIndex at{};
  for (at[2] = 0; at[2] < model.cells[2]; ++at[2])
    for (at[1] = 0; at[1] < model.cells[1]; ++at[1])
      for (at[0] = 0; at[0] < model.cells[0]; ++at[0]) {
        const auto zyx = model.axes.to_arrays(at);
        made.push_back(nodes[static_cast<std::size_t>(grid.index(zyx[0], zyx[1], zyx[2]))]);
      }
}

/// The plane of two axes: of three without the flat one, else without y in its middle.
Facet facet_of(const Contents::Variable& variable) {
  const Shape& shape = variable.values.shape();
  const auto* spacing = std::get_if<std::vector<double>>(&variable.attributes.back().second);
  int left_out = shape.rank() == 3 ? 1 : 2;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape.rank() == 3 && shape[axis] == 1) left_out = axis;
  const int down = left_out == 0 ? 1 : 0, across = left_out == 2 ? 1 : shape.rank() - 1;
  std::array<Index, 3> stride{1, 1, 1};
  for (int axis = shape.rank() - 2; axis >= 0; --axis)
    stride[static_cast<std::size_t>(axis)] = stride[static_cast<std::size_t>(axis) + 1] * shape[axis + 1];
  const auto at = [&](int axis) { return stride[static_cast<std::size_t>(axis)]; };
  const auto* values =
      static_cast<const double*>(variable.values.data()) + (shape.rank() == 3 ? shape[left_out] / 2 * at(left_out) : 0);
  Facet made;
  made.title = fmt::format("{}, {}", variable.name.substr(std::string(group).size()), variable.unit());
  HeightMap& map = made.map.emplace();
  const auto places = [&](int axis, std::vector<double>& to) {
    for (Index i = 0; i < shape[axis]; ++i)
      to.push_back(static_cast<double>(i) * (*spacing)[static_cast<std::size_t>(axis)]);
  };
  places(down, map.y);
  places(across, map.x);
  for (Index i = 0; i < shape[down]; ++i)
    for (Index j = 0; j < shape[across]; ++j) map.z.push_back(values[i * at(down) + j * at(across)]);
  // Depth runs downwards; y of a file of gprMax is a height.
  const std::string& vertical = variable.dimensions[static_cast<std::size_t>(down)];
  made.x = {.title = variable.dimensions[static_cast<std::size_t>(across)],
            .unit = "m",
            .low = map.x.front(),
            .high = map.x.back()};
  made.y = {.title = vertical, .unit = "m", .low = map.y.front(), .high = map.y.back()};
  if (vertical == "z" && shape.rank() == 2) std::swap(made.y.low, made.y.high);
  std::vector<double> sizes;
  for (const double value : map.z) sizes.push_back(std::abs(value));
  const auto limit = sizes.begin() + static_cast<Index>(0.99 * static_cast<double>(sizes.size() - 1));
  std::nth_element(sizes.begin(), limit, sizes.end());
  map.both_signs = *limit > 0 ? *limit : 1;
  return made;
}

}  // namespace

Contents gradient_contents(const Experiment& experiment, const SurveyGradient& gradient) {
  Contents made;
  std::vector<std::string> axes;
  std::vector<double> spacing;
  Shape shape;
  for (const Axis axis : axes_of(experiment.grid.mode)) {
    axes.emplace_back(axis == Axis::z ? "z" : axis == Axis::y ? "y" : "x");
    spacing.push_back(experiment.grid.spacing[dimension(axis)]);
    shape.append(experiment.grid.cells[dimension(axis)]);
  }
  for (const auto& [name, values] :
       {std::pair("eps_r", &gradient.model.eps_r), std::pair("sigma", &gradient.model.sigma),
        std::pair("mu_r", &gradient.model.mu_r)})
    if (!values->empty()) add_map(made, name, axes, Array::from(*values, shape), spacing);
  for (const auto& [name, part] :
       {std::pair("debye/deps", &ModelPole::deps), std::pair("debye/tau", &ModelPole::tau)}) {
    if (gradient.model.poles.empty()) continue;
    std::vector<double> all;
    for (const ModelPole& pole : gradient.model.poles) all.insert(all.end(), (pole.*part).begin(), (pole.*part).end());
    Shape of_poles{static_cast<Index>(gradient.model.poles.size())};
    std::vector<std::string> pole_axes{"pole"};
    for (int axis = 0; axis < shape.rank(); ++axis) of_poles.append(shape[axis]);
    pole_axes.insert(pole_axes.end(), axes.begin(), axes.end());
    add_map(made, name, pole_axes, Array::from(all, of_poles), spacing);
  }
  const Index shots = static_cast<Index>(experiment.shots.size());
  const Index sources = static_cast<Index>(experiment.shots.front().sources.size());
  add_sources(made, gradient.sources, {"shot", "source", "step"}, {shots, sources, experiment.steps});
  made.add("misfit", gradient.misfit);
  made.attribute("schema", std::string(gradient_schema));
  return made;
}

Contents gradient_contents(const GprmaxModel& model, const GprmaxGradient& gradient) {
  Contents made;
  const Grid grid(model.grid);
  const std::vector<double> spacing{model.spacing[2], model.spacing[1], model.spacing[0]};
  for (const Component users : all_components) {
    const auto c = model.component(users);
    if (!c) continue;
    const std::size_t p = place(*c);
    const auto add = [&](const char* what, const std::vector<double>& nodes) {
      if (nodes.empty()) return;
      std::vector<double> values;
      append_in_file_axes(model, grid, nodes, values);
      add_map(made, fmt::format("{}_{}", what, name(users)), {"z", "y", "x"},
              Array::from(values, {model.cells[2], model.cells[1], model.cells[0]}), spacing);
    };
    if (is_electric(*c)) {
      add("eps_r", gradient.medium.eps_r[p]);
      add("sigma", gradient.medium.sigma[p]);
      for (const auto& [what, part] : {std::pair("deps", &DebyePole::deps), std::pair("tau", &DebyePole::tau)}) {
        if (gradient.medium.poles.empty()) continue;
        std::vector<double> values;
        for (const DebyePole& pole : gradient.medium.poles) append_in_file_axes(model, grid, (pole.*part)[p], values);
        add_map(
            made, fmt::format("debye/{}_{}", what, name(users)), {"pole", "z", "y", "x"},
            Array::from(values, {std::ssize(gradient.medium.poles), model.cells[2], model.cells[1], model.cells[0]}),
            spacing);
      }
    } else {
      add("mu_r", gradient.medium.mu_r[p]);
    }
  }
  add_sources(made, gradient.sources, {"source", "step"},
              {static_cast<Index>(gradient.sources.size()), model.iterations - 1});
  made.add("misfit", gradient.misfit);
  made.attribute("schema", std::string(gradient_schema));
  return made;
}

Chart gradient_chart(const Contents& contents) {
  Chart made;
  made.title = "Gradient of the misfit";
  for (const Contents::Variable& variable : contents.variables())
    if (variable.name.starts_with(group) && !variable.name.ends_with("/source") &&
        !variable.name.starts_with("gradient/debye"))
      made.facets.push_back(facet_of(variable));
  if (made.facets.empty())
    throw Error(ErrorKind::bad_input, "a gradient by the sources only has no map").hint("leave out " + setting("plot"));
  return made;
}

}  // namespace sonde::maxwell
