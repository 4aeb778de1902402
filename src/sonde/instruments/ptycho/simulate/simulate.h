// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/array/dtype.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/scan/placement.h"
#include "sonde/instruments/ptycho/simulate/specimen.h"

namespace sonde {
class Fields;
}

namespace sonde::ptycho {

/// The attribute "schema" of "/" in a scan that simulate() writes: what reconstructions recognise it by.
inline constexpr std::string_view scan_schema = "sonde.ptycho.scan/1";

/// Everything that decides a simulated scan; two runs with equal options give equal counts.
struct SimulateOptions {
  std::string output = "ptycho_scan.h5";
  double energy_keV = 200;
  double semiangle_mrad = 20;
  double defocus_A = 150;
  double C12_A = 0;
  double phi12_deg = 0;
  double C30_A = 0;
  double defocus_error = 0.1;
  std::string occupancies = "1";
  double source_fwhm_A = 0;

  Index detector_px = 64;
  double detector_mrad = 60;
  Index dead_pixels = 0;
  double counts_per_frame = 1e6;
  DType dtype = DType::u16;

  std::string scan_shape = "16,16";
  double scan_step_A = 0.9;
  double scan_rotation_deg = 0;
  bool transpose = false;
  bool whole_pixels = false;
  double jitter_A = 0;
  std::string drift_A = "0,0";
  double scan_scale = 1;
  double scan_shear = 0;

  LatticeKind lattice = LatticeKind::square;
  double spacing_A = 4;
  double lattice_turn_deg = 5.7;
  double atom_rms_A = 0.4;
  double peak_rad = 0.75;
  double second_peak_rad = 0.45;
  double displacement_A = 0.1;
  double vacancies = 0.02;
  double amorphous_rad = 0.05;
  double step_rad = 0.1;
  Index layers = 1;
  std::string layer_distance_A = "100";
  double tilt_row_mrad = 0;
  double tilt_col_mrad = 0;

  Index seed = 1;

  void describe(Fields& fields);
};

/// All that a simulated scan is made of. The object's pixel [0,0] is the origin of its positions.
struct Truth {
  Sampling sampling;
  Index scan_rows = 0, scan_cols = 0;
  Array phase;                          ///< (layers, Y, X), float64, rad
  Array object;                         ///< exp(i phase), complex128
  Array probe;                          ///< (modes, rows, cols), complex128, centred, sum |P|^2 = counts per frame
  Array start_probe;                    ///< one mode of the same power: what the operator of the microscope believes
  Array propagators;                    ///< between the layers; empty for one
  std::vector<double> layer_distances;  ///< A, from each layer to the next
  std::vector<Point> nominal_a;         ///< where the scan says the probe was, A, on a scan of its own
  std::vector<Point> positions_px;      ///< where it was, in pixels of the object
  std::vector<std::uint8_t> good;       ///< (rows, cols), zero frequency at floor(n / 2): 0 for dead pixels

  [[nodiscard]] Window window() const { return {sampling.rows, sampling.cols}; }
};

/// What the operator believes the defocus to be, A.
[[nodiscard]] double stated_defocus(const SimulateOptions& options);

/// The scan of these options. The specimen of layer l has its lattice 0.825^l times as wide as the first and turned by
/// another 0.5 rad; the amorphous patch and the step are in the first layer. Throws Error(usage) for texts that cannot
/// be read, Error(bad_input) for numbers that make no sense.
[[nodiscard]] Truth truth_of(const SimulateOptions& options);

/// Bytes that simulate() holds at its peak: object, modes, the frames of one line of the scan, and scratch per thread.
[[nodiscard]] std::size_t simulation_bytes(const SimulateOptions& options);

/// Poisson counts of the patterns [first, last), (count, rows, cols) of u16 or u32, zero frequency at floor(n / 2),
/// zero in dead pixels. Drawn by (seed, pattern, pixel), so that any pattern is the same by itself. Runs on all
/// threads. Throws Error(bad_input) when a count does not fit into the type (nothing is clipped).
[[nodiscard]] Array draw_frames(const Truth& truth, std::uint64_t seed, Index first, Index last, DType dtype);

/// What was written.
struct Simulated {
  std::string file;
  Index frames = 0;
  double counts_per_frame = 0;  ///< mean over the frames
};

/// Writes one HDF5 file:
///   /data (Sy, Sx, Ky, Kx), counts, with the calibration as attributes; /mask (Ky, Kx), 1 for good pixels;
///   /positions_A (J, 2), nominal, rows first; /probe (1, Ny, Nx), one coherent mode with the stated defocus, which is
///   wrong by options.defocus_error; and what nobody knows in a real experiment: /truth/object_phase (layers, Y, X),
///   /truth/probe (modes, Ny, Nx), /truth/positions_px (J, 2), /truth/field_of_view (row, col, rows, cols),
///   /truth/parameters (the options as JSON). Reconstructions recognise the file by its schema.
/// The file has its name only when it is complete. Reports progress, answers interrupts. Throws like truth_of() and
/// draw_frames(), Error(io), and Error(budget) before any work.
Simulated simulate(const SimulateOptions& options, Budget budget = Budget::automatic(Device::cpu()));

}  // namespace sonde::ptycho
