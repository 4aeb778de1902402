// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

/// Tables that only say what happens from now on.
constexpr std::string_view free_tables[] = {"engine", "constraint", "stop", "quality", "output"};

/// Such keys of other tables: where the measurement is and how it is kept, what is free when, how corrections step.
constexpr std::string_view free_keys[] = {
    "data.file",          "data.storage",        "data.tier",         "probe.start",     "object.start",
    "positions.start",    "positions.every",     "positions.stop",    "positions.step",  "positions.max_step_px",
    "positions.trials",   "positions.radius_px", "opr.start",         "opr.every",       "opr.relax",
    "opr.constant_power", "compute.waves",       "compute.wave_tier", "compute.scratch", "multi_start.at_once"};

bool is_free(const std::string& table, const std::string& key) {
  const auto among = [](const auto& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  return among(free_tables, table) || among(free_keys, table + "." + key);
}

/// Why a setting that has changed has no say any more; empty: it counts.
std::string why_fixed(const Tables::Table& table, Index item, const Field& field, const Reached& reached) {
  if (!is_free(table.name, field.key)) return "the checkpoint is of a run that began otherwise";
  if (table.name != "engine") return "";
  if (item < reached.engine) return fmt::format("the checkpoint is in engine {} already", reached.engine);
  if (item == reached.engine && field.key == "iterations" && field.value().as_whole() < reached.iterations)
    return fmt::format("{} are done", reached.iterations);
  return "";
}

}  // namespace

void settings_of(const CheckpointReader& checkpoint, std::span<const std::string> changes, RunFile& run) {
  run.parse(checkpoint.options(), checkpoint.path());
  const Value before = run.tables().echo();
  Problems problems;
  for (const std::string& change : changes) problems.collect([&] { run.tables().assign_text(change); });
  const Reached reached = reached_by(checkpoint);
  for (const Tables::Table& table : run.tables().all()) {
    const Value* told = before.find(table.name);
    for (std::size_t i = 0; i < table.items.size(); ++i) {
      const Value& was = table.list ? told->items()[i] : *told;
      for (const Field& field : table.items[i].fields.all()) {
        const Value* old = was.find(field.key);
        if (old != nullptr && *old == field.value()) continue;
        const std::string why = why_fixed(table, static_cast<Index>(i), field, reached);
        if (why.empty()) continue;
        problems.collect([&] {
          throw Error(ErrorKind::usage, fmt::format("{}.{}{} cannot change at a resume: {}", table.name,
                                                    table.list ? std::to_string(i) + "." : "", field.key, why))
              .hint("begin a run with it; object.file and probe.file take a result to start from");
        });
      }
    }
  }
  problems.throw_if_any("several settings cannot be used");
}

}  // namespace sonde::ptycho
