// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/events/drums.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <complex>
#include <limits>
#include <map>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/math/fft1d.h"

namespace sonde::separate {
namespace {

constexpr std::array<HitInfo, hit_count> hits = {{{"kick", Drum::kick, 36},
                                                  {"snare", Drum::snare, 38},
                                                  {"side_stick", Drum::snare, 37},
                                                  {"clap", Drum::snare, 39},
                                                  {"tom_low", Drum::toms, 45},
                                                  {"tom_mid", Drum::toms, 47},
                                                  {"tom_high", Drum::toms, 50},
                                                  {"hihat_closed", Drum::hihat, 42},
                                                  {"hihat_open", Drum::hihat, 46},
                                                  {"hihat_pedal", Drum::hihat, 44},
                                                  {"crash", Drum::cymbals, 49},
                                                  {"ride", Drum::cymbals, 51},
                                                  {"china", Drum::cymbals, 52}}};

constexpr std::array<std::string_view, drum_count> drum_names = {"kick", "snare", "toms", "hihat", "cymbals"};

/// Where each drum has its energy.
std::vector<Range> bands_of_drum(Drum drum) {
  switch (drum) {
    case Drum::kick:
      return {{40, 80}, {80, 250}, {1500, 5000}};
    case Drum::snare:
      return {{150, 400}, {2000, 8000}};
    case Drum::toms:
      return {{60, 150}, {150, 400}};
    case Drum::hihat:
      return {{500, 2000}, {6000, 12000}};
    case Drum::cymbals:
      return {{1000, 4000}, {4000, 10000}};
  }
  return {};
}

double decibels(double magnitude) { return 20 * std::log10(std::max(1e-9, magnitude)); }

/// The largest magnitude of all channels in pieces of 5 ms, smoothed over three of them.
class Envelope {
 public:
  Envelope(View<const float, 2> samples, Index rate) : hop_(std::max<Index>(1, rate / 200)) {
    std::vector<double> peaks(static_cast<std::size_t>(samples.extent[1] / hop_ + 1));
    for (Index c = 0; c < samples.extent[0]; ++c) {
      for (Index i = 0; i < samples.extent[1]; ++i) {
        auto& peak = peaks[static_cast<std::size_t>(i / hop_)];
        peak = std::max(peak, static_cast<double>(std::abs(samples(c, i))));
      }
    }
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : i - 1, end = std::min(peaks.size(), i + 2);
      values_.push_back(0);
      for (std::size_t k = begin; k < end; ++k) values_.back() += peaks[k] / static_cast<double>(end - begin);
    }
  }

  /// Seconds from the largest value within 100 ms of `begin` until it has fallen by 20 dB, at most to `end`.
  [[nodiscard]] double sustain_s(Index begin, Index end, Index rate) const {
    const auto first = static_cast<std::size_t>(begin / hop_);
    const std::size_t last = std::min(values_.size(), static_cast<std::size_t>(end / hop_));
    if (first >= last) return 0;
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto peak =
        std::max_element(from, from + static_cast<std::ptrdiff_t>(std::min<std::size_t>(last - first, 20)));
    auto at = peak;
    while (at != values_.begin() + static_cast<std::ptrdiff_t>(last) && *at > *peak * 0.1) ++at;
    return static_cast<double>((at - peak) * hop_) / static_cast<double>(rate);
  }

 private:
  Index hop_;
  std::vector<double> values_;
};

/// What the loudest channel and both sides reach between two samples.
struct Peaks {
  double largest = 0, left = 0, right = 0;
};
Peaks peaks_in(View<const float, 2> samples, Index begin, Index end) {
  Peaks peaks;
  for (Index c = 0; c < samples.extent[0]; ++c) {
    double most = 0;
    for (Index i = std::max<Index>(0, begin); i < std::min(samples.extent[1], end); ++i)
      most = std::max(most, static_cast<double>(std::abs(samples(c, i))));
    peaks.largest = std::max(peaks.largest, most);
    if (c == 0) peaks.left = most;
    peaks.right = most;
  }
  return peaks;
}

/// Power at the frequencies of 46 ms, summed over the channels.
class HitSpectrum {
 public:
  static constexpr Index length = 2048, lead = 256;

