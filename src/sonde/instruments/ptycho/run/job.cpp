// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"
#include "sonde/engine/options/toml.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/ptycho/model/batch_pass.h"
#include "sonde/instruments/ptycho/optics/propagate.h"
#include "sonde/instruments/ptycho/quality/acquisition.h"
#include "sonde/instruments/ptycho/read/frames.h"
#include "sonde/instruments/ptycho/reconstruct/holdout.h"
#include "sonde/instruments/ptycho/reconstruct/parts.h"
#include "sonde/instruments/ptycho/results/level_phase.h"
#include "sonde/instruments/ptycho/results/provenance.h"
#include "sonde/instruments/ptycho/run/changeable.h"
#include "sonde/instruments/ptycho/run/low_resolution.h"
#include "sonde/instruments/ptycho/run/side_by_side.h"
#include "sonde/instruments/ptycho/scan/groups.h"
#include "sonde/instruments/ptycho/scan/probe_support.h"

namespace sonde::ptycho {
namespace {

DType complex_type(const RunFile& run) {
  return run.compute.precision == ComputePrecision::f64 ? DType::c128 : DType::c64;
}

/// Whether the data file has a probe of the size that patterns are fitted to.
bool carries_probe(const Source& source, const Scan& scan) {
  return !source.probe.empty() && scan.stored.rows == scan.window.rows && scan.stored.cols == scan.window.cols;
}

Choice<ProbeInit> probe_init(const RunFile& run, const Source& source, const Scan& scan) {
  return choose_probe_init(run.probe, scan.sampling.calibrated() && scan.semiangle.has_value(),
                           carries_probe(source, scan));
}

/// A block of patterns as read, as counts when that is another type, and fitted to the window, beside what the reader
/// holds.
std::size_t block_bytes(const Source& source, const RunSizes& sizes) {
  const std::size_t stored = source.in_memory ? 0 : size_bytes(source.dtype);
  const std::size_t counted = size_bytes(counted_as(source.dtype));
  const auto pixels = static_cast<std::size_t>(source.shape[1] * source.shape[2]);
  const std::size_t converted = counted_as(source.dtype) == source.dtype ? 0 : counted;
  const std::size_t fitted = sizes.refitted ? static_cast<std::size_t>(sizes.rows * sizes.cols) * counted : 0;
  return static_cast<std::size_t>(block_frames(source)) * (pixels * (stored + converted) + fitted) +
         source.reading_bytes;
}

/// The frames of this process that are worked on, by their own numbers: not those that only judge.
std::vector<Index> active_frames(const RunFile& run, const JobPlan& plan) {
  std::vector<Index> active = hold_out(static_cast<Index>(plan.scan.positions.size()), plan.scan.skip, run.data.holdout,
                                       static_cast<std::uint64_t>(run.compute.seed))
                                  .value.active;
  return plan.share ? plan.share->own(active) : active;
}

/// What the settings of an engine and the lie of the frames it works on say of its memory.
EngineSize size_of(const EngineRun& run, const Fields& settings, const std::vector<Index>& active,
                   std::span<const Placement> placements, Window window) {
  EngineSize size{.name = run.name, .setup = run.setup};
  if (const Field* batch = settings.find("batch")) size.batch_chosen = batch->origin != Origin::built_in;
  if (active.empty()) return size;
  const Passes passes = run.setup->passes();
  std::vector<Batches> summed;
  if (passes.together == Together::batch)
    summed.push_back(overlapping_batches(active, placements, passes.batch.size, passes.batch.spread, {1, 1}));
  if (passes.sums_of_scan) summed.push_back({active, {0, static_cast<Index>(active.size())}});
  std::vector<Index> tiles;  // the largest of every band
  for (const Batches& batches : summed)
    for (Index b = 0; b < batches.count(); ++b) {
      const Bands bands = make_bands(batches[b], placements, window, batch_bands);
      tiles.resize(std::max(tiles.size(), bands.bands.size()));
      for (std::size_t i = 0; i < bands.bands.size(); ++i)
        tiles[i] = std::max(tiles[i], bands.bands[i].box.rows * bands.bands[i].box.cols);
    }
  size.tiles = static_cast<Index>(tiles.size());
  size.tile_pixels = std::accumulate(tiles.begin(), tiles.end(), Index{0});
  return size;
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

/// Throws Error(bad_input) when a checkpoint is of another measurement than `input` of a provenance. Those in memory,
/// and checkpoints of earlier versions, are not known well enough.
void require_same_input(const CheckpointReader& checkpoint, const Value& input) {
  if (!checkpoint.has("input")) return;
  const Value before = parse_json(checkpoint.text("input"), checkpoint.path());
  constexpr const char* hash = "hash_of_first_and_last_mib";
  if (before.find(hash) == nullptr || input.find(hash) == nullptr || *before.find(hash) == *input.find(hash)) return;
  throw Error(ErrorKind::bad_input,
              fmt::format("{} is not the measurement that {} was written of ({})", input.find("path")->as_text(),
                          checkpoint.path(), before.find("path")->as_text()))
      .hint(
          "name the file where it lies now as data.file; another measurement wants a run of its own, which "
          "object.file and probe.file may begin where this one stands");
}

/// What the processes have read becomes known to all: frames to skip, mean counts, the mean pattern.
void join_counts(const Share& share, Scan& scan, LoadedCounts& counts) {
  std::vector<std::int64_t> skipped(scan.positions.size(), 0);
  for (const Index frame : scan.skip) skipped[static_cast<std::size_t>(frame)] = 1;
  share.ranks().all_reduce(std::span<std::int64_t>(skipped));
  const std::vector<Index> before = scan.skip;
  scan.skip.clear();
  for (std::size_t j = 0; j < skipped.size(); ++j)
    if (skipped[j] > 0) scan.skip.push_back(static_cast<Index>(j));

  double sums[3] = {0, 0, 0};  // counts, frames with counts, frames that take part
  for (std::size_t i = 0; i < share.frames().size(); ++i) {
    const CountSums& frame = counts.measurement.sums()[i];
    sums[0] += frame.counts;
    sums[1] += frame.counts > 0 ? 1 : 0;
    sums[2] += std::binary_search(before.begin(), before.end(), share.frames()[i]) ? 0 : 1;
  }
  auto* mean = static_cast<double*>(counts.mean.data());
  for (Index p = 0; p < counts.mean.count(); ++p) mean[p] = sums[2] > 0 ? mean[p] * sums[2] : 0;
  share.sum(sums);
  share.sum({mean, static_cast<std::size_t>(counts.mean.count())});
  for (Index p = 0; p < counts.mean.count(); ++p) mean[p] /= sums[2];
  counts.measurement.take_mean(sums[0] / sums[1]);
}

/// The reconstruction on the middle of the patterns that comes before the one of `whole`.
RunSizes low_resolution_sizes(const RunSizes& whole, const JobPlan& plan, const Window& window, Index factor,
                              const std::vector<Index>& active) {
  const Sampling coarse = at_low_resolution(plan.scan.sampling, factor);
  const CoarseAxis down(window.rows, coarse.rows, plan.extent.rows), across(window.cols, coarse.cols, plan.extent.cols);
  std::vector<Point> positions = moved(plan.scan.positions, plan.extent.offset);
  for (Point& at : positions) at = {down.place(at.row), across.place(at.col)};
  RunSizes sizes;
  sizes.frames = whole.frames;
  sizes.rows = coarse.rows;
  sizes.cols = coarse.cols;
  sizes.storage = whole.real_bytes == 8 ? AmplitudeStorage::f64 : AmplitudeStorage::f32;
  sizes.masked = whole.masked;
  sizes.modes = whole.modes;
  sizes.slices = whole.slices;
  sizes.object_rows = down.coarse();
  sizes.object_cols = across.coarse();
  sizes.potential = whole.potential;
  sizes.fractional = true;
  sizes.real_bytes = whole.real_bytes;
  sizes.threads = whole.threads;
  const Window coarse_window{coarse.rows, coarse.cols};
  const EngineRun gd{.name = "gd", .setup = engine_kind("gd").setup()};
  sizes.engines.push_back(size_of(gd, {}, active, place_all(positions, coarse_window), coarse_window));
  return sizes;
}

/// Starts work side by side on the CPU; exit waves on the disk share one disk.
Choice<Index> choose_starts_at_once(const RunFile& run, const RunSizes& sizes, const Resources& resources) {
  if (resources.kernels) return {1, "the kernels of a GPU work on one at a time"};
  if (sizes.wave_tier == Tier::disk) return {1, "exit waves are on the disk"};
  const std::size_t host =
      resources.budgets ? resources.budgets->host.available_bytes() : std::numeric_limits<std::size_t>::max();
  return choose_at_once(sizes.starts, sizes.threads, run.multi_start.at_once, host, [&](Index at_once) {
    RunSizes several = sizes;
    several.starts_at_once = at_once;
    return plan_memory(several).needed_bytes();
  });
}

/// Batches are those of all processes: the largest that each of them can hold.
void agree_on_batches(const Share& share, RunSizes& sizes) {
  const auto frames = static_cast<Index>(share.placements().size());
  for (EngineSize& engine : sizes.engines) {
    double least = -static_cast<double>(std::min(engine.most_batch, frames));
    share.largest({&least, 1});
    engine.most_batch = static_cast<Index>(-least);
  }
}

}  // namespace

std::vector<std::string> scan_warnings(const RunFile& run, const Source& source, const Scan& scan,
                                       const Spacing& spacing, const ObjectExtent& extent) {
  std::vector<std::string> warnings = scan.warnings;
  for (std::string& warning : unused_probe_settings(run.probe, probe_init(run, source, scan)))
    warnings.push_back(std::move(warning));
  for (std::string& warning : position_warnings(scan, spacing, extent)) warnings.push_back(std::move(warning));
  return warnings;
}

JobPlan plan_job(const RunFile& run, const Source& source, const Resources& resources) {
  JobPlan plan;
  plan.scan = plan_scan(source, run.data, run.geometry, run.positions);
  const Schedule schedule = run.schedule();
  for (const EngineRun& engine : schedule.engines)
    require_knows(engine.name, *engine.setup, run.object.type, run.object.slices);
  require_object_pixels(run.object, plan.scan.sampling);
  (void)run.object.slice_distances();  // known to be right before any work
  const Window window{plan.scan.window.rows, plan.scan.window.cols};
  const bool moves = run.correction.method != PositionMethod::none;
  const double margin = moves ? run.correction.max_move : 0;
  plan.extent = object_extent(plan.scan.positions, window, static_cast<Index>(std::ceil(margin)));
  plan.spacing = spacing_of_active(plan.scan);
  plan.warnings = scan_warnings(run, source, plan.scan, plan.spacing, plan.extent);
  std::vector<Placement> placements = place_all(moved(plan.scan.positions, plan.extent.offset), window);
  Box part{0, 0, plan.extent.rows, plan.extent.cols};
  if (resources.ranks.size() > 1) {
    if (run.object.init == ObjectInit::low_resolution)
      throw Error(ErrorKind::not_supported, "several processes do not begin at low resolution")
          .hint("object.init = \"ones\", or start one process");
    plan.share = std::make_shared<Share>(resources.ranks, placements, window, plan.extent.rows, plan.extent.cols);
    part = plan.share->box();
    std::vector<Placement> own;
    for (const Index frame : plan.share->frames()) own.push_back(placements[static_cast<std::size_t>(frame)]);
    placements = std::move(own);
  }

  RunSizes sizes;
  sizes.processes = resources.ranks.size();
  sizes.whole_pixels = plan.extent.rows * plan.extent.cols;
  sizes.frames = static_cast<Index>(placements.size());
  sizes.rows = window.rows;
  sizes.cols = window.cols;
  const DType counted = counted_as(source.dtype);
  sizes.count_bytes = size_bytes(counted);
  sizes.counts_are_whole = counted == DType::u8 || counted == DType::u16;
  sizes.refitted = !(plan.scan.stored.rows == window.rows && plan.scan.stored.cols == window.cols);
  sizes.block_bytes = block_bytes(source, sizes);
  sizes.masked = source.find_good || std::find(plan.scan.good.begin(), plan.scan.good.end(), 0) != plan.scan.good.end();
  sizes.modes = run.probe.modes;
  sizes.components = run.opr.modes;
  sizes.slices = run.object.slices;
  sizes.object_rows = part.rows;
  sizes.object_cols = part.cols;
  sizes.potential = run.object.type == ObjectType::potential;
  sizes.moves = moves;
  sizes.fractional =
      moves || std::any_of(plan.scan.positions.begin(), plan.scan.positions.end(), [](const Point& point) {
        return point.row != std::floor(point.row) || point.col != std::floor(point.col);
      });
  sizes.real_bytes = complex_type(run) == DType::c128 ? 8 : 4;
  if (run.compute.waves == Encoding::bf16 && sizes.real_bytes == 8)
    throw Error(ErrorKind::bad_input, "exit waves of double precision are not rounded to bf16")
        .hint("compute.waves = \"full\"");
  sizes.threads = thread_count();
  sizes.starts = run.multi_start.starts;
  const std::vector<Index> active = active_frames(run, plan);
  const std::vector<Tables::Item>& settings = run.tables().find("engine")->items;
  for (std::size_t i = 0; i < schedule.engines.size(); ++i)
    sizes.engines.push_back(size_of(schedule.engines[i], settings[i].fields, active, placements, window));
  if (run.object.init == ObjectInit::low_resolution)
    sizes.before.push_back(low_resolution_sizes(sizes, plan, window, run.low_resolution.factor, active));

  if (resources.kernels && run.compute.wave_tier &&
      std::any_of(sizes.engines.begin(), sizes.engines.end(),
                  [](const EngineSize& engine) { return engine.setup->traits().keeps_waves; }))
    throw Error(ErrorKind::not_supported, "exit waves stay on the GPU: compute.wave_tier is for the CPU alone")
        .hint("leave compute.wave_tier out, or use --device cpu");
  StorageWishes wishes{.storage = run.data.storage,
                       .pattern_tier = run.data.tier,
                       .wave_tier = resources.kernels ? Tier::device : run.compute.wave_tier,
                       .wave_encoding = run.compute.waves};
  // Double precision asks for amplitudes of it, unless another way of keeping them was chosen.
  if (sizes.real_bytes == 8 && wishes.storage == AmplitudeStorage::f32) wishes.storage = AmplitudeStorage::f64;
  const std::size_t any = std::numeric_limits<std::size_t>::max();
  Choice<RunSizes> chosen =
      choose_storage(std::move(sizes), wishes, resources.budgets ? resources.budgets->host.available_bytes() : any,
                     resources.budgets ? resources.budgets->disk.available_bytes() : 0);
  plan.sizes = std::move(chosen.value);
  plan.storage_because = std::move(chosen.because);
  if (plan.sizes.starts > 1) {
    plan.starts_at_once = choose_starts_at_once(run, plan.sizes, resources);
    plan.sizes.starts_at_once = plan.starts_at_once->value;
  }
  if (plan.share) agree_on_batches(*plan.share, plan.sizes);
  plan.memory = plan_memory(plan.sizes);
  // What lies in memory is planned as a whole; what lies on the disk is set aside by whoever puts it there.
  plan.budgets = TierBudgets::unlimited();
  if (resources.budgets) {
    plan.budgets.disk = resources.budgets->disk;
    plan.budgets.folder = resources.budgets->folder;
  }
  return plan;
}

std::optional<Array> probe_without_counts(const RunFile& run, const Source& source, const JobPlan& plan) {
  if (probe_init(run, source, plan.scan).value == ProbeInit::mean_bf) return std::nullopt;
  const Array dark = Array::zeros(Device::cpu(), Shape{plan.sizes.rows, plan.sizes.cols}, DType::f64);
  const Array own = carries_probe(source, plan.scan) ? source.probe.clone() : Array();
  return start_probe(run.probe, plan.scan.sampling, plan.scan.semiangle, dark.view<double, 2>(), own, 1).value;
}

std::shared_ptr<const Counts> read_counts(const RunFile& run, const Source& source, const JobPlan& plan) {
  Scan scan = plan.scan;
  LoadedCounts loaded = load_counts(
      source, scan, run.data, {.storage = plan.sizes.storage, .tier = plan.sizes.pattern_tier, .budgets = plan.budgets},
      plan.share ? plan.share->frames() : std::vector<Index>{});
  if (plan.share) join_counts(*plan.share, scan, loaded);
  auto counts = std::make_shared<Counts>();
  counts->measurement = std::make_shared<const Measurement>(std::move(loaded.measurement));
  counts->mean = std::move(loaded.mean);
  counts->skip = std::move(scan.skip);
  counts->notes.assign(scan.notes.begin() + static_cast<std::ptrdiff_t>(plan.scan.notes.size()), scan.notes.end());
  counts->warnings = std::move(loaded.warnings);
  return counts;
}

Job::Job(const RunFile& run, const Source& source, JobPlan plan, const CheckpointReader* from,
         std::shared_ptr<const Counts> counts)
    : plan_(std::move(plan)), warnings_(plan_.warnings), slice_thickness_a_(run.object.slice_thickness()) {
  const Schedule asked = run.schedule();  // before any work
  provenance_ = provenance(source.file, plan_.kernels ? plan_.kernels->name() : "cpu", asked.seed);
  known_ = geometry_of_file(source, run.geometry);
  if (from != nullptr) require_same_input(*from, *provenance_.find("input"));
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
  judgement_ = judge_scan(plan_.scan, plan_.spacing, probe.value);
  notes_.push_back(fmt::format("{}, probe {:.3g} px wide (99 % of its power): {}", step_text(plan_.spacing, plan_.scan),
                               judgement_.diameter, judgement_.text()));
  for (std::string& warning : overlap_warnings(judgement_, plan_.scan, plan_.spacing))
    warnings_.push_back(std::move(warning));
  const std::vector<std::uint8_t>& good = plan_.scan.good;
  const Index measured = good.empty()
                             ? counts_->measurement->pixels()
                             : std::count_if(good.begin(), good.end(), [](std::uint8_t pixel) { return pixel != 0; });
  if (std::string advice =
          dose_advice(counts_->measurement->mean_counts() / static_cast<double>(measured), asked.engines);
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
    notes_.push_back(fmt::format("goes on after iteration {} of {}", from->iteration(), from->path()));
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
  state.probe = in_precision(first_probe_, complex_type(run));
  start_object(run.object, plan_.extent.rows, plan_.extent.cols, {-plan_.extent.offset.row, -plan_.extent.offset.col},
               complex_type(run), object_seed, state, plan_.direct.get());
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
  const Value before = changeable_value(run, setting);
  set_changeable(run, setting, value);
  const Value now = changeable_value(run, setting);
  if (now == before) return;
  try {
    reconstruction_->settings_changed();
  } catch (const Error&) {
    set_changeable(run, setting, before);
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
  checkpoint.text("input", to_json(*provenance_.find("input"), -1));
  checkpoint.text("changes", to_json(to_value(changes_), -1));
}

double Job::floor() const { return r_intensity_floor(reconstruction_->counts()); }

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
  result.diagnostics["R_I"] = outcome.r_intensity;
  result.diagnostics["R_free"] = outcome.r_free ? Value(*outcome.r_free) : Value();
  result.diagnostics["R_I_floor"] = floor();
  result.diagnostics["NMSE_floor"] = nmse_floor(reconstruction_->counts());
  result.diagnostics["overlap"] = judgement_.overlap;
  result.diagnostics["acquisition"] =
      acquisition_of(reconstruction_->state(), *counts_->measurement, plan_.scan.sampling).to_value();
  if (plan_.scan.semiangle) result.diagnostics["semiangle_mrad"] = 1000 * *plan_.scan.semiangle;
  if (run.geometry.energy_kev && plan_.scan.sampling.calibrated())
    result.diagnostics["energy_keV"] = *run.geometry.energy_kev;
  else if (const Value* energy = known_.find("energy_keV"))
    result.diagnostics["energy_keV"] = *energy;
  result.diagnostics["warnings"] = warnings_;
  if (!changes_.empty()) result.diagnostics["changes"] = to_value(changes_);
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
