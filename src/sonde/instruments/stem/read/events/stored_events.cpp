// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/events/stored_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/engine/io/hdf5_ragged.h"
#include "sonde/instruments/stem/read/file_cursor.h"
#include "sonde/instruments/stem/read/stored_group.h"

namespace sonde::stem {
namespace {

constexpr Index most_event_frame = 65536;
constexpr Index most_event_scan = Index{1} << 24;
constexpr const char* stempy_frames = "/electron_events/frames";
constexpr const char* stempy_positions = "/electron_events/scan_positions";

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

bool is_of_stempy(const Hdf5File& file) { return file.is_dataset(stempy_frames) && file.is_dataset(stempy_positions); }

/// Elements of any integer type.
std::vector<std::int64_t> integers_of(const Array& array) {
  std::vector<std::int64_t> integers;
  const auto copy = [&](auto element) {
    const auto* from = static_cast<const decltype(element)*>(array.data());
    integers.assign(from, from + array.count());
  };
  switch (array.dtype()) {
    case DType::u8:
      copy(std::uint8_t{});
      break;
    case DType::u16:
      copy(std::uint16_t{});
      break;
    case DType::u32:
      copy(std::uint32_t{});
      break;
    case DType::u64:
      copy(std::uint64_t{});
      break;
    case DType::i8:
      copy(std::int8_t{});
      break;
    case DType::i16:
      copy(std::int16_t{});
      break;
    case DType::i32:
      copy(std::int32_t{});
      break;
    case DType::i64:
      copy(std::int64_t{});
      break;
    default:
      break;
  }
  return integers;
}

/// A list for each frame, frames in any order of positions.
class StempyEvents final : public StoredEvents {
 public:
  explicit StempyEvents(const Hdf5File& file) : lists_(lists_of(file)) {
    path = file.path();
    format = "stempy";
    scan_because = fmt::format("attributes Ny and Nx of {}", stempy_positions);
    const std::int64_t version =
        file.attribute("/", "version").value_or(Hdf5Value{{}, {std::int64_t{1}}}).integer().value_or(0);
    if (version < 1 || version > 3)
      throw Error(ErrorKind::not_supported,
                  fmt::format("{}: version {} of stempy's files; 1 to 3 are read", path, version));
    rows = extent(file, stempy_frames, "Nx", most_event_frame);
    cols = extent(file, stempy_frames, "Ny", most_event_frame);
    scan_cols = extent(file, stempy_positions, "Nx", most_event_scan);
    scan_rows = extent(file, stempy_positions, "Ny", most_event_scan);
    if (scan_rows > most_event_scan / scan_cols)
      throw damaged(
          path, fmt::format("a scan of {} x {} positions; expected at most {}", scan_rows, scan_cols, most_event_scan));
    // Frames are few where most positions were left out, but not as few as that.
    if (positions() > std::max(Index{1} << 20, 64 * lists_.lists()))
      throw damaged(path,
                    fmt::format("a scan of {} x {} positions, but {} frames", scan_rows, scan_cols, lists_.lists()));
    place_frames(positions_of(file));
  }

  void read(Index first, Index last, std::span<std::uint32_t> pixels) const override {
    for (auto f = static_cast<std::size_t>(first_frame_[static_cast<std::size_t>(first)]);
         f < first_frame_[static_cast<std::size_t>(last)]; ++f) {
      const auto list = static_cast<std::size_t>(order_[f]);
      const std::size_t count = lists_.first()[list + 1] - lists_.first()[list];
      lists_.read(order_[f], pixels.first(count));
      pixels = pixels.subspan(count);
    }
  }

 private:
  static Hdf5IntegerLists lists_of(const Hdf5File& file) {
    auto lists = Hdf5IntegerLists::open(file, stempy_frames);
    if (!lists)
      throw damaged(file.path(), fmt::format("{} is {}; expected lists of integers", stempy_frames,
                                             file.dataset(stempy_frames).info().type_text));
    return std::move(*lists);
  }

  static Index extent(const Hdf5File& file, const char* dataset, const char* name, Index most) {
    const auto value = file.attribute(dataset, name);
    const auto found = value ? value->integer() : std::nullopt;
    if (!found || *found < 1 || *found > most)
      throw damaged(file.path(), fmt::format("{}: {} is not a whole number from 1 to {}", dataset, name, most));
    return *found;
  }

  /// Of each frame.
  [[nodiscard]] std::vector<std::int64_t> positions_of(const Hdf5File& file) const {
    const Hdf5Dataset dataset = file.dataset(stempy_positions);
    const Index stated = dataset.info().shape.count(), listed = lists_.lists();
    if (stated == listed && dataset.info().dtype && !is_float(*dataset.info().dtype)) {
      require_believable(fmt::format("{}, {}", path, stempy_positions), {.items = stated,
                                                                         .item_bytes = dataset.info().element_bytes,
                                                                         .chunks = 0,
                                                                         .file_bytes = file_bytes(path).value_or(0),
                                                                         .packed = !dataset.info().filters.empty()});
      return integers_of(dataset.read());
    }
    if (listed == 0 || listed % positions() != 0)
      throw damaged(path,
                    fmt::format("{} frames, but {} scan positions of {} x {}", listed, stated, scan_rows, scan_cols));
    std::vector<std::int64_t> made(static_cast<std::size_t>(listed));
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<Index>(i) / (listed / positions());
    return made;
  }

  /// Sorts frames by their positions, in their order.
  void place_frames(const std::vector<std::int64_t>& of_frames) {
    const auto count = static_cast<std::size_t>(positions());
    frames.assign(count, 0);
    offsets.assign(count + 1, 0);
    first_frame_.assign(count + 1, 0);
    for (std::size_t i = 0; i < of_frames.size(); ++i) {
      if (of_frames[i] < 0 || of_frames[i] >= positions())
        throw damaged(path, fmt::format("frame {} is of position {} of a scan of {} x {}", i, of_frames[i], scan_rows,
                                        scan_cols));
      const auto p = static_cast<std::size_t>(of_frames[i]);
      ++frames[p];
      ++first_frame_[p + 1];
      offsets[p + 1] += lists_.first()[i + 1] - lists_.first()[i];
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::partial_sum(first_frame_.begin(), first_frame_.end(), first_frame_.begin());
    order_.resize(of_frames.size());
    std::vector<std::uint64_t> next(first_frame_.begin(), first_frame_.end() - 1);
    for (std::size_t i = 0; i < of_frames.size(); ++i)
      order_[next[static_cast<std::size_t>(of_frames[i])]++] = static_cast<Index>(i);
  }

  Hdf5IntegerLists lists_;
  std::vector<std::uint64_t> first_frame_;  // (position + 1): where its frames begin in order_
  std::vector<Index> order_;                // lists by position
};

}  // namespace

bool holds_events(const Hdf5File& file) {
  const auto schema = file.attribute("/", "schema");
  return (schema && schema->text() == event_schema) || is_of_stempy(file);
}

std::unique_ptr<StoredEvents> open_stored_events(const Hdf5File& file) {
  std::unique_ptr<StoredEvents> events;
  if (is_of_stempy(file))
    events = std::make_unique<StempyEvents>(file);
  else
    events = std::make_unique<DividedEvents>(file);
  for (const auto& [path, value] : file.small_values()) events->metadata.emplace(path, value.printed());
  return events;
}

}  // namespace sonde::stem
