// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/spectra/cepstrum_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "sonde/engine/base/sampling.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/math/fft.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/bragg/bragg_calibration.h"
#include "sonde/instruments/stem/bragg/peaks.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/spectra/power_peak.h"

namespace sonde::stem {
namespace {

constexpr Index most_sampled = 512;    // patterns that peaks are sought in
constexpr double search_share = 0.35;  // of the shortest vector: strain and turns of some tens of degrees
constexpr double near_middle = 4;      // points of the transform: within the middle of a Hann window
constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

const char* text_of(SpectrumKind kind) {
  switch (kind) {
    case SpectrumKind::cepstrum:
      return "cepstrum";
    case SpectrumKind::power:
      return "power";
    case SpectrumKind::autocorrelation:
      return "autocorrelation";
  }
  return "";
}

double points(double x, double y, Index rows, Index cols) {
  return std::hypot(x * static_cast<double>(cols), y * static_cast<double>(rows));
}

/// The shortest vector of the lattice in points of the transform.
double shortest_of(const SpectralPair& pair, Index rows, Index cols) {
  return std::min({points(pair.a1_x, pair.a1_y, rows, cols), points(pair.a2_x, pair.a2_y, rows, cols),
                   points(pair.a1_x + pair.a2_x, pair.a1_y + pair.a2_y, rows, cols),
                   points(pair.a1_x - pair.a2_x, pair.a1_y - pair.a2_y, rows, cols)});
}

PeakSearch search_near(const SpectralPair& pair, Index rows, Index cols) {
  return {.near = pair, .radius = std::max(1.5, search_share * shortest_of(pair, rows, cols))};
}

/// sum over k, l of P(k, l) exp(2 pi i (k r / rows + l c / cols)) / (rows cols), the middle at (rows / 2, cols / 2).
std::vector<double> autocorrelation(const std::vector<double>& half_power, Index rows, Index cols) {
  std::vector<std::complex<double>> whole;
  whole.reserve(static_cast<std::size_t>(rows * cols));
  for (Index k = 0; k < rows; ++k)
    for (Index l = 0; l < cols; ++l) whole.emplace_back(at_point(half_power.data(), rows, cols, k, l));
  Fft2d<double>::prepare({.rows = rows, .cols = cols}).transform(whole.data(), FftDirection::inverse);
  std::vector<double> made(whole.size());
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      made[static_cast<std::size_t>(row * cols + col)] =
          whole[static_cast<std::size_t>(wrap(row - rows / 2, rows) * cols + wrap(col - cols / 2, cols))].real() /
          static_cast<double>(rows * cols);
  return made;
}

double median_length(const std::vector<MeasuredPair>& pairs, double SpectralPair::*x, double SpectralPair::*y) {
  std::vector<double> lengths;
  for (const MeasuredPair& one : pairs)
    if (one.found) lengths.push_back(std::hypot(one.pair.*x, one.pair.*y));
  if (lengths.empty()) return nowhere;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

/// Median standard error of a component, cycles per pixel.
double median_sigma(const std::vector<MeasuredPair>& pairs) {
  std::vector<double> sigmas;
  for (const MeasuredPair& one : pairs)
    if (one.found && one.covariance[0][0] >= 0)
      sigmas.push_back(
          std::sqrt((one.covariance[0][0] + one.covariance[1][1] + one.covariance[2][2] + one.covariance[3][3]) / 4));
  if (sigmas.empty()) return nowhere;
  const auto middle = sigmas.begin() + static_cast<std::ptrdiff_t>(sigmas.size() / 2);
  std::nth_element(sigmas.begin(), middle, sigmas.end());
  return *middle;
}

void doubt_cepstrum(CepstrumResult& result) {
  if (!result.search) {
    result.warnings.emplace_back(
        "no lattice: the mean cepstrum has no two peaks in different directions, so no vectors are measured; if the "
        "patterns have a lattice of disks, give it as " +
        setting("basis"));
    return;
  }
  const double shortest = shortest_of(result.search->near, result.rows, result.cols);
  if (shortest < near_middle)
    result.warnings.push_back(
        fmt::format("small spacing: the nearest peak is {:.1f} points from the middle of the cepstrum, whose own peak "
                    "pulls it; patterns with more disks on the detector (a shorter camera length) keep them apart",
                    shortest));
  const Index patterns = std::count(result.valid.begin(), result.valid.end(), std::uint8_t{1});
  if (10 * result.found() < 9 * patterns)
    result.warnings.push_back(fmt::format("{} of {} patterns have no peak near both vectors; they are NaN",
                                          patterns - result.found(), patterns));
}

}  // namespace

std::optional<PeakSearch> find_pair(const std::vector<double>& mean, Index rows, Index cols) {
  const std::vector<double> whole = centred(mean, rows, cols);
  std::vector<float> map(whole.begin(), whole.end());
  constexpr Index own = 2;  // of the middle: what a Hann window makes of a flat pattern
  for (Index row = -own; row <= own; ++row)
    for (Index col = -own; col <= own; ++col)
      map[static_cast<std::size_t>((rows / 2 + row) * cols + cols / 2 + col)] = 0;
  DiskSettings filters;
  filters.edge_boundary = 1;
  filters.min_peak_spacing = 3;
  filters.min_relative_intensity = 0.05;  // side maxima of a Hann window are a thousandth
  PeakRooms rooms;
  FilterCounts counts;
  find_peaks(map.data(), rows, cols, filters, rooms, counts);
  // In a metric of the detector, not of the transform, whose points are as many as there are pixels.
  const auto longer = static_cast<double>(std::max(rows, cols));
  const double per_row = longer / static_cast<double>(rows), per_col = longer / static_cast<double>(cols);
  std::vector<LatticePeak> peaks;
  for (const Peak& peak : rooms.kept)
    peaks.push_back({.x = static_cast<double>(peak.col - cols / 2) * per_col,
                     .y = static_cast<double>(peak.row - rows / 2) * per_row,
                     .intensity = std::sqrt(static_cast<double>(peak.value))});
  const double widest = std::max(per_row, per_col);
  const std::optional<FoundBasis> found = find_basis(peaks, {.blur = 1, .spacing = 3, .tolerance = 1.5 * widest});
  if (!found) return std::nullopt;
  const Basis& basis = found->basis;
  PeakSearch search =
      search_near({basis.g1_x / longer, basis.g1_y / longer, basis.g2_x / longer, basis.g2_y / longer}, rows, cols);
  search.maxima = found->maxima;
  return search;
}

PeakSearch pair_of(const Basis& pattern_lattice, Index rows, Index cols) {
  const double area = pattern_lattice.area();
  PeakSearch search = search_near({pattern_lattice.g2_y / area, -pattern_lattice.g2_x / area,
                                   -pattern_lattice.g1_y / area, pattern_lattice.g1_x / area},
                                  rows, cols);
  search.given = true;
  return search;
}

std::optional<PeakSearch> find_peaks_of(const Dataset& dataset, const CepstrumOptions& options) {
  const Shape shape = dataset.shape();
  const PatternPower plan = PatternPower::prepare(shape[2], shape[3], PatternScale::logarithm, options.window);
  std::vector<Index> some;
  const Index sample = std::min(most_sampled, dataset.positions());
  for (Index i = 0; i < sample; ++i) some.push_back(spread_sample(i, sample, dataset.positions()));
  PatternSpectra first(plan);
  Operation* const operation = &first;
  visit_frames(dataset, "peaks of the mean cepstrum", std::span(&operation, 1), std::move(some));
  return find_pair(first.mean, shape[2], shape[3]);
}

CepstrumResult make_cepstrum(const Dataset& dataset, const CepstrumOptions& options, Budget budget) {
  options.check();
  CepstrumResult result;
  const Shape shape = dataset.shape();
  result.kind = options.kind;
  result.window = options.window;
  result.scan_rows = shape[0];
  result.scan_cols = shape[1];
  result.rows = shape[2];
  result.cols = shape[3];
  result.counts = dataset.moments().pattern_sum.dtype() == DType::u64;
  result.pixel_inv_a =
      without(calibration_of(dataset), parse_steps(options.skip_calibration, setting("skip_calibration"))).pixel_inv_a;
  const bool cepstrum = options.kind == SpectrumKind::cepstrum;
  const PatternPower plan = PatternPower::prepare(
      result.rows, result.cols, cepstrum ? PatternScale::logarithm : PatternScale::counts, options.window);
  const Reservation room =
      budget.reserve(cepstrum ? static_cast<std::size_t>(dataset.positions()) * sizeof(MeasuredPair) : std::size_t{0},
                     "vectors of every position");
  if (cepstrum) {
    if (const auto given = options.basis_asked()) {
      result.search = pair_of(*given, result.rows, result.cols);
    } else {
      result.search = find_peaks_of(dataset, options);
    }
  }
  PatternSpectra spectra =
      result.search ? PatternSpectra(plan, result.search->near, result.search->radius) : PatternSpectra(plan);
  Operation* const operation = &spectra;
  visit_frames(dataset, cepstrum ? "cepstra" : "spectra", std::span(&operation, 1));
  result.frames = spectra.frames;
  result.pairs = std::move(spectra.pairs);
  result.valid = std::move(spectra.valid);
  result.mean = options.kind == SpectrumKind::autocorrelation ? autocorrelation(spectra.mean, result.rows, result.cols)
                                                              : centred(spectra.mean, result.rows, result.cols);
  if (cepstrum) doubt_cepstrum(result);
  return result;
}

Index CepstrumResult::found() const {
  return std::count_if(pairs.begin(), pairs.end(), [](const MeasuredPair& one) { return one.found; });
}

bool CepstrumResult::failed() const { return kind == SpectrumKind::cepstrum && 10 * found() < frames; }

std::vector<std::string> CepstrumResult::lines() const {
  std::vector<std::string> lines = {
      fmt::format("spectrum  {} of {} patterns, window {}", text_of(kind), frames, name(window))};
  if (!search) return lines;
  const SpectralPair& near = search->near;
  const double to = per_cycle();
  lines.push_back(fmt::format("vectors   near ({:.4g}, {:.4g}) and ({:.4g}, {:.4g}) {} ({})", near.a1_x * to,
                              near.a1_y * to, near.a2_x * to, near.a2_y * to, unit(),
                              search->given ? std::string("given as lattice of the pattern")
                                            : fmt::format("lattice of {} maxima", search->maxima)));
  if (found() == 0) return lines;
  lines.push_back(fmt::format("positions {} of {} with both; lengths {:.5g} and {:.5g} {} (median)", found(), frames,
                              median_length(pairs, &SpectralPair::a1_x, &SpectralPair::a1_y) * to,
                              median_length(pairs, &SpectralPair::a2_x, &SpectralPair::a2_y) * to, unit()));
  if (counts)
    lines.push_back(
        fmt::format("errors    {:.2g} {} along each axis (median; by the counts)", median_sigma(pairs) * to, unit()));
  return lines;
}

Value CepstrumResult::to_value() const {
  Value value;
  value["kind"] = text_of(kind);
  value["window"] = std::string(name(window));
  value["patterns"] = frames;
  value["unit"] = unit();
  value["warnings"] = warnings;
  value["status"] = failed() ? "not converged" : "done";
  if (!search) return value;
  value["near"]["a1_x"] = search->near.a1_x * per_cycle();
  value["near"]["a1_y"] = search->near.a1_y * per_cycle();
  value["near"]["a2_x"] = search->near.a2_x * per_cycle();
  value["near"]["a2_y"] = search->near.a2_y * per_cycle();
  value["near"]["radius_points"] = search->radius;
  value["found"] = found();
  if (found() == 0) return value;
  value["length_1"] = median_length(pairs, &SpectralPair::a1_x, &SpectralPair::a1_y) * per_cycle();
  value["length_2"] = median_length(pairs, &SpectralPair::a2_x, &SpectralPair::a2_y) * per_cycle();
  if (counts) value["sigma"] = median_sigma(pairs) * per_cycle();
  return value;
}

Contents CepstrumResult::contents(const std::string& command) const {
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.cepstrum/1"));
  const std::string calibration = to_json(to_value(), -1), group = text_of(kind);
  const auto describe = [&](const std::string& name, std::vector<std::string> axes, Array values, const char* units) {
    Contents::Variable& variable = contents.add(name, std::move(axes), std::move(values)).unit(units);
    variable.attributes.emplace_back("frame", std::string("detector"));
    variable.attributes.emplace_back("calibration", calibration);
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command);
  };
  const bool correlation = kind == SpectrumKind::autocorrelation;
  describe(group + "/mean", {"y", "x"}, Array::from(mean, {rows, cols}),
           kind == SpectrumKind::cepstrum ? "" : "counts^2");
  for (const auto& [axis, extent] : {std::pair("y", rows), std::pair("x", cols)}) {
    std::vector<double> places;
    for (Index i = 0; i < extent; ++i)
      places.push_back(static_cast<double>(i - extent / 2) *
                       (correlation ? 1 : per_cycle() / static_cast<double>(extent)));
    contents.add(axis, {axis}, Array::from(places, {extent})).unit(correlation ? "px" : unit());
  }
  if (!search) return contents;
  const Shape scan{scan_rows, scan_cols};
  const auto add = [&](const std::string& name, const std::function<double(const MeasuredPair&)>& value) {
    std::vector<float> map(pairs.size(), std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < map.size(); ++i)
      if (pairs[i].found) map[i] = static_cast<float>(value(pairs[i]) * per_cycle());
    describe("cepstrum/" + name, {"scan row", "scan column"}, Array::from(map, scan), unit());
  };
  const std::pair<const char*, double SpectralPair::*> parts[] = {{"a1_x", &SpectralPair::a1_x},
                                                                  {"a1_y", &SpectralPair::a1_y},
                                                                  {"a2_x", &SpectralPair::a2_x},
                                                                  {"a2_y", &SpectralPair::a2_y}};
  for (const auto& [name, part] : parts) add(name, [part](const MeasuredPair& one) { return one.pair.*part; });
  if (counts)
    for (std::size_t i = 0; i < 4; ++i)
      add(fmt::format("sigma_{}", parts[i].first),
          [i](const MeasuredPair& one) { return std::sqrt(one.covariance[i][i]); });
  std::vector<std::uint8_t> both;
  for (const MeasuredPair& one : pairs) both.push_back(one.found ? 1 : 0);
  describe("cepstrum/valid", {"scan row", "scan column"}, Array::from(both, scan), "");
  return contents;
}

Array CepstrumResult::picture() const {
  std::vector<Panel> panels;
  ImageStyle style{.colours = ColourMap::magma, .stretch = Stretch::log};
  if (search)
    for (const auto& [x, y] :
         {std::pair(search->near.a1_x, search->near.a1_y), std::pair(search->near.a2_x, search->near.a2_y)})
      style.overlays.emplace_back(Circle{static_cast<double>(rows / 2) + y * static_cast<double>(rows),
                                         static_cast<double>(cols / 2) + x * static_cast<double>(cols),
                                         search->radius});
  panels.push_back({fmt::format("mean {}", text_of(kind)), render_image(Array::from(mean, {rows, cols}), style)});
  if (search) {
    ImageStyle map{.colours = ColourMap::viridis, .colour_bar = true, .value_unit = unit()};
    for (const auto& [label, x, y] : {std::tuple("length of a1", &SpectralPair::a1_x, &SpectralPair::a1_y),
                                      std::tuple("length of a2", &SpectralPair::a2_x, &SpectralPair::a2_y)}) {
      std::vector<double> lengths;
      for (const MeasuredPair& one : pairs)
        lengths.push_back(one.found ? std::hypot(one.pair.*x, one.pair.*y) * per_cycle() : nowhere);
      panels.push_back({label, render_image(Array::from(lengths, {scan_rows, scan_cols}), map)});
    }
  }
  return montage(panels, 3);
}

}  // namespace sonde::stem
