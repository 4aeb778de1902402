// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/calibrated_disks.h"

#include <cmath>
#include <utility>

namespace sonde::stem {

EllipseCorrection correction_of(const Distortion& ellipse) {
  const double c = std::cos(ellipse.theta), s = std::sin(ellipse.theta);
  const double along_a = ellipse.radius / ellipse.a, along_b = ellipse.radius / ellipse.b;
  return {along_a * c * c + along_b * s * s, (along_a - along_b) * c * s, along_a * s * s + along_b * c * c};
}

BraggVectors corrected(BraggVectors vectors, const DiskOrigins& origins, const Distortion& ellipse) {
  const EllipseCorrection m = correction_of(ellipse);
  for (Index position = 0; position < vectors.positions(); ++position) {
    const auto here = static_cast<std::size_t>(position);
    if (vectors.valid[here] == 0 || origins.measured.valid[here] == 0) continue;
    const Origin::At from = origins.at(position / vectors.scan_cols, position % vectors.scan_cols);
    for (auto i = static_cast<std::size_t>(vectors.first(position)); i < vectors.offsets[here + 1]; ++i) {
      const double x = vectors.qx[i] - from.x, y = vectors.qy[i] - from.y;
      vectors.qx[i] = static_cast<float>(from.x + m.xx * x + m.xy * y);
      vectors.qy[i] = static_cast<float>(from.y + m.xy * x + m.yy * y);
      if (!vectors.has_variance()) continue;
      const double var_x = vectors.var_x[i], var_y = vectors.var_y[i];
      vectors.var_x[i] = static_cast<float>(m.xx * m.xx * var_x + m.xy * m.xy * var_y);
      vectors.var_y[i] = static_cast<float>(m.xy * m.xy * var_x + m.yy * m.yy * var_y);
    }
  }
  return vectors;
}

}  // namespace sonde::stem
