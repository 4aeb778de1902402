// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/instruments/stem/bench/inputs.h"
#include "sonde/instruments/stem/bench/prepare.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/view/page.h"

namespace sonde::stem {
namespace {

/// A client whose frames go nowhere: what is left is the server's part.
class Nowhere final : public panel::Outlet {
 public:
  void send(panel::Frame frame) override {
    if (frame.kind != panel::FrameKind::strip) return;
    const std::lock_guard lock(mutex_);
    all_ready_ = true;
    changed_.notify_all();
  }
  void reply(const panel::Command&, Value) override {}
  void event(std::string_view name, Value what) override {
    const std::lock_guard lock(mutex_);
    if (name == "notice") problem_ = what.find("message")->as_text();
    if (name == "datasets" && what.find("datasets")->items()[0].find("items")->items()[0].find("held")->as_bool())
      loaded_ = true;
    changed_.notify_all();
  }
  void wait_until_loaded(const panel::Page& page) {
    const Value state = page.state();
    wait([&] {
      return loaded_ || state.find("datasets")->items()[0].find("items")->items()[0].find("held")->as_bool();
    });
  }
  void wait_until_all_items_are_ready() {
    wait([&] { return all_ready_; });
  }

 private:
  template <class Enough>
  void wait(Enough&& enough) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return enough() || !problem_.empty(); });
    if (!problem_.empty()) throw Error(ErrorKind::bad_input, problem_);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool loaded_ = false, all_ready_ = false;
  std::string problem_;
};

/// A page with one client.
struct Viewed {
  panel::Page page;
  std::shared_ptr<Nowhere> outlet = std::make_shared<Nowhere>();
  std::unique_ptr<panel::Session> session;
  std::uint32_t id = 0;

  explicit Viewed(panel::Page shown) : page(std::move(shown)), session(page.open(outlet)) {}
  void run(const char* command, Value arguments) { session->run({++id, command, std::move(arguments)}); }
};

/// A way over the scan or the detector that never comes back to a place: rows of 64 steps, then somewhat beside.
std::pair<double, double> place(int step) {
  const int lap = step % 4096, row = lap / 64, col = row % 2 == 0 ? lap % 64 : 63 - lap % 64;
  const double beside = 0.01 * (step / 4096);
  return {16 + row + beside, 16 + col + beside};
}

Value circle(double row, double col, double radius) {
  Value arguments;
  arguments["shape"] = "circle";
  for (const double number : {row, col, radius}) arguments["params"].push_back(number);
  return arguments;
}

}  // namespace

PreparedCase prepare_view(const BenchPoint& point) {
  if (point.size != "256x256x96x96")
    throw Error(ErrorKind::usage, fmt::format("stem-view has no size {}", point.size))
        .hint("its size is 256x256x96x96");
  const std::string folder = bench_folder("view").string();
  for (const Index item : {1, 2}) {
    SimulateOptions options;
    options.output = fmt::format("{}/tilt{}_master.h5", folder, item);
    options.scan_shape = "256,256";
    options.detector_shape = "96,96";
    options.sample = Sample::vacuum;
    options.disk_radius = 10;
    options.seed = item;
    options.truth = false;
    if (!path_exists(options.output)) (void)simulate(options, Budget::automatic(Device::cpu()));
  }
  ViewOptions options;
  options.load.layout = LayoutChoice::pixel;
  options.watch_s = 0;
  auto viewed = std::make_shared<Viewed>(make_page({folder}, options, Budget::automatic(Device::cpu()), point.device));
  viewed->outlet->wait_until_loaded(viewed->page);
  Value detector = circle(48, 48, 10);
  detector["channel"] = 0;
  viewed->run("set_detector", detector);
  viewed->run("play", Value::object());
  viewed->outlet->wait_until_all_items_are_ready();
  Value still;
  still["playing"] = false;
  viewed->run("play", still);

  PreparedCase prepared;
  prepared.input = "a series of two simulated scans of 256 x 256 x 96 x 96 in memory, pixel-major";
  auto step = std::make_shared<int>(0), item = std::make_shared<int>(0), position = std::make_shared<int>(0),
       region = std::make_shared<int>(0), change = std::make_shared<int>(0);
  const auto switch_item = [=] {
    Value arguments;
    arguments["item"] = *item;
    viewed->run("set_item", std::move(arguments));
  };
  // A step follows another one: the operations take turns, and the one before may have been an item switch.
  const auto drag = [=] {
    const auto [row, col] = place((*step)++);
    Value arguments = circle(row, col, 10);
    arguments["channel"] = 1;
    viewed->run("set_detector", std::move(arguments));
  };
  const auto move_region = [=] {
    const auto [row, col] = place((*region)++);
    viewed->run("set_scan_roi", circle(row, col, 10));
  };
  prepared.operations.push_back({.name = "drag step, radius 10 by 1 pixel", .run = drag, .before = drag});
  prepared.operations.push_back(
      {.name = "item switch: pattern, sum and image, as made at rest", .run = switch_item, .before = [=] {
         // Only channel 0: the images of channel 1 are those of a drag, which may have
         // taken the place of what was kept.
         Value none;
         none["channel"] = 1;
         viewed->run("set_detector", none);
         switch_item();
         *item = 1 - *item;
         switch_item();
         *item = 1 - *item;
         switch_item();
         *item = 1 - *item;
       }});
  prepared.operations.push_back(
      {.name = "item switch: the same right after another detector and position", .run = switch_item, .before = [=] {
         *item = 1 - *item;
         const auto [row, col] = place((*change)++);
         Value arguments = circle(col, row, 10);
         arguments["channel"] = 0;
         viewed->run("set_detector", std::move(arguments));
         Value where;
         where["row"] = 255 - static_cast<Index>(row);
         where["col"] = static_cast<Index>(col) + *change / 4096;
         viewed->run("set_position", std::move(where));
       }});
  prepared.operations.push_back({.name = "pattern of a position", .run = [=] {
                                   const auto [row, col] = place((*position)++);
                                   Value arguments;
                                   arguments["row"] = static_cast<Index>(row) * 2;
                                   arguments["col"] = static_cast<Index>(col) * 2 + *position / 4096;
                                   viewed->run("set_position", std::move(arguments));
                                 }});
  prepared.operations.push_back(
      {.name = "region step, radius 10 by 1 position", .run = move_region, .before = move_region});
  return prepared;
}

}  // namespace sonde::stem
