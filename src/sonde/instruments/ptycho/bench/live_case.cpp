// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/bench/live_case.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/bench/judged_run.h"
#include "sonde/instruments/ptycho/live/live_run.h"
#include "sonde/instruments/ptycho/quality/acquisition.h"

namespace sonde::ptycho {
namespace {

/// A second or two: what is shown ten times a second, and never for more than a share of the time that has gone by, is
/// to be seen at its own rate.
constexpr Index iterations = 16;

/// A run that is shown. A new page and a new viewer for every measurement: the share of the time that showing may
/// take is of the time since the page was made, and between measurements that goes by without work.
class Shown {
 public:
  Shown(ScanSize size, ShowPage show) : run_(size), show_(std::move(show)) {}

  void begin() {
    leave();
    Reconstruction& run = *run_.run;
    const Measurement& measurement = run_.scan.measurement();
    live_.emplace(LiveFacts{.title = "bench",
                            .engines = {"gd"},
                            .iterations = iterations,
                            .floor = r_intensity_floor(run.counts()),
                            .acquisition = acquisition_of(run.state(), measurement, Sampling{})});
    viewer_ = show_(live_->page());
  }
  void iterate() {
    showing_s_ = 0;
    for (Index i = 0; i < iterations; ++i) {
      run_.iterate();
      const Stopwatch watch;
      live_->update(*run_.run);
      showing_s_ += watch.seconds();
    }
    if (viewer_->pictures() == 0) throw Error(ErrorKind::internal, "a viewer looks, and no picture has arrived");
  }
  void iterate_alone() {
    leave();
    for (Index i = 0; i < iterations; ++i) run_.iterate();
  }
  /// What the run itself did for it; the server's threads do the rest beside.
  [[nodiscard]] double showing_s() const { return showing_s_; }

 private:
  void leave() {
    viewer_.reset();  // before what it looks at
    live_.reset();
  }

  JudgedRun run_;
  ShowPage show_;
  std::optional<LiveRun> live_;
  std::unique_ptr<PageViewer> viewer_;
  double showing_s_ = 0;
};

PreparedCase prepare_live(const BenchPoint& point, const ShowPage& show) {
  const ScanSize size = parse_scan_size(point.size);
  PreparedCase prepared;
  prepared.input =
      fmt::format("{} patterns of {} x {}, {} iterations", size.rows * size.cols, size.pixels, size.pixels, iterations);
  const auto shown = std::make_shared<Shown>(size, show);
  prepared.operations.push_back({.name = "gd, no viewer", .run = [shown] { shown->iterate_alone(); }});
  prepared.operations.push_back(
      {.name = "gd, with a viewer", .run = [shown] { shown->iterate(); }, .before = [shown] { shown->begin(); }});
  prepared.operations.push_back(
      {.name = "its share in showing", .run = [] {}, .own_s = [shown] { return shown->showing_s(); }});
  return prepared;
}

}  // namespace

BenchCase live_bench_case(ShowPage show) {
  return {.name = "ptycho-live",
          .summary = "A reconstruction with a viewer, beside one without",
          .sizes = {"32x32x128"},
          .devices = {DeviceKind::cpu},
          .prepare = [show = std::move(show)](const BenchPoint& point) { return prepare_live(point, show); },
          .targets = {{.name = "T8", .of = {"gd, with a viewer"}, .over = {"gd, no viewer"}, .limit = 1.02},
                      {.name = "T8", .of = {"its share in showing"}, .over = {"gd, with a viewer"}, .limit = 0.02}},
          .relative = 0.002};
}

}  // namespace sonde::ptycho
