// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/rotation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/random.h"

namespace sonde::stem {
namespace {

constexpr double pi = std::numbers::pi;
constexpr Index block_side = 8, least_blocks = 4;  // positions along a block; blocks along a side
constexpr Index replicates = 400;                  // the error of an error: 1 / sqrt(2 x 400) = 3.5 %

/// Sums over one block of positions, of which others are drawn.
struct Block {
  CurlSums curl{};
  double count = 0, first = 0, second = 0, third = 0;  // powers of the divergence as turned

  void add(const Block& other) {
    curl.uu += other.curl.uu;
    curl.vv += other.curl.vv;
    curl.uv += other.curl.uv;
    count += other.count;
    first += other.first;
    second += other.second;
    third += other.third;
  }

  [[nodiscard]] double skewness() const {
    const double mean = first / count, variance = second / count - mean * mean;
    const double cube = third / count - 3 * mean * second / count + 2 * mean * mean * mean;
    return variance > 0 ? cube / std::pow(variance, 1.5) : 0;
  }
};

Index block_extent(Index extent) { return std::clamp<Index>(extent / least_blocks, 1, block_side); }

/// Blocks that hold a position with derivatives, with the divergence of the field turned by `rotation`.
std::vector<Block> blocks_of(const VectorField& field, const CurlAndDivergence& map, double rotation) {
  const Index down = block_extent(field.rows - 2), across = block_extent(field.cols - 2);
  const Index blocks_across = (field.cols + across - 1) / across;
  std::vector<Block> blocks(static_cast<std::size_t>(((field.rows + down - 1) / down) * blocks_across));
  const double c = std::cos(rotation), s = std::sin(rotation);
  for (Index row = 1; row + 1 < field.rows; ++row)
    for (Index col = 1; col + 1 < field.cols; ++col) {
      const auto here = static_cast<std::size_t>(row * field.cols + col);
      const double curl = map.curl[here], divergence = map.divergence[here];
      if (!std::isfinite(curl) || !std::isfinite(divergence)) continue;
      // Turned by t: curl' = cos t curl + sin t divergence, divergence' = cos t divergence - sin t curl.
      const double d = c * divergence - s * curl;
      blocks[static_cast<std::size_t>(((row - 1) / down) * blocks_across + (col - 1) / across)].add(
          {{curl * curl, divergence * divergence, -curl * divergence}, 1, d, d * d, d * d * d});
    }
  std::erase_if(blocks, [](const Block& block) { return block.count == 0; });
  return blocks;
}

Block sum_of(std::span<const Block> blocks) {
  Block sum;
  for (const Block& block : blocks) sum.add(block);
  return sum;
}

double in_one_turn(double angle) { return angle - 2 * pi * std::round(angle / (2 * pi)); }

/// Of two directions without sense, in [-pi/2, pi/2].
double apart(double a, double b) { return a - b - pi * std::round((a - b) / pi); }

/// Standard errors of the angle and of the skewness. Each replicate has random numbers of its own, so that threads do
/// not matter.
void resample(const std::vector<Block>& blocks, double angle, ScanRotation& found) {
  if (blocks.size() < 2) return;
  std::vector<double> angles(replicates), skewness(replicates);
  parallel_for(replicates, 8, [&](Index first, Index last, Worker&) {
    for (Index n = first; n < last; ++n) {
      Random random(0x526f7461, static_cast<std::uint64_t>(n));  // the same at every run
      Block sum;
      for (std::size_t i = 0; i < blocks.size(); ++i)
        sum.add(blocks[static_cast<std::size_t>(random.below(std::ssize(blocks)))]);
      angles[static_cast<std::size_t>(n)] = apart(least_curl(sum.curl).rotation, angle);
      skewness[static_cast<std::size_t>(n)] = sum.skewness();
    }
  });
  double off = 0, mean = 0, squares = 0;
  for (std::size_t n = 0; n < angles.size(); ++n) {
    off += angles[n] * angles[n] / replicates;
    mean += skewness[n] / replicates;
    squares += skewness[n] * skewness[n] / replicates;
  }
  found.standard_error = std::sqrt(off);
  found.skewness_error = std::sqrt(std::max(0.0, squares - mean * mean));
}

/// Share of curl^2 where the field is turned by this angle more.
double curl_at(const CurlSums& sums, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const double curl = c * c * sums.uu + s * s * sums.vv - 2 * s * c * sums.uv;
  return sums.uu + sums.vv > 0 ? std::max(0.0, curl / (sums.uu + sums.vv)) : 0.5;
}

}  // namespace

ScanRotation find_rotation(const VectorField& field, const RotationRequest& request) {
  const VectorField smooth = blurred(field, request.blur);
  const CurlAndDivergence straight = curl_and_divergence(smooth),
                          transposed = curl_and_divergence(turned(smooth, 0, true));
  const Block all_straight = sum_of(blocks_of(smooth, straight, 0)),
              all_transposed = sum_of(blocks_of(smooth, transposed, 0));
  ScanRotation found{.straight = least_curl(all_straight.curl), .transposed = least_curl(all_transposed.curl)};
  found.used = static_cast<Index>(all_straight.count);
  const auto left = [](const LeastCurl& curl, const Block& sums) { return curl.curl * (sums.curl.uu + sums.curl.vv); };
  const double left_straight = left(found.straight, all_straight),
               left_transposed = left(found.transposed, all_transposed);
  const double most = std::max(left_straight, left_transposed);
  found.confidence = most > 0 ? 1 - std::min(left_straight, left_transposed) / most : 0;

  found.transpose = request.transpose.value_or(left_transposed < left_straight);
  found.given = request.rotation.has_value();
  const double least = (found.transpose ? found.transposed : found.straight).rotation;
  found.rotation = in_one_turn(request.rotation.value_or(least));
  std::vector<Block> blocks = blocks_of(smooth, found.transpose ? transposed : straight, found.rotation);
  Block sum = sum_of(blocks);
  if (sum.count == 0) return found;
  found.skewness = sum.skewness();
  if (!request.rotation && (found.skewness > 0) != (request.contrast == Contrast::valleys)) {
    found.rotation = in_one_turn(found.rotation + pi);
    found.skewness = -found.skewness;
  }
  found.curl = curl_at(sum.curl, found.rotation);
  resample(blocks, least, found);
  return found;
}

}  // namespace sonde::stem
