// SPDX-License-Identifier: Apache-2.0
// The loading pass of GPUs, run by one thread on the CPU and by a GPU where there is one, against the CPU's own pass.
#include "sonde/instruments/stem/load/device_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/zero_in_place.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;
class DevicePassOnEach : public sonde::testing::EachDevice {};

/// Frames of T in memory as bitshuffle chunks; some may be raw, absent or broken.
template <class T>
class PackedSource : public testing::MemorySource<T> {
 public:
  PackedSource(Index scan_rows, Index scan_cols, Index rows, Index cols, std::vector<T> elements,
               const BitshuffleFormat& format)
      : testing::MemorySource<T>(scan_rows, scan_cols, rows, cols, elements), format_(format) {
    const std::size_t pixels = static_cast<std::size_t>(rows * cols);
    for (std::size_t first = 0; first < elements.size(); first += pixels)
      chunks.push_back(encode_bitshuffle(std::as_bytes(std::span(elements).subspan(first, pixels)), format));
    filter_masks.resize(chunks.size());
  }

  std::vector<std::vector<std::byte>> chunks;
  std::vector<std::uint32_t> filter_masks;

  [[nodiscard]] std::size_t stored_bytes(Index frame) const override {
    return chunks[static_cast<std::size_t>(frame)].size();
  }
  void read(Index first, Index last, RawBatch& batch) override {
    batch.first = first;
    batch.pieces.clear();
    batch.bytes.clear();
    for (auto frame = static_cast<std::size_t>(first); frame < static_cast<std::size_t>(last); ++frame) {
      batch.pieces.push_back({batch.bytes.size(), chunks[frame].size(), filter_masks[frame]});
      batch.bytes.insert(batch.bytes.end(), chunks[frame].begin(), chunks[frame].end());
    }
  }
  void decode(const RawBatch& batch, Index frame, DecodeScratch& scratch,
              std::span<std::byte> elements) const override {
    const auto bytes = batch.frame_bytes(frame);
    if (bytes.empty())
      std::memset(elements.data(), 7, elements.size());  // the fill value
    else if (batch.piece(frame).filter_mask != 0)
      std::memcpy(elements.data(), bytes.data(), elements.size());
    else
      sonde::during("reading frame " + std::to_string(frame),
                    [&] { decode_bitshuffle(bytes, format_, scratch.bitshuffle, elements); });
  }
  [[nodiscard]] std::optional<BitshuffleFormat> packing() const override { return format_; }

 private:
  BitshuffleFormat format_;
};

template <class T>
std::vector<T> sparse_counts(Index n, unsigned seed, T most) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values)
    value = static_cast<T>(random() % 16 == 0 ? random() % (static_cast<std::uint64_t>(most) + 1) : random() % 3);
  return values;
}

constexpr Index scan_rows = 5, scan_cols = 41, detector_rows = 13, detector_cols = 18;
constexpr Index pixels = detector_rows * detector_cols, frames = scan_rows * scan_cols;

template <class T>
PackedSource<T> packed(T most, unsigned seed = 1, std::size_t block_elements = 64) {
  return {scan_rows,
          scan_cols,
          detector_rows,
          detector_cols,
          sparse_counts<T>(frames * pixels, seed, most),
          {sizeof(T), block_elements, BitshuffleCodec::lz4}};
}

struct Settings : PassSettings {
  ResidentSettings resident;
};

Settings settings_for(const Source& source, Destination destination, DType out, Index bin = 1, Edge edge = Edge::keep) {
  Settings settings;
  settings.detector = DetectorGrid::make(detector_rows, detector_cols, bin, edge);
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  settings.mask_bits.assign(static_cast<std::size_t>(pixels), 0);
  settings.resident = {.out = out, .destination = destination};
  settings.batch_bytes = 4096;  // several batches, each of several positions
  return settings;
}

Array destination_on(Device device, const Settings& settings) {
  const DetectorGrid& grid = settings.detector;
  const Index positions = settings.scan.positions();
  if (settings.resident.destination == Destination::frames)
    return make_frames(device, positions, grid.out_rows, grid.out_cols, settings.resident.out);
  if (settings.resident.destination == Destination::planes)
    return make_planes(device, positions, grid.out_rows, grid.out_cols, settings.resident.out);
  return {};
}

std::vector<std::uint8_t> bytes_of(const Array& array) {
  std::vector<std::uint8_t> bytes(array.allocated_bytes());
  Stream stream(array.device());
  stream.copy(bytes.data(), array.data(), bytes.size());
  stream.synchronise();
  return bytes;
}

