// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/results/spectrogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/math/window.h"
#include "sonde/instruments/separate/audio/audio_reader.h"

namespace sonde::separate {
namespace {

constexpr Index window = BandPowers::window, step = 1024;
constexpr double nothing_db = -200;

/// Powers of bands, summed over the windows that begin in a column.
class Bands {
 public:
  Bands(const SpectrogramStyle& style, Index rate, Index windows)
      : columns_(style.columns),
        windows_(windows),
        band_powers_(style, rate),
        powers_(static_cast<std::size_t>(style.bands * style.columns)),
        counts_(static_cast<std::size_t>(style.columns)) {}

  /// The window `at` of one channel.
  void add(Index at, const float* samples) {
    const Index column = std::min(columns_ - 1, at * columns_ / windows_);
    ++counts_[static_cast<std::size_t>(column)];
    band_powers_.add(samples, powers_.data() + column, columns_);
  }

  [[nodiscard]] std::vector<double> levels_db() const {
    std::vector<double> levels(powers_.size(), nothing_db);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      // A column of a short file may begin no window: it shows the one before.
      std::size_t column = i % counts_.size();
      while (column > 0 && counts_[column] == 0) --column;
      const double power = powers_[i - i % counts_.size() + column];
      if (power > 0) levels[i] = std::max(nothing_db, 10 * std::log10(power / static_cast<double>(counts_[column])));
    }
    return levels;
  }

 private:
  Index columns_, windows_;
  BandPowers band_powers_;
  std::vector<double> powers_;
  std::vector<Index> counts_;
};

/// "100", "1 k" and so on at their places.
std::vector<Tick> frequency_ticks(const SpectrogramStyle& style) {
  std::vector<Tick> ticks;
  for (const double hz : {50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0, 20000.0})
    if (hz >= style.lowest_hz && hz <= style.highest_hz)
      ticks.push_back(
          {.at = std::log2(hz), .label = hz < 1000 ? fmt::format("{}", hz) : fmt::format("{}k", hz / 1000)});
  return ticks;
}

std::vector<double> centres(double low, double high, Index count) {
  std::vector<double> places;
  for (Index i = 0; i < count; ++i)
    places.push_back(low + (high - low) * (static_cast<double>(i) + 0.5) / static_cast<double>(count));
  return places;
}

}  // namespace

BandPowers::BandPowers(const SpectrogramStyle& style, Index rate)
    : bands_(style.bands),
      fft_(RealFft1d<double>::prepare({.length = window})),
      weights_(hann_window(window)),
      weighted_(window),
      spectrum_(static_cast<std::size_t>(fft_.frequencies())) {
  // The edges of bands, in frequencies of the transform; a band holds one at least.
  for (Index b = 0; b <= bands_; ++b)
    edges_.push_back(
        style.lowest_hz *
        std::pow(style.highest_hz / style.lowest_hz, static_cast<double>(b) / static_cast<double>(bands_)) *
        static_cast<double>(window) / static_cast<double>(rate));
}

void BandPowers::add(const float* samples, double* powers, Index stride) {
  constexpr double sine = window / 4.0;  // what a full sine gives with this window
  for (std::size_t i = 0; i < weighted_.size(); ++i) weighted_[i] = weights_[i] * static_cast<double>(samples[i]);
  fft_.forward(stream_, {weighted_.data(), 1, window}, {spectrum_.data(), 1, fft_.frequencies()});
  for (Index b = 0; b < bands_; ++b) {
    const auto first = static_cast<Index>(edges_[static_cast<std::size_t>(b)]);
    const auto last = std::max(first + 1, static_cast<Index>(edges_[static_cast<std::size_t>(b + 1)]));
    double largest = 0;  // not the sum: wide bands would be louder for noise and tones alike
    for (Index k = first; k < std::min(last, fft_.frequencies()); ++k)
      largest = std::max(largest, std::norm(spectrum_[static_cast<std::size_t>(k)]));
    powers[b * stride] += largest / (sine * sine);
  }
}

Spectrogram spectrogram_of(const std::string& path, const SpectrogramStyle& style) {
  const AudioInfo info = AudioReader(path, {.channels = 1024}).info();
  AudioReader reader(path, {.rate = info.rate, .channels = info.channels, .non_finite = NonFinite::zero});
  SpectrogramStyle own = style;
  own.highest_hz = std::min(style.highest_hz, static_cast<double>(info.rate) / 2);
  // Windows stand around their place: half of one in front of the file, and silence behind it.
  const Index windows = (info.frames + step - 1) / step;
  Bands bands(own, info.rate, windows);
  const auto channels = static_cast<std::size_t>(info.channels);
  std::vector<std::vector<float>> held(channels, std::vector<float>(window / 2));
  for (Index at = 0; at < windows;) {
    check_interrupt();
    const std::vector<float> part = reader.read(64 * step);
    const std::size_t count = part.size() / channels;
    const Index before = at;
    for (std::size_t c = 0; c < channels; ++c) {
      std::vector<float>& here = held[c];
      here.insert(here.end(), part.begin() + static_cast<std::ptrdiff_t>(c * count),
                  part.begin() + static_cast<std::ptrdiff_t>((c + 1) * count));
      if (count == 0) here.resize(here.size() + static_cast<std::size_t>(window));
      std::size_t first = 0;
      for (at = before; at < windows && first + window <= here.size(); ++at, first += step)
        bands.add(at, here.data() + first);
      here.erase(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(first));
    }
  }
  return {.name = std::filesystem::path(path).stem().string(),
          .seconds = static_cast<double>(info.frames) / static_cast<double>(info.rate),
          .rate = static_cast<double>(info.rate),
          .levels_db = bands.levels_db()};
}

Chart spectrogram_chart(const std::string& title, const std::vector<Spectrogram>& spectrograms,
                        const SpectrogramStyle& style) {
  double loudest = nothing_db;
  for (const Spectrogram& each : spectrograms)
    loudest = std::max(loudest, *std::max_element(each.levels_db.begin(), each.levels_db.end()));
  Chart chart{.title = title};
  for (const Spectrogram& each : spectrograms) {
    SpectrogramStyle own = style;
    own.highest_hz = std::min(style.highest_hz, each.rate / 2);
    const double low = std::log2(own.lowest_hz), high = std::log2(own.highest_hz);
    Facet facet{.title = each.name};
    facet.x = {.title = "time", .unit = "s", .low = 0.0, .high = each.seconds};
    facet.y = {.title = "frequency", .unit = "Hz", .low = low, .high = high, .ticks = frequency_ticks(own)};
    HeightMap map{.x = centres(0, each.seconds, own.columns), .y = centres(low, high, own.bands), .title = "dB"};
    for (const double level : each.levels_db) map.z.push_back(std::max(level - loudest, -own.range_db));
    facet.map = std::move(map);
    chart.facets.push_back(std::move(facet));
  }
  return chart;
}

}  // namespace sonde::separate
