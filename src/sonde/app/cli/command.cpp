// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/command.h"

#include <fmt/format.h>

#include <utility>

#include "sonde/app/cli/terminal.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/bench/machine.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::cli {

void CommonOptions::describe(Fields& fields) {
  fields.heading("Settings of every command");
  compute.describe(fields);
  fields.add("threads", threads,
             {.help = "threads that compute; 0 takes every core this process may use", .min = 0, .max = 4096});
  fields.add("report", report,
             {.help = "write what was done as JSON (sonde.report/1)", .metavar = "FILE", .flag_only = true});
  fields.add("config", config,
             {.help = "read settings from a TOML file; flags count more", .metavar = "FILE", .flag_only = true});
  fields.add("json", json, {.help = "print the result as JSON on standard output", .flag_only = true});
  fields.add("dry_run", dry_run,
             {.help = "print the resolved settings and the choices, do nothing", .flag_only = true});
  fields.add("quiet", quiet, {.help = "say nothing but warnings and errors", .flag_only = true});
  fields.heading("");
}

Device Context::device() { return device_for(""); }

Device Context::device_for(const std::string& why_not_on_gpu) {
  if (!device_) {
    Choice<Device> choice = Device::parse(device_asked());
    if (!choice.value.is_cpu() && !why_not_on_gpu.empty()) {
      if (device_asked() != "auto") throw Error(ErrorKind::not_supported, why_not_on_gpu).hint("use --device cpu");
      choice = {Device::cpu(), why_not_on_gpu};
    }
    use_device(choice);
  } else if (!device_->is_cpu() && !why_not_on_gpu.empty()) {
    report_.add_choice("device", Value("cpu"), why_not_on_gpu);
    return Device::cpu();
  }
  return *device_;
}

void Context::ask_device(const std::string& device) {
  if (given_flag("device").empty()) asked_device_ = device;
}

void Context::use_device(const Choice<Device>& chosen) {
  device_ = chosen.value;
  report_.set_device(chosen.value);
  report_.add_choice("device", chosen.value.name(), chosen.because);
}

Budget Context::budget_of(Device device) {
  Budget budget = Budget::automatic(device, common_.compute.memory_bytes());
  if (processes_here_ > 1 && !common_.compute.memory_bytes())
    budget = Budget(budget.limit_bytes() / static_cast<std::size_t>(processes_here_),
                    fmt::format("{}, divided by {} processes", budget.because(), processes_here_));
  report_.set_memory_limit(device.is_cpu() ? "host" : "device", budget.limit_bytes(), budget.because());
  return budget;
}

Budget Context::budget() {
  if (device().is_cpu()) return host_budget();
  if (!budget_) budget_ = budget_of(device());
  return *budget_;
}

Budget Context::host_budget() {
  if (!host_budget_) host_budget_ = budget_of(Device::cpu());
  return *host_budget_;
}

const MachineRates& Context::machine() {
  if (!std::exchange(asked_machine_, true))
    if (const std::optional<Value> measured = cached_machine())
      report_.set_machine(machine_rates(*measured, thread_count()));
  return report_.machine();
}

std::string Context::given_flag(std::string_view key) const {
  for (const Field& field : fields_.all())
    if (field.key == key && field.origin == Origin::caller) return field.flag();
  return "";
}

void Context::be_silent() {
  silent_ = true;
  attach_terminal(/*quiet=*/true);
}

void Context::say(const std::string& text) const {
  if (!common_.quiet && !silent_) terminal().print(text);
}

}  // namespace sonde::cli
