// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <tuple>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/process.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/bench/number_of.h"
#include "sonde/engine/memory/host_memory.h"
#include "sonde/engine/report/json.h"

namespace sonde {
namespace {

double limit_of(const MachineRates& machine, Traffic traffic) {
  switch (traffic) {
    case Traffic::memory:
      return machine.memory_bytes_per_s;
    case Traffic::disk:
      return machine.disk_bytes_per_s;
    case Traffic::link:
      return machine.link_bytes_per_s;
  }
  return 0;
}

Value operation_value(const Operation& operation, const Measured& measured, const MachineRates& machine) {
  const Spread steady = measured.steady();
  Value value;
  value["name"] = operation.name;
  value["first_s"] = measured.first_s;
  value["steady_s"] = steady.to_value();
  value["mode_s"] = half_sample_mode(measured.samples);
  if (operation.bytes > 0 && steady.median > 0) {
    value["bytes"] = operation.bytes;
    value["bytes_per_s"] = operation.bytes / steady.median;
    if (const double limit = limit_of(machine, operation.traffic); limit > 0)
      value["bandwidth_fraction"] = operation.bytes / steady.median / limit;
  }
  if (operation.flops > 0 && steady.median > 0) {
    value["flops"] = operation.flops;
    value["flops_per_s"] = operation.flops / steady.median;
    if (machine.flops_per_s > 0) value["flops_fraction"] = operation.flops / steady.median / machine.flops_per_s;
  }
  if (operation.items > 0) {
    value["items"] = operation.items;
    value["item_s"] = steady.median / operation.items;
  }
  if (operation.difference) value["difference"] = operation.difference();
  return value;
}

struct PeerSaid {
  double seconds = 0, peak_bytes = 0;  ///< 0: not said
};

/// What is in a peer's last line.
PeerSaid said_by(const Peer& peer) {
  const std::optional<std::string> output = program_output(peer.command);
  if (!output)
    throw Error(ErrorKind::not_supported,
                fmt::format("`{}` could not be run, or failed", fmt::join(peer.command, " ")));
  const std::vector<std::string> lines = split(trim(*output), '\n');
  const Value said = parse_json(lines.empty() ? "" : lines.back(), peer.name);
  const Value* seconds = said.find("seconds");
  if (seconds == nullptr || !seconds->is_number())
    throw Error(ErrorKind::bad_file, fmt::format("{}: no \"seconds\" in its last line", peer.name));
  return {.seconds = seconds->as_real(), .peak_bytes = number_of(said, "peak_rss_bytes")};
}

/// A peer in turns with the operations. Once it has failed it is not started again, and its times count nothing.
struct PeerRun {
  const Peer& peer;
  std::string failure;
  double peak_bytes = 0;

  double seconds() {
    if (!failure.empty()) return 0;
    try {
      const PeerSaid said = said_by(peer);
      peak_bytes = std::max(peak_bytes, said.peak_bytes);
      return said.seconds;
    } catch (const Error& error) {
      failure = error.message();
      return 0;
    }
  }
};

std::string text_of(const Value& object, const char* key) {
  const Value* value = object.find(key);
  return value != nullptr && value->is_text() ? value->as_text() : "";
}

double median_of(const Value& operation) {
  const Value* steady = operation.find("steady_s");
  return steady == nullptr ? 0 : number_of(*steady, "median");
}

/// The time of one item, else of a call.
double cost_of(const Value& operation) {
  const double item = number_of(operation, "item_s");
  return item > 0 ? item : median_of(operation);
}

/// How far operations are from the floors that they name.
void add_distances(const std::vector<Operation>& operations, Value::List& rows) {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].floor.empty()) continue;
    const auto floor = std::find_if(rows.begin(), rows.end(),
                                    [&](const Value& row) { return text_of(row, "name") == operations[i].floor; });
    if (floor == rows.end() || !(cost_of(*floor) > 0)) continue;
    rows[i]["floor"] = operations[i].floor;
    rows[i]["distance"] = cost_of(rows[i]) / cost_of(*floor);
  }
}

}  // namespace

Index whole_size(const std::string& size, const char* what) {
  Index number = 0;
  const auto [end, status] = std::from_chars(size.data(), size.data() + size.size(), number);
  if (status != std::errc() || end != size.data() + size.size() || number < 1)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a number of {}", setting("sizes"), size, what))
        .hint("give positive whole numbers, separated by commas");
  return number;
}