  explicit HitSpectrum(Index rate) : rate_(rate), fft_(RealFft1d<float>::prepare({.length = length})) {}

  void look(View<const float, 2> samples, Index onset) {
    power_.assign(static_cast<std::size_t>(fft_.frequencies()), 0);
    std::vector<float> line(static_cast<std::size_t>(length));
    std::vector<std::complex<float>> found(power_.size());
    for (Index c = 0; c < samples.extent[0]; ++c) {
      for (Index n = 0; n < length; ++n) {
        const Index i = onset - lead + n;
        line[static_cast<std::size_t>(n)] =
            i >= 0 && i < samples.extent[1] ? samples(c, i) * window_[static_cast<std::size_t>(n)] : 0.0F;
      }
      fft_.forward(stream_, View<const float, 2>(line.data(), 1, length),
                   View<std::complex<float>, 2>(found.data(), 1, fft_.frequencies()));
      for (std::size_t k = 0; k < power_.size(); ++k) power_[k] += static_cast<double>(std::norm(found[k]));
    }
  }

  [[nodiscard]] double energy(const Range& range) const {
    double sum = 0;
    for (std::size_t k = 0; k < power_.size(); ++k) {
      if (hertz(k) >= range.low && hertz(k) < range.high) sum += power_[k];
    }
    return sum;
  }
  [[nodiscard]] double centroid_hz() const {
    double sum = 0, weighted = 0;
    for (std::size_t k = 0; k < power_.size(); ++k) sum += power_[k], weighted += power_[k] * hertz(k);
    return sum > 0 ? weighted / sum : 0;
  }

