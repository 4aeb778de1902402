// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/options/changeable.h"
#include "sonde/engine/options/toml.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/instruments/ptycho/optics/propagate.h"
#include "sonde/instruments/ptycho/quality/acquisition.h"
#include "sonde/instruments/ptycho/reconstruct/holdout.h"
#include "sonde/instruments/ptycho/reconstruct/parts.h"
#include "sonde/instruments/ptycho/results/level_phase.h"
#include "sonde/instruments/ptycho/results/provenance.h"
#include "sonde/instruments/ptycho/run/low_resolution.h"

namespace sonde::ptycho {
namespace {

DType complex_type(const RunSizes& sizes) { return sizes.real_bytes == 8 ? DType::c128 : DType::c64; }

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
  return slice_propagators(sampling, run.object.slice_distances(),
                           {.tilt_row = run.object.tilt_row_mrad.value_or(0) / 1000,
                            .tilt_col = run.object.tilt_col_mrad.value_or(0) / 1000,
                            .band_limit = run.compute.band_limit});
}

/// What a data file says of [geometry] and nobody replaces.
Value geometry_of_file(const Source& source, const GeometrySettings& set) {
  Value known = Value::object();
  if (set.units == Units::pixel) return known;
  const auto take = [&](const char* key, const std::optional<double>& mine, const std::optional<double>& file) {
    if (!mine && file) known[key] = *file;
  };
  take("energy_keV", set.energy_kev, source.energy_kev);
  take("semiangle_mrad", set.semiangle_mrad, source.semiangle_mrad);
  if (!set.detector_mrad_per_px && !set.detector_inv_a_per_px) {
    take("detector_mrad_per_px", std::nullopt, source.mrad_per_px);
    take("detector_inv_A_per_px", std::nullopt, source.inv_a_per_px);
  }
  take("detector_pixel_m", set.detector_pixel_m, source.detector_pixel_m);
  take("distance_m", set.distance_m, source.distance_m);
  if (source.positions.empty() && !set.scan_step_px) take("scan_step_A", set.scan_step_a, source.step_a);
  if (!set.probe_type && source.probe_type)
    known["probe_type"] = *source.probe_type == ProbeType::photon ? std::string("photon") : std::string("electron");
  return known;
}

/// Throws Error(bad_input) when a checkpoint is of another measurement than that of `provenance`. Those in memory,
/// and checkpoints of earlier versions, are not known well enough.
void require_same_input(const CheckpointReader& checkpoint, const Value& provenance) {
  if (!checkpoint.has("input")) return;
  const Value before = parse_json(checkpoint.text("input"), checkpoint.path());
  const Value& input = *provenance.find("input");
  constexpr const char* hash = "hash_of_first_and_last_mib";
  if (before.find(hash) == nullptr || input.find(hash) == nullptr || *before.find(hash) == *input.find(hash)) return;
  throw Error(ErrorKind::bad_input, fmt::format("{} is not the measurement that {} was written of ({})",
                                                input_path(provenance), checkpoint.path(), text_at(before, "path")))
      .hint(
          "name the file where it is now as data.file; another measurement wants a run of its own, which "
          "object.file and probe.file may begin where this one is");
}

}  // namespace

