// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/optics/wavelength.h"
#include "sonde/instruments/ptycho/read/frames.h"

namespace sonde::ptycho {
namespace {

/// What the file says unless settings do.
template <class T>
std::optional<T> either(const std::optional<T>& set, const std::optional<T>& file) {
  return set ? set : file;
}

double require(const std::optional<double>& value, const char* key) {
  if (!value)
    throw Error(ErrorKind::bad_input, fmt::format("the sampling is not known: {} is missing", key))
        .hint("give it in [geometry], or units = \"pixel\" to work without energy and angles");
  return *value;
}

/// The sampling of the detector as stored: detector pixels of the file, object pixels of its whole width.
Sampling sampling_of(const Source& source, const GeometrySettings& set) {
  const Index rows = source.shape[1], cols = source.shape[2];
  if (set.units == Units::pixel) return pixel_sampling(rows, cols);
  const ProbeType type = source.probe_type && !set.energy_kev ? *source.probe_type : set.probe_type;
  const double energy = require(either(set.energy_kev, source.energy_kev), "energy_keV");
  const std::optional<double> step_a = either(set.scan_step_a, source.step_a);
  std::optional<double> angle = either(set.detector_mrad_per_px, source.mrad_per_px);
  if (type == ProbeType::electron) {
    require_consistent({.n = cols,
                        .energy_kev = energy,
                        .mrad_per_px = angle,
                        .pixel_a = set.object_pixel_a,
                        .step_a = step_a,
                        .step_px = set.scan_step_px});
    if (!angle && !set.object_pixel_a && source.inv_a_per_px)
      angle = 1000 * *source.inv_a_per_px * electron_wavelength(energy);
    if (!angle && set.object_pixel_a)
      angle = 1000 * electron_wavelength(energy) / (static_cast<double>(cols) * *set.object_pixel_a);
    return electron_sampling(rows, cols, energy, require(angle, "detector_mrad_per_px"));
  }
  const Sampling sampling = photon_sampling(
      rows, cols, energy, require(either(set.detector_pixel_m, source.detector_pixel_m), "detector_pixel_m"),
      require(either(set.distance_m, source.distance_m), "distance_m"));
  SamplingClaims claims;
  claims.pixel_a = sampling.pixel_col();
  claims.step_a = step_a;
  claims.step_px = set.scan_step_px;
  require_consistent(claims);
  if (set.object_pixel_a && std::abs(*set.object_pixel_a / sampling.pixel_col() - 1) > 0.02)
    throw Error(ErrorKind::bad_input,
                fmt::format("the sampling is inconsistent: energy, detector pixel and distance mean an object pixel of "
                            "{:.4g} A, object_pixel_A = {:.4g}: {:.3g} times as much",
                            sampling.pixel_col(), *set.object_pixel_a, *set.object_pixel_a / sampling.pixel_col()));
  return sampling;
}

Extent window_of(const Source& source, const DataSettings& data) {
  Extent window{source.shape[1], source.shape[2]};
  if (!data.crop.empty()) {
    const Extent crop = parse_extent(data.crop, "data.crop");
    if (crop.rows > window.rows || crop.cols > window.cols)
      throw Error(ErrorKind::bad_input, fmt::format("data.crop keeps {} x {} pixels, the detector has {} x {}",
                                                    crop.rows, crop.cols, window.rows, window.cols));
    window = crop;
  }
  return {next_fast_size(window.rows), next_fast_size(window.cols)};
}

/// Positions of a list, turned like those of a raster: transposed, then rotated about their mean.
std::vector<Point> turned(std::vector<Point> points, bool transpose, double rotation) {
  if (transpose)
    for (Point& point : points) std::swap(point.row, point.col);
  if (rotation == 0) return points;
  Point mean;
  for (const Point& point : points) {
    mean.row += point.row / static_cast<double>(points.size());
    mean.col += point.col / static_cast<double>(points.size());
  }
  const double c = std::cos(rotation), s = std::sin(rotation);
  for (Point& point : points) {
    const double row = point.row - mean.row, col = point.col - mean.col;
    point = {mean.row + row * c - col * s, mean.col + col * c + row * s};
  }
  return points;
}

std::vector<Point> raster_of(const Source& source, const GeometrySettings& set, const Sampling& stored) {
  if (!source.scan_shape)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} frames without positions", source.file, source.shape[0]))
        .hint("name the positions with data.positions, or the shape of the raster with data.scan_shape");
  const std::optional<double> step_a = either(set.scan_step_a, source.step_a);
  double row = 0, col = 0;
  if (set.scan_step_px) {
    row = col = *set.scan_step_px;
  } else if (step_a && stored.calibrated()) {
    row = *step_a / stored.pixel_row();
    col = *step_a / stored.pixel_col();
  } else {
    throw Error(ErrorKind::bad_input, "the step of the raster is not known")
        .hint(stored.calibrated() ? "give geometry.scan_step_A" : "give geometry.scan_step_px");
  }
  return raster_positions({.rows = source.scan_shape->rows,
                           .cols = source.scan_shape->cols,
                           .step_row = row,
                           .step_col = col,
                           .transpose = set.transpose,
                           .rotation = set.scan_rotation_deg * std::numbers::pi / 180});
}

/// In object pixels of the stored detector, place of window index floor(n/2).
std::vector<Point> positions_of(const Source& source, const GeometrySettings& set, const PositionListSettings& list,
                                const Sampling& stored) {
  if (source.positions.empty()) return raster_of(source, set, stored);
  const LengthUnit by_default = set.units == Units::pixel ? LengthUnit::pixel : LengthUnit::angstrom;
  const LengthUnit unit = either(list.unit, source.unit).value_or(by_default);
  const Reference reference = either(list.reference, source.reference).value_or(Reference::window_centre);
  return turned(listed_positions(source.positions, unit, reference, stored), set.transpose,
                set.scan_rotation_deg * std::numbers::pi / 180);
}

std::vector<Index> frames_to_skip(const Source& source, const DataSettings& data) {
  std::vector<Index> skip = parse_frames(data.skip, "data.skip");
  std::sort(skip.begin(), skip.end());
  skip.erase(std::unique(skip.begin(), skip.end()), skip.end());
  if (!skip.empty() && skip.back() >= source.shape[0])
    throw Error(ErrorKind::bad_input, fmt::format("data.skip names frame {}, there are {} frames, counted from 0",
                                                  skip.back(), source.shape[0]));
  return skip;
}

}  // namespace

