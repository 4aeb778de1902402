// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/demix/demixer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"

namespace sonde::separate {
namespace {

/// The divisors of `chunk` on both sides of `overlap`.
std::pair<Index, Index> nearest_divisors(Index chunk, Index overlap) {
  Index below = overlap, above = overlap;
  while (below > 1 && chunk % below != 0) --below;
  while (above < chunk && chunk % above != 0) ++above;
  return {below, above};
}

/// Samples behind the signal that Policy::uniform needs for its last chunk to be full, besides those of a border.
Index padding(const DemixSettings& settings, Index samples) {
  const Index step = settings.step(), rest = (samples - settings.chunk) % step;
  return step - (rest < 0 ? rest + step : rest);
}

// What is before and behind a chunk, and what decides whether the signal is continued.
Index capacity_of(const DemixSettings& settings) { return 5 * settings.chunk + 2; }

bool reflects(const DemixSettings& settings, Index samples) {
  const Index border = settings.chunk - settings.step();
  return settings.policy == Policy::fade && border > 0 && samples > 2 * border;
}

}  // namespace

void check(const DemixSettings& settings) {
  if (settings.chunk < 20) {
    throw Error(ErrorKind::bad_input, fmt::format("chunk = {} samples; expected at least 20", settings.chunk));
  }
  if (settings.overlap < 1 || settings.overlap > settings.chunk) {
    throw Error(ErrorKind::bad_input, fmt::format("{} = {}; expected 1 to {}, the samples of a chunk",
                                                  setting("overlap"), settings.overlap, settings.chunk));
  }
  if (settings.policy == Policy::uniform && settings.chunk % settings.overlap != 0) {
    const auto [below, above] = nearest_divisors(settings.chunk, settings.overlap);
    throw Error(ErrorKind::bad_input, fmt::format("{} = {} does not divide the chunk of {} samples; expected a divisor",
                                                  setting("overlap"), settings.overlap, settings.chunk))
        .hint(fmt::format("use {} or {}", below, above));
  }
}

Index chunk_count(const DemixSettings& settings, Index samples) {
  const Index step = settings.step(), border = settings.chunk - step;
  Index all = 0;
  if (settings.policy == Policy::uniform) {
    all = (border + samples + padding(settings, samples) + border - settings.chunk) / step + 1;
  } else {
    all = (samples + (reflects(settings, samples) ? 2 * border : 0) + step - 1) / step;
  }
  if (!settings.part) return all;
  return std::max(Index{0}, all - *settings.part + settings.overlap - 1) / settings.overlap;
}

std::size_t Demixer::bytes_for(const DemixSettings& settings) {
  const Index rows = settings.stems * settings.channels;
  return sizeof(float) *
         static_cast<std::size_t>(settings.channels * capacity_of(settings) +
                                  settings.chunk * (settings.channels + 3 * rows + (settings.part ? 3 : 2)));
}

Demixer::Demixer(const DemixSettings& settings, Network network, Sink sink, Index known)
    : settings_(settings),
      network_(std::move(network)),
      sink_(std::move(sink)),
      known_(known),
      border_(settings.chunk - settings.step()),
      capacity_(capacity_of(settings)) {
  check(settings);
  const auto chunk = static_cast<std::size_t>(settings.chunk), channels = static_cast<std::size_t>(settings.channels);
  const auto stems = static_cast<std::size_t>(settings.stems);
  held_.resize(channels * static_cast<std::size_t>(capacity_));
  samples_.resize(channels * chunk);
  separated_.resize(stems * channels * chunk);
  sums_.resize(separated_.size());
  weights_.resize(chunk);
  chosen_.resize(chunk);
  finished_.resize(separated_.size());
  if (settings.part) sent_weights_.reserve(chunk);
  const Index fade = settings.chunk / 10;
  for (Index i = 0; i < fade; ++i) ramp_.push_back(static_cast<float>(i) / static_cast<float>(fade - 1));
  // Each of the chunks that are held at a time begins and ends with weight 0.
  waiting_.resize(static_cast<std::size_t>(2 * (settings.chunk / settings.step() + 3)));
  for (Unweighted& each : waiting_) each.sums.resize(stems * channels);
}

void Demixer::push(View<const float, 2> samples) {
  const Index count = samples.extent[1];
  for (Index from = 0; from < count;) {
    // Before the signal is continued to the left, no more than decides whether it is.
    const Index room = begun_ ? first_held_ + capacity_ - available_ : 2 * border_ + 1 - available_;
    const Index now = std::min(count - from, room);
    append(samples, from, now);
    from += now;
    pushed_ += now;
    if (!begun_ && available_ > 2 * border_) begin();
    if (begun_) run_chunks(false);
  }
}

/// Continues the signal to the left of what has come, by reflection or silence.
void Demixer::begin() {
  begun_ = true;
  extended_ = reflects(settings_, available_);
  if (!extended_ && settings_.policy == Policy::fade) return;
  const Index known = available_;
  for (Index c = 0; c < settings_.channels; ++c) {
    float* const row = held_.data() + c * capacity_;
    std::copy_backward(row, row + known, row + border_ + known);
    for (Index i = 0; i < border_; ++i) row[i] = extended_ ? row[2 * border_ - i] : silence();
  }
  available_ += border_;
}

void Demixer::append(View<const float, 2> samples, Index from, Index count) {
  for (Index c = 0; c < settings_.channels; ++c) {
    for (Index i = 0; i < count; ++i) held(c, available_ + i) = samples(c, from + i);
  }
  available_ += count;
}

void Demixer::append_reflected_end() {
  const Index end = available_;
  for (Index c = 0; c < settings_.channels; ++c) {
    for (Index i = 0; i < border_; ++i) held(c, end + i) = held(c, end - 2 - i);
  }
  available_ += border_;
}

void Demixer::append_silence(Index count) {
  for (Index done = 0; done < count;) {
    const Index now = std::min(count - done, first_held_ + capacity_ - available_);
    for (Index c = 0; c < settings_.channels; ++c) std::fill_n(&held(c, available_), now, silence());
    available_ += now;
    done += now;
    run_chunks(false);
  }
}

void Demixer::finish() {
  if (pushed_ == 0) return;
  if (!begun_) begin();
  if (settings_.policy == Policy::uniform) {
    append_silence(padding(settings_, pushed_) + border_);
    while (available_ >= start_ + settings_.chunk) run_chunk(settings_.chunk, false);
  } else {
    if (extended_) append_reflected_end();
    run_chunks(true);
  }
}

void Demixer::run_chunks(bool ended) {
  const Index step = settings_.step();
  // A chunk has a successor when there are samples beyond its step: only the last fades in another way.
  while (available_ >= start_ + settings_.chunk && available_ > start_ + step) run_chunk(settings_.chunk, false);
  while (ended && start_ < available_) {
    run_chunk(std::min(settings_.chunk, available_ - start_), start_ + step >= available_);
  }
}

void Demixer::run_chunk(Index length, bool last) {
  const Index chunk = settings_.chunk, step = settings_.step();
  if (start_ + length > front() + known_ && is_of_part()) {
    const bool reflected = length > chunk / 2;
    for (Index c = 0; c < settings_.channels; ++c) {
      float* const row = samples_.data() + c * chunk;
      const float* const from = &held(c, start_);
      for (Index i = 0; i < length; ++i) {
        row[i] = static_cast<float>((static_cast<double>(from[i]) - settings_.mean) / settings_.deviation);
      }
      for (Index i = length; i < chunk; ++i) row[i] = reflected ? row[2 * length - 2 - i] : 0.0F;
    }
    network_({samples_.data(), settings_.channels, chunk},
             {separated_.data(), settings_.stems, settings_.channels, chunk});
    ++chunks_;
    add_weighted(length, last);
  }
  emit(last ? length : step);
  start_ += step;
  // One sample more than the chunk needs: the reflected end begins behind it.
  drop_before(std::min(start_ - 1, available_));
}

void Demixer::choose_weights(bool last) {
  std::fill(chosen_.begin(), chosen_.end(), 1.0F);
  if (settings_.policy == Policy::uniform) return;
  if (start_ > 0) std::copy(ramp_.begin(), ramp_.end(), chosen_.begin());
  if (!last) std::copy(ramp_.begin(), ramp_.end(), chosen_.rbegin());
}

void Demixer::add_weighted(Index length, bool last) {
  choose_weights(last);
  for (Index i = 0; i < length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    weights_[at] += chosen_[at];
    if (chosen_[at] == 0) remember_unweighted(i);
  }
  const Index rows = settings_.stems * settings_.channels;
  for (Index row = 0; row < rows; ++row) {
    float* const sums = sums_.data() + row * settings_.chunk;
    const float* const separated = separated_.data() + row * settings_.chunk;
    for (Index i = 0; i < length; ++i) sums[i] += chosen_[static_cast<std::size_t>(i)] * separated[i];
  }
}

void Demixer::remember_unweighted(Index i) {
  const auto same = std::find_if(waiting_.begin(), waiting_.end(),
                                 [&](const Unweighted& each) { return each.covers > 0 && each.at == start_ + i; });
  Unweighted& kept = same != waiting_.end() ? *same
                                            : *std::find_if(waiting_.begin(), waiting_.end(),
                                                            [](const Unweighted& each) { return each.covers == 0; });
  if (kept.covers == 0) std::fill(kept.sums.begin(), kept.sums.end(), 0.0F);
  kept.at = start_ + i;
  ++kept.covers;
  for (std::size_t row = 0; row < kept.sums.size(); ++row) {
    kept.sums[row] += separated_[row * static_cast<std::size_t>(settings_.chunk) + static_cast<std::size_t>(i)];
  }
}

/// Sends the first `count` samples of the chunk, which no later one covers, as far as they are of the signal and not
/// known, and makes room for the next chunk.
void Demixer::emit(Index count) {
  const Index chunk = settings_.chunk, rows = settings_.stems * settings_.channels;
  const Index first = std::max(start_, front() + known_), end = std::min(start_ + count, front() + pushed_);
  const Index sent = std::max(Index{0}, end - first);
  sent_weights_.clear();
  for (Index i = first; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i - start_);
    const Unweighted* const plain = weights_[at] == 0 ? unweighted(i) : nullptr;
    unweighted_ += plain != nullptr;
    const bool covered = weights_[at] != 0 || plain != nullptr;
    if (settings_.part) sent_weights_.push_back(plain != nullptr ? least_weight : weights_[at]);
    for (Index row = 0; row < rows; ++row) {
      float& to = finished_[static_cast<std::size_t>(row * sent + i - first)];
      if (!covered) {
        to = 0;
        continue;
      }
      const float value = plain != nullptr
                              ? plain->sums[static_cast<std::size_t>(row)] / static_cast<float>(plain->covers)
                              : sums_[static_cast<std::size_t>(row * chunk) + at] / weights_[at];
      to = static_cast<float>(static_cast<double>(value) * settings_.deviation + settings_.mean);
    }
  }
  if (sent > 0) {
    View<const float, 2> mixture(&held(0, first), settings_.channels, sent);
    mixture.stride[0] = capacity_;
    sink_(mixture, {finished_.data(), settings_.stems, settings_.channels, sent});
  }
  for (Unweighted& each : waiting_) {
    if (each.at < start_ + count) each.covers = 0;
  }
  const auto shift = [&](float* row) {
    std::copy(row + count, row + chunk, row);
    std::fill(row + chunk - count, row + chunk, 0.0F);
  };
  shift(weights_.data());
  for (Index row = 0; row < rows; ++row) shift(sums_.data() + row * chunk);
}

const Demixer::Unweighted* Demixer::unweighted(Index at) const {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Unweighted& each) { return each.covers > 0 && each.at == at; });
  return found == waiting_.end() ? nullptr : &*found;
}

void Demixer::drop_before(Index at) {
  const Index drop = at - first_held_;
  if (drop <= 0) return;
  const Index kept = available_ - at;
  for (Index c = 0; c < settings_.channels; ++c) {
    float* const row = held_.data() + c * capacity_;
    std::copy(row + drop, row + drop + kept, row);
  }
  first_held_ = at;
}

std::size_t Demixer::bytes() const { return bytes_for(settings_); }

}  // namespace sonde::separate
