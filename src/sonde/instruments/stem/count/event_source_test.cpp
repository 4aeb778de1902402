// SPDX-License-Identifier: Apache-2.0
// Lists of electrons as a scan: the sums of lists and of the frames that they stand for are the same integers.
#include "sonde/instruments/stem/read/events/event_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/correct/mask_bit.h"
#include "sonde/instruments/stem/count/test_events.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/pass/centre_sums.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/pass/moment_sums.h"
#include "sonde/instruments/stem/pass/pass.h"
#include "sonde/instruments/stem/pass/pattern_statistics.h"
#include "sonde/instruments/stem/pass/resident_elements.h"
#include "sonde/instruments/stem/pass/scan_sample.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {
namespace lists_as_a_scan {  // its sizes are those of other tests too

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using stem::testing::MemorySource;
using ::testing::HasSubstr;

constexpr Index scan_rows = 13, scan_cols = 9, rows = 21, cols = 34;
constexpr Index scan_positions = scan_rows * scan_cols, frame_pixels = rows * cols;

/// About thirty electrons at each position in any order, several in one pixel, some positions without one; the last
/// position has no frame.
EventList drawn_events(unsigned seed) {
  std::mt19937 random(seed);
  EventList list{.scan_rows = scan_rows, .scan_cols = scan_cols, .rows = rows, .cols = cols};
  list.offsets = {0};
  for (Index p = 0; p < scan_positions; ++p) {
    const bool absent = p == scan_positions - 1;
    const auto electrons = absent || p % 11 == 3 ? 0U : static_cast<unsigned>(random() % 60);
    for (unsigned e = 0; e < electrons; ++e) {
      const auto pixel = static_cast<std::uint32_t>(random() % static_cast<unsigned>(frame_pixels));
      list.index.push_back(e % 7 == 0 ? 300 : pixel);  // one pixel is bright
    }
    list.offsets.push_back(list.index.size());
    list.frames.push_back(absent ? 0 : 1);
  }
  return list;
}

/// The same as frames, counted by the definition.
std::vector<std::uint16_t> frames_of(const EventList& list) {
  std::vector<std::uint16_t> frames(static_cast<std::size_t>(scan_positions * frame_pixels));
  for (Index p = 0; p < scan_positions; ++p)
    for (const std::uint32_t pixel : list.of(p)) ++frames[static_cast<std::size_t>(p * frame_pixels) + pixel];
  return frames;
}

/// In memory, without the frame that no position has.
MemorySource<std::uint16_t> memory_source(const EventList& list) {
  std::vector<std::uint16_t> frames = frames_of(list);
  frames.resize(frames.size() - static_cast<std::size_t>(frame_pixels));
  return {scan_rows, scan_cols, rows, cols, std::move(frames)};
}

std::unique_ptr<Source> open_list(const TemporaryFolder& folder, const EventList& list,
                                  const ReadOptions& options = {}) {
  stem::testing::write_events(folder.file("events.h5"), list);
  return open_source(folder.file("events.h5"), options);
}

/// Masked, suspect and cut pixels, and two bins.
PassSettings settings_of(const Source& source, Index det_bin, Index scan_bin) {
  PassSettings settings;
  settings.detector = DetectorGrid::make(rows, cols, det_bin, Edge::drop);
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, scan_bin, Edge::keep);
  settings.mask_bits.assign(static_cast<std::size_t>(frame_pixels), 0);
  settings.mask_bits[5] = settings.mask_bits[40] = mask_bit::dead;
  settings.suspects = {300, 302};
  settings.batch_bytes = 1500;
  return settings;
}

/// Everything that a pass finds, as one list of numbers.
struct PassFacts {
  std::vector<std::uint64_t> sums;
  bool by_events = false;
};

PassFacts facts_of(Source& source, const PassSettings& settings, bool with_frames = false) {
  MomentSums moments;
  PatternStatistics statistics;
  CentreSums centres, bright(1.0);
  Array nowhere;
  ResidentElements elements({.out = DType::u8, .saturate = true, .destination = Destination::none}, nowhere);
  Array kept = make_frames(Device::cpu(), settings.scan.positions(), settings.detector.out_rows,
                           settings.detector.out_cols, DType::u32);
  ResidentElements copies({.out = DType::u32, .saturate = true, .destination = Destination::frames}, kept);
  std::vector<Operation*> operations = {&moments, &statistics, &centres, &bright, &elements};
  if (with_frames) operations.push_back(&copies);
  const PassResult result = run_pass(source, settings, operations);
  PassFacts facts;
  facts.by_events = result.by_events;
  const auto add = [&](const Array& array) {
    const auto* values = static_cast<const std::uint64_t*>(array.data());
    facts.sums.insert(facts.sums.end(), values, values + array.count());
  };
  for (const Array* array :
       std::initializer_list<const Array*>{&moments.total, &moments.moment_row, &moments.moment_col, &statistics.sum,
                                           &statistics.largest, &statistics.nonzero, &result.input_sum})
    add(*array);
  for (const CentreSums* each : {&centres, &bright})
    for (const Array* array :
         {&each->total, &each->moment_row, &each->moment_col, &each->square_row, &each->square_col})
      add(*array);
  for (const std::uint8_t valid : result.valid) facts.sums.push_back(valid);
  for (const double number :
       {result.largest, result.suspects_largest, result.masked.real(), static_cast<double>(result.frames),
        static_cast<double>(elements.clipped), elements.clipped_counts.real()})
    facts.sums.push_back(static_cast<std::uint64_t>(number));
  return facts;
}

