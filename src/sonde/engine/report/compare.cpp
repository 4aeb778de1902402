// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/spread.h"

namespace sonde {
namespace {

struct Timing {
  std::string phase;
  double typical_s = 0;
  Spread spread;
};

double number(const Value* value) { return value != nullptr && value->is_number() ? value->as_real() : 0; }

void collect(const Value* phases, const std::string& outer, std::vector<Timing>& timings) {
  if (phases == nullptr || !phases->is_list()) return;
  for (const Value& phase : phases->items()) {
    const Value* name = phase.find("name");
    if (name == nullptr || !name->is_text()) continue;
    Timing timing;
    timing.phase = outer.empty() ? name->as_text() : outer + " / " + name->as_text();
    timing.typical_s = number(phase.find("first_s"));
    if (const Value* steady = phase.find("steady_s")) {
      timing.spread = {number(steady->find("median")), number(steady->find("min")), number(steady->find("mad")),
                       static_cast<Index>(number(steady->find("samples")))};
      timing.typical_s = timing.spread.median;
    }
    timings.push_back(timing);
    collect(phase.find("phases"), timing.phase, timings);
  }
}

void list_differences(const Value* before, const Value* after, const std::string& place,
                      std::vector<std::string>& differences) {
  static const Value none;
  const Value& a = before != nullptr ? *before : none;
  const Value& b = after != nullptr ? *after : none;
  if (a == b) return;
  if (!a.is_object() || !b.is_object()) {
    differences.push_back(fmt::format("{}: {} -> {}", place, to_json(a, -1), to_json(b, -1)));
    return;
  }
  const auto inside = [&](const std::string& key) { return place.empty() ? key : place + "." + key; };
  for (const auto& [key, value] : a.members()) list_differences(&value, b.find(key), inside(key), differences);
  for (const auto& [key, value] : b.members())
    if (a.find(key) == nullptr) list_differences(nullptr, &value, inside(key), differences);
}

PhaseChange judge(const Timing& before, const Timing& after, double floor, Index fewest) {
  PhaseChange change{before.phase, before.typical_s, after.typical_s, 0, Verdict::unknown};
  if (before.spread.samples < fewest || after.spread.samples < fewest || !(change.before_s > 0)) return change;
  const double deviation = std::hypot(before.spread.uncertainty(), after.spread.uncertainty());
  change.noise = std::max(floor, 3 * deviation / change.before_s);
  const double relative = change.after_s / change.before_s - 1;
  change.verdict = std::abs(relative) <= change.noise ? Verdict::same
                   : relative > 0                     ? Verdict::slower
                                                      : Verdict::faster;
  return change;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::same:
      return "same";
    case Verdict::unknown:
      return "too few samples";
    case Verdict::only_before:
      return "only before";
    case Verdict::only_after:
      return "only after";
  }
  return "";
}

Comparison compare_reports(const Value& before, const Value& after, double floor, Index fewest) {
  Comparison comparison;
  std::vector<Timing> old_timings, new_timings;
  collect(before.find("phases"), "", old_timings);
  collect(after.find("phases"), "", new_timings);
  const auto same_phase = [](const std::vector<Timing>& timings, const std::string& phase) {
    return std::find_if(timings.begin(), timings.end(), [&](const Timing& timing) { return timing.phase == phase; });
  };
  for (const Timing& timing : old_timings) {
    const auto match = same_phase(new_timings, timing.phase);
    comparison.phases.push_back(match == new_timings.end()
                                    ? PhaseChange{timing.phase, timing.typical_s, 0, 0, Verdict::only_before}
                                    : judge(timing, *match, floor, fewest));
  }
  for (const Timing& timing : new_timings)
    if (same_phase(old_timings, timing.phase) == old_timings.end())
      comparison.phases.push_back({timing.phase, 0, timing.typical_s, 0, Verdict::only_after});

  const auto rss = [](const Value& report) {
    const Value* memory = report.find("memory");
    return memory == nullptr ? 0 : number(memory->find("peak_rss_bytes"));
  };
  comparison.before_rss_bytes = rss(before);
  comparison.after_rss_bytes = rss(after);
  for (const char* part : {"command", "host", "device", "build", "options"})
    list_differences(before.find(part), after.find(part), part, comparison.differences);
  list_differences(before.find("results"), after.find("results"), "", comparison.results);
  return comparison;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text;
  if (!comparison.differences.empty()) {
    text += "the runs differ in more than the code:\n";
    for (const std::string& difference : comparison.differences) text += "  " + difference + "\n";
    text += '\n';
  }
  text += fmt::format("{:<40} {:>10} {:>10} {:>9} {:>8}\n", "phase", "before", "after", "change", "noise");
  for (const PhaseChange& change : comparison.phases) {
    const bool both = change.before_s > 0 && change.after_s > 0;
    text +=
        fmt::format("{:<40} {:>10} {:>10} {:>9} {:>8}  {}\n", change.phase,
                    change.before_s > 0 ? format_seconds(change.before_s) : "",
                    change.after_s > 0 ? format_seconds(change.after_s) : "",
                    both ? fmt::format("{:+.1f} %", 100 * (change.after_s / change.before_s - 1)) : "",
                    change.noise > 0 ? fmt::format("{:.1f} %", 100 * change.noise) : "", verdict_name(change.verdict));
  }
  if (comparison.before_rss_bytes > 0 && comparison.after_rss_bytes > 0)
    text += fmt::format("{:<40} {:>10} {:>10} {:>+7.1f} %\n", "peak memory", format_bytes(comparison.before_rss_bytes),
                        format_bytes(comparison.after_rss_bytes),
                        100 * (comparison.after_rss_bytes / comparison.before_rss_bytes - 1));
  if (!comparison.results.empty()) {
    text += "\nresults that differ:\n";
    for (const std::string& result : comparison.results) text += "  " + result + "\n";
  }
  return text;
}

Value comparison_value(const Comparison& comparison) {
  Value value;
  value["phases"] = Value::list();
  for (const PhaseChange& change : comparison.phases) {
    Value row;
    row["phase"] = change.phase;
    row["before_s"] = change.before_s;
    row["after_s"] = change.after_s;
    row["noise"] = change.noise;
    row["verdict"] = verdict_name(change.verdict);
    value["phases"].push_back(std::move(row));
  }
  value["before_rss_bytes"] = comparison.before_rss_bytes;
  value["after_rss_bytes"] = comparison.after_rss_bytes;
  value["differences"] = comparison.differences;
  value["results"] = comparison.results;
  return value;
}

}  // namespace sonde
