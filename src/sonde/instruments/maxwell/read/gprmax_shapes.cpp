// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_shapes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>

namespace sonde::maxwell {
namespace {

/// A centre that is on the surface of a sphere or a cylinder but for rounding is inside.
constexpr double on_surface = 1 + 1e-9;

double squared(double value) { return value * value; }

using PlanePoint = std::array<double, 2>;

/// Twice the area of a triangle, positive when its corners are anticlockwise.
double turned_area(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
}

/// A point on a side is outside, as it is in gprMax.
bool inside_triangle(const std::array<PlanePoint, 3>& corners, const PlanePoint& point) {
  constexpr double rounding = 1e-9;
  const auto& [a, b, c] = corners;
  const double area = turned_area(a, b, c);
  return turned_area(a, b, point) / area > rounding && turned_area(b, c, point) / area > rounding &&
         turned_area(c, a, point) / area > rounding;
}

bool inside_sector(const GprmaxSector& sector, const PlanePoint& from_centre) {
  const auto& [a, b] = from_centre;
  if (a * a + b * b > squared(sector.radius * on_surface)) return false;
  double degrees = std::atan2(b, a) * 180 / std::numbers::pi - sector.start_degrees;
  while (degrees < 0) degrees += 360;
  return degrees < sector.sweep_degrees;
}

/// Whether a point is between the faces of a cylinder and within its radius of the axis.
bool inside_cylinder(const Xyz& first, const Xyz& last, double radius, const Xyz& point) {
  double length2 = 0, along = 0, distance2 = 0;
  for (std::size_t u = 0; u < 3; ++u) {
    length2 += squared(last[u] - first[u]);
    along += (point[u] - first[u]) * (last[u] - first[u]);
    distance2 += squared(point[u] - first[u]);
  }
  if (along < 0 || along > length2) return false;
  return distance2 - along * along / length2 <= squared(radius * on_surface);
}

/// Cells or faces in the axes of the file.
struct Extent {
  XyzIndex first{}, last{};
};

class PartMaker {
 public:
  PartMaker(const GprmaxInput& input, const GprmaxAxes& axes, const Grid& grid)
      : spacing_(input.spacing), axes_(axes), grid_(grid) {
    for (const GprmaxObject& object : input.objects) {
      std::visit([this](const auto& shape) { add(shape); }, object.shape);
      number_ += numbers_of(object);
    }
  }

  GprmaxParts parts;

 private:
  using Test = std::function<bool(const Xyz& centre)>;

  void add(const GprmaxBox& box) { add_cells({planes(box.low), planes(box.high)}, {}); }

  void add(const GprmaxSphere& sphere) {
    const Xyz centre = snapped(sphere.centre);
    Xyz low = centre, high = centre;
    for (std::size_t u = 0; u < 3; ++u) {
      low[u] -= sphere.radius;
      high[u] += sphere.radius;
    }
    add_cells(cells_between(low, high), [centre, radius = sphere.radius](const Xyz& at) {
      return squared(at[0] - centre[0]) + squared(at[1] - centre[1]) + squared(at[2] - centre[2]) <=
             squared(radius * on_surface);
    });
  }

  void add(const GprmaxCylinder& cylinder) {
    const Xyz first = snapped(cylinder.first), last = snapped(cylinder.last);
    const double length = std::hypot(last[0] - first[0], last[1] - first[1], last[2] - first[2]);
    Xyz low{}, high{};
    for (std::size_t u = 0; u < 3; ++u) {
      // A disc reaches r sin(angle between its normal and the axis) along an axis.
      const double reach = cylinder.radius * std::sqrt(std::max(0.0, 1 - squared((last[u] - first[u]) / length)));
      low[u] = std::min(first[u], last[u]) - reach;
      high[u] = std::max(first[u], last[u]) + reach;
    }
    add_cells(cells_between(low, high), [first, last, radius = cylinder.radius](const Xyz& at) {
      return inside_cylinder(first, last, radius, at);
    });
  }

  void add(const GprmaxPlate& plate) {
    const std::size_t normal = normal_of(plate, spacing_);
    add_sheet(normal, {planes(plate.low), planes(plate.high)}, {});
  }

  void add(const GprmaxEdge& edge) {
    Extent nodes{planes(edge.low), planes(edge.high)};
    std::size_t along = 0;
    for (std::size_t u = 0; u < 3; ++u) {
      if (nodes.first[u] != nodes.last[u])
        along = u;
      else
        ++nodes.last[u];
    }
    add_nodes(along, nodes, {});
  }

