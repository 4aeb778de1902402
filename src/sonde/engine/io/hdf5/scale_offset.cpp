// SPDX-License-Identifier: Apache-2.0
// The scale-offset filter: differences from the smallest value in as many bits as the largest of them needs, the
// highest bit first; floats are first multiplied by a power of ten and rounded ("D-scaling").
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "sonde/engine/io/hdf5/bytes.h"
#include "sonde/engine/io/hdf5/filters.h"

namespace sonde::hdf5 {
namespace {

/// Numbers of any width, the highest bit first.
class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  std::uint64_t take(unsigned bits) {
    if (bits > 8 * (bytes_.size() - at_) - used_) damaged("packed bits end early");
    std::uint64_t value = 0;
    while (bits > 0) {
      const unsigned part = std::min(bits, 8 - used_);
      const unsigned piece = static_cast<unsigned>(bytes_[at_]) >> (8 - used_ - part) & ((1u << part) - 1);
      value = value << part | piece;
      bits -= part;
      used_ += part;
      if (used_ == 8) {
        used_ = 0;
        ++at_;
      }
    }
    return value;
  }

 private:
  ByteSpan bytes_;
  std::size_t at_ = 0;
  unsigned used_ = 0;
};

void put(std::uint64_t value, unsigned bytes, bool big_endian, std::byte* to) {
  for (unsigned i = 0; i < bytes; ++i) to[big_endian ? bytes - 1 - i : i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint64_t bits_of(double value, unsigned bytes) {
  std::uint64_t bits = 0;
  if (bytes == 4) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(&bits, &narrow, 4);
  } else {
    std::memcpy(&bits, &value, 8);
  }
  return bits;
}

double float_of(std::uint64_t bits, unsigned bytes) {
  if (bytes == 8) {
    double value = 0;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}

}  // namespace

std::size_t undo_scale_offset(const std::vector<unsigned>& settings, std::span<const std::byte> from,
                              std::span<std::byte> to) {
  constexpr std::size_t known_settings = 8, head_bytes = 21;
  if (settings.size() < known_settings) damaged("the scale-offset filter has too few settings");
  constexpr unsigned float_d_scale = 0, float_class = 1;
  const unsigned scale_type = settings[0], type_class = settings[3], bytes = settings[4];
  const auto scale = static_cast<int>(settings[1]);
  const bool is_float = type_class == float_class, big_endian = settings[6] == 1, has_fill = settings[7] != 0;
  const std::uint64_t count = settings[2];
  if (is_float && scale_type != float_d_scale)
    unsupported("the scale-offset filter with a variable scale", "write the file again with h5repack -f NONE");
  if (bytes == 0 || bytes > 8 || (is_float && bytes != 4 && bytes != 8) || count * bytes > to.size())
    damaged(fmt::format("the scale-offset filter of {} elements of {} bytes for {} bytes", count, bytes, to.size()));
  if (from.size() < head_bytes) damaged("packed bits end early");
  to = to.first(count * bytes);

  Cursor head(from);
  const auto bits = head.take<std::uint32_t>();
  const unsigned least_bytes = std::min<unsigned>(head.byte(), 8);
  const std::uint64_t least = head.number(least_bytes);
  if (bits > 8 * bytes) damaged(fmt::format("{} packed bits for elements of {} bytes", bits, bytes));
  const ByteSpan packed = from.subspan(head_bytes);
  if (bits == 8 * bytes) {  // nothing was gained: the elements as they were
    if (packed.size() < to.size()) damaged("packed bits end early");
    std::memcpy(to.data(), packed.data(), to.size());
    if (big_endian)
      for (std::uint64_t i = 0; i < count; ++i) std::reverse(to.data() + i * bytes, to.data() + (i + 1) * bytes);
    return to.size();
  }
  std::uint64_t fill = 0;
  for (unsigned i = 0; has_fill && i < (bytes + 3) / 4 && known_settings + i < settings.size(); ++i)
    fill |= std::uint64_t{settings[known_settings + i]} << (32 * i);
  const double scaled = std::pow(10.0, static_cast<double>(scale));
  const double base = is_float ? float_of(least, bytes) : 0;
  const std::uint64_t marks_fill = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
  BitReader reader(packed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t value = bits == 0 ? 0 : reader.take(bits);
    std::uint64_t result = value + least;
    if (has_fill && bits > 0 && value == marks_fill)
      result = fill;
    else if (is_float)
      result = bits_of(bytes == 4 ? static_cast<float>(value) / static_cast<float>(scaled) + static_cast<float>(base)
                                  : static_cast<double>(value) / scaled + base,
                       bytes);
    put(result, bytes, big_endian, to.data() + i * bytes);
  }
  return to.size();
}

}  // namespace sonde::hdf5
