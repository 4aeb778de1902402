// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/crystal_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/math/wavelength.h"

namespace sonde::stem {
namespace {

constexpr std::size_t families_shown = 20;

std::string text_of(const Miller& hkl) { return fmt::format("{} {} {}", hkl[0], hkl[1], hkl[2]); }

/// "Au4", "Ga4 As4": atoms of one cell.
std::string contents_of_cell(const Crystal& crystal) {
  std::map<int, double> atoms;
  for (const Atom& atom : crystal.atoms) atoms[atom.atomic_number] += atom.occupancy;
  std::string text;
  for (const auto& [element, count] : atoms)
    text += fmt::format("{}{}{:.4g}", text.empty() ? "" : " ", element_symbol(element), count);
  return text;
}

/// Spots by their share of the strongest: a chart has no sizes.
std::vector<Series> spots_by_strength(const std::vector<KinematicSpot>& pattern) {
  double strongest = 0;
  for (const KinematicSpot& spot : pattern) strongest = std::max(strongest, spot.intensity);
  std::vector<Series> groups;
  double above = 2;
  for (const double share : {0.3, 0.03, 0.003}) {
    Series group{.name = fmt::format("above {:g} of the strongest", share), .mark = Mark::points};
    for (const KinematicSpot& spot : pattern)
      if (spot.intensity >= share * strongest && spot.intensity < above * strongest) {
        group.x.push_back(spot.x);
        group.y.push_back(-spot.y);  // rows go down
      }
    if (!group.x.empty()) groups.push_back(std::move(group));
    above = share;
  }
  return groups;
}

}  // namespace

CrystalResult describe_crystal(Crystal crystal, const CrystalOptions& options) {
  options.check();
  CrystalResult result;
  result.reflections = list_reflections(crystal, options.k_max);
  result.group = find_point_group(crystal, result.reflections);
  result.families = families_of(result.reflections, result.group);
  result.zone = options.zone_asked();
  if (result.zone) {
    result.beam = {.wavelength = electron_wavelength(*options.voltage),
                   .sigma_excitation_error = options.excitation_error,
                   .precession = options.precession * std::numbers::pi / 180};
    result.pattern = kinematic_pattern(result.reflections,
                                       orientation_of_zone(crystal, result.reflections, *result.zone), result.beam);
    if (result.pattern.empty())
      throw Error(ErrorKind::bad_input, fmt::format("{}: no reflection within {:g} 1/A is excited along [{}]",
                                                    crystal.name, options.k_max, text_of(*result.zone)))
          .hint("give a larger " + setting("k_max") + " or " + setting("excitation_error"));
  }
  result.crystal = std::move(crystal);
  return result;
}

Value CrystalResult::to_value() const {
  const UnitCell& cell = crystal.cell;
  Value value;
  value["cell"]["a"] = cell.a;
  value["cell"]["b"] = cell.b;
  value["cell"]["c"] = cell.c;
  value["cell"]["alpha"] = cell.alpha;
  value["cell"]["beta"] = cell.beta;
  value["cell"]["gamma"] = cell.gamma;
  value["cell"]["volume"] = cell.volume();
  value["atoms"] = contents_of_cell(crystal);
  value["space_group"] = crystal.space_group;
  value["laue_group"] = group.symbol();
  value["reflections"] = reflections.size();
  Value list = Value::list();
  for (const Family& family : families) {
    Value& row = list.push_back(Value::object());
    row["hkl"] = Value(Value::List{family.hkl[0], family.hkl[1], family.hkl[2]});
    row["d"] = 1 / family.length;
    row["g"] = family.length;
    row["magnitude"] = family.magnitude;
    row["multiplicity"] = family.multiplicity;
  }
  value["families"] = std::move(list);
  if (zone) {
    value["zone"] = Value(Value::List{(*zone)[0], (*zone)[1], (*zone)[2]});
    value["wavelength"] = beam.wavelength;
    value["spots"] = pattern.size();
  }
  value["warnings"] = crystal.warnings;
  return value;
}

std::vector<std::string> CrystalResult::lines() const {
  const UnitCell& cell = crystal.cell;
  std::vector<std::string> lines = {
      fmt::format(
          "cell      a {:.5g}, b {:.5g}, c {:.5g} A; alpha {:.5g}, beta {:.5g}, gamma {:.5g} degrees; {:.5g} A^3",
          cell.a, cell.b, cell.c, cell.alpha, cell.beta, cell.gamma, cell.volume()),
      fmt::format("atoms     {} in a cell", contents_of_cell(crystal)),
      fmt::format("symmetry  {}Laue group {}, {} operations, from the intensities",
                  crystal.space_group.empty() ? "" : crystal.space_group + " in the file; ",
                  group.symbol().empty() ? "unknown" : group.symbol(), group.order()),
      fmt::format("hkl       {} reflections in {} families; |F| in 1/A^2", reflections.size(), families.size()),
      fmt::format("{:>14} {:>10} {:>10} {:>10} {:>5}", "hkl", "d (A)", "1/d (1/A)", "|F|", "mult")};
  for (std::size_t i = 0; i < std::min(families.size(), families_shown); ++i)
    lines.push_back(fmt::format("{:>14} {:>10.5f} {:>10.5f} {:>10.5f} {:>5}", text_of(families[i].hkl),
                                1 / families[i].length, families[i].length, families[i].magnitude,
                                families[i].multiplicity));
  if (families.size() > families_shown) lines.push_back(fmt::format("{:>14}", "..."));
  if (zone)
    lines.push_back(fmt::format("pattern   {} spots along [{}], wavelength {:.5f} A", pattern.size(), text_of(*zone),
                                beam.wavelength));
  return lines;
}

Contents CrystalResult::contents(const std::string& command) const {
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.crystal/1"));
  contents.attribute("sonde_version", std::string(build_info().version));
  contents.attribute("command", command);
  const auto add_list = [&](const std::string& name, std::size_t count, const std::string& unit, auto&& of) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(of(i));
    const auto axis = name.substr(0, name.find('/'));
    contents.add(name, {axis}, Array::from(values, {static_cast<Index>(count)})).unit(unit);
  };
  const auto add_indices = [&](const std::string& name, std::size_t count, auto&& of) {
    std::vector<std::int32_t> values;
    for (std::size_t i = 0; i < count; ++i)
      for (const int index : of(i)) values.push_back(index);
    const auto axis = name.substr(0, name.find('/'));
    contents.add(name, {axis, "index"}, Array::from(values, {static_cast<Index>(count), 3})).unit("");
  };
  add_indices("reflection/hkl", reflections.size(), [&](std::size_t i) { return reflections[i].hkl; });
  add_list("reflection/g", reflections.size(), "1/A", [&](std::size_t i) { return reflections[i].length; });
  add_list("reflection/real", reflections.size(), "1/A^2", [&](std::size_t i) { return reflections[i].factor.real(); });
  add_list("reflection/imaginary", reflections.size(), "1/A^2",
           [&](std::size_t i) { return reflections[i].factor.imag(); });
  add_indices("family/hkl", families.size(), [&](std::size_t i) { return families[i].hkl; });
  add_list("family/g", families.size(), "1/A", [&](std::size_t i) { return families[i].length; });
  add_list("family/magnitude", families.size(), "1/A^2", [&](std::size_t i) { return families[i].magnitude; });
  add_list("family/multiplicity", families.size(), "",
           [&](std::size_t i) { return static_cast<double>(families[i].multiplicity); });
  if (!zone) return contents;
  add_indices("spot/hkl", pattern.size(), [&](std::size_t i) { return reflections[pattern[i].reflection].hkl; });
  add_list("spot/x", pattern.size(), "1/A", [&](std::size_t i) { return pattern[i].x; });
  add_list("spot/y", pattern.size(), "1/A", [&](std::size_t i) { return pattern[i].y; });
  add_list("spot/intensity", pattern.size(), "1/A^4", [&](std::size_t i) { return pattern[i].intensity; });
  return contents;
}

