// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/optics/propagate.h"
#include "sonde/instruments/ptycho/quality/acquisition.h"
#include "sonde/instruments/ptycho/results/provenance.h"
#include "sonde/instruments/ptycho/scan/groups.h"
#include "sonde/instruments/ptycho/scan/probe_support.h"

namespace sonde::ptycho {
namespace {

constexpr double least_overlap = 0.6;  // below it reconstructions are rarely to be trusted (specification 6.4)

DType complex_type(const RunFile& run) {
  return run.compute.precision == ComputePrecision::f64 ? DType::c128 : DType::c64;
}

/// Double precision asks for amplitudes of it, unless another way of keeping them was chosen.
AmplitudeStorage storage_of(const RunFile& run) {
  if (run.compute.precision == ComputePrecision::f64 && run.data.storage == AmplitudeStorage::f32)
    return AmplitudeStorage::f64;
  return run.data.storage;
}

/// The number of frames that an engine holds at once.
Index batch_of(const Tables::Item& item) {
  const Field* batch = item.fields.find("batch");
  return batch == nullptr ? 1 : batch->value().as_whole();
}

/// complex128 (modes, rows, columns) in the precision of the run.
Array in_precision(const Array& probe, DType dtype) {
  if (dtype == DType::c128) return probe.clone();
  Array made(Device::cpu(), probe.shape(), DType::c64);
  const auto* from = static_cast<const complex128*>(probe.data());
  std::transform(from, from + probe.count(), static_cast<complex64*>(made.data()),
                 [](complex128 value) { return complex64(value); });
  return made;
}

Array propagators_of(const RunFile& run, const Sampling& sampling) {
  if (run.object.slices == 1) return {};
  require_calibrated(sampling, "an object of several slices");
  const Array one = propagator(sampling, {.distance = run.object.slice_thickness_a,
                                          .tilt_row = run.object.tilt_row_mrad.value_or(0) / 1000,
                                          .tilt_col = run.object.tilt_col_mrad.value_or(0) / 1000,
                                          .band_limit = run.compute.band_limit});
  Array all(Device::cpu(), Shape{run.object.slices - 1, sampling.rows, sampling.cols}, DType::c128);
  for (Index s = 0; s + 1 < run.object.slices; ++s)
    std::copy_n(static_cast<const complex128*>(one.data()), one.count(),
                static_cast<complex128*>(all.data()) + s * one.count());
  return all;
}

}  // namespace

JobPlan plan_job(const RunFile& run, const Source& source) {
  JobPlan plan;
  plan.scan = plan_scan(source, run.data, run.geometry, run.positions);
  plan.warnings = source.warnings;
  const Window window{plan.scan.window.rows, plan.scan.window.cols};
  const bool moves = run.correction.method != PositionMethod::none;
  const double margin = moves ? run.correction.max_move : 0;
  plan.extent = object_extent(plan.scan.positions, window, static_cast<Index>(std::ceil(margin)));
  plan.step = typical_step(plan.scan.positions);
  const std::optional<double> mrad = run.geometry.semiangle_mrad ? run.geometry.semiangle_mrad : source.semiangle_mrad;
  if (mrad) plan.semiangle = *mrad / 1000;

  RunSizes& sizes = plan.sizes;
  sizes.frames = source.shape[0];
  sizes.rows = window.rows;
  sizes.cols = window.cols;
  sizes.count_bytes = size_bytes(source.dtype);
  sizes.stored_pattern_bytes = static_cast<std::size_t>(source.shape.count()) * sizes.count_bytes;
  sizes.refitted = !(plan.scan.stored.rows == window.rows && plan.scan.stored.cols == window.cols);
  sizes.storage = storage_of(run);
  sizes.masked = std::find(plan.scan.good.begin(), plan.scan.good.end(), 0) != plan.scan.good.end();
  sizes.modes = run.probe.modes;
  sizes.components = run.opr.modes;
  sizes.slices = run.object.slices;
  sizes.object_rows = plan.extent.rows;
  sizes.object_cols = plan.extent.cols;
  sizes.potential = run.object.type == ObjectType::potential;
  sizes.fractional =
      moves || std::any_of(plan.scan.positions.begin(), plan.scan.positions.end(), [](const Point& point) {
        return point.row != std::floor(point.row) || point.col != std::floor(point.col);
      });
  sizes.real_bytes = complex_type(run) == DType::c128 ? 8 : 4;
  sizes.threads = thread_count();
  sizes.starts = run.multi_start.starts;
  for (const Tables::Item& item : run.tables().find("engine")->items)
    sizes.engines.push_back({item.kind, batch_of(item)});
  plan.memory = plan_memory(sizes);
  return plan;
}

ScanJudgement judge_scan(const JobPlan& plan, const Array& probe) {
  const Window window{probe.shape()[1], probe.shape()[2]};
  ScanJudgement judgement;
  judgement.diameter = probe_diameter(probe, pixel_sampling(window.rows, window.cols));
  judgement.overlap = linear_overlap(plan.step, judgement.diameter);
  std::vector<Index> all(plan.scan.positions.size());
  std::iota(all.begin(), all.end(), Index{0});
  judgement.groups = DisjointGroups(all, place_all(plan.scan.positions, window), probe_support(probe)).groups().count();
  return judgement;
}

std::optional<Array> probe_without_counts(const RunFile& run, const Source& source, const JobPlan& plan) {
  if (run.probe.init == ProbeInit::mean_bf) return std::nullopt;
  const Array dark = Array::zeros(Device::cpu(), Shape{plan.sizes.rows, plan.sizes.cols}, DType::f64);
  const Array own = plan.sizes.refitted || source.probe.empty() ? Array() : source.probe.clone();
  // A mean pattern without light has no disk: that is what only the counts can tell.
  if (run.probe.init == ProbeInit::automatic && run.probe.file.empty() && own.empty() && !run.probe.fwhm &&
      !(plan.scan.sampling.calibrated() && plan.semiangle))
    return std::nullopt;
  return start_probe(run.probe, plan.scan.sampling, plan.semiangle, dark.view<double, 2>(), own, 1).value;
}

Job::Job(const RunFile& run, const Source& source, JobPlan plan, const CheckpointReader* from, const Job* sibling)
    : plan_(std::move(plan)), warnings_(plan_.warnings), slice_thickness_a_(run.object.slice_thickness_a) {
  const Schedule asked = run.schedule();  // before any work
  provenance_ = provenance(source.file, plan_.kernels ? plan_.kernels->name() : "cpu", asked.seed);
  if (sibling != nullptr) {
    measurement_ = sibling->measurement_;
    mean_ = sibling->mean_.clone();
    plan_.scan.skip = sibling->plan_.scan.skip;
  } else {
    LoadedCounts counts = load_counts(source, plan_.scan, run.data, plan_.sizes.storage);
    measurement_ = std::make_shared<Measurement>(std::move(counts.measurement));
    mean_ = std::move(counts.mean);
    warnings_.insert(warnings_.end(), counts.warnings.begin(), counts.warnings.end());
  }
  notes_ = plan_.scan.notes;

  const bool refitted = plan_.sizes.refitted;
  if (refitted && !source.probe.empty())
    notes_.push_back("the probe of the data file has another size and is not used");
  const Choice<Array> probe =
      start_probe(run.probe, plan_.scan.sampling, plan_.semiangle, std::as_const(mean_).view<double, 2>(),
                  refitted               ? Array()
                  : source.probe.empty() ? Array()
                                         : source.probe.clone(),
                  measurement_->mean_counts());
  notes_.push_back(
      fmt::format("first probe of {} mode{}: {}", run.probe.modes, run.probe.modes == 1 ? "" : "s", probe.because));
  judgement_ = judge_scan(plan_, probe.value);
  notes_.push_back(
      fmt::format("step {:.3g} px, probe {:.3g} px wide (99 % of its power): neighbours overlap by {:.0f} %",
                  plan_.step, judgement_.diameter, 100 * judgement_.overlap));
  if (plan_.scan.positions.size() > 1 && judgement_.overlap < least_overlap)
    warnings_.push_back(
        fmt::format("neighbouring probes overlap by {:.0f} %, below {:.0f} %: results are rarely to be "
                    "trusted. Scan more finely, or defocus the probe",
                    100 * judgement_.overlap, 100 * least_overlap));

  first_probe_ = probe.value.clone();
  schedule_ = asked;
  schedule_.skip = plan_.scan.skip;
  schedule_.kernels = plan_.kernels;
  schedule_.patterns = plan_.patterns;
  auto known = std::make_shared<ConstraintContext>();
  known->sampling = plan_.scan.sampling;
  known->mean_counts = measurement_->mean_counts();
  known->semiangle = plan_.semiangle.value_or(0);
  known->slice_thickness = run.object.slice_thickness_a;
  schedule_.known = std::move(known);
  if (from != nullptr) {
    reconstruction_ = Reconstruction::resume(*measurement_, propagators_of(run, plan_.scan.sampling), schedule_, *from);
    notes_.push_back(fmt::format("goes on after iteration {} of {}", from->iteration(), from->path()));
  } else {
    reconstruction_ = another(run, schedule_);
  }
  if (!reconstruction_->held_out().empty())
    notes_.push_back(fmt::format("{} of {} frames are held out and only judge (R_free)",
                                 reconstruction_->held_out().size(), measurement_->count()));
}

State Job::first_state(const RunFile& run, std::uint64_t seed) const {
  State state;
  state.positions = moved(plan_.scan.positions, plan_.extent.offset);
  state.placements = place_all(state.positions, {plan_.scan.window.rows, plan_.scan.window.cols});
  state.probe = in_precision(first_probe_, complex_type(run));
  start_object(run.object, plan_.extent.rows, plan_.extent.cols, {-plan_.extent.offset.row, -plan_.extent.offset.col},
               complex_type(run), seed, state);
  return state;
}

std::unique_ptr<Reconstruction> Job::another(const RunFile& run, Schedule schedule,
                                             std::optional<std::uint64_t> object_seed) const {
  State state = first_state(run, object_seed.value_or(schedule.seed));
  return Reconstruction::prepare(*measurement_, std::move(state), propagators_of(run, plan_.scan.sampling),
                                 std::move(schedule));
}

double Job::floor() const { return r_intensity_floor(reconstruction_->counts()); }

Result Job::result(const RunFile& run) const {
  Result result = result_of(reconstruction_->state(), plan_.scan.sampling, plan_.extent.offset, plan_.scan.positions,
                            reconstruction_->history());
  result.settings = run.text();
  result.slice_thickness_a = slice_thickness_a_;
  result.provenance = provenance_;
  double total = 0;
  for (const IterationRecord& record : reconstruction_->history()) total += record.seconds;
  result.timing["iterations"] = reconstruction_->history().size();
  result.timing["iterate_s"] = total;
  result.timing["threads"] = thread_count();
  result.diagnostics["R_I_floor"] = floor();
  result.diagnostics["overlap"] = judgement_.overlap;
  result.diagnostics["acquisition"] =
      acquisition_of(reconstruction_->state(), *measurement_, plan_.scan.sampling).to_value();
  if (plan_.semiangle) result.diagnostics["semiangle_mrad"] = 1000 * *plan_.semiangle;
  result.diagnostics["warnings"] = warnings_;
  return result;
}

double transforms_per_iteration(const RunSizes& sizes) {
  const auto slices = static_cast<double>(sizes.slices), modes = static_cast<double>(sizes.modes);
  return static_cast<double>(sizes.frames) * modes * (2 * (2 * slices - 1) + (sizes.fractional ? 2 : 0));
}

double predicted_seconds(const RunSizes& sizes) {
  const auto fft = Fft2d<float>::prepare({.rows = sizes.rows, .cols = sizes.cols});
  std::vector<std::complex<float>> wave(static_cast<std::size_t>(sizes.rows * sizes.cols));
  fft.transform(wave.data(), FftDirection::forward);  // the first one pays for the memory
  constexpr int repeats = 8;
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const Stopwatch watch;
    fft.transform(wave.data(), FftDirection::forward);
    best = std::min(best, watch.seconds());
  }
  // Everything beside the transforms takes about as long as they do.
  return 2 * best * transforms_per_iteration(sizes) * (sizes.real_bytes == 8 ? 2 : 1);
}

}  // namespace sonde::ptycho