TEST(EventSource, FramesAreTheCountsOfTheirPixels) {
  const TemporaryFolder folder;
  const EventList list = drawn_events(1);
  const auto source = open_list(folder, list);
  const Acquisition& acquisition = source->acquisition();
  EXPECT_EQ(acquisition.format, "events");
  EXPECT_EQ(acquisition.frames, scan_positions);
  EXPECT_EQ(acquisition.stored, DType::u8);  // no position has more than 60 electrons
  EXPECT_EQ(acquisition.scan.rows, scan_rows);
  EXPECT_EQ(acquisition.scan.cols, scan_cols);
  const std::vector<std::uint16_t> expected = frames_of(list);
  RawBatch batch;
  DecodeScratch scratch;
  std::vector<std::byte> frame(static_cast<std::size_t>(frame_pixels));
  source->read(7, 100, batch);
  for (Index p = 7; p < 100; ++p) {
    source->decode(batch, p, scratch, frame);
    for (Index q = 0; q < frame_pixels; ++q)
      ASSERT_EQ(static_cast<std::uint8_t>(frame[static_cast<std::size_t>(q)]),
                expected[static_cast<std::size_t>(p * frame_pixels + q)])
          << p << " " << q;
  }
  EXPECT_TRUE(source->has_frame(3));
  EXPECT_FALSE(source->has_frame(scan_positions - 1));
}

TEST(EventSource, ElementsAreAsWideAsTheLongestListNeeds) {
  for (const auto& [electrons, expected] :
       {std::pair{255U, DType::u8}, std::pair{256U, DType::u16}, std::pair{65536U, DType::u32}}) {
    const TemporaryFolder folder;
    EventList list{.scan_rows = 1, .scan_cols = 2, .rows = 2, .cols = 3};
    list.index.assign(electrons, 4);
    list.offsets = {0, 0, electrons};
    list.frames = {1, 2};
    const auto source = open_list(folder, list);
    EXPECT_EQ(source->acquisition().stored, expected);
    RawBatch batch;
    DecodeScratch scratch;
    std::vector<std::byte> frame(6 * size_bytes(expected));
    source->read(1, 2, batch);
    source->decode(batch, 1, scratch, frame);
    std::uint32_t value = 0;
    std::memcpy(&value, frame.data() + 4 * size_bytes(expected), size_bytes(expected));
    EXPECT_EQ(value, electrons);
  }
}

TEST(EventSource, SumsOfListsAreThoseOfFrames) {
  for (const unsigned seed : {1U, 2U}) {
    const TemporaryFolder folder;
    const EventList list = drawn_events(seed);
    for (const auto& [det_bin, scan_bin] : {std::pair<Index, Index>{1, 1}, {4, 1}, {1, 2}, {2, 3}}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << " bins " << det_bin << " " << scan_bin);
      MemorySource<std::uint16_t> frames = memory_source(list);
      PassFacts expected = facts_of(frames, settings_of(frames, det_bin, scan_bin));
      EXPECT_FALSE(expected.by_events);
      for (const int threads : {1, 2, 7}) {
        set_thread_count(threads);
        const auto source = open_list(folder, list);
        const PassSettings settings = settings_of(*source, det_bin, scan_bin);
        const PassFacts found = facts_of(*source, settings);
        const PassFacts by_frames = facts_of(*source, settings, true);  // these need a frame
        set_thread_count(0);
        EXPECT_TRUE(found.by_events);
        EXPECT_FALSE(by_frames.by_events);
        EXPECT_EQ(found.sums, by_frames.sums);
        EXPECT_EQ(found.sums, expected.sums);
      }
    }
  }
}

