// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/events/matching.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/separate/events/midi.h"

namespace sonde::separate {
namespace {

std::vector<ReferenceEvent> from_midi(const std::string& path) {
  std::vector<ReferenceEvent> events;
  for (const MidiNote& note : parse_midi(read_text(path), path).notes) {
    if (const auto drum = drum_of_note(note.note))
      events.push_back({note.time_s, *drum, static_cast<double>(note.velocity)});
  }
  return events;
}

/// Which of these columns a table has, -1: none.
Index column(const std::vector<std::string>& header, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < header.size(); ++i)
      if (trim(header[i]) == name) return static_cast<Index>(i);
  }
  return -1;
}

std::vector<ReferenceEvent> from_table(const std::string& path) {
  const std::string text = read_text(path);
  const std::vector<std::string> lines = split(text, '\n');
  const std::vector<std::string> header = split(lines.empty() ? "" : lines[0], ',');
  const Index time = column(header, {"time_s"}), event = column(header, {"event"}),
              velocity = column(header, {"velocity", "gain"});
  if (time < 0 || event < 0)
    throw Error(ErrorKind::bad_file, path + ": is not a table of events; expected the columns time_s and event");
  std::vector<ReferenceEvent> events;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    const std::string where = fmt::format("{}: line {}", path, i + 1);
    const std::vector<std::string> cells = split(trim(lines[i]), ',');
    if (cells.size() < header.size())
      throw Error(ErrorKind::bad_file, fmt::format("{}: {} cells; expected {}", where, cells.size(), header.size()));
    const auto number = [&](Index at) {
      const std::string& cell = cells[static_cast<std::size_t>(at)];
      std::vector<double> numbers;
      take_from_file([&] { numbers = parse_numbers(cell, where); });
      if (numbers.size() != 1) throw Error(ErrorKind::bad_file, fmt::format("{}: \"{}\" is not a number", where, cell));
      return numbers[0];
    };
    const std::string_view what = trim(cells[static_cast<std::size_t>(event)]);
    const auto hit = hit_called(what);
    const auto kind = hit ? std::optional(StemKind{info(*hit).drum}) : stem_kind(what);
    if (kind) events.push_back({number(time), kind->drum, velocity < 0 ? 0 : number(velocity)});
  }
  return events;
}

}  // namespace

std::vector<ReferenceEvent> read_reference(const std::string& path) {
  const std::string ending = output_ending(path);
  if (ending != ".mid" && ending != ".midi" && ending != ".csv")
    throw Error(ErrorKind::bad_file, path + ": unknown kind of reference; expected .mid, .midi or .csv");
  std::vector<ReferenceEvent> events = ending == ".csv" ? from_table(path) : from_midi(path);
  if (events.empty()) throw Error(ErrorKind::bad_file, path + ": has no event of a drum");
  std::stable_sort(events.begin(), events.end(),
                   [](const ReferenceEvent& a, const ReferenceEvent& b) { return a.time_s < b.time_s; });
  return events;
}

std::vector<ReferenceEvent> merged(const std::vector<ReferenceEvent>& events, double gap_s) {
  std::vector<ReferenceEvent> kept;
  for (const ReferenceEvent& each : events) {
    if (kept.empty() || each.time_s - kept.back().time_s >= gap_s) {
      kept.push_back(each);
    } else {
      kept.back().velocity = std::max(kept.back().velocity, each.velocity);
    }
  }
  return kept;
}

double Matching::precision() const {
  return found == 0 ? 1 : static_cast<double>(matched) / static_cast<double>(found);
}
double Matching::recall() const {
  return expected == 0 ? 1 : static_cast<double>(matched) / static_cast<double>(expected);
}
double Matching::f_measure() const {
  return found + expected == 0 ? 1 : 2 * static_cast<double>(matched) / static_cast<double>(found + expected);
}
double Matching::mean_distance_s() const { return matched == 0 ? 0 : distance_s / static_cast<double>(matched); }

double Matching::velocity_correlation() const {
  const auto count = static_cast<double>(matched);
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < velocities.size(); ++i) x += velocities[i] / count, y += expected_velocities[i] / count;
  for (std::size_t i = 0; i < velocities.size(); ++i) {
    const double a = velocities[i] - x, b = expected_velocities[i] - y;
    xx += a * a, yy += b * b, xy += a * b;
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

Matching& Matching::operator+=(const Matching& other) {
  found += other.found, expected += other.expected, matched += other.matched, distance_s += other.distance_s;
  velocities.insert(velocities.end(), other.velocities.begin(), other.velocities.end());
  expected_velocities.insert(expected_velocities.end(), other.expected_velocities.begin(),
                             other.expected_velocities.end());
  return *this;
}

Matching match(const std::vector<DrumEvent>& found, const std::vector<ReferenceEvent>& expected, double within_s) {
  Matching matching{.found = static_cast<Index>(found.size()), .expected = static_cast<Index>(expected.size())};
  // On a line with one tolerance, giving each event the earliest free partner makes as many pairs as there can be.
  std::size_t f = 0, e = 0;
  while (f < found.size() && e < expected.size()) {
    const double distance = found[f].time_s - expected[e].time_s;
    if (distance > within_s) {
      ++e;
    } else if (distance < -within_s) {
      ++f;
    } else {
      ++matching.matched;
      matching.distance_s += std::abs(distance);
      matching.velocities.push_back(static_cast<double>(found[f++].velocity));
      matching.expected_velocities.push_back(expected[e++].velocity);
    }
  }
  return matching;
}

}  // namespace sonde::separate
