// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/event_options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

constexpr double longest_s = 1e6;
constexpr Index most_side = Index{1} << 24;  // as in a file of events
constexpr Index most_positions = Index{1} << 32;

struct TimeUnit {
  std::string_view name;
  double per_s;  // a power of ten, so that a quotient is the number that was written
};
constexpr std::array<TimeUnit, 4> time_units{{{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}}};

std::pair<Index, Index> parse_positions(std::string_view text, std::string_view where) {
  std::string even(text);
  for (char& letter : even)
    if (letter == 'x' || letter == 'X') letter = ',';
  std::array<Index, 2> sides{};
  const std::vector<std::string> parts = split(even, ',');
  bool whole = parts.size() == 2;
  for (std::size_t i = 0; whole && i < 2; ++i) {
    const std::string_view part = trim(parts[i]);
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), sides[i]);
    whole = problem == std::errc() && end == part.data() + part.size() && sides[i] >= 1 && sides[i] <= most_side;
  }
  if (!whole || sides[0] * sides[1] > most_positions)
    throw Error(ErrorKind::usage,
                fmt::format("{}: \"{}\"; expected ROWSxCOLS, two whole numbers above 0 with a product up to 2^32",
                            where, text));
  return {sides[0], sides[1]};
}

double above_zero(std::string_view text, std::string_view where) {
  const double s = parse_duration(text, where);
  // Below the resolution of a hit there is nothing to tell positions apart.
  if (s * static_cast<double>(ticks_per_s) < 1)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected 1.5625 ns or more", where, text));
  return s;
}

double not_below_zero(std::string_view text, std::string_view where, double most) {
  const double s = parse_duration(text, where);
  if (s < 0 || s > most)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected 0 to {}", where, text, format_seconds(most)));
  return s;
}

constexpr double earliest_s = -0.1;  // hits wait so long for the edge after them
constexpr double longest_cluster_s = 1e-3, longest_reorder_s = 0.5;

void check_dwell(std::string_view text, std::string_view where) { (void)above_zero(text, where); }
void check_positions(std::string_view text, std::string_view where) { (void)parse_positions(text, where); }
void check_delay(std::string_view text, std::string_view where) {
  if (parse_duration(text, where) < earliest_s)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected -100 ms or more", where, text));
}
void check_cluster(std::string_view text, std::string_view where) {
  (void)not_below_zero(text, where, longest_cluster_s);
}
void check_reorder(std::string_view text, std::string_view where) {
  (void)not_below_zero(text, where, longest_reorder_s);
}

}  // namespace

double parse_duration(std::string_view text, std::string_view where) {
  const std::string_view trimmed = trim(text);
  double number = 0;
  const auto [end, problem] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  const std::string_view unit = trim(trimmed.substr(static_cast<std::size_t>(end - trimmed.data())));
  double per_s = unit.empty() ? 1 : 0;
  for (const TimeUnit& one : time_units)
    if (unit == one.name) per_s = one.per_s;
  if (problem != std::errc() || per_s == 0 || !(std::abs(number / per_s) <= longest_s))
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: \"{}\"; expected a time such as 1us, 500ns or 0.01ms (without a unit: seconds)", where, text));
  return number / per_s;
}

void TimepixOptions::describe(Fields& fields) {
  fields.heading("The scan");
  fields.add("dwell", dwell,
             {.help = "time at a scan position: 1us, 500ns, 0.01ms; without a unit in seconds",
              .metavar = "TIME",
              .check = check_dwell});
  fields.add("scan_shape", scan_shape, {.help = "scan positions", .metavar = "ROWSxCOLS", .check = check_positions});
  fields.choice(
      "lines", lines,
      {{"auto", LineTrigger::automatic},
       {"none", LineTrigger::none},
       {"tdc1", LineTrigger::tdc1},
       {"tdc2", LineTrigger::tdc2}},
      {.help = "input of the TDC whose edges begin the lines of the scan; none: the scan runs without a break; "
               "auto: the input whose edges are one to three lines apart, if there is one"});
  fields.choice(
      "start", start,
      {{"auto", ScanStart::automatic}, {"hit", ScanStart::hit}, {"tdc1", ScanStart::tdc1}, {"tdc2", ScanStart::tdc2}},
      {.help = "where a scan without line edges begins: at the first hit or the first edge; auto: at the "
               "first edge of tdc1, else of tdc2, else at the first hit"});
  fields.choice("edge", edge, {{"rise", Slope::rise}, {"fall", Slope::fall}}, {.help = "which edges of the TDC count"});
  fields.add("delay", delay,
             {.help = "from that start, or that of each line, to the first position; it may be negative",
              .metavar = "TIME",
              .check = check_delay});
  fields.heading("Electrons");
  fields.add("cluster_time", cluster_time,
             {.help = "hits of pixels that touch are one electron when they are at most so far apart; 0: every hit "
                      "is one",
              .metavar = "TIME",
              .check = check_cluster});
  fields.heading("The file");
  fields.add("reorder_time", reorder_time,
             {.help = "how far hits of the file may be out of order", .metavar = "TIME", .check = check_reorder});
  fields.add("chips", chips,
             {.help = "where the chips of a detector are: a table [[chip]] for each, with number, x, y, quarter_turns "
                      "and flip; unset: chip 0, 256 x 256 pixels",
              .metavar = "FILE.toml"});
  fields.choice("damage", damage, {{"stop", Damage::stop}, {"skip", Damage::skip}},
                {.help = "at a place where no chunk begins, or a chunk that is cut off: an error, or leave it out and "
                         "count it"});
  fields.heading("");
}

void TimepixOptions::check() const {
  Problems problems;
  if (dwell.empty())
    problems.add(Error(ErrorKind::usage,
                       "no dwell time was given; a file of hits does not say how long the probe was at "
                       "a position")
                     .hint("give " + setting("dwell", "TIME")));
  if (scan_shape.empty())
    problems.add(Error(ErrorKind::usage,
                       "no scan shape was given; a file of hits does not say how many positions there "
                       "were")
                     .hint("give " + setting("scan_shape", "ROWSxCOLS")));
  problems.throw_if_any("the scan is not described");
  (void)dwell_s();
  (void)scan_asked();
}

double TimepixOptions::dwell_s() const { return above_zero(dwell, setting("dwell")); }
std::pair<Index, Index> TimepixOptions::scan_asked() const {
  return parse_positions(scan_shape, setting("scan_shape"));
}
double TimepixOptions::delay_s() const { return parse_duration(delay, setting("delay")); }
double TimepixOptions::cluster_s() const {
  return not_below_zero(cluster_time, setting("cluster_time"), longest_cluster_s);
}
double TimepixOptions::reorder_s() const {
  return not_below_zero(reorder_time, setting("reorder_time"), longest_reorder_s);
}

}  // namespace sonde::stem
