// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/diffraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/stem/image/test_scan.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;
using testing::host_elements;
using testing::random_scan;
using testing::TestScan;
class DiffractionOnEach : public sonde::testing::EachDevice {};

template <class T>
std::vector<std::uint64_t> reference_sum(const TestScan<T>& scan, std::span<const Index> positions) {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(scan.pixels()), 0);
  for (const Index position : positions)
    for (Index pixel = 0; pixel < scan.pixels(); ++pixel)
      sums[static_cast<std::size_t>(pixel)] += static_cast<std::uint64_t>(scan.at(position, pixel));
  return sums;
}

/// Both layouts of a scan.
template <class T>
struct Both {
  TestScan<T> scan;
  Array frames, planes;

  Both(Stream& stream, Index positions, Index rows, Index cols, unsigned seed)
      : scan(random_scan<T>(positions, rows, cols, seed)), frames(scan.frames(stream)), planes(scan.planes(stream)) {}
  [[nodiscard]] std::vector<ScanView> views() const {
    return {{&frames, Layout::frame_major, scan.rows, scan.cols}, {&planes, Layout::pixel_major, scan.rows, scan.cols}};
  }
};

template <class T>
void expect_everything(Device device) {
  Stream stream(device);
  const Both<T> both(stream, 12 * 14, 9, 11, 41);
  for (const auto& positions : {scan_positions(12, 14, 2, 9, 3, 12), scan_positions(12, 14, 0, 12, 0, 14),
                                std::vector<Index>{17}, std::vector<Index>{}}) {
    SCOPED_TRACE(positions.size());
    const auto sums = reference_sum(both.scan, positions);
    std::vector<T> maxima(sums.size(), 0);
    for (const Index position : positions)
      for (Index pixel = 0; pixel < both.scan.pixels(); ++pixel)
        maxima[static_cast<std::size_t>(pixel)] =
            std::max(maxima[static_cast<std::size_t>(pixel)], both.scan.at(position, pixel));
    for (const ScanView& view : both.views()) {
      Array sum(device, {9, 11}, DType::u64), maximum(device, {9, 11}, dtype_of<T>), mean(device, {9, 11}, DType::f64);
      pattern_sum(stream, view, positions, sum);
      EXPECT_EQ(host_elements<std::uint64_t>(sum), sums);
      pattern_maximum(stream, view, positions, maximum);
      EXPECT_EQ(host_elements<T>(maximum), maxima);
      if (positions.empty()) continue;
      pattern_mean(stream, view, positions, mean);
      stream.synchronise();  // the division is queued, and what reads the mean has a stream of its own
      std::vector<double> means;
      for (const std::uint64_t each : sums)
        means.push_back(static_cast<double>(each) / static_cast<double>(positions.size()));
      EXPECT_EQ(host_elements<double>(mean), means);
    }
  }
}

TEST_P(DiffractionOnEach, EqualsPlainLoopsForBytes) { expect_everything<std::uint8_t>(device()); }
TEST_P(DiffractionOnEach, EqualsPlainLoopsForU16) { expect_everything<std::uint16_t>(device()); }
TEST_P(DiffractionOnEach, EqualsPlainLoopsForU32) { expect_everything<std::uint32_t>(device()); }

TEST_P(DiffractionOnEach, MovingARegionByARowIsExact) {
  Stream stream(device());
  const Both<std::uint16_t> both(stream, 12 * 14, 9, 11, 42);
  const auto before = scan_positions(12, 14, 2, 7, 3, 9), after = scan_positions(12, 14, 3, 8, 3, 9);
  const auto gained = scan_positions(12, 14, 7, 8, 3, 9), lost = scan_positions(12, 14, 2, 3, 3, 9);
  for (const ScanView& view : both.views()) {
    Array pattern(device(), {9, 11}, DType::u64);
    pattern_sum(stream, view, before, pattern);
    pattern_update(stream, view, pattern, gained, lost, pattern);
    EXPECT_EQ(host_elements<std::uint64_t>(pattern), reference_sum(both.scan, after));
  }
}

TEST_P(DiffractionOnEach, PatternIsReadFromBothLayouts) {
  Stream stream(device());
  const Both<float> both(stream, 30, 9, 11, 43);
  for (const ScanView& view : both.views()) {
    Array pattern(device(), {9, 11}, DType::f32);
    read_pattern(stream, view, 29, pattern);
    const auto values = host_elements<float>(pattern);
    for (Index pixel = 0; pixel < 99; ++pixel)
      ASSERT_EQ(values[static_cast<std::size_t>(pixel)], both.scan.at(29, pixel));
  }
}

TEST(Diffraction, NegativeFloatsHaveTheirMaximum) {
  Stream stream;
  const Array frames = Array::from<float>({-3.f, -2.f, -1.f, -5.f}, {2, 1, 2});
  Array pattern(Device::cpu(), {1, 2}, DType::f32);
  pattern_maximum(stream, {&frames, Layout::frame_major, 1, 2}, std::vector<Index>{0, 1}, pattern);
  EXPECT_THAT(host_elements<float>(pattern), ::testing::ElementsAre(-1.f, -2.f));
}

TEST(ScanPositions, AreRowsOfTheRegion) {
  EXPECT_THAT(scan_positions(4, 5, 1, 3, 2, 4), ::testing::ElementsAre(7, 8, 12, 13));
}

TEST(ScanPositions, RegionOutsideIsAnError) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [] { (void)scan_positions(4, 5, 1, 5, 0, 5); }),
              HasSubstr("scan region rows 1 to 5, columns 0 to 5: not within 4 x 5"));
}

TEST(Diffraction, MistakesAreErrors) {
  Stream stream;
  const Array frames = make_frames(Device::cpu(), 4, 5, 6, DType::u8);
  const ScanView view{&frames, Layout::frame_major, 5, 6};
  Array pattern(Device::cpu(), {5, 6}, DType::u64), wrong(Device::cpu(), {6, 5}, DType::u64);
  const auto error = [&](const ScanView& scan, const std::vector<Index>& positions, Array& to) {
    return sonde::testing::error_of(ErrorKind::bad_input, [&] { pattern_sum(stream, scan, positions, to); });
  };
  EXPECT_THAT(error(view, {4}, pattern), HasSubstr("position 4 is outside a scan of 4"));
  EXPECT_THAT(error(view, {0}, wrong), HasSubstr("a pattern of u64 with shape (6, 5), expected dense u64"));
  EXPECT_THAT(error({&frames, Layout::pixel_major, 5, 6}, {0}, pattern),
              HasSubstr("an array of shape (4, 5, 6) is not a dense pixel-major scan of 5 x 6 pixels"));
  Array mean(Device::cpu(), {5, 6}, DType::f64);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { pattern_mean(stream, view, {}, mean); }),
              HasSubstr("the mean pattern of 0 scan positions; expected 1 or more"));
}

INSTANTIATE_EACH_DEVICE(DiffractionOnEach);

}  // namespace
}  // namespace sonde::stem
