// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sonde/instruments/maxwell/grid/component.h"
#include "sonde/instruments/maxwell/grid/pml.h"
#include "sonde/instruments/maxwell/read/gprmax_commands.h"
#include "sonde/instruments/maxwell/read/gprmax_voxels.h"

// What an input file of gprMax 3.1 says (Warren et al. 2016, Computer Physics Communications 209, 163; the user guide),
// in its own axes: x, y, z in this order, other than the arrays of grid/. Lengths in m, times in s.

namespace sonde::maxwell {

/// x, y, z.
using Xyz = std::array<double, 3>;
using XyzIndex = std::array<Index, 3>;
inline constexpr std::string_view xyz_letters = "xyz";

/// To the nearest whole number, a half towards zero.
[[nodiscard]] Index rounded_half_down(double value);
/// The plane nearest to a position: 0.07 m is plane 70 of 1 mm cells.
[[nodiscard]] XyzIndex nearest_planes(const Xyz& position, const Xyz& spacing);

/// A number of steps where a file gives a whole number, else seconds.
struct GprmaxTime {
  double seconds = 0;
  std::optional<Index> steps{};
};

struct GprmaxMaterial {
  struct Pole {
    double deps = 0, tau = 0;
  };
  std::string id;
  double eps_r = 1, sigma = 0, mu_r = 1;  ///< eps_r is eps_inf where there are poles; sigma may be infinity
  std::vector<Pole> poles{};              ///< of Debye

  /// Whether its edges may take the mean of the cells around them.
  [[nodiscard]] bool averaged() const;
};

struct GprmaxWaveform {
  std::string type;  ///< lower case: "gaussian" to "impulse"
  double amplitude = 1, frequency = 0;
  std::string id;
};

/// Waveforms as columns of numbers.
struct GprmaxExcitation {
  std::vector<std::string> ids;
  std::vector<double> times;                ///< increasing; empty: row n is at n dt
  std::vector<std::vector<double>> values;  ///< [id][row]
  bool extrapolate = false;                 ///< beyond the times: the first or last piece continued, otherwise 0
};

enum class GprmaxSourceKind { voltage_source, hertzian_dipole, magnetic_dipole };

struct GprmaxSource {
  GprmaxSourceKind kind = GprmaxSourceKind::hertzian_dipole;
  std::size_t polarisation = 0;  ///< 0, 1, 2: x, y, z
  Xyz position{};
  double resistance = 0;  ///< Ohm, of a voltage source
  std::string waveform;   ///< id
  double start = 0;       ///< the waveform is taken at t - start
  std::optional<double> stop{};
  std::string where;  ///< "model.in, line 8", for messages
};

struct GprmaxReceiver {
  std::string name;  ///< empty: "Rx(70,70,0)" from its planes
  Xyz position{};
  std::vector<Component> outputs;  ///< in the axes of the file
  std::string where;
};

/// All positions from first to last in these steps; a step of 0 counts as one cell.
struct GprmaxReceiverArray {
  Xyz first{}, last{}, step{};
  std::string where;
};

struct GprmaxSnapshot {
  Xyz first{}, last{}, step{};
  GprmaxTime time;
  std::string file;
};
/// Of the materials of cells.
struct GprmaxGeometryView {
  Xyz first{}, last{}, step{};
  std::string file;
};

struct GprmaxBox {
  Xyz low{}, high{};
};
struct GprmaxSphere {
  Xyz centre{};
  double radius = 0;
};
struct GprmaxCylinder {
  Xyz first{}, last{};  ///< centres of its faces
  double radius = 0;
};
/// One extent is 0; sets edges in its plane only.
struct GprmaxPlate {
  Xyz low{}, high{};
};
/// Two extents are 0.
struct GprmaxEdge {
  Xyz low{}, high{};
};
/// A prism of this thickness upwards from a triangle in a coordinate plane; thickness 0: edges in that plane only.
struct GprmaxTriangle {
  std::array<Xyz, 3> corners{};
  double thickness = 0;
};
/// Of a cylinder along an axis from `low` to `high`; equal: edges in that plane only. Angles from the first of the two
/// other axes towards the second.
struct GprmaxSector {
  std::size_t axis = 0;  ///< 0, 1, 2: x, y, z
  std::array<double, 2> centre{};
  double low = 0, high = 0, radius = 0, start_degrees = 0, sweep_degrees = 0;
};

/// Cells of a geometry file, what is outside of the domain left out.
struct GprmaxVoxelBlock {
  Xyz low{};
  std::shared_ptr<const GprmaxVoxels> voxels;
};

struct GprmaxObject {
  std::variant<GprmaxBox, GprmaxSphere, GprmaxCylinder, GprmaxPlate, GprmaxEdge, GprmaxTriangle, GprmaxSector,
               GprmaxVoxelBlock>
      shape;
  /// Ids: one, or those of E along x, y and z (of a plate: along its two axes). Of voxels by their numbers.
  std::vector<std::string> materials;
  bool averaged = true;  ///< false where there are several
};

struct GprmaxInput {
  std::string name;  ///< of the file
  std::string title;
  Xyz domain{}, spacing{};
  XyzIndex cells{};
  GprmaxTime time_window;
  double stability_factor = 1;
  std::vector<GprmaxMaterial> materials;  ///< "pec" and "free_space" first
  std::vector<GprmaxWaveform> waveforms;
  GprmaxExcitation excitation;
  std::vector<GprmaxSource> sources;  ///< sorted by kind, as gprMax numbers them
  std::vector<GprmaxReceiver> receivers;
  std::vector<GprmaxReceiverArray> receiver_arrays;  ///< numbered after the receivers
  XyzIndex src_steps{}, rx_steps{};                  ///< cells per run
  std::optional<Xyz> dipole_length{};                ///< of Hertzian dipoles along x, y and z; unset: of a cell
  std::vector<GprmaxSnapshot> snapshots;
  std::vector<GprmaxGeometryView> geometry_views;
  std::array<std::array<Index, 2>, 3> pml_cells{{{10, 10}, {10, 10}, {10, 10}}};  ///< [x, y, z][low, high]
  PmlSettings pml = gprmax_pml();
  std::optional<double> pml_sigma_max{};  ///< S/m, in place of the one that the settings give
  std::vector<GprmaxObject> objects;      ///< later ones replace earlier ones
  bool messages = true;
  std::optional<Index> num_threads{};
  std::string output_dir;