Value run_bench_point(const BenchCase& bench_case, const BenchPoint& point, const MachineRates& machine,
                      const Sampling& sampling, Trace* trace) {
  const Stopwatch watch;
  const double began = trace != nullptr ? trace->now() : 0;
  Value value;
  value["size"] = point.size;
  value["device"] = point.device.name();
  value["workers"] = point.workers;
  const Value where = value;
  PreparedCase prepared;
  try {
    prepared = bench_case.prepare(point);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::budget) throw;  // a size too large for this machine says nothing of the others
    value["absent"] = error.message();
    value["operations"] = value["peers"] = Value::list();
    return value;
  }
  value["input"] = prepared.input;
  value["prepare_s"] = watch.seconds();
  if (trace != nullptr) trace->add("prepare", began, where);

  std::vector<std::function<double()>> calls;
  for (const Operation& operation : prepared.operations)
    calls.push_back([&operation, &where, trace] {
      if (operation.before) operation.before();
      const double start = trace != nullptr ? trace->now() : 0;
      const Stopwatch call;
      operation.run();
      const double seconds = operation.own_s ? operation.own_s() : call.seconds();
      if (trace != nullptr) trace->add(operation.name, start, where);
      return seconds;
    });
  Value peers = Value::list();
  const auto add_failure = [&](const Peer& peer, const char* how, const std::string& reason) {
    Value row;
    row["name"] = peer.name;
    row[how] = reason;
    peers.push_back(std::move(row));
  };
  std::vector<PeerRun> present;
  present.reserve(prepared.peers.size());  // calls point to its elements
  for (const Peer& peer : prepared.peers) {
    try {
      (void)said_by(peer);
      calls.push_back([&run = present.emplace_back(PeerRun{peer, ""})] { return run.seconds(); });
    } catch (const Error& error) {
      add_failure(peer, "absent", error.message());
    }
  }
  const std::vector<Measured> measured = measure_in_turns(calls, sampling);
  Value::List rows;
  for (std::size_t i = 0; i < prepared.operations.size(); ++i)
    rows.push_back(operation_value(prepared.operations[i], measured[i], machine));
  add_distances(prepared.operations, rows);
  value["operations"] = Value::list();
  for (Value& row : rows) value["operations"].push_back(std::move(row));
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (!present[i].failure.empty()) {
      add_failure(present[i].peer, "failed", present[i].failure);
      continue;
    }
    const Spread steady = measured[prepared.operations.size() + i].steady();
    Value row;
    row["name"] = present[i].peer.name;
    row["steady_s"] = steady.to_value();
    if (present[i].peak_bytes > 0) row["peak_rss_bytes"] = static_cast<Index>(present[i].peak_bytes);
    if (measured.front().steady().median > 0) row["ratio"] = steady.median / measured.front().steady().median;
    peers.push_back(std::move(row));
  }
  value["peers"] = std::move(peers);
  value["peak_rss_bytes"] = resident_memory().peak;
  return value;
}

std::string peers_folder(const std::string& program) {
  namespace fs = std::filesystem;
  if (const char* named = std::getenv("SONDE_PEERS"); named != nullptr && *named != '\0') return named;
  const fs::path binaries = fs::path(program).parent_path();
  if (const fs::path installed = (binaries.parent_path() / "share/sonde/peers"); is_folder(installed))
    return installed.string();
  for (fs::path above = binaries; above.has_relative_path(); above = above.parent_path())
    if (is_folder(above / "bench/peers")) return (above / "bench/peers").string();
  return "bench/peers";
}

Peer python_peer(const std::string& name, const std::string& script, const std::vector<std::string>& arguments) {
  const std::string folder = peers_folder(canonical_path("/proc/self/exe").string());
  Peer peer{name, {"/usr/bin/python3", (std::filesystem::path(folder) / script).string()}};
  peer.command.insert(peer.command.end(), arguments.begin(), arguments.end());
  return peer;
}

