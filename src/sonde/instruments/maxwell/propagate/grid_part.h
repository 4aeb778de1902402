// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell {

/// The part of a grid that one rank of several moves: its own nodes, and beside each face that it shares the halo,
/// planes of its neighbours. A step of the part is that of any grid, with conducting walls around the halo; then the
/// neighbours' E replaces what the step has made of E in the halo. With a stencil of order 2M and E of 2M - 1 planes
/// the H that own nodes need, M planes into the halo, is computed on both sides of a face rather than sent: one message
/// to each neighbour and step, and H and E still go through memory together. Messages do not travel during work: of
/// 200 x 200 x 200 cells in two parts a face is 0.2 % of the bytes that a step moves. Own nodes get the bits of an
/// undivided run.
class GridPart {
 public:
  /// Of `parts` along z, y, x; ranks count along x first. Throws Error(usage) where they are not as many as the ranks,
  /// where an axis has too few cells for its parts, and for a part that has nothing but absorbing layers.
  GridPart(const Grid& whole, const Triple& parts, const Ranks& ranks);

  [[nodiscard]] const Grid& whole() const { return whole_; }
  /// With the halo: what the arrays of the part are on.
  [[nodiscard]] const Grid& grid() const { return here().grid; }
  /// The own nodes on it.
  [[nodiscard]] const NodeBox& own() const { return here().own; }
  [[nodiscard]] const Triple& parts() const { return parts_; }

  /// One part of all.
  struct Piece {
    Triple origin{};  ///< of its arrays, on the whole grid
    Grid grid;
    NodeBox own;
  };
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }

  /// Elements of E that a rank sends in a step, at most.
  [[nodiscard]] Index halo_elements() const;

  /// Values at the nodes of the part: on rank 0 those of own nodes of all parts on the whole grid, empty on the others.
  [[nodiscard]] std::vector<double> gathered(const std::vector<double>& values) const;
  /// Where the arrays of the part are on the whole grid.
  [[nodiscard]] NodeBox array() const;
  /// Points on the whole grid, with those of their taps where something is injected, in the halo too, and where
  /// something is read, at own nodes.
  [[nodiscard]] std::vector<Point> injected(const std::vector<Point>& points) const;
  [[nodiscard]] std::vector<Point> read(const std::vector<Point>& points) const;
  /// Of what each rank has read: the sum over ranks, on all of them.
  void add_up(std::span<double> values) const { ranks_.all_reduce(values); }

  /// The rank beside this one along an axis; none at a wall.
  [[nodiscard]] std::optional<int> neighbour(Axis axis, bool low) const;
  /// Planes of E that are exchanged.
  [[nodiscard]] Index halo() const { return whole_.order() - 1; }
  [[nodiscard]] const Ranks& ranks() const { return ranks_; }

 private:
  [[nodiscard]] Piece piece(const Triple& place) const;
  [[nodiscard]] const Piece& here() const { return pieces_[static_cast<std::size_t>(ranks_.rank())]; }

  Grid whole_;
  Triple parts_;
  Ranks ranks_;
  std::vector<Piece> pieces_;
};

/// Throws Error(usage) where there are not as many parts as ranks.
void require_one_each(const Triple& parts, const Ranks& ranks);

/// The part of a problem.
[[nodiscard]] Problem part_of(const Problem& whole, std::shared_ptr<const GridPart> part);

}  // namespace sonde::maxwell
