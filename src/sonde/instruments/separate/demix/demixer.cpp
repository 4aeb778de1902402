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
  if (settings.policy == Policy::uniform) {
    return (border + samples + padding(settings, samples) + border - settings.chunk) / step + 1;
  }
  const Index all = samples + (reflects(settings, samples) ? 2 * border : 0);
  return (all + step - 1) / step;
}

Demixer::Demixer(const DemixSettings& settings, Network network, Sink sink)
    : settings_(settings),
      network_(std::move(network)),
      sink_(std::move(sink)),
      border_(settings.chunk - settings.step()),
      capacity_(5 * settings.chunk + 2) {
  check(settings);
  const auto chunk = static_cast<std::size_t>(settings.chunk), channels = static_cast<std::size_t>(settings.channels);
  const auto stems = static_cast<std::size_t>(settings.stems);
  held_.resize(channels * static_cast<std::size_t>(capacity_));
  samples_.resize(channels * chunk);
  separated_.resize(stems * channels * chunk);
  sums_.resize(separated_.size());
  weights_.resize(chunk);
  finished_.resize(separated_.size());
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
    for (Index i = 0; i < border_; ++i) row[i] = extended_ ? row[2 * border_ - i] : 0.0F;
  }
  available_ += border_;
}

void Demixer::append(View<const float, 2> samples, Index from, Index count) {
  for (Index c = 0; c < settings_.channels; ++c) {
    for (Index i = 0; i < count; ++i) {
      held(c, available_ + i) =
          static_cast<float>((static_cast<double>(samples(c, from + i)) - settings_.mean) / settings_.deviation);
    }
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
    for (Index c = 0; c < settings_.channels; ++c) std::fill_n(&held(c, available_), now, 0.0F);
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
  const bool reflected = length > chunk / 2;
  for (Index c = 0; c < settings_.channels; ++c) {
    float* const row = samples_.data() + c * chunk;
    std::copy_n(&held(c, start_), length, row);
    for (Index i = length; i < chunk; ++i) row[i] = reflected ? row[2 * length - 2 - i] : 0.0F;
  }
  network_({samples_.data(), settings_.channels, chunk},
           {separated_.data(), settings_.stems, settings_.channels, chunk});
  ++chunks_;
  add_weighted(length, last);
  emit(last ? length : step);
  start_ += step;
  // One sample more than the chunk needs: the reflected end begins behind it.
  drop_before(std::min(start_ - 1, available_));
}

float Demixer::weight(Index i, bool last) const {
  if (settings_.policy == Policy::uniform) return 1;
  const Index fade = settings_.chunk / 10;
  const auto ramp = [&](Index k) { return static_cast<float>(k) / static_cast<float>(fade - 1); };
  float weight = 1;
  if (start_ > 0 && i < fade) weight = ramp(i);
  if (!last && i >= settings_.chunk - fade) weight = ramp(settings_.chunk - 1 - i);
  return weight;
}

void Demixer::add_weighted(Index length, bool last) {
  const Index chunk = settings_.chunk;
  for (Index i = 0; i < length; ++i) {
    const float w = weight(i, last);
    weights_[static_cast<std::size_t>(i)] += w;
    if (w == 0) remember_unweighted(i);
  }
  const auto rows = settings_.stems * settings_.channels;
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < length; ++i) {
      const auto at = static_cast<std::size_t>(row * chunk + i);
      sums_[at] += weight(i, last) * separated_[at];
    }
  }
}

void Demixer::remember_unweighted(Index i) {
  const auto rows = static_cast<std::size_t>(settings_.stems * settings_.channels);
  auto same =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Unweighted& each) { return each.at == start_ + i; });
  if (same == waiting_.end()) {
    waiting_.push_back({.at = start_ + i, .covers = 0, .sums = std::vector<float>(rows)});
    same = waiting_.end() - 1;
  }
  ++same->covers;
  for (std::size_t row = 0; row < rows; ++row) {
    same->sums[row] += separated_[row * static_cast<std::size_t>(settings_.chunk) + static_cast<std::size_t>(i)];
  }
}

/// Sends the first `count` samples of the chunk, which no later one covers, as far as they are of the signal, and makes
/// room for the next chunk.
void Demixer::emit(Index count) {
  const Index chunk = settings_.chunk, rows = settings_.stems * settings_.channels;
  const Index front = extended_ || settings_.policy == Policy::uniform ? border_ : 0;
  const Index first = std::max(start_, front), end = std::min(start_ + count, front + pushed_);
  const Index sent = std::max(Index{0}, end - first);
  for (Index i = first; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i - start_);
    const Unweighted* const plain = weights_[at] == 0 ? unweighted(i) : nullptr;
    unweighted_ += plain != nullptr;
    for (Index row = 0; row < rows; ++row) {
      const float value = plain != nullptr
                              ? plain->sums[static_cast<std::size_t>(row)] / static_cast<float>(plain->covers)
                              : sums_[static_cast<std::size_t>(row * chunk) + at] / weights_[at];
      finished_[static_cast<std::size_t>(row * sent + i - first)] =
          static_cast<float>(static_cast<double>(value) * settings_.deviation + settings_.mean);
    }
  }
  if (sent > 0) sink_({finished_.data(), settings_.stems, settings_.channels, sent});
  std::erase_if(waiting_, [&](const Unweighted& each) { return each.at < start_ + count; });
  const auto shift = [&](float* row) {
    std::copy(row + count, row + chunk, row);
    std::fill(row + chunk - count, row + chunk, 0.0F);
  };
  shift(weights_.data());
  for (Index row = 0; row < rows; ++row) shift(sums_.data() + row * chunk);
}

const Demixer::Unweighted* Demixer::unweighted(Index at) const {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Unweighted& each) { return each.at == at; });
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

std::size_t Demixer::bytes() const {
  return sizeof(float) *
         (held_.size() + samples_.size() + separated_.size() + sums_.size() + weights_.size() + finished_.size());
}

}  // namespace sonde::separate
