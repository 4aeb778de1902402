// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::plenty;
using stem::testing::MemorySource;
using ::testing::HasSubstr;

/// Frames in memory as bitshuffle chunks; every third one skipped its filter.
template <class T>
class PackedScan : public MemorySource<T> {
 public:
  PackedScan(Index scan_rows, Index scan_cols, Index rows, Index cols, const std::vector<T>& elements)
      : MemorySource<T>(scan_rows, scan_cols, rows, cols, elements) {
    const auto pixels = static_cast<std::size_t>(rows * cols);
    BitshuffleScratch scratch;
    for (std::size_t first = 0; first < elements.size(); first += pixels) {
      const auto frame = std::as_bytes(std::span(elements).subspan(first, pixels));
      std::vector<std::byte>& chunk = chunks_.emplace_back();
      if (skipped(static_cast<Index>(chunks_.size()) - 1))
        chunk.assign(frame.begin(), frame.end());
      else
        encode_bitshuffle(frame, format_, scratch, chunk);
    }
  }

  void damage(Index frame) {
    std::vector<std::byte>& chunk = chunks_[static_cast<std::size_t>(frame)];
    std::fill(chunk.begin() + 12, chunk.end(), std::byte{0xff});
    this->broken.push_back(frame);
  }

  [[nodiscard]] std::optional<BitshuffleFormat> packing() const override { return format_; }
  [[nodiscard]] std::size_t stored_bytes(Index frame) const override {
    return chunks_[static_cast<std::size_t>(frame)].size();
  }

  void read(Index first, Index last, RawBatch& batch) override {
    batch.first = first;
    batch.pieces.clear();
    batch.bytes.clear();
    for (Index frame = first; frame < last; ++frame) {
      const std::vector<std::byte>& chunk = chunks_[static_cast<std::size_t>(frame)];
      batch.pieces.push_back({batch.bytes.size(), chunk.size(), skipped(frame) ? 1u : 0u});
      batch.bytes.insert(batch.bytes.end(), chunk.begin(), chunk.end());
    }
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch& scratch,
              std::span<std::byte> elements) const override {
    for (const Index each : this->broken)
      if (each == frame) throw Error(ErrorKind::bad_file, "memory: frame " + std::to_string(frame) + " is broken");
    const auto bytes = batch.frame_bytes(frame);
    if (skipped(frame))
      std::memcpy(elements.data(), bytes.data(), elements.size());
    else
      decode_bitshuffle(bytes, format_, scratch.bitshuffle, elements);
  }

 private:
  static bool skipped(Index frame) { return frame % 3 == 2; }

  BitshuffleFormat format_{sizeof(T), 0, BitshuffleCodec::lz4};
  std::vector<std::vector<std::byte>> chunks_;
};

/// A random scan of more than 100 frames, with a mask, hot pixels, sentinels, bins and a region.
template <class T>
struct AnyScan {
  Index scan_rows, scan_cols, rows, cols;
  std::vector<T> stored;
  std::vector<std::uint32_t> mask;
  std::optional<std::uint64_t> sentinel;
  LoadOptions options;
  bool packed = true;
  Index masks = 15;

  [[nodiscard]] std::unique_ptr<Source> source() const {
    std::unique_ptr<MemorySource<T>> made;
    if (packed)
      made = std::make_unique<PackedScan<T>>(scan_rows, scan_cols, rows, cols, stored);
    else
      made = std::make_unique<MemorySource<T>>(scan_rows, scan_cols, rows, cols, stored);
    made->acquisition_to_change().pixel_mask = mask;
    made->acquisition_to_change().sentinel = sentinel;
    return made;
  }
};

