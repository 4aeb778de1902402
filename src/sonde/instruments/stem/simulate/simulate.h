// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/stem/simulate/disk_lattice.h"
#include "sonde/instruments/stem/simulate/grain_patterns.h"
#include "sonde/instruments/stem/simulate/model.h"
#include "sonde/instruments/stem/simulate/wave.h"

namespace sonde {
class Fields;
}

namespace sonde::stem {

/// What lies under the beam: nanoparticles on a film (specimen.h); nothing at all, with the beam shifted by -1, 0
/// and +1 times the deflection in turn (the pattern of the benchmarks); hills of the phase, by wave optics (wave.h);
/// a strained crystal that diffracts into disks (disk_lattice.h); grains of a crystal (grain_patterns.h); electrons
/// spread evenly over a detector that integrates their charge (integrating_detector.h); or the particles again, seen by
/// a detector that writes down each hit with its time (event_hits.h).
enum class Sample { particles, vacuum, phase, disks, crystal, counting, events };

/// Everything that decides a simulated scan; two runs with equal options give equal files.
struct SimulateOptions {
  std::string output = "scan_master.h5";
  std::string scan_shape = "128,128";
  std::string detector_shape = "192,192";
  Sample sample = Sample::particles;
  double dose = 1;
  std::optional<std::string> centre;
  std::optional<double> disk_radius;  ///< unset: see disk_radius_of()
  double edge_width = 0.8;
  double halo_length = 22;
  double wide_length = 60;
  double halo_fraction = 0.15;
  double deflection = 1;
  double descan = 0.6;
  double phase_height = 2, phase_width = 3;
  double rotation = 0;
  bool transpose = false;
  std::optional<std::string> lattice;
  StrainField strain_field = StrainField::step;
  std::string strain = "0.02,-0.01,0.005";
  double lattice_turn = 1;
  Index orders = 2;
  double excitation = 0.8;
  std::vector<std::string> crystal;  ///< CIF files; grains take them in turn
  Index grains = 8;
  std::optional<std::string> euler;
  double k_max = 1.5;
  double sigma_excitation_error = 0.02;
  double diffracted = 0.5;
  double occupancy = 0.005;
  std::string dwell = "2us";
  double cloud = 0.35, deposit = 30, deposit_spread = 8, read_noise = 1;
  double dark_level = 20, dark_spread = 0, gain_spread = 0, xray_rate = 0;
  Index masked_pixels = 4;
  Index hot_pixels = 2;
  Index seed = 1;
  DType dtype = DType::u16;
  Index frames_per_file = 5000;
  double voltage = 200;
  std::optional<double> camera_length;  ///< unset: see camera_length_of()
  double scan_step = 0.5;
  bool truth = true;

  void describe(Fields& fields);
};

/// What the files say of the (square) pixels of the detector.
inline constexpr double detector_pixel_m = 1e-4;

/// The model these options describe. Throws Error(usage) for shapes and centres that cannot be read, Error(bad_input)
/// for numbers that make no sense.
[[nodiscard]] Model model_of(const SimulateOptions& options);

/// The patterns of sample `phase` that these options describe; throws like model_of().
[[nodiscard]] PhasePatterns phase_patterns_of(const SimulateOptions& options);

/// The patterns of sample `disks` that these options describe; throws like model_of().
[[nodiscard]] DiskPatterns disk_patterns_of(const SimulateOptions& options);

/// The patterns of sample `crystal` that these options describe; throws like model_of(), and what read_crystal() does.
[[nodiscard]] GrainPatterns grain_patterns_of(const SimulateOptions& options);

/// px: as set, else 16; of a crystal 0.3 times the shortest distance of a reflection from the direct disk.
[[nodiscard]] double disk_radius_of(const SimulateOptions& options);
/// m: as set, else 0.115; of a crystal the length at which reflections of 1/d = k_max are on the detector.
[[nodiscard]] double camera_length_of(const SimulateOptions& options);

/// Where the expected values of an acquisition are kept: "<base>_truth.h5" for "<base>_master.h5".
[[nodiscard]] std::string truth_path(const std::string& master);

/// What a simulation will write and hold.
struct SimulationPlan {
  Index frames = 0;
  std::size_t frame_bytes = 0;  ///< of one frame before compression
  Index data_files = 0;         ///< beside them: master, sidecar and, unless left out, the truth
  Choice<Index> batch;          ///< frames made before they are written
  MemoryPlan memory;
};

/// A pure function of options, budget and number of threads. Throws like model_of(), and Error(budget) when not even
/// one frame fits.
[[nodiscard]] SimulationPlan plan_simulation(const SimulateOptions& options, const Budget& budget);

/// How many times smaller the frames become: of up to 32 frames spread over the scan, which are made for it. Cost: that
/// of simulate_frames() for them.
[[nodiscard]] double sample_compression(const SimulateOptions& options);

/// What was written.
struct Simulated {
  std::vector<std::string> files;  ///< master first, the truth last
  Index frames = 0;
  double counts_per_frame = 0;  ///< mean over all frames, sentinels left out
  double ratio = 0;             ///< bytes of the frames as stored in memory to bytes of the data files
};

/// Writes the scan in the layout of a DECTRIS ARINA: master, data files, microscope's sidecar, pixel mask and
/// sentinels, and beside it the truth. The masked pixels say "no data" in every frame and are marked in the mask; the
/// hot pixels count some hundred electrons too many and are marked nowhere. The truth is an HDF5 file with the options
/// as JSON
/// (`parameters`) and in float64 the expected `images/bf`, `abf`, `adf`, `haadf` about the true centre, `total`,
/// `moment_row`, `moment_col`, `pattern`, the `beam` position of every pattern (of `phase` without the specimen's
/// deflection), and `good`, the pixels that count; of sample `phase` also the `phase` at every position and the
/// `seen_phase`, averaged over the probe, in rad; of sample `disks` the lattice vectors `g1_x`, `g1_y`, `g2_x`, `g2_y`
/// in px of the detector, the strain `e_xx`, `e_yy`, `e_xy` and the turn `theta` in rad along the axes of the scan; of
/// sample `crystal` the `grain` at every position, its `phase` (the number of its crystal, from 0) and of every grain
/// the `orientation` (grains, 3, 3; see Orientation), and `q_pixel` in 1/A; of sample `counting` the electrons of every
/// position, [offsets[p], offsets[p + 1]) of `events/y`, `events/x` in px and `events/deposit` in counts, and the
/// `dark` and `gain` image, which are written as
/// "<base>_dark.npy" and "<base>_gain.npy", too. Nothing has its name before all of it is complete. Reports progress,
/// answers interrupts. Holds what plan_simulation() predicts. Throws Error(usage), Error(bad_input), Error(io), and
/// Error(budget) before any work.
Simulated simulate(const SimulateOptions& options, Budget budget = Budget::automatic(Device::cpu()));

/// The options a truth file was made with; model_of() of them gives the model, expect() of that what any detector
/// should see. Throws Error(bad_file) when it is no truth file.
[[nodiscard]] SimulateOptions read_truth(const std::string& path);

}  // namespace sonde::stem
