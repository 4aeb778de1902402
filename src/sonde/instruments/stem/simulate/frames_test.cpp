// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/instruments/stem/simulate/presets.h"
#include "sonde/instruments/stem/simulate/specimen.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

Model small_scan(double dose = 2000, std::vector<Defect> defects = {}) {
  Optics optics;
  optics.rows = 32;
  optics.cols = 40;
  optics.dose = dose;
  optics.centre_row = 15.2;
  optics.centre_col = 20.4;
  optics.disk_radius = 6;
  optics.halo_length = 8;
  return Model(optics, 20, 25, scan_over(Specimen(11, 3), 20, 25, 0.5), std::move(defects));
}

TEST(Frames, AFrameIsTheSameAlone) {
  const Model model = small_scan();
  const Array all = simulate_frames(model, 5, 0, 500, DType::u16), one = simulate_frames(model, 5, 321, 1, DType::u16);
  EXPECT_EQ(std::memcmp(one.data(), static_cast<const std::uint16_t*>(all.data()) + 321 * 1280, 1280 * 2), 0);
}

TEST(Frames, SeedsDiffer) {
  const Model model = small_scan();
  const Array a = simulate_frames(model, 5, 0, 1, DType::u16), b = simulate_frames(model, 6, 0, 1, DType::u16);
  EXPECT_NE(std::memcmp(a.data(), b.data(), 1280 * 2), 0);
}

TEST(Frames, TypesHoldTheSameCounts) {
  const Model model = small_scan();
  const Array narrow = simulate_frames(model, 5, 7, 3, DType::u8), wide = simulate_frames(model, 5, 7, 3, DType::u32);
  const auto a = narrow.view<std::uint8_t, 3>();
  const auto b = wide.view<std::uint32_t, 3>();
  for (Index i = 0; i < a.count(); ++i) ASSERT_EQ(a.data[i], b.data[i]);
}

TEST(Frames, SentinelPixelsHoldTheLargestValue) {
  const Model model = small_scan(2000, {{.row = 3, .col = 4, .kind = Defect::Kind::sentinel}});
  const Array frames = simulate_frames(model, 1, 0, 2, DType::u16);
  EXPECT_EQ((frames.view<std::uint16_t, 3>()(1, 3, 4)), 65535);
}

TEST(Frames, ACountThatDoesNotFitIsAnError) {
  const Model model = small_scan(1e5);
  const std::string text =
      sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)simulate_frames(model, 1, 0, 4, DType::u8); });
  EXPECT_THAT(text, HasSubstr("u8 holds up to 255"));
  EXPECT_THAT(text, HasSubstr("hint: choose a wider element type or a smaller dose"));
}

TEST(Frames, FloatsAreNotSimulated) {
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input, [] { (void)simulate_frames(small_scan(), 1, 0, 1, DType::f32); }),
      HasSubstr("not as f32"));
}

TEST(Frames, FramesBeyondTheScanAreAnError) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [] { (void)simulate_frames(small_scan(), 1, 499, 2, DType::u16); }),
              HasSubstr("frames 499 to 501 of a scan of 500 positions"));
}

TEST(Frames, AnInterruptEndsTheWork) {
  request_interrupt(2);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::interrupted,
                                       [] { (void)simulate_frames(small_scan(), 1, 0, 500, DType::u16); }),
              HasSubstr("error"));
  clear_interrupt();
}

TEST(Chunks, DecodeToTheFrames) {
  const Model model = small_scan();
  const auto chunks = simulate_chunks(model, 5, 40, 3, DType::u16);
  const Array frames = simulate_frames(model, 5, 40, 3, DType::u16);
  std::vector<std::byte> decoded(1280 * 2);
  BitshuffleScratch scratch;
  for (std::size_t i = 0; i < 3; ++i) {
    decode_bitshuffle(chunks[i], {.element_bytes = 2}, scratch, decoded);
    EXPECT_EQ(std::memcmp(decoded.data(), static_cast<const std::byte*>(frames.data()) + i * 2560, 2560), 0);
  }
}

double ratio(Workload which, Index frames) {
  const Model model = workload(which);
  double packed = 0;
  for (const auto& chunk : simulate_chunks(model, workload_seed, 0, frames, DType::u16))
    packed += static_cast<double>(chunk.size());
  return static_cast<double>(frames * model.pixels() * 2) / packed;
}

// The benchmarks refuse inputs that are easier than this. 72 frames hold every beam shift eight times; the ratio varies
// by 0.1 % between such groups.
TEST(Workload, CompressesAsSpecified) {
  EXPECT_NEAR(ratio(Workload::w1, 72), 9.7, 0.3);
  EXPECT_NEAR(ratio(Workload::w2, 72), 23, 1);
}

TEST(Workload, W3FitsEightBits) {
  const Model model = workload(Workload::w3);
  EXPECT_EQ(model.positions() * model.pixels(), Index{256} * 256 * 96 * 96);
  const Array frames = simulate_frames(model, workload_seed, 0, 36, workload_dtype(Workload::w3));
  double sum = 0;
  for (Index i = 0; i < frames.count(); ++i) sum += static_cast<const std::uint8_t*>(frames.data())[i];
  EXPECT_NEAR(sum / static_cast<double>(frames.count()), 1, 0.01);  // nine standard errors
}

}  // namespace
}  // namespace sonde::stem