Chart CrystalResult::chart() const {
  Facet lines;
  lines.title = "Families: intensity times multiplicity";
  lines.x = {.title = "1/d", .unit = "1/A", .low = 0};
  lines.y = {.title = "of the strongest", .low = 0, .high = 1.05};
  double strongest = 0;
  const auto intensity = [](const Family& family) {
    return family.magnitude * family.magnitude * static_cast<double>(family.multiplicity);
  };
  for (const Family& family : families) strongest = std::max(strongest, intensity(family));
  Series sticks{.name = "", .mark = Mark::lines};
  for (const Family& family : families) {
    sticks.x.insert(sticks.x.end(), 3, family.length);
    sticks.y.insert(sticks.y.end(), {0, intensity(family) / strongest, 0});
  }
  lines.series.push_back(std::move(sticks));
  Chart chart;
  chart.title = contents_of_cell(crystal);
  chart.facets.push_back(std::move(lines));
  if (!zone) return chart;
  Facet spots;
  spots.title = fmt::format("Along [{}]", text_of(*zone));
  double reach = 0;
  for (const KinematicSpot& spot : pattern) reach = std::max({reach, std::abs(spot.x), std::abs(spot.y)});
  spots.x = {.title = "x", .unit = "1/A", .low = -1.1 * reach, .high = 1.1 * reach};
  spots.y = {.title = "-y", .unit = "1/A", .low = -1.1 * reach, .high = 1.1 * reach};
  spots.series = spots_by_strength(pattern);
  chart.facets.push_back(std::move(spots));
  return chart;
}

}  // namespace sonde::stem
