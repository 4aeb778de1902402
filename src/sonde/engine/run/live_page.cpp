// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/live_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde {

struct LivePage::Shared {
  class Watcher;

  explicit Shared(Description description_) : description(std::move(description_)) {}

  const Description description;
  mutable std::mutex mutex;
  std::vector<std::shared_ptr<panel::Outlet>> outlets;
  std::vector<panel::Frame> frames;  // shown last
  Value told = Value::object();      // options of panels
  std::vector<ChangeRequest> requests;
  Pause pause;
  std::atomic<bool> stop{false}, wanted{false};  // wanted: somebody looks and has seen nothing yet
  Stopwatch watch;
  ShowingShare share;

  /// With the mutex held.
  void tell(const Value& panels) {
    for (const auto& [id, options] : panels.members()) {
      told[id] = options;
      if (id != "run") send(id);
    }
    if (panels.find("run") != nullptr) tell_run();
  }
  void tell_run() {
    told["run"]["paused"] = pause.wanted();
    told["run"]["stopping"] = stop.load();
    told["run"]["keeps"] = description.keeps;
    send("run");
  }
  /// Of waiting events of one name a client gets only the newest: each panel has a name of its own.
  void send(const std::string& id) {
    Value what;
    what["options"] = *told.find(id);
    for (const auto& outlet : outlets) outlet->event("panel/" + id, what);
  }
  void take(LiveState state) {
    if (!state.frames.empty()) {
      frames = std::move(state.frames);
      for (const auto& outlet : outlets)
        for (const panel::Frame& frame : frames) outlet->send(frame);
    }
    tell(state.panels);
  }
  void show(LiveState state) {
    const std::lock_guard lock(mutex);
    wanted = false;
    take(std::move(state));
  }
  void ask_to_stop() {
    stop = true;
    if (description.stop) description.stop();
    pause.end();
  }
  /// Refused here and now as far as limits tell; the others have to be tried.
  void request(const Value& arguments) {
    const Value *setting = arguments.find("setting"), *value = arguments.find("value");
    if (setting == nullptr || !setting->is_text() || value == nullptr)
      throw Error(ErrorKind::bad_input, "\"set\" needs a setting and a value");
    const Value now = description.accept(setting->as_text(), *value);
    requests.push_back({setting->as_text(), *value});
    tell(now);
  }
};

/// One client.
class LivePage::Shared::Watcher final : public panel::Session {
 public:
  Watcher(std::shared_ptr<Shared> shared, std::shared_ptr<panel::Outlet> outlet)
      : shared_(std::move(shared)), outlet_(std::move(outlet)) {
    const std::lock_guard lock(shared_->mutex);
    shared_->outlets.push_back(outlet_);
    for (const panel::Frame& frame : shared_->frames) outlet_->send(frame);
    if (shared_->told.find("run") == nullptr || shared_->told.find("run")->find("state") == nullptr)
      shared_->wanted = true;
  }
  ~Watcher() override {
    const std::lock_guard lock(shared_->mutex);
    std::erase(shared_->outlets, outlet_);
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void run(const panel::Command& command) override {
    const std::lock_guard lock(shared_->mutex);
    const LivePage::Description& can = shared_->description;
    if (command.name == "pause")
      shared_->pause.begin();
    else if (command.name == "resume")
      shared_->pause.end();
    else if (command.name == "stop")
      shared_->ask_to_stop();
    else if (command.name == "restart" && can.restarts)
      shared_->requests.push_back({}), shared_->pause.end();
    else if (command.name == "set" && can.accept)
      shared_->request(command.arguments);
    else
      throw Error(ErrorKind::bad_input, fmt::format("no command is called \"{}\"", command.name));
    outlet_->reply(command, Value::object());
    shared_->tell_run();
  }
  panel::File export_file(const Value&) override {
    throw Error(ErrorKind::not_supported, "work that still runs has no files to take away")
        .hint("its result is written when it ends; \"stop\" ends it now");
  }

 private:
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<panel::Outlet> outlet_;
};

LivePage::LivePage(Description description) : shared_(std::make_shared<Shared>(std::move(description))) {
  const std::lock_guard lock(shared_->mutex);
  shared_->tell_run();
}
LivePage::~LivePage() = default;

panel::Page LivePage::page() const {
  const Description& can = shared_->description;
  panel::Page page;
  page.title = can.title;
  page.view = "run";
  page.ended = can.ended;
  page.panels = {{.id = "run", .type = "run", .title = "Run"}};
  page.panels.insert(page.panels.end(), can.panels.begin(), can.panels.end());
  page.actions = {{.name = "pause", .help = "stop between two steps, continue with resume", .latest = false},
                  {.name = "resume", .help = "continue", .latest = false},
                  {.name = "stop",
                   .help = can.keeps ? "end the work now and keep what it has"
                                     : "end the work now; outputs that are not complete are removed",
                   .latest = false}};
  if (can.accept)
    page.actions.push_back({.name = "set", .help = "change a setting from the next step on", .latest = false});
  if (can.restarts)
    page.actions.push_back({.name = "restart", .help = "begin again with the settings as they are", .latest = false});
  page.state = [shared = shared_] {
    const std::lock_guard lock(shared->mutex);
    Value state;
    state["panels"] = shared->told;
    return state;
  };
  page.open = [shared = shared_](std::shared_ptr<panel::Outlet> outlet) -> std::unique_ptr<panel::Session> {
    return std::make_unique<Shared::Watcher>(shared, std::move(outlet));
  };
  return page;
}

void LivePage::update(bool over, const std::function<LiveState()>& state) {
  Shared& shared = *shared_;
  const auto seen = [&] {
    const std::lock_guard lock(shared.mutex);
    return !shared.outlets.empty();
  };
  if (seen()) offer(over || shared.pause.wanted(), state);
  while (!over && !shared.pause.wait_for(std::chrono::milliseconds(100))) {
    check_interrupt();
    if (shared.wanted) shared.show(state());
  }
}

void LivePage::offer(bool now, const std::function<LiveState()>& state) {
  Shared& shared = *shared_;
  const double now_s = shared.watch.seconds();
  if (!now && !shared.share.may_show(now_s)) return;
  shared.show(state());
  shared.share.showed(now_s, shared.watch.seconds() - now_s);
}

Pause& LivePage::pause() const { return shared_->pause; }

bool LivePage::stop_asked() const { return shared_->stop; }

std::vector<ChangeRequest> LivePage::requests() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->requests, {});
}

void LivePage::tell(const std::function<LiveState(const std::vector<ChangeRequest>& waiting)>& state) {
  const std::lock_guard lock(shared_->mutex);
  shared_->take(state(shared_->requests));
}

void LivePage::refuse(const Error& error) {
  Value notice;
  notice["message"] = error.message();
  notice["hint"] = error.hint();
  const std::lock_guard lock(shared_->mutex);
  for (const auto& outlet : shared_->outlets) outlet->event("notice", notice);
}

}  // namespace sonde
