// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/contents.h"
#include "sonde/instruments/stem/count/event_list.h"

namespace sonde::stem {

/// An EventList as arrays: what is longer than memory is not a vector.
struct EventArrays {
  Index scan_rows = 0, scan_cols = 0, rows = 0, cols = 0;
  Array offsets;  ///< u64
  Array index;    ///< u32
  Array frames;   ///< u32
  std::string parameters = "{}";
};

/// /events/offsets u64 (positions + 1), /events/index u32 (event) = row * columns + column of the frame, /events/frames
/// u32 (position). The group has the attributes scan_shape and frame_shape (rows, columns) and parameters; each
/// variable has frame, sonde_version and command; the file has the schema. Nothing is copied: the arrays keep the list.
[[nodiscard]] Contents event_contents(std::shared_ptr<const EventList> list, const std::string& command);
[[nodiscard]] Contents event_contents(EventArrays list, const std::string& command);

/// Whether a path is an HDF5 file that says it holds events.
[[nodiscard]] bool is_event_file(const std::string& path);

/// The events of a file that event_contents() describes. The file may hold anything: throws Error(bad_file) "FILE:
/// damaged: FACT" where sizes, offsets and events contradict each other or the shapes, and "FILE: not a file of events"
/// for others.
[[nodiscard]] EventList read_event_file(const std::string& path);

}  // namespace sonde::stem
