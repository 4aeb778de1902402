// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/demonstrate_analyses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/io/png.h"
#include "sonde/instruments/stem/lattice/strain_picture.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/phase/phase_picture.h"
#include "sonde/instruments/stem/phase/phase_result.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/verbs/scan_centres.h"
#include "sonde/instruments/stem/verbs/scan_disks.h"

namespace sonde::stem {
namespace {

constexpr const char* made_by = "sonde demo";
constexpr double pi = std::numbers::pi, degree = pi / 180;

/// Read from the files, for sums and disks: no frame is held.
LoadOptions from_file() {
  LoadOptions load;
  load.layout = LayoutChoice::file;
  return load;
}

Simulated simulate_scan(const SimulateOptions& options, const std::string& step, const Demonstration& demo, Run& run) {
  demo.step(step);
  auto simulating = run.report().phase("simulate");
  const Simulated made = simulate(options, run.host_budget());
  simulating.end();
  run.say(
      fmt::format("wrote     {}: {} frames, {:.0f} counts each", options.output, made.frames, made.counts_per_frame));
  return made;
}

/// Compares with a truth that must be met within `most`, and says so.
void compare(const std::string& what, double off, double most, const std::string& text, Run& run) {
  const bool pass = run.report().check(what, off, most);
  run.results()["truth"][what] = off;
  run.say(fmt::format("truth     {:<12} {} {}", what, text, pass ? "agrees" : "DISAGREES"));
}

/// Standard deviation of the exact integral of noise, rad: that of the deflections, white, with 1 / |k|^2 summed over
/// the frequencies of a grid of `positions`, (ln(positions) + 3.1) / (4 pi) by numbers.
double noise_of_integral(const PhaseResult& result) {
  const double per_step =
      result.noise->median_px * result.scale.pixel * result.scale.gradient_factor() * result.scale.step_col;
  return per_step * std::sqrt((std::log(static_cast<double>(result.phase.size())) + 3.1) / (4 * pi));
}

/// Of found - truth over a scan, less its plane: centres of mass do not say where the undeflected beam is.
double rms_without_ramp(const std::vector<double>& found, const std::vector<double>& truth, Index cols) {
  const auto count = static_cast<double>(truth.size()), width = static_cast<double>(cols), height = count / width;
  double mean = 0, down = 0, across = 0, squares = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto here = static_cast<Index>(i);
    const double row = static_cast<double>(here / cols) - (height - 1) / 2,
                 col = static_cast<double>(here % cols) - (width - 1) / 2, off = found[i] - truth[i];
    mean += off / count;
    down += off * row / count;
    across += off * col / count;
    squares += off * off / count;
  }
  // Rows, columns and a constant are orthogonal over a whole scan.
  return std::sqrt(squares - mean * mean - 12 * down * down / (height * height - 1) -
                   12 * across * across / (width * width - 1));
}

void compare_phase(const SimulateOptions& simulation, const PhaseResult& result, Run& run) {
  const double off = std::remainder(result.rotation.rotation - simulation.rotation * degree, 2 * pi) / degree;
  const double error = result.rotation.standard_error / degree;
  compare("rotation", off, 4 * error + 0.2,  // differences of neighbours err by 0.1 to 0.2 degrees without noise
          fmt::format("{:+.2f} degrees off, standard error {:.2f}", off, error), run);
  compare("transposition", result.rotation.transpose == simulation.transpose ? 0 : 1, 0, "of rows and columns", run);
  const PhasePatterns patterns = phase_patterns_of(simulation);
  std::vector<double> truth(result.phase.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto here = static_cast<Index>(i);
    truth[i] = patterns.seen_phase(here / result.centres.cols, here % result.centres.cols);
  }
  const double rms = rms_without_ramp(result.phase, truth, result.centres.cols), noise = noise_of_integral(result);
  const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
  const double range = *most - *least;
  // Twice the noise of counts, whose largest waves are few, and a hundredth of the range for the steps of the scan.
  compare("phase", rms, 2 * noise + 0.01 * range,
          fmt::format("{:.3f} rad rms off, of a range of {:.2f}; the counts leave {:.3f}", rms, range, noise), run);
}

void compare_strain(const SimulateOptions& simulation, const StrainResult& result, Run& run) {
  struct Component {
    const char* name;
    double Strain::*found;
    double Deformation::*truth;
  };
  const Component components[] = {{"e_xx", &Strain::xx, &Deformation::e_xx},
                                  {"e_yy", &Strain::yy, &Deformation::e_yy},
                                  {"e_xy", &Strain::xy, &Deformation::e_xy},
                                  {"theta", &Strain::theta, &Deformation::theta}};
  const DiskPatterns patterns = disk_patterns_of(simulation);
  for (const Component& component : components) {
    double squares = 0;
    for (Index i = 0; i < result.positions(); ++i) {
      const auto here = static_cast<std::size_t>(i);
      const double truth = patterns.deformation(i / result.scan_cols, i % result.scan_cols).*component.truth;
      const double pull = (result.strain[here].*component.found - truth) / (result.sigma[here].*component.found);
      squares += pull * pull / static_cast<double>(result.fitted());
    }
    const double pull = std::sqrt(squares);
    // Over 2000 positions the pull scatters by 0.016; the rest is for residual bias of places, a hundredth of a pixel.
    compare(component.name, pull - 1, 0.15,
            fmt::format("errors are {:.2f} of the sigma that is stated, {:.1e}", pull,
                        result.median_sigma().*component.found),
            run);
  }
}

}  // namespace

void demonstrate_phase(const Demonstration& demo, Run& run) {
  SimulateOptions simulation;
  simulation.output = (demo.folder / "phase_scan_master.h5").string();
  simulation.sample = Sample::phase;
  simulation.scan_shape = "64,64";
  simulation.detector_shape = "96,96";
  simulation.disk_radius = 14;
  simulation.rotation = 30;
  simulation.transpose = true;
  simulation.descan = 0;
  simulate_scan(simulation, "simulate hills of the phase by wave optics, the detector turned and transposed", demo,
                run);
  demo.step("find rotation and phase from centres of mass");
  const PhaseResult result = phase_of_scan(simulation.output, {}, from_file(), run);
  run.results()["phase"] = result.to_value();
  const std::string picture = (demo.folder / "phase.png").string();
  write_png(picture, phase_picture(result), made_by);
  run.say("wrote     " + picture);
  compare_phase(simulation, result, run);
}

void demonstrate_strain(const Demonstration& demo, Run& run) {
  SimulateOptions simulation;
  simulation.output = (demo.folder / "crystal_scan_master.h5").string();
  simulation.sample = Sample::disks;
  simulation.scan_shape = "48,48";
  simulation.detector_shape = "128,128";
  simulation.disk_radius = 5;
  simulation.dose = 2;
  simulation.rotation = 30;
  simulate_scan(simulation, "simulate a crystal with a strained layer", demo, run);
  demo.step("find its disks, and map strain with its errors");
  const BraggVectors disks = disks_of(simulation.output, "", {}, run);
  auto strain = run.report().phase("strain");
  StrainOptions options;
  options.reference_region = "0,48,0,28";  // before the interface
  options.rotation = simulation.rotation;
  options.transpose = "0";
  const StrainResult result = make_strain(disks, options, run.host_budget());
  strain.end();
  run.results()["strain"] = result.to_value();
  for (const std::string& line : result.lines()) run.say(line);
  const std::string picture = (demo.folder / "strain.png").string();
  write_png(picture, strain_picture(result), made_by);
  run.say("wrote     " + picture);
  compare_strain(simulation, result, run);
}

}  // namespace sonde::stem
