// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/math/random.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/count/event_file.h"
#include "sonde/instruments/stem/load/visit_frames.h"

namespace sonde::stem {
namespace {

// More values do not make thresholds better: the noise of 16 million is known to 3e-4 of its sigma.
constexpr Index most_sampled_values = Index{1} << 24;
constexpr double dense = 0.1, many_false = 0.05, many_xrays = 0.01;

/// Some frames that exist, chosen at random, ascending.
std::vector<Index> sampled_positions(const Dataset& dataset, const CountOptions& options, Index pixels) {
  const Index most = std::clamp<Index>(most_sampled_values / pixels, 1, options.samples);
  std::vector<Index> chosen;
  for (const Index position : Random(static_cast<std::uint64_t>(options.seed)).permutation(dataset.positions())) {
    if (static_cast<Index>(chosen.size()) == most) break;
    if (dataset.valid()[static_cast<std::size_t>(position)] != 0) chosen.push_back(position);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

FrameSample sample_of(const Dataset& dataset, const FrameCorrection& correction, const CountOptions& options) {
  const Shape shape = dataset.shape();
  FrameSample sample{.rows = shape[2], .cols = shape[3], .values = {}, .good = dataset.good()};
  const bool counts = !is_float(dataset.acquisition().stored);
  sample.whole = counts && correction.none();
  if (counts) {
    double gain = 0;
    for (const float each : correction.gain) gain += static_cast<double>(each);
    sample.step = correction.gain.empty() ? 1 : gain / static_cast<double>(correction.gain.size());
  }
  const CountRule rule(sample.rows, sample.cols, correction, {});
  CorrectedValues values(rule);
  Operation* const operation = &values;
  visit_frames(dataset, "sampling", std::span(&operation, 1), sampled_positions(dataset, options, sample.pixels()));
  sample.values = std::move(values.values);
  return sample;
}

/// Values of a Gaussian above z sigma.
double above(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double false_share(const CountThresholds& thresholds, bool whole) {
  if (!thresholds.noise) return std::numeric_limits<double>::quiet_NaN();
  const NoisePeak& noise = *thresholds.noise;
  if (!whole) return above((thresholds.limits.background - noise.mean) / noise.sigma);
  // Whole numbers: noise was rounded, and became the next one above the threshold from half a count below it.
  const double sigma = std::sqrt(std::max(noise.sigma * noise.sigma - 1.0 / 12, 1e-6));
  return above((std::floor(thresholds.limits.background) + 0.5 - noise.mean) / sigma);
}

void warn(CountResult& result) {
  result.warnings = result.thresholds.warnings;
  if (result.merged > dense)
    result.warnings.push_back(
        fmt::format("about {:.0f} % of the electrons are lost, because another one is beside them: too many in a frame "
                    "for counting; give them less dose or faster frames, or use the sums of the frames",
                    100 * result.merged));
  if (result.false_in_a_frame > many_false * result.electrons_in_a_frame())
    result.warnings.push_back(
        fmt::format("noise by itself makes about {:.2g} of {:.4g} electrons in a frame; give a larger {}",
                    result.false_in_a_frame, result.electrons_in_a_frame(), setting("background_sigma")));
  const double xrays = static_cast<double>(result.xrays) / std::max(1.0, static_cast<double>(result.list->events()));
  if (xrays > many_xrays)
    result.warnings.push_back(
        fmt::format("{:.1f} % as many maxima as electrons are above the x-ray threshold of {:.4g}: "
                    "it cuts electrons, or pixels are hot; give a larger {}",
                    100 * xrays, result.thresholds.limits.xray, setting("xray")));
}

}  // namespace

double merged_share(const Array& pattern, Index frames) {
  const auto counts = pattern.view<std::uint64_t, 2>();
  const Index rows = counts.extent[0], cols = counts.extent[1];
  double counted = 0, fallen = 0;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      double around = 0, pixels = 0;
      for (Index r = std::max<Index>(row - 1, 0); r <= std::min(row + 1, rows - 1); ++r)
        for (Index c = std::max<Index>(col - 1, 0); c <= std::min(col + 1, cols - 1); ++c) {
          around += static_cast<double>(counts(r, c));
          ++pixels;
        }
      const double rate = around / pixels / static_cast<double>(frames);
      counted += rate;
      if (9 * rate >= 1) return 1;
      // Counts scatter by their root, and their squares are too large by themselves.
      fallen += (-std::log(1 - 9 * rate) - 4.5 * rate / static_cast<double>(frames)) / 9;
    }
  return counted > 0 ? std::max(0.0, 1 - counted / fallen) : 0;
}

std::size_t usual_list_bytes(Index positions, Index pixels) {
  const auto events = static_cast<std::size_t>(positions) * static_cast<std::size_t>(pixels) / 100;
  // Lists of all workers are put into order once.
  return 2 * events * sizeof(std::uint32_t) +
         static_cast<std::size_t>(positions) * (3 * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t));
}

CountResult make_count(const Dataset& dataset, FrameCorrection correction, const CountOptions& options, Budget budget) {
  const Exactness& exactness = dataset.exactness();
  if (is_float(dataset.acquisition().stored) && exactness.sentinels > 0)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} values in good pixels are not finite; expected counts",
                                                  dataset.acquisition().path, exactness.sentinels))
        .hint("put those pixels into a mask, " + setting("mask_file"));
  const Shape shape = dataset.shape();
  const Index pixels = shape[2] * shape[3];
  CountResult result;
  result.good_pixels = std::count(dataset.good().begin(), dataset.good().end(), std::uint8_t{1});
  result.frames = std::count(dataset.valid().begin(), dataset.valid().end(), std::uint8_t{1});
  correction.good = dataset.good();
  const bool whole = !is_float(dataset.acquisition().stored) && correction.none();
  {
    const std::size_t values =
        static_cast<std::size_t>(std::min(options.samples * pixels, most_sampled_values + pixels));
    const Reservation room = budget.reserve(4 * values * sizeof(float), "sampled frames",
                                            "give fewer " + setting("samples") + " or more " + setting("memory"));
    const FrameSample sample = sample_of(dataset, correction, options);
    result.sampled = sample.frames();
    result.thresholds = find_thresholds(sample, options.thresholds());
  }
  const double in_a_frame =
      static_cast<double>(result.thresholds.peaks) / std::max(1.0, static_cast<double>(result.sampled));
  const auto expected = static_cast<std::size_t>(1.2 * in_a_frame * static_cast<double>(dataset.positions()));
  const Reservation room = budget.reserve(
      usual_list_bytes(dataset.positions(), 0) + 2 * expected * sizeof(std::uint32_t), "lists of electrons");
  const CountRule rule(shape[2], shape[3], std::move(correction), result.thresholds.limits);
  CountElectrons electrons(rule);
  Operation* const operation = &electrons;
  visit_frames(dataset, "counting", std::span(&operation, 1));
  Value parameters;
  parameters["background"] = result.thresholds.limits.background;
  parameters["background_because"] = result.thresholds.background_because;
  if (std::isfinite(result.thresholds.limits.xray)) parameters["xray"] = result.thresholds.limits.xray;
  parameters["xray_because"] = result.thresholds.xray_because;
  parameters["dark"] = !options.dark.empty();
  parameters["gain"] = !options.gain.empty();
  electrons.list.parameters = to_json(parameters, -1);
  result.list = std::make_shared<const EventList>(std::move(electrons.list));
  result.pattern = std::move(electrons.pattern);
  result.xrays = electrons.xrays;
  result.merged = merged_share(result.pattern, std::max<Index>(result.frames, 1));
  result.false_in_a_frame = static_cast<double>(result.good_pixels) * false_share(result.thresholds, whole);
  warn(result);
  return result;
}

