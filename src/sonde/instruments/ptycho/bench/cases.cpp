// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/bench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/clock.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/bench/direct_case.h"
#include "sonde/instruments/ptycho/bench/judged_run.h"
#include "sonde/instruments/ptycho/bench/scan.h"
#include "sonde/instruments/ptycho/engines/gd.h"
#include "sonde/instruments/ptycho/engines/pie.h"
#include "sonde/instruments/ptycho/engines/projections.h"
#include "sonde/instruments/ptycho/model/device_pass.h"

namespace sonde::ptycho {
namespace {

/// 5 n log2 n for n = N^2.
double transform_flops(Index n) {
  const auto pixels = static_cast<double>(n * n);
  return 5 * pixels * std::log2(pixels);
}

/// F: the transforms of an iteration and nothing else, on the calling thread.
Operation floor_of(const std::shared_ptr<BenchScan>& scan, Index frames, Index modes, Index transforms) {
  const Model<float>& model = scan->model();
  auto wave =
      std::make_shared<Array>(Array::zeros(Device::cpu(), Shape{modes, model.rows(), model.cols()}, DType::c64));
  return {.name = fmt::format("F: {} transforms per pattern, one thread", transforms * modes),
          .run =
              [=, &model] {
                for (Index j = 0; j < frames; ++j)
                  for (Index m = 0; m < modes; ++m) {
                    complex64* at = wave->view<complex64, 3>().data + m * model.pixels();
                    for (Index t = 0; t < transforms; t += 2) {
                      model.fft().transform(at, FftDirection::forward);
                      model.fft().transform(at, FftDirection::inverse);
                    }
                  }
              },
          .flops = static_cast<double>(transforms * modes * frames) * transform_flops(model.rows())};
}

/// The same on a GPU: groups of as many waves as the pass of an iteration has, which stay in the cache, one after
/// another.
Operation floor_of(Device device, Index n, Index frames, Index modes, Index transforms) {
  constexpr GroupLimits limits;
  const auto in_cache = static_cast<Index>(limits.waves_bytes / (static_cast<std::size_t>(n * n) * sizeof(complex64)));
  const Index waves = frames * modes, batch = std::clamp<Index>(std::min(in_cache, limits.most), 1, waves);
  struct Group {
    Stream stream;
    Fft2d<float> fft;
    Array waves;
  };
  auto group = std::make_shared<Group>(Stream(device), Fft2d<float>::prepare({n, n, batch, FftEffort::quick, device}),
                                       Array::zeros(device, Shape{batch, n, n}, DType::c64));
  return {.name = fmt::format("F: {} transforms per pattern", transforms * modes),
          .run =
              [=] {
                const auto at = group->waves.view<complex64, 3>();
                for (Index first = 0; first < waves; first += batch)
                  for (Index t = 0; t < transforms; t += 2) {
                    group->fft.transform(group->stream, at, at, FftDirection::forward);
                    group->fft.transform(group->stream, at, at, FftDirection::inverse);
                  }
                group->stream.synchronise();
              },
          .flops = static_cast<double>(transforms * waves) * transform_flops(n)};
}

/// One iteration after another; every run is the next one.
Operation iteration_of(std::string name, std::shared_ptr<BenchScan> scan, const EngineSetup& setup, bool probe_free,
                       double flops) {
  std::shared_ptr<Engine<float>> engine = scan->engine(setup);
  auto number = std::make_shared<Index>(1);
  return {.name = std::move(name),
          .run =
              [=] {
                engine->iterate(scan->workbench(),
                                {.number = ++*number, .object_free = true, .probe_free = probe_free});
              },
          .flops = flops};
}

PreparedCase engines_on(const BenchPoint& point, bool between_pixels) {
  const ScanSize size = parse_scan_size(point.size);
  const Index frames = size.rows * size.cols, transforms = between_pixels ? 4 : 2;
  const auto scan = [&](Loss loss) {
    return std::make_shared<BenchScan>(size, 1, between_pixels, loss, BenchTiers{}, point.device);
  };
  PreparedCase prepared;
  prepared.input = fmt::format("{} patterns of {} x {}, {}", frames, size.pixels, size.pixels,
                               between_pixels ? "positions between pixels" : "positions on whole pixels");
  prepared.operations.push_back(point.device.is_cpu() ? floor_of(scan(Loss::amplitude), frames, 1, transforms)
                                                      : floor_of(point.device, size.pixels, frames, 1, transforms));
  const double flops = prepared.operations.front().flops;
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.same_work_as.empty()) continue;
    const auto setup = kind.setup();
    // Those that keep waves solve for the probe in rounds, whose number depends on the data.
    const bool probe_free = !setup->traits().keeps_waves;
    prepared.operations.push_back(iteration_of(std::string(kind.name) + (probe_free ? "" : ", probe fixed"),
                                               scan(setup->loss()), *setup, probe_free, flops));
  }
  PieSettings disjoint;
  disjoint.order = PieOrder::disjoint;
  prepared.operations.push_back(
      iteration_of("epie, disjoint", scan(Loss::amplitude), SetupOf<Pie, PieSettings>(disjoint), true, flops));
  DmSettings one_round;
  one_round.rounds = 1;
  prepared.operations.push_back(iteration_of("dm, one round of the probe", scan(Loss::amplitude),
                                             SetupOf<Projections, DmSettings>(one_round), true, flops));
  return prepared;
}

