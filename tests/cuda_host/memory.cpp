// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_host/memory.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

// `extern __shared__` of team_cuda.h.
namespace sonde::cuda {
extern thread_local std::uint8_t shared_scratch[cuda_host::most_shared_bytes];
alignas(16) thread_local std::uint8_t shared_scratch[cuda_host::most_shared_bytes];
}  // namespace sonde::cuda

namespace cuda_host {
namespace {

constexpr std::size_t page_bytes = 4096;

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

/// Zeroed when first touched.
void* map_memory(std::size_t bytes, int protection) {
  void* block = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) {
    std::perror("cuda_host: mmap");
    std::abort();
  }
  return block;
}

// Moment::touched: which of a granule's bytes, and what else there is to know of the last access of a kind.
constexpr std::uint16_t bytes_mask = 15, atomic = 1 << 4, several_threads = 1 << 5, several_warps = 1 << 6,
                        several_blocks = 1 << 7;
static_assert(sizeof(Moment) == 16);

constexpr std::size_t granule = 4;  // bytes that share a shadow

/// Whether what `last` did comes before what `now` does, whatever the order in which threads run.
bool ordered(const Moment& last, const Moment& now, std::uint32_t first_block) {
  if (last.block < first_block) return true;  // an earlier launch, or nothing yet
  if ((last.touched & several_blocks) != 0 || last.block != now.block) return false;
  if (last.barrier < now.barrier) return true;
  if ((last.touched & several_warps) != 0 || last.warp() != now.warp()) return false;
  if (last.meeting < now.meeting) return true;
  return (last.touched & several_threads) == 0 && last.thread == now.thread;
}

constexpr Wrong race_with_write = "races with a write by another thread: nothing orders the two",
                race_with_read = "races with a read by another thread: nothing orders the two";

/// The bytes of `of` (four bits) of one granule.
Wrong check_race(Shadow& shadow, std::uint16_t of, Access access, const Moment& now, std::uint32_t first_block) {
  const bool both_atomic = access == Access::atomic && (shadow.write.touched & atomic) != 0;
  if ((shadow.write.touched & of & bytes_mask) != 0 && !both_atomic && !ordered(shadow.write, now, first_block))
    return race_with_write;
  if (access == Access::read) {
    Moment next = now;
    next.touched = of;
    // Both reads are kept, as one of the bytes that they share; of others, the last one is.
    if (const auto shared = static_cast<std::uint16_t>(shadow.read.touched & of);
        shared != 0 && !ordered(shadow.read, now, first_block)) {
      next.touched = static_cast<std::uint16_t>((shadow.read.touched & ~bytes_mask) | shared | several_threads);
      if (shadow.read.warp() != now.warp()) next.touched |= several_warps;
      if (shadow.read.block != now.block) next.touched |= several_blocks;
    }
    shadow.read = next;
    return nullptr;
  }
  if ((shadow.read.touched & of & bytes_mask) != 0 && !ordered(shadow.read, now, first_block)) return race_with_read;
  Moment next = now;
  next.touched = of;
  if (access == Access::atomic) {
    next.touched |= atomic;
    if (both_atomic && (shadow.write.touched & of & bytes_mask) == of && !ordered(shadow.write, now, first_block))
      next.touched |= several_threads | several_warps |
                      (shadow.write.block != now.block ? several_blocks : shadow.write.touched & several_blocks);
  }
  shadow.write = next;
  return nullptr;
}

/// check(granule, its bytes) until one says what is wrong.
template <class Check>
Wrong each_granule(std::size_t offset, std::size_t bytes, Check&& check) {
  for (std::size_t i = offset; i < offset + bytes;) {
    const std::size_t first = i % granule, last = std::min(granule, first + offset + bytes - i);
    const auto of = static_cast<std::uint16_t>(((1u << last) - 1u) & ~((1u << first) - 1u));
    if (const Wrong wrong = check(i / granule, of); wrong != nullptr) return wrong;
    i += last - first;
  }
  return nullptr;
}

}  // namespace

