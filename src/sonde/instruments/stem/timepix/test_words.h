// SPDX-License-Identifier: Apache-2.0
// For tests: writes TPX3 files from known hits and edges, after the tables of the SERVAL manual and without the reader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace sonde::stem::testing {

/// 1 us, in 260.41666 ps and in 1.5625 ns.
inline constexpr std::int64_t fine_us = 3840, ticks_us = 640;

/// A hit of one chip, its time in 1.5625 ns.
struct KnownHit {
  std::int64_t time = 0;
  int x = 0, y = 0, tot = 1, chip = 0;
};

inline std::uint64_t remainder_of(std::int64_t value, std::int64_t period) {
  return static_cast<std::uint64_t>(((value % period) + period) % period);
}

/// Fine time counts backwards from the next 25 ns.
inline std::uint64_t hit_word(const KnownHit& hit) {
  const std::int64_t period = std::int64_t{1} << 34;  // 2^30 x 25 ns
  const std::uint64_t time = remainder_of(hit.time, period);
  const std::uint64_t next = (time + 15) / 16, back = next * 16 - time;
  const std::uint64_t toa = next % 16384, spidr = next / 16384 % 65536;
  const auto x = static_cast<std::uint64_t>(hit.x), y = static_cast<std::uint64_t>(hit.y);
  const std::uint64_t address = x / 2 * 512 + y / 4 * 8 + x % 2 * 4 + y % 4;
  return 0xb000000000000000U | address << 44 | toa << 30 | static_cast<std::uint64_t>(hit.tot) << 20 | back << 16 |
         spidr;
}

/// `fine` in 260.41666 ps; kind 0xf, 0xa: rise, fall of TDC1; 0xe, 0xb: of TDC2.
inline std::uint64_t edge_word(std::int64_t fine, unsigned kind = 0xf, std::uint64_t number = 0) {
  const std::uint64_t time = remainder_of(fine, (std::int64_t{1} << 35) * 12);
  return std::uint64_t{0x6} << 60 | static_cast<std::uint64_t>(kind) << 56 | (number & 0xfff) << 44 | time / 12 << 9 |
         (time % 12 + 1) << 5;
}

/// The two words of global time, in 1.5625 ns.
inline std::vector<std::uint64_t> global_words(std::int64_t time) {
  const auto coarse = static_cast<std::uint64_t>(time / 16);
  return {std::uint64_t{0x44} << 56 | (coarse & 0xffffffff) << 16, std::uint64_t{0x45} << 56 | (coarse >> 32) << 16};
}

/// A file in memory.
class WordFile {
 public:
  /// One chunk of at most 8191 words.
  void chunk(const std::vector<std::uint64_t>& words, int chip = 0) {
    put(std::uint64_t{0x33585054} | static_cast<std::uint64_t>(chip) << 32 |
        static_cast<std::uint64_t>(words.size() * 8) << 48);
    for (const std::uint64_t word : words) put(word);
  }
  void put(std::uint64_t word) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::byte>(word >> (8 * i) & 0xff));
  }
  /// Chunks of so many words.
  void words(const std::vector<std::uint64_t>& all, std::size_t each = 100, int chip = 0) {
    for (std::size_t at = 0; at < all.size(); at += each)
      chunk({all.begin() + static_cast<std::ptrdiff_t>(at),
             all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + each))},
            chip);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte>& raw() { return bytes_; }
  void save(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size()));
  }

 private:
  std::vector<std::byte> bytes_;
};

/// So many hits anywhere on a chip, in ascending order of time, `mean` ticks apart on average.
inline std::vector<KnownHit> random_hits(std::size_t count, double mean, std::uint32_t seed, int side = 256,
                                         std::int64_t start = 0) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> wait(1 / mean);
  std::uniform_int_distribution<int> place(0, side - 1), tot(1, 400);
  std::vector<KnownHit> hits;
  double time = static_cast<double>(start);
  for (std::size_t i = 0; i < count; ++i) {
    time += wait(random);
    hits.push_back({static_cast<std::int64_t>(time), place(random), place(random), tot(random)});
  }
  return hits;
}

/// Each word is written up to `most` late: in the order of (time + a random delay).
inline std::vector<KnownHit> out_of_order(std::vector<KnownHit> hits, std::int64_t most, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int64_t> delay(0, most);
  std::vector<std::pair<std::int64_t, KnownHit>> keyed;
  for (const KnownHit& hit : hits) keyed.emplace_back(hit.time + delay(random), hit);
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = keyed[i].second;
  return hits;
}

inline std::vector<std::uint64_t> words_of(const std::vector<KnownHit>& hits) {
  std::vector<std::uint64_t> words;
  for (const KnownHit& hit : hits) words.push_back(hit_word(hit));
  return words;
}

}  // namespace sonde::stem::testing
