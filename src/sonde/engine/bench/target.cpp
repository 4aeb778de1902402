// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "sonde/engine/base/text.h"
#include "sonde/engine/bench/number_of.h"
#include "sonde/engine/report/spread.h"

namespace sonde {
namespace {

std::string in_words(const Target::Time& time, int workers) {
  return fmt::format("{} on {} thread{}", time.operation, workers, workers == 1 ? "" : "s");
}

Spread spread_in(const Value& steady) {
  return {number_of(steady, "median"), number_of(steady, "min"), number_of(steady, "mad"),
          static_cast<Index>(number_of(steady, "samples"))};
}

/// What was measured of an operation of the CPU, or of a peer beside it.
std::optional<Spread> find_measured(const Value& points, const std::string& size, const Target::Time& time, int workers,
                                    Target::What what) {
  for (const Value& point : points.items()) {
    if (point.find("size")->as_text() != size || point.find("device")->as_text() != "cpu" ||
        point.find("workers")->as_whole() != workers)
      continue;
    for (const char* kind : {"operations", "peers"}) {
      const Value* rows = point.find(kind);
      if (rows == nullptr) continue;
      for (const Value& row : rows->items()) {
        const Value* steady = row.find("steady_s");
        if (row.find("name")->as_text() != time.operation || steady == nullptr) continue;
        if (what == Target::What::time) return spread_in(*steady);
        if (what == Target::What::item_time) {
          const double items = number_of(row, "items");
          if (!(items > 0)) return std::nullopt;
          const Spread spread = spread_in(*steady);
          return Spread{spread.median / items, spread.min / items, spread.mad / items, spread.samples};
        }
        const bool is_peer = kind == std::string_view("peers");
        return Spread{.median = number_of(is_peer ? row : point, "peak_rss_bytes"), .samples = 1};
      }
    }
  }
  return std::nullopt;
}

double relative(const Spread& spread) { return spread.uncertainty() / spread.median; }

Value judged_item(const Target& target, const Value& points, const std::string& size, int workers) {
  Value row;
  row["target"] = target.name;
  row["size"] = size;
  row["of"] = in_words(target.of, workers);
  const std::optional<Spread> time = find_measured(points, size, target.of, workers, target.what);
  if (!time) {
    row["absent"] = fmt::format("{} was not measured", row.find("of")->as_text());
    return row;
  }
  const bool at_most = target.bound == Target::Bound::at_most;
  row["seconds"] = time->median;
  row["uncertainty"] = time->uncertainty();
  row["bound"] = at_most ? "at most" : "at least";
  row["limit"] = target.limit;
  row["met"] = at_most ? time->median <= target.limit : time->median >= target.limit;
  return row;
}

Value judged(const Target& target, const Value& points, const std::string& size, int workers) {
  const int of_workers = target.of.workers > 0 ? target.of.workers : workers;
  if (target.what == Target::What::item_time) return judged_item(target, points, size, of_workers);
  const int over_workers = target.over.workers > 0 ? target.over.workers : workers;
  Value row;
  row["target"] = target.name;
  row["size"] = size;
  row["of"] = in_words(target.of, of_workers);
  row["over"] = in_words(target.over, over_workers);
  const std::optional<Spread> of = find_measured(points, size, target.of, of_workers, target.what);
  const std::optional<Spread> over = find_measured(points, size, target.over, over_workers, target.what);
  for (const auto& [time, what] : {std::pair(&of, "of"), std::pair(&over, "over")})
    if (!*time || !((*time)->median > 0)) {
      row["absent"] = fmt::format("{} was not measured", row.find(what)->as_text());
      return row;
    }
  const double ratio = of->median / over->median;
  const bool at_most = target.bound == Target::Bound::at_most;
  row["ratio"] = ratio;
  row["uncertainty"] = ratio * std::hypot(relative(*of), relative(*over));
  row["bound"] = at_most ? "at most" : "at least";
  row["limit"] = target.limit;
  row["met"] = at_most ? ratio <= target.limit : ratio >= target.limit;
  return row;
}

}  // namespace

Value judge_targets(const std::vector<Target>& targets, const Value& points, const std::vector<std::string>& sizes) {
  Value rows = Value::list();
  for (const std::string& size : sizes) {
    std::set<int> run;  // numbers of threads
    for (const Value& point : points.items())
      if (point.find("size")->as_text() == size && point.find("device")->as_text() == "cpu")
        run.insert(static_cast<int>(point.find("workers")->as_whole()));
    if (run.empty()) continue;
    for (const Target& target : targets) {
      if (!target.size.empty() && target.size != size) continue;
      const bool alone = target.what == Target::What::item_time;
      const bool open = target.of.workers == 0 || (target.over.workers == 0 && !alone);
      for (const int workers : open ? run : std::set<int>{target.of.workers})
        rows.push_back(judged(target, points, size, workers));
    }
  }
  return rows;
}

std::string targets_text(const Value& rows) {
  std::string text;
  for (const Value& row : rows.items()) {
    if (const Value* seconds = row.find("seconds")) {
      text += fmt::format("{:<4} {:>6} ± {}, {} {}: {:<7} {}, {}\n", row.find("target")->as_text(),
                          format_seconds(seconds->as_real()), format_seconds(number_of(row, "uncertainty")),
                          row.find("bound")->as_text(), format_seconds(number_of(row, "limit")),
                          row.find("met")->as_bool() ? "met," : "missed,", row.find("of")->as_text(),
                          row.find("size")->as_text());
      continue;
    }
    if (row.find("over") == nullptr) {
      text += fmt::format("{:<4} not judged: {}\n", row.find("target")->as_text(), row.find("absent")->as_text());
      continue;
    }
    const std::string what = fmt::format("{} over {}", row.find("of")->as_text(), row.find("over")->as_text());
    if (const Value* absent = row.find("absent"))
      text += fmt::format("{:<4} not judged: {}\n", row.find("target")->as_text(), absent->as_text());
    else
      text += fmt::format("{:<4} {:>6.3f} ± {:.3f}, {} {:g}: {:<7} {}\n", row.find("target")->as_text(),
                          number_of(row, "ratio"), number_of(row, "uncertainty"), row.find("bound")->as_text(),
                          number_of(row, "limit"), row.find("met")->as_bool() ? "met," : "missed,", what);
  }
  return text;
}

}  // namespace sonde
