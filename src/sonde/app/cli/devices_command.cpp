// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/app/cli/commands.h"
#include "sonde/engine/base/text.h"

namespace sonde::cli {
namespace {

std::vector<std::string> abilities(const DeviceFlags& can) {
  std::vector<std::string> names;
  const auto add = [&](bool has, const char* name) {
    if (has) names.emplace_back(name);
  };
  add(can.avx2, "avx2");
  add(can.avx512, "avx512");
  add(can.gfni, "gfni");
  add(can.vpopcnt, "vpopcnt");
  add(can.bf16, "bf16");
  add(can.fp16, "fp16");
  add(can.graphs, "graphs");
  add(can.async_alloc, "async_alloc");
  add(can.unified_memory, "unified_memory");
  return names;
}

void run_devices(const NoOptions&, Run& run) {
  Value& results = run.results();
  results["devices"] = Value::list();
  for (const Device& device : Device::all()) {
    const DeviceInfo& info = device.info();
    const std::size_t free_bytes = device.memory_free();
    const std::vector<std::string> can = abilities(info.can);
    Value entry;
    entry["device"] = device.name();
    entry["name"] = info.name;
    entry["memory_bytes"] = info.memory_bytes;
    entry["memory_free_bytes"] = free_bytes;
    entry["compute_units"] = info.compute_units;
    entry["driver"] = info.driver;
    entry["can"] = can;
    results["devices"].push_back(std::move(entry));
    run.say(fmt::format("{:<8} {}\n         {} {}, {} of {} free{}{}", device.name(), info.name, info.compute_units,
                        device.is_cpu() ? "cores" : "multiprocessors", format_bytes(static_cast<double>(free_bytes)),
                        format_bytes(static_cast<double>(info.memory_bytes)),
                        info.driver.empty() ? "" : ", driver " + info.driver,
                        can.empty() ? "" : "\n         " + join_words(can, ", ")));
  }
  results["why_no_gpu"] = Device::why_no_gpu();
  if (!Device::why_no_gpu().empty()) run.say("no GPU: " + Device::why_no_gpu());
}

}  // namespace

Verb devices_command() {
  return {.name = "devices",
          .summary = "List the processors that can compute, and say why a GPU is not among them",
          .examples = {{"sonde devices --json", "The same as data"}},
          .invoke = invocation<NoOptions, run_devices>};
}

}  // namespace sonde::cli