double CountResult::electrons_in_a_frame() const {
  return static_cast<double>(list->events()) / static_cast<double>(std::max<Index>(frames, 1));
}

double CountResult::occupancy() const {
  return electrons_in_a_frame() / static_cast<double>(std::max<Index>(good_pixels, 1));
}

Value CountResult::to_value() const {
  Value value;
  value["background"] = thresholds.limits.background;
  if (std::isfinite(thresholds.limits.xray)) value["xray"] = thresholds.limits.xray;
  if (const auto& noise = thresholds.noise) {
    value["noise"]["mean"] = noise->mean;
    value["noise"]["mean_error"] = noise->mean_error;
    value["noise"]["sigma"] = noise->sigma;
    value["noise"]["sigma_error"] = noise->sigma_error;
    value["noise"]["misfit"] = noise->misfit;
  }
  value["sampled_frames"] = sampled;
  value["sampled_electrons"] = thresholds.peaks;
  value["median_of_electrons"] = thresholds.peak_median;
  value["frames"] = frames;
  value["electrons"] = list->events();
  value["electrons_in_a_frame"] = electrons_in_a_frame();
  value["occupancy"] = occupancy();
  value["merged"] = merged;
  if (std::isfinite(false_in_a_frame)) value["false_in_a_frame"] = false_in_a_frame;
  value["xrays"] = static_cast<Index>(xrays);
  value["status"] = list->events() > 0 ? "counted" : "no electrons";
  value["warnings"] = warnings;
  return value;
}

