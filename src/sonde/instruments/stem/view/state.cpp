// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/view/state_reader.h"

namespace sonde::stem {

const Value& state_member(const Value& state, std::string_view key, const std::string& where) {
  const Value* found = state.find(key);
  if (found == nullptr)
    throw Error(ErrorKind::bad_file, fmt::format("{}: no \"{}\", so it is not a state of the viewer", where, key))
        .hint("give a file that `sonde view` saved");
  return *found;
}

void require_state(const Value& state, const std::string& where) {
  const Value& schema = state_member(state, "schema", where);
  if (!schema.is_text() || schema.as_text() != state_schema)
    throw Error(ErrorKind::bad_file, fmt::format("{}: schema is not {}", where, state_schema))
        .hint("give a file that `sonde view` saved");
}

StateScan scan_of_state(const Value& state, const std::string& where) {
  require_state(state, where);
  return during("reading the state " + where, [&] {
    const auto& datasets = state_member(state, "datasets", where).items();
    const auto chosen = static_cast<std::size_t>(state_member(state, "dataset", where).as_whole());
    if (chosen >= datasets.size())
      throw Error(ErrorKind::bad_file, fmt::format("{}: data set {} of {}", where, chosen, datasets.size()));
    const Value& dataset = datasets[chosen];
    StateScan scan;
    scan.path = state_member(dataset, "path", where).as_text();
    scan.record = state_member(dataset, "record", where);
    if (scan.record.is_null())
      throw Error(ErrorKind::bad_input, fmt::format("{}: saved before {} was loaded", where, scan.path))
          .hint("save the state again when the images are there");
    scan.load = load_options_from(scan.record, where);
    scan.detectors.detector.clear();
    for (const Value& channel : state_member(state, "channels", where).items()) {
      const std::string& text = state_member(channel, "detector", where).as_text();
      auto& all = scan.detectors.detector;
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
    }
    if (scan.detectors.detector.empty())
      throw Error(ErrorKind::bad_input, fmt::format("{}: the state has no detector", where))
          .hint("set one in the viewer, then save");
    if (const Value* beam = dataset.find("beam"); beam != nullptr && !beam->is_null()) {
      scan.detectors.centre = fmt::format("{:.17g},{:.17g}", state_member(*beam, "row", where).as_real(),
                                          state_member(*beam, "col", where).as_real());
      const double radius = state_member(*beam, "radius", where).as_real();
      if (radius > 0) scan.detectors.radius = radius;
    }
    return scan;
  });
}

}  // namespace sonde::stem
