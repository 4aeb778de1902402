// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/event_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sonde/instruments/stem/read/file_cursor.h"

namespace sonde::stem {

std::size_t EventList::bytes() const {
  return offsets.capacity() * sizeof(std::uint64_t) + sizeof(std::uint32_t) * (index.capacity() + frames.capacity());
}

void EventParts::end(Index position) {
  positions.push_back(position);
  ends.push_back(index.size());
}

void EventParts::append(const EventParts& more) {
  const std::uint64_t before = index.size();
  index.insert(index.end(), more.index.begin(), more.index.end());
  positions.insert(positions.end(), more.positions.begin(), more.positions.end());
  for (const std::uint64_t end : more.ends) ends.push_back(before + end);
}

void gather(const EventParts& parts, EventList& list) {
  const auto positions = static_cast<std::size_t>(list.positions());
  list.offsets.assign(positions + 1, 0);
  list.frames.assign(positions, 0);
  const auto first_of = [&](std::size_t part) { return part == 0 ? 0 : parts.ends[part - 1]; };
  for (std::size_t part = 0; part < parts.positions.size(); ++part) {
    const auto position = static_cast<std::size_t>(parts.positions[part]);
    ++list.frames[position];
    list.offsets[position + 1] += parts.ends[part] - first_of(part);
  }
  std::partial_sum(list.offsets.begin(), list.offsets.end(), list.offsets.begin());
  list.index.resize(parts.index.size());
  std::vector<std::uint64_t> next(list.offsets.begin(), list.offsets.end() - 1);
  for (std::size_t part = 0; part < parts.positions.size(); ++part) {
    std::uint64_t& to = next[static_cast<std::size_t>(parts.positions[part])];
    const auto* events = parts.index.data();
    std::copy(events + first_of(part), events + parts.ends[part], list.index.data() + to);
    to += parts.ends[part] - first_of(part);
  }
}

void require_sound(const std::string& path, const EventList& list) {
  const auto pixels = static_cast<std::uint64_t>(list.rows) * static_cast<std::uint64_t>(list.cols);
  for (Index p = 0; p < list.positions(); ++p) {
    const auto events = list.of(p);
    if (!events.empty() && list.frames[static_cast<std::size_t>(p)] == 0)
      throw damaged(path, fmt::format("position {} has {} events but no frame", p, events.size()));
    for (const std::uint32_t pixel : events)
      if (pixel >= pixels)
        throw damaged(path, fmt::format("an event of position {} is in pixel {} of a frame of {} x {}", p, pixel,
                                        list.rows, list.cols));
  }
}

}  // namespace sonde::stem