std::vector<std::string> CountResult::lines() const {
  std::vector<std::string> lines = {
      fmt::format("above     {:.5g} counts ({})", thresholds.limits.background, thresholds.background_because),
      fmt::format("below     {} ({})",
                  std::isfinite(thresholds.limits.xray) ? fmt::format("{:.5g} counts", thresholds.limits.xray)
                                                        : std::string("no limit"),
                  thresholds.xray_because),
      fmt::format("electrons {} in {} frames, {:.4g} each; {:.3g} % of the pixels of a frame", list->events(), frames,
                  electrons_in_a_frame(), 100 * occupancy())};
  std::string trust = fmt::format("trust     about {:.2g} % more were lost beside another one", 100 * merged);
  if (std::isfinite(false_in_a_frame)) trust += fmt::format("; noise makes about {:.2g} in a frame", false_in_a_frame);
  lines.push_back(trust);
  lines.push_back(fmt::format("x-rays    {} maxima are too large for an electron", xrays));
  return lines;
}

Contents CountResult::contents(const std::string& command) const {
  Contents contents = event_contents(list, command);
  const auto add = [&](const std::string& name, std::vector<std::string> axes, Array values, const char* frame) {
    Contents::Variable& variable = contents.add(name, std::move(axes), std::move(values)).unit("electrons");
    variable.attributes.emplace_back("frame", std::string(frame));
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command);
  };
  add("events/pattern", {"row", "column"}, alias(pattern), "detector");
  std::vector<std::uint32_t> by_position;
  for (Index p = 0; p < list->positions(); ++p) by_position.push_back(static_cast<std::uint32_t>(list->of(p).size()));
  add("events/electrons", {"scan row", "scan column"}, Array::from(by_position, {list->scan_rows, list->scan_cols}),
      "scan");
  return contents;
}

Array CountResult::picture() const {
  std::vector<double> by_position;
  for (Index p = 0; p < list->positions(); ++p)
    by_position.push_back(list->frames[static_cast<std::size_t>(p)] == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                                         : static_cast<double>(list->of(p).size()));
  const Array scan = Array::from(by_position, {list->scan_rows, list->scan_cols});
  std::vector<Panel> panels;
  panels.push_back({"electrons in each pixel",
                    render_image(pattern, {.colours = ColourMap::magma, .stretch = Stretch::log, .colour_bar = true})});
  panels.push_back(
      {"electrons at each position", render_image(scan, {.colours = ColourMap::gray, .colour_bar = true})});
  return montage(panels, 2);
}

Chart CountResult::chart() const {
  const ValueHistogram& histogram = thresholds.histogram;
  Facet facet;
  facet.title = fmt::format("Values of {} sampled frames", sampled);
  facet.x = {.title = "value of a pixel", .unit = "counts"};
  facet.y = {.title = "pixels in a bin", .log = true};
  sonde::Series values{.name = "frames", .mark = Mark::lines}, noise{.name = "noise, fitted", .mark = Mark::lines};
  const auto& fitted = thresholds.noise;
  const double high =
      std::isfinite(thresholds.limits.xray) ? 1.1 * thresholds.limits.xray : histogram.middle(histogram.counts.size());
  const double low = fitted ? fitted->mean - 8 * fitted->sigma : histogram.first;
  facet.x.low = low;
  facet.x.high = high;
  // Finer than a picture shows, single counts would be all that is seen of the electrons.
  constexpr double most_points = 250;
  const auto together =
      static_cast<std::size_t>(std::max(1.0, std::ceil((high - low) / histogram.width / most_points)));
  for (std::size_t bin = 0; bin < histogram.counts.size(); bin += together) {
    const std::size_t end = std::min(bin + together, histogram.counts.size());
    double sum = 0;
    for (std::size_t i = bin; i < end; ++i) sum += static_cast<double>(histogram.counts[i]);
    const double at = 0.5 * (histogram.middle(bin) + histogram.middle(end - 1));
    if (at < low || at > high) continue;
    values.x.push_back(at);
    // A logarithm of zero has no place.
    values.y.push_back(sum > 0 ? sum / static_cast<double>(end - bin) : std::numeric_limits<double>::quiet_NaN());
    if (!fitted || std::abs(at - fitted->mean) > 6 * fitted->sigma) continue;
    const double z = (at - fitted->mean) / fitted->sigma;
    const double expected = fitted->amplitude * std::exp(-0.5 * z * z);
    if (expected < 0.5) continue;
    noise.x.push_back(at);
    noise.y.push_back(expected);
  }
  facet.series.push_back(std::move(values));
  if (!noise.x.empty()) facet.series.push_back(std::move(noise));
  facet.references.push_back({.value = thresholds.limits.background, .label = "background", .upright = true});
  if (std::isfinite(thresholds.limits.xray))
    facet.references.push_back({.value = thresholds.limits.xray, .label = "x-ray", .upright = true});
  Chart chart;
  chart.facets.push_back(std::move(facet));
  return chart;
}

}  // namespace sonde::stem
