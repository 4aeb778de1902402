// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sonde::hdf5 {
namespace {

struct Words {
  std::uint32_t a, b, c;

  void mix() {
    const auto step = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int turn) {
      x -= z;
      x ^= std::rotl(z, turn);
      z += y;
    };
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
  }
  void finish() {
    const auto step = [](std::uint32_t& x, std::uint32_t y, int turn) {
      x ^= y;
      x -= std::rotl(y, turn);
    };
    step(c, b, 14);
    step(a, c, 11);
    step(b, a, 25);
    step(c, b, 16);
    step(a, c, 4);
    step(b, a, 14);
    step(c, b, 24);
  }
};

}  // namespace

std::uint32_t lookup3(ByteSpan bytes) {
  const std::uint32_t start = 0xdeadbeefu + static_cast<std::uint32_t>(bytes.size());
  Words words{start, start, start};
  const auto add = [&](ByteSpan part) {
    std::uint32_t three[3] = {0, 0, 0};
    if (part.size() == sizeof three && std::endian::native == std::endian::little)
      std::memcpy(three, part.data(), sizeof three);  // 0.4 GB/s byte by byte
    else
      for (std::size_t i = 0; i < part.size(); ++i)
        three[i / 4] += static_cast<std::uint32_t>(part[i]) << (8 * (i % 4));
    words.a += three[0];
    words.b += three[1];
    words.c += three[2];
  };
  for (; bytes.size() > 12; bytes = bytes.subspan(12)) {
    add(bytes.first(12));
    words.mix();
  }
  if (bytes.empty()) return words.c;
  add(bytes);
  words.finish();
  return words.c;
}

void require_checksum(ByteSpan bytes, std::string_view what) {
  if (bytes.size() < 4) damaged(fmt::format("{} ends early", what));
  if (!checks_checksums) return;
  const ByteSpan content = bytes.first(bytes.size() - 4);
  if (Cursor(bytes.last(4)).take<std::uint32_t>() != lookup3(content))
    damaged(fmt::format("the checksum of {} is wrong", what));
}

std::uint32_t fletcher32(ByteSpan bytes) {
  std::uint32_t sum1 = 0, sum2 = 0;
  std::size_t words = bytes.size() / 2;
  const std::byte* at = bytes.data();
  while (words > 0) {
    const std::size_t part = std::min<std::size_t>(words, 360);  // the sums stay below 32 bits
    words -= part;
    for (std::size_t i = 0; i < part; ++i, at += 2) {
      sum1 += (static_cast<std::uint32_t>(at[0]) << 8) | static_cast<std::uint32_t>(at[1]);
      sum2 += sum1;
    }
    sum1 = (sum1 & 0xffffu) + (sum1 >> 16);
    sum2 = (sum2 & 0xffffu) + (sum2 >> 16);
  }
  if (bytes.size() % 2 != 0) {
    sum1 += static_cast<std::uint32_t>(*at) << 8;
    sum2 += sum1;
    sum1 = (sum1 & 0xffffu) + (sum1 >> 16);
    sum2 = (sum2 & 0xffffu) + (sum2 >> 16);
  }
  sum1 = (sum1 & 0xffffu) + (sum1 >> 16);
  sum2 = (sum2 & 0xffffu) + (sum2 >> 16);
  return (sum2 << 16) | sum1;
}

}  // namespace sonde::hdf5