  void add(const GprmaxTriangle& triangle) {
    std::array<Xyz, 3> corners{};
    std::array<XyzIndex, 3> on{};
    for (std::size_t i = 0; i < 3; ++i) {
      corners[i] = snapped(triangle.corners[i]);
      on[i] = planes(triangle.corners[i]);
    }
    std::size_t normal = 0;
    while (normal < 2 && (on[0][normal] != on[1][normal] || on[1][normal] != on[2][normal])) ++normal;
    const auto [a, b] = axes_of_plane(normal);
    Xyz low = corners[0], high = corners[0];
    std::array<PlanePoint, 3> points{};
    for (std::size_t i = 0; i < 3; ++i) {
      points[i] = {corners[i][a], corners[i][b]};
      for (const std::size_t u : {a, b}) {
        low[u] = std::min(low[u], corners[i][u]);
        high[u] = std::max(high[u], corners[i][u]);
      }
    }
    add_slice(normal, on[0][normal], triangle.thickness, {low, high}, [points, a = a, b = b](const Xyz& at) {
      return inside_triangle(points, {at[a], at[b]});
    });
  }

  void add(const GprmaxSector& sector) {
    const auto [a, b] = axes_of_plane(sector.axis);
    Xyz centre{};
    centre[a] = sector.centre[0];
    centre[b] = sector.centre[1];
    centre[sector.axis] = sector.low;
    const Index level = planes(centre)[sector.axis];
    centre = snapped(centre);
    Xyz low = centre, high = centre;
    for (const std::size_t u : {a, b}) {
      low[u] -= sector.radius;
      high[u] += sector.radius;
    }
    add_slice(sector.axis, level, sector.high - sector.low, {low, high}, [sector, centre, a = a, b = b](const Xyz& at) {
      return inside_sector(sector, {at[a] - centre[a], at[b] - centre[b]});
    });
  }

  void add(const GprmaxVoxelBlock& block) {
    const XyzIndex low = planes(block.low);
    const auto beyond = [&](Index more) {
      Extent made{low, low};
      for (std::size_t u = 0; u < 3; ++u) made.last[u] = std::min(low[u] + block.voxels->count[u] + more, extent(u));
      return made;
    };
    const auto part = [&](const Extent& on, auto&& number_at) {
      const auto in_block = [low, this_axes = axes_](const Triple& at) {
        XyzIndex made = this_axes.to_file(at);
        for (std::size_t u = 0; u < 3; ++u) made[u] -= low[u];
        return made;
      };
      return GprmaxPart{
          number_, axes_.to_arrays(on.first), axes_.to_arrays(on.last), {}, [in_block, number_at](const Triple& at) {
            return Index{number_at(in_block(at))};
          }};
    };
    parts.cells.push_back(part(beyond(0), [voxels = block.voxels](const XyzIndex& at) { return voxels->cell(at); }));
    if (block.voxels->nodes.empty()) return;
    for (const Component users : all_components)
      if (const Component c = axes_.component(users); grid_.has(c))
        parts.nodes.push_back({c, part(beyond(1), [voxels = block.voxels, users](const XyzIndex& at) {
                                 return voxels->node(users, at);
                               })});
  }

  /// What is inside of a curve in a plane: cells above it, or its faces when it is thinner than half a cell.
  void add_slice(std::size_t normal, Index level, double thickness, const std::array<Xyz, 2>& bounds, Test contains) {
    Extent in_plane = cells_between(bounds[0], bounds[1]);
    const Index layers = rounded_half_down(thickness / spacing_[normal]);
    in_plane.first[normal] = level;
    in_plane.last[normal] = level + std::min(layers, extent(normal));
    if (layers > 0)
      add_cells(in_plane, std::move(contains));
    else
      add_sheet(normal, in_plane, std::move(contains));
  }

  void add_cells(Extent cells, Test contains) {
    for (std::size_t u = 0; u < 3; ++u) {
      cells.first[u] = std::clamp<Index>(cells.first[u], 0, extent(u));
      cells.last[u] = std::clamp<Index>(cells.last[u], 0, extent(u));
    }
    GprmaxPart part{number_, axes_.to_arrays(cells.first), axes_.to_arrays(cells.last), {}};
    if (contains)
      part.contains = [this_axes = axes_, spacing = spacing_, contains = std::move(contains)](const Triple& cell) {
        return contains(centre(this_axes.to_file(cell), spacing));
      };
    parts.cells.push_back(std::move(part));
  }

