// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/bitplane.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/image/bitplane_kernels.h"

namespace sonde::stem {
namespace {

void check_mask(const Mask& mask, Index rows, Index cols) {
  if (mask.rows != rows || mask.cols != cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("a mask of {} x {} pixels and a detector of {} x {}", mask.rows, mask.cols, rows, cols))
        .hint("bit planes hold unbinned pixels");
  if (!mask.boolean())
    throw Error(ErrorKind::bad_input, "weighted masks cannot be evaluated on bit planes")
        .hint("decode the data first: " + setting("layout", "pixel") + " or " + setting("layout", "frame"));
}

std::uint64_t element(const std::byte* bytes, std::size_t element_bytes) {
  std::uint64_t value = 0;
  for (std::size_t k = 0; k < element_bytes; ++k) value |= std::to_integer<std::uint64_t>(bytes[k]) << (8 * k);
  return value;
}

bool bit(const std::vector<std::byte>& bits, std::size_t i) {
  return (std::to_integer<unsigned>(bits[i / 8]) >> (i % 8) & 1u) != 0;
}

}  // namespace

std::optional<BitplaneMasks::Bits> BitplaneMasks::bits_of(const std::vector<bool>& pixels) {
  Bits set;
  set.bytes.assign((pixels.size() + 7) / 8, std::byte{0});
  for (std::size_t i = 0; i < pixels.size(); ++i)
    if (pixels[i]) set.bytes[i / 8] |= std::byte{1} << (i % 8);
  const auto occupied = [](std::byte byte) { return byte != std::byte{0}; };
  const auto first = std::find_if(set.bytes.begin(), set.bytes.end(), occupied);
  if (first == set.bytes.end()) return std::nullopt;
  set.first = static_cast<std::size_t>(first - set.bytes.begin());
  set.last = set.bytes.size() - static_cast<std::size_t>(std::find_if(set.bytes.rbegin(), set.bytes.rend(), occupied) -
                                                         set.bytes.rbegin());
  return set;
}

void BitplaneMasks::add_set(const std::vector<bool>& pixels, std::uint64_t BitplaneSums::*moment, std::size_t mask,
                            int power) {
  std::optional<Bits> set = bits_of(pixels);
  if (!set) return;  // sums to nothing
  set->moment = moment;
  set->mask = mask;
  set->power = power;
  sets_.push_back(std::move(*set));
}

BitplaneMasks BitplaneMasks::prepare(Index rows, Index cols, std::size_t element_bytes, std::span<const Mask> masks,
                                     const Options& options) {
  const auto pixels = static_cast<std::size_t>(rows * cols);
  if (masks.size() > BitplaneSums::most_masks)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} masks in one pass, at most {}", masks.size(), BitplaneSums::most_masks));
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
    throw Error(ErrorKind::bad_input, fmt::format("bit planes of elements of {} bytes", element_bytes));
  if (!options.good.empty() && options.good.size() != pixels)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} pixel flags for a detector of {} x {} pixels", options.good.size(), rows, cols));
  BitplaneMasks made;
  made.rows_ = rows;
  made.cols_ = cols;
  made.element_bytes_ = element_bytes;
  made.masks_ = masks.size();
  made.sentinel_ = options.sentinel;
  std::vector<bool> good(pixels, true);
  for (std::size_t i = 0; i < options.good.size(); ++i) good[i] = options.good[i] != 0;
  made.good_.assign((pixels + 7) / 8, std::byte{0});
  for (std::size_t i = 0; i < pixels; ++i)
    if (good[i]) made.good_[i / 8] |= std::byte{1} << (i % 8);

  const auto members = [&](const Mask& mask) {
    check_mask(mask, rows, cols);
    std::vector<bool> set(pixels, false);
    for (const Index pixel : mask.pixels) set[static_cast<std::size_t>(pixel)] = good[static_cast<std::size_t>(pixel)];
    return set;
  };
  for (std::size_t i = 0; i < masks.size(); ++i) made.add_set(members(masks[i]), nullptr, i, 0);
  if (options.apart.size() > BitplaneSums::most_apart)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} sets apart in one pass, at most {}", options.apart.size(), BitplaneSums::most_apart));
  for (std::size_t i = 0; i < options.apart.size(); ++i) {
    check_mask(options.apart[i], rows, cols);
    std::vector<bool> set(pixels, false);
    for (const Index pixel : options.apart[i].pixels) set[static_cast<std::size_t>(pixel)] = true;
    std::optional<Bits> bits = bits_of(set);
    if (!bits) continue;
    bits->mask = i;
    for (std::size_t at = bits->first; at < bits->last; ++at)
      if (bits->bytes[at] != std::byte{0} && (bits->words.empty() || bits->words.back() != at / 8))
        bits->words.push_back(at / 8);
    made.apart_.push_back(std::move(*bits));
  }
  if (!options.moments) return made;

  const std::vector<bool> over = options.moments_of ? members(*options.moments_of) : good;
  made.add_set(over, &BitplaneSums::total, 0, 0);
  const auto coordinate_bits = [&](std::uint64_t BitplaneSums::*moment, Index extent, auto coordinate) {
    for (int power = 0; (Index{1} << power) < extent; ++power) {
      std::vector<bool> set = over;
      for (std::size_t i = 0; i < pixels; ++i) set[i] = set[i] && (coordinate(static_cast<Index>(i)) >> power & 1) != 0;
      made.add_set(set, moment, 0, power);
    }
  };
  coordinate_bits(&BitplaneSums::moment_row, rows, [&](Index pixel) { return pixel / cols; });
  coordinate_bits(&BitplaneSums::moment_col, cols, [&](Index pixel) { return pixel % cols; });
  return made;
}

