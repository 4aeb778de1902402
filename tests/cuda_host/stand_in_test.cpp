// SPDX-License-Identifier: Apache-2.0
// The stand-in for CUDA: sound kernels compute what they should, and each kind of fault is found, whatever the order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "cuda_runtime.h"
#include "tests/cuda_host/cuda_host.h"
#include "tests/cuda_host/stand_in_kernels.h"

namespace cuda_host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Case {
  Fault fault;
  const char* found;
};

class FaultIsFound : public ::testing::TestWithParam<Case> {};

TEST_P(FaultIsFound, InEveryOrder) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(play(GetParam().fault, seed), AllOf(HasSubstr(GetParam().found), HasSubstr("in kernel")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    , FaultIsFound,
    ::testing::Values(
        Case{Fault::no_barrier, "shared memory that no thread of the block has written"},
        Case{Fault::no_second_barrier, "races with"}, Case{Fault::barrier_of_half, "is reached by 32 of 64 threads"},
        Case{Fault::two_barriers, "while others are at"}, Case{Fault::read_out_of_bounds, "a read of 4 bytes"},
        Case{Fault::write_out_of_bounds, "is out of bounds"}, Case{Fault::misaligned, "no multiple of its size"},
        Case{Fault::unwritten_shared, "shared memory that no thread of the block has written"},
        Case{Fault::scratch_out_of_bounds, "beyond the shared memory of the launch"},
        Case{Fault::across_blocks, "races with"}, Case{Fault::atomic_and_plain, "races with"},
        Case{Fault::lane_missing, "for lanes that never come"}, Case{Fault::different_meetings, "while its warp is at"},
        Case{Fault::local_of_another, "local variable of another thread"},
        Case{Fault::host_memory, "memory of the host"},
        Case{Fault::index_outside_of_array, "an index outside of an array"}));

// Which thread comes first decides what is seen: a value that is not there yet, or two accesses that nothing orders.
TEST(StandIn, ASynchronisedWarpOrdersNoOtherWarp) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_THAT(play(Fault::across_warps, seed), ::testing::AnyOf(HasSubstr("no thread"), HasSubstr("races with")));
  }
}

TEST(StandIn, ASoundKernelHasNoFinding) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) EXPECT_EQ(play(Fault::none, seed), "");
}

TEST(StandIn, KernelsComputeTheirSums) {
  std::vector<int> numbers(4 * block_threads);
  std::iota(numbers.begin(), numbers.end(), 0);
  finish();
  std::vector<int> expected;
  for (int block = 0; block < 4; ++block) expected.push_back(64 * 63 / 2 + 64 * 64 * block);
  EXPECT_EQ(block_sums(numbers), expected);
  EXPECT_EQ(atomic_sum(numbers), 256 * 255 / 2);
}

TEST(StandIn, ShufflesAreThoseOfTheManual) {
  for (const int width : {32, 8}) {
    const std::vector<int> lanes = shuffled_lanes(width);
    for (int lane = 0; lane < 32; ++lane) {
      SCOPED_TRACE(lane);
      const int base = lane / width * width;
      const auto at = [&](int row) { return lanes[static_cast<std::size_t>(32 * row + lane)]; };
      EXPECT_EQ(at(0), lane - 3 >= base ? lane - 3 : lane);
      EXPECT_EQ(at(1), lane + 3 < base + width ? lane + 3 : lane);
      EXPECT_EQ(at(2), lane ^ 5);
      EXPECT_EQ(at(3), base + 2);
      EXPECT_EQ(at(4), 0b01001001001001001001001001001001);
    }
  }
}