  /// Faces of cells in a plane: both components in it, along all four edges of each.
  void add_sheet(std::size_t normal, Extent faces, const Test& contains) {
    const auto [a, b] = axes_of_plane(normal);
    faces.last[normal] = faces.first[normal] + 1;
    for (const auto& [along, across] : {std::pair{a, b}, std::pair{b, a}}) {
      Extent nodes = faces;
      ++nodes.last[across];
      GprmaxPart part{};
      std::function<bool(const XyzIndex&)> of_a_face;
      if (contains)
        of_a_face = [faces, contains, spacing = spacing_, across = across](const XyzIndex& node) {
          XyzIndex beside = node;
          --beside[across];
          return (node[across] < faces.last[across] && contains(centre(node, spacing))) ||
                 (beside[across] >= faces.first[across] && contains(centre(beside, spacing)));
        };
      add_nodes(along, nodes, std::move(of_a_face));
    }
  }

  void add_nodes(std::size_t along, Extent nodes, std::function<bool(const XyzIndex&)> contains) {
    const Component component = axes_.component(electric_components[along]);
    if (!grid_.has(component)) return;
    for (std::size_t u = 0; u < 3; ++u) {  // the last plane is a wall
      nodes.first[u] = std::clamp<Index>(nodes.first[u], 0, extent(u));
      nodes.last[u] = std::clamp<Index>(nodes.last[u], 0, extent(u));
    }
    GprmaxPart part{number_, axes_.to_arrays(nodes.first), axes_.to_arrays(nodes.last), {}};
    if (contains)
      part.contains = [this_axes = axes_, contains = std::move(contains)](const Triple& node) {
        return contains(this_axes.to_file(node));
      };
    parts.nodes.push_back({component, std::move(part)});
  }

  [[nodiscard]] Index extent(std::size_t users) const { return grid_.extent(axes_.axis(users)); }
  [[nodiscard]] XyzIndex planes(const Xyz& position) const { return nearest_planes(position, spacing_); }
  [[nodiscard]] Xyz snapped(const Xyz& position) const {
    const XyzIndex on = planes(position);
    Xyz made{};
    for (std::size_t u = 0; u < 3; ++u) made[u] = static_cast<double>(on[u]) * spacing_[u];
    return made;
  }
  static Xyz centre(const XyzIndex& cell, const Xyz& spacing) {
    Xyz made{};
    for (std::size_t u = 0; u < 3; ++u) made[u] = (static_cast<double>(cell[u]) + 0.5) * spacing[u];
    return made;
  }
  /// All cells of the domain that have a part between these positions.
  [[nodiscard]] Extent cells_between(const Xyz& low, const Xyz& high) const {
    Extent made;
    for (std::size_t u = 0; u < 3; ++u) {
      const auto most = static_cast<double>(extent(u));
      made.first[u] = static_cast<Index>(std::clamp(std::floor(low[u] / spacing_[u]), 0.0, most));
      made.last[u] = static_cast<Index>(std::clamp(std::ceil(high[u] / spacing_[u]), 0.0, most));
    }
    return made;
  }

  Xyz spacing_;
  GprmaxAxes axes_;
  const Grid& grid_;
  ObjectNumber number_ = 1;
};

}  // namespace

ObjectNumber numbers_of(const GprmaxObject& object) {
  const bool voxels = std::holds_alternative<GprmaxVoxelBlock>(object.shape);
  return voxels ? static_cast<ObjectNumber>(object.materials.size()) : 1;
}

GprmaxParts parts_of(const GprmaxInput& input, const GprmaxAxes& axes, const Grid& grid) {
  return std::move(PartMaker(input, axes, grid).parts);
}

std::array<std::size_t, 2> axes_of_plane(std::size_t normal) {
  return {normal == 0 ? std::size_t{1} : std::size_t{0}, normal == 2 ? std::size_t{1} : std::size_t{2}};
}

std::size_t normal_of(const GprmaxPlate& plate, const Xyz& spacing) {
  const XyzIndex low = nearest_planes(plate.low, spacing), high = nearest_planes(plate.high, spacing);
  std::size_t normal = 0;
  while (normal < 2 && low[normal] != high[normal]) ++normal;
  return normal;
}

}  // namespace sonde::maxwell