 private:
  [[nodiscard]] double hertz(std::size_t k) const {
    return static_cast<double>(k) * static_cast<double>(rate_) / static_cast<double>(length);
  }
  Index rate_;
  Stream stream_;
  RealFft1d<float> fft_;
  std::vector<float> window_ = hann(length);
  std::vector<double> power_;
};

/// An onset that is not dropped yet.
struct Candidate {
  Index sample;
  double strength;
  Peaks peaks;
  std::vector<double> energies;
  double centroid_hz;
};

std::vector<Candidate> candidates_of(Drum drum, View<const float, 2> samples, Index rate,
                                     const DrumSettings& settings) {
  HitSpectrum spectrum(rate);
  std::vector<Candidate> found;
  OnsetSettings onsets = settings.onsets;
  onsets.ranges = bands_of_drum(drum);
  for (const Onset& onset : find_onsets(samples, rate, onsets)) {
    check_interrupt();
    Candidate each{onset.sample, onset.strength, peaks_in(samples, onset.sample, onset.sample + rate / 10), {}, 0};
    if (each.peaks.largest == 0) continue;
    spectrum.look(samples, onset.sample);
    for (const Range& range : bands_of_drum(drum)) each.energies.push_back(spectrum.energy(range));
    each.centroid_hz = spectrum.centroid_hz();
    found.push_back(std::move(each));
  }
  return found;
}

void drop_bleed(std::vector<Candidate>& candidates, double gate) {
  if (candidates.empty()) return;
  std::vector<double> strong;
  for (std::size_t b = 0; b < candidates[0].energies.size(); ++b) {
    std::vector<double> energies;
    for (const Candidate& each : candidates) energies.push_back(each.energies[b]);
    strong.push_back(percentile(energies, 0.95));
  }
  std::erase_if(candidates, [&](const Candidate& each) {
    double sum = 0;
    for (std::size_t b = 0; b < strong.size(); ++b)
      sum += std::log(std::max(1e-30, each.energies[b]) / std::max(1e-30, strong[b]));
    return std::exp(sum / static_cast<double>(strong.size())) < gate;
  });
}

std::vector<Hit> toms(const std::vector<Candidate>& candidates, View<const float, 2> samples, Index rate) {
  const Index length = rate / 10;
  std::vector<double> hertz;
  for (const Candidate& each : candidates) {
    const Index begin = std::min(samples.extent[1], each.sample + rate / 20);
    const Index count = std::min(length, samples.extent[1] - begin);
    const Index loudest = samples.extent[0] > 1 && each.peaks.right > each.peaks.left ? samples.extent[0] - 1 : 0;
    hertz.push_back(fundamental_hz(View<const float, 1>(&samples(loudest, 0) + begin, count), rate, 60, 250));
  }
  const std::vector<Index> classes = classes_of(hertz);
  const Index count = classes.empty() ? 0 : *std::max_element(classes.begin(), classes.end()) + 1;
  std::vector<Hit> found;
  for (const Index each : classes)
    found.push_back(each == 0 ? Hit::tom_low : each + 1 == count ? Hit::tom_high : Hit::tom_mid);
  return found;
}

void set_velocities(std::vector<DrumEvent>& events, const EventSettings& settings) {
  std::vector<double> levels;
  for (const DrumEvent& each : events) levels.push_back(each.level_db);
  const double high = percentile(levels, 0.95), low = std::min(percentile(levels, 0.05), high - settings.span_db);
  for (DrumEvent& each : events) {
    const double part = settings.linear ? each.strength : (each.level_db - low) / std::max(1e-9, high - low);
    const auto softest = static_cast<double>(settings.softest), loudest = static_cast<double>(settings.loudest);
    each.velocity = std::lround(softest + (loudest - softest) * std::clamp(part, 0.0, 1.0));
  }
}

/// Sums of squares of every part of sorted values, and where classes end.
struct Split {
  std::vector<std::size_t> ends;
  double squares;
};

double squares_about_mean(const std::vector<double>& sorted, std::size_t begin, std::size_t end) {
  double mean = 0, sum = 0;
  for (std::size_t i = begin; i < end; ++i) mean += sorted[i] / static_cast<double>(end - begin);
  for (std::size_t i = begin; i < end; ++i) sum += (sorted[i] - mean) * (sorted[i] - mean);
  return sum;
}

/// Lloyd's iteration on sorted values, begun at even parts of their range: classes are runs of them.
Split k_means(const std::vector<double>& sorted, std::size_t k) {
  std::vector<double> centres;
  for (std::size_t c = 0; c < k; ++c) {
    const double part = (static_cast<double>(c) + 0.5) / static_cast<double>(k);
    centres.push_back(sorted.front() + part * (sorted.back() - sorted.front()));
  }
  std::vector<std::size_t> ends;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::size_t> now;
    for (std::size_t c = 0; c + 1 < k; ++c) {
      const double border = (centres[c] + centres[c + 1]) / 2;
      now.push_back(static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), border) - sorted.begin()));
    }
    now.push_back(sorted.size());
    if (now == ends) break;
    ends = now;
    for (std::size_t c = 0, begin = 0; c < k; begin = ends[c++]) {
      if (begin == ends[c]) continue;
      centres[c] = 0;
      for (std::size_t i = begin; i < ends[c]; ++i) centres[c] += sorted[i] / static_cast<double>(ends[c] - begin);
    }
  }
  Split split{ends, 0};
  for (std::size_t c = 0, begin = 0; c < k; begin = ends[c++])
    if (begin < ends[c]) split.squares += squares_about_mean(sorted, begin, ends[c]);
  return split;
}

}  // namespace

std::string_view name(Drum drum) { return drum_names[static_cast<std::size_t>(drum)]; }

const HitInfo& info(Hit hit) { return hits[static_cast<std::size_t>(hit)]; }

std::optional<Hit> hit_called(std::string_view name) {
  for (std::size_t i = 0; i < hit_count; ++i)
    if (hits[i].name == to_lower(name)) return static_cast<Hit>(i);
  return {};
}

std::optional<Drum> drum_of_note(Index note) {
  // Of General MIDI, and 22, 26, 58 and 59 of electronic kits.
  static const std::array<std::vector<Index>, drum_count> notes = {
      {{35, 36}, {37, 38, 39, 40}, {41, 43, 45, 47, 48, 50, 58}, {22, 26, 42, 44, 46}, {49, 51, 52, 53, 55, 57, 59}}};
  for (std::size_t i = 0; i < drum_count; ++i)
    if (std::find(notes[i].begin(), notes[i].end(), note) != notes[i].end()) return static_cast<Drum>(i);
  return {};
}

