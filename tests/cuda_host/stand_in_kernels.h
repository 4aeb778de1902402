// SPDX-License-Identifier: Apache-2.0
// Kernels for the tests of the stand-in, most of them with a fault. Each runs on a stream of its own and comes back
// when the stream is done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cuda_host {

inline constexpr int block_threads = 64;

enum class Fault {
  none,                    ///< a sum of a block by shared memory and shuffles
  no_barrier,              ///< each thread reads what another writes, nothing between
  no_second_barrier,       ///< as above with a barrier, and then they write again
  barrier_of_half,         ///< half of the threads return before
  two_barriers,            ///< threads wait at different barriers
  read_out_of_bounds,      ///< one element behind the block of memory
  write_out_of_bounds,     ///< one element before it
  misaligned,              ///< four bytes at an odd address
  unwritten_shared,        ///< shared memory that nobody has written
  scratch_out_of_bounds,   ///< behind the dynamic shared memory of the launch
  across_warps,            ///< __syncwarp() where the threads are of two warps
  across_blocks,           ///< blocks that add to one number
  atomic_and_plain,        ///< one reads what others update
  lane_missing,            ///< a shuffle in which half of the warp takes no part
  different_meetings,      ///< lanes of a warp at a shuffle and at __syncwarp()
  local_of_another,        ///< a local variable of another thread
  host_memory,             ///< memory that only the host has
  index_outside_of_array,  ///< of a local array
};

/// What the device found wrong, in words; empty when nothing. The device is as new afterwards.
std::string play(Fault fault, std::uint64_t seed);

/// Sums of each block of `of` by the kernel without a fault; and by atomic additions.
std::vector<int> block_sums(const std::vector<int>& of);
int atomic_sum(const std::vector<int>& of);
/// The blocks of a launch in the order in which they came.
std::vector<int> order_of_blocks(int blocks, std::uint64_t seed);
/// Bits of the lanes' results: shuffles up, down, by exclusive or and from a lane, within `width`.
std::vector<int> shuffled_lanes(int width);

}  // namespace cuda_host
