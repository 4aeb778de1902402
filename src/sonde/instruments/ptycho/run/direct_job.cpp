// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/direct_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/results/provenance.h"

namespace sonde::ptycho {
namespace {

constexpr double degrees = 180 / std::numbers::pi;

MemoryPlan memory_of(const DirectPlan& plan, const Source& source) {
  MemoryPlan memory{.head_room_percent = head_room_percent};
  const std::size_t count = size_bytes(source.dtype);
  const auto pixels = static_cast<std::size_t>(plan.scan.window.rows * plan.scan.window.cols);
  const std::size_t window = pixels * static_cast<std::size_t>(source.shape[0]);
  const auto block = static_cast<std::size_t>(block_frames(source));
  const bool refitted =
      plan.scan.window.rows != plan.scan.stored.rows || plan.scan.window.cols != plan.scan.stored.cols;
  const bool kept = source.dtype == DType::u8 || source.dtype == DType::u16;  // as they are, else amplitudes in f32
  const std::size_t patterns =
      memory.add("patterns", window * (kept ? count : sizeof(float)),
                 fmt::format("{} x {} x {}", source.shape[0], plan.scan.window.rows, plan.scan.window.cols));
  const std::size_t stored = memory.add(
      "while loading",
      source.reading_bytes +
          block * count *
              (static_cast<std::size_t>(source.shape[1] * source.shape[2]) + (refitted ? pixels : std::size_t{0})),
      "patterns that are read at a time");
  const std::size_t images = memory.add(
      "images", bright_field_bytes(plan.images, plan.lattice),
      fmt::format("{} pixels of the disk, {} x {} positions, 4 B", plan.images, plan.lattice.rows, plan.lattice.cols));
  const std::size_t work = memory.add("work", direct_bytes(plan.lattice, plan.images, plan.method, plan.settings),
                                      "sums over images, transforms, spectrum and wave; or the search");
  memory.loading_bytes = patterns + std::max(stored, images);
  memory.lasting_bytes = images + work;
  memory.peak_bytes = std::max(memory.loading_bytes, memory.lasting_bytes);
  return memory;
}

/// exp(i phase / slices), (1, rows, cols).
Array transmission_of(const Array& phase, Index slices) {
  Array object(Device::cpu(), Shape{1, phase.shape()[0], phase.shape()[1]}, DType::c64);
  const auto* from = phase.view<double, 2>().data;
  auto* to = object.view<complex64, 3>().data;
  for (Index i = 0; i < phase.count(); ++i) to[i] = complex64(std::polar(1.0, from[i] / static_cast<double>(slices)));
  return object;
}

Result result_from(const RunFile& run, const DirectPlan& plan, const DirectImage& image, double counts) {
  const Sampling& sampling = plan.scan.sampling;
  Result result;
  result.sampling = sampling;
  result.initial_positions = plan.scan.positions;
  result.positions = in_pixels(image.lattice.positions(), sampling);
  const ObjectExtent extent = object_extent(result.positions, {sampling.rows, sampling.cols});
  result.origin = {-extent.offset.row, -extent.offset.col};
  const Point origin_a{result.origin.row * sampling.pixel_row(), result.origin.col * sampling.pixel_col()};
  result.object =
      transmission_of(phase_on_object(image, extent.rows, extent.cols, origin_a, sampling), run.object.slices);
  result.slice_thickness_a = run.object.slice_thickness();
  result.probe = aperture_probe(sampling, {plan.lens.semiangle, image.aberrations, plan.lens.edge});
  scale_to_counts(result.probe, counts);
  result.settings = run.text();
  result.diagnostics["method"] = plan.method == DirectMethod::ssb ? "ssb" : "parallax";
  result.diagnostics["C10_A"] = image.aberrations.get("C10");
  result.diagnostics["C12_A"] = image.aberrations.get("C12");
  result.diagnostics["phi12_deg"] = image.aberrations.get("phi12") * degrees;
  result.diagnostics["rotation_deg"] = run.geometry.scan_rotation_deg + image.rotation * degrees;
  if (image.fit) result.diagnostics["agreement"] = image.fit->agreement;
  return result;
}

void set(RunFile& run, const char* table, const char* key, const Value& value) {
  run.tables().assign(table, 0, key, value, "", Origin::caller);
}

}  // namespace

DirectPlan plan_direct(const RunFile& run, const Source& source, DirectMethod method) {
  if (run.geometry.units == Units::pixel)
    throw Error(ErrorKind::not_supported, "direct methods need the wavelength and angles, but geometry.units is pixel")
        .hint("give energy_keV, detector_mrad_per_px and semiangle_mrad in [geometry]");
  DirectPlan plan;
  plan.method = method;
  plan.settings = run.direct;
  plan.scan = plan_scan(source, run.data, run.geometry, run.positions);
  std::optional<LatticeShape> shape;
  if (source.scan_shape) shape = LatticeShape{source.scan_shape->rows, source.scan_shape->cols};
  plan.lattice = scan_lattice(plan.scan.positions, shape, plan.scan.sampling);
  if (!plan.scan.semiangle)
    throw Error(ErrorKind::bad_input,
                "direct methods need the convergence semiangle, but geometry.semiangle_mrad is missing")
        .hint("give it with " + setting("geometry.semiangle_mrad", "20"));
  plan.lens = {*plan.scan.semiangle, run.probe.edge, run.probe.lens()};
  const Lens lens(plan.scan.sampling, plan.lens.semiangle, plan.lens.edge, plan.lens.aberrations);
  plan.images = bright_field_pixels(plan.scan.sampling, lens, plan.scan.good);
  plan.memory = memory_of(plan, source);
  return plan;
}

DirectOutcome run_direct(const RunFile& run, const Source& source, DirectPlan plan) {
  DirectOutcome outcome;
  outcome.warnings = plan.scan.warnings;
  outcome.measured_probe = !source.probe.empty();
  const Value origin = provenance(source.file, "cpu", 0);
  BrightField field;
  double mean_counts = 0;
  {
    const LoadedCounts counts = load_counts(source, plan.scan, run.data, {.storage = AmplitudeStorage::counts});
    outcome.warnings.insert(outcome.warnings.end(), counts.warnings.begin(), counts.warnings.end());
    mean_counts = counts.measurement.mean_counts();
    const Lens lens(plan.scan.sampling, plan.lens.semiangle, plan.lens.edge, plan.lens.aberrations);
    field = bright_field(counts.measurement, plan.scan.sampling, lens, plan.lattice, plan.scan.skip);
  }
  outcome.notes = plan.scan.notes;
  if (!plan.scan.skip.empty())
    outcome.notes.push_back(
        fmt::format("{} frames take no part: the mean of the others takes their place", plan.scan.skip.size()));
  outcome.image = direct_image(field, plan.scan.sampling, plan.method, plan.settings, plan.lens);
  outcome.warnings.insert(outcome.warnings.end(), outcome.image.warnings.begin(), outcome.image.warnings.end());
  outcome.result = result_from(run, plan, outcome.image, mean_counts);
  outcome.result.provenance = origin;
  outcome.result.diagnostics["warnings"] = outcome.warnings;
  return outcome;
}

std::optional<DirectMethod> direct_start(const RunFile& run) {
  if (run.object.init == ObjectInit::ssb) return DirectMethod::ssb;
  if (run.object.init == ObjectInit::parallax) return DirectMethod::parallax;
  return std::nullopt;
}

void prefer_right_strengths(RunFile& run) {
  if (!run.direct.transfer) set(run, "direct", "transfer", Value("corrected"));
}

void start_from(const DirectOutcome& outcome, const std::string& start, RunFile& run) {
  set(run, "object", "init", Value("file"));
  set(run, "object", "file", Value(start));
  take_geometry(outcome, run);
}

JobPlan begin_directly(RunFile& run, const Source& source, const Resources& resources) {
  prefer_right_strengths(run);
  const DirectMethod method = direct_start(run).value();
  DirectPlan direct = plan_direct(run, source, method);
  std::optional<Reservation> reserved;
  if (std::optional<TierBudgets> budgets = resources.budgets)
    reserved.emplace(
        budgets->host.reserve(direct.memory.needed_bytes(),
                              fmt::format("object.init = \"{}\"", method == DirectMethod::ssb ? "ssb" : "parallax"),
                              "allow more memory, or keep fewer detector pixels with data.crop"));
  DirectOutcome outcome = run_direct(run, source, std::move(direct));
  reserved.reset();
  take_geometry(outcome, run);
  JobPlan plan = plan_job(run, source, resources);
  plan.direct = std::make_shared<KnownObject>(KnownObject{std::move(outcome.result.object), outcome.result.origin});
  plan.warnings.insert(plan.warnings.end(), outcome.image.warnings.begin(), outcome.image.warnings.end());
  return plan;
}

void take_geometry(const DirectOutcome& outcome, RunFile& run) {
  if (!outcome.image.fit) return;
  set(run, "geometry", "scan_rotation_deg",
      Value(std::remainder(run.geometry.scan_rotation_deg + outcome.image.rotation * degrees, 360)));
  // The angle is known: no one-shot reconstruction is made without.
  if (choose_probe_init(run.probe, /*has_angle=*/true, outcome.measured_probe).value != ProbeInit::aperture) return;
  // `defocus` is another name of C10; the one that was given must not have the last word.
  const bool has_defocus = run.tables().find("probe")->items[0].fields.is_set("defocus_A");
  if (has_defocus) set(run, "probe", "defocus_A", Value(outcome.image.aberrations.get("defocus")));
  set(run, "probe", "C10_A", Value(outcome.image.aberrations.get("C10")));
  set(run, "probe", "C12_A", Value(outcome.image.aberrations.get("C12")));
  set(run, "probe", "phi12_deg", Value(outcome.image.aberrations.get("phi12") * degrees));
}

}  // namespace sonde::ptycho
