// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/demonstrate.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "sonde/engine/bench/machine.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/io/png.h"
#include "sonde/instruments/stem/results/depiction.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/results/save_image.h"
#include "sonde/instruments/stem/simulate/expectation.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/verbs/demonstrate_analyses.h"
#include "sonde/instruments/stem/verbs/load_text.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

struct DemoImages {
  DetectorGeometry geometry;
  std::optional<Centre> centre;
  std::vector<DetectorImage> images;
};

DetectorOptions demo_detectors() {
  DetectorOptions options;
  options.detector = {"bf", "abf", "adf", "haadf", "com-row", "com-col"};
  return options;
}

std::vector<double> as_double(const Array& image) {
  std::vector<double> values(static_cast<std::size_t>(image.count()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = image.dtype() == DType::u64 ? static_cast<double>(static_cast<const std::uint64_t*>(image.data())[i])
                                            : static_cast<const double*>(image.data())[i];
  return values;
}

void write_images(const fs::path& folder, const Dataset& dataset, const DemoImages& made, Run& run) {
  const ImageScale scale = scan_scale(dataset.calibration(), dataset.scan_bin());
  std::vector<Panel> panels;
  for (const DetectorImage& image : made.images) {
    Value record = provenance(dataset);
    record["detector"]["expression"] = image.detector;
    save_image((folder / (image.detector + ".tif")).string(), image.image, scale, {}, record);
    const Depiction shown = depiction_of(dataset, image, made.geometry);
    ImageStyle style = picture_style(shown, scale, {});
    style.zoom = 2;
    const Array& values = shown.values.empty() ? image.image : shown.values;
    write_image((folder / (image.detector + ".png")).string(), values, style);
    panels.push_back({is_moment(image.detector)
                          ? (image.detector == "com-row" ? "deflection, rows" : "deflection, columns")
                          : fmt::format("{} ({} pixels)", image.detector, image.area),
                      render_image(values, style)});
  }
  write_png((folder / "images.png").string(), montage(panels, 3, "Virtual images of one load"));
  run.say(fmt::format("wrote     {} (and each image as .tif with its record)", (folder / "images.png").string()));
}

void write_pattern(const fs::path& folder, const Dataset& dataset, const DemoImages& made, Run& run) {
  ImageStyle style;
  style.colours = ColourMap::magma;
  style.stretch = Stretch::log;
  style.low_percentile = 0;
  style.high_percentile = 100;
  style.zoom = 3;
  const ImageScale scale = detector_scale(dataset.calibration(), dataset.det_bin());
  if (scale.col_step && scale.unit != "px") {
    style.pixel_size = scale.col_step;
    style.unit = scale.unit;
  }
  const double row = *made.geometry.centre_row, col = *made.geometry.centre_col, radius = *made.geometry.radius;
  style.overlays = {Circle{row, col, radius}, Circle{row, col, 2 * radius}, Circle{row, col, 4 * radius}};
  write_image((folder / "pattern.png").string(), mean_pattern(dataset), style);
  run.say(fmt::format("wrote     {} (mean pattern with the detected centre; circles at 1, 2 and 4 radii)",
                      (folder / "pattern.png").string()));
}

/// Compares with what the model expects: N values with the noise of counting have a reduced chi-square of 1 within a
/// few sqrt(2 / N).
void compare_with_truth(const std::string& master, const Dataset& dataset, const DemoImages& made, Run& run) {
  const Model model = model_of(read_truth(truth_path(master)));
  std::vector<Mask> masks;
  for (const DetectorImage& image : made.images)
    if (!image.detector.starts_with("com")) masks.push_back(detector_mask(image.detector, made.geometry));
  const Expectation truth = expect(model, masks, dataset.good());
  const auto positions = static_cast<std::size_t>(dataset.positions());
  const double tolerance =
      6 * std::sqrt(2.0 / static_cast<double>(positions));  // six standard deviations of chi-square over N
  const auto check = [&](const std::string& what, const Array& measured, const double* expected,
                         const double* variance) {
    const double chi =
        reduced_chi_square(as_double(measured), std::span(expected, positions), std::span(variance, positions));
    const bool pass = run.report().check("reduced chi-square of " + what + " minus 1", chi - 1, tolerance);
    run.results()["reduced_chi_square"][what] = chi;
    run.say(fmt::format("truth     {:<12} reduced chi-square {:.4f} (1 +- {:.3f}) {}", what, chi, tolerance,
                        pass ? "agrees" : "DISAGREES"));
  };
  const auto* images = static_cast<const double*>(truth.images.data());
  const auto* variances = static_cast<const double*>(truth.variances.data());
  for (std::size_t i = 0; i < masks.size(); ++i)
    check(made.images[i].detector, made.images[i].image, images + i * positions, variances + i * positions);
  const Moments& m = dataset.moments();
  check("moment, rows", m.moment_row, static_cast<const double*>(truth.moment_row.data()),
        static_cast<const double*>(truth.variance_row.data()));
  check("moment, cols", m.moment_col, static_cast<const double*>(truth.moment_col.data()),
        static_cast<const double*>(truth.variance_col.data()));
}

/// The rate of every stage beside what this machine can do at most.
void write_stages(const fs::path& folder, const Value& stages, Run& run) {
  std::optional<Value> machine = cached_machine();
  if (!machine) {
    MachineOptions quick;
    quick.seconds_each = 0.1;
    machine = measure_machine(quick);
  }
  Facet facet;
  facet.x = {.title = "uncompressed bytes per second of one core", .unit = "GB/s", .low = 0.0};
  sonde::Series rates;
  rates.mark = Mark::bars;
  for (const auto& [stage, entry] : stages.members()) {
    const double rate = entry.find("gb_per_s")->as_real();
    if (rate <= 0) continue;
    facet.categories.push_back(stage);
    rates.y.push_back(rate);
  }
  facet.series = {rates};
  const MachineRates limits = machine_rates(*machine, 1);
  facet.references = {{.value = 1e-9 * limits.memory_bytes_per_s, .label = "memory of this machine"}};
  write_chart((folder / "stages").string(), {.title = "Stages of the load", .facets = {facet}});
  run.say(fmt::format("wrote     {}", (folder / "stages.png").string()));
}

}  // namespace

void demonstrate(const Demonstration& demo, Run& run) {
  const std::string master = (demo.folder / "scan_master.h5").string();

  demo.step("simulate an acquisition of nanoparticles with known truth");
  auto simulating = run.report().phase("simulate");
  SimulateOptions simulation;
  simulation.output = master;
  simulation.scan_shape = demo.scan_shape;
  const Simulated simulated = simulate(simulation, run.host_budget());
  simulating.end();
  run.say(fmt::format("wrote     {} and {} more files: {} frames, compressed {:.1f} : 1", master,
                      simulated.files.size() - 1, simulated.frames, simulated.ratio));

  demo.step("load it: validate, decode, mask, sum, correct");
  auto loading = run.report().phase("load");
  Dataset dataset = load(master, {}, run.budget());
  loading.end();
  say_result(run, dataset);
  report_load(run, dataset);
  for (const BadPixel& pixel : dataset.bad_pixels())
    run.say(fmt::format("bad pixel row {}, col {}: {}", pixel.row, pixel.col, name(pixel.reason)));

  demo.step("images");
  auto imaging = run.report().phase("images");
  DemoImages made;
  const DetectorOptions detectors = demo_detectors();
  made.geometry = detector_geometry(dataset, detectors, made.centre);
  made.images = detector_images(dataset, detectors, made.geometry);
  imaging.end();
  run.say(fmt::format("centre    row {:.3f}, col {:.3f}, radius {:.3f} px (confidence {:.2f})", made.centre->row,
                      made.centre->col, made.centre->radius, made.centre->confidence));
  write_images(demo.folder, dataset, made, run);
  write_pattern(demo.folder, dataset, made, run);
  write_stages(demo.folder, *run.results().find("run")->find("stages"), run);

  demo.step("compare with the truth");
  compare_with_truth(master, dataset, made, run);
  run.results()["run"]["memory"] = dataset.memory_report();
  demonstrate_phase(demo, run);
  demonstrate_strain(demo, run);
}

}  // namespace sonde::stem
