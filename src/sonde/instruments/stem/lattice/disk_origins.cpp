// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/disk_origins.h"

#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace sonde::stem {
namespace {

Origin::At mean_place(const BraggVectors& vectors) {
  double weight = 0;
  Origin::At sum;
  for (std::size_t i = 0; i < vectors.qx.size(); ++i) {
    const double w = std::max(0.0F, vectors.intensity[i]);
    weight += w;
    sum.x += w * vectors.qx[i];
    sum.y += w * vectors.qy[i];
  }
  if (!(weight > 0)) return {static_cast<double>(vectors.cols - 1) / 2, static_cast<double>(vectors.rows - 1) / 2};
  return {sum.x / weight, sum.y / weight};
}

/// Of every pattern the disk for which `cost` is lowest.
VectorField chosen(const BraggVectors& vectors, const std::function<double(Index position, std::size_t disk)>& cost) {
  VectorField field = make_field(vectors.scan_rows, vectors.scan_cols);
  for (Index position = 0; position < vectors.positions(); ++position) {
    const auto here = static_cast<std::size_t>(position);
    double lowest = std::numeric_limits<double>::infinity();
    field.valid[here] = 0;
    field.x[here] = field.y[here] = std::numeric_limits<double>::quiet_NaN();
    if (vectors.valid[here] == 0) continue;
    for (auto i = static_cast<std::size_t>(vectors.first(position)); i < vectors.offsets[here + 1]; ++i) {
      const double now = cost(position, i);
      if (!(now < lowest)) continue;
      lowest = now;
      field.x[here] = vectors.qx[i];
      field.y[here] = vectors.qy[i];
      field.valid[here] = 1;
    }
  }
  return field;
}

/// The surface that so many rows and columns with a disk determine.
OriginFit possible(const VectorField& field, OriginFit fit) {
  std::set<Index> rows, cols;
  Index valid = 0;
  for (Index row = 0; row < field.rows; ++row)
    for (Index col = 0; col < field.cols; ++col) {
      if (field.valid[static_cast<std::size_t>(row * field.cols + col)] == 0) continue;
      rows.insert(row);
      cols.insert(col);
      ++valid;
    }
  if (valid == 0) return OriginFit::none;
  const auto least = std::min(rows.size(), cols.size());
  if (fit == OriginFit::parabola && (least < 3 || valid < 9)) fit = OriginFit::plane;
  if (fit == OriginFit::plane && (least < 2 || valid < 4)) fit = OriginFit::mean;
  return fit;
}

/// Those of the calibration; positions without one, and without a pattern, are not valid.
VectorField stated_origins(const BraggVectors& vectors) {
  VectorField field = make_field(vectors.scan_rows, vectors.scan_cols);
  field.x = vectors.calibration.origin_x;
  field.y = vectors.calibration.origin_y;
  for (std::size_t i = 0; i < field.valid.size(); ++i)
    field.valid[i] = vectors.valid[i] != 0 && std::isfinite(field.x[i]) && std::isfinite(field.y[i]) ? 1 : 0;
  return field;
}

}  // namespace

Origin::At DiskOrigins::at(Index row, Index col) const {
  if (fit != OriginFit::none) return surface.at(row, col);
  const auto here = static_cast<std::size_t>(row * measured.cols + col);
  return {measured.x[here], measured.y[here]};
}

DiskOrigins find_origins(const BraggVectors& vectors, OriginChoice choice, OriginFit fit) {
  DiskOrigins found;
  if (choice == OriginChoice::automatic && vectors.calibration.has_origin()) {
    found.measured = stated_origins(vectors);
    found.fit = OriginFit::none;
    found.stated = true;
    return found;
  }
  const auto distance = [&](std::size_t disk, const Origin::At& from) {
    return std::hypot(vectors.qx[disk] - from.x, vectors.qy[disk] - from.y);
  };
  if (choice == OriginChoice::brightest) {
    found.measured = chosen(vectors, [&](Index, std::size_t disk) { return -vectors.intensity[disk]; });
  } else {
    const Origin::At mean = mean_place(vectors);
    found.measured = chosen(vectors, [&](Index, std::size_t disk) { return distance(disk, mean); });
  }
  found.fit = possible(found.measured, fit);
  if (found.fit == OriginFit::none) return found;
  found.surface = fit_origin(found.measured, found.fit);
  if (choice == OriginChoice::brightest) return found;
  const Origin first = found.surface;
  found.measured = chosen(vectors, [&](Index position, std::size_t disk) {
    return distance(disk, first.at(position / vectors.scan_cols, position % vectors.scan_cols));
  });
  found.surface = fit_origin(found.measured, found.fit);
  return found;
}

}  // namespace sonde::stem
