// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/grid_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/propagate/boxes.h"

namespace sonde::maxwell {
namespace {

constexpr char letter(Axis axis) { return "zyx"[dimension(axis)]; }

void require_cells(const Grid& grid, Axis axis, Index parts) {
  if (parts == 1) return;
  const Index cells = grid.extent(axis), least = grid.order();
  if (!grid.has(axis))
    throw Error(ErrorKind::usage, fmt::format("{} parts along {}, along which nothing varies", parts, letter(axis)));
  if (cells / parts < least)
    throw Error(ErrorKind::usage, fmt::format("{} parts along {} of {} cells, layers included; at order {} each needs "
                                              "at least {}",
                                              parts, letter(axis), cells, grid.order(), least))
        .hint("divide it along another axis, or take fewer parts");
}

NodeBox moved(const NodeBox& box, const Triple& by) {
  NodeBox made = box;
  for (std::size_t a = 0; a < 3; ++a) {
    made.first[a] += by[a];
    made.last[a] += by[a];
  }
  return made;
}

PmlLine cut(const PmlLine& line, Index first, Index count) {
  const auto part = [&](const std::vector<double>& values) {
    return values.empty() ? values : std::vector<double>(values.begin() + first, values.begin() + first + count);
  };
  return {part(line.a), part(line.b), part(line.k_inverse)};
}

}  // namespace

void require_one_each(const Triple& parts, const Ranks& ranks) {
  const Index count = parts[0] * parts[1] * parts[2];
  if (count == ranks.size()) return;
  throw Error(ErrorKind::usage, fmt::format("{} parts for {} {}: each takes one", count, ranks.size(),
                                            ranks.size() == 1 ? "process" : "processes"))
      .hint(*mpi_library() == '\0' ? "this program was built without MPI: configure it with -DSONDE_MPI=ON"
                                   : fmt::format("start {} with `mpirun -n {}`", count, count));
}

GridPart::GridPart(const Grid& whole, const Triple& parts, const Ranks& ranks)
    : whole_(whole), parts_(parts), ranks_(ranks) {
  for (const Axis axis : all_axes) require_cells(whole, axis, parts[dimension(axis)]);
  Triple place{};
  for (place[0] = 0; place[0] < parts[0]; ++place[0])
    for (place[1] = 0; place[1] < parts[1]; ++place[1])
      for (place[2] = 0; place[2] < parts[2]; ++place[2]) pieces_.push_back(piece(place));
  require_one_each(parts, ranks);
}

GridPart::Piece GridPart::piece(const Triple& place) const {
  GridSpec spec = whole_.spec();
  Triple origin{};
  NodeBox own;
  for (const Axis axis : all_axes) {
    const std::size_t a = dimension(axis);
    const Index n = whole_.extent(axis), first = n * place[a] / parts_[a], last = n * (place[a] + 1) / parts_[a];
    // The lowest plane of an array counts as a wall: it is one more.
    const Index below = place[a] > 0 ? halo() + 1 : 0, above = place[a] + 1 < parts_[a] ? halo() : 0;
    origin[a] = first - below;
    own.first[a] = below;
    own.last[a] = below + last - first;
    const Index extent = own.last[a] + above;
    spec.pml[a] = {std::clamp<Index>(whole_.low(axis) - origin[a], 0, extent),
                   std::clamp<Index>(origin[a] + extent - (n - whole_.high(axis)), 0, extent)};
    spec.cells[a] = extent - spec.pml[a][0] - spec.pml[a][1];
    if (std::max(first, whole_.low(axis)) >= std::min(last, n - whole_.high(axis)))
      throw Error(ErrorKind::usage,
                  fmt::format("{} parts along {}: one has nothing but absorbing layers", parts_[a], letter(axis)))
          .hint("take fewer parts along it");
  }
  return {origin, Grid(spec), own};
}

Index GridPart::halo_elements() const {
  Index most = 0;
  for (const Piece& each : pieces_) {
    Index sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const Index faces = (each.own.first[a] > 0 ? 1 : 0) + (each.own.last[a] < each.grid.extents()[a] ? 1 : 0);
      sum += faces * halo() * each.grid.count() / each.grid.extents()[a];
    }
    most = std::max(most, sum);
  }
  return most * std::count_if(whole_.components().begin(), whole_.components().end(), is_electric);
}

std::vector<double> GridPart::gathered(const std::vector<double>& values) const {
  if (values.empty()) return {};
  const std::vector<double> mine = cut(values, grid(), own());
  const std::vector<double> all = ranks_.gather(std::span<const double>(mine));
  if (ranks_.rank() != 0) return {};
  std::vector<double> made(static_cast<std::size_t>(whole_.count()));
  auto next = all.begin();
  for (const Piece& each : pieces_)
    for_each_row(whole_, moved(each.own, each.origin), [&](Index node) {
      std::copy_n(next, each.own.extent(2), made.begin() + node);
      next += each.own.extent(2);
    });
  return made;
}

NodeBox GridPart::array() const { return moved({{}, grid().extents()}, here().origin); }

std::vector<Point> GridPart::injected(const std::vector<Point>& points) const {
  return points_in(array(), whole_, points, grid(), here().origin);
}

std::vector<Point> GridPart::read(const std::vector<Point>& points) const {
  return points_in(moved(own(), here().origin), whole_, points, grid(), here().origin);
}

std::optional<int> GridPart::neighbour(Axis axis, bool low) const {
  const std::size_t a = dimension(axis);
  if (low ? own().first[a] == 0 : own().last[a] == grid().extent(axis)) return std::nullopt;
  const Index stride = axis == Axis::x ? 1 : axis == Axis::y ? parts_[2] : parts_[1] * parts_[2];
  return ranks_.rank() + static_cast<int>(low ? -stride : stride);
}

Problem part_of(const Problem& whole, std::shared_ptr<const GridPart> part) {
  Problem made{part->grid(), {}, {}, whole.dt, whole.loss, part};
  const auto cut_all = [&](const std::array<std::vector<double>, 3>& from, std::array<std::vector<double>, 3>& to) {
    for (std::size_t i = 0; i < 3; ++i) to[i] = cut(from[i], part->whole(), part->array());
  };
  cut_all(whole.medium.eps_r, made.medium.eps_r);
  cut_all(whole.medium.sigma, made.medium.sigma);
  cut_all(whole.medium.mu_r, made.medium.mu_r);
  for (const DebyePole& pole : whole.medium.poles) {
    DebyePole& to = made.medium.poles.emplace_back();
    cut_all(pole.deps, to.deps);
    cut_all(pole.tau, to.tau);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    const Index first = part->array().first[a];
    made.pml[a] = {cut(whole.pml[a].planes, first, part->grid().extents()[a]),
                   cut(whole.pml[a].halves, first, part->grid().extents()[a])};
  }
  return made;
}

}  // namespace sonde::maxwell