PreparedCase prepare_modes(const BenchPoint& point) {
  const ScanSize size = parse_scan_size(point.size);
  const Index frames = size.rows * size.cols;
  PreparedCase prepared;
  prepared.input = fmt::format("{} patterns of {} x {}", frames, size.pixels, size.pixels);
  for (const Index modes : {1, 3, 5}) {
    const auto scan = std::make_shared<BenchScan>(size, modes, false, Loss::amplitude, BenchTiers{}, point.device);
    prepared.operations.push_back(iteration_of(fmt::format("gd, {} modes", modes), scan, SetupOf<Gd, GdSettings>(),
                                               true, floor_of(scan, frames, modes, 2).flops));
  }
  return prepared;
}

/// A scan of full size on a GPU with amplitudes of 16 bits: every engine on the same patterns, one after another.
PreparedCase prepare_large(const BenchPoint& point) {
  const ScanSize size = parse_scan_size(point.size);
  const Index frames = size.rows * size.cols;
  const auto scan = std::make_shared<BenchScan>(size, 1, false, Loss::amplitude,
                                                BenchTiers{.storage = AmplitudeStorage::f16}, point.device);
  PreparedCase prepared;
  prepared.input = fmt::format("{} patterns of {} x {}, {:.1f} GB as they are stored", frames, size.pixels, size.pixels,
                               static_cast<double>(scan->measurement().bytes()) / 1e9);
  prepared.operations.push_back(floor_of(point.device, size.pixels, frames, 1, 2));
  const double flops = prepared.operations.front().flops;
  PieSettings disjoint;
  disjoint.order = PieOrder::disjoint;
  prepared.operations.push_back(iteration_of("gd", scan, SetupOf<Gd, GdSettings>(), true, flops));
  prepared.operations.push_back(iteration_of("epie, disjoint", scan, SetupOf<Pie, PieSettings>(disjoint), true, flops));
  DmSettings one_round;
  one_round.rounds = 1;
  prepared.operations.push_back(
      iteration_of("dm, one round of the probe", scan, SetupOf<Projections, DmSettings>(one_round), true, flops));
  return prepared;
}

