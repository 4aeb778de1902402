// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/line_contents.h"

#include <fmt/format.h>

#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/field/stored_values.h"
#include "sonde/instruments/maxwell/field/trace_records.h"

namespace sonde::maxwell {

Contents line_contents(const FieldLine& line) {
  Contents contents;
  contents.attribute("schema", std::string(line_schema));
  contents.attribute("format", line.format);
  contents.attribute("title", line.title);
  contents.attribute("quantity", line.quantity);
  contents.attribute("unit", line.unit);
  contents.attribute("dt", line.dt);
  contents.attribute("time_zero", line.time_zero);
  contents.attribute("separation", line.separation);
  contents.attribute("nominal_frequency", line.nominal_frequency);
  contents.attribute("channel", std::int64_t{line.channel});
  contents.attribute("channels", std::int64_t{line.channels});
  contents.attribute("history", fmt::format("{}", fmt::join(line.history, "\n")));
  contents.attribute("warnings", fmt::format("{}", fmt::join(line.warnings, "\n")));
  contents.add("data", {"trace", "time"}, Array::from(line.values, {line.traces, line.samples})).unit(line.unit);
  if (!line.positions.empty())
    contents.add("position", {"trace"}, Array::from(line.positions, {line.traces})).unit("m");
  std::vector<double> time(static_cast<std::size_t>(line.samples));
  for (std::size_t n = 0; n < time.size(); ++n) time[n] = static_cast<double>(n) * line.dt - line.time_zero;
  contents.add("time", {"time"}, Array::from(time, {line.samples})).unit("s");
  return contents;
}

FieldLine read_line_contents(const std::string& path) {
  const StoredValues stored(path, line_schema);
  const auto channel = [&stored](const char* name) {
    const double value = stored.above_zero(name);
    if (value > 65535) throw stored.bad(fmt::format("{} = {:g}; expected up to 65535", name, value));
    return static_cast<Index>(value);
  };
  const NumberArray data = stored.array("data", 2);
  FieldLine line{.format = stored.text("format"),
                 .title = stored.text("title"),
                 .traces = data.shape[0],
                 .samples = data.shape[1],
                 .values = {data.values.begin(), data.values.end()},
                 .quantity = stored.text("quantity"),
                 .unit = stored.text("unit"),
                 .dt = stored.above_zero("dt"),
                 .time_zero = stored.number("time_zero"),
                 .separation = stored.number("separation"),
                 .nominal_frequency = stored.number("nominal_frequency"),
                 .channel = channel("channel"),
                 .channels = channel("channels"),
                 .history = stored.lines("history"),
                 .warnings = stored.lines("warnings")};
  if (data.shape.count() == 0) throw stored.bad(fmt::format("data is {}; expected traces", data.shape.text()));
  if (stored.has("position")) {
    line.positions = stored.array("position", 1).values;
    if (static_cast<Index>(line.positions.size()) != line.traces)
      throw stored.bad(fmt::format("{} positions for {} traces", line.positions.size(), line.traces));
  }
  require_finite(line, path);
  return line;
}

}  // namespace sonde::maxwell
