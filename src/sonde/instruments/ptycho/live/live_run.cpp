// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/live/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <span>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/ptycho/live/progress.h"
#include "sonde/instruments/ptycho/live/shown_images.h"
#include "sonde/instruments/ptycho/live/shown_moves.h"
#include "sonde/instruments/ptycho/run/changeable.h"

namespace sonde::ptycho {
namespace {

constexpr Index most_pixels = 512;  // along a side of what is sent
constexpr Index most_points = 400;  // of a curve

panel::Frame frame_of(panel::FrameKind kind, Index channel, const Array& image) {
  panel::Frame frame = panel::make_frame<float>(
      kind, image.shape()[0], image.shape()[1],
      std::span(static_cast<const float*>(image.data()), static_cast<std::size_t>(image.count())));
  frame.channel = static_cast<std::uint16_t>(channel);
  return frame;
}

/// Iterations and errors: of a long run every n-th, and the last.
Value curves(const std::vector<IterationRecord>& history) {
  const auto count = static_cast<Index>(history.size());
  const Index every = std::max<Index>(1, (count + most_points - 1) / most_points);
  Value value;
  for (const char* name : {"iteration", "R_I", "R_A", "R_free"}) value[name] = Value::list();
  for (Index i = (count - 1) % every; i < count; i += every) {
    const IterationRecord& record = history[static_cast<std::size_t>(i)];
    value["iteration"].push_back(record.number);
    value["R_I"].push_back(record.fit.r_intensity);
    value["R_A"].push_back(record.fit.r_amplitude);
    value["R_free"].push_back(record.r_free ? Value(*record.r_free) : Value());
  }
  return value;
}

/// Numbers first: they tell of trouble before it is seen in the probe.
std::vector<Diagnosis> diagnoses_of(const Reconstruction& run, const State& state, const LiveFacts& facts) {
  std::vector<Diagnosis> all =
      diagnose_progress(run.history(), facts.floor, static_cast<Index>(state.positions.size()));
  const std::vector<Diagnosis> more = diagnose_quickly({.state = &state,
                                                        .sampling = facts.sampling,
                                                        .semiangle = facts.semiangle,
                                                        .acquisition = facts.acquisition,
                                                        .initial_positions = run.initial_positions()});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

struct LiveRun::Shared {
  class Watcher;

  explicit Shared(LiveFacts facts_) : facts(std::move(facts_)) {
    if (!facts.settings.empty()) settings.parse(facts.settings, "settings");
  }

  const LiveFacts facts;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<panel::Outlet>> outlets;
  std::vector<panel::Frame> frames;  // shown last
  Value told = Value::object();
  RunFile settings;  // as they will be when every request is met; that of the run belongs to who iterates
  std::vector<ChangeRequest> requests;
  std::vector<Change> changes;
  bool paused = false;
  std::atomic<bool> stop{false}, wanted{false};  // wanted: somebody looks and has seen nothing yet
  Stopwatch watch;
  ShowingShare share;

  void show(const Reconstruction& run, State& state);
  void tell(Value what) {
    for (const auto& outlet : outlets) outlet->event("run", what);
  }
  void request(const Value& arguments);
  [[nodiscard]] Value settings_told() const {
    Value value;
    value["settings"] = changeable_settings(settings);
    value["changes"] = to_value(changes);
    return value;
  }
  void tell_everybody_settings() {
    const Value value = settings_told();
    for (const auto& outlet : outlets) outlet->event("settings", value);
  }
  [[nodiscard]] Value with_controls(Value value) const {
    value["paused"] = paused;
    value["stopping"] = stop.load();
    return value;
  }
};

/// One client.
class LiveRun::Shared::Watcher final : public panel::Session {
 public:
  Watcher(std::shared_ptr<Shared> shared, std::shared_ptr<panel::Outlet> outlet)
      : shared_(std::move(shared)), outlet_(std::move(outlet)) {
    const std::lock_guard lock(shared_->mutex);
    shared_->outlets.push_back(outlet_);
    for (const panel::Frame& frame : shared_->frames) outlet_->send(frame);
    if (shared_->frames.empty()) shared_->wanted = true;
  }
  ~Watcher() override {
    const std::lock_guard lock(shared_->mutex);
    std::erase(shared_->outlets, outlet_);
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void run(const panel::Command& command) override {
    const std::lock_guard lock(shared_->mutex);
    if (command.name == "pause")
      shared_->paused = true;
    else if (command.name == "resume")
      shared_->paused = false;
    else if (command.name == "stop")
      shared_->stop = true, shared_->paused = false;
    else if (command.name == "restart")
      shared_->requests.push_back({}), shared_->paused = false;
    else if (command.name == "set")
      shared_->request(command.arguments);
    else
      throw Error(ErrorKind::bad_input, fmt::format("no command is called \"{}\"", command.name));
    shared_->changed.notify_all();
    const Value now = shared_->with_controls(shared_->told);
    outlet_->reply(command, Value::object());
    shared_->tell(now);
  }
  panel::File export_file(const Value&) override {
    throw Error(ErrorKind::not_supported, "a run that is still working has no files to take away")
        .hint("its result is written when it ends; \"stop\" ends it now");
  }

 private:
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<panel::Outlet> outlet_;
};

/// Refused here and now as far as limits tell; the others have to be tried.
void LiveRun::Shared::request(const Value& arguments) {
  const Value *setting = arguments.find("setting"), *value = arguments.find("value");
  if (setting == nullptr || !setting->is_text() || value == nullptr)
    throw Error(ErrorKind::bad_input, "\"set\" needs a setting and a value");
  set_changeable(settings, setting->as_text(), *value);
  requests.push_back({setting->as_text(), *value});
  tell_everybody_settings();
}

void LiveRun::Shared::show(const Reconstruction& run, State& state) {
  const Box view = field_of_view(state.positions);
  const Index step = step_for(view, most_pixels);
  const ShownObject object = shown_object(state, view, step);
  std::vector<panel::Frame> made = {frame_of(panel::FrameKind::image, 0, object.phase),
                                    frame_of(panel::FrameKind::image, 1, object.amplitude)};
  for (Index m = 0; m < state.modes(); ++m) made.push_back(frame_of(probe_frame, m, shown_mode(state, m)));

  const IterationRecord& last = run.history().back();
  Value value;
  value["iteration"] = last.number;
  value["iterations"] = facts.iterations;
  value["engine"] = last.engine < static_cast<Index>(facts.engines.size())
                        ? facts.engines[static_cast<std::size_t>(last.engine)]
                        : "";
  value["outcome"] = name(run.outcome().kind);
  value["because"] = run.outcome().because;
  value["seconds"] = last.seconds;
  value["power_total"] = last.power_total;
  value["floor"] = facts.floor;
  value["curves"] = curves(run.history());
  value["moves"] = shown_moves(run.initial_positions(), state.positions, {view, step}, facts.scan_step);
  value["diagnoses"] = to_value(diagnoses_of(run, state, facts));
  if (facts.sampling.calibrated()) {
    value["pixel_nm"] = static_cast<double>(step) * facts.sampling.pixel_col() / 10;
    value["probe_pixel_nm"] = facts.sampling.pixel_col() / 10;
  }
  const std::lock_guard lock(mutex);
  frames = std::move(made);
  told = std::move(value);
  wanted = false;
  for (const auto& outlet : outlets)
    for (const panel::Frame& frame : frames) outlet->send(frame);
  tell(with_controls(told));
}

LiveRun::LiveRun(LiveFacts facts) : shared_(std::make_shared<Shared>(std::move(facts))) {}
LiveRun::~LiveRun() = default;

panel::Page LiveRun::page() const {
  panel::Page page;
  page.title = shared_->facts.title;
  page.view = "ptycho";
  page.actions = {{.name = "pause", .help = "stop between two iterations, continue with resume", .latest = false},
                  {.name = "resume", .help = "continue", .latest = false},
                  {.name = "stop", .help = "end the run now and write what it has", .latest = false},
                  {.name = "set", .help = "change a setting from the next iteration on", .latest = false},
                  {.name = "restart", .help = "begin again with the settings as they are", .latest = false}};
  page.state = [shared = shared_] {
    const std::lock_guard lock(shared->mutex);
    Value state;
    state["run"] = shared->with_controls(shared->told);
    state["settings"] = shared->settings_told();
    return state;
  };
  page.open = [shared = shared_](std::shared_ptr<panel::Outlet> outlet) -> std::unique_ptr<panel::Session> {
    return std::make_unique<Shared::Watcher>(shared, std::move(outlet));
  };
  return page;
}

void LiveRun::update(Reconstruction& run) {
  Shared& shared = *shared_;
  const bool over = run.outcome().kind != Outcome::Kind::running;
  std::unique_lock lock(shared.mutex);
  const bool seen = !shared.outlets.empty(), waits = shared.paused && !over;
  const double now = shared.watch.seconds();
  if (seen && (over || waits || shared.share.may_show(now))) {
    lock.unlock();
    shared.show(run, run.state());
    shared.share.showed(now, shared.watch.seconds() - now);
    lock.lock();
  }
  while (shared.paused && !over) {
    shared.changed.wait_for(lock, std::chrono::milliseconds(100));
    lock.unlock();
    check_interrupt();
    if (shared.wanted) shared.show(run, run.state());
    lock.lock();
  }
}

bool LiveRun::stop_asked() const { return shared_->stop; }

std::vector<ChangeRequest> LiveRun::requests() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->requests, {});
}

void LiveRun::tell_settings(const RunFile& run, const std::vector<Change>& changes) {
  const Value now = changeable_settings(run);
  const std::lock_guard lock(shared_->mutex);
  for (const Value& one : now.items())
    set_changeable(shared_->settings, one.find("setting")->as_text(), *one.find("value"));
  // What was requested meanwhile is still to come.
  for (const ChangeRequest& request : shared_->requests)
    if (!request.restart()) set_changeable(shared_->settings, request.setting, request.value);
  shared_->changes = changes;
  shared_->tell_everybody_settings();
}

void LiveRun::refuse(const Error& error) {
  Value notice;
  notice["message"] = error.message();
  notice["hint"] = error.hint();
  const std::lock_guard lock(shared_->mutex);
  for (const auto& outlet : shared_->outlets) outlet->event("notice", notice);
}

}  // namespace sonde::ptycho