template <class T>
AnyScan<T> any_packed_scan() {
  AnyScan<T> scan{*rc::gen::inRange<Index>(11, 14),
                  *rc::gen::inRange<Index>(11, 15),
                  *rc::gen::inRange<Index>(3, 20),
                  *rc::gen::inRange<Index>(3, 20),
                  {},
                  {},
                  {},
                  {},
                  *rc::gen::arbitrary<bool>()};
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const auto pixels = static_cast<std::size_t>(scan.rows * scan.cols);
  scan.stored.resize(static_cast<std::size_t>(scan.scan_rows * scan.scan_cols) * pixels);
  const std::uint64_t most = std::min<std::uint64_t>(*rc::gen::element<std::uint64_t>(2, 200, 65535, 20000000),
                                                     std::numeric_limits<T>::max() - 1);
  for (T& value : scan.stored) value = static_cast<T>(random() % (most + 1));
  for (std::uint64_t hot = random() % 3; hot > 0; --hot)
    for (std::size_t pixel = random() % pixels; pixel < scan.stored.size(); pixel += pixels)
      scan.stored[pixel] = static_cast<T>(std::min<std::uint64_t>(std::numeric_limits<T>::max() / 2, 100000000));
  if (*rc::gen::arbitrary<bool>()) {
    scan.mask.resize(pixels);
    for (std::uint32_t& bits : scan.mask) bits = random() % 6 == 0 ? mask_bit::dead : 0;
  }
  if (*rc::gen::arbitrary<bool>()) {
    scan.sentinel = std::numeric_limits<T>::max();
    for (int i = 0; i < 40; ++i) scan.stored[random() % scan.stored.size()] = std::numeric_limits<T>::max();
    if (!scan.mask.empty())  // as detectors write it: "no data" where the mask says so
      for (std::size_t i = 0; i < scan.stored.size(); ++i)
        if (scan.mask[i % pixels] != 0 && random() % 2 == 0) scan.stored[i] = std::numeric_limits<T>::max();
  }
  scan.masks = *rc::gen::element<Index>(1, 15, 16, 40);  // on bit planes, and too many for them
  LoadOptions& options = scan.options;
  options.hot_pixels = *rc::gen::element(BadPixelAction::sampled, BadPixelAction::none);
  options.det_bin = std::to_string(*rc::gen::inRange<Index>(1, 4));
  options.scan_bin = *rc::gen::inRange<Index>(1, 4);
  options.edge = *rc::gen::element(Edge::keep, Edge::drop);
  if (*rc::gen::arbitrary<bool>()) options.scan_region = "2,9,1,11";
  return scan;
}

/// Some masks, one of all pixels, one that may be empty.
std::vector<Mask> masks_of(const Dataset& dataset, Index count) {
  const Index rows = dataset.shape()[2], cols = dataset.shape()[3];
  std::vector<Mask> masks;
  for (Index step = 1; step <= count; ++step) {
    std::vector<Index> pixels;
    for (Index pixel = step - 1; pixel < rows * cols; pixel += step) pixels.push_back(pixel);
    masks.push_back(make_mask(rows, cols, std::move(pixels)));
  }
  return masks;
}

template <class T>
std::uint64_t resident_sum(const Array& pattern, const Mask& mask) {
  std::uint64_t sum = 0;
  for (const Index pixel : mask.pixels) sum += static_cast<const T*>(pattern.data())[pixel];
  return sum;
}

template <class T>
void expect_as_loaded(const AnyScan<T>& scan) {
  ASSERT_TRUE(can_survey(*scan.source(), scan.options));
  Dataset surveyed = survey(scan.source(), scan.options, plenty());
  const Dataset loaded = load(scan.source(), scan.options, plenty());
  ASSERT_EQ(surveyed.shape(), loaded.shape());
  EXPECT_EQ(surveyed.good(), loaded.good());
  EXPECT_EQ(surveyed.mask_bits(), loaded.mask_bits());
  EXPECT_EQ(surveyed.bad_pixels().size(), loaded.bad_pixels().size());

  const std::vector<Mask> masks = masks_of(surveyed, scan.masks);
  EXPECT_EQ(sums_on_planes(surveyed, masks.size()), scan.packed && scan.masks <= 15);
  const std::vector<Array> images = sum_masks(surveyed, masks);
  for (Index position = 0; position < loaded.positions(); ++position) {
    const Array pattern = loaded.pattern(position / loaded.shape()[1], position % loaded.shape()[1]);
    for (std::size_t i = 0; i < masks.size(); ++i) {
      const std::uint64_t expected = pattern.dtype() == DType::u8    ? resident_sum<std::uint8_t>(pattern, masks[i])
                                     : pattern.dtype() == DType::u16 ? resident_sum<std::uint16_t>(pattern, masks[i])
                                                                     : resident_sum<std::uint32_t>(pattern, masks[i]);
      ASSERT_EQ(static_cast<const std::uint64_t*>(images[i].data())[position], expected)
          << "mask " << i << ", position " << position;
    }
  }
  EXPECT_EQ(surveyed.ledger().text(), loaded.ledger().text());
  EXPECT_EQ(surveyed.ledger().frames_read, loaded.ledger().frames_read);
  EXPECT_EQ(surveyed.ledger().frames_unread, loaded.ledger().frames_unread);
  EXPECT_EQ(surveyed.ledger().no_data, loaded.ledger().no_data);
  EXPECT_EQ(surveyed.ledger().no_data_frames, loaded.ledger().no_data_frames);
  EXPECT_EQ(surveyed.ledger().no_data_pixels, loaded.ledger().no_data_pixels);
  EXPECT_EQ(surveyed.ledger().masked_no_data, loaded.ledger().masked_no_data);
  EXPECT_EQ(surveyed.valid(), loaded.valid());
  EXPECT_EQ(surveyed.content_hash(), loaded.content_hash());
  EXPECT_EQ(surveyed.stored_bytes(), loaded.stored_bytes());
}

