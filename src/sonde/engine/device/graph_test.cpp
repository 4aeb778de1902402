// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"
#include "tests/support/devices.h"

namespace sonde {
namespace {

class GraphOnEachDevice : public testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(GraphOnEachDevice);

// A shift register: each run moves the elements by one place, so that a run left out or done twice shows.
TEST_P(GraphOnEachDevice, EveryRunDoesTheWorkOnce) {
  Stream stream(device());
  const Index count = 64;
  const auto bytes = static_cast<std::size_t>(count);
  std::vector<std::uint8_t> start(bytes);
  for (std::size_t i = 0; i < bytes; ++i) start[i] = static_cast<std::uint8_t>(i + 1);
  Array from = Array::from(start, {count}).copy_to(device(), stream), to = Array::zeros(device(), {count}, DType::u8);
  Graph graph([&](Stream& queue) {
    queue.copy(to.data(), static_cast<const std::uint8_t*>(from.data()) + 1, bytes - 1);
    queue.copy(from.data(), to.data(), bytes);
  });
  const int runs = 20;
  for (int i = 0; i < runs; ++i) graph.run(stream);
  Graph moved(std::move(graph));
  moved.run(stream);
  stream.synchronise();
  const Array back = from.copy_to(Device::cpu(), stream);
  const auto* first = static_cast<const std::uint8_t*>(back.data());
  for (Index i = 0; i < count; ++i) EXPECT_EQ(int{first[i]}, i + runs + 1 < count ? i + runs + 2 : 0) << i;
  EXPECT_THAT(moved.replays().because, ::testing::HasSubstr(device().is_cpu() ? "cpu has no graphs" : " as a graph, "));
}

TEST_P(GraphOnEachDevice, TakesTheWayThatIsAskedFor) {
  for (const Graph::Replay way : {Graph::Replay::always, Graph::Replay::never}) {
    Stream stream(device());
    Array numbers = Array::zeros(device(), {1}, DType::u8);
    Graph graph([&](Stream& queue) { queue.fill_zero(numbers.data(), 1); }, way);
    graph.run(stream);
    stream.synchronise();
    EXPECT_EQ(graph.replays().value, way == Graph::Replay::always && !device().is_cpu());
    EXPECT_EQ(graph.replays().because, device().is_cpu() ? "cpu has no graphs" : "asked for");
  }
}

}  // namespace
}  // namespace sonde
