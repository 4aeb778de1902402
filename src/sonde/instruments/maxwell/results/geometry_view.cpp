// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/geometry_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sonde/engine/figure/html.h"
#include "sonde/instruments/maxwell/read/gprmax_output.h"
#include "sonde/instruments/maxwell/results/thinned_map.h"
#include "sonde/instruments/maxwell/results/vti_file.h"

namespace sonde::maxwell {
namespace {

/// Cells of a view: first + step i.
struct ViewedCells {
  XyzIndex first{}, step{}, count{};

  ViewedCells(const GprmaxGeometryView& view, const Xyz& spacing)
      : first(nearest_planes(view.first, spacing)), step(nearest_planes(view.step, spacing)) {
    const XyzIndex last = nearest_planes(view.last, spacing);
    for (std::size_t u = 0; u < 3; ++u) count[u] = (last[u] - first[u] - 1) / step[u] + 1;
  }

  /// [z][y][x] of body(cell).
  template <class T, class Body>
  [[nodiscard]] Array map(const Body& body) const {
    Array made = Array::zeros(Device::cpu(), {count[2], count[1], count[0]}, dtype_of<T>);
    T* to = static_cast<T*>(made.data());
    for (Index z = 0; z < count[2]; ++z)
      for (Index y = 0; y < count[1]; ++y)
        for (Index x = 0; x < count[0]; ++x)
          *to++ =
              static_cast<T>(body(XyzIndex{first[0] + step[0] * x, first[1] + step[1] * y, first[2] + step[2] * z}));
    return made;
  }
};

std::size_t cell_of(const XyzIndex& at, const XyzIndex& cells) {
  return static_cast<std::size_t>((at[2] * cells[1] + at[1]) * cells[0] + at[0]);
}

bool in_layers(const XyzIndex& at, const GprmaxInput& input) {
  for (std::size_t u = 0; u < 3; ++u)
    if (u != input.flat_axis() && (at[u] < input.pml_cells[u][0] || at[u] >= input.cells[u] - input.pml_cells[u][1]))
      return true;
  return false;
}

template <class Points>
std::vector<XyzIndex> places_of(const Points& points, const GprmaxAxes& axes) {
  std::vector<XyzIndex> made;
  for (const auto& point : points) made.push_back(axes.to_file(point.at));
  return made;
}

/// The number of the last point of each place.
std::map<XyzIndex, Index> numbered_places(const std::vector<XyzIndex>& places, Index first) {
  constexpr Index most = 127;
  std::map<XyzIndex, Index> made;
  for (const XyzIndex& place : places) made[place] = std::min(most, first++);
  return made;
}

Index number_at(const std::map<XyzIndex, Index>& places, const XyzIndex& at) {
  const auto found = places.find(at);
  return found == places.end() ? 0 : found->second;
}

std::string names_of(const GprmaxInput& input, const GprmaxModel& model) {
  std::string made = "\n<gprMax>\n";
  const auto add = [&](const char* what, const std::string& name, std::size_t number) {
    made += fmt::format("<{0} name=\"{1}\">{2}</{0}>\n", what, html_text(name), number);
  };
  for (std::size_t m = 0; m < input.materials.size(); ++m) add("Material", input.materials[m].id, m);
  add("PML", "PML boundary region", 1);
  const GprmaxOutput named = empty_output(model, model.acquisition);
  for (std::size_t s = 0; s < named.sources.size(); ++s) {
    const XyzIndex at = model.axes.to_file(model.acquisition.sources[s].at);
    add("Sources", fmt::format("{}({},{},{})", named.sources[s].type, at[0], at[1], at[2]), s + 2);
  }
  for (std::size_t r = 0; r < named.receivers.size(); ++r) add("Receivers", named.receivers[r].name, r + 1);
  return made + "</gprMax>\n";
}

/// A plane of the model: where it is cut, and the axes across and up.
struct ModelSection {
  std::size_t cut, across, up;
};

Series points_on(const ModelSection& section, const std::vector<XyzIndex>& places, const Xyz& spacing, const char* what,
                 Symbol symbol, const char* colour) {
  Series made{.name = what, .mark = Mark::points, .symbol = symbol, .colour = colour};
  for (const XyzIndex& place : places) {
    made.x.push_back(static_cast<double>(place[section.across]) * spacing[section.across]);
    made.y.push_back(static_cast<double>(place[section.up]) * spacing[section.up]);
  }
  return made;
}

std::vector<double> centres(Index cells, double spacing) {
  std::vector<double> made(static_cast<std::size_t>(cells));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = (static_cast<double>(i) + 0.5) * spacing;
  return made;
}

std::string legend_of(const GprmaxInput& input, std::span<const std::uint32_t> materials) {
  constexpr std::size_t most = 8;
  const std::set<std::uint32_t> present(materials.begin(), materials.end());
  std::string made;
  std::size_t shown = 0;
  for (const std::uint32_t number : present) {
    made += fmt::format("{}{} {}", made.empty() ? "" : ", ", number, input.materials[number].id);
    if (++shown == most && present.size() > most) return made + ", ...";
  }
  return made;
}

}  // namespace

void write_geometry_view(const std::string& path, const GprmaxInput& input, const GprmaxModel& model,
                         const GprmaxGeometryView& view, std::span<const std::uint32_t> materials) {
  const ViewedCells cells(view, input.spacing);
  VtiFile::Image image{.cells = cells.count,
                       .values = {{"Material", DType::u32}, {"Sources_PML", DType::i8}, {"Receivers", DType::i8}},
                       .tail = names_of(input, model)};
  for (std::size_t u = 0; u < 3; ++u) {
    image.origin[u] = static_cast<double>(cells.first[u]) * input.spacing[u];
    image.spacing[u] = static_cast<double>(cells.step[u]) * input.spacing[u];
  }
  const auto sources = numbered_places(places_of(model.acquisition.sources, model.axes), 2);
  const auto receivers = numbered_places(places_of(model.acquisition.receivers, model.axes), 1);
  VtiFile file(path, std::move(image), side_output("the view of the geometry", FileMark::text));
  file.write(cells.map<std::uint32_t>([&](const XyzIndex& at) { return materials[cell_of(at, input.cells)]; }));
  file.write(cells.map<std::int8_t>([&](const XyzIndex& at) {
    const Index source = number_at(sources, at);
    return source > 0 ? source : in_layers(at, input) ? 1 : 0;
  }));
  file.write(cells.map<std::int8_t>([&](const XyzIndex& at) { return number_at(receivers, at); }));
  file.finish();
}

Chart model_chart(const GprmaxInput& input, const GprmaxModel& model, std::span<const std::uint32_t> materials) {
  const std::vector<XyzIndex> sources = places_of(model.acquisition.sources, model.axes),
                              receivers = places_of(model.acquisition.receivers, model.axes);
  XyzIndex through{input.cells[0] / 2, input.cells[1] / 2, input.cells[2] / 2};
  if (!sources.empty()) through = sources.front();
  std::vector<ModelSection> sections{{1, 0, 2}, {0, 1, 2}, {2, 0, 1}};
  if (const auto flat = input.flat_axis())
    std::erase_if(sections, [&](const ModelSection& section) { return section.cut != *flat; });
  const std::string legend = legend_of(input, materials);
  Chart chart{.title = input.title.empty() ? legend : fmt::format("{} ({})", input.title, legend)};
  for (const ModelSection& section : sections) {
    Facet& facet = chart.facets.emplace_back();
    if (!input.flat_axis())
      facet.title = fmt::format("{} = {:.4g} m", xyz_letters[section.cut],
                                static_cast<double>(through[section.cut]) * input.spacing[section.cut]);
    std::vector<double> values;
    XyzIndex at = through;
    for (at[section.up] = 0; at[section.up] < input.cells[section.up]; ++at[section.up])
      for (at[section.across] = 0; at[section.across] < input.cells[section.across]; ++at[section.across])
        values.push_back(materials[cell_of(at, input.cells)]);
    HeightMap map = thinned_map(centres(input.cells[section.across], input.spacing[section.across]),
                                centres(input.cells[section.up], input.spacing[section.up]), values);
    map.title = "material";
    set_axes(facet, std::move(map),
             {std::string(1, xyz_letters[section.across]), std::string(1, xyz_letters[section.up])}, false);
    facet.series.push_back(points_on(section, sources, input.spacing, "source", Symbol::disc, "#EE6677"));
    facet.series.push_back(points_on(section, receivers, input.spacing, "receiver", Symbol::ring, "#222222"));
  }
  return chart;
}

}  // namespace sonde::maxwell