std::optional<StemKind> stem_kind(std::string_view name) {
  static const std::map<std::string_view, StemKind> kinds = {{"kick", {Drum::kick}},
                                                             {"kicks", {Drum::kick}},
                                                             {"kickdrum", {Drum::kick}},
                                                             {"bd", {Drum::kick}},
                                                             {"bassdrum", {Drum::kick}},
                                                             {"snare", {Drum::snare}},
                                                             {"snares", {Drum::snare}},
                                                             {"sd", {Drum::snare}},
                                                             {"clap", {Drum::snare, Hit::clap}},
                                                             {"sidestick", {Drum::snare, Hit::side_stick}},
                                                             {"rimshot", {Drum::snare, Hit::side_stick}},
                                                             {"toms", {Drum::toms}},
                                                             {"tom", {Drum::toms}},
                                                             {"tt", {Drum::toms}},
                                                             {"hh", {Drum::hihat}},
                                                             {"hihat", {Drum::hihat}},
                                                             {"hihats", {Drum::hihat}},
                                                             {"hat", {Drum::hihat}},
                                                             {"hats", {Drum::hihat}},
                                                             {"cymbals", {Drum::cymbals}},
                                                             {"cymbal", {Drum::cymbals}},
                                                             {"cy", {Drum::cymbals}},
                                                             {"crash", {Drum::cymbals, Hit::crash}},
                                                             {"ride", {Drum::cymbals, Hit::ride}},
                                                             {"china", {Drum::cymbals, Hit::china}}};
  std::string words;
  for (const char c : name)
    words += std::isalnum(static_cast<unsigned char>(c)) != 0
                 ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                 : ' ';
  for (const std::string_view pair : {"hi hat", "bass drum", "kick drum", "side stick", "rim shot"}) {
    for (std::size_t at = words.find(pair); at != std::string::npos; at = words.find(pair))
      words.erase(words.find(' ', at), 1);
  }
  std::optional<StemKind> found;
  for (const std::string& word : split(words, ' ')) {
    const auto kind = kinds.find(word);
    if (kind == kinds.end()) continue;
    if (found && (found->drum != kind->second.drum || found->hit != kind->second.hit)) return {};
    found = kind->second;
  }
  return found;
}

std::array<DrumSettings, drum_count> EventSettings::defaults() {
  using enum Detection;
  // Toms of other pitches have little in one of the two bands of their gate; hi-hats ring on, and grow less.
  return {{{.onsets = {.detection = flux, .gap_ms = 50, .merge_ms = 100, .prominence_db = 12}},
           {.onsets = {.detection = flux, .gap_ms = 60, .merge_ms = 100, .prominence_db = 14}},
           {.onsets = {.detection = energy, .gap_ms = 90, .merge_ms = 150, .prominence_db = 13}, .gate = 0.005},
           {.onsets = {.detection = flux,
                       .gap_ms = 60,
                       .merge_ms = 100,
                       .threshold = 0.03,
                       .prominence_db = 16,
                       .sharpness = 0.2}},
           {.onsets = {.detection = energy, .gap_ms = 100, .merge_ms = 150, .prominence_db = 15, .sharpness = 0.2},
            .sustain_ms = 500}}};
}

