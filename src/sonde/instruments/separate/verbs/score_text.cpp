// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/score_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

/// A number of every stem, as tables and files have them.
struct Column {
  std::string key, title;
  std::vector<double> values;
};

double rise_db(const StemScore& score) { return score.sdr_db - score.mixture_sdr_db.value_or(0); }

double median_of(const StemScore& score, double BssScore::*part) {
  std::vector<double> values;
  for (const BssScore& each : score.bss_frames) values.push_back(each.*part);
  return median_of_numbers(values);
}

std::vector<Column> columns_of(const std::vector<StemScore>& scores) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& key, const std::string& title, auto value) {
    Column column{key, title, {}};
    for (const StemScore& each : scores) column.values.push_back(value(each));
    columns.push_back(std::move(column));
  };
  add("sdr_db", "SDR", [](const StemScore& s) { return s.sdr_db; });
  add("si_sdr_db", "SI-SDR", [](const StemScore& s) { return s.si_sdr_db; });
  add("sdr_frames_db", "frames", [](const StemScore& s) { return median_of_numbers(s.frames_sdr_db); });
  if (scores.front().mixture_sdr_db) {
    add("mixture_sdr_db", "mixture", [](const StemScore& s) { return *s.mixture_sdr_db; });
    add("rise_db", "rise", rise_db);
  }
  if (scores.front().bss) {
    add("bss_sdr_db", "BSS SDR", [](const StemScore& s) { return s.bss->sdr_db; });
    add("bss_sir_db", "SIR", [](const StemScore& s) { return s.bss->sir_db; });
    add("bss_sar_db", "SAR", [](const StemScore& s) { return s.bss->sar_db; });
    add("bss_sdr_frames_db", "frames", [](const StemScore& s) { return median_of(s, &BssScore::sdr_db); });
    add("bss_sir_frames_db", "SIR", [](const StemScore& s) { return median_of(s, &BssScore::sir_db); });
    add("bss_sar_frames_db", "SAR", [](const StemScore& s) { return median_of(s, &BssScore::sar_db); });
  }
  return columns;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double x : values) {
    if (std::isnan(x)) continue;
    sum += x;
    ++count;
  }
  return count > 0 ? sum / count : std::nan("");
}

std::string cell(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}", value); }

void say_table(const std::vector<StemScore>& scores, const std::vector<Column>& columns, Run& run) {
  std::size_t width = text_column - 5;  // figures like 8.17 begin there
  for (const StemScore& each : scores) width = std::max(width, each.name.size());
  std::string head = fmt::format("{:<{}}", "dB", width), last = fmt::format("{:<{}}", "mean", width);
  for (const Column& each : columns) {
    head += fmt::format("{:>9}", each.title);
    last += fmt::format("{:>9}", cell(mean_of(each.values)));
  }
  run.say(head);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    std::string line = fmt::format("{:<{}}", scores[i].name, width);
    for (const Column& each : columns) line += fmt::format("{:>9}", cell(each.values[i]));
    run.say(line);
  }
  run.say(last);
}

sonde::Value frames_of(const StemScore& score, double BssScore::*part) {
  sonde::Value list = sonde::Value::list();
  for (const BssScore& each : score.bss_frames) list.push_back(each.*part);
  return list;
}

}  // namespace

void report_scores(const std::vector<StemScore>& scores, Run& run) {
  const std::vector<Column> columns = columns_of(scores);
  say_table(scores, columns, run);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    sonde::Value& told = run.results()["stems"].push_back(sonde::Value::object());
    told["name"] = scores[i].name;
    for (const Column& each : columns) told[each.key] = each.values[i];
    sonde::Value& frames = told["frames"];
    frames["sdr_db"] = scores[i].frames_sdr_db;
    if (!scores[i].bss) continue;
    told["bss_estimate"] = scores[i].bss_estimate;
    frames["bss_sdr_db"] = frames_of(scores[i], &BssScore::sdr_db);
    frames["bss_sir_db"] = frames_of(scores[i], &BssScore::sir_db);
    frames["bss_sar_db"] = frames_of(scores[i], &BssScore::sar_db);
    if (scores[i].bss_estimate != scores[i].name)
      run.say(fmt::format("note: BSS-Eval compares {} with the estimate of {}, which fits better", scores[i].name,
                          scores[i].bss_estimate));
  }
  for (const Column& each : columns) run.results()["mean"][each.key] = mean_of(each.values);
}

std::string scores_csv(const std::vector<StemScore>& scores) {
  const std::vector<Column> columns = columns_of(scores);
  std::string text = "stem";
  for (const Column& each : columns) text += "," + each.key;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    text += "\n" + scores[i].name;
    for (const Column& each : columns)
      text += std::isnan(each.values[i]) ? std::string(",") : fmt::format(",{:.6g}", each.values[i]);
  }
  return text + "\n";
}

double mean_rise_db(const std::vector<StemScore>& scores) {
  std::vector<double> rises;
  for (const StemScore& each : scores) rises.push_back(rise_db(each));
  return mean_of(rises);
}

}  // namespace sonde::separate