RC_GTEST_PROP(Survey, GivesTheSumsOfALoadU8, ()) {
  expect_as_loaded(any_packed_scan<std::uint8_t>());
  RC_ASSERT(!::testing::Test::HasFailure());
}
RC_GTEST_PROP(Survey, GivesTheSumsOfALoadU16, ()) {
  expect_as_loaded(any_packed_scan<std::uint16_t>());
  RC_ASSERT(!::testing::Test::HasFailure());
}
RC_GTEST_PROP(Survey, GivesTheSumsOfALoadU32, ()) {
  expect_as_loaded(any_packed_scan<std::uint32_t>());
  RC_ASSERT(!::testing::Test::HasFailure());
}

AnyScan<std::uint16_t> flat_scan(Index scan_rows) {
  AnyScan<std::uint16_t> scan{scan_rows, 20, 9, 9, {}, {}, {}, {}, true};
  scan.stored.assign(static_cast<std::size_t>(scan_rows * 20 * 81), 10);
  return scan;
}

TEST(SurveyOfAScan, FindsTheBadPixelsOfASample) {
  AnyScan<std::uint16_t> scan = flat_scan(40);
  for (std::size_t frame = 0; frame < 800; ++frame) scan.stored[frame * 81 + 40] = 5000;
  Dataset surveyed = survey(scan.source(), scan.options, plenty());
  EXPECT_EQ(surveyed.sampled_frames(), 128);
  EXPECT_EQ(surveyed.options().hot_pixels, BadPixelAction::sampled);
  ASSERT_EQ(surveyed.bad_pixels().size(), 1u);
  EXPECT_EQ(surveyed.good()[40], 0);
  (void)sum_masks(surveyed, {});
  EXPECT_EQ(surveyed.ledger().text(), "stored 4640000 = kept 640000 + hot 4000000");
}

TEST(SurveyOfAScan, IsNotTakenWhereALoadIsNeeded) {
  const AnyScan<std::uint16_t> scan = flat_scan(40);
  LoadOptions options;
  EXPECT_TRUE(can_survey(*scan.source(), options));
  EXPECT_FALSE(can_survey(*flat_scan(4).source(), options));  // 80 frames: bad pixels are marked
  options.hot_pixels = BadPixelAction::zero;                  // by all frames
  EXPECT_FALSE(can_survey(*scan.source(), options));
  options = {};
  options.dtype = ResultType::u8;
  EXPECT_FALSE(can_survey(*scan.source(), options));
  options = {};
  options.on_error = OnError::zero;
  EXPECT_FALSE(can_survey(*scan.source(), options));
  options = {};
  options.layout = LayoutChoice::pixel;
  EXPECT_FALSE(can_survey(*scan.source(), options));
}

TEST(SurveyOfAScan, ABrokenFrameIsAnError) {
  const AnyScan<std::uint16_t> scan = flat_scan(40);
  auto source = std::make_unique<MemorySource<std::uint16_t>>(40, 20, 9, 9, scan.stored);
  source->broken = {777};
  Dataset surveyed = survey(std::move(source), {}, plenty());
  const std::string text = error_of(ErrorKind::bad_file, [&] { (void)sum_masks(surveyed, {}); });
  EXPECT_THAT(text, HasSubstr("frame 777"));
}

TEST(SurveyOfAScan, ADamagedChunkIsNamedByItsFrame) {
  auto source = std::make_unique<PackedScan<std::uint16_t>>(40, 20, 9, 9, flat_scan(40).stored);
  source->damage(778);  // not one of those that skipped the filter
  Dataset surveyed = survey(std::move(source), {}, plenty());
  const std::string text = error_of(ErrorKind::bad_file, [&] { (void)sum_masks(surveyed, {}); });
  EXPECT_THAT(text, HasSubstr("frame 778"));
}

}  // namespace
}  // namespace sonde::stem
