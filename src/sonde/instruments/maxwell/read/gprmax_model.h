// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/maxwell/grid/medium.h"
#include "sonde/instruments/maxwell/grid/pml.h"
#include "sonde/instruments/maxwell/read/gprmax_input.h"

namespace sonde::maxwell {

/// How the axes of a file run in the arrays. Those of a model in two dimensions are permuted cyclically, which keeps
/// every sign of Maxwell's equations, until the flat one is y.
struct GprmaxAxes {
  std::size_t turn = 0;  ///< axis u of the file's x, y, z is axis (u + turn) mod 3 of those of the arrays

  [[nodiscard]] Axis axis(std::size_t users) const { return static_cast<Axis>(2 - (users + turn) % 3); }
  [[nodiscard]] Component component(Component users) const {
    return static_cast<Component>((place(users) + turn) % 3 + (is_electric(users) ? 0 : 3));
  }
  /// x, y, z of the file to z, y, x of the arrays, and back.
  template <class T>
  [[nodiscard]] std::array<T, 3> to_arrays(const std::array<T, 3>& xyz) const {
    std::array<T, 3> made{};
    for (std::size_t u = 0; u < 3; ++u) made[dimension(axis(u))] = xyz[u];
    return made;
  }
  template <class T>
  [[nodiscard]] std::array<T, 3> to_file(const std::array<T, 3>& zyx) const {
    std::array<T, 3> made{};
    for (std::size_t u = 0; u < 3; ++u) made[u] = zyx[dimension(axis(u))];
    return made;
  }
};

struct GprmaxSourcePoint {
  GprmaxSourceKind kind = GprmaxSourceKind::hertzian_dipole;
  Component component = Component::Ey;  ///< of the arrays
  Triple at{};                          ///< index of its node in the padded arrays
  double dl = 0;                        ///< m, of the cell along the component
  double resistance = 0;                ///< Ohm; in the medium already
  /// Factor of the waveform: gives J in A/m^2, M in V/m^2 of a magnetic dipole, and of a voltage source without
  /// resistance E itself in V/m, which replaces the one of the step.
  double scale = 0;
  std::string waveform;        ///< id
  double start = 0, stop = 0;  ///< s: at times from start to stop the waveform is taken at t - start, else 0
  std::string where;           ///< "model.in, line 8"
};

struct GprmaxReceiverPoint {
  std::string name;
  Triple at{};                     ///< index of the nodes of every component
  std::vector<Component> outputs;  ///< in the axes of the file, as its results name them
  std::string where;
};

struct GprmaxAcquisition {
  std::vector<GprmaxSourcePoint> sources;  ///< voltage sources, Hertzian dipoles, magnetic dipoles
  std::vector<GprmaxReceiverPoint> receivers;
};

struct GprmaxSnapshotBox {
  Triple first{}, last{}, step{};  ///< cells
  Index before_step = 1;           ///< counted from 1
  std::string file;
};

/// An input file on a grid, as gprMax 3.1 discretises it: absorbing layers are inside the domain, a conductor ends it.
struct GprmaxModel {
  std::string title;
  XyzIndex cells{};  ///< of the domain, as spacing in the axes of the file
  Xyz spacing{};
  GprmaxAxes axes;
  GridSpec grid;  ///< of order 2
  /// An E edge takes the mean eps_r and sigma of its four cells and an H face the mean mu_r of its two, unless one of
  /// these cells is a material or an object that is not averaged: then the last of those. Plates and edges set E edges,
  /// until all cells around an edge are replaced. Resistances of voltage sources are conductivities of their edges.
  ComponentMedium medium;
  /// gprMax scales the largest conductivity of all layers by the mean medium of one plane of cells: the outermost one
  /// of the low side of x, or of the first side that has a layer. That mean is in `sigma_factor`.
  PmlSettings pml;
  double dt = 0;  ///< s
  Index iterations = 0;
  GprmaxAcquisition acquisition;  ///< of the first run
  XyzIndex src_steps{}, rx_steps{};
  std::vector<GprmaxSnapshotBox> snapshots;
  std::vector<std::string> warnings;

  /// Which component of the arrays is this one of the file; nothing for those that are zero in two dimensions.
  [[nodiscard]] std::optional<Component> component(Component users) const;
};

/// `input` as read_gprmax_input() gives it. Cells are filled in parallel over planes of z. Throws Error(not_supported)
/// for a largest sigma in #pml_cfs with cells that are not cubes.
[[nodiscard]] GprmaxModel make_gprmax_model(const GprmaxInput& input);
/// Which of GprmaxInput::materials each cell of the domain has, [z][y][x] in the axes of the file: of an object with
/// several materials that of E along x. Holds 8 bytes for each cell while it is made, 4 in the end.
[[nodiscard]] std::vector<std::uint32_t> gprmax_cell_materials(const GprmaxInput& input);
/// GprmaxModel::grid.
[[nodiscard]] GridSpec gprmax_grid(const GprmaxInput& input);
/// Bytes of the medium and of what is in memory beside it while it is made.
[[nodiscard]] std::size_t gprmax_model_bytes(const GprmaxInput& input);

/// Sources and receivers of run 0, 1, ...: dipoles moved by so many #src_steps, receivers by #rx_steps. Throws
/// Error(bad_input) when one leaves the domain; then all later runs do.
[[nodiscard]] GprmaxAcquisition acquisition_of_run(const GprmaxModel& model, Index run);

}  // namespace sonde::maxwell
