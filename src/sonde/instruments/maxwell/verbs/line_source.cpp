// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verbs/line_source.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/file.h"

namespace sonde::maxwell {
namespace {

/// FieldInfo::check.
void require_component(std::string_view text, std::string_view where) {
  for (const Component c : all_components)
    if (name(c) == text) return;
  throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a field component, Ex to Hz", where, text));
}

}  // namespace

void LineSource::describe(Fields& fields) {
  fields.add("component", component,
             {.help = "field component, Ex to Hz, of a simulated file; unset: all of an A-scan, the strongest E of a "
                      "B-scan, of records that of the first receiver",
              .check = require_component});
  fields.add("receiver", receiver,
             {.help = "which receiver of a simulated file, from 1; unset: the first one of gprMax, of records all of a "
                      "shot",
              .min = 1});
  fields.add("shot", shot, {.help = "which shot of records, from 1; unset: the first", .min = 1});
  fields.add("channel", channel, {.help = "which channel of a measured file, from 1", .min = 1});
  fields.add("allow_truncated", allow_truncated, {.help = "read the whole traces of a measured file that is cut off"});
}

LineChoice LineSource::choice() const {
  LineChoice made{.reading = {.channel = channel, .allow_truncated = allow_truncated}};
  if (!component.empty()) made.component = parse_component(component);
  if (receiver) made.receiver = *receiver - 1;
  if (shot) made.shot = *shot - 1;
  return made;
}

void LineSource::require_meant_for(LineFile kind, const std::string& path, const Run& run) const {
  const auto refuse = [&](const char* key, const char* has) {
    if (run.given(key))
      throw Error(ErrorKind::usage, fmt::format("{} has no {}", path, has)).hint("leave out " + setting(key));
  };
  const bool simulated = has_runs(kind) || kind == LineFile::records;
  if (kind != LineFile::field) {
    refuse("channel", "channels");
    refuse("allow_truncated", "traces that can be cut off");
  }
  if (!simulated) {
    refuse("component", "field components");
    refuse("receiver", "receivers");
  }
  if (kind != LineFile::records) refuse("shot", "shots");
}

FieldLine LineSource::read(const std::string& path) const {
  FieldLine line = read_line(path, choice());
  for (const std::string& warning : line.warnings) log_warning(warning);
  return line;
}

Reservation reserve_traces(const std::string& path, Run& run) {
  // The bytes of the file, its samples as float32 (four times as many where they have 8 bits), and a changed copy.
  const std::size_t bytes = static_cast<std::size_t>(File(path).size()) * 9;
  return run.host_budget().reserve(bytes, "the traces of " + path, "raise " + setting("memory"));
}

}  // namespace sonde::maxwell
