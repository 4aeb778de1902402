// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace sonde::stem {
namespace {

constexpr Index rows = 9, cols = 14;

using Found = std::vector<std::tuple<Ticks, std::uint32_t, std::uint32_t>>;

Found sorted(const std::vector<Electron>& electrons) {
  Found found;
  for (const Electron& one : electrons) found.emplace_back(one.time, one.pixel, one.hits);
  std::sort(found.begin(), found.end());
  return found;
}

/// `at_once` hits before electrons are asked for.
std::vector<Electron> clustered(const std::vector<Hit>& hits, Ticks window, std::size_t at_once,
                                std::uint64_t* cut = nullptr) {
  Clusterer clusters(rows, cols, window);
  std::vector<Electron> electrons;
  for (std::size_t at = 0; at < hits.size(); at += at_once) {
    const auto some = std::span(hits).subspan(at, std::min(at_once, hits.size() - at));
    clusters.take(some);
    clusters.give(some.back().time, electrons);
  }
  clusters.give(std::numeric_limits<Ticks>::max(), electrons);
  if (cut != nullptr) *cut = clusters.cut();
  return electrons;
}

/// The definition: connected components of all pairs of hits.
Found by_definition(const std::vector<Hit>& hits, Ticks window) {
  std::vector<std::size_t> group(hits.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < hits.size(); ++i)
      for (std::size_t j = 0; j < hits.size(); ++j) {
        const bool near = std::abs(hits[i].row - hits[j].row) <= 1 && std::abs(hits[i].col - hits[j].col) <= 1 &&
                          std::abs(hits[i].time - hits[j].time) <= window;
        if (near && group[j] < group[i]) {
          group[i] = group[j];
          changed = true;
        }
      }
  }
  std::map<std::size_t, std::vector<Hit>> members;
  for (std::size_t i = 0; i < hits.size(); ++i) members[group[i]].push_back(hits[i]);
  Found found;
  for (const auto& [_, one] : members) {
    Ticks first = one.front().time;
    long double weight = 0, row = 0, col = 0;
    for (const Hit& hit : one) {
      first = std::min(first, hit.time);
      const long double w = std::max<int>(hit.tot, 1);
      weight += w;
      row += w * hit.row;
      col += w * hit.col;
    }
    const auto pixel = std::floor(row / weight + 0.5L) * cols + std::floor(col / weight + 0.5L);
    found.emplace_back(first, static_cast<std::uint32_t>(pixel), static_cast<std::uint32_t>(one.size()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Hit> some_hits(std::size_t count, double mean, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> row(0, rows - 1), col(0, cols - 1), tot(0, 12);
  std::geometric_distribution<int> wait(1 / (mean + 1));
  std::vector<Hit> hits;
  Ticks time = -500;
  for (std::size_t i = 0; i < count; ++i) {
    time += wait(random);
    hits.push_back({time, static_cast<std::uint16_t>(row(random)), static_cast<std::uint16_t>(col(random)),
                    static_cast<std::uint16_t>(tot(random))});
  }
  return hits;
}

TEST(Clusterer, ElectronsAreTheConnectedComponents) {
  for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U, 6U})
    for (const double mean : {0.7, 3.0, 20.0}) {  // between many and few neighbours within 20 ticks
      const auto hits = some_hits(500, mean, seed);
      // Larger windows than the extent of any component, so that none is cut.
      const Ticks window = mean < 1 ? 4 : 20;
      std::uint64_t cut = 0;
      const auto electrons = clustered(hits, window, 60, &cut);
      if (cut > 0) continue;
      const Found found = sorted(electrons), expected = by_definition(hits, window);
      ASSERT_EQ(found.size(), expected.size()) << seed << " " << mean;
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i]) << seed << " " << mean;
    }
}

TEST(Clusterer, MostOfThoseTrialsAreNotCut) {
  int whole = 0;
  for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U, 6U})
    for (const double mean : {0.7, 3.0, 20.0}) {
      std::uint64_t cut = 0;
      (void)clustered(some_hits(500, mean, seed), mean < 1 ? 4 : 20, 60, &cut);
      whole += cut == 0;
    }
  EXPECT_GE(whole, 12);
}

TEST(Clusterer, TimesAscendAndPiecesDoNotMatter) {
  const auto hits = some_hits(2000, 1.5, 9);
  const auto whole = clustered(hits, 20, 2000);
  EXPECT_TRUE(
      std::is_sorted(whole.begin(), whole.end(), [](const Electron& a, const Electron& b) { return a.time < b.time; }));
  for (const std::size_t at_once : {1UL, 7UL, 300UL}) {
    const auto again = clustered(hits, 20, at_once);
    ASSERT_EQ(again.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      ASSERT_EQ(again[i].time, whole[i].time);
      ASSERT_EQ(again[i].pixel, whole[i].pixel);
      ASSERT_EQ(again[i].hits, whole[i].hits);
    }
  }
}

TEST(Clusterer, WithoutAWindowEveryHitIsOne) {
  const auto hits = some_hits(300, 0.5, 2);
  const auto electrons = clustered(hits, 0, 50);
  ASSERT_EQ(electrons.size(), hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    EXPECT_EQ(electrons[i].time, hits[i].time);
    EXPECT_EQ(electrons[i].pixel, hits[i].row * cols + hits[i].col);
  }
}

TEST(Clusterer, TheWindowIsInclusive) {
  EXPECT_EQ(clustered({{0, 1, 1, 1}, {20, 2, 2, 1}}, 20, 9).size(), 1U);
  EXPECT_EQ(clustered({{0, 1, 1, 1}, {21, 2, 2, 1}}, 20, 9).size(), 2U);
  EXPECT_EQ(clustered({{0, 1, 1, 1}, {0, 1, 3, 1}}, 20, 9).size(), 2U);
}

TEST(Clusterer, TheCentroidIsWeighted) {
  const auto electrons = clustered({{0, 2, 5, 3}, {4, 3, 5, 1}, {5, 3, 6, 8}}, 20, 9);
  ASSERT_EQ(electrons.size(), 1U);
  EXPECT_EQ(electrons[0].pixel, 3U * cols + 6U);  // (2*3 + 3*9)/12 = 2.75, (5*4 + 6*8)/12 = 5.67
  EXPECT_EQ(electrons[0].time, 0);
  EXPECT_EQ(electrons[0].hits, 3U);
}

// Two pixels that touch fire in turns, each within the window of the other, for ever.
TEST(Clusterer, PixelsThatNeverRestAreCut) {
  std::vector<Hit> hits;
  for (int i = 0; i < 1000; ++i) hits.push_back({10 * i, 4, static_cast<std::uint16_t>(6 + i % 2), 1});
  std::uint64_t cut = 0;
  const auto electrons = clustered(hits, 20, 100, &cut);
  EXPECT_EQ(electrons.size(), 31U);  // of 33 hits each: 320 ticks and the hit after them begins the next
  EXPECT_EQ(cut, 60U);               // the first two hits of each but the first one still touch the one before
  EXPECT_EQ(electrons.front().hits, 33U);
}

}  // namespace
}  // namespace sonde::stem
