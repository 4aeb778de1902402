// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/events/onsets.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/math/fft1d.h"
#include "sonde/engine/math/window.h"

namespace sonde::separate {
namespace {

constexpr Index frame = 2048, flux_hop = 256, energy_hop = 512;
constexpr Index frames_at_once = 64;  // transforms of one call; half a megabyte
constexpr Index lag = 2;              // frames: where the window of the earlier one has fallen to a half
constexpr double bands_per_octave = 24, lowest_hz = 27.5, highest_hz = 17000, compression = 1000;
// A band that has grown by so much (log) has begun: out of silence it counts no more than out of what sounds already.
constexpr float largest_rise = 1;
constexpr double silence = 1e-6;  // of a stem: a sixteenth of a step of 24 bits

/// A curve whose value i belongs to the samples from first(i) to last(i).
struct Curve {
  std::vector<double> values{};
  Index hop = 1;
  Index before = 0, after = 0;  ///< samples in front of i * hop, and from it on, that an onset found there can be in
  [[nodiscard]] Index count() const { return static_cast<Index>(values.size()); }
  [[nodiscard]] double at(Index i) const { return values[static_cast<std::size_t>(i)]; }
};

/// One triangular band: weights of the frequencies from `first` on.
struct Band {
  double hertz;  ///< of its top
  Index first;
  std::vector<float> weights;
};

std::vector<Band> bands_of(Index rate) {
  std::vector<Index> edges;
  const double per_bin = static_cast<double>(rate) / static_cast<double>(frame);
  const double highest = std::min(highest_hz, static_cast<double>(rate) / 2 - 2 * per_bin);
  for (double step = 0;; ++step) {
    const double hz = lowest_hz * std::exp2(step / bands_per_octave);
    if (hz > highest) break;
    const auto bin = static_cast<Index>(std::lround(hz / per_bin));
    if (edges.empty() || bin > edges.back()) edges.push_back(bin);  // low ones share a frequency
  }
  std::vector<Band> bands;
  for (std::size_t i = 0; i + 2 < edges.size(); ++i) {
    Band band{.hertz = static_cast<double>(edges[i + 1]) * per_bin, .first = edges[i] + 1, .weights = {}};
    for (Index k = edges[i] + 1; k < edges[i + 2]; ++k) {
      const Index from = k <= edges[i + 1] ? edges[i] : edges[i + 2];
      band.weights.push_back(static_cast<float>(k - from) / static_cast<float>(edges[i + 1] - from));
    }
    bands.push_back(std::move(band));
  }
  return bands;
}

/// Magnitudes in bands, frame after frame, of one channel: take(frame number, magnitudes).
class BandSpectrum {
 public:
  explicit BandSpectrum(Index rate)
      : bands_(bands_of(rate)),
        fft_(RealFft1d<float>::prepare({.length = frame, .batch = frames_at_once})),
        windowed_(static_cast<std::size_t>(frames_at_once * frame)),
        spectra_(static_cast<std::size_t>(frames_at_once * fft_.frequencies())),
        magnitudes_(bands_.size()) {}

  [[nodiscard]] std::size_t count() const { return bands_.size(); }

  /// What each band counts: each range as much, and in it each band. They add up to 1.
  [[nodiscard]] std::vector<double> shares(const std::vector<Range>& ranges) const {
    std::vector<double> shares(bands_.size(), 0.0);
    for (const Range& range : ranges) {
      const auto inside = [&](const Band& band) { return band.hertz >= range.low && band.hertz < range.high; };
      const auto count = static_cast<double>(std::count_if(bands_.begin(), bands_.end(), inside));
      for (std::size_t b = 0; b < bands_.size(); ++b)
        if (inside(bands_[b])) shares[b] += 1 / (count * static_cast<double>(ranges.size()));
    }
    return shares;
  }

