// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_host/machine.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <utility>

extern "C" const char __executable_start;

namespace cuda_host {
namespace {

constexpr std::size_t guard_bytes = 4096;
constexpr unsigned most_threads = 1024;
constexpr unsigned warp_threads = 32;

std::atomic<std::uint32_t> blocks_played{0};

std::string file_and_line(const std::source_location& at) {
  const std::string_view path = at.file_name();
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), at.line());
}

std::string readable(const char* type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type;
  std::free(text);
  return name;
}

const char* name_of(Together operation) {
  constexpr const char* names[] = {"__syncwarp",      "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",
                                   "__shfl_xor_sync", "__any_sync",  "__all_sync",     "__ballot_sync"};
  return names[static_cast<int>(operation)];
}

}  // namespace

std::uint32_t Draw::operator()(std::uint32_t n) {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return static_cast<std::uint32_t>(((state_ * 0x2545f4914f6cdd1du) >> 32) * n >> 32);
}

Machine& Machine::of_thread() {
  thread_local Machine machine;
  return machine;
}

Machine::Machine()
    : stacks_(static_cast<std::uint8_t*>(mmap(nullptr, stack_bytes * most_threads, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (stacks_ == MAP_FAILED) std::abort();
}

Machine::~Machine() { munmap(stacks_, stack_bytes * most_threads); }

/// The life of a fibre: the kernel for one thread, again and again.
void Machine::begin(unsigned high, unsigned low) {
  auto* const machine = reinterpret_cast<Machine*>(std::uintptr_t{high} << 32 | low);
  while (true) {
    machine->call_->play(machine->call_->arguments);
    machine->running_->state = State::returned;
    ++machine->returned_;
    machine->leave();
  }
}

/// Runs a fibre until it leaves.
void Machine::enter(Fibre& fibre) {
  running_ = &fibre;
  own_stack_ = reinterpret_cast<std::uintptr_t>(stacks_) + fibre.index * stack_bytes;
  if (__builtin_setjmp(scheduler_) != 0) {
    running_ = nullptr;
    return;
  }
  if (fibre.begun) __builtin_longjmp(fibre.context, 1);
  fibre.begun = true;
  ucontext_t first;
  getcontext(&first);
  // The stacks do not begin at the same place of their pages: they would fight for the same lines of the cache.
  const std::size_t shift_bytes = fibre.index * 192 % (16 << 10);
  first.uc_stack.ss_sp = stacks_ + fibre.index * stack_bytes + guard_bytes;
  first.uc_stack.ss_size = stack_bytes - guard_bytes - shift_bytes;
  first.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&first, reinterpret_cast<void (*)()>(&Machine::begin), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
  setcontext(&first);
}

/// Back to the scheduler; returns when the fibre is entered again.
void Machine::leave() {
  if (__builtin_setjmp(running_->context) == 0) give_up();
}

/// Back to the scheduler; what is on the stack may be gone.
void Machine::give_up() { __builtin_longjmp(scheduler_, 1); }

std::string Machine::name_of(const Fibre& fibre) const {
  const uint3 thread{fibre.index % block_size_.x, fibre.index / block_size_.x % block_size_.y,
                     fibre.index / block_size_.x / block_size_.y};
  return fmt::format("thread ({}, {}, {}) of block ({}, {}, {})", thread.x, thread.y, thread.z, block_index_.x,
                     block_index_.y, block_index_.z);
}

void Machine::set_failure(const Fibre* of, const std::string& what) {
  if (!failure_.empty()) return;
  failure_ = fmt::format("{}{}, in kernel {}", of == nullptr ? "" : name_of(*of) + " ", what, readable(call_->type));
}

void Machine::fail(const std::string& what) {
  set_failure(running_, what);
  running_->begun = false;
  give_up();
}

std::string Machine::play(const dim3& grid, const dim3& block, std::size_t shared_bytes, const Call& call, Draw& draw) {
  grid_size_ = grid;
  block_size_ = block;
  threads_ = block.x * block.y * block.z;
  call_ = &call;
  draw_ = &draw;
  failure_.clear();
  shared_.set_dynamic_bytes(shared_bytes);
  while (fibres_.size() < threads_) {
    const std::size_t index = fibres_.size();
    fibres_.emplace_back().index = static_cast<std::uint16_t>(index);
    mprotect(stacks_ + index * stack_bytes, guard_bytes, PROT_NONE);
  }
  order_.resize(threads_);
  std::iota(order_.begin(), order_.end(), std::uint16_t{0});
  // A walk through all blocks: a first one and a step, both drawn, the step without a common factor.
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  std::uint64_t at = draw(static_cast<std::uint32_t>(blocks)), step = 1 + draw(static_cast<std::uint32_t>(blocks));
  while (std::gcd(step, blocks) != 1) ++step;
  working_ = this;
  first_block_ = blocks_played + 1;
  for (std::uint64_t played = 0; played < blocks && failure_.empty(); ++played, at = (at + step) % blocks) {
    block_index_ = {static_cast<unsigned>(at % grid.x), static_cast<unsigned>(at / grid.x % grid.y),
                    static_cast<unsigned>(at / grid.x / grid.y)};
    play_block();
  }
  working_ = nullptr;
  return std::exchange(failure_, {});
}

void Machine::play_block() {
  block_ = ++blocks_played;
  waiting_ = returned_ = 0;
  barrier_ = 0;
  for (unsigned i = 0; i < threads_; ++i) {
    fibres_[i].state = State::ready;
    fibres_[i].meetings = 0;
  }
  while (failure_.empty() && returned_ < threads_) play_threads();
  if (!failure_.empty())
    for (Fibre& fibre : fibres_) fibre.begun = fibre.begun && fibre.state == State::returned;
}

/// Each thread that can run, in an order of its own, until it waits; then whoever waits for nothing more is released.
void Machine::play_threads() {
  for (std::uint32_t i = threads_; i > 1; --i) std::swap(order_[i - 1], order_[(*draw_)(i)]);
  bool any = false;
  for (const std::uint16_t i : order_) {
    if (fibres_[i].state != State::ready) continue;
    any = true;
    enter(fibres_[i]);
    if (!failure_.empty()) return;
  }
  const bool block = release_block();
  bool warps = false;
  for (unsigned warp = 0; warp * warp_threads < threads_; ++warp) warps |= release_warp(warp);
  if (!any && !block && !warps) explain_standstill();
}

bool Machine::release_block() {
  if (waiting_ == 0 || waiting_ < threads_) return false;
  waiting_ = 0;
  ++barrier_;
  for (unsigned i = 0; i < threads_; ++i) fibres_[i].state = State::ready;
  return true;
}

/// Lanes whose whole mask waits at the same operation.
bool Machine::release_warp(unsigned warp) {
  const unsigned first = warp * warp_threads, lanes = std::min(warp_threads, threads_ - first);
  bool released = false;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Fibre& one = fibres_[first + lane];
    if (one.state != State::with_warp) continue;
    bool complete = true;
    for (unsigned other = 0; other < warp_threads; ++other) {
      if ((one.mask >> other & 1) == 0) continue;
      if (other >= lanes || fibres_[first + other].state != State::with_warp) {
        complete = false;
        break;
      }
      const Fibre& its = fibres_[first + other];
      if (its.operation != one.operation || its.mask != one.mask || its.width != one.width) {
        set_failure(&its, fmt::format("is at {} ({}) while its warp is at {} ({})", cuda_host::name_of(its.operation),
                                      file_and_line(its.at), cuda_host::name_of(one.operation), file_and_line(one.at)));
        return true;
      }
    }
    if (!complete) continue;
    exchange(warp, one.mask);
    released = true;
  }
  return released;
}

void Machine::exchange(unsigned warp, unsigned mask) {
  const unsigned first = warp * warp_threads;
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < warp_threads; ++lane)
    if ((mask >> lane & 1) != 0 && fibres_[first + lane].value != 0) ballot |= 1u << lane;
  for (unsigned lane = 0; lane < warp_threads; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    Fibre& fibre = fibres_[first + lane];
    const int width = fibre.width, base = static_cast<int>(lane) / width * width, me = static_cast<int>(lane);
    int source = me;
    switch (fibre.operation) {
      case Together::shuffle:
        source = base + (fibre.argument & (width - 1));
        break;
      case Together::shuffle_up:
        source = me - fibre.argument < base ? me : me - fibre.argument;
        break;
      case Together::shuffle_down:
        source = me + fibre.argument >= base + width ? me : me + fibre.argument;
        break;
      case Together::shuffle_xor:
        source = (me ^ fibre.argument) >= base + width ? me : me ^ fibre.argument;
        break;
      case Together::any:
        fibre.result = ballot != 0;
        break;
      case Together::all:
        fibre.result = ballot == mask;
        break;
      case Together::ballot:
        fibre.result = ballot;
        break;
      case Together::synchronise:
        break;
    }
    if (fibre.operation >= Together::shuffle && fibre.operation <= Together::shuffle_xor) {
      if ((mask >> source & 1) == 0)
        set_failure(&fibre, fmt::format("asks lane {}, which takes no part, at {} ({})", source,
                                        cuda_host::name_of(fibre.operation), file_and_line(fibre.at)));
      else
        fibre.result = fibres_[first + static_cast<unsigned>(source)].value;
    }
    ++fibre.meetings;
  }
  for (unsigned lane = 0; lane < warp_threads; ++lane)
    if ((mask >> lane & 1) != 0) fibres_[first + lane].state = State::ready;
}