void expect_equal(const LoadResult& device, const LoadResult& cpu) {
  const auto same = [](const Array& a, const Array& b) { return a.shape() == b.shape() && bytes_of(a) == bytes_of(b); };
  EXPECT_TRUE(same(device.moments.total, cpu.moments.total));
  EXPECT_TRUE(same(device.moments.moment_row, cpu.moments.moment_row));
  EXPECT_TRUE(same(device.moments.moment_col, cpu.moments.moment_col));
  EXPECT_TRUE(same(device.moments.pattern_sum, cpu.moments.pattern_sum));
  EXPECT_TRUE(same(device.moments.pattern_max, cpu.moments.pattern_max));
  EXPECT_TRUE(same(device.moments.nonzero, cpu.moments.nonzero));
  EXPECT_TRUE(same(device.pass.input_sum, cpu.pass.input_sum));
  EXPECT_EQ(device.pass.sentinels_per_pixel, cpu.pass.sentinels_per_pixel);
  EXPECT_EQ(device.pass.valid, cpu.pass.valid);
  EXPECT_EQ(device.pass.largest, cpu.pass.largest);
  EXPECT_EQ(device.pass.suspects_largest, cpu.pass.suspects_largest);
  EXPECT_EQ(device.overflow, cpu.overflow);
  EXPECT_EQ(device.clipped, cpu.clipped);
  EXPECT_EQ(device.clipped_counts.digits(), cpu.clipped_counts.digits());
  EXPECT_EQ(device.pass.masked.digits(), cpu.pass.masked.digits());
  EXPECT_EQ(device.pass.sentinels, cpu.pass.sentinels);
  EXPECT_EQ(device.pass.sentinel_frames, cpu.pass.sentinel_frames);
  EXPECT_EQ(device.pass.masked_sentinels, cpu.pass.masked_sentinels);
  EXPECT_EQ(device.pass.saturated, cpu.pass.saturated);
  EXPECT_EQ(device.pass.frames, cpu.pass.frames);
  EXPECT_EQ(device.pass.stored_bytes, cpu.pass.stored_bytes);
  EXPECT_EQ(device.pass.content_hash, cpu.pass.content_hash);
  ASSERT_EQ(device.pass.failed.size(), cpu.pass.failed.size());
  for (std::size_t i = 0; i < cpu.pass.failed.size(); ++i) {
    EXPECT_EQ(device.pass.failed[i].frame, cpu.pass.failed[i].frame);
    EXPECT_EQ(device.pass.failed[i].reason, cpu.pass.failed[i].reason);
  }
}

LoadResult run_on_cpu(Source& source, const Settings& settings, Array& destination) {
  Stream stream;
  return run_load_pass(stream, source, settings, settings.resident, destination);
}

void expect_same_pass(Device device, Source& source, const Settings& settings) {
  Array expected = destination_on(Device::cpu(), settings), array = destination_on(device, settings);
  const LoadResult cpu = run_on_cpu(source, settings, expected);
  Stream stream(device);
  const LoadResult result = run_device_pass(stream, source, settings, settings.resident, array);
  expect_equal(result, cpu);
  if (!cpu.overflow) {
    EXPECT_EQ(bytes_of(array), bytes_of(expected));
  }
}

TEST_P(DevicePassOnEach, GivesTheSameElementsAndMomentsInEveryLayout) {
  auto source = packed<std::uint16_t>(60000);
  for (const Destination destination : {Destination::frames, Destination::planes, Destination::none})
    expect_same_pass(device(), source, settings_for(source, destination, DType::u16));
}

TEST_P(DevicePassOnEach, GivesTheSameBins) {
  auto source = packed<std::uint16_t>(60000);
  for (const Index bin : {2, 3, 5, 13})
    for (const Edge edge : {Edge::keep, Edge::drop}) {
      SCOPED_TRACE(::testing::Message() << "bin " << bin << (edge == Edge::drop ? " drop" : ""));
      expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u32, bin, edge));
    }
}

TEST_P(DevicePassOnEach, TakesBytes) {
  auto source = packed<std::uint8_t>(255);
  expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u8));
  expect_same_pass(device(), source, settings_for(source, Destination::frames, DType::u16, 4));
}

TEST_P(DevicePassOnEach, SumsTheLargestU32InSixtyFourBits) {
  auto source = packed<std::uint32_t>(0xFFFFFFFF);
  expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u32));
  expect_same_pass(device(), source, settings_for(source, Destination::frames, DType::f32, 2));
}

TEST_P(DevicePassOnEach, ReportsOverflow) {
  auto source = packed<std::uint16_t>(60000);
  expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u8));
}

TEST_P(DevicePassOnEach, CountsWhatItClips) {
  auto source = packed<std::uint16_t>(60000);
  Settings settings = settings_for(source, Destination::planes, DType::u8);
  settings.resident.saturate = true;
  expect_same_pass(device(), source, settings);
}

