// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/text.h"
#include "sonde/engine/report/report.h"

namespace sonde {
namespace {

double number(const Value& object, const char* key) {
  const Value* value = object.find(key);
  return value != nullptr && value->is_number() ? value->as_real() : 0;
}

std::string word(const Value& object, const char* key) {
  const Value* value = object.find(key);
  return value != nullptr && value->is_text() ? value->as_text() : "";
}

void add_phases(const Value& phases, std::size_t depth, std::string& text) {
  if (!phases.is_list()) return;
  for (const Value& phase : phases.items()) {
    const Value* steady = phase.find("steady_s");
    const double first_s = number(phase, "first_s");
    const double typical_s = steady != nullptr ? number(*steady, "median") : first_s;
    std::string line = fmt::format("{:{}}{}", "", 2 * depth, word(phase, "name"));
    const double prepare_s = number(phase, "prepare_s");
    const double bytes = number(phase, "bytes"), fraction = number(phase, "bandwidth_fraction");
    const double flops = number(phase, "flops"), flops_fraction = number(phase, "flops_fraction");
    text += fmt::format("{:<32} {:>6.0f} {:>10} {:>10} {:>10}", line, number(phase, "calls"),
                        prepare_s > 0 ? format_seconds(prepare_s) : "", format_seconds(first_s),
                        steady != nullptr ? format_seconds(typical_s) : "");
    if (bytes > 0 && typical_s > 0) text += fmt::format("  {:>6.3g} GB/s", bytes / typical_s / 1e9);
    if (fraction > 0) text += fmt::format(" ({:.0f} % of {})", 100 * fraction, word(phase, "traffic"));
    if (flops > 0 && typical_s > 0) text += fmt::format("  {:>6.3g} GF/s", flops / typical_s / 1e9);
    if (flops_fraction > 0) text += fmt::format(" ({:.0f} %)", 100 * flops_fraction);
    text += '\n';
    if (const Value* inner = phase.find("phases")) add_phases(*inner, depth + 1, text);
  }
}

/// A value in one short line; long lists are cut.
std::string short_text(const Value& value) {
  if (value.is_text()) return value.as_text();
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_whole()) return std::to_string(value.as_whole());
  if (value.is_real()) return fmt::format("{:.6g}", value.as_real());
  if (value.is_object()) return fmt::format("{{{} members}}", value.size());
  if (!value.is_list()) return "none";
  std::string text = "[";
  for (std::size_t i = 0; i < std::min<std::size_t>(value.size(), 8); ++i)
    text += (i > 0 ? ", " : "") + short_text(value.items()[i]);
  return text + (value.size() > 8 ? fmt::format(", ... {} in all]", value.size()) : "]");
}

}  // namespace

std::string report_text(const Value& report) {
  std::string text = fmt::format("{}: {}", word(report, "command"), word(report, "status"));
  if (const std::string error = word(report, "error"); !error.empty()) text += " (" + error + ")";
  text += fmt::format("\nsonde {} ({})", word(report, "version"), word(report, "revision"));
  if (const Value* host = report.find("host"))
    text += fmt::format(" on {}, {:.0f} cores", word(*host, "cpu"), number(*host, "cores"));
  const Value* host = report.find("host");
  if (const Value* device = report.find("device"); device != nullptr && host != nullptr)
    if (word(*device, "name") != word(*host, "cpu")) text += ", " + word(*device, "name");
  text += '\n';

  if (const Value* choices = report.find("choices"); choices != nullptr && choices->size() > 0) {
    text += "\nchosen\n";
    for (const Value& choice : choices->items())
      text += fmt::format("  {}: {} ({})\n", word(choice, "what"),
                          choice.find("value") != nullptr ? short_text(*choice.find("value")) : "",
                          word(choice, "because"));
  }
  if (const Value* phases = report.find("phases"); phases != nullptr && phases->size() > 0) {
    text += fmt::format("\n{:<32} {:>6} {:>10} {:>10} {:>10}\n", "phase", "calls", "prepare", "first", "steady");
    add_phases(*phases, 0, text);
  }
  if (const Value* memory = report.find("memory")) {
    text += fmt::format("\npeak memory {}", format_bytes(number(*memory, "peak_rss_bytes")));
    if (const double device = number(*memory, "peak_device_bytes"); device > 0)
      text += fmt::format(", {} on the device", format_bytes(device));
    text += '\n';
  }
  if (const Value* checks = report.find("checks"); checks != nullptr && checks->size() > 0) {
    text += "\nchecks\n";
    for (const Value& check : checks->items()) {
      const Value* pass = check.find("pass");
      text += fmt::format("  {} {}: {:.3g} (tolerance {:.3g})\n",
                          pass != nullptr && pass->is_bool() && pass->as_bool() ? "pass" : "FAIL", word(check, "name"),
                          number(check, "value"), number(check, "tolerance"));
    }
  }
  if (const Value* results = report.find("results"); results != nullptr && results->size() > 0) {
    text += "\nresults\n";
    for (const auto& [key, value] : results->members()) text += fmt::format("  {}: {}\n", key, short_text(value));
  }
  return text;
}

}  // namespace sonde