void Machine::explain_standstill() {
  const auto end = fibres_.begin() + threads_;
  const auto first = [&](State state) {
    return std::find_if(fibres_.begin(), end, [state](const Fibre& each) { return each.state == state; });
  };
  if (const auto found = first(State::with_warp); found != end)
    return set_failure(&*found, fmt::format("waits at {} ({}) for lanes that never come",
                                            cuda_host::name_of(found->operation), file_and_line(found->at)));
  const auto gone = first(State::returned);
  set_failure(gone == end ? nullptr : &*gone,
              fmt::format("has returned: the barrier at {} is reached by {} of {} threads", file_and_line(barrier_at_),
                          waiting_, threads_));
}

uint3 Machine::thread_index() const {
  const unsigned i = running_->index;
  return {i % block_size_.x, i / block_size_.x % block_size_.y, i / block_size_.x / block_size_.y};
}

void Machine::wait_for_block(std::source_location at) {
  if (waiting_ == 0) barrier_at_ = at;
  const bool same_file =
      at.file_name() == barrier_at_.file_name() || std::string_view(at.file_name()) == barrier_at_.file_name();
  if (at.line() != barrier_at_.line() || !same_file)
    fail(fmt::format("is at the barrier at {} while others are at {}", file_and_line(at), file_and_line(barrier_at_)));
  ++waiting_;
  running_->state = State::at_barrier;
  leave();
}