std::array<Index, hit_count> EventSettings::default_notes() {
  std::array<Index, hit_count> notes{};
  for (std::size_t i = 0; i < hit_count; ++i) notes[i] = hits[i].note;
  return notes;
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place), above = std::min(values.size() - 1, below + 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double fundamental_hz(View<const float, 1> samples, Index rate, double lowest, double highest) {
  const auto longest = static_cast<Index>(static_cast<double>(rate) / lowest),
             shortest = static_cast<Index>(static_cast<double>(rate) / highest);
  if (samples.extent[0] < 2 * longest) return 0;
  const Index count = samples.extent[0] - longest - 1;
  const auto correlation = [&](Index shift) {
    double product = 0, here = 1e-20, there = 1e-20;
    for (Index i = 0; i < count; ++i) {
      const auto a = static_cast<double>(samples(i)), b = static_cast<double>(samples(i + shift));
      product += a * b, here += a * a, there += b * b;
    }
    return product / std::sqrt(here * there);
  };
  std::vector<double> found;
  for (Index shift = shortest - 1; shift <= longest + 1; ++shift) found.push_back(correlation(shift));
  // The first maximum that is nearly the largest: those of two and three periods are as large.
  const double nearly = 0.9 * *std::max_element(found.begin() + 1, found.end() - 1);
  for (std::size_t i = 1; i + 1 < found.size(); ++i) {
    if (nearly <= 0 || found[i] < nearly || found[i] < found[i - 1] || found[i] <= found[i + 1]) continue;
    const double curvature = found[i - 1] - 2 * found[i] + found[i + 1];  // the vertex of a parabola through three
    const double vertex = curvature < 0 ? 0.5 * (found[i - 1] - found[i + 1]) / curvature : 0;
    return static_cast<double>(rate) / (static_cast<double>(shortest - 1) + static_cast<double>(i) + vertex);
  }
  return 0;
}

std::vector<Index> classes_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(values.size());
  Split best{{values.size()}, 0};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k <= std::min<std::size_t>(3, values.size()); ++k) {
    const Split split = k_means(sorted, k);
    // Equal variances; none is smaller than that of 3 Hz, about how well the pitch of a tom that falls is known.
    const double variance = std::max(9.0, split.squares / count);
    const double criterion = count * std::log(variance) + 2 * static_cast<double>(k) * std::log(count);
    if (criterion < least - 1e-9) best = split, least = criterion;
  }
  std::vector<Index> classes;
  for (const double value : values) {
    Index c = 0;
    while (value > sorted[best.ends[static_cast<std::size_t>(c)] - 1]) ++c;
    classes.push_back(c);
  }
  return classes;
}

std::vector<DrumEvent> find_events(const StemKind& kind, View<const float, 2> samples, Index rate,
                                   const EventSettings& settings) {
  const DrumSettings& own = settings[kind.drum];
  std::vector<Candidate> candidates = candidates_of(kind.drum, samples, rate, own);
  drop_bleed(candidates, own.gate);
  const Envelope envelope(samples, rate);
  const std::vector<Hit> sorted_toms = kind.drum == Drum::toms ? toms(candidates, samples, rate) : std::vector<Hit>();
  const double long_s = own.sustain_ms * 1e-3;
  std::vector<DrumEvent> events;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& each = candidates[i];
    const Index end = i + 1 < candidates.size() ? candidates[i + 1].sample : samples.extent[1];
    const double sides = each.peaks.left + each.peaks.right;
    DrumEvent event{.time_s = static_cast<double>(each.sample) / static_cast<double>(rate),
                    .level_db = decibels(each.peaks.largest),
                    .pan = sides > 0 ? (each.peaks.right - each.peaks.left) / sides : 0,
                    .strength = each.strength,
                    .sustain_s = envelope.sustain_s(each.sample, end, rate)};
    switch (kind.drum) {
      case Drum::kick:
        event.hit = Hit::kick;
        break;
      case Drum::snare:
        event.hit = Hit::snare;
        break;
      case Drum::toms:
        event.hit = sorted_toms[i];
        break;
      case Drum::hihat: {
        // What sounds on from a hit before, within 20 dB of this one, is not its own sustain.
        const double before = peaks_in(samples, each.sample - rate / 100, each.sample).largest;
        const bool masked = before > 0.5 * each.peaks.largest;
        event.hit = event.sustain_s >= long_s && !masked ? Hit::hihat_open : Hit::hihat_closed;
        break;
      }
      case Drum::cymbals:
        event.hit = event.sustain_s >= long_s && each.centroid_hz >= settings.crash_hz ? Hit::crash : Hit::ride;
        break;
    }
    if (kind.hit) event.hit = *kind.hit;
    events.push_back(event);
  }
  set_velocities(events, settings);
  if (!settings.pedal) return events;
  std::vector<DrumEvent> with_pedals;
  for (std::size_t i = 0; i < events.size(); ++i) {
    with_pedals.push_back(events[i]);
    DrumEvent pedal = events[i];
    pedal.hit = Hit::hihat_pedal, pedal.time_s += pedal.sustain_s + 0.005, pedal.velocity = settings.softest;
    const bool before_next = i + 1 == events.size() || pedal.time_s + own.onsets.gap_ms * 1e-3 < events[i + 1].time_s;
    if (events[i].hit == Hit::hihat_open && before_next) with_pedals.push_back(pedal);
  }
  return with_pedals;
}

}  // namespace sonde::separate