/// Twins of which the second has twice as much as its memory may hold, so that its patterns or waves lie in a file.
/// Patterns have 16 bits, as a run keeps them that lacks memory, before it goes to the disk. The system keeps as much
/// of that in its cache as nobody else wants; without it all is read from the disk.
PreparedCase prepare_tiers(const BenchPoint& point) {
  const ScanSize size = parse_scan_size(point.size);
  PreparedCase prepared;
  prepared.input = fmt::format("{} patterns of {} x {}, one mode, amplitudes of 16 bits", size.rows * size.cols,
                               size.pixels, size.pixels);
  const auto add = [&](std::string name, const EngineSetup& setup, BenchTiers tiers, bool probe_free,
                       bool cached = true) {
    tiers.storage = AmplitudeStorage::f16;
    const auto scan = std::make_shared<BenchScan>(size, 1, false, Loss::amplitude, tiers);
    Operation operation =
        iteration_of(std::move(name), scan, setup, probe_free, floor_of(scan, size.rows * size.cols, 1, 2).flops);
    if (!cached) {
      operation.bytes = static_cast<double>(scan->measurement().bytes());
      operation.traffic = Traffic::disk;
      operation.before = [scan] { scan->forget_cached(); };
    }
    prepared.operations.push_back(std::move(operation));
  };
  const SetupOf<Gd, GdSettings> gd;
  add("gd, patterns in memory", gd, {}, true);
  add("gd, patterns on the disk", gd, {.patterns = Tier::disk}, true);
  add("gd, patterns on the disk, none cached", gd, {.patterns = Tier::disk}, true, /*cached=*/false);
  const SetupOf<Projections, DmSettings> dm;
  add("dm, all in memory, probe fixed", dm, {}, false);
  add("dm, patterns on the disk, probe fixed", dm, {.patterns = Tier::disk}, false);
  add("dm, exit waves on the disk, probe fixed", dm, {.waves = Tier::disk}, false);
  return prepared;
}

/// Every pattern once in one iteration, in the three ways that batches can be made. Which is the fastest depends on the
/// size of the scan: frame after frame has no sums and one thread, disjoint groups of a small scan have few members.
PreparedCase prepare_crossover(const BenchPoint& point) {
  const ScanSize size = parse_scan_size(point.size);
  const Index frames = size.rows * size.cols;
  PreparedCase prepared;
  prepared.input = fmt::format("{} patterns of {} x {}", frames, size.pixels, size.pixels);
  const auto add = [&](std::string name, const EngineSetup& setup) {
    const auto scan = std::make_shared<BenchScan>(size, 1, false, Loss::amplitude, BenchTiers{}, point.device);
    prepared.operations.push_back(iteration_of(std::move(name), scan, setup, true, floor_of(scan, frames, 1, 2).flops));
  };
  PieSettings disjoint;
  disjoint.order = PieOrder::disjoint;
  add("sequential (epie)", SetupOf<Pie, PieSettings>());
  add("disjoint (epie)", SetupOf<Pie, PieSettings>(disjoint));
  add("overlapping (gd)", SetupOf<Gd, GdSettings>());
  return prepared;
}

/// What judging, checking and writing down cost beside the engine, in one run and in the same iterations: two runs lie
/// differently in memory, and that is worth more than what is looked for. The sums over pixels that R_I and the others
/// are made of belong to the engine's pass.
PreparedCase prepare_metrics(const BenchPoint& point) {
  const ScanSize size = parse_scan_size(point.size);
  struct Parts {
    explicit Parts(ScanSize of) : run(of) {}
    JudgedRun run;
    double rest_s = 0;
  };
  const auto parts = std::make_shared<Parts>(size);
  PreparedCase prepared;
  prepared.input = fmt::format("{} patterns of {} x {}", size.rows * size.cols, size.pixels, size.pixels);
  prepared.operations.push_back({.name = "gd, only the engine",
                                 .run =
                                     [parts] {
                                       const Stopwatch watch;
                                       parts->run.iterate();
                                       parts->rest_s = watch.seconds() - parts->run.engine_s;
                                     },
                                 .own_s = [parts] { return parts->run.engine_s; }});
  prepared.operations.push_back({.name = "metrics, checks, best state and log of the same iterations",
                                 .run = [] {},
                                 .own_s = [parts] { return parts->rest_s; }});
  return prepared;
}