  /// The axis of one cell, along which a model in two dimensions is invariant: 0, 1, 2 for x, y, z.
  [[nodiscard]] std::optional<std::size_t> flat_axis() const;
  /// The largest stable step 1 / (c sqrt(sum 1/d^2)) over the axes of more than one cell, rounded down to 27 decimals,
  /// times the stability factor.
  [[nodiscard]] double time_step() const;
  /// ceil(t / dt) + 1 for a window of t seconds.
  [[nodiscard]] Index iterations() const;
  /// Seconds; (iterations - 1) dt where the file gives iterations.
  [[nodiscard]] double window() const;
  /// The step before which a snapshot shows the fields, counted from 1.
  [[nodiscard]] Index snapshot_step(const GprmaxSnapshot& snapshot) const;
};

/// Reads and checks a file. All problems are thrown together: Error(not_supported) "model.in, line 5: command #x is not
/// supported yet" for commands and values of gprMax that sonde does not have, Error(bad_file) with file and line for
/// what gprMax would refuse as well: unknown or malformed commands, ids that do not exist, positions outside the
/// domain. Where a command is not supported, ids and commands that it may have defined are not missed.
[[nodiscard]] GprmaxInput read_gprmax_input(const std::string& path);
/// The same for a text; `name` stands for it in messages, and the files that it names are beside that.
[[nodiscard]] GprmaxInput parse_gprmax_input(std::string_view text, const std::string& name,
                                             const TextReader& read = read_input_text,
                                             const GprmaxVoxelReader& read_voxels = read_gprmax_voxels);

}  // namespace sonde::maxwell
