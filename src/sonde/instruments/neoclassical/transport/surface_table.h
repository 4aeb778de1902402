// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/transport/monotone_cubic.h"
#include "sonde/instruments/neoclassical/transport/surface_source.h"

namespace sonde::neoclassical {

/// What is interpolated: log D11, D31, D13, nu_hat D33, per metre of r.
using TableQuantities = std::array<double, 4>;

[[nodiscard]] TableQuantities table_quantities(const Dij& d, double nu_hat);

/// log(E_hat/r), at least that of 1e-8 T/m (so also of 0), as other readers of databases have it.
[[nodiscard]] double log_of_field(double er_hat, double r);

/// The points of one surface. Along log_field the interpolants are monotone cubics.
struct TableSlice {
  std::vector<double> log_field;        ///< increasing
  std::vector<TableQuantities> values;  ///< [nu][field]
  std::vector<TableQuantities> slopes;  ///< by log_field, at each point

  void add_slopes();
  /// A row at a place on log_field; beyond its end it continues with the slope there.
  [[nodiscard]] TableQuantities along_field(std::size_t row, const AxisPlace& place) const;
};

/// The up to four points of an axis that decide between two of them; `place` then counts from the first of these.
struct AxisNeighbours {
  AxisNeighbours(const std::vector<double>& whole, AxisPlace& place);
  /// Monotone between them, of the values at each.
  [[nodiscard]] TableQuantities between(const std::array<TableQuantities, 4>& values, const AxisPlace& place) const;
  std::size_t first;
  std::span<const double> axis;
};

/// A table of one surface between its points, in (log nu_hat, log E_hat/r); how it continues is described with
/// TableSource. It holds E >= 0. Without stellarator symmetry the adjoint problem, that of the field -E, gives the
/// other half: D31(-E) = -D13(E), D13(-E) = -D31(E), D11 and D33 even.
class SurfaceTable : public SurfaceSource {
 public:
  struct Surroundings {
    double r = 1;  ///< m
    double reference_field = 1, b2_ratio = 1;
    std::optional<double> u2{};
    bool outside = false;   ///< of the radii that are known: all its answers are continuations
    bool symmetric = true;  ///< whether the surface has stellarator symmetry
  };
  SurfaceTable(std::vector<double> log_nu, TableSlice slice, const Surroundings& surroundings)
      : log_nu_(std::move(log_nu)), slice_(std::move(slice)), at_(surroundings) {}

  [[nodiscard]] double reference_field() const override { return at_.reference_field; }
  [[nodiscard]] double b2_ratio() const override { return at_.b2_ratio; }
  [[nodiscard]] std::optional<double> u2() const override { return at_.u2; }
  [[nodiscard]] bool even_in_field() const override { return at_.symmetric; }
  void coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                    std::span<SurfaceDij> made) const override;

 private:
  [[nodiscard]] TableQuantities at(double held_nu, double log_field, double log_nu) const;

  std::vector<double> log_nu_;
  TableSlice slice_;
  Surroundings at_;
};

}  // namespace sonde::neoclassical