TEST(EventSource, ASampleIsThatOfTheFrames) {
  const TemporaryFolder folder;
  const EventList list = drawn_events(3);
  const auto source = open_list(folder, list);
  MemorySource<std::uint16_t> frames = memory_source(list);
  const ScanSample found = sample_scan(*source, settings_of(*source, 1, 1), 20),
                   expected = sample_scan(frames, settings_of(frames, 1, 1), 20);
  EXPECT_EQ(found.largest, expected.largest);
  const auto* sums = static_cast<const std::uint64_t*>(found.sum.data());
  const auto* of_frames = static_cast<const std::uint64_t*>(expected.sum.data());
  EXPECT_TRUE(std::equal(sums, sums + frame_pixels, of_frames));
}

TEST(EventSource, InterpolatedPixelsNeedFrames) {
  const TemporaryFolder folder;
  const auto source = open_list(folder, drawn_events(1));
  PassSettings settings = settings_of(*source, 1, 1);
  settings.interpolations = {{7, {6, 8}}};
  EXPECT_FALSE(facts_of(*source, settings).by_events);
}

TEST(EventSource, VirtualImagesAreCountedFromTheListsInEveryLayout) {
  const TemporaryFolder folder;
  const EventList list = drawn_events(4);
  const std::vector<std::uint16_t> frames = frames_of(list);
  DetectorOptions detectors;
  detectors.centre = "10,17";
  detectors.detector = {"annulus(auto,auto,0,6)", "rect(2,3,9,30)", "com-row"};
  for (const LayoutChoice layout :
       {LayoutChoice::automatic, LayoutChoice::file, LayoutChoice::frame, LayoutChoice::pixel}) {
    LoadOptions options;
    options.layout = layout;
    options.hot_pixels = BadPixelAction::none;
    const Dataset dataset = load(open_list(folder, list), options, Budget(std::size_t{1} << 28, "test"));
    std::optional<Centre> centre;
    const DetectorGeometry geometry = detector_geometry(dataset, detectors, centre);
    const std::vector<DetectorImage> images = detector_images(dataset, detectors, geometry);
    const std::vector<Mask> masks = detector_masks(detectors, geometry);
    const bool lists = layout == LayoutChoice::automatic || layout == LayoutChoice::file;
    if (layout == LayoutChoice::automatic) {
      EXPECT_EQ(dataset.layout(), LayoutChoice::compressed);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(images[i].path == "electrons", lists);
      for (Index p = 0; p < scan_positions; ++p) {
        std::uint64_t expected = 0;
        for (const Index q : masks[i].pixels) expected += frames[static_cast<std::size_t>(p * frame_pixels + q)];
        ASSERT_EQ(static_cast<const std::uint64_t*>(images[i].image.data())[p], expected) << i << " " << p;
      }
    }
    EXPECT_EQ(dataset.valid().back(), 0);
    const auto& choices = dataset.choices();
    EXPECT_EQ(std::any_of(choices.begin(), choices.end(),
                          [](const auto& each) { return each.value == "loading: electrons were summed"; }),
              lists);
  }
}

TEST(EventSource, AnElectronOutsideOfTheFrameIsRefusedOrLeftOut) {
  const TemporaryFolder folder;
  EventList list = drawn_events(1);
  list.index[static_cast<std::size_t>(list.offsets[20])] = static_cast<std::uint32_t>(frame_pixels);
  const auto source = open_list(folder, list);
  PassSettings settings = settings_of(*source, 1, 1);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)facts_of(*source, settings); }),
              HasSubstr("events.h5: damaged: an event of position 20 is in pixel 714 of a frame of 21 x 34"));
  settings.on_error = OnError::zero;
  const PassResult result = run_pass(*source, settings, {});
  ASSERT_EQ(result.failed.size(), 1U);
  EXPECT_EQ(result.failed.front().frame, 20);
  EXPECT_EQ(result.valid[20], 0);
}

TEST(EventSource, SettingsThatListsCannotHaveAreRefused) {
  const TemporaryFolder folder;
  ReadOptions options;
  options.sentinel = 255;
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)open_list(folder, drawn_events(1), options); }),
              HasSubstr("sentinel is a value that means no data; lists of electrons have none"));
  options = {};
  options.scan_rows = 5;
  options.scan_cols = 5;
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)open_list(folder, drawn_events(1), options); }),
              HasSubstr("117 frames, but --scan-shape asks for a scan of 5 x 5 = 25"));
}

TEST(EventSource, TheScanMayBeTurned) {
  const TemporaryFolder folder;
  ReadOptions options;
  options.transpose_scan = true;
  options.flip_rows = true;
  const auto source = open_list(folder, drawn_events(1), options);
  EXPECT_EQ(source->acquisition().scan.rows, scan_cols);
  EXPECT_EQ(source->acquisition().scan.frame(0, 2), 2 * scan_cols + scan_cols - 1);
}

}  // namespace lists_as_a_scan
}  // namespace
}  // namespace sonde::stem
