// SPDX-License-Identifier: Apache-2.0
// The n-bit filter: of each element only the bits that its type counts, the highest first. Numbers and records and
// arrays of them; other elements are kept whole.
#include <algorithm>
#include <cstring>

#include "sonde/engine/io/hdf5/bytes.h"
#include "sonde/engine/io/hdf5/filters.h"

namespace sonde::hdf5 {
namespace {

class NbitReader {
 public:
  NbitReader(const std::vector<unsigned>& settings, ByteSpan from) : settings_(settings), from_(from) {}

  std::size_t read(std::span<std::byte> to) {
    // Number of settings, whether nothing was gained, number of elements, then the type.
    const bool plain = setting(1) != 0;
    if (plain) {
      if (from_.size() > to.size()) damaged("a chunk is larger than its elements");
      if (!from_.empty()) std::memcpy(to.data(), from_.data(), from_.size());
      return from_.size();
    }
    constexpr std::size_t type_at = 3;
    const std::uint64_t count = setting(2), bytes = setting(type_at + 1);
    if (product(count, bytes, "a chunk") > to.size())
      damaged(fmt::format("the n-bit filter of {} elements of {} bytes for {} bytes", count, bytes, to.size()));
    to = to.first(count * bytes);
    std::fill(to.begin(), to.end(), std::byte{0});
    for (std::uint64_t i = 0; i < count; ++i) {
      std::size_t at = type_at;
      read_type(at, to.subspan(i * bytes, bytes), 0);
    }
    return to.size();
  }

 private:
  unsigned setting(std::size_t i) const {
    if (i >= settings_.size()) damaged("the n-bit filter has too few settings");
    return settings_[i];
  }

  unsigned take_bits(unsigned bits) {
    unsigned value = 0;
    for (; bits > 0; --bits, ++bit_) {
      if (bit_ / 8 >= from_.size()) damaged("packed bits end early");
      value = value << 1 | (static_cast<unsigned>(from_[bit_ / 8]) >> (7 - bit_ % 8) & 1u);
    }
    return value;
  }

  /// Reads one element of the type whose settings begin at `at`, which moves behind them.
  void read_type(std::size_t& at, std::span<std::byte> to, int depth) {
    constexpr unsigned number = 1, array = 2, record = 3, whole = 4;
    if (depth > 32) damaged("types nest without an end");
    const unsigned kind = setting(at++);
    const unsigned bytes = setting(at++);
    if (bytes > to.size() || bytes == 0) damaged("the n-bit filter has elements longer than their type");
    if (kind == number) {
      const bool big_endian = setting(at) == 1;
      const unsigned precision = setting(at + 1), offset = setting(at + 2);
      at += 3;
      read_number(to.first(bytes), big_endian, precision, offset);
    } else if (kind == whole) {
      for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(take_bits(8));
    } else if (kind == array) {
      const std::size_t base = at;
      const unsigned each = setting(base + 1);
      if (each == 0 || bytes % each != 0) damaged("the n-bit filter has an array of parts of elements");
      for (unsigned i = 0; i < bytes; i += each) {
        at = base;
        read_type(at, to.subspan(i, each), depth + 1);
      }
    } else if (kind == record) {
      const unsigned members = setting(at++);
      std::uint64_t taken = 0;  // fields do not overlap: else a few settings could ask for any work
      for (unsigned i = 0; i < members; ++i) {
        const unsigned offset = setting(at++);
        taken += setting(at + 1);
        if (offset >= bytes || taken > bytes) damaged("the n-bit filter has a field outside of its record");
        read_type(at, to.subspan(offset, bytes - offset), depth + 1);
      }
    } else {
      damaged(fmt::format("the n-bit filter with elements of kind {}", kind));
    }
  }

  void read_number(std::span<std::byte> to, bool big_endian, unsigned precision, unsigned offset) {
    const std::uint64_t bits = 8 * std::uint64_t{to.size()};
    if (precision == 0 || std::uint64_t{precision} + offset > bits)
      damaged("the n-bit filter with bits outside of a number");
    const unsigned low = offset / 8, high = (offset + precision - 1) / 8;
    for (unsigned k = high + 1; k-- > low;) {  // from the highest byte that holds a bit down
      const unsigned from = k == low ? offset % 8 : 0, to_bit = k == high ? (offset + precision - 1) % 8 + 1 : 8;
      const unsigned value = take_bits(to_bit - from) << from;
      to[big_endian ? to.size() - 1 - k : k] = static_cast<std::byte>(value);
    }
  }

  const std::vector<unsigned>& settings_;
  ByteSpan from_;
  std::uint64_t bit_ = 0;
};

}  // namespace

std::size_t undo_nbit(const std::vector<unsigned>& settings, std::span<const std::byte> from, std::span<std::byte> to) {
  return NbitReader(settings, from).read(to);
}

}  // namespace sonde::hdf5
