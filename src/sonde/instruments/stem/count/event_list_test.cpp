// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/event_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::stem {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

EventParts parts_of(const std::vector<std::pair<Index, std::vector<std::uint32_t>>>& frames) {
  EventParts parts;
  for (const auto& [position, pixels] : frames) {
    parts.index.insert(parts.index.end(), pixels.begin(), pixels.end());
    parts.end(position);
  }
  return parts;
}

EventList empty_list() { return {.scan_rows = 2, .scan_cols = 3, .rows = 5, .cols = 7}; }

TEST(EventList, IsInTheOrderOfTheScan) {
  EventList list = empty_list();
  gather(parts_of({{4, {3, 30}}, {0, {11}}, {1, {}}, {5, {34, 0, 2}}}), list);
  EXPECT_THAT(list.offsets, ElementsAre(0, 1, 1, 1, 1, 3, 6));
  EXPECT_THAT(list.index, ElementsAre(11, 3, 30, 34, 0, 2));
  EXPECT_THAT(list.frames, ElementsAre(1, 1, 0, 0, 1, 1));
  EXPECT_THAT(list.of(4), ElementsAre(3, 30));
  EXPECT_THAT(list.of(2), IsEmpty());
  EXPECT_EQ(list.events(), 6);
}

TEST(EventList, OfSeveralFramesOfAPositionHasThemAll) {
  EventList list = empty_list();
  gather(parts_of({{3, {8, 9}}, {1, {1}}, {3, {8}}, {3, {}}}), list);
  EXPECT_THAT(list.of(3), ElementsAre(8, 9, 8));
  EXPECT_THAT(list.frames, ElementsAre(0, 1, 0, 3, 0, 0));
}

TEST(EventList, IsTheSameHoweverPartsAreDivided) {
  EventList whole = empty_list(), halves = empty_list();
  gather(parts_of({{0, {1, 2}}, {2, {3}}, {1, {4, 5, 6}}, {5, {7}}}), whole);
  EventParts second = parts_of({{1, {4, 5, 6}}, {2, {3}}});
  second.append(parts_of({{5, {7}}, {0, {1, 2}}}));
  gather(second, halves);
  EXPECT_EQ(halves.offsets, whole.offsets);
  EXPECT_EQ(halves.index, whole.index);
  EXPECT_EQ(halves.frames, whole.frames);
}

TEST(EventList, MayBeOfNoFrame) {
  EventList list = empty_list();
  gather({}, list);
  EXPECT_THAT(list.offsets, ElementsAre(0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(list.frames, ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(list.events(), 0);
}

}  // namespace
}  // namespace sonde::stem