bool BitplaneMasks::has_sentinel(const BitPlanes& block) const {
  // A plane that must be set and holds no bit at all rules the value out; this is the rule in counted data.
  if ((*sentinel_ & ~block.nonzero) != 0) return false;
  const std::byte* good = good_.data() + block.first / 8;
  const std::size_t planes = 8 * element_bytes_;
  std::size_t i = 0;
  for (; i + 8 <= block.plane_bytes; i += 8) {
    std::uint64_t equal = 0;
    std::memcpy(&equal, good + i, 8);
    for (std::size_t p = planes; p-- > 0 && equal != 0;) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, block.plane(p) + i, 8);
      equal &= (*sentinel_ >> p & 1) != 0 ? bits : ~bits;
    }
    if (equal != 0) return true;
  }
  for (; i < block.plane_bytes; ++i) {
    std::byte equal = good[i];
    for (std::size_t p = 0; p < planes; ++p)
      equal &= (*sentinel_ >> p & 1) != 0 ? block.plane(p)[i] : ~block.plane(p)[i];
    if (equal != std::byte{0}) return true;
  }
  return false;
}

/// Word by word of the set's: the pixels that hold the "no data" value in this frame, then popcounts over the others.
void BitplaneMasks::sum_apart(const BitplaneKernels& kernels, const BitPlanes& block, const Bits& set,
                              BitplaneSums::Apart& sums) const {
  const std::size_t begin = block.first / 8, end = begin + block.plane_bytes;
  const bool may_hold_sentinel = sentinel_ && (*sentinel_ & ~block.nonzero) == 0;
  for (auto each = std::lower_bound(set.words.begin(), set.words.end(), begin / 8); each != set.words.end(); ++each) {
    // A word may begin in the block before this one, and end in the next.
    const std::size_t from = std::max(begin, 8 * *each), to = std::min({end, 8 * *each + 8, set.bytes.size()});
    if (from >= to) break;
    const auto word = [&](const std::byte* plane_or_set) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, plane_or_set, to - from);
      return bits;
    };
    std::uint64_t pixels = word(set.bytes.data() + from);
    if (may_hold_sentinel) {
      std::uint64_t equal = pixels;
      for (std::size_t p = 8 * element_bytes_; p-- > 0 && equal != 0;) {
        const std::uint64_t bits = word(block.plane(p) + (from - begin));
        equal &= (*sentinel_ >> p & 1) != 0 ? bits : ~bits;
      }
      sums.no_data += static_cast<std::uint64_t>(std::popcount(equal));
      pixels &= ~equal;
    }
    sums.sum += kernels.sum_planes(block.planes + (from - begin), block.plane_bytes, block.nonzero,
                                   reinterpret_cast<const std::byte*>(&pixels), to - from);
  }
}

ElementRange BitplaneMasks::touched() const {
  if (sets_.empty() && apart_.empty()) return {0, 0};
  const Bits& any = sets_.empty() ? apart_.front() : sets_.front();
  ElementRange range{8 * any.first, 8 * any.last};
  for (const std::vector<Bits>* sets : {&sets_, &apart_})
    for (const Bits& set : *sets) {
      range.first = std::min(range.first, 8 * set.first);
      range.last = std::max(range.last, 8 * set.last);
    }
  return range;
}

void BitplaneMasks::evaluate(std::span<const std::byte> chunk, const BitshuffleFormat& format,
                             BitshuffleScratch& scratch, BitplaneSums& sums) const {
  evaluate(best_bitplane_kernels(), chunk, format, scratch, sums);
}

void BitplaneMasks::evaluate(const BitplaneKernels& kernels, std::span<const std::byte> chunk,
                             const BitshuffleFormat& format, BitshuffleScratch& scratch, BitplaneSums& sums) const {
  sums = {};
  if (format.element_bytes != element_bytes_)
    throw Error(ErrorKind::bad_input, fmt::format("masks prepared for elements of {} bytes, the data have {}",
                                                  element_bytes_, format.element_bytes));
  const auto add = [&](const Bits& set, std::uint64_t count) {
    if (set.moment != nullptr)
      sums.*set.moment += count << set.power;
    else
      sums.masks[set.mask] += count;
  };
  const auto on_block = [&](const BitPlanes& block) {
    const std::size_t begin = block.first / 8, end = begin + block.plane_bytes;
    if (sentinel_ && has_sentinel(block)) sums.sentinel = true;
    for (const Bits& set : apart_) sum_apart(kernels, block, set, sums.apart[set.mask]);
    for (const Bits& set : sets_) {
      const std::size_t from = std::max(begin, set.first), to = std::min(end, set.last);
      if (from < to)
        add(set, kernels.sum_planes(block.planes + (from - begin), block.plane_bytes, block.nonzero,
                                    set.bytes.data() + from, to - from));
    }
  };
  const auto on_tail = [&](const BitshuffleTail& tail) {
    for (std::size_t i = 0; i * element_bytes_ < tail.bytes.size(); ++i) {
      const std::uint64_t value = element(tail.bytes.data() + i * element_bytes_, element_bytes_);
      const std::size_t pixel = tail.first + i;
      if (sentinel_ && value == *sentinel_ && bit(good_, pixel)) sums.sentinel = true;
      for (const Bits& set : sets_)
        if (bit(set.bytes, pixel)) add(set, value);
      for (const Bits& set : apart_) {
        if (!bit(set.bytes, pixel)) continue;
        if (sentinel_ && value == *sentinel_)
          ++sums.apart[set.mask].no_data;
        else
          sums.apart[set.mask].sum += value;
      }
    }
  };
  visit_bit_planes(chunk, format, static_cast<std::size_t>(rows_ * cols_) * element_bytes_, touched(), scratch,
                   on_block, on_tail);
}

}  // namespace sonde::stem
