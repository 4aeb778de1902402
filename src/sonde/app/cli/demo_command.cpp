// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/demo_ptycho.h"
#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/bench/machine.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/io/png.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/results/save_image.h"
#include "sonde/instruments/stem/simulate/expectation.h"
#include "sonde/instruments/stem/simulate/simulate.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  std::string output = "demo-output";
  std::string scan_shape = "128,128";
  void describe(Fields& fields) {
    fields.add("output", output, {.help = "folder for everything that is made", .metavar = "DIR", .letter = 'o'});
    fields.add("scan_shape", scan_shape,
               {.help = "scan rows and columns of the simulated acquisition", .metavar = "ROWS,COLS"});
  }
};

struct DemoImages {
  stem::DetectorGeometry geometry;
  std::optional<stem::Centre> centre;
  std::vector<stem::DetectorImage> images;
};

stem::DetectorOptions demo_detectors() {
  stem::DetectorOptions options;
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

void write_images(const fs::path& folder, const stem::Dataset& dataset, const DemoImages& made, Context& context) {
  const stem::ImageScale scale = stem::scan_scale(dataset.calibration(), dataset.scan_bin());
  std::vector<Panel> panels;
  for (const stem::DetectorImage& image : made.images) {
    Value record = stem::provenance(dataset);
    record["detector"]["expression"] = image.detector;
    stem::save_image((folder / (image.detector + ".tif")).string(), image.image, scale, {}, record);
    ImageStyle style;
    style.zoom = 2;
    const bool moment = image.detector.starts_with("com");
    if (moment) style.colours = ColourMap::rdbu;
    if (scale.col_step) style.pixel_size = scale.col_step;
    style.unit = scale.unit;
    write_image((folder / (image.detector + ".png")).string(), image.image, style);
    panels.push_back({moment ? (image.detector == "com-row" ? "first moment, rows" : "first moment, columns")
                             : fmt::format("{} ({} pixels)", image.detector, image.area),
                      render_image(image.image, style)});
  }
  write_png((folder / "images.png").string(), montage(panels, 3, "Virtual images of one load"));
  context.say(fmt::format("wrote     {} (and each image as .tif with its record)", (folder / "images.png").string()));
}

void write_pattern(const fs::path& folder, const stem::Dataset& dataset, const DemoImages& made, Context& context) {
  ImageStyle style;
  style.colours = ColourMap::magma;
  style.stretch = Stretch::log;
  style.low_percentile = 0;
  style.high_percentile = 100;
  style.zoom = 3;
  const stem::ImageScale scale = stem::detector_scale(dataset.calibration(), dataset.det_bin());
  if (scale.col_step && scale.unit != "px") {
    style.pixel_size = scale.col_step;
    style.unit = scale.unit;
  }
  const double row = *made.geometry.centre_row, col = *made.geometry.centre_col, radius = *made.geometry.radius;
  style.overlays = {Circle{row, col, radius}, Circle{row, col, 2 * radius}, Circle{row, col, 4 * radius}};
  write_image((folder / "pattern.png").string(), stem::mean_pattern(dataset), style);
  context.say(fmt::format("wrote     {} (mean pattern with the detected centre; circles at 1, 2 and 4 radii)",
                          (folder / "pattern.png").string()));
}

/// Compares with what the model expects: N values with the noise of counting have a reduced chi-square of 1 within a
/// few sqrt(2 / N).
void compare_with_truth(const std::string& master, const stem::Dataset& dataset, const DemoImages& made,
                        Context& context) {
  const stem::Model model = stem::model_of(stem::read_truth(stem::truth_path(master)));
  std::vector<stem::Mask> masks;
  for (const stem::DetectorImage& image : made.images)
    if (!image.detector.starts_with("com")) masks.push_back(stem::detector_mask(image.detector, made.geometry));
  const stem::Expectation truth = stem::expect(model, masks, dataset.good());
  const auto positions = static_cast<std::size_t>(dataset.positions());
  const double tolerance =
      6 * std::sqrt(2.0 / static_cast<double>(positions));  // six standard deviations of chi-square over N
  const auto check = [&](const std::string& what, const Array& measured, const double* expected,
                         const double* variance) {
    const double chi =
        stem::reduced_chi_square(as_double(measured), std::span(expected, positions), std::span(variance, positions));
    const bool pass = context.report().check("reduced chi-square of " + what + " minus 1", chi - 1, tolerance);
    context.results()["reduced_chi_square"][what] = chi;
    context.say(fmt::format("truth     {:<12} reduced chi-square {:.4f} (1 +- {:.3f}) {}", what, chi, tolerance,
                            pass ? "agrees" : "DISAGREES"));
  };
  const auto* images = static_cast<const double*>(truth.images.data());
  const auto* variances = static_cast<const double*>(truth.variances.data());
  for (std::size_t i = 0; i < masks.size(); ++i)
    check(made.images[i].detector, made.images[i].image, images + i * positions, variances + i * positions);
  const stem::Moments& m = dataset.moments();
  check("moment, rows", m.moment_row, static_cast<const double*>(truth.moment_row.data()),
        static_cast<const double*>(truth.variance_row.data()));
  check("moment, cols", m.moment_col, static_cast<const double*>(truth.moment_col.data()),
        static_cast<const double*>(truth.variance_col.data()));
}

/// The rate of every stage beside what this machine can do at most.
void write_stages(const fs::path& folder, const Value& stages, Context& context) {
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
  context.say(fmt::format("wrote     {}", (folder / "stages.png").string()));
}

void run_demo(const DemoOptions& options, Context& context) {
  const fs::path folder = options.output;
  fs::create_directories(folder);
  const std::string master = (folder / "scan_master.h5").string();

  context.say("1. simulate an acquisition of nanoparticles with known truth");
  auto simulating = context.report().phase("simulate");
  stem::SimulateOptions simulation;
  simulation.output = master;
  simulation.scan_shape = options.scan_shape;
  const stem::Simulated simulated = stem::simulate(simulation, context.host_budget());
  simulating.end();
  context.say(fmt::format("wrote     {} and {} more files: {} frames, compressed {:.1f} : 1", master,
                          simulated.files.size() - 1, simulated.frames, simulated.ratio));

  context.say("\n2. load it: validate, decode, mask, sum, correct");
  auto loading = context.report().phase("load");
  stem::Dataset dataset = stem::load(master, {}, context.budget());
  loading.end();
  report_load(context, dataset);
  for (const stem::BadPixel& pixel : dataset.bad_pixels())
    context.say(fmt::format("bad pixel row {}, col {}: {}", pixel.row, pixel.col, name(pixel.reason)));

  context.say("\n3. images");
  auto imaging = context.report().phase("images");
  DemoImages made;
  const stem::DetectorOptions detectors = demo_detectors();
  made.geometry = stem::detector_geometry(dataset, detectors, made.centre);
  made.images = stem::detector_images(dataset, detectors, made.geometry);
  imaging.end();
  context.say(fmt::format("centre    row {:.3f}, col {:.3f}, radius {:.3f} px (confidence {:.2f})", made.centre->row,
                          made.centre->col, made.centre->radius, made.centre->confidence));
  write_images(folder, dataset, made, context);
  write_pattern(folder, dataset, made, context);
  write_stages(folder, *context.results().find("stages"), context);

  context.say("\n4. compare with the truth");
  compare_with_truth(master, dataset, made, context);
  context.results()["memory"] = dataset.memory_report();

#ifdef SONDE_WITH_PTYCHO
  context.say("\n5. ptychography: simulate a scan, reconstruct it, compare its phase with the truth");
  auto reconstructing = context.report().phase("ptychography");
  demonstrate_ptychography(folder, context);
  reconstructing.end();
#endif
  const std::string report = (folder / "report.json").string();
  context.report().write(report);
  context.say("\nwrote     " + report);
  if (!context.report().all_checks_pass())
    throw Error(ErrorKind::internal, "the images or the reconstruction do not agree with the simulators' truth")
        .hint("this is a defect: please report it with " + report);
}

}  // namespace

Command demo_command() {
  return {.name = "demo",
          .summary = "Simulate scans, make images and a reconstruction of them, and compare these with the truth",
          .examples = {{"sonde demo", "Everything lands in demo-output/"}},
          .invoke = invocation<DemoOptions, run_demo>};
}

}  // namespace sonde::cli