Job::Job(const RunFile& run, const Source& source, JobPlan plan, const CheckpointReader* from,
         std::shared_ptr<const Counts> counts)
    : plan_(std::move(plan)), warnings_(plan_.warnings), slice_thickness_a_(run.object.slice_thickness()) {
  const Schedule asked = run.schedule();  // before any work
  provenance_ = provenance(source.file, plan_.kernels ? plan_.kernels->name() : "cpu", asked.seed);
  known_ = geometry_of_file(source, run.geometry);
  if (from != nullptr) require_same_input(*from, provenance_);
  if (plan_.share) require_shareable(asked);
  counts_ = counts ? std::move(counts) : read_counts(run, source, plan_);
  plan_.scan.skip = counts_->skip;
  warnings_.insert(warnings_.end(), counts_->warnings.begin(), counts_->warnings.end());
  notes_ = plan_.scan.notes;
  notes_.insert(notes_.end(), counts_->notes.begin(), counts_->notes.end());

  const bool carried = carries_probe(source, plan_.scan);
  if (!source.probe.empty() && !carried)
    notes_.push_back("the probe of the data file has another size and is not used");
  const Choice<Array> probe =
      start_probe(run.probe, plan_.scan.sampling, plan_.scan.semiangle, counts_->mean.view<double, 2>(),
                  carried ? source.probe.clone() : Array(), counts_->measurement->mean_counts());
  notes_.push_back(
      fmt::format("first probe of {} mode{}: {}", run.probe.modes, run.probe.modes == 1 ? "" : "s", probe.because));
  assessment_ = assess_scan(plan_.scan, plan_.spacing, probe.value);
  notes_.push_back(fmt::format("{}, probe {:.3g} px wide (99 % of its power): {}", step_text(plan_.spacing, plan_.scan),
                               assessment_.diameter, assessment_.text()));
  for (std::string& warning : overlap_warnings(assessment_, plan_.scan, plan_.spacing))
    warnings_.push_back(std::move(warning));
  const std::vector<std::uint8_t>& good = plan_.scan.good;
  const Index measured = good.empty()
                             ? counts_->measurement->pixels()
                             : std::count_if(good.begin(), good.end(), [](std::uint8_t pixel) { return pixel != 0; });
  if (std::string advice =
          dose_advice(counts_->counts_per_unit * counts_->measurement->mean_counts() / static_cast<double>(measured),
                      asked.engines);
      !advice.empty())
    notes_.push_back(std::move(advice));

  first_probe_ = probe.value.clone();
  schedule_ = asked;
  schedule_.skip = plan_.scan.skip;
  schedule_.kernels = plan_.kernels;
  schedule_.patterns = plan_.patterns;
  schedule_.share = plan_.share;
  schedule_.limits = {.wave_tier = plan_.sizes.wave_tier,
                      .wave_encoding = plan_.sizes.wave_encoding,
                      .budgets = plan_.budgets,
                      .groups = plan_.groups};
  for (std::size_t i = 0; i < schedule_.engines.size(); ++i)
    schedule_.engines[i].most_batch = plan_.sizes.engines[i].most_batch;
  auto known = std::make_shared<ConstraintContext>();
  known->sampling = plan_.scan.sampling;
  known->mean_counts = counts_->measurement->mean_counts();
  known->semiangle = plan_.scan.semiangle.value_or(0);
  known->slice_distances = run.object.slice_distances();
  schedule_.known = std::move(known);
  object_seed_ = schedule_.seed;
  goes_on_ = from != nullptr;
  if (from != nullptr) {
    reconstruction_ =
        Reconstruction::resume(*counts_->measurement, propagators_of(run, plan_.scan.sampling), schedule_, *from);
    if (from->has("changes")) changes_ = changes_of(parse_json(from->text("changes"), from->path()));
    notes_.push_back(fmt::format("continues after iteration {} of {}", from->iteration(), from->path()));
  } else {
    First first = first_state(run, schedule_, schedule_.seed);
    if (!first.note.empty()) notes_.push_back(first.note);
    reconstruction_ = prepared(run, std::move(first), schedule_);
  }
  if (!reconstruction_->held_out().empty())
    notes_.push_back(fmt::format("{} of {} frames are held out and only judge (R_free)",
                                 reconstruction_->held_out().size(), plan_.scan.positions.size()));
}

Job::First Job::first_state(const RunFile& run, const Schedule& schedule, std::uint64_t object_seed) const {
  State state;
  state.positions = moved(plan_.scan.positions, plan_.extent.offset);
  state.placements = place_all(state.positions, {plan_.scan.window.rows, plan_.scan.window.cols});
  state.probe = in_precision(first_probe_, complex_type(plan_.sizes));
  start_object(run.object, plan_.extent.rows, plan_.extent.cols, {-plan_.extent.offset.row, -plan_.extent.offset.col},
               complex_type(plan_.sizes), object_seed, state, plan_.direct.get());
  if (plan_.share) cut_state(*plan_.share, state);
  if (run.object.init != ObjectInit::low_resolution) return {std::move(state), ""};
  const Sampling coarse = at_low_resolution(plan_.scan.sampling, run.low_resolution.factor);
  LowResolutionStart found = start_at_low_resolution(*counts_->measurement, std::move(state), coarse,
                                                     propagators_of(run, coarse), schedule, run.low_resolution);
  return {std::move(found.state),
          fmt::format("first object: {} iterations of gd on the middle {} x {} of {} x {} detector pixels, R_I {:.4f} "
                      "there",
                      found.last.number, coarse.rows, coarse.cols, plan_.scan.window.rows, plan_.scan.window.cols,
                      found.last.fit.r_intensity)};
}

std::unique_ptr<Reconstruction> Job::prepared(const RunFile& run, First first, Schedule schedule) const {
  return Reconstruction::prepare(*counts_->measurement, std::move(first.state),
                                 propagators_of(run, plan_.scan.sampling), std::move(schedule));
}

std::unique_ptr<Reconstruction> Job::another(const RunFile& run, Schedule schedule,
                                             std::optional<std::uint64_t> object_seed) const {
  First first = first_state(run, schedule, object_seed.value_or(schedule.seed));
  return prepared(run, std::move(first), std::move(schedule));
}

void Job::change(RunFile& run, const std::string& setting, const Value& value) {
  const Value before = changeable_value(run.tables(), setting);
  set_changeable(run.tables(), setting, value);
  const Value now = changeable_value(run.tables(), setting);
  if (now == before) return;
  try {
    reconstruction_->settings_changed();
  } catch (const Error&) {
    set_changeable(run.tables(), setting, before);
    throw;
  }
  changes_.push_back({static_cast<Index>(reconstruction_->history().size()), setting, before, now});
}

