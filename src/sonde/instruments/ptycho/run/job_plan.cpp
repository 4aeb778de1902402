// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/job_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/instruments/ptycho/read/frames.h"
#include "sonde/instruments/ptycho/reconstruct/holdout.h"
#include "sonde/instruments/ptycho/reconstruct/parts.h"
#include "sonde/instruments/ptycho/run/assessment.h"
#include "sonde/instruments/ptycho/run/low_resolution.h"
#include "sonde/instruments/ptycho/run/side_by_side.h"
#include "sonde/instruments/ptycho/scan/bands.h"
#include "sonde/instruments/ptycho/scan/groups.h"

namespace sonde::ptycho {
namespace {

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

bool carries_probe(const Source& source, const Scan& scan) {
  return !source.probe.empty() && scan.stored.rows == scan.window.rows && scan.stored.cols == scan.window.cols;
}

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
  // Positions, placements and what the plan looks for among them: measured with 16 million frames.
  constexpr std::size_t planned_bytes = 120;
  if (resources.budgets)
    require_list_fits(source.file, "positions", source.shape[0], planned_bytes,
                      resources.budgets->host.available_bytes());
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
  sizes.real_bytes = run.compute.precision == ComputePrecision::f64 ? 8 : 4;
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
    throw Error(ErrorKind::not_supported, "exit waves stay on the GPU: compute.wave_tier is only for the CPU")
        .hint("leave compute.wave_tier out, or use " + setting("device", "cpu"));
  StorageRequest requested{.storage = run.data.storage,
                           .pattern_tier = run.data.tier,
                           .wave_tier = resources.kernels ? Tier::device : run.compute.wave_tier,
                           .wave_encoding = run.compute.waves};
  // Double precision asks for amplitudes of it, unless another way of keeping them was chosen.
  if (sizes.real_bytes == 8 && requested.storage == AmplitudeStorage::f32) requested.storage = AmplitudeStorage::f64;
  const std::size_t any = std::numeric_limits<std::size_t>::max();
  Choice<RunSizes> chosen =
      choose_storage(std::move(sizes), requested, resources.budgets ? resources.budgets->host.available_bytes() : any,
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

}  // namespace sonde::ptycho
