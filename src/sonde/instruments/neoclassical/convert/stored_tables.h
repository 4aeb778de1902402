// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/io/contents.h"
#include "sonde/instruments/neoclassical/convert/stored_points.h"

namespace sonde::neoclassical {

/// What a file holds, converted: points of one surface, or tables over radius, collisionality and electric field.
struct Converted {
  Normalisation normalisation = Normalisation::ntx;
  StoredNumbers numbers;
  /// Of tables; all empty for points. The field is as the source counts it; the converted one stands in the tables.
  std::vector<double> rho, nu_v, field;

  /// Of tables coefficients are (rho, nu_v, field), collisionalities (rho, nu_v), electric fields (rho, field), and
  /// what the surfaces are (rho); of points everything is a line.
  [[nodiscard]] Shape shape(const std::string& name) const;
};

/// The numbers of a file: points as converted() takes them; the tables of a scan or of a database in the label that
/// they are in (`settings.from` is then ntx); a sfincsOutput.h5 (`settings.from` is then sfincs); or tables that this
/// function made, in any normalisation. A database says |psi_a|, whose sign is that of G + iota I. Points without an
/// answer stay NaN. Throws like converted(), also for tables of another size than their axes, for `radius` with several
/// surfaces, and for a `psi_a` that the file contradicts by more than 1 %.
[[nodiscard]] Converted converted_file(const StoredNumbers& stored, const ConversionSettings& settings);

/// All of it as a file: every quantity with its units, those of points and tables with their normalisation too.
[[nodiscard]] Contents contents_of(const Converted& made);

}  // namespace sonde::neoclassical
