// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/stempy_file.h"

#include <cstdint>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/run/write_contents.h"

namespace sonde::stem {
namespace {

/// Rows and columns.
std::pair<std::int64_t, std::int64_t> extents_of(const Contents& contents, const std::string& name) {
  for (const auto& [key, value] : contents.attributes())
    if (const auto* two = std::get_if<std::vector<double>>(&value); key == name && two != nullptr && two->size() == 2)
      return {static_cast<std::int64_t>((*two)[0]), static_cast<std::int64_t>((*two)[1])};
  throw Error(ErrorKind::internal, "events without " + name);
}

}  // namespace

void describe_event_format(EventFormat& format, Fields& fields) {
  fields.choice("format", format, {{"sonde", EventFormat::sonde}, {"stempy", EventFormat::stempy}},
                {.help = "layout of the .h5 file: one list with offsets, or the one that stempy reads"});
}

void write_events(const std::string& path, EventFormat format, const Contents& events, const std::string& command) {
  if (format == EventFormat::stempy) return write_stempy(path, events, command);
  write_contents(path, events);
}

void write_stempy(const std::string& path, const Contents& events, const std::string& command) {
  constexpr const char *frames = "/electron_events/frames", *positions = "/electron_events/scan_positions";
  const Array& offsets = events.find("events/offsets")->values;
  const Array& index = events.find("events/index")->values;
  const auto [scan_rows, scan_cols] = extents_of(events, "events/scan_shape");
  const auto [rows, cols] = extents_of(events, "events/frame_shape");
  Hdf5Writer writer(path);
  writer.attribute("/", "version", std::int64_t{3});
  writer.text_attribute("/", "sonde_version", std::string(build_info().version));
  writer.text_attribute("/", "command", command);
  writer.integer_lists(frames,
                       {static_cast<const std::uint64_t*>(offsets.data()), static_cast<std::size_t>(offsets.count())},
                       {static_cast<const std::uint32_t*>(index.data()), static_cast<std::size_t>(index.count())});
  writer.attribute(frames, "Nx", rows);
  writer.attribute(frames, "Ny", cols);
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(scan_rows * scan_cols));
  std::iota(numbers.begin(), numbers.end(), 0U);
  writer.array(positions, Array::from(numbers, {scan_rows * scan_cols}));
  writer.attribute(positions, "Nx", scan_cols);
  writer.attribute(positions, "Ny", scan_rows);
  writer.finish();
}

}  // namespace sonde::stem