Value speedups(const Value& points) {
  using Key = std::tuple<std::string, std::string, std::string>;  // size, device, operation
  std::map<Key, double> alone;
  const auto for_each = [&](auto&& body) {
    for (const Value& point : points.items())
      for (const Value& operation : point.find("operations")->items())
        if (const double median = median_of(operation); median > 0)
          body(Key{text_of(point, "size"), text_of(point, "device"), text_of(operation, "name")},
               number_of(point, "workers"), median);
  };
  for_each([&](const Key& key, double workers, double median) {
    if (workers == 1) alone[key] = median;
  });
  Value found = Value::list();
  for_each([&](const Key& key, double workers, double median) {
    const auto one = alone.find(key);
    if (workers == 1 || one == alone.end()) return;
    Value row;
    row["size"] = std::get<0>(key);
    row["device"] = std::get<1>(key);
    row["operation"] = std::get<2>(key);
    row["workers"] = static_cast<Index>(workers);
    row["speedup"] = one->second / median;
    row["efficiency"] = one->second / median / workers;
    found.push_back(std::move(row));
  });
  return found;
}

Value crossovers(const Value& points, bool same_work) {
  struct Entry {
    std::string series;
    double median = 0, deviation = 0;
  };
  std::vector<std::pair<std::string, std::vector<Entry>>> sizes;  // in the order in which they were run
  for (const Value& point : points.items()) {
    const Value* operations = point.find("operations");
    if (operations == nullptr || operations->size() == 0) continue;
    for (const Value& operation : operations->items()) {
      const Value* steady = operation.find("steady_s");
      if (steady == nullptr) continue;
      const Spread spread{number_of(*steady, "median"), number_of(*steady, "min"), number_of(*steady, "mad"),
                          static_cast<Index>(number_of(*steady, "samples"))};
      const std::string size = text_of(point, "size");
      if (sizes.empty() || sizes.back().first != size) sizes.push_back({size, {}});
      std::string series = fmt::format("{} x {:.0f}", text_of(point, "device"), number_of(point, "workers"));
      if (same_work) series += ", " + text_of(operation, "name");
      sizes.back().second.push_back({std::move(series), spread.median, spread.uncertainty()});
      if (!same_work) break;
    }
  }
  Value found = Value::list();
  std::string leader, leader_size;
  for (const auto& [size, entries] : sizes) {
    const auto faster = [](const Entry& a, const Entry& b) { return a.median < b.median; };
    const Entry& fastest = *std::min_element(entries.begin(), entries.end(), faster);
    const auto before =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.series == leader; });
    // Noise does not change the leader: it must be beaten by three deviations and three per cent, as in compare.h.
    const double margin = before == entries.end()
                              ? 0
                              : std::max(3 * std::hypot(before->deviation, fastest.deviation), 0.03 * before->median);
    if (before == entries.end() || before->median - fastest.median > margin) {
      if (!leader.empty()) {
        Value crossing;
        crossing["between"].push_back(leader_size);
        crossing["between"].push_back(size);
        crossing["from"] = leader;
        crossing["to"] = fastest.series;
        found.push_back(std::move(crossing));
      }
      leader = fastest.series;
    }
    leader_size = size;
  }
  return found;
}

Value growth(const Value& points) {
  struct Line {
    std::string operation, device;
    Index workers = 0;
    std::vector<double> sizes, costs;  // logarithms
  };
  std::vector<Line> lines;
  for (const Value& point : points.items()) {
    const std::string size = text_of(point, "size");
    double number = 0;
    const auto [end, status] = std::from_chars(size.data(), size.data() + size.size(), number);
    if (status != std::errc() || end != size.data() + size.size() || !(number > 0)) continue;
    for (const Value& operation : point.find("operations")->items()) {
      const double cost = cost_of(operation);
      if (!(cost > 0)) continue;
      const std::string name = text_of(operation, "name"), device = text_of(point, "device");
      const Index workers = point.find("workers")->as_whole();
      auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& each) {
        return each.operation == name && each.device == device && each.workers == workers;
      });
      if (line == lines.end()) line = lines.insert(line, {name, device, workers, {}, {}});
      line->sizes.push_back(std::log(number));
      line->costs.push_back(std::log(cost));
    }
  }
  Value found = Value::list();
  for (const Line& line : lines) {
    const auto n = static_cast<double>(line.sizes.size());
    if (n < 3) continue;
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < line.sizes.size(); ++i) {
      x += line.sizes[i] / n;
      y += line.costs[i] / n;
    }
    for (std::size_t i = 0; i < line.sizes.size(); ++i) {
      xx += (line.sizes[i] - x) * (line.sizes[i] - x);
      xy += (line.sizes[i] - x) * (line.costs[i] - y);
      yy += (line.costs[i] - y) * (line.costs[i] - y);
    }
    if (!(xx > 0)) continue;
    Value row;
    row["operation"] = line.operation;
    row["device"] = line.device;
    row["workers"] = line.workers;
    row["sizes"] = static_cast<Index>(line.sizes.size());
    row["exponent"] = xy / xx;
    row["scatter"] = std::sqrt(std::max(0.0, yy - xy * xy / xx) / n);
    found.push_back(std::move(row));
  }
  return found;
}

