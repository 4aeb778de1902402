// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sonde/instruments/maxwell/grid/coefficients.h"
#include "sonde/instruments/maxwell/grid/pml.h"

namespace sonde::maxwell {

class GridPart;

/// All that fixes a step. E^n at n dt, H^{n-1/2} at (n - 1/2) dt. Step n: H^{n-1/2} -> H^{n+1/2} by E^n and the
/// magnetic current at n dt, then E^n -> E^{n+1} by that H and the electric current at (n + 1/2) dt, then receivers
/// read: sample n is E at (n + 1) dt, H at (n + 1/2) dt.
struct Problem {
  Grid grid;
  ComponentMedium medium;
  PmlProfiles pml;
  double dt = 0;  ///< s
  LossForm loss = LossForm::semi_implicit;
  std::shared_ptr<const GridPart> part{};  ///< where this is one of several; points are still on the whole grid
};

/// The same without its medium, of which only the number of poles is left: what a step asks for once it has factors.
[[nodiscard]] Problem without_medium(const Problem& problem);

/// A share of a point source or receiver, on the padded grid.
struct PointTap {
  Index node = 0;
  double weight = 1;
};
struct Point {
  Component component = Component::Ey;
  std::vector<PointTap> taps{};
  bool hard = false;  ///< of a source of E on a perfectly conducting node: its amplitude is the field there, in V/m
  Index shot = 0;     ///< of those that run at the same time on a GPU
};

/// Where one shot, or several at the same time, are excited and recorded. A source of an E component is an electric
/// current: its amplitude is the moment I dl in A m (a line current in A in tm2d), J = amplitude / cell_volume(); of an
/// H component a magnetic one in V m (V).
struct Acquisition {
  std::vector<Point> sources{}, receivers{};
};

/// The fields of one shot and what the layers and poles remember, float64, [z][y][x] on the padded grid; empty where
/// the grid lacks a component.
struct State {
  std::array<std::vector<double>, 6> fields{};
  /// psi of each component's update for each of its curl terms.
  std::array<std::array<std::vector<double>, 2>, 6> psi{};
  /// [pole], of Ex, Ey, Ez.
  std::vector<std::array<std::vector<double>, 3>> polarisation{};
};
/// All zero.
[[nodiscard]] State make_state(const Problem& problem);

}  // namespace sonde::maxwell
