// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/text.h"
#include "sonde/engine/report/report.h"

namespace sonde {
namespace {

void add_phases(const Value& phases, std::size_t depth, std::string& text) {
  if (!phases.is_list()) return;
  for (const Value& phase : phases.items()) {
    const Value* steady = phase.find("steady_s");
    const double first_s = number_at(phase, "first_s");
    const double typical_s = steady != nullptr ? number_at(*steady, "median") : first_s;
    std::string line = fmt::format("{:{}}{}", "", 2 * depth, text_at(phase, "name"));
    const double prepare_s = number_at(phase, "prepare_s");
    const double bytes = number_at(phase, "bytes"), fraction = number_at(phase, "bandwidth_fraction");
    const double flops = number_at(phase, "flops"), flops_fraction = number_at(phase, "flops_fraction");
    text += fmt::format("{:<32} {:>6.0f} {:>10} {:>10} {:>10}", line, number_at(phase, "calls"),
                        prepare_s > 0 ? format_seconds(prepare_s) : "", format_seconds(first_s),
                        steady != nullptr ? format_seconds(typical_s) : "");
    if (bytes > 0 && typical_s > 0) text += fmt::format("  {:>6.3g} GB/s", bytes / typical_s / 1e9);
    if (fraction > 0) text += fmt::format(" ({:.0f} % of {})", 100 * fraction, text_at(phase, "traffic"));
    if (flops > 0 && typical_s > 0) text += fmt::format("  {:>6.3g} GF/s", flops / typical_s / 1e9);
    if (flops_fraction > 0) text += fmt::format(" ({:.0f} %)", 100 * flops_fraction);
    text += '\n';
    if (const Value* inner = phase.find("phases")) add_phases(*inner, depth + 1, text);
  }
}

}  // namespace

std::string report_text(const Value& report) {
  std::string text = fmt::format("{}: {}", text_at(report, "command"), text_at(report, "status"));
  if (const std::string error = text_at(report, "error"); !error.empty()) text += " (" + error + ")";
  text += fmt::format("\nsonde {} ({})", text_at(report, "version"), text_at(report, "revision"));
  if (const Value* host = report.find("host"))
    text += fmt::format(" on {}, {:.0f} cores", text_at(*host, "cpu"), number_at(*host, "cores"));
  const Value* host = report.find("host");
  if (const Value* device = report.find("device"); device != nullptr && host != nullptr)
    if (text_at(*device, "name") != text_at(*host, "cpu")) text += ", " + text_at(*device, "name");
  text += '\n';

  if (const Value* choices = report.find("choices"); choices != nullptr && choices->size() > 0) {
    text += "\nchosen\n";
    for (const Value& choice : choices->items())
      text += fmt::format("  {}: {} ({})\n", text_at(choice, "what"),
                          choice.find("value") != nullptr ? short_text(*choice.find("value")) : "",
                          text_at(choice, "because"));
  }
  if (const Value* phases = report.find("phases"); phases != nullptr && phases->size() > 0) {
    text += fmt::format("\n{:<32} {:>6} {:>10} {:>10} {:>10}\n", "phase", "calls", "prepare", "first", "steady");
    add_phases(*phases, 0, text);
  }
  if (const Value* memory = report.find("memory")) {
    text += fmt::format("\npeak memory {}", format_bytes(number_at(*memory, "peak_rss_bytes")));
    if (const double device = number_at(*memory, "peak_device_bytes"); device > 0)
      text += fmt::format(", {} on the device", format_bytes(device));
    text += '\n';
  }
  if (const Value* checks = report.find("checks"); checks != nullptr && checks->size() > 0) {
    text += "\nchecks\n";
    for (const Value& check : checks->items()) {
      const Value* pass = check.find("pass");
      text += fmt::format("  {} {}: {:.3g} (tolerance {:.3g})\n",
                          pass != nullptr && pass->is_bool() && pass->as_bool() ? "pass" : "FAIL",
                          text_at(check, "name"), number_at(check, "value"), number_at(check, "tolerance"));
    }
  }
  if (const Value* results = report.find("results"); results != nullptr && results->size() > 0) {
    text += "\nresults\n";
    for (const auto& [key, value] : results->members()) text += fmt::format("  {}: {}\n", key, short_text(value));
  }
  return text;
}

}  // namespace sonde