namespace device_memory {
namespace {

constexpr std::size_t gap_bytes = page_bytes;

struct Block {
  std::size_t bytes;
  Shadow* shadow;
};

struct Arena {
  std::uint8_t* begin = reinterpret_cast<std::uint8_t*>(arena_begin);
  std::size_t top = gap_bytes;  ///< bytes from the beginning that have been given out
  std::size_t used = 0;         ///< of blocks
  std::map<std::uintptr_t, Block> blocks;
  std::multimap<std::size_t, std::uint8_t*> free;  ///< by their size in pages
  int open = 0;

  static Arena& the() {
    static auto* const arena = new Arena;  // outlives every array of static lifetime
    return *arena;
  }
  bool is_open = false;
  void protect(bool from_host) {
    // Not when there is much of it: each page costs its time at each change.
    constexpr std::size_t protected_bytes = 32 << 20;
    if (from_host && used > protected_bytes) return;
    if (from_host || !is_open) mprotect(begin, top, from_host ? PROT_NONE : PROT_READ | PROT_WRITE);
    is_open = !from_host;
  }
  auto find(std::uintptr_t address) {
    auto above = blocks.upper_bound(address);
    return above == blocks.begin() ? blocks.end() : std::prev(above);
  }
};

std::size_t shadow_bytes(std::size_t bytes) { return pages((bytes + granule - 1) / granule * sizeof(Shadow)); }

}  // namespace

const std::uintptr_t arena_begin = address_of(map_memory(arena_bytes, PROT_NONE));

std::size_t total_bytes() { return std::size_t{8} << 30; }
std::size_t used_bytes() { return Arena::the().used; }

void* allocate(std::size_t bytes) {
  Arena& arena = Arena::the();
  const std::size_t whole = pages(bytes) + gap_bytes;
  if (bytes == 0 || arena.used + bytes > total_bytes()) return nullptr;
  std::uint8_t* block = nullptr;
  if (const auto found = arena.free.find(whole); found != arena.free.end()) {
    block = found->second;
    arena.free.erase(found);
  } else {
    if (arena.top + whole > arena_bytes) return nullptr;
    block = arena.begin + arena.top;
    arena.top += whole;
    arena.is_open = false;  // not all of it
  }
  // Written where it is: the pages of a large block that nobody touches stay unborn beyond the first megabyte.
  const Open open;
  constexpr std::size_t filled_bytes = 1 << 20;
  std::memset(block, 0xff, std::min(bytes, filled_bytes));
  arena.used += bytes;
  arena.blocks[address_of(block)] = {bytes,
                                     static_cast<Shadow*>(map_memory(shadow_bytes(bytes), PROT_READ | PROT_WRITE))};
  return block;
}

bool deallocate(void* block) {
  Arena& arena = Arena::the();
  const auto found = arena.blocks.find(address_of(block));
  if (found == arena.blocks.end()) return false;
  const std::size_t bytes = found->second.bytes;
  munmap(found->second.shadow, shadow_bytes(bytes));
  madvise(block, pages(bytes), MADV_DONTNEED);
  arena.used -= bytes;
  arena.blocks.erase(found);
  arena.free.emplace(pages(bytes) + gap_bytes, static_cast<std::uint8_t*>(block));
  return true;
}

bool covers(const void* address, std::size_t bytes) {
  Arena& arena = Arena::the();
  const auto found = arena.find(address_of(address));
  return found != arena.blocks.end() && address_of(address) - found->first + bytes <= found->second.bytes;
}

Wrong check(const void* address, std::size_t bytes, Access access, const Moment& now, std::uint32_t first_block) {
  // The block of the last access is mostly that of the next. No block goes while work runs.
  static std::uintptr_t begin = 0;
  static Block block{0, nullptr};
  static std::uint32_t of_launch = 0;
  const std::uintptr_t at = address_of(address);
  if (of_launch != first_block || at - begin >= block.bytes) {
    Arena& arena = Arena::the();
    const auto found = arena.find(at);
    if (found == arena.blocks.end() || at - found->first >= found->second.bytes) return "is out of bounds";
    begin = found->first;
    block = found->second;
    of_launch = first_block;
  }
  const std::size_t offset = at - begin;
  if (offset + bytes > block.bytes) return "is out of bounds";
  return each_granule(offset, bytes, [&](std::size_t i, std::uint16_t of) {
    return check_race(block.shadow[i], of, access, now, first_block);
  });
}

Open::Open() {
  if (Arena::the().open++ == 0) Arena::the().protect(false);
}
Open::~Open() {
  if (--Arena::the().open == 0) Arena::the().protect(true);
}

}  // namespace device_memory