/// Of one iteration with positions on whole pixels; F is on one thread, wherever it is measured.
std::vector<Target> engine_targets() {
  const std::string floor = "F: 2 transforms per pattern, one thread";
  constexpr auto at_least = Target::Bound::at_least;
  return {{.name = "T1", .of = {"epie", 1}, .over = {floor, 1}, .limit = 2.5},
          {.name = "T1", .of = {"rpie", 1}, .over = {floor, 1}, .limit = 2.5},
          {.name = "T2", .of = {"gd", 2}, .over = {floor, 2}, .limit = 1.25},
          {.name = "T2", .of = {"epie, disjoint", 2}, .over = {floor, 2}, .limit = 1.25},
          {.name = "T3", .of = {"dm, probe fixed", 2}, .over = {floor, 2}, .limit = 1.5},
          {.name = "T3", .of = {"raar, probe fixed", 2}, .over = {floor, 2}, .limit = 1.5},
          {.name = "T4", .of = {"lsqml", 2}, .over = {"gd", 2}, .limit = 3},
          {.name = "T6", .of = {"gd", 1}, .over = {"gd", 2}, .limit = 1.8, .bound = at_least},
          {.name = "T6", .of = {"dm, probe fixed", 1}, .over = {"dm, probe fixed", 2}, .limit = 1.8, .bound = at_least},
          {.name = "T6", .of = {"adam", 1}, .over = {"adam", 2}, .limit = 1.8, .bound = at_least},
          {.name = "T6", .of = {"epie, disjoint", 1}, .over = {"epie, disjoint", 2}, .limit = 1.6, .bound = at_least}};
}

}  // namespace

std::vector<BenchCase> bench_cases(ShowPage show) {
  const std::vector<std::string> sizes{"32x32x128"};
  return {{.name = "ptycho-engines",
           .summary = "One iteration of every engine, beside the floor F of its transforms",
           .sizes = sizes,
           .devices = {DeviceKind::cpu, DeviceKind::cuda},
           .prepare = [](const BenchPoint& point) { return engines_on(point, false); },
           .targets = engine_targets()},
          {.name = "ptycho-shift",
           .summary = "The same with positions between pixels, where F counts four transforms",
           .sizes = sizes,
           .devices = {DeviceKind::cpu, DeviceKind::cuda},
           .prepare = [](const BenchPoint& point) { return engines_on(point, true); }},
          {.name = "ptycho-large",
           .summary = "A scan of full size on a GPU, beside the floor F of its transforms",
           .sizes = {"256x256x256"},
           .devices = {DeviceKind::cuda},
           .prepare = prepare_large},
          {.name = "ptycho-modes",
           .summary = "Several probe modes against one",
           .sizes = sizes,
           .devices = {DeviceKind::cpu, DeviceKind::cuda},
           .prepare = prepare_modes,
           .targets = {{.name = "T5", .of = {"gd, 3 modes"}, .over = {"gd, 1 modes"}, .limit = 3.2},
                       {.name = "T5", .of = {"gd, 5 modes"}, .over = {"gd, 1 modes"}, .limit = 5.5}}},
          {.name = "ptycho-direct",
           .summary = "Single side band, parallax and the search for the focus, beside the transforms of the images",
           .sizes = {"128x128x64"},
           .devices = {DeviceKind::cpu},
           .prepare = prepare_direct},
          {.name = "ptycho-tiers",
           .summary = "Patterns and exit waves on the disk against those in memory",
           .sizes = sizes,
           .devices = {DeviceKind::cpu},
           .prepare = prepare_tiers,
           .targets =
               {{.name = "T10", .of = {"gd, patterns on the disk"}, .over = {"gd, patterns in memory"}, .limit = 1.3},
                {.name = "T10",
                 .of = {"gd, patterns on the disk, none cached"},
                 .over = {"gd, patterns in memory"},
                 .limit = 1.3}}},
          {.name = "ptycho-metrics",
           .summary = "What metrics, checks and the log cost beside an engine",
           .sizes = sizes,
           .devices = {DeviceKind::cpu},
           .prepare = prepare_metrics,
           .targets = {{.name = "T7",
                        .of = {"metrics, checks, best state and log of the same iterations"},
                        .over = {"gd, only the engine"},
                        .limit = 0.03}},
           .relative = 0.002},
          live_bench_case(std::move(show)),
          {.name = "ptycho-crossover",
           .summary = "Ways to make batches, by the size of the scan",
           .sizes = {"4x4x64", "8x8x64", "16x16x64", "32x32x64", "64x64x64"},
           .devices = {DeviceKind::cpu, DeviceKind::cuda},
           .prepare = prepare_crossover,
           .same_work = true}};
}

}  // namespace sonde::ptycho
