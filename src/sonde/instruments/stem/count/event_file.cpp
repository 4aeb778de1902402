// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/event_file.h"

#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/events/stored_events.h"

namespace sonde::stem {
namespace {

template <class T>
Array shared(const std::shared_ptr<const EventList>& list, const std::vector<T>& of) {
  // The array is only read: Contents hands out const elements.
  return Array::borrowed(const_cast<T*>(of.data()), {static_cast<Index>(of.size())}, {1}, dtype_of<T>, [list] {});
}

}  // namespace

Contents event_contents(EventArrays list, const std::string& command) {
  Contents contents;
  contents.attribute("schema", std::string(event_schema));
  const auto two = [](Index a, Index b) { return std::vector<double>{static_cast<double>(a), static_cast<double>(b)}; };
  contents.attribute("events/scan_shape", two(list.scan_rows, list.scan_cols));
  contents.attribute("events/frame_shape", two(list.rows, list.cols));
  contents.attribute("events/parameters", list.parameters);
  const auto add = [&](const std::string& name, const char* axis, Array values, const char* frame) {
    Contents::Variable& variable = contents.add("events/" + name, {axis}, std::move(values));
    variable.attributes.emplace_back("frame", std::string(frame));
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command);
  };
  add("offsets", "position or end", std::move(list.offsets), "scan");
  add("index", "event", std::move(list.index), "detector");
  add("frames", "position", std::move(list.frames), "scan");
  return contents;
}

Contents event_contents(std::shared_ptr<const EventList> list, const std::string& command) {
  return event_contents({.scan_rows = list->scan_rows,
                         .scan_cols = list->scan_cols,
                         .rows = list->rows,
                         .cols = list->cols,
                         .offsets = shared(list, list->offsets),
                         .index = shared(list, list->index),
                         .frames = shared(list, list->frames),
                         .parameters = list->parameters},
                        command);
}

bool is_event_file(const std::string& path) {
  try {
    return holds_events(Hdf5File::open(path));
  } catch (const Error&) {
    return false;  // what it is instead, the reader of scans says
  }
}

EventList read_event_file(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  if (!holds_events(file))
    throw Error(ErrorKind::bad_file, path + ": not a file of events").hint("expected the output of sonde stem count");
  const std::unique_ptr<StoredEvents> stored = open_stored_events(file);
  EventList list{.scan_rows = stored->scan_rows,
                 .scan_cols = stored->scan_cols,
                 .rows = stored->rows,
                 .cols = stored->cols,
                 .offsets = stored->offsets,
                 .frames = stored->frames,
                 .parameters = stored->parameters};
  list.index.resize(list.offsets.back());
  stored->read(0, list.positions(), list.index);
  require_sound(path, list);
  return list;
}

}  // namespace sonde::stem