TEST_P(DevicePassOnEach, MeansAreThoseOfGoodPixels) {
  auto source = packed<std::uint16_t>(60000);
  Settings settings = settings_for(source, Destination::planes, DType::f32, 3);
  settings.mode = BinMode::mean;
  settings.mask_bits[5] = mask_bit::dead;
  expect_same_pass(device(), source, settings);
}

TEST_P(DevicePassOnEach, MasksAndCountsSentinelsAndSaturatedValues) {
  for (const std::uint64_t sentinel : {0u, 1u, 7u}) {
    SCOPED_TRACE(::testing::Message() << "sentinel " << sentinel);
    auto source = packed<std::uint16_t>(9);
    source.acquisition_to_change().sentinel = sentinel;
    source.acquisition_to_change().saturation = 5;
    Settings settings = settings_for(source, Destination::planes, DType::u16);
    settings.mask_bits[3] = mask_bit::dead;
    settings.mask_bits[4] = mask_bit::virtual_pixel;  // valid
    settings.mask_bits.back() = mask_bit::noisy;
    expect_same_pass(device(), source, settings);
    settings.detector = DetectorGrid::make(detector_rows, detector_cols, 2, Edge::keep);
    expect_same_pass(device(), source, settings);
  }
}

TEST_P(DevicePassOnEach, KeepsTheSumsOfSuspects) {
  for (const std::uint64_t sentinel : {0u, 7u}) {
    SCOPED_TRACE(::testing::Message() << "sentinel " << sentinel);
    auto source = packed<std::uint16_t>(9);
    source.acquisition_to_change().sentinel = sentinel;
    for (const Index bin : {1, 3}) {
      Settings settings = settings_for(source, Destination::planes, DType::u16, bin);
      settings.suspects = {0, 20, pixels - 1};
      settings.mask_bits[20] = mask_bit::dead;
      expect_same_pass(device(), source, settings);
    }
  }
}

TEST_P(DevicePassOnEach, FollowsTheScansOrder) {
  for (const bool transpose : {false, true}) {
    auto source = packed<std::uint16_t>(500);
    ScanOrder& order = source.acquisition_to_change().scan;
    order = transpose ? ScanOrder{scan_cols, scan_rows, 0, true, false, true}
                      : ScanOrder{scan_rows, scan_cols, 0, false, true, false};
    expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u16));
    expect_same_pass(device(), source, settings_for(source, Destination::frames, DType::u16));
  }
}

TEST_P(DevicePassOnEach, LeavesPositionsWithoutFramesEmpty) {
  auto source = packed<std::uint16_t>(500);
  source.acquisition_to_change().scan.rows = scan_rows + 2;
  expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u16));
  expect_same_pass(device(), source, settings_for(source, Destination::frames, DType::u16));
}

TEST_P(DevicePassOnEach, TakesChunksWithoutCompression) {
  PackedSource<std::uint16_t> source(scan_rows, scan_cols, detector_rows, detector_cols,
                                     sparse_counts<std::uint16_t>(frames * pixels, 3, 60000),
                                     {2, 0, BitshuffleCodec::none});
  expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u16));
}

TEST_P(DevicePassOnEach, LeavesSkippedFiltersAndAbsentChunksToTheCpu) {
  auto source = packed<std::uint16_t>(60000);
  source.chunks[7] = std::vector<std::byte>(static_cast<std::size_t>(pixels) * 2, std::byte{3});
  source.filter_masks[7] = 1;
  source.chunks[8].clear();
  expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u16));
}

TEST_P(DevicePassOnEach, UploadsWhatOnlyTheCpuDecodes) {
  testing::MemorySource<std::uint16_t> source(scan_rows, scan_cols, detector_rows, detector_cols,
                                              sparse_counts<std::uint16_t>(frames * pixels, 4, 60000));
  EXPECT_EQ(why_decoded_on_cpu(source), "the frames are not bitshuffle chunks");
  expect_same_pass(device(), source, settings_for(source, Destination::planes, DType::u16));
}

template <class S>
void break_frame(S& source, std::size_t frame) {
  source.chunks[frame][16] = std::byte{0xff};
  source.chunks[frame][17] = std::byte{0xff};
}

TEST_P(DevicePassOnEach, BrokenFramesAreZeroWhenAskedAndToldInTheCpusWords) {
  auto source = packed<std::uint16_t>(60000);
  break_frame(source, 11);
  break_frame(source, 150);
  Settings settings = settings_for(source, Destination::planes, DType::u16);
  settings.on_error = OnError::zero;
  expect_same_pass(device(), source, settings);
}

