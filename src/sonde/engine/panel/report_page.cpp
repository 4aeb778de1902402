// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/report_page.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/text.h"
#include "sonde/engine/panel/contents.h"

namespace sonde::panel {
namespace {

const Value::List& items_at(const Value& object, std::string_view key) {
  static const Value::List none;
  const Value* list = object.find(key);
  return list == nullptr || list->is_null() ? none : list->items();
}

Value run_facts(const Value& report) {
  Facts facts;
  for (const char* key : {"command", "status", "error", "version", "revision"}) facts.add(key, text_at(report, key));
  if (const Value* host = report.find("host")) {
    facts.add("processor", text_at(*host, "cpu"));
    facts.add("cores", fmt::format("{:.0f}", number_at(*host, "cores")));
    facts.add_bytes("memory", number_at(*host, "memory_bytes"));
  }
  if (const Value* device = report.find("device")) {
    facts.add("device", text_at(*device, "name"));
    facts.add_bytes("memory of the device", number_at(*device, "memory_bytes"));
    facts.add("driver", text_at(*device, "driver"));
  }
  if (const Value* build = report.find("build"))
    for (const auto& [key, value] : build->members()) facts.add(key, short_text(value));
  return facts.take();
}

void add_part(Value& bar, const char* name, double seconds) {
  if (seconds <= 0) return;
  Value part;
  part["name"] = name;
  part["value"] = seconds;
  bar["parts"].push_back(std::move(part));
}

void add_fraction(Value& bar, const std::string& of, double fraction) {
  if (fraction <= 0) return;
  Value entry;
  entry["of"] = of;
  entry["value"] = fraction;
  bar["fractions"].push_back(std::move(entry));
}

void add_phase_bars(const Value& owner, Index depth, Value& bars) {
  for (const Value& phase : items_at(owner, "phases")) {
    const Value* steady = phase.find("steady_s");
    const double calls = number_at(phase, "calls");
    const double prepare_s = number_at(phase, "prepare_s");
    const double first_s = number_at(phase, "first_s");
    const double typical_s = steady != nullptr ? number_at(*steady, "median") : first_s;
    // The report keeps the median, not the sum, of the steady calls.
    const double steady_s = steady != nullptr ? typical_s * number_at(*steady, "samples") : 0;
    Value bar;
    bar["name"] = text_at(phase, "name");
    bar["depth"] = depth;
    bar["value"] = prepare_s + first_s + steady_s;
    bar["note"] = calls > 1 ? fmt::format("{:.0f} calls, {} each", calls, format_seconds(typical_s)) : "";
    bar["parts"] = Value::list();
    add_part(bar, "prepare", prepare_s);
    add_part(bar, "first", first_s);
    add_part(bar, "steady", steady_s);
    bar["fractions"] = Value::list();
    add_fraction(bar, text_at(phase, "traffic"), number_at(phase, "bandwidth_fraction"));
    add_fraction(bar, "multiply-add", number_at(phase, "flops_fraction"));
    bars.push_back(std::move(bar));
    add_phase_bars(phase, depth + 1, bars);
  }
}

Value phase_chart(const Value& report) {
  Value options;
  options["unit"] = "s";
  options["bars"] = Value::list();
  add_phase_bars(report, 0, options["bars"]);
  return options;
}

/// One bar per tier: what was held at most, and what could have been.
Value memory_chart(const Value& report) {
  Value options;
  options["unit"] = "B";
  options["bars"] = Value::list();
  const Value* memory = report.find("memory");
  if (memory == nullptr) return options;
  const Value* limits = memory->find("limits");
  for (const auto& [tier, member] : {std::pair("host", "peak_rss_bytes"), std::pair("device", "peak_device_bytes")}) {
    const Value* limit = limits != nullptr ? limits->find(tier) : nullptr;
    const double peak = number_at(*memory, member);
    if (peak <= 0 && limit == nullptr) continue;
    Value bar;
    bar["name"] = tier;
    bar["depth"] = 0;
    bar["value"] = peak;
    bar["note"] = format_bytes(peak);
    if (limit != nullptr) {
      const double bytes = number_at(*limit, "bytes");
      bar["limit"] = bytes;
      bar["note"] = fmt::format("{} of {}: {}", format_bytes(peak), format_bytes(bytes), text_at(*limit, "because"));
    }
    options["bars"].push_back(std::move(bar));
  }
  return options;
}

Value check_table(const Value& report) {
  Value options;
  options["columns"] = std::vector<std::string>{"check", "value", "tolerance", "outcome"};
  options["rows"] = Value::list();
  options["failed"] = Value::list();
  for (const Value& check : items_at(report, "checks")) {
    const Value* pass = check.find("pass");
    const bool passed = pass != nullptr && pass->is_bool() && pass->as_bool();
    if (!passed) options["failed"].push_back(options["rows"].size());
    Value& row = options["rows"].push_back(Value::list());
    for (const char* key : {"name", "value", "tolerance"}) row.push_back(cell(check.find(key)));
    row.push_back(passed ? "pass" : "FAIL");
  }
  return options;
}

}  // namespace

Page report_page(const Value& report) {
  Page page;
  page.title = text_at(report, "command");
  page.view = "report";
  add_panel(page, "run", "facts", "Run", run_facts(report));
  add_panel(page, "phases", "chart", "Time by phase", phase_chart(report));
  add_panel(page, "memory", "chart", "Memory by tier", memory_chart(report));
  add_panel(page, "choices", "table", "Choices", table_of(items_at(report, "choices")));
  add_panel(page, "checks", "table", "Checks", check_table(report));
  if (const Value* results = report.find("results")) add_tree(page, "results", "Results", *results);
  if (const Value* options = report.find("options")) {
    Facts facts;
    facts.add_members(*options);
    add_panel(page, "options", "facts", "Options", facts.take());
  }
  return page;
}

}  // namespace sonde::panel