namespace pinned_memory {
namespace {
std::map<std::uintptr_t, std::size_t>& blocks() {
  static auto* const all = new std::map<std::uintptr_t, std::size_t>;
  return *all;
}
}  // namespace

void* allocate(std::size_t bytes) {
  void* block = map_memory(pages(std::max<std::size_t>(bytes, 1)), PROT_READ | PROT_WRITE);
  blocks()[address_of(block)] = bytes;
  return block;
}

bool deallocate(void* block) {
  const auto found = blocks().find(address_of(block));
  if (found == blocks().end()) return false;
  munmap(block, pages(std::max<std::size_t>(found->second, 1)));
  blocks().erase(found);
  return true;
}

bool covers(const void* address, std::size_t bytes) {
  const auto above = blocks().upper_bound(address_of(address));
  if (above == blocks().begin()) return false;
  const auto& [begin, size] = *std::prev(above);
  return address_of(address) - begin + bytes <= size;
}

}  // namespace pinned_memory

namespace {

struct Range {
  std::uintptr_t begin, end;
};

/// Of the program itself: what is not writable, and what the loader made so after relocation.
std::vector<Range> find_constants() {
  std::vector<Range> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if ((part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0) || part.p_type == PT_GNU_RELRO) {
            const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
            static_cast<std::vector<Range>*>(data)->push_back({begin, begin + part.p_memsz});
          }
        }
        return 1;  // the program is the first
      },
      &found);
  return found;
}

Range find_thread_locals() {
  Range found{0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_TLS) {
            const std::uintptr_t begin = address_of(info->dlpi_tls_data);
            *static_cast<Range*>(data) = {begin, begin + info->dlpi_phdr[i].p_memsz};
          }
        return 1;
      },
      &found);
  return found;
}

}  // namespace

bool is_constant(const void* address) {
  static const std::vector<Range> all = find_constants();
  const std::uintptr_t at = address_of(address);
  return std::any_of(all.begin(), all.end(), [at](const Range& each) { return at >= each.begin && at < each.end; });
}

struct SharedMemory::Word {
  Shadow of;
  std::uint32_t block = 0;    ///< the last that wrote here
  std::uint16_t written = 0;  ///< the bytes that it wrote
};

SharedMemory::SharedMemory() {
  const Range range = find_thread_locals();
  begin_ = range.begin / granule * granule;
  end_ = range.end;
  shadow_ = static_cast<Word*>(map_memory(shadow_bytes(), PROT_READ | PROT_WRITE));
}

SharedMemory::~SharedMemory() { munmap(shadow_, shadow_bytes()); }

std::size_t SharedMemory::shadow_bytes() const { return pages(((end_ - begin_) / granule + 1) * sizeof(Word)); }

Wrong SharedMemory::check(const void* address, std::size_t bytes, Access access, const Moment& now) {
  const std::uintptr_t at = address_of(address), dynamic = address_of(sonde::cuda::shared_scratch);
  if (at + bytes > end_) return "is out of bounds";
  if (at + bytes > dynamic && at < dynamic + most_shared_bytes && at + bytes > dynamic + dynamic_bytes_)
    return "is beyond the shared memory of the launch";
  return each_granule(at - begin_, bytes, [&](std::size_t i, std::uint16_t of) -> Wrong {
    Word& word = shadow_[i];
    if (word.block != now.block) {
      word.block = now.block;
      word.written = 0;
    }
    if (access != Access::write && (word.written & of) != of)
      return "finds shared memory that no thread of the block has written";
    word.written = static_cast<std::uint16_t>(word.written | of);
    return check_race(word.of, of, access, now, now.block);
  });
}

}  // namespace cuda_host
