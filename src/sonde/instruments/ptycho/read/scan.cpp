// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
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

/// Frames [first, first + count), from all of them where a source cannot give fewer.
Array read_run(const Source& source, Index first, Index count) {
  if (source.read_frames) return source.read_frames(first, count);
  Array all = source.read_patterns();
  if (count == source.shape[0]) return all;
  Array run(Device::cpu(), Shape{count, all.shape()[1], all.shape()[2]}, all.dtype());
  const std::size_t frame_bytes = run.allocated_bytes() / static_cast<std::size_t>(count);
  std::memcpy(run.data(), static_cast<const std::byte*>(all.data()) + static_cast<std::size_t>(first) * frame_bytes,
              run.allocated_bytes());
  return run;
}

/// (1, rows, columns) summed over `frames`, as their mean with the zero frequency at [0, 0]; pixels that were not
/// measured are 0.
Array mean_pattern(const Array& sum, const Scan& scan, Index frames) {
  const Index rows = scan.window.rows, cols = scan.window.cols;
  const bool centre = scan.zero_frequency == ZeroFrequency::centre;
  Array mean(Device::cpu(), Shape{rows, cols}, DType::f64);
  const auto from = sum.view<double, 3>();
  const auto to = mean.view<double, 2>();
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const Index row = centre ? (r + rows / 2) % rows : r, col = centre ? (c + cols / 2) % cols : c;
      const bool measured = scan.good.empty() || scan.good[static_cast<std::size_t>(row * cols + col)] != 0;
      to(r, c) = measured ? from(0, row, col) / static_cast<double>(frames) : 0;
    }
  return mean;
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

Index block_frames(const Source& source) {
  constexpr std::size_t block_bytes = std::size_t{32} << 20;  // some reads of the disk; little beside any measurement
  if (!source.read_frames) return source.shape[0];
  const std::size_t frame_bytes =
      static_cast<std::size_t>(source.shape[1] * source.shape[2]) * size_bytes(counted_as(source.dtype));
  const Index frames = static_cast<Index>(block_bytes / frame_bytes);
  return std::clamp<Index>(std::max(frames - frames % source.together, source.together), 1, source.shape[0]);
}

LoadedCounts load_counts(const Source& source, Scan& scan, const DataSettings& data, MeasurementOptions how,
                         std::span<const Index> frames) {
  const Index count = frames.empty() ? source.shape[0] : static_cast<Index>(frames.size());
  const auto number = [&](Index own) { return frames.empty() ? own : frames[static_cast<std::size_t>(own)]; };
  how.zero = scan.zero_frequency;
  how.mask = scan.good;
  LoadedCounts loaded{
      Measurement(count, scan.window.rows, scan.window.cols, counted_as(source.dtype), how), {}, {}, {}};
  const bool refitted = scan.window.rows != scan.stored.rows || scan.window.cols != scan.stored.cols;
  Array sum = Array::zeros(Device::cpu(), Shape{1, scan.stored.rows, scan.stored.cols}, DType::f64);
  const std::span<double> all(static_cast<double*>(sum.data()), static_cast<std::size_t>(sum.count()));
  Index clipped = 0, saturated = 0;
  const Index most = block_frames(source);
  for (Index own = 0, run = 0; own < count; own += run) {
    check_interrupt();
    // Frames that follow each other in the file.
    const Index first = number(own);
    run = 1;
    while (run < most && own + run < count && number(own + run) == first + run) ++run;
    Array patterns = as_counts(read_run(source, first, run));
    if (data.clip_negative) clipped += clip_negative(patterns);
    saturated += saturated_pixels(patterns, source.good);
    add_patterns(patterns, first, scan.skip, all);
    if (refitted) patterns = fit_detector(patterns, scan.zero_frequency, scan.window);
    loaded.measurement.add(patterns);
  }
  if (clipped > 0) scan.notes.push_back(fmt::format("{} negative counts became zero", clipped));
  if (saturated > 0)
    loaded.warnings.push_back(
        fmt::format("{}: {} measured pixels hold {}, the largest value of {}: they may be saturated", source.file,
                    saturated, max_value(source.dtype), name(source.dtype)));
  if (zero_frequency_doubtful(all, scan.stored, source.good, scan.zero_frequency)) {
    const bool centre = scan.zero_frequency == ZeroFrequency::centre;
    loaded.warnings.push_back(fmt::format("{}: most counts lie at the {} of the patterns, but zero_frequency is \"{}\"",
                                          source.file, centre ? "corners" : "centre", centre ? "center" : "corner"));
  }
  loaded.measurement.complete();

  for (const Index own : loaded.measurement.empty_frames())
    if (!std::binary_search(scan.skip.begin(), scan.skip.end(), number(own))) loaded.empty.push_back(number(own));
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

  if (refitted) sum = fit_detector(sum, scan.zero_frequency, scan.window);
  Index taking_part = 0;
  for (Index own = 0; own < count; ++own)
    taking_part += std::binary_search(scan.skip.begin(), scan.skip.end(), number(own)) ? 0 : 1;
  loaded.mean = mean_pattern(sum, scan, taking_part);
  return loaded;
}

}  // namespace sonde::ptycho
