// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/view/overview.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/interrupt.h"

namespace sonde::separate {
namespace {

constexpr Index window = BandPowers::window;
constexpr Index most_blocks = Index{1} << 19, most_windows = Index{1} << 16;
constexpr Index frames_at_once = Index{1} << 15;
constexpr Index shortest_block = 256, shortest_hop = 1024;

/// `shortest` doubled until no more than `most` of them cover the frames.
Index length_for(Index frames, Index shortest, Index most) {
  while (frames / shortest >= most) shortest *= 2;
  return shortest;
}

AudioReader whole(const std::string& path, const AudioInfo& info, Index first = 0) {
  // Every place of a sample in seconds is rounded back to that sample.
  return {path,
          {.rate = info.rate,
           .channels = info.channels,
           .from_s = static_cast<double>(first) / static_cast<double>(info.rate),
           .non_finite = NonFinite::zero}};
}

SpectrogramStyle style_at(Index rate) {
  SpectrogramStyle style{.bands = 96, .range_db = Overview::range_db};
  style.highest_hz = std::min(style.highest_hz, static_cast<double>(rate) / 2);
  style.lowest_hz = std::min(style.lowest_hz, style.highest_hz / 2);
  return style;
}

/// The first of `count` things in each column, and behind the last one.
Index edge(const Stretch& stretch, Index column) {
  return stretch.first +
         static_cast<Index>(std::floor(static_cast<double>(stretch.count) * static_cast<double>(column) /
                                       static_cast<double>(stretch.columns)));
}

}  // namespace

Overview::Overview(const std::string& path)
    : path_(path),
      info_(AudioReader(path, {.channels = 1024}).info()),
      reader_(whole(path, info_)),
      style_(style_at(info_.rate)),
      powers_(style_, info_.rate),
      block_(length_for(info_.frames, shortest_block, most_blocks)),
      hop_(length_for(info_.frames, shortest_hop, most_windows)),
      held_(static_cast<std::size_t>(info_.channels), std::vector<float>(window / 2)),
      held_from_(-window / 2) {
  blocks_.reserve(static_cast<std::size_t>(info_.frames / block_ + 1));
  levels_.reserve(static_cast<std::size_t>((info_.frames / hop_ + 1) * style_.bands));
}

std::size_t Overview::bytes_for(Index frames) {
  const Index blocks = std::min(most_blocks, frames / shortest_block + 1);
  const Index windows = std::min(most_windows, frames / shortest_hop + 1);
  constexpr Index reading = Index{4} << 20;  // what is being decoded
  return static_cast<std::size_t>(blocks * static_cast<Index>(sizeof(Block)) + windows * 96 + reading);
}

double Overview::done() const {
  return ended_ ? 1 : static_cast<double>(seen_) / static_cast<double>(info_.frames + 1);
}

void Overview::advance(std::chrono::milliseconds at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (!ended_) {
    check_interrupt();
    // A length that every block divides, so that only the last block of the file is a short one.
    const std::vector<float> samples = reader_.read(std::max(frames_at_once, block_));
    if (!samples.empty()) take(samples);
    end_windows(samples.empty());
    ended_ = samples.empty();
    if (std::chrono::steady_clock::now() >= until) return;
  }
}

void Overview::take(const std::vector<float>& samples) {
  const auto channels = static_cast<Index>(held_.size());
  const Index count = static_cast<Index>(samples.size()) / channels;
  for (Index from = 0; from < count; from += block_) {
    Block block{samples[static_cast<std::size_t>(from)], samples[static_cast<std::size_t>(from)], 0};
    const Index to = std::min(count, from + block_);
    for (Index c = 0; c < channels; ++c) {
      for (Index i = from; i < to; ++i) {
        const float sample = samples[static_cast<std::size_t>(c * count + i)];
        block.low = std::min(block.low, sample);
        block.high = std::max(block.high, sample);
        block.squares += sample * sample;
      }
    }
    block.squares /= static_cast<float>(channels * (to - from));
    blocks_.push_back(block);
  }
  for (Index c = 0; c < channels; ++c) {
    const auto first = samples.begin() + static_cast<std::ptrdiff_t>(c * count);
    std::vector<float>& held = held_[static_cast<std::size_t>(c)];
    held.insert(held.end(), first, first + static_cast<std::ptrdiff_t>(count));
  }
  seen_ += count;
}

void Overview::end_windows(bool at_end) {
  // Windows are around their place: silence in front of the file, and behind it.
  if (at_end)
    for (std::vector<float>& held : held_) held.resize(held.size() + static_cast<std::size_t>(window));
  std::vector<double> powers(static_cast<std::size_t>(style_.bands));
  for (; windows_ * hop_ < seen_; ++windows_) {
    const Index from = windows_ * hop_ - window / 2 - held_from_;
    if (from + window > static_cast<Index>(held_.front().size())) break;
    std::fill(powers.begin(), powers.end(), 0.0);
    for (const std::vector<float>& held : held_) powers_.add(held.data() + from, powers.data(), 1);
    for (const double power : powers) {
      const double db = 10 * std::log10(std::max(1e-30, power / static_cast<double>(held_.size())));
      levels_.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(255 * (1 + db / range_db), 0.0, 255.0))));
    }
  }
  const Index keep_from = std::max(held_from_, windows_ * hop_ - window / 2);
  const Index drop = std::min(keep_from - held_from_, static_cast<Index>(held_.front().size()));
  for (std::vector<float>& held : held_) held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(drop));
  held_from_ += drop;
}

