// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/event_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/count/event_file.h"
#include "sonde/instruments/stem/timepix/clusters.h"

namespace sonde::stem {
namespace {

// Above this share a figure deserves a warning.
constexpr double notable_overlap = 0.05, notable_cut = 0.001;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

struct Durations {
  double line_s, scan_s;
};
Durations durations_of(const TimepixEvents& events, const TimepixOptions& options) {
  const double line_s = options.dwell_s() * static_cast<double>(events.scan_cols);
  return {line_s, line_s * static_cast<double>(events.scan_rows)};
}

std::string dwell_or_shape() { return setting("dwell") + " or " + setting("scan_shape"); }

void warn_of_lines(const TimepixEvents& events, const TimepixOptions& options, std::vector<std::string>& warnings) {
  const Durations asked = durations_of(events, options);
  const std::string edges = name_of(*events.timing.channel);
  const auto rows = static_cast<std::uint64_t>(events.scan_rows);
  // One more may end the last line.
  if (events.trigger_edges < rows)
    warnings.push_back(
        fmt::format("the file has {} {} for {} lines of the scan: {} is wrong, or the file holds a part "
                    "of the scan",
                    events.trigger_edges, edges, rows, setting("scan_shape")));
  if (events.trigger_edges > rows + 1)
    warnings.push_back(
        fmt::format("the file has {} {} for {} lines of the scan: {} is wrong, or the file holds several "
                    "scans, of which the first counts",
                    events.trigger_edges, edges, rows, setting("scan_shape")));
  if (events.trigger_edges > 1 && events.line_s < shortest_line * asked.line_s)
    warnings.push_back(
        fmt::format("{} are {} apart, but {} positions of {} take {}: {} is wrong; the last {} columns "
                    "are empty",
                    edges, format_seconds(events.line_s), events.scan_cols, format_seconds(options.dwell_s()),
                    format_seconds(asked.line_s), dwell_or_shape(),
                    events.scan_cols - static_cast<Index>(events.line_s / options.dwell_s())));
  if (events.line_s > longest_line * asked.line_s)
    warnings.push_back(
        fmt::format("{} are {} apart, but {} positions of {} take only {}: {} is wrong, or more than "
                    "half of the time is flyback",
                    edges, format_seconds(events.line_s), events.scan_cols, format_seconds(options.dwell_s()),
                    format_seconds(asked.line_s), dwell_or_shape()));
}

void warn_of_steady_scan(const TimepixEvents& events, const TimepixOptions& options,
                         std::vector<std::string>& warnings) {
  const Durations asked = durations_of(events, options);
  const auto about = [](double a, double b) { return a >= shortest_line * b && a <= longest_line * b; };
  const bool edges = events.trigger_edges > 2;
  if (edges && about(events.line_s, asked.scan_s)) {
    warnings.push_back(fmt::format("the file has {} {}, one scan apart: only the first scan counts",
                                   events.trigger_edges, name_of(*events.timing.channel)));
    return;
  }
  if (edges && !about(events.line_s, asked.line_s)) {
    warnings.push_back(
        fmt::format("{} are {} apart, but a line of {} positions of {} takes {}: {} is wrong, unless "
                    "these edges mark something else",
                    name_of(*events.timing.channel), format_seconds(events.line_s), events.scan_cols,
                    format_seconds(options.dwell_s()), format_seconds(asked.line_s), dwell_or_shape()));
    return;
  }
  if (events.after_start_s > (2 - shortest_line) * asked.scan_s)
    warnings.push_back(
        fmt::format("the file continues for {} after the start of the scan, but {} x {} positions of {} take "
                    "{}: {} is wrong, or the file holds more than the scan",
                    format_seconds(events.after_start_s), events.scan_rows, events.scan_cols,
                    format_seconds(options.dwell_s()), format_seconds(asked.scan_s), dwell_or_shape()));
  if (events.after_start_s < shortest_line * asked.scan_s)
    warnings.push_back(
        fmt::format("the file ends {} after the start of the scan, but {} x {} positions of {} take {}: "
                    "{} is wrong, or the file holds a part of the scan",
                    format_seconds(std::max(0.0, events.after_start_s)), events.scan_rows, events.scan_cols,
                    format_seconds(options.dwell_s()), format_seconds(asked.scan_s), dwell_or_shape()));
}

void warn_of_file(const TimepixEvents& events, const TimepixOptions& options, std::vector<std::string>& warnings) {
  const PacketCounts& packets = events.packets;
  if (events.late_hits > 0 || events.late_edges > 0)
    warnings.push_back(
        fmt::format("{} hits and {} edges came more than {} after later ones and are left out; give a "
                    "larger {}",
                    events.late_hits, events.late_edges, format_seconds(options.reorder_s()), setting("reorder_time")));
  if (packets.damaged_places > 0)
    warnings.push_back(fmt::format("the file is damaged or cut off at {} places: {} bytes are left out",
                                   packets.damaged_places, packets.skipped_bytes));
  if (events.stray_hits > 0)
    warnings.push_back(
        fmt::format("{} hits are seconds away from all others: damaged, and left out", events.stray_hits));
  if (packets.integrated > 0)
    warnings.push_back(
        fmt::format("{} hits are sums of time over threshold without a time of their own (type 0xa), and "
                    "are left out",
                    packets.integrated));
  if (packets.overflows > 0)
    warnings.push_back(
        fmt::format("{} records say that a counter overflowed: their times may be wrong", packets.overflows));
  std::vector<std::string> unknown;
  for (const auto& [type, count] : packets.unknown) unknown.push_back(fmt::format("{} of type 0x{:x}", count, type));
  if (packets.other_edges > 0) unknown.push_back(fmt::format("{} edges of unknown inputs", packets.other_edges));
  if (!unknown.empty()) warnings.push_back("unknown words are left out: " + join_words(unknown));
  if (packets.bad_fine > 0)
    warnings.push_back(
        fmt::format("{} edges have a fine time that is none of 0 to 12: it is left out", packets.bad_fine));
}

}  // namespace

double overlap_by_chance(const TimepixEvents& events, double cluster_s) {
  if (!(events.duration_s > 0) || cluster_s == 0) return 0;
  const auto pattern = events.pattern.view<std::uint64_t, 2>();
  double pairs = 0, all = 0;
  for (Index row = 0; row < events.rows; ++row)
    for (Index col = 0; col < events.cols; ++col) {
      const auto own = static_cast<double>(pattern(row, col));
      if (own == 0) continue;
      double near = 0;
      for (Index r = std::max<Index>(row - 1, 0); r < std::min(row + 2, events.rows); ++r)
        for (Index c = std::max<Index>(col - 1, 0); c < std::min(col + 2, events.cols); ++c)
          near += static_cast<double>(pattern(r, c));
      pairs += own * near;
      all += own;
    }
  return all > 0 ? 1 - std::exp(-pairs / all * 2 * cluster_s / events.duration_s) : 0;
}

std::vector<std::string> warnings_of(const TimepixEvents& events, const TimepixOptions& options) {
  std::vector<std::string> warnings;
  if (events.timing.by_lines)
    warn_of_lines(events, options, warnings);
  else
    warn_of_steady_scan(events, options, warnings);
  if (events.placed() == 0) warnings.push_back("no electron is within the scan");
  warn_of_file(events, options, warnings);
  if (const double overlap = overlap_by_chance(events, options.cluster_s()); overlap > notable_overlap)
    warnings.push_back(
        fmt::format("{} of the electrons or more overlap another one by chance, and count once with it; "
                    "give a smaller {}, or less current",
                    percent(overlap), setting("cluster_time")));
  if (share(events.cut, events.packets.hits) > notable_cut)
    warnings.push_back(fmt::format(
        "{} hits would make electrons last longer than {} times {} and begin others: pixels that never rest",
        events.cut, Clusterer::longest_windows, setting("cluster_time")));
  return warnings;
}

std::vector<std::string> lines_of(const TimepixEvents& events, const TimepixOptions& options) {
  std::vector<std::string> lines;
  const PacketCounts& packets = events.packets;
  const std::string parts = packets.chunks > 0
                                ? fmt::format("{} chunks of {} chip{}", packets.chunks, packets.of_chip.size(),
                                              packets.of_chip.size() == 1 ? "" : "s")
                                : std::string("records of 16 bytes");
  lines.push_back(fmt::format(
      "file      {} hits in {}, {:.3g} million a second; {}", packets.hits, format_seconds(events.duration_s),
      events.duration_s > 0 ? static_cast<double>(packets.hits) / events.duration_s / 1e6 : 0, parts));
  const std::string shape =
      fmt::format("{} x {} positions of {}", events.scan_rows, events.scan_cols, format_seconds(options.dwell_s()));
  const std::string edges = events.timing.channel ? name_of(*events.timing.channel) : "";
  if (events.timing.by_lines)
    lines.push_back(fmt::format("scan      {}; lines begin at the {} {}: {}", shape, events.trigger_edges, edges,
                                events.timing.because));
  else
    lines.push_back(fmt::format("scan      {}, without a break from the first {} on: {}", shape,
                                events.timing.channel ? "of the " + edges : "hit", events.timing.because));
  const double per_position =
      events.reached > 0 ? static_cast<double>(events.placed()) / static_cast<double>(events.reached) : 0;
  const std::string how = options.cluster_s() > 0
                              ? "hits of pixels that touch, within " + format_seconds(options.cluster_s()) + ", are one"
                              : "every hit is one";
  lines.push_back(fmt::format("electrons {} of {} hits ({:.3g} hits each: {}); {} in the scan, {:.4g} a position",
                              events.electrons, packets.hits - events.late_hits - events.stray_hits,
                              share(packets.hits - events.late_hits - events.stray_hits, events.electrons), how,
                              events.placed(), per_position));
  lines.push_back(fmt::format("outside   {} electrons before the scan, {} in flybacks, {} after the scan",
                              events.before, events.flyback, events.after));
  lines.push_back(
      fmt::format("order     {} of the hits came after later ones, by {} at most; {} too late",
                  percent(share(packets.out_of_order, packets.hits)),
                  format_seconds(static_cast<double>(packets.most_out_of_order) / static_cast<double>(ticks_per_s)),
                  events.late_hits));
  return lines;
}

Value value_of(const TimepixEvents& events, const TimepixOptions& options) {
  const PacketCounts& packets = events.packets;
  Value value;
  Value& scan = value["scan"];
  scan["rows"] = events.scan_rows;
  scan["cols"] = events.scan_cols;
  scan["dwell_s"] = options.dwell_s();
  scan["by_lines"] = events.timing.by_lines;
  scan["edges"] = events.timing.channel ? Value(name_of(*events.timing.channel)) : Value();
  scan["because"] = events.timing.because;
  scan["edge_count"] = events.trigger_edges;
  scan["edge_distance_s"] = events.line_s;
  scan["line_s"] = durations_of(events, options).line_s;
  scan["positions_reached"] = events.reached;
  Value& hits = value["hits"];
  hits["count"] = packets.hits;
  hits["duration_s"] = events.duration_s;
  hits["out_of_order"] = packets.out_of_order;
  hits["most_out_of_order_s"] = static_cast<double>(packets.most_out_of_order) / static_cast<double>(ticks_per_s);
  hits["late"] = events.late_hits;
  hits["stray"] = events.stray_hits;
  hits["integrated"] = packets.integrated;
  hits["overflows"] = packets.overflows;
  for (const auto& [chip, count] : packets.of_chip) hits["of_chip"][std::to_string(chip)] = count;
  Value& electrons = value["electrons"];
  electrons["count"] = events.electrons;
  electrons["in_scan"] = events.placed();
  electrons["before"] = events.before;
  electrons["flyback"] = events.flyback;
  electrons["after"] = events.after;
  electrons["cluster_time_s"] = options.cluster_s();
  electrons["by_number_of_hits"] = std::vector<std::uint64_t>(events.of_hits.begin(), events.of_hits.end());
  electrons["overlap_by_chance"] = overlap_by_chance(events, options.cluster_s());
  electrons["cut"] = events.cut;
  Value& words = value["words"];
  words["chunks"] = packets.chunks;
  for (int c = 0; c < tdc_channels; ++c)
    words["edges"][name_of(static_cast<TdcChannel>(c))] = packets.edges[static_cast<std::size_t>(c)];
  words["late_edges"] = events.late_edges;
  words["unknown_edges"] = packets.other_edges;
  words["global_time"] = packets.global;
  words["control"] = packets.control;
  words["end"] = packets.ends;
  words["unknown"] = Value::object();
  for (const auto& [type, count] : packets.unknown) words["unknown"][fmt::format("0x{:x}", type)] = count;
  words["damaged_places"] = packets.damaged_places;
  words["skipped_bytes"] = packets.skipped_bytes;
  value["hit_rate"]["bin_s"] = events.rate.bin_s;
  value["hit_rate"]["hits"] = events.rate.hits;
  return value;
}

namespace {

Array counts_of(const TimepixEvents& events) {
  Array counts(Device::cpu(), {events.scan_rows, events.scan_cols}, DType::u64);
  const auto ends = events.offsets.view<std::uint64_t, 1>();
  std::uint64_t* const count = counts.view<std::uint64_t, 2>().data;
  for (Index p = 0; p < counts.count(); ++p) count[p] = ends(p + 1) - ends(p);
  return counts;
}

}  // namespace

Contents contents_of(const std::shared_ptr<const TimepixEvents>& events, const TimepixOptions& options,
                     const std::string& command) {
  const auto kept = [&](const Array& array) { return alias(std::shared_ptr<const Array>(events, &array)); };
  const Value all = value_of(*events, options);
  Value parameters;
  for (const char* part : {"scan", "electrons"}) parameters[part] = *all.find(part);
  Contents contents = event_contents({.scan_rows = events->scan_rows,
                                      .scan_cols = events->scan_cols,
                                      .rows = events->rows,
                                      .cols = events->cols,
                                      .offsets = kept(events->offsets),
                                      .index = kept(events->index),
                                      .frames = kept(events->frames),
                                      .parameters = to_json(parameters, -1)},
                                     command);
  contents.add("pattern", {"row", "column"}, kept(events->pattern)).unit("electrons");
  contents.add("counts", {"scan row", "scan column"}, counts_of(*events)).unit("electrons");
  return contents;
}

Array picture_of(const TimepixEvents& events) {
  std::vector<Panel> panels;
  panels.push_back(
      {"sum of patterns",
       render_image(events.pattern, {.colours = ColourMap::inferno, .stretch = Stretch::log, .colour_bar = true})});
  panels.push_back({"electrons of each position", render_image(counts_of(events), {.colour_bar = true})});
  return montage(panels, 2);
}

}  // namespace sonde::stem