void Job::restart(const RunFile& run) {
  if (goes_on_ && run.multi_start.starts > 1)
    throw Error(ErrorKind::not_supported, "the checkpoint does not tell which of several starts the run had")
        .hint("begin a run of its own");
  const auto after = static_cast<Index>(reconstruction_->history().size());
  reconstruction_.reset();
  reconstruction_ = another(run, schedule_, object_seed_);
  changes_.push_back({.after = after});
}

void Job::save(CheckpointWriter& checkpoint) {
  reconstruction_->save(checkpoint);
  Value input = *provenance_.find("input");
  input["path"] = input_path(provenance_);
  checkpoint.text("input", to_json(input, -1));
  checkpoint.text("changes", to_json(to_value(changes_), -1));
}

// A value is 1/c of a count: sqrt(sum N / sum N^2) of counts is 1/sqrt(c) of that of values.
double Job::floor() const {
  const double c = counts_->counts_per_unit;
  return c > 0 ? r_intensity_floor(reconstruction_->counts()) / std::sqrt(c) : 0;
}

double Job::nmse_floor() const {
  const double c = counts_->counts_per_unit;
  return c > 0 ? ptycho::nmse_floor(reconstruction_->counts()) / c : 0;
}

Acquisition Job::acquisition() const {
  return acquisition_of(reconstruction_->state(), *counts_->measurement, plan_.scan.sampling, counts_->counts_per_unit);
}

std::vector<std::string> Job::warnings_of_fit() const {
  const Outcome& outcome = reconstruction_->outcome();
  if (outcome.kind != Outcome::Kind::finished && outcome.kind != Outcome::Kind::converged) return {};
  const IterationRecord& last = reconstruction_->history().back();
  return fit_warnings({.r_intensity = outcome.r_intensity,
                       .last_r_intensity = last.fit.r_intensity,
                       .r_free = last.positions ? std::nullopt : outcome.r_free,
                       .floor = floor(),
                       .counts_per_unit = counts_->counts_per_unit,
                       .overlap = assessment_.overlap});
}

std::string Job::settings_used(const RunFile& run) const {
  Value told = run.tables().echo();
  for (const auto& [key, value] : known_.members()) told["geometry"][key] = value;
  if (!run.data.holdout) told["data"]["holdout"] = reconstruction_->held_out().empty() ? 0.0 : usual_holdout;
  return to_toml(told);
}

Result Job::result(const RunFile& run) const {
  State whole;
  if (plan_.share) {
    whole = assembled_state(*plan_.share, reconstruction_->state());
    if (plan_.share->ranks().rank() != 0) return {};
  }
  Result result = result_of(plan_.share ? whole : reconstruction_->state(), plan_.scan.sampling, plan_.extent.offset,
                            plan_.scan.positions, reconstruction_->history());
  result.settings = settings_used(run);
  result.slice_thickness_a = slice_thickness_a_;
  result.provenance = provenance_;
  double total = 0;
  for (const IterationRecord& record : reconstruction_->history()) total += record.seconds;
  result.timing["iterations"] = reconstruction_->history().size();
  result.timing["iterate_s"] = total;
  result.timing["threads"] = thread_count();
  if (has_free_ramp(result)) {
    const PhaseRamp ramp =
        run.output.level_phase ? level_phase(result) : phase_ramps(result.object, result.field_of_view())[0];
    Value& told = result.diagnostics["phase_ramp"];
    told["per_row"] = ramp.per_row;
    told["per_col"] = ramp.per_col;
    told["removed"] = run.output.level_phase;
  }
  const Outcome& outcome = reconstruction_->outcome();  // of the estimate, be it an earlier one than the last
  result.diagnostics["outcome"] = name(outcome.kind);
  result.diagnostics["because"] = outcome.because;
  result.diagnostics["best_iteration"] = outcome.best;
  result.diagnostics["R_I"] = outcome.r_intensity;
  result.diagnostics["R_free"] = outcome.r_free ? Value(*outcome.r_free) : Value();
  const auto known_floor = [](double value) { return value > 0 ? Value(value) : Value(); };
  result.diagnostics["R_I_floor"] = known_floor(floor());
  result.diagnostics["NMSE_floor"] = known_floor(nmse_floor());
  result.diagnostics["overlap"] = assessment_.overlap;
  result.diagnostics["acquisition"] = acquisition().to_value();
  if (plan_.scan.semiangle) result.diagnostics["semiangle_mrad"] = 1000 * *plan_.scan.semiangle;
  if (run.geometry.energy_kev && plan_.scan.sampling.calibrated())
    result.diagnostics["energy_keV"] = *run.geometry.energy_kev;
  else if (const Value* energy = known_.find("energy_keV"))
    result.diagnostics["energy_keV"] = *energy;
  std::vector<std::string> warnings = warnings_;
  for (std::string& warning : warnings_of_fit()) warnings.push_back(std::move(warning));
  result.diagnostics["warnings"] = warnings;
  if (!changes_.empty()) result.diagnostics["changes"] = to_value(changes_);
  return result;
}

}  // namespace sonde::ptycho
