// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// How chunks are joined.
enum class Policy {
  fade,     ///< weighted means with ramps of a tenth of a chunk, ends continued by reflection: Music-Source-Separation-
            ///< Training with batches of one
  uniform,  ///< plain means of chunks that are all full, silence around: Ultimate Vocal Remover
};

struct DemixSettings {
  Index channels = 2, stems = 1;
  Index chunk = 0;    ///< samples, at least 20
  Index overlap = 1;  ///< chunks that cover a sample; with Policy::uniform a divisor of chunk
  Policy policy = Policy::fade;
  /// (x - mean) / deviation is separated, and taken back: "inference.normalize". The mean of both channels over the
  /// whole file, and its deviation.
  double mean = 0, deviation = 1;
  /// Only every overlap-th chunk, from this one on: of one of `overlap` passes that have all chunks together. Each
  /// sample is then covered by one chunk at most.
  std::optional<Index> part{};
  [[nodiscard]] Index step() const { return chunk / overlap; }
};

/// The weight of a sample where every chunk has weight 0: it counts where nothing else covers the sample, and changes
/// no digit of float32 where something does.
constexpr float least_weight = 0x1p-30F;

/// Throws Error(bad_input): an overlap that leaves no step, or with Policy::uniform does not divide the chunk (the
/// message names the nearest that do).
void check(const DemixSettings& settings);

/// Chunks that a signal of so many samples takes.
[[nodiscard]] Index chunk_count(const DemixSettings& settings, Index samples);

/// Separates a signal of any length that comes in pieces, with memory of a few chunks. The result does not depend on
/// the pieces, nor does any sample on what comes later than a chunk behind it. After the constructor no memory is
/// taken.
class Demixer {
 public:
  /// One chunk (channels, chunk) to (stems, channels, chunk).
  using Network = std::function<void(View<const float, 2> samples, View<float, 3> stems)>;
  /// The next finished samples, (channels, count) and (stems, channels, count), valid during the call.
  using Sink = std::function<void(View<const float, 2> mixture, View<const float, 3> stems)>;

  /// `known`: what became of so many samples is known already. They do not reach the sink, and the network is called
  /// only for chunks that later samples need; these get the same bits as with all chunks.
  Demixer(const DemixSettings& settings, Network network, Sink sink, Index known = 0);

  /// The next samples (channels, count). Calls the network and the sink as often as they allow.
  void push(View<const float, 2> samples);
  /// No more will come. All samples that were pushed have then reached the sink.
  void finish();

  /// With DemixSettings::part, of each of the samples that the sink gets, during its call: their weights as they are
  /// joined, 0 where no chunk of this part covers a sample (its stems are 0 then).
  [[nodiscard]] View<const float, 1> weights() const {
    return {sent_weights_.data(), static_cast<Index>(sent_weights_.size())};
  }

  /// Calls of the network.
  [[nodiscard]] Index chunks_done() const { return chunks_; }
  /// Samples where every chunk has weight 0 (with overlap 1, each joint has two); they are the plain mean of what
  /// covers them.
  [[nodiscard]] Index unweighted_samples() const { return unweighted_; }
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] static std::size_t bytes_for(const DemixSettings& settings);

 private:
  /// What covers a sample with weight 0; nothing where `covers` is 0.
  struct Unweighted {
    Index at = 0;
    int covers = 0;
    std::vector<float> sums;  ///< (stems, channels)
  };

  [[nodiscard]] float& held(Index channel, Index at) {
    return held_[static_cast<std::size_t>(channel * capacity_ + at - first_held_)];
  }
  /// What is 0 when it is normalised.
  [[nodiscard]] float silence() const { return static_cast<float>(settings_.mean); }
  void begin();
  [[nodiscard]] bool is_of_part() const {
    return !settings_.part || start_ / settings_.step() % settings_.overlap == *settings_.part;
  }
  [[nodiscard]] Index front() const { return extended_ || settings_.policy == Policy::uniform ? border_ : 0; }
  void append(View<const float, 2> samples, Index from, Index count);
  void append_reflected_end();
  void append_silence(Index count);
  /// Runs every chunk that is full and, if `ended`, those that are not.
  void run_chunks(bool ended);
  void run_chunk(Index length, bool last);
  void add_weighted(Index length, bool last);
  void choose_weights(bool last);
  void remember_unweighted(Index i);
  [[nodiscard]] const Unweighted* unweighted(Index at) const;
  void emit(Index count);
  void drop_before(Index at);

  DemixSettings settings_;
  Network network_;
  Sink sink_;
  Index known_;     ///< samples of the signal that are not sent
  Index border_;    ///< samples in front of and behind the signal
  Index capacity_;  ///< samples held for each channel
  bool begun_ = false, extended_ = false;
  // Positions count from the start of the signal as it is continued to the left.
  Index first_held_ = 0, available_ = 0;  ///< [first_held_, available_) is in held_
  Index start_ = 0;                       ///< of the next chunk
  Index pushed_ = 0;                      ///< of the signal itself
  Index chunks_ = 0, unweighted_ = 0;
  std::vector<float> held_;                 ///< (channels, capacity): the signal as it came
  std::vector<float> ramp_, chosen_;        ///< (chunk / 10), (chunk): weights of the present chunk
  std::vector<float> samples_, separated_;  ///< one chunk: (channels, chunk), (stems, channels, chunk)
  std::vector<float> sums_;                 ///< (stems, channels, chunk): from the start of the next chunk on
  std::vector<float> weights_;              ///< (chunk)
  std::vector<float> sent_weights_;         ///< (at most chunk)
  std::vector<float> finished_;             ///< (stems, channels, at most chunk)
  std::vector<Unweighted> waiting_;
};

}  // namespace sonde::separate
