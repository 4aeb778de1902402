// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/crystal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

constexpr double one_place = 0.01;  // A
constexpr double full = 1.01;       // occupancies are given with two digits
constexpr std::size_t most_atoms = 10'000;
constexpr std::size_t most_places = 100'000;  // each is compared with all atoms: 2 s
constexpr double longest_axis = 1000;         // A

Vec3 into_cell(const Vec3& position) {
  Vec3 made{};
  for (std::size_t i = 0; i < 3; ++i) {
    made[i] = position[i] - std::floor(position[i]);
    if (made[i] >= 1) made[i] = 0;  // -1e-17 is 1 after rounding
  }
  return made;
}

/// Whether two positions are one place.
class SamePlace {
 public:
  explicit SamePlace(const UnitCell& cell) : axes_(cell.axes()) {
    const Mat3 reciprocal = transposed(cell.reciprocal_axes());
    for (std::size_t i = 0; i < 3; ++i) part_[i] = one_place * length(reciprocal[i]);
  }

  bool operator()(const Vec3& a, const Vec3& b) const {
    Vec3 between{};
    for (std::size_t i = 0; i < 3; ++i) {
      between[i] = a[i] - b[i];
      between[i] -= std::round(between[i]);
      if (std::abs(between[i]) > part_[i]) return false;  // farther than that along a*
    }
    return length(times(axes_, between)) < one_place;
  }

 private:
  Mat3 axes_;
  Vec3 part_{};
};

void check_cell(const std::string& name, const UnitCell& cell) {
  const auto refuse = [&](const std::string& fact) { throw Error(ErrorKind::bad_input, name + ": " + fact); };
  for (const double axis : {cell.a, cell.b, cell.c})
    if (!(axis > 0.1) || !(axis <= longest_axis))
      refuse(fmt::format("an axis of the cell is {:g} A; expected 0.1 to {:g}", axis, longest_axis));
  for (const double angle : {cell.alpha, cell.beta, cell.gamma})
    if (!(angle >= 1) || !(angle <= 179))
      refuse(fmt::format("an angle of the cell is {:g} degrees; expected 1 to 179", angle));
  // The volume of a flat cell is lost in rounding.
  if (!(cell.volume() > 1e-3 * cell.a * cell.b * cell.c))
    refuse(fmt::format("angles of {:g}, {:g} and {:g} degrees make no cell", cell.alpha, cell.beta, cell.gamma));
}

void check_site(const std::string& name, const Atom& site) {
  const auto refuse = [&](const std::string& fact) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: site {}: {}", name, site.label, fact));
  };
  if (site.atomic_number < 1 || site.atomic_number > 118) refuse("unknown element");
  if (site.atomic_number > heaviest_scatterer)
    refuse(fmt::format("{} has no scattering factor; elements up to {} have one", element_symbol(site.atomic_number),
                       element_symbol(heaviest_scatterer)));
  if (!(site.occupancy >= 0) || !(site.occupancy <= full))
    refuse(fmt::format("an occupancy of {:g}; expected 0 to 1", site.occupancy));
  if (!(site.b >= 0) || !(site.b < 1e3))
    refuse(fmt::format("a Debye-Waller factor of {:g} A^2; expected 0 to 1000", site.b));
  for (const double part : site.position)
    if (!(std::abs(part) < 1e3)) refuse(fmt::format("a coordinate of {:g}; expected a part of the cell", part));
}

/// The places of one site.
std::vector<Vec3> orbit(const SamePlace& same, const Vec3& position, const std::vector<SymmetryOperation>& operations) {
  std::vector<Vec3> places;
  for (const SymmetryOperation& operation : operations) {
    Vec3 moved = operation.shift;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) moved[i] += operation.turn[i][j] * position[j];
    moved = into_cell(moved);
    if (std::none_of(places.begin(), places.end(), [&](const Vec3& at) { return same(at, moved); }))
      places.push_back(moved);
  }
  return places;
}

/// Adds an atom unless it is one that is there already.
void add_atom(Crystal& crystal, const SamePlace& same, const Atom& atom, std::size_t others) {
  double occupied = atom.occupancy;
  bool listed = false;
  for (std::size_t i = 0; i < others; ++i) {
    if (!same(crystal.atoms[i].position, atom.position)) continue;
    occupied += crystal.atoms[i].occupancy;
    listed = listed || crystal.atoms[i].atomic_number == atom.atomic_number;
  }
  if (occupied > full && listed) return;
  if (occupied > full)
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{}: site {}: other elements are in its place, with {:.2f} atoms together; expected at most 1",
                    crystal.name, atom.label, occupied));
  if (crystal.atoms.size() == most_atoms)
    throw Error(ErrorKind::bad_input, fmt::format("{}: more than {} atoms in a cell", crystal.name, most_atoms));
  crystal.atoms.push_back(atom);
}

}  // namespace

Mat3 UnitCell::axes() const {
  const double degree = std::numbers::pi / 180;
  const double ca = std::cos(alpha * degree), cb = std::cos(beta * degree), cg = std::cos(gamma * degree);
  const double sg = std::sin(gamma * degree);
  const double y = (ca - cb * cg) / sg;
  const double z = std::sqrt(1 - cb * cb - y * y);
  // cos(90 degrees) is 6e-17: without it right angles are exact.
  const auto clean = [](double value) { return std::abs(value) < 1e-15 ? 0.0 : value; };
  return {{{a, b * clean(cg), c * clean(cb)}, {0, b * sg, c * clean(y)}, {0, 0, c * z}}};
}

Mat3 UnitCell::reciprocal_axes() const { return transposed(inverse(axes())); }

double UnitCell::volume() const { return determinant(axes()); }

Crystal make_crystal(const std::string& name, const UnitCell& cell, const std::vector<Atom>& sites,
                     const std::vector<SymmetryOperation>& operations) {
  check_cell(name, cell);
  if (sites.size() * operations.size() > most_places)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} sites with {} operations; expected at most {} places", name,
                                                  sites.size(), operations.size(), most_places));
  const SamePlace same(cell);
  Crystal crystal{.name = name, .cell = cell};
  for (const Atom& site : sites) {
    check_site(name, site);
    if (site.occupancy == 0) continue;
    const std::size_t others = crystal.atoms.size();
    for (const Vec3& place : orbit(same, site.position, operations)) {
      Atom atom = site;
      atom.position = place;
      add_atom(crystal, same, atom, others);
    }
  }
  if (crystal.atoms.empty()) throw Error(ErrorKind::bad_input, name + ": no atoms");
  return crystal;
}

}  // namespace sonde::stem
