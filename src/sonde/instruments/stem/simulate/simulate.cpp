// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/simulate/event_hits.h"
#include "sonde/instruments/stem/simulate/expectation.h"
#include "sonde/instruments/stem/simulate/frames.h"
#include "sonde/instruments/stem/simulate/truth_file.h"
#include "sonde/instruments/stem/write/write_arina.h"

namespace sonde::stem {
namespace {

constexpr std::string_view master_ending = "_master.h5";
const OutputRole truth_role = side_output("the truth of the simulation", FileMark::hdf5);

ArinaDescription describe_file(const SimulateOptions& options, const Model& model) {
  ArinaDescription description;
  description.scan_rows = model.scan_rows();
  description.scan_cols = model.scan_cols();
  description.rows = model.optics().rows;
  description.cols = model.optics().cols;
  description.dtype = options.dtype;
  description.frames_per_file = options.frames_per_file;
  description.sentinels = true;
  description.saturation = max_value(options.dtype) - 1;
  description.pixel_mask.assign(static_cast<std::size_t>(model.pixels()), 0);
  for (const Defect& defect : model.defects())
    description.pixel_mask[static_cast<std::size_t>(defect.row * description.cols + defect.col)] = defect.mask_bits;
  description.calibration.high_tension_v = {{.value = 1000 * options.voltage}};
  description.calibration.camera_length_m = {{.value = camera_length_of(options)}};
  description.calibration.scan_step_row_nm = {{.value = options.scan_step}};
  description.calibration.scan_step_col_nm = {{.value = options.scan_step}};
  description.calibration.detector_pixel_m = {{.value = detector_pixel_m}};
  description.description = fmt::format("simulated by sonde {}", build_info().version);
  description.attributes["sonde_simulation"] = parameters_of(options);
  return description;
}

/// Pixels at a distance of [inner, outer) from the true centre.
Mask annulus(const Optics& optics, double inner, double outer) {
  std::vector<Index> pixels;
  for (Index row = 0; row < optics.rows; ++row) {
    for (Index col = 0; col < optics.cols; ++col) {
      const double distance =
          std::hypot(static_cast<double>(row) - optics.centre_row, static_cast<double>(col) - optics.centre_col);
      if (distance >= inner && distance < outer) pixels.push_back(row * optics.cols + col);
    }
  }
  return make_mask(optics.rows, optics.cols, std::move(pixels));
}

Array line_of(const Array& lines, Index line, const Shape& shape) {
  Array copy(Device::cpu(), shape, DType::f64);
  std::copy_n(static_cast<const double*>(lines.data()) + line * shape.count(), shape.count(),
              static_cast<double*>(copy.data()));
  return copy;
}

void write_phase(Hdf5Writer& file, const SimulateOptions& options, const Model& model) {
  const PhasePatterns patterns = phase_patterns_of(options);
  const Shape scan = {model.scan_rows(), model.scan_cols()};
  Array phase(Device::cpu(), scan, DType::f64), seen(Device::cpu(), scan, DType::f64);
  const auto phases = phase.view<double, 2>(), all_seen = seen.view<double, 2>();
  parallel_for(model.scan_rows(), 1, [&](Index first, Index last, Worker&) {
    for (Index row = first; row < last; ++row)
      for (Index col = 0; col < model.scan_cols(); ++col) {
        phases(row, col) = patterns.phase(row, col);
        all_seen(row, col) = patterns.seen_phase(row, col);
      }
  });
  file.array("/phase", phase);
  file.array("/seen_phase", seen);
}

void write_lattice(Hdf5Writer& file, const SimulateOptions& options, const Model& model) {
  const DiskPatterns patterns = disk_patterns_of(options);
  const auto write = [&](const char* name, const auto& value_at) {
    Array map(Device::cpu(), {model.scan_rows(), model.scan_cols()}, DType::f64);
    const auto values = map.view<double, 2>();
    for (Index row = 0; row < model.scan_rows(); ++row)
      for (Index col = 0; col < model.scan_cols(); ++col) values(row, col) = value_at(row, col);
    file.array(name, map);
  };
  const std::pair<const char*, double LatticeVectors::*> vectors[] = {{"/g1_x", &LatticeVectors::g1_x},
                                                                      {"/g1_y", &LatticeVectors::g1_y},
                                                                      {"/g2_x", &LatticeVectors::g2_x},
                                                                      {"/g2_y", &LatticeVectors::g2_y}};
  for (const auto& [name, member] : vectors)
    write(name, [&, part = member](Index row, Index col) { return patterns.vectors(row, col).*part; });
  const std::pair<const char*, double Deformation::*> strains[] = {{"/e_xx", &Deformation::e_xx},
                                                                   {"/e_yy", &Deformation::e_yy},
                                                                   {"/e_xy", &Deformation::e_xy},
                                                                   {"/theta", &Deformation::theta}};
  for (const auto& [name, member] : strains)
    write(name, [&, part = member](Index row, Index col) { return patterns.deformation(row, col).*part; });
}

void write_grains(Hdf5Writer& file, const SimulateOptions& options, const Model& model) {
  const GrainPatterns patterns = grain_patterns_of(options);
  Array grain(Device::cpu(), {model.scan_rows(), model.scan_cols()}, DType::u32);
  Array phase(Device::cpu(), {model.scan_rows(), model.scan_cols()}, DType::u8);
  Array orientation(Device::cpu(), {patterns.grains(), 3, 3}, DType::f64);
  const auto grains = grain.view<std::uint32_t, 2>();
  const auto phases = phase.view<std::uint8_t, 2>();
  const auto matrices = orientation.view<double, 3>();
  for (Index row = 0; row < model.scan_rows(); ++row)
    for (Index col = 0; col < model.scan_cols(); ++col) {
      const Index here = patterns.grain_at(row, col);
      grains(row, col) = static_cast<std::uint32_t>(here);
      phases(row, col) = static_cast<std::uint8_t>(patterns.phase(here));
    }
  for (Index i = 0; i < patterns.grains(); ++i)
    for (Index row = 0; row < 3; ++row)
      for (Index col = 0; col < 3; ++col)
        matrices(i, row, col) = patterns.orientation(i)[static_cast<std::size_t>(row)][static_cast<std::size_t>(col)];
  file.array("/grain", grain);
  file.array("/phase", phase);
  file.array("/orientation", orientation);
  file.value("/q_pixel", patterns.q_pixel());
}

void write_electrons(Hdf5Writer& file, const SimulateOptions& options, const Model& model) {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<float> y, x, deposit;
  for (Index frame = 0; frame < model.positions(); ++frame) {
    for (const FallenElectron& electron : simulated_electrons(model, static_cast<std::uint64_t>(options.seed), frame)) {
      y.push_back(electron.y);
      x.push_back(electron.x);
      deposit.push_back(electron.deposit);
    }
    offsets.push_back(y.size());
  }
  file.array("/events/offsets", Array::from(offsets, {model.positions() + 1}));
  for (const auto& [name, values] :
       {std::pair("/events/y", &y), std::pair("/events/x", &x), std::pair("/events/deposit", &deposit)})
    file.array(name, Array::from(*values, {static_cast<Index>(values->size())}));
  const Shape detector = {model.optics().rows, model.optics().cols};
  file.array("/dark", Array::from(model.integrating()->dark(), detector));
  file.array("/gain", Array::from(model.integrating()->gain(), detector));
}

void write_truth(Hdf5Writer& file, const SimulateOptions& options, const Model& model) {
  const Optics& optics = model.optics();
  const double radius = optics.disk_radius;
  const std::pair<const char*, Mask> detectors[] = {{"bf", annulus(optics, 0, radius)},
                                                    {"abf", annulus(optics, radius / 2, radius)},
                                                    {"adf", annulus(optics, radius, 2 * radius)},
                                                    {"haadf", annulus(optics, 2 * radius, 4 * radius)}};
  std::vector<Mask> masks;
  for (const auto& [name, mask] : detectors) masks.push_back(mask);
  Expectation expected = expect(model, masks);

  const Shape scan = {model.scan_rows(), model.scan_cols()};
  file.attribute("/", "schema", truth_schema);
  file.value("/parameters", parameters_of(options));
  file.value("/dose", optics.dose);
  for (std::size_t i = 0; i < masks.size(); ++i)
    file.array(fmt::format("/images/{}", detectors[i].first), line_of(expected.images, static_cast<Index>(i), scan));
  file.array("/total", std::move(expected.total).reshaped(scan));
  file.array("/moment_row", std::move(expected.moment_row).reshaped(scan));
  file.array("/moment_col", std::move(expected.moment_col).reshaped(scan));
  file.array("/pattern", expected.pattern);
  Array beam(Device::cpu(), {model.scan_rows(), model.scan_cols(), 2}, DType::f64);
  for (Index position = 0; position < model.positions(); ++position) {
    const Beam here = model.beam(position);
    auto* at = static_cast<double*>(beam.data()) + 2 * position;
    at[0] = optics.centre_row + here.shift_row;
    at[1] = optics.centre_col + here.shift_col;
  }
  file.array("/beam", beam);
  if (options.sample == Sample::phase) write_phase(file, options, model);
  if (options.sample == Sample::disks) write_lattice(file, options, model);
  if (options.sample == Sample::crystal) write_grains(file, options, model);
  if (options.sample == Sample::counting) write_electrons(file, options, model);
  file.array("/good", Array::from(model.good(), {optics.rows, optics.cols}));
}

/// Sum over a batch of frames of what good pixels counted.
double sum_of(const Array& frames, const std::vector<std::uint8_t>& good) {
  std::uint64_t sum = 0;
  visit_counts<3>(frames, [&](auto counts) {
    const auto pixels = static_cast<Index>(good.size());
    for (Index frame = 0; frame < counts.extent[0]; ++frame) {
      const auto* count = counts.data + frame * pixels;
      for (Index i = 0; i < pixels; ++i) sum += good[static_cast<std::size_t>(i)] != 0 ? count[i] : 0;
    }
  });
  return static_cast<double>(sum);
}

}  // namespace

std::string parameters_of(SimulateOptions options) { return to_json(Fields(options).echo()); }

std::string truth_path(const std::string& master) {
  if (!master.ends_with(master_ending))
    throw Error(ErrorKind::usage, fmt::format("{}: an ARINA acquisition is named after its master", master))
        .hint("give a name that ends in _master.h5");
  return master.substr(0, master.size() - master_ending.size()) + "_truth.h5";
}

Simulated simulate(const SimulateOptions& options, Budget budget) {
  if (options.sample == Sample::events) return simulate_events(options, std::move(budget));
  const std::string beside = truth_path(options.output);
  const SimulationPlan plan = plan_simulation(options, budget);
  const Reservation reservation = budget.reserve(
      plan.memory.peak_bytes, "simulating " + options.output,
      options.truth
          ? "raise " + setting("memory") + ", or leave out the expected values with " + setting("truth", false)
          : "raise " + setting("memory"));
  const Model model = model_of(options);
  const auto good = model.good();
  ArinaWriter writer(options.output, describe_file(options, model));
  // Opened before any work, so that a folder that cannot be written ends the run at once.
  std::unique_ptr<Hdf5Writer> truth = options.truth ? std::make_unique<Hdf5Writer>(beside, truth_role) : nullptr;

  Simulated result;
  result.frames = model.positions();
  {
    ProgressMeter progress("simulating", model.positions(), "frames");
    for (Index first = 0; first < model.positions(); first += plan.batch.value) {
      const Index count = std::min(plan.batch.value, model.positions() - first);
      const Array frames =
          simulate_frames(model, static_cast<std::uint64_t>(options.seed), first, count, options.dtype);
      result.counts_per_frame += sum_of(frames, good) / static_cast<double>(model.positions());
      writer.append(frames);
      progress.advance(count);
    }
  }
  if (truth) write_truth(*truth, options, model);
  result.files = writer.finish();
  double stored = 0;
  for (const std::string& file : result.files)
    if (file.find("_data_") != std::string::npos) stored += static_cast<double>(file_bytes(file).value_or(0));
  result.ratio = static_cast<double>(plan.frame_bytes) * static_cast<double>(plan.frames) / stored;
  if (truth && model.integrating() != nullptr) {
    const Shape detector = {model.optics().rows, model.optics().cols};
    const std::string base = options.output.substr(0, options.output.size() - master_ending.size());
    for (const auto& [name, map] :
         {std::pair("_dark.npy", &model.integrating()->dark()), std::pair("_gain.npy", &model.integrating()->gain())}) {
      write_npy(base + name, Array::from(*map, detector));
      result.files.push_back(base + name);
    }
  }
  if (truth) {
    truth->finish();
    result.files.push_back(beside);
  }
  return result;
}

SimulateOptions read_truth(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const std::optional<Hdf5Value> kind = file.attribute("/", "schema");
  if (!kind || kind->text() != truth_schema)
    throw Error(ErrorKind::bad_file, fmt::format("{}: not the truth of a simulated scan", path))
        .hint("`sonde stem simulate X_master.h5` writes X_truth.h5");
  const auto parameters = file.value("/parameters");
  if (!parameters || !parameters->text())
    throw Error(ErrorKind::bad_file, fmt::format("{}: the parameters of the simulation are missing", path));
  return options_from<SimulateOptions>(parse_json(*parameters->text(), path), path);
}

}  // namespace sonde::stem