std::string listed_frames(const std::vector<Index>& frames) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < frames.size() && i < 8; ++i) words.push_back(std::to_string(frames[i]));
  if (frames.size() > 8) words.push_back(fmt::format("{} more", frames.size() - 8));
  return join_words(words);
}

Scan plan_scan(const Source& source, const DataSettings& data, const GeometrySettings& geometry,
               const PositionListSettings& positions) {
  Scan scan;
  scan.stored = {source.shape[1], source.shape[2]};
  scan.window = window_of(source, data);
  scan.zero_frequency = either(data.zero_frequency, source.zero_frequency).value_or(ZeroFrequency::centre);
  scan.skip = frames_to_skip(source, data);

  // A window of another size has the same detector pixels, and object pixels of another size.
  const Sampling stored = sampling_of(source, geometry);
  scan.sampling = stored;
  scan.sampling.rows = scan.window.rows;
  scan.sampling.cols = scan.window.cols;
  scan.positions = positions_of(source, geometry, positions, stored);
  for (Point& point : scan.positions) {
    point.row *= stored.pixel_row() / scan.sampling.pixel_row();
    point.col *= stored.pixel_col() / scan.sampling.pixel_col();
    if (positions.whole_pixels) point = {std::floor(point.row + 0.5), std::floor(point.col + 0.5)};
  }

  scan.good = source.good;
  const bool fits = scan.window.rows == scan.stored.rows && scan.window.cols == scan.stored.cols;
  if (!fits) {
    scan.good = fit_mask(source.good, scan.stored, scan.zero_frequency, scan.window);
    const bool padded = scan.window.rows > scan.stored.rows || scan.window.cols > scan.stored.cols;
    scan.notes.push_back(fmt::format("patterns of {} x {} pixels are {} to {} x {}{}", scan.stored.rows,
                                     scan.stored.cols, padded ? "padded" : "cropped", scan.window.rows,
                                     scan.window.cols, padded ? ", a size that transforms fast" : ""));
  }
  return scan;
}

LoadedCounts load_counts(const Source& source, Scan& scan, const DataSettings& data, AmplitudeStorage storage) {
  std::vector<std::string> warnings;
  Array patterns = as_counts(source.read_patterns());
  if (data.clip_negative)
    if (const Index clipped = clip_negative(patterns); clipped > 0)
      scan.notes.push_back(fmt::format("{} negative counts became zero", clipped));
  if (const Index saturated = saturated_pixels(patterns, source.good); saturated > 0)
    warnings.push_back(fmt::format("{}: {} measured pixels hold {}, the largest value of {}: they may be saturated",
                                   source.file, saturated, max_value(patterns.dtype()), name(patterns.dtype())));
  if (zero_frequency_doubtful(patterns, source.good, scan.zero_frequency)) {
    const bool centre = scan.zero_frequency == ZeroFrequency::centre;
    warnings.push_back(fmt::format("{}: most counts lie at the {} of the patterns, but zero_frequency is \"{}\"",
                                   source.file, centre ? "corners" : "centre", centre ? "center" : "corner"));
  }
  if (scan.window.rows != scan.stored.rows || scan.window.cols != scan.stored.cols)
    patterns = fit_detector(patterns, scan.zero_frequency, scan.window);
  LoadedCounts loaded{Measurement(patterns, scan.zero_frequency, scan.good, storage), {}, {}, std::move(warnings)};
  patterns.free();

  for (const Index frame : loaded.measurement.empty_frames())
    if (!std::binary_search(scan.skip.begin(), scan.skip.end(), frame)) loaded.empty.push_back(frame);
  if (!loaded.empty.empty()) {
    if (!data.skip_empty)
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} frames have no count: {}", source.file, loaded.empty.size(),
                                                    listed_frames(loaded.empty)))
          .hint("leave them out with --skip-empty");
    scan.skip.insert(scan.skip.end(), loaded.empty.begin(), loaded.empty.end());
    std::sort(scan.skip.begin(), scan.skip.end());
    scan.notes.push_back(
        fmt::format("{} frames without a count are left out: {}", loaded.empty.size(), listed_frames(loaded.empty)));
  }

  const Measurement& measurement = loaded.measurement;
  const Index pixels = measurement.pixels();
  loaded.mean = Array::zeros(Device::cpu(), Shape{measurement.rows(), measurement.cols()}, DType::f64);
  auto* mean = static_cast<double*>(loaded.mean.data());
  std::vector<double> room(static_cast<std::size_t>(pixels));
  const auto taking_part = static_cast<double>(measurement.count() - static_cast<Index>(scan.skip.size()));
  for (Index j = 0; j < measurement.count(); ++j) {
    if (std::binary_search(scan.skip.begin(), scan.skip.end(), j)) continue;
    const double* amplitude = measurement.amplitudes<double>(j, room.data());
    for (Index p = 0; p < pixels; ++p) mean[p] += amplitude[p] * amplitude[p] / taking_part;
  }
  return loaded;
}

}  // namespace sonde::ptycho
