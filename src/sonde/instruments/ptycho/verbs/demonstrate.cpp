// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/verbs/demonstrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "sonde/instruments/ptycho/quality/phase_rmse.h"
#include "sonde/instruments/ptycho/results/result.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"
#include "sonde/instruments/ptycho/verbs/reconstruct.h"

namespace sonde::ptycho {
namespace {

namespace fs = std::filesystem;

/// 200 keV, 20 mrad, 150 A underfocus, 24 x 24 positions 0.9 A apart, 64 x 64 pixels, 10^6 electrons a pattern.
SimulateOptions demo_scan(const fs::path& folder) {
  SimulateOptions options;
  options.output = (folder / "ptycho_scan.h5").string();
  options.scan_shape = "24,24";
  return options;
}

/// What a person would write who knows the microscope, with the defocus wrong by a tenth. Counting statistics come
/// last: they make the most of the counts once the probe is about right.
std::string run_text(const SimulateOptions& scan, const fs::path& folder) {
  return fmt::format(
      "[data]\nfile = \"{}\"\npatterns = \"/data\"\npositions = \"/positions_A\"\n"
      "[geometry]\nenergy_keV = {}\nsemiangle_mrad = {}\ndetector_mrad_per_px = {}\n"
      "[probe]\ninit = \"aperture\"\ndefocus_A = {}\n"
      "[[engine]]\nname = \"gd\"\niterations = 60\n"
      "[[engine]]\nname = \"lsqml\"\niterations = 40\nloss = \"poisson\"\n"
      "[output]\nfile = \"{}\"\n",
      scan.output, scan.energy_keV, scan.semiangle_mrad, 2 * scan.detector_mrad / static_cast<double>(scan.detector_px),
      0.9 * scan.defocus_A, (folder / "ptycho.h5").string());
}

/// The part of the first slice of an object as complex128 (rows, cols).
Array part_of(const Array& object, const Box& box) {
  Array part(Device::cpu(), Shape{box.rows, box.cols}, DType::c128);
  const auto from = object.view<complex128, 3>();
  const auto to = part.view<complex128, 2>();
  for (Index r = 0; r < box.rows; ++r)
    for (Index c = 0; c < box.cols; ++c) to(r, c) = from(0, box.row + r, box.col + c);
  return part;
}

/// rms error of the phase in the field of view, rad, after factor, ramp and shift were taken out.
double phase_error(const Result& result, const Truth& truth) {
  const Box view = result.field_of_view();
  const Box around{view.row - 1, view.col - 1, view.rows + 2, view.cols + 2};  // derivatives need a neighbour
  // Where the pixels of the result lie in the truth: both know the first position.
  const Point there = truth.positions_px.front(), here = result.positions.front();
  const Box of_truth{around.row + std::lround(there.row - here.row + result.origin.row),
                     around.col + std::lround(there.col - here.col + result.origin.col), around.rows, around.cols};
  return phase_rmse(part_of(result.transmission(), around), part_of(truth.object, of_truth),
                    {1, 1, view.rows, view.cols})
      .rmse;
}

/// What counting leaves of a phase: N electrons on a pixel of the object, half of whose noise is in the phase, tell it
/// to 1 / sqrt(2 N).
double counting_limit(const Result& result, const SimulateOptions& scan) {
  const Box view = result.field_of_view();
  const double electrons =
      scan.counts_per_frame * static_cast<double>(result.positions.size()) / static_cast<double>(view.rows * view.cols);
  return 1 / std::sqrt(2 * electrons);
}

}  // namespace

void demonstrate(const Demonstration& demo, Run& run) {
  demo.step("ptychography: simulate a scan, reconstruct it, compare its phase with the truth");
  auto phase = run.report().phase("ptychography");
  const fs::path& folder = demo.folder;
  const SimulateOptions scan = demo_scan(folder);
  const Simulated simulated = simulate(scan, run.host_budget());
  run.say(fmt::format("wrote     {}: {} patterns of {:.3g} electrons", simulated.file, simulated.frames,
                      simulated.counts_per_frame));
  RunFile run_file;
  run_file.parse(run_text(scan, folder), "the demo's run file");
  reconstruct(run_file, nullptr, run);

  const Result result = read_result(run_file.output.file);
  const double error = phase_error(result, truth_of(scan));
  // The halves of the run that are not statistics (the positions' few pixels at the edge of the view see half of the
  // electrons, the probe is found as well) cost a factor of two to three beyond what counting noise leaves.
  const double bound = 4 * counting_limit(result, scan);
  const bool pass = run.report().check("phase error of ptychography, rad", error, bound);
  run.results()["ptycho_phase_error"] = error;
  run.say(fmt::format("truth     phase error {:.4f} rad, at most {:.4f} (four times what counting leaves) {}", error,
                      bound, pass ? "agrees" : "DISAGREES"));
}

}  // namespace sonde::ptycho
