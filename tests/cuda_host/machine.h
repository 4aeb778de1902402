// SPDX-License-Identifier: Apache-2.0
// A multiprocessor played by one thread of the host: the threads of a block are fibres, each with a stack of its own.
// One runs until it waits for others; which comes next is drawn by the seed.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "tests/cuda_host/memory.h"

namespace cuda_host {

/// A small generator of permutations (xorshift64*).
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  /// Below n.
  std::uint32_t operator()(std::uint32_t n);

 private:
  std::uint64_t state_;
};

class Machine {
 public:
  /// Of the calling thread of the host.
  static Machine& of_thread();
  /// The one whose kernel is at work in this thread, else nullptr.
  static Machine* at_work() { return working_; }

  Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  /// All blocks of a launch in an order drawn from `draw`. Returns what went wrong first, in words; the launch ends
  /// there.
  std::string play(const dim3& grid, const dim3& block, std::size_t shared_bytes, const Call& call, Draw& draw);

  // For the thread that runs.
  [[nodiscard]] uint3 thread_index() const;
  [[nodiscard]] uint3 block_index() const { return block_index_; }
  [[nodiscard]] dim3 block_size() const { return block_size_; }
  [[nodiscard]] dim3 grid_size() const { return grid_size_; }
  void wait_for_block(std::source_location at);
  std::uint64_t together(Together operation, unsigned mask, std::uint64_t value, int argument, int width,
                         std::source_location at);
  /// `from`: the place in the program.
  void touch(const void* address, std::size_t bytes, Access access, const void* from) {
    if (reinterpret_cast<std::uintptr_t>(address) - own_stack_ >= stack_bytes)
      check(address, bytes, access, from);  // else a local variable
  }
  /// Ends the launch with a message about this thread; the thread goes no further.
  [[noreturn]] void fail(const std::string& what);

 private:
  enum class State : std::uint8_t { ready, at_barrier, with_warp, returned };
  /// Where to go on, by __builtin_setjmp: setjmp() of the library does more, and took a tenth of the time.
  using Context = void* [5];
  struct Fibre {
    Context context{};
    bool begun = false;  ///< `context` holds a place in the loop of begin()
    State state = State::ready;
    std::uint16_t index = 0;
    std::uint32_t meetings = 0;
    // What it does with its warp.
    Together operation{};
    unsigned mask = 0;
    std::uint64_t value = 0, result = 0;
    int argument = 0, width = 0;
    std::source_location at;
  };

  // noipa: whoever calls them must not conclude from their bodies which registers they keep.
  [[gnu::noipa]] void enter(Fibre& fibre);
  [[gnu::noipa]] void leave();
  [[noreturn, gnu::noipa]] void give_up();
  void play_block();
  void play_threads();
  bool release_block();
  bool release_warp(unsigned warp);
  void exchange(unsigned warp, unsigned mask);
  void explain_standstill();
  void set_failure(const Fibre* of, const std::string& what);
  [[nodiscard]] std::string name_of(const Fibre& fibre) const;
  static void begin(unsigned high, unsigned low);

  void check(const void* address, std::size_t bytes, Access access, const void* from);

  static constexpr std::size_t stack_bytes = 128 << 10;
  static constinit inline thread_local Machine* working_ = nullptr;

  std::uint8_t* stacks_;
  std::uintptr_t own_stack_ = 0;  ///< of the thread that runs
  std::vector<Fibre> fibres_;
  SharedMemory shared_;
  Context scheduler_{};
  Fibre* running_ = nullptr;
  const Call* call_ = nullptr;
  Draw* draw_ = nullptr;
  dim3 grid_size_, block_size_;
  uint3 block_index_;
  unsigned threads_ = 0, waiting_ = 0, returned_ = 0;
  std::uint32_t block_ = 0, first_block_ = 0, barrier_ = 0;
  std::source_location barrier_at_;
  std::vector<std::uint16_t> order_;
  std::string failure_;
};

}  // namespace cuda_host
