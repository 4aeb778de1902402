// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/stem/count/test_events.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using testing::few_events;
using ::testing::HasSubstr;
using testing::write_events;

std::string error_of_file(const std::function<void(EventList&)>& damage, const std::string& without = "",
                          Array instead = {}) {
  const TemporaryFolder folder;
  EventList list = few_events();
  damage(list);
  write_events(folder.file("events.h5"), std::move(list), without, std::move(instead));
  return error_of(ErrorKind::bad_file, [&] { (void)read_event_file(folder.file("events.h5")); });
}

TEST(EventFile, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const EventList written = few_events();
  write_events(folder.file("events.h5"), few_events());
  const EventList read = read_event_file(folder.file("events.h5"));
  EXPECT_EQ(read.scan_rows, 3);
  EXPECT_EQ(read.scan_cols, 2);
  EXPECT_EQ(read.rows, 40);
  EXPECT_EQ(read.cols, 52);
  EXPECT_EQ(read.offsets, written.offsets);
  EXPECT_EQ(read.index, written.index);
  EXPECT_EQ(read.frames, written.frames);
  EXPECT_EQ(read.parameters, R"({"background":4})");
}

TEST(EventFile, MayHoldNoEvent) {
  const TemporaryFolder folder;
  EventList none{.scan_rows = 1, .scan_cols = 2, .rows = 3, .cols = 4};
  gather({}, none);
  write_events(folder.file("none.h5"), none);
  const EventList read = read_event_file(folder.file("none.h5"));
  EXPECT_EQ(read.events(), 0);
  EXPECT_EQ(read.offsets, none.offsets);
}

TEST(EventFile, ContentsKeepTheList) {
  Contents contents = event_contents(std::make_shared<const EventList>(few_events()), "sonde stem count");
  const Array& index = contents.find("events/index")->values;
  EXPECT_EQ((index.view<std::uint32_t, 1>()(2)), 1040U);
}

TEST(EventFile, IsDistinguishedFromOtherFiles) {
  const TemporaryFolder folder;
  write_events(folder.file("events.h5"), few_events());
  Hdf5Writer writer(folder.file("other.h5"));
  writer.text_attribute("/", "schema", "sonde.stem.bragg/1");
  writer.finish();
  EXPECT_TRUE(is_event_file(folder.file("events.h5")));
  EXPECT_FALSE(is_event_file(folder.file("other.h5")));
  EXPECT_FALSE(is_event_file(folder.file("absent.h5")));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_event_file(folder.file("other.h5")); }),
              HasSubstr("other.h5: not a file of events\nhint: expected the output of sonde stem count"));
}

TEST(EventFile, WhoseOffsetsContradictEachOtherIsRefused) {
  EXPECT_THAT(error_of_file([](EventList& of) { of.offsets[0] = 1; }),
              HasSubstr("events.h5: damaged: /events/offsets begins with 1; expected 0"));
  EXPECT_THAT(error_of_file([](EventList& of) { of.offsets[2] = 2; }),
              HasSubstr("damaged: /events/offsets decreases from 3 to 2 at position 1"));
  EXPECT_THAT(error_of_file([](EventList& of) { of.offsets[6] = 6; }),
              HasSubstr("damaged: /events/index is u32 (5,); expected u32 (6,)"));
  EXPECT_THAT(error_of_file([](EventList& of) { of.offsets[6] = std::uint64_t{1} << 60; }),
              HasSubstr("damaged: /events/offsets ends with 1152921504606846976"));
}

TEST(EventFile, WithAnEventOutsideOfTheFrameIsRefused) {
  EXPECT_THAT(error_of_file([](EventList& of) { of.index[4] = 40 * 52; }),
              HasSubstr("damaged: an event of position 3 is in pixel 2080 of a frame of 40 x 52"));
}

TEST(EventFile, WithEventsWithoutAFrameIsRefused) {
  EXPECT_THAT(error_of_file([](EventList& of) { of.frames[3] = 0; }),
              HasSubstr("damaged: position 3 has 2 events but no frame"));
}

TEST(EventFile, OfAShapeThatCannotBeIsRefused) {
  EXPECT_THAT(error_of_file([](EventList& of) { of.cols = 0; }),
              HasSubstr("damaged: /events: frame_shape is not two whole numbers from 1 to 65536"));
  EXPECT_THAT(error_of_file([](EventList& of) { of.scan_rows = -3; }),
              HasSubstr("damaged: /events: scan_shape is not two whole numbers from 1 to 16777216"));
}

TEST(EventFile, OfAnotherTypeOrWithoutAPartIsRefused) {
  EXPECT_THAT(error_of_file([](EventList&) {}, "events/index"), HasSubstr("damaged: /events/index is missing"));
  EXPECT_THAT(error_of_file([](EventList&) {}, "events/index", Array::from<double>({1, 2, 3, 4, 5}, {5})),
              HasSubstr("damaged: /events/index is f64 (5,); expected u32 (5,)"));
}

}  // namespace
}  // namespace sonde::stem
