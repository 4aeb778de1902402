// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/events/stored_events.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "sonde/instruments/stem/read/stored_group.h"

namespace sonde::stem {
namespace {

constexpr Index most_event_frame = 65536;
constexpr Index most_event_scan = Index{1} << 24;

/// One long list, which offsets divide.
class DividedEvents final : public StoredEvents {
 public:
  explicit DividedEvents(const Hdf5File& file) {
    const StoredGroup group(file, "/events");
    path = file.path();
    format = "events";
    scan_because = "attribute scan_shape of the events";
    std::tie(scan_rows, scan_cols) = group.extents("scan_shape", most_event_scan);
    std::tie(rows, cols) = group.extents("frame_shape", most_event_frame);
    offsets = group.offsets(positions());
    frames = group.elements<std::uint32_t>("frames", positions());
    events_ = group.dataset("index", DType::u32, static_cast<Index>(offsets.back()));
    if (const auto text = group.attribute("parameters")) parameters = text->text().value_or("{}");
    for (Index p = 0; p < positions(); ++p) {
      const auto i = static_cast<std::size_t>(p);
      if (frames[i] == 0 && offsets[i + 1] > offsets[i])
        throw group.wrong(fmt::format("position {} has {} events but no frame", p, offsets[i + 1] - offsets[i]));
    }
  }

  void read(Index first, Index last, std::span<std::uint32_t> pixels) const override {
    const auto begin = static_cast<Index>(offsets[static_cast<std::size_t>(first)]),
               end = static_cast<Index>(offsets[static_cast<std::size_t>(last)]);
    if (begin < end) events_.read_into({begin}, {end - begin}, std::as_writable_bytes(pixels));
  }

 private:
  Hdf5Dataset events_;
};

}  // namespace

bool holds_events(const Hdf5File& file) {
  const auto schema = file.attribute("/", "schema");
  return schema && schema->text() == event_schema;
}

std::unique_ptr<StoredEvents> open_stored_events(const Hdf5File& file) { return std::make_unique<DividedEvents>(file); }

}  // namespace sonde::stem
