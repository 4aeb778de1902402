// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sonde/instruments/neoclassical/transport/moments.h"
#include "sonde/instruments/neoclassical/transport/surface_table.h"

namespace sonde::neoclassical {

/// Tables of one surface, made of a source that is dear to ask, over every nu_hat and E_hat that the energies of a
/// plasma need for fields up to a largest one. Each level halves the steps of the one before, on both axes, and keeps
/// its points. Needs a source whose answers do not depend on the sign of the field.
class SearchTables {
 public:
  static constexpr int levels = 4;
  static constexpr Index usual_points = 860;  ///< of the third, which most searches come to

  /// Both by reference. `least_field` and `largest_field`, V/m: below the least, E_r counts as 0 or so.
  SearchTables(const SurfaceSource& source, const EnergyNodes& nodes, double least_field, double largest_field);

  /// A point without an answer, or with D11 <= 0, counts as the next of more frequent collisions. Throws
  /// Error(not_converged) where no collisionality has an answer.
  [[nodiscard]] SurfaceTable make(int level);

  /// Points that the level needs beyond those that are there.
  [[nodiscard]] Index points_to_add(int level) const;
  [[nodiscard]] Index points() const { return static_cast<Index>(found_.size()); }

 private:
  using Place = std::pair<int, int>;  ///< on the axes of the last level; field 0 is E = 0
  [[nodiscard]] bool needed(const Place& place) const;
  [[nodiscard]] std::vector<Place> missing(int level) const;
  [[nodiscard]] double nu_hat(int place) const;
  [[nodiscard]] double er_hat(int place) const;

  const SurfaceSource& source_;
  std::vector<std::pair<double, double>> reach_;          ///< of every energy: log nu_hat, log of the largest E_hat
  double first_nu_, last_nu_, first_field_, last_field_;  ///< logarithms
  std::map<Place, SurfaceDij> found_;
};

}  // namespace sonde::neoclassical
