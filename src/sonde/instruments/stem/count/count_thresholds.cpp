// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/math/random.h"

namespace sonde::stem {
namespace {

// Fewer do not say how their values vary.
constexpr Index fewest_peaks = 20;
// Bins of values that are not whole numbers: a Gaussian over one is as its middle to 2e-4.
constexpr double bins_per_sigma = 16;
// Noise of a detector is Gaussian to a few percent of the peak.
constexpr double most_misfit = 0.05;

std::vector<float> good_values(const FrameSample& sample) {
  if (sample.good.empty()) return sample.values;
  std::vector<float> good;
  good.reserve(sample.values.size());
  const auto pixels = static_cast<std::size_t>(sample.pixels());
  for (std::size_t i = 0; i < sample.values.size(); ++i)
    if (sample.good[i % pixels] != 0) good.push_back(sample.values[i]);
  return good;
}

/// The value that this share of all is not above. Orders the values anew.
double quantile(std::vector<float>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(at)]);
}

Error no_peak(const std::string& fact) {
  return Error(ErrorKind::bad_input, "no noise peak was found: " + fact)
      .hint("frames that are counted already need no counting; else give the threshold, " +
            setting("background", "COUNTS"));
}

/// Whole numbers have bins of their own, unless there would be too many.
ValueHistogram histogram_between(std::span<const float> values, double least, double most, double width, bool whole) {
  constexpr double most_bins = 65536;
  if (!whole) return ValueHistogram::of(values, least, most, std::max(width, (most - least) / most_bins));
  return ValueHistogram::of(values, std::floor(least) - 0.5, most,
                            std::max(1.0, std::ceil((most - least) / most_bins)));
}

struct NoiseValues {
  ValueHistogram histogram;
  double variance_added = 0;  // by dither and bins
};

/// The histogram that the fit sees. Whole numbers have bins of their own. Corrected ones lie on a grid that moves from
/// pixel to pixel: a step of it is spread evenly, which adds a twelfth of its square to the variance.
NoiseValues histogram_of(std::vector<float> values, const FrameSample& sample, const ThresholdSettings& settings) {
  if (!sample.whole && sample.step > 0) {
    Random random(settings.seed);
    for (float& value : values) value += static_cast<float>(sample.step * (random.uniform() - 0.5));
  }
  std::vector<float> ordered = values;
  const double median = quantile(ordered, 0.5), flank = median - quantile(ordered, 0.1587);
  if (!(flank > 0)) throw no_peak(fmt::format("a third of all values or more is {:g}", median));
  // Electrons are shown, too, but neither every x-ray nor every dead pixel.
  const double most = std::max(quantile(ordered, 0.9999), median + 20 * flank);
  const double least = std::max(quantile(ordered, 0), median - 20 * flank);
  const double width = flank / bins_per_sigma;
  NoiseValues made{.histogram = histogram_between(values, least, most, width, sample.whole)};
  if (!sample.whole) made.variance_added = (width * width + sample.step * sample.step) / 12;
  return made;
}

void find_background(const FrameSample& sample, const ThresholdSettings& settings, CountThresholds& found) {
  const NoiseValues noise = histogram_of(good_values(sample), sample, settings);
  found.histogram = noise.histogram;
  NoisePeak peak;
  try {
    peak = fit_noise_peak(noise.histogram);
  } catch (const Error&) {
    throw no_peak("no Gaussian fits the values around their median");
  }
  const double fitted = peak.sigma, variance = fitted * fitted - noise.variance_added;
  peak.sigma = std::sqrt(std::max(variance, 0.25 * fitted * fitted));
  peak.sigma_error *= fitted / peak.sigma;
  found.noise = peak;
  found.limits.background = peak.mean + settings.background_sigmas * peak.sigma;
  found.background_because = fmt::format("noise of {:.4g} +- {:.4g} in {} sampled frames, and {:g} sigma", peak.mean,
                                         peak.sigma, sample.frames(), settings.background_sigmas);
  if (peak.misfit > most_misfit)
    found.warnings.push_back(
        fmt::format("the noise is not Gaussian: the fit misses its peak by {:.0f} %; a dark image ({}), or thresholds "
                    "of your own ({}), are safer",
                    100 * peak.misfit, setting("dark"), setting("background", "COUNTS")));
  if (sample.whole && found.histogram.first == -0.5 && peak.mean - 2 * peak.sigma < 0)
    found.warnings.push_back(
        "values begin at 0, within two sigma of the noise peak: either noise below zero was cut off, or the frames are "
        "counted already and need no counting");
}

void find_xrays(const FrameSample& sample, const ThresholdSettings& settings, CountThresholds& found) {
  const CountRule rule(sample.rows, sample.cols, {.good = sample.good}, {.background = found.limits.background});
  CountRule::Scratch scratch(rule);
  std::vector<float> peaks;
  std::vector<std::uint32_t> events;
  for (Index frame = 0; frame < sample.frames(); ++frame) {
    const float* values = sample.values.data() + frame * sample.pixels();
    events.clear();
    (void)rule.count(values, std::numeric_limits<double>::infinity(), scratch, events);
    for (const std::uint32_t pixel : events) peaks.push_back(values[pixel]);
  }
  found.peaks = static_cast<Index>(peaks.size());
  if (!peaks.empty()) {
    found.peak_median = quantile(peaks, 0.5);
    found.peak_spread = quantile(peaks, 0.8413) - found.peak_median;
  }
  if (settings.xray) return;
  if (found.peaks < fewest_peaks || !(found.peak_spread > 0)) {
    found.xray_because =
        fmt::format("{} electrons in the sample do not say how deposits vary: none is too large", found.peaks);
    return;
  }
  found.limits.xray = found.peak_median + settings.xray_sigmas * found.peak_spread;
  found.xray_because = fmt::format("electrons of {:.4g} + {:.4g} in the sample, and {:g} times that spread",
                                   found.peak_median, found.peak_spread, settings.xray_sigmas);
}

}  // namespace

CountThresholds find_thresholds(const FrameSample& sample, const ThresholdSettings& settings) {
  CountThresholds found;
  if (settings.background) {
    found.limits.background = *settings.background;
    found.background_because = "given";
    std::vector<float> values = good_values(sample);
    if (!values.empty()) {
      const double least = quantile(values, 1e-4), most = std::max(quantile(values, 0.9999), least + 1e-3);
      found.histogram = histogram_between(values, least, most, (most - least) / 1000, sample.whole);
    }
  } else {
    find_background(sample, settings, found);
  }
  if (settings.xray) {
    found.limits.xray = *settings.xray;
    found.xray_because = "given";
  }
  find_xrays(sample, settings, found);
  if (found.limits.background >= found.limits.xray)
    throw Error(ErrorKind::bad_input,
                fmt::format("the background threshold ({:g}) is not below the x-ray threshold ({:g})",
                            found.limits.background, found.limits.xray))
        .hint("give a larger " + setting("xray") + " or a smaller " + setting("background"));
  return found;
}

}  // namespace sonde::stem