std::string items_text(const Value& points, const std::string& item) {
  std::string text;
  for (const Value& point : points.items())
    for (const Value& operation : point.find("operations")->items()) {
      const double each = number_of(operation, "item_s"), distance = number_of(operation, "distance");
      if (!(each > 0) && !(distance > 0)) continue;
      const double workers = number_of(point, "workers");
      text += fmt::format("{:<14} {:<30} {:.0f} thread{}", text_of(point, "size"), text_of(operation, "name"), workers,
                          workers == 1 ? " " : "s");
      if (each > 0) text += fmt::format("  {:>9} per {}", format_seconds(each), item);
      if (distance > 0) text += fmt::format(", {:.2f} x {}", distance, text_of(operation, "floor"));
      text += '\n';
    }
  return text;
}

std::string bench_text(const Value& points) {
  std::string text =
      fmt::format("{:<14} {:<8} {:>7}  {:<30} {:>10} {:>10} {:>7} {:>11} {:>8} {:>10}\n", "size", "device", "workers",
                  "operation", "first", "median", "spread", "rate", "machine", "peak");
  const auto percent = [](double fraction) { return fraction > 0 ? fmt::format("{:.0f} %", 100 * fraction) : ""; };
  for (const Value& point : points.items()) {
    const auto row = [&](const std::string& name, const Value& operation, const std::string& rate,
                         const std::string& share) {
      const double median = median_of(operation);
      const Value* steady = operation.find("steady_s");
      const double mad = steady == nullptr ? 0 : number_of(*steady, "mad");
      const double first_s = number_of(operation, "first_s"), own = number_of(operation, "peak_rss_bytes");
      const double peak_bytes = own > 0 ? own : number_of(point, "peak_rss_bytes");
      text += fmt::format("{:<14} {:<8} {:>7.0f}  {:<30} {:>10} {:>10} {:>7} {:>11} {:>8} {:>10}\n",
                          text_of(point, "size"), text_of(point, "device"), number_of(point, "workers"), name,
                          first_s > 0 ? format_seconds(first_s) : "", format_seconds(median),
                          median > 0 ? fmt::format("{:.1f} %", 100 * mad / median) : "", rate, share,
                          format_bytes(peak_bytes));
    };
    if (point.find("absent") != nullptr)
      text += fmt::format("{:<14} {:<8} {:>7.0f}  not run: {}\n", text_of(point, "size"), text_of(point, "device"),
                          number_of(point, "workers"), text_of(point, "absent"));
    for (const Value& operation : point.find("operations")->items()) {
      const double bytes_per_s = number_of(operation, "bytes_per_s"), flops_per_s = number_of(operation, "flops_per_s");
      const std::string rate = bytes_per_s > 0   ? fmt::format("{:.3g} GB/s", bytes_per_s / 1e9)
                               : flops_per_s > 0 ? fmt::format("{:.3g} GF/s", flops_per_s / 1e9)
                                                 : "";
      row(text_of(operation, "name"), operation, rate,
          percent(std::max(number_of(operation, "bandwidth_fraction"), number_of(operation, "flops_fraction"))));
    }
    for (const Value& peer : point.find("peers")->items()) {
      if (peer.find("absent") != nullptr)
        text += fmt::format("{:<31}  {}: not run, {}\n", "", text_of(peer, "name"), text_of(peer, "absent"));
      else if (peer.find("failed") != nullptr)
        text +=
            fmt::format("{:<31}  {}: failed while measuring, {}\n", "", text_of(peer, "name"), text_of(peer, "failed"));
      else
        row(text_of(peer, "name"), peer, fmt::format("{:.1f} x time", number_of(peer, "ratio")), "");
    }
  }
  return text;
}

}  // namespace sonde