std::vector<Overview::Block> Overview::blocks_of(const Stretch& stretch) const {
  AudioReader reader = whole(path_, info_, stretch.first);
  const auto channels = static_cast<std::size_t>(info_.channels);
  std::vector<Block> blocks;
  std::vector<float> samples;
  std::size_t at = 0;
  for (Index frame = 0; frame < stretch.count; ++frame, ++at) {
    if (at * channels == samples.size()) {
      samples = reader.read(frames_at_once);
      at = 0;
      if (samples.empty()) break;
    }
    const std::size_t count = samples.size() / channels;
    Block block{samples[at], samples[at], 0};
    for (std::size_t c = 0; c < channels; ++c) {
      const float sample = samples[c * count + at];
      block.low = std::min(block.low, sample);
      block.high = std::max(block.high, sample);
      block.squares += sample * sample / static_cast<float>(channels);
    }
    blocks.push_back(block);
  }
  return blocks;
}

std::vector<float> Overview::peaks(const Stretch& stretch) const {
  const bool from_file = stretch.count < stretch.columns * block_;
  const std::vector<Block> read = from_file ? blocks_of(stretch) : std::vector<Block>();
  const std::vector<Block>& blocks = from_file ? read : blocks_;
  const Index length = from_file ? 1 : block_, offset = from_file ? stretch.first : 0;
  const auto columns = static_cast<std::size_t>(stretch.columns);
  std::vector<float> peaks(3 * columns, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t c = 0; c < columns; ++c) {
    const auto column = static_cast<Index>(c);
    const Index first = (edge(stretch, column) - offset) / length;
    const Index last = std::max(first + 1, (edge(stretch, column + 1) - offset + length - 1) / length);
    const Index end = std::min(last, static_cast<Index>(blocks.size()));
    if (first >= end) continue;
    Block sum = blocks[static_cast<std::size_t>(first)];
    for (Index i = first + 1; i < end; ++i) {
      const Block& each = blocks[static_cast<std::size_t>(i)];
      sum = {std::min(sum.low, each.low), std::max(sum.high, each.high), sum.squares + each.squares};
    }
    peaks[c] = sum.low;
    peaks[columns + c] = sum.high;
    peaks[2 * columns + c] = std::sqrt(sum.squares / static_cast<float>(end - first));
  }
  return peaks;
}

std::vector<std::uint8_t> Overview::levels(const Stretch& stretch) const {
  const Index bands = style_.bands;
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(bands * stretch.columns));
  for (Index column = 0; column < stretch.columns; ++column) {
    const Index first = (edge(stretch, column) + hop_ / 2) / hop_;
    const Index last = std::max(first + 1, (edge(stretch, column + 1) + hop_ / 2) / hop_);
    for (Index i = first; i < std::min(last, windows_); ++i) {
      for (Index b = 0; b < bands; ++b) {
        std::uint8_t& level = levels[static_cast<std::size_t>(b * stretch.columns + column)];
        level = std::max(level, levels_[static_cast<std::size_t>(i * bands + b)]);
      }
    }
  }
  return levels;
}

}  // namespace sonde::separate