TEST(StandIn, TheSeedDrawsTheOrderOfBlocks) {
  const std::vector<int> one = order_of_blocks(16, 1), again = order_of_blocks(16, 1), other = order_of_blocks(16, 2);
  EXPECT_EQ(one, again);
  EXPECT_NE(one, other);
  EXPECT_THAT(one, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/// Two streams and memory of both kinds.
class Streams : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreateWithFlags(&first_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&second_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&device_, sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned_), 2 * sizeof(int)), cudaSuccess);
  }
  void TearDown() override {
    (void)cudaStreamDestroy(first_);
    (void)cudaStreamDestroy(second_);
    (void)cudaFree(device_);
    (void)cudaFreeHost(pinned_);
  }
  /// 7 to the device by the first stream, back by the second. How often of a hundred it is 7 that comes back.
  int right_of_a_hundred(bool with_event) {
    int right = 0;
    cudaEvent_t event = nullptr;
    (void)cudaEventCreate(&event);
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      set_seed(seed);
      pinned_[0] = 7;
      (void)cudaMemsetAsync(device_, 0, sizeof(int), first_);
      (void)cudaMemcpyAsync(device_, pinned_, sizeof(int), cudaMemcpyDefault, first_);
      (void)cudaEventRecord(event, first_);
      if (with_event) (void)cudaStreamWaitEvent(second_, event);
      (void)cudaMemcpyAsync(pinned_ + 1, device_, sizeof(int), cudaMemcpyDefault, second_);
      (void)cudaStreamSynchronize(second_);
      right += pinned_[1] == 7;
      (void)cudaStreamSynchronize(first_);
    }
    (void)cudaEventDestroy(event);
    return right;
  }
  cudaStream_t first_ = nullptr, second_ = nullptr;
  int* device_ = nullptr;
  int* pinned_ = nullptr;
};

TEST_F(Streams, AreOrderedByEventsOnly) {
  EXPECT_EQ(right_of_a_hundred(true), 100);
  EXPECT_LT(right_of_a_hundred(false), 100);
}

TEST_F(Streams, WorkMayWaitUntilSomeoneWaitsForIt) {
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    set_seed(seed);
    pinned_[1] = 0;
    (void)cudaMemsetAsync(device_, 1, sizeof(int), first_);
    (void)cudaMemcpyAsync(pinned_ + 1, device_, sizeof(int), cudaMemcpyDefault, first_);
    early += pinned_[1] == 0;
    (void)cudaStreamSynchronize(first_);
    EXPECT_EQ(pinned_[1], 0x01010101);
  }
  EXPECT_GT(early, 0);
  EXPECT_LT(early, 100);
}

TEST_F(Streams, AGraphIsRecordedAndRunsAsOftenAsItIsLaunched) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(first_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(device_, 2, sizeof(int), first_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(pinned_, device_, sizeof(int), cudaMemcpyDefault, first_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(first_), cudaErrorStreamCaptureUnsupported);
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 1), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamEndCapture(first_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  (void)cudaGraphDestroy(graph);
  pinned_[0] = 0;
  (void)cudaStreamSynchronize(first_);
  EXPECT_EQ(pinned_[0], 0);
  for (int i = 0; i < 2; ++i) {
    pinned_[0] = 0;
    ASSERT_EQ(cudaGraphLaunch(ready, first_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(first_), cudaSuccess);
    EXPECT_EQ(pinned_[0], 0x02020202);
  }
  (void)cudaGraphExecDestroy(ready);
}

TEST_F(Streams, ACopyBehindABlockIsFound) {
  EXPECT_EQ(cudaMemcpyAsync(pinned_, device_, 2 * sizeof(int), cudaMemcpyDefault, first_), cudaErrorLaunchFailure);
  EXPECT_THAT(failure(), HasSubstr("a copy of 8 bytes"));
  EXPECT_EQ(cudaStreamSynchronize(second_), cudaErrorLaunchFailure);  // from then on every call
  reset();
}

using StreamsDeathTest = Streams;
TEST_F(StreamsDeathTest, DeviceMemoryIsNotForTheHost) {
  EXPECT_DEATH(*const_cast<volatile int*>(device_) = 1, "code of the host touches device memory");
}

}  // namespace
}  // namespace cuda_host
