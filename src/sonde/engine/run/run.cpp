// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/run.h"

#include <fmt/format.h>

#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/bench/machine.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/run/watched_run.h"
#include "sonde/engine/run/write_contents.h"

namespace sonde {

Device Run::device() { return device_for(""); }

Device Run::device_for(const std::string& why_not_on_gpu) {
  if (!device_) {
    Choice<Device> choice = Device::parse(device_asked());
    if (!choice.value.is_cpu() && !why_not_on_gpu.empty()) {
      if (device_asked() != "auto")
        throw Error(ErrorKind::not_supported, why_not_on_gpu).hint("use " + setting("device", "cpu"));
      choice = {Device::cpu(), why_not_on_gpu};
    }
    use_device(choice);
  } else if (!device_->is_cpu() && !why_not_on_gpu.empty()) {
    report_.add_choice("device", Value("cpu"), why_not_on_gpu);
    return Device::cpu();
  }
  return *device_;
}

void Run::ask_device(const std::string& device) {
  if (!given("device")) asked_device_ = device;
}

void Run::use_device(const Choice<Device>& chosen) {
  device_ = chosen.value;
  report_.set_device(chosen.value);
  report_.add_choice("device", chosen.value.name(), chosen.because);
  if (watched_ != nullptr) watched_->add_fact("device", chosen.value.name());
}

void Run::add_settings(const std::string& name, Value settings) {
  if (watched_ != nullptr) watched_->add_settings(settings);
  report_.add_options(name, std::move(settings));
}

std::shared_ptr<void> Run::live(std::function<LiveState()> state) {
  return watched_ != nullptr ? watched_->fill(std::move(state)) : nullptr;
}

Budget Run::budget_of(Device device) {
  Budget budget = Budget::automatic(device, common_.compute.memory_bytes());
  if (processes_here_ > 1 && !common_.compute.memory_bytes())
    budget = Budget(budget.limit_bytes() / static_cast<std::size_t>(processes_here_),
                    fmt::format("{}, divided by {} processes", budget.because(), processes_here_));
  report_.set_memory_limit(device.is_cpu() ? "host" : "device", budget.limit_bytes(), budget.because());
  return budget;
}

Budget Run::budget() {
  if (device().is_cpu()) return host_budget();
  if (!budget_) budget_ = budget_of(device());
  return *budget_;
}

Budget Run::host_budget() {
  if (!host_budget_) host_budget_ = budget_of(Device::cpu());
  return *host_budget_;
}

void Run::limit_host(const Budget& budget) {
  host_budget_ = budget;
  report_.set_memory_limit("host", budget.limit_bytes(), budget.because());
}

void Run::show_memory(const MemoryPlan& plan, const Budget& budget, const std::string& title) {
  say(title + "\n" + plan.text());
  if (!dry_run()) return;
  const auto text = [](std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); };
  const std::string room =
      plan.head_room_percent > 0 ? fmt::format(", {} % of head-room beside", plan.head_room_percent) : "";
  report_.add_choice(
      title, Value(plan.peak_bytes),
      fmt::format("{} of {} that may be used{}", text(plan.peak_bytes), text(budget.available_bytes()), room));
}

void Run::require_room_for(const std::string& file) {
  (void)host_budget().reserve(File(file).size(), "reading " + file, "allow more with " + setting("memory"));
}

const MachineRates& Run::machine() {
  if (!std::exchange(asked_machine_, true))
    if (const std::optional<Value> measured = cached_machine())
      report_.set_machine(machine_rates(*measured, thread_count()));
  return report_.machine();
}

bool Run::given(std::string_view key) const {
  for (const Field& field : fields_.all())
    if (field.key == key) return field.origin == Origin::caller;
  return false;
}

void Run::be_silent() {
  silent_ = true;
  if (surroundings_.be_silent) surroundings_.be_silent();
}

void Run::say(const std::string& text) const {
  if (!common_.quiet && !silent_ && surroundings_.say) surroundings_.say(text);
}

void Run::announce(const std::string& text) const {
  if (silent_) return;
  if (surroundings_.announce) return surroundings_.announce(text);
  say(text);
}

void Run::print(const std::string& text) const {
  if (!silent_ && surroundings_.print) surroundings_.print(text);
}

void Run::require_named_output(bool named) const {
  if (gives_arrays() && !named && !fields_.is_set("output"))
    throw Error(ErrorKind::usage, "no " + setting("output")).hint("what is not named is not written");
}

void Run::require_output(const std::string& path, const std::vector<std::string>& suffixes) const {
  if (!path.empty()) return require_contents_path(path, suffixes);
  if (!gives_arrays())
    throw Error(ErrorKind::usage, "no " + setting("output")).hint("give " + setting("output", "result" + suffixes[0]));
}

void Run::give(const Contents& contents, const std::string& path, const OutputRole& role) const {
  if (!path.empty()) write_contents(path, contents, role);
  if (gives_arrays()) surroundings_.take(contents.clone());
}

std::unique_ptr<Shown> Run::show(panel::Page page, Index port) {
  if (!surroundings_.show) throw Error(ErrorKind::not_supported, "nothing here shows a page in the browser");
  return surroundings_.show(std::move(page), port);
}

Frames Run::open_frames(const FramesRequest& request) {
  if (!surroundings_.open_frames)
    throw Error(ErrorKind::not_supported, fmt::format("{}: this build has no 4D-STEM reader", request.file))
        .hint("build sonde with the instrument stem");
  return surroundings_.open_frames(request, *this);
}

}  // namespace sonde