  template <class Take>
  void each(View<const float, 1> samples, Take&& take) {
    const Index count = samples.extent[0], frames = count / flux_hop + 1;
    const View<float, 2> lines(windowed_.data(), frames_at_once, frame);
    const View<std::complex<float>, 2> spectra(spectra_.data(), frames_at_once, fft_.frequencies());
    for (Index begin = 0; begin < frames; begin += frames_at_once) {
      check_interrupt();
      const Index here = std::min(frames_at_once, frames - begin);
      for (Index t = 0; t < here; ++t) {
        const Index start = (begin + t) * flux_hop - frame / 2;
        for (Index n = 0; n < frame; ++n) {
          // Silence is before a file, but its end is not that of what sounds: there it goes on in reverse.
          const Index i = start + n < count ? start + n : 2 * count - 1 - start - n;
          lines(t, n) = i >= 0 ? window_[static_cast<std::size_t>(n)] * samples(i) : 0.0F;
        }
      }
      fft_.forward(stream_, lines, spectra);
      for (Index t = 0; t < here; ++t) {
        for (std::size_t b = 0; b < bands_.size(); ++b) {
          float sum = 0;
          for (std::size_t k = 0; k < bands_[b].weights.size(); ++k)
            sum += bands_[b].weights[k] * std::abs(spectra(t, bands_[b].first + static_cast<Index>(k)));
          magnitudes_[b] = sum;
        }
        take(begin + t, magnitudes_);
      }
    }
  }

