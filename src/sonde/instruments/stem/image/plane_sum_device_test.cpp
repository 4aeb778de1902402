// SPDX-License-Identifier: Apache-2.0
// The logic of a GPU's sums of planes, run by one thread with its loops forwards and backwards.
#include "sonde/instruments/stem/image/plane_sum_device.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "sonde/instruments/stem/image/test_scan.h"

namespace sonde::stem {
namespace {

template <class T>
class PlaneSumDevice : public ::testing::Test {};
using Types = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(PlaneSumDevice, Types);

template <class T, int Width>
std::vector<std::uint64_t> updated(const Array& planes, const std::vector<Index>& added,
                                   const std::vector<Index>& removed, const std::vector<std::uint64_t>& base,
                                   StepOrder order) {
  const Index positions = planes.shape()[1];
  std::vector<std::uint64_t> image(static_cast<std::size_t>(positions), 99);
  device::PlaneUpdate<T, Width> body;
  body.planes = planes.view<T, 2>();
  body.added = View<const Index, 1>(added.data(), static_cast<Index>(added.size()));
  body.removed = View<const Index, 1>(removed.data(), static_cast<Index>(removed.size()));
  if (!base.empty()) body.base = View<const std::uint64_t, 1>(base.data(), positions);
  body.image = View<std::uint64_t, 1>(image.data(), positions);
  run_serially({body.pieces()}, body, order);
  return image;
}

TYPED_TEST(PlaneSumDevice, AddsAndRemovesPlanes) {
  Stream stream;
  for (const Index positions : {1, 3, 4, 7, 1023, 1024, 1025, 3001}) {
    SCOPED_TRACE(positions);
    const auto scan = testing::random_scan<TypeParam>(positions, 5, 6, static_cast<unsigned>(positions));
    const Array planes = scan.planes(stream);
    ASSERT_TRUE(device::planes_allow_groups(planes.view<TypeParam, 2>()));
    const std::vector<Index> added = {0, 3, 4, 5, 29, 11, 12, 13, 14}, removed = {3, 8};
    std::vector<std::uint64_t> base(static_cast<std::size_t>(positions)), expected(base);
    for (Index p = 0; p < positions; ++p) {
      base[static_cast<std::size_t>(p)] = static_cast<std::uint64_t>(p) * 1000000007;
      std::uint64_t& sum = expected[static_cast<std::size_t>(p)];
      sum = base[static_cast<std::size_t>(p)];
      for (const Index pixel : added) sum += scan.at(p, pixel);
      for (const Index pixel : removed) sum -= scan.at(p, pixel);
    }
    for (const StepOrder order : {StepOrder::forwards, StepOrder::backwards}) {
      EXPECT_EQ((updated<TypeParam, 4>(planes, added, removed, base, order)), expected);
      EXPECT_EQ((updated<TypeParam, 1>(planes, added, removed, base, order)), expected);
    }
  }
}

TYPED_TEST(PlaneSumDevice, LanesOfManyLargestCountsDoNotWrap) {
  constexpr Index pixels = 70000;  // more than a lane is filled with before it is emptied
  Array planes = make_planes(Device::cpu(), 4, 1, 1, dtype_of<TypeParam>);
  for (Index p = 0; p < 4; ++p) planes.view<TypeParam, 2>()(0, p) = std::numeric_limits<TypeParam>::max();
  const std::vector<Index> added(pixels, 0);
  const std::uint64_t expected = std::uint64_t{pixels} * std::numeric_limits<TypeParam>::max();
  EXPECT_EQ((updated<TypeParam, 4>(planes, added, {}, {}, StepOrder::forwards)),
            std::vector<std::uint64_t>(4, expected));
}

TEST(PlaneGroups, PlanesThatStartAnywhereAreReadOneByOne) {
  std::vector<std::uint16_t> counts(64);
  EXPECT_FALSE(device::planes_allow_groups(View<const std::uint16_t, 2>(counts.data(), 6, 7)));
  EXPECT_FALSE(device::planes_allow_groups(View<const std::uint16_t, 2>(counts.data() + 1, 6, 8)));
}

}  // namespace
}  // namespace sonde::stem