TEST_P(DevicePassOnEach, ABrokenFrameIsAnErrorOtherwise) {
  auto source = packed<std::uint16_t>(60000);
  break_frame(source, 11);
  const Settings settings = settings_for(source, Destination::planes, DType::u16);
  Stream stream(device());
  Array array = destination_on(device(), settings);
  const std::string text = sonde::testing::error_of(
      ErrorKind::bad_file, [&] { (void)run_device_pass(stream, source, settings, settings.resident, array); });
  EXPECT_THAT(text, HasSubstr("block 0 at byte 12: not valid LZ4 data"));
  EXPECT_THAT(text, HasSubstr("reading frame 11"));
}

TEST_P(DevicePassOnEach, ZeroedPixelsLeaveNoTrace) {
  for (const Destination destination : {Destination::frames, Destination::planes}) {
    auto source = packed<std::uint16_t>(60000);
    const Settings settings = settings_for(source, destination, DType::u16);
    Array expected = destination_on(Device::cpu(), settings), array = destination_on(device(), settings);
    LoadResult cpu = run_on_cpu(source, settings, expected);
    Stream stream(device());
    LoadResult result = run_device_pass(stream, source, settings, settings.resident, array);
    const std::vector<Index> bad = {3, 17, pixels - 1};
    zero_in_place(bad, destination, expected, cpu);
    zero_on_device(stream, bad, destination, array, result.moments);
    EXPECT_EQ(bytes_of(array), bytes_of(expected));
    EXPECT_EQ(bytes_of(result.moments.total), bytes_of(cpu.moments.total));
    EXPECT_EQ(bytes_of(result.moments.moment_row), bytes_of(cpu.moments.moment_row));
    EXPECT_EQ(bytes_of(result.moments.moment_col), bytes_of(cpu.moments.moment_col));
  }
}

/// A whole load, with a hot pixel to be found: what a GPU does itself, and what it leaves to the CPU.
TEST_P(DevicePassOnEach, ADataSetIsTheSameOnEveryDevice) {
  for (const LayoutChoice layout : {LayoutChoice::pixel, LayoutChoice::frame})
    for (const Index scan_bin : {1, 2}) {
      SCOPED_TRACE(::testing::Message() << layout_name(layout) << ", scan bin " << scan_bin);
      LoadOptions options;
      options.layout = layout;
      options.scan_bin = scan_bin;
      options.det_bin = "1";
      const auto load_to = [&](Device where) {
        auto counts = sparse_counts<std::uint16_t>(frames * pixels, 9, 200);
        for (Index frame = 0; frame < frames; ++frame) counts[static_cast<std::size_t>(frame * pixels + 100)] = 60000;
        return load(
            std::make_unique<PackedSource<std::uint16_t>>(scan_rows, scan_cols, detector_rows, detector_cols, counts,
                                                          BitshuffleFormat{2, 64, BitshuffleCodec::lz4}),
            options, Budget(std::size_t{1} << 30, "test"), where);
      };
      const Dataset cpu = load_to(Device::cpu()), dataset = load_to(device());
      EXPECT_EQ(dataset.array().device(), device());
      EXPECT_EQ(dataset.dtype(), cpu.dtype());
      EXPECT_EQ(dataset.mask_bits(), cpu.mask_bits());
      EXPECT_EQ(dataset.exactness().largest, cpu.exactness().largest);
      EXPECT_EQ(bytes_of(dataset.array()), bytes_of(cpu.array()));
      EXPECT_EQ(bytes_of(dataset.moments().total), bytes_of(cpu.moments().total));
      EXPECT_EQ(bytes_of(dataset.moments().pattern_sum), bytes_of(cpu.moments().pattern_sum));
      EXPECT_EQ(bytes_of(dataset.pattern(1, 3)), bytes_of(cpu.pattern(1, 3)));
    }
}

TEST(DevicePass, SaysWhatAGpuLeavesToTheCpu) {
  auto source = packed<std::uint16_t>(9);
  Settings settings = settings_for(source, Destination::planes, DType::u16);
  EXPECT_EQ(why_not_on_gpu(source, settings), "");
  settings.scan.bin = 2;
  EXPECT_EQ(why_not_on_gpu(source, settings), "scan bins are summed on the CPU");
  settings.scan.bin = 1;
  settings.interpolations.push_back({3, {2, 4}});
  EXPECT_EQ(why_not_on_gpu(source, settings), "bad pixels are interpolated on the CPU");
  EXPECT_EQ(why_not_on_gpu(testing::MemorySource<float>(1, 1, 1, 1, {1.0f}), {}),
            "floating-point values are summed on the CPU");
  EXPECT_EQ(why_decoded_on_cpu(source), "");
  PackedSource<std::uint16_t> zstd(1, 1, 2, 4, std::vector<std::uint16_t>(8), {2, 0, BitshuffleCodec::zstd});
  EXPECT_EQ(why_decoded_on_cpu(zstd), "the frames are compressed by zstd");
}

INSTANTIATE_EACH_DEVICE(DevicePassOnEach);

}  // namespace
}  // namespace sonde::stem