std::uint64_t Machine::together(Together operation, unsigned mask, std::uint64_t value, int argument, int width,
                                std::source_location at) {
  Fibre& fibre = *running_;
  if ((mask >> fibre.index % warp_threads & 1) == 0)
    fail(fmt::format("is not in the mask {:#x} that it gives to {} ({})", mask, cuda_host::name_of(operation),
                     file_and_line(at)));
  fibre.operation = operation;
  fibre.mask = mask;
  fibre.value = value;
  fibre.argument = argument;
  fibre.width = width;
  fibre.at = at;
  fibre.state = State::with_warp;
  leave();
  return fibre.result;
}

void Machine::check(const void* address, std::size_t bytes, Access access, const void* from) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const Fibre* const fibre = running_;
  if (fibre == nullptr) return;
  Wrong wrong = nullptr;
  const Moment now{block_, barrier_, fibre->meetings, fibre->index};
  if (device_memory::contains(address)) {
    wrong = device_memory::check(address, bytes, access, now, first_block_);
  } else if (shared_.contains(address)) {
    wrong = shared_.check(address, bytes, access, now);
  } else if (at - reinterpret_cast<std::uintptr_t>(stacks_) < stack_bytes * most_threads) {
    wrong = "is to a local variable of another thread";
  } else if (at - reinterpret_cast<std::uintptr_t>(call_->arguments) < call_->bytes || is_constant(address)) {
    wrong = access == Access::read ? nullptr : "is to a constant";
  } else if (!pinned_memory::covers(address, bytes)) {
    wrong = "is to memory of the host";
  }
  if (wrong == nullptr) return;
  constexpr const char* words[] = {"read", "write", "atomic update"};
  fail(fmt::format("{}: a {} of {} bytes at {} {} (program + {:#x})", "has a wrong access",
                   words[static_cast<int>(access)], bytes, address, wrong,
                   reinterpret_cast<std::uintptr_t>(from) - reinterpret_cast<std::uintptr_t>(&__executable_start)));
}

namespace {
template <class Triple>
unsigned part(const Triple& of, int axis) {
  return axis == 0 ? of.x : axis == 1 ? of.y : of.z;
}
}  // namespace

unsigned thread_index(int axis) { return part(Machine::at_work()->thread_index(), axis); }
unsigned block_index(int axis) { return part(Machine::at_work()->block_index(), axis); }
unsigned block_size(int axis) { return part(Machine::at_work()->block_size(), axis); }
unsigned grid_size(int axis) { return part(Machine::at_work()->grid_size(), axis); }

std::uint64_t together(Together operation, unsigned mask, std::uint64_t value, int argument, int width,
                       std::source_location at) {
  return Machine::at_work()->together(operation, mask, value, argument, width, at);
}

void note_atomic(const void* address, std::size_t bytes) {
  if (Machine* const machine = Machine::at_work(); machine != nullptr)
    machine->touch(address, bytes, Access::atomic, __builtin_return_address(0));
}

}  // namespace cuda_host

void __syncthreads(std::source_location at) { cuda_host::Machine::at_work()->wait_for_block(at); }