 private:
  std::vector<Band> bands_;
  Stream stream_;
  RealFft1d<float> fft_;
  std::vector<float> window_ = hann(frame), windowed_;
  std::vector<std::complex<float>> spectra_;
  std::vector<float> magnitudes_;
};

/// The curves of all channels, 0 to 1.
std::vector<Curve> flux_curves(View<const float, 2> samples, Index rate, const std::vector<Range>& ranges) {
  BandSpectrum spectrum(rate);
  const std::vector<double> shares = spectrum.shares(ranges);
  auto largest = static_cast<float>(silence);
  for (Index c = 0; c < samples.extent[0]; ++c) {
    spectrum.each(samples[c], [&](Index, const std::vector<float>& magnitudes) {
      largest = std::max(largest, *std::max_element(magnitudes.begin(), magnitudes.end()));
    });
  }
  std::vector<Curve> curves;
  for (Index c = 0; c < samples.extent[0]; ++c) {
    // A window reaches an onset at its end first: half a frame ahead. The flux is largest when it has moved on a
    // quarter.
    Curve curve{.hop = flux_hop, .before = flux_hop / 2, .after = frame / 2};
    std::vector<std::vector<float>> levels(lag + 1, std::vector<float>(spectrum.count(), 0.0F));
    spectrum.each(samples[c], [&](Index t, const std::vector<float>& magnitudes) {
      auto& now = levels[static_cast<std::size_t>(t % (lag + 1))];
      const auto& earlier = levels[static_cast<std::size_t>((t + 1) % (lag + 1))];
      const std::size_t last = now.size() - 1;
      double sum = 0;
      for (std::size_t b = 0; b <= last; ++b) {
        now[b] = std::log1p(static_cast<float>(compression) * magnitudes[b] / largest);
        const float before = std::max({earlier[b == 0 ? 0 : b - 1], earlier[b], earlier[std::min(b + 1, last)]});
        sum += shares[b] * static_cast<double>(std::clamp(now[b] - before, 0.0F, largest_rise) / largest_rise);
      }
      curve.values.push_back(sum);
    });
    curves.push_back(std::move(curve));
  }
  return curves;
}

/// Levels in dB below the loudest of all channels, not below the floor.
std::vector<Curve> level_curves(View<const float, 2> samples, Index rate, const OnsetSettings& settings) {
  const bool peaks = settings.detection == Detection::peak;
  const Index hop = peaks ? std::max<Index>(1, rate * 3 / 2000) : energy_hop, reach = peaks ? hop : frame / 2;
  std::vector<Curve> curves;
  double most = silence;
  for (Index c = 0; c < samples.extent[0]; ++c) {
    Curve curve{.hop = hop, .before = peaks ? hop : 0, .after = reach + hop};
    const auto channel = samples[c];
    for (Index centre = 0; centre < channel.extent[0] + hop; centre += hop) {
      check_interrupt();
      double sum = 0, peak = 0;
      for (Index i = std::max<Index>(0, centre - reach); i < std::min(channel.extent[0], centre + reach); ++i) {
        const auto x = static_cast<double>(channel(i));
        sum += x * x, peak = std::max(peak, std::abs(x));
      }
      curve.values.push_back(peaks ? peak : std::sqrt(sum / static_cast<double>(2 * reach)));
      most = std::max(most, curve.values.back());
    }
    curves.push_back(std::move(curve));
  }
  for (Curve& curve : curves) {
    for (double& value : curve.values)
      value = std::max(settings.floor_db, 20 * std::log10(std::max(1e-12, value) / most));
  }
  return curves;
}

bool is_highest(const Curve& curve, Index i, Index reach) {
  for (Index k = std::max<Index>(0, i - reach); k <= std::min(curve.count() - 1, i + reach); ++k) {
    if (k < i ? curve.at(k) >= curve.at(i) : curve.at(k) > curve.at(i)) return false;
  }
  return true;
}

Index frames_of(double ms, Index rate, Index hop) {
  return static_cast<Index>(std::lround(ms * 1e-3 * static_cast<double>(rate) / static_cast<double>(hop)));
}

float largest_in(View<const float, 1> samples, Index begin, Index end) {
  float most = 0;
  for (Index i = std::max<Index>(0, begin); i < std::min(end, samples.extent[0]); ++i)
    most = std::max(most, std::abs(samples(i)));
  return most;
}

/// The sample, between `begin` and `end`, where the largest magnitude of 1 ms first rises half as steeply as anywhere.
Index refined(View<const float, 1> samples, Index rate, Index begin, Index end) {
  const Index width = std::max<Index>(1, rate / 1000), count = samples.extent[0];
  begin = std::clamp<Index>(begin, 0, count), end = std::clamp<Index>(end, begin, count);
  const auto largest = [&](Index from, Index to) { return largest_in(samples, from, to); };
  std::vector<float> slopes;
  for (Index i = begin; i < end; ++i) slopes.push_back(largest(i, i + width) - largest(i - width, i));
  if (slopes.empty()) return begin;
  const float steep = *std::max_element(slopes.begin(), slopes.end()) / 2;
  const auto first =
      std::find_if(slopes.begin(), slopes.end(), [&](float each) { return each >= steep; }) - slopes.begin();
  // The slope is as large from 1 ms before a step on: the step is where the magnitude itself is reached.
  const float risen = largest(begin + first - width, begin + first) + steep;
  for (Index i = begin + first; i < begin + first + width && i < count; ++i) {
    if (std::abs(samples(i)) >= risen) return i;
  }
  return begin + first;
}

/// Whether the level rises there within 10 ms by `sharpness` of what it was.
bool rises(View<const float, 1> samples, Index rate, Index onset, double sharpness) {
  const auto before = static_cast<double>(largest_in(samples, onset - rate / 100, onset)),
             after = static_cast<double>(largest_in(samples, onset, onset + rate / 100));
  return after > 0 && after - before >= sharpness * before;
}

std::vector<Onset> onsets_of(const Curve& curve, View<const float, 1> samples, Index rate,
                             const OnsetSettings& settings) {
  const Index reach = frames_of(30, rate, curve.hop), earlier = frames_of(100, rate, curve.hop),
              later = frames_of(70, rate, curve.hop);
  const bool flux = settings.detection == Detection::flux;
  const std::vector<double> prominence = flux ? std::vector<double>() : prominences(curve.values, settings.floor_db);
  std::vector<std::pair<Index, Onset>> tops;  // with their places on the curve
  for (Index i = 0; i < curve.count(); ++i) {
    check_interrupt();
    if (!is_highest(curve, i, 1)) continue;
    Index found = i;
    double strength = curve.at(i);
    if (flux) {
      double sum = 0;
      const Index begin = std::max<Index>(0, i - earlier), end = std::min(curve.count(), i + later + 1);
      for (Index k = begin; k < end; ++k) sum += curve.at(k);
      if (curve.at(i) < sum / static_cast<double>(end - begin) + settings.threshold) continue;
    } else {
      const double own = prominence[static_cast<std::size_t>(i)];
      if (curve.at(i) <= settings.floor_db || own < settings.prominence_db) continue;
      // Near the top a level rises slowly: what is followed begins half way up.
      while (found > 0 && (curve.at(found) > curve.at(i) - own / 2 || curve.at(found) - curve.at(found - 1) >= 1))
        --found;
      strength = 1 - curve.at(i) / settings.floor_db;
    }
    const Index centre = found * curve.hop;
    const Index sample = refined(samples, rate, centre - curve.before, centre + curve.after);
    // A sound that is cut off grows the spectrum too.
    if (rises(samples, rate, sample, settings.sharpness)) tops.push_back({i, {sample, strength}});
  }
  std::vector<Onset> onsets;
  for (const auto& [place, onset] : tops) {
    const bool highest = std::none_of(tops.begin(), tops.end(), [&, here = place](const auto& other) {
      const bool near = std::abs(other.first - here) <= reach && other.first != here;
      return near && (curve.at(other.first) > curve.at(here) ||
                      (curve.at(other.first) == curve.at(here) && other.first < here));
    });
    if (highest) onsets.push_back(onset);
  }
  return onsets;
}

/// Each onset of `more` is one of `onsets` when it is the nearest free one within `within`, else one of its own.
void merge(std::vector<Onset>& onsets, const std::vector<Onset>& more, Index within) {
  std::vector<bool> taken(onsets.size());
  std::vector<Onset> own;
  for (const Onset& each : more) {
    std::optional<std::size_t> nearest;
    Index distance = within;
    auto first = std::lower_bound(onsets.begin(), onsets.end(), each.sample - within,
                                  [](const Onset& onset, Index sample) { return onset.sample < sample; });
    for (; first != onsets.end() && first->sample <= each.sample + within; ++first) {
      const auto at = static_cast<std::size_t>(first - onsets.begin());
      if (taken[at] || std::abs(first->sample - each.sample) > distance) continue;
      nearest = at, distance = std::abs(first->sample - each.sample);
    }
    if (!nearest) {
      own.push_back(each);
      continue;
    }
    taken[*nearest] = true;
    Onset& one = onsets[*nearest];
    one = {std::min(one.sample, each.sample), std::max(one.strength, each.strength)};
  }
  onsets.insert(onsets.end(), own.begin(), own.end());
  std::sort(onsets.begin(), onsets.end(), [](const Onset& a, const Onset& b) { return a.sample < b.sample; });
}

/// What is left when of two closer than `gap` the later is dropped.
std::vector<Onset> spaced(const std::vector<Onset>& onsets, Index gap) {
  std::vector<Onset> kept;
  for (const Onset& each : onsets) {
    if (kept.empty() || each.sample - kept.back().sample >= gap) {
      kept.push_back(each);
    } else {
      kept.back().strength = std::max(kept.back().strength, each.strength);
    }
  }
  return kept;
}

}  // namespace

std::vector<float> hann(Index length) {
  const std::vector<double> window = hann_window(length);
  return {window.begin(), window.end()};
}

std::vector<double> prominences(const std::vector<double>& heights, double outside) {
  struct Higher {
    double height, lowest_since;
  };
  const std::size_t count = heights.size();
  // The lowest place between each element and the next higher one in the direction of growing k.
  const auto valleys = [&](auto&& index) {
    std::vector<double> lowest(count);
    std::vector<Higher> higher;
    for (std::size_t k = 0; k < count; ++k) {
      const double height = heights[index(k)];
      double valley = height;
      while (!higher.empty() && higher.back().height <= height) {
        valley = std::min(valley, higher.back().lowest_since);
        higher.pop_back();
      }
      lowest[index(k)] = higher.empty() ? std::min(valley, outside) : valley;
      higher.push_back({height, valley});
    }
    return lowest;
  };
  const auto left = valleys([](std::size_t k) { return k; });
  const auto right = valleys([&](std::size_t k) { return count - 1 - k; });
  std::vector<double> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(heights[i] - std::max(left[i], right[i]));
  return made;
}

std::vector<Onset> find_onsets(View<const float, 2> samples, Index rate, const OnsetSettings& settings) {
  if (samples.count() == 0) return {};
  const std::vector<Curve> curves = settings.detection == Detection::flux ? flux_curves(samples, rate, settings.ranges)
                                                                          : level_curves(samples, rate, settings);
  std::vector<Onset> onsets;
  const Index gap = frames_of(settings.gap_ms, rate, 1);
  for (Index c = 0; c < samples.extent[0]; ++c) {
    const auto more = spaced(onsets_of(curves[static_cast<std::size_t>(c)], samples[c], rate, settings), gap);
    merge(onsets, more, frames_of(settings.merge_ms, rate, 1));
  }
  return spaced(onsets, gap);
}

}  // namespace sonde::separate
