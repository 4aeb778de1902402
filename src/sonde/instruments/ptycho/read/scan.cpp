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
#include "sonde/instruments/ptycho/read/count_unit.h"
#include "sonde/instruments/ptycho/read/frames.h"
#include "sonde/instruments/ptycho/read/geometry.h"

namespace sonde::ptycho {
namespace {

/// What the file says unless settings do.
template <class T>
std::optional<T> either(const std::optional<T>& set, const std::optional<T>& file) {
  return set ? set : file;
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

/// Of the direct beam that settings name, in whole pixels; what is left of a pixel is reported.
OffCentre off_centre(Scan& scan, const DataSettings& data) {
  if (data.centre.empty()) return {};
  const std::vector<double> at = parse_numbers(data.centre, "data.centre");
  if (scan.zero_frequency != ZeroFrequency::centre)
    throw Error(ErrorKind::bad_input, "data.centre is for patterns whose zero frequency is in the middle")
        .hint("zero_frequency = \"center\", or leave data.centre out");
  const Extent& extent = scan.stored;
  if (at.size() != 2 || !(at[0] >= 0 && at[0] < static_cast<double>(extent.rows)) ||
      !(at[1] >= 0 && at[1] < static_cast<double>(extent.cols)))
    throw Error(ErrorKind::bad_input,
                fmt::format("data.centre \"{}\": expected ROW,COL on a detector of {} x {} pixels", data.centre,
                            extent.rows, extent.cols));
  const auto row = static_cast<Index>(std::lround(at[0])), col = static_cast<Index>(std::lround(at[1]));
  scan.notes.push_back(
      fmt::format("the direct beam is at pixel {}, {}: {} rows and {} columns from the middle{}", row, col,
                  row - extent.rows / 2, col - extent.cols / 2,
                  at[0] == std::floor(at[0]) && at[1] == std::floor(at[1])
                      ? ""
                      : fmt::format("; {:+.2g} and {:+.2g} of a pixel are left", at[0] - static_cast<double>(row),
                                    at[1] - static_cast<double>(col))));
  return {row - extent.rows / 2, col - extent.cols / 2};
}

/// Transposed, then rotated about the mean, both on the specimen: object pixels may be oblong.
std::vector<Point> turned(std::vector<Point> points, const GeometrySettings& set, const Sampling& sampling) {
  const double oblong = sampling.pixel_row() / sampling.pixel_col();
  if (set.transpose)
    for (Point& point : points) point = {point.col / oblong, point.row * oblong};
  const double rotation = set.scan_rotation_deg * std::numbers::pi / 180;
  if (rotation == 0) return points;
  Point mean;
  for (const Point& point : points) {
    mean.row += point.row / static_cast<double>(points.size());
    mean.col += point.col / static_cast<double>(points.size());
  }
  const double c = std::cos(rotation), s = std::sin(rotation);
  for (Point& point : points) {
    const double row = point.row - mean.row, col = point.col - mean.col;
    point = {mean.row + row * c - col * s / oblong, mean.col + col * c + row * s * oblong};
  }
  return points;
}

std::vector<Point> raster_of(const Source& source, const Geometry& geometry) {
  if (!source.scan_shape) {
    if (!source.position_lists.empty())
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: {} frames without positions, but {} of shape ({}, 2)", source.file, source.shape[0],
                              join_words(source.position_lists), source.shape[0]))
          .hint(fmt::format("if these are the positions, set data.positions = \"{}\"; else name the shape of the "
                            "raster with data.scan_shape",
                            source.position_lists.front()));
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} frames without positions", source.file, source.shape[0]))
        .hint("name the positions with data.positions, or the shape of the raster with data.scan_shape");
  }
  const Sampling& stored = geometry.sampling;
  Point step;
  if (geometry.step_px) {
    step = {geometry.step_px->value, geometry.step_px->value};
  } else if (geometry.step_a && stored.calibrated()) {
    step = {geometry.step_a->value / stored.pixel_row(), geometry.step_a->value / stored.pixel_col()};
  } else {
    throw Error(ErrorKind::bad_input, "the step of the raster is not known")
        .hint(stored.calibrated() ? "give geometry.scan_step_A" : "give geometry.scan_step_px");
  }
  return raster_positions(
      {.rows = source.scan_shape->rows, .cols = source.scan_shape->cols, .step_row = step.row, .step_col = step.col});
}

/// Place of window index floor(n/2) in object pixels of the stored detector.
std::vector<Point> listed(const Source& source, const PositionListSettings& list, const Geometry& geometry) {
  const Sampling& stored = geometry.sampling;
  const LengthUnit by_default = stored.calibrated() ? LengthUnit::angstrom : LengthUnit::pixel;
  const LengthUnit unit = either(list.unit, source.unit).value_or(by_default);
  const Reference reference = either(list.reference, source.reference).value_or(Reference::window_centre);
  return listed_positions(source.positions, unit, reference, stored);
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

/// What the mean pattern says of the semiangle, where it is another one.
std::optional<std::string> compare_disk(const Scan& scan, View<const double, 2> mean, const std::string& file) {
  if (!scan.semiangle || scan.probe_type != ProbeType::electron) return std::nullopt;
  const std::optional<BrightDisk> disk = bright_disk(mean, scan.sampling);
  if (!disk) return std::nullopt;
  const double found = disk->radius;
  const double pixel = std::sqrt(scan.sampling.angle_row() * scan.sampling.angle_col());
  // The area above half of the level gives the radius to a third of a pixel where the edge is sharp.
  const double tolerance = std::max(0.08, 0.35 * pixel / *scan.semiangle);
  if (std::abs(found / *scan.semiangle - 1) < tolerance) return std::nullopt;
  return fmt::format(
      "{}: the bright disk of the mean pattern has a radius of {:.3g} detector pixels, {:.3g} mrad, but the semiangle "
      "is "
      "{:.4g} mrad: {:.3g} times as much. Check semiangle_mrad and the angle of a detector pixel ({:.4g} mrad)",
      file, found / pixel, 1000 * found, 1000 * *scan.semiangle, *scan.semiangle / found, 1000 * pixel);
}

/// Where the disk lies beside the zero frequency: every pattern, and with it the whole object, is then wrong.
std::optional<std::string> compare_centre(const Scan& scan, View<const double, 2> mean, const std::string& file) {
  if (scan.probe_type != ProbeType::electron || scan.zero_frequency != ZeroFrequency::centre) return std::nullopt;
  const std::optional<BrightDisk> disk = bright_disk(mean, scan.sampling);
  constexpr double off = 0.7;  // pixels; one costs a third of the resolution, half of one little
  if (!disk || std::hypot(disk->centre.row, disk->centre.col) < off) return std::nullopt;
  const auto at = [](double away, Index n, Index shift) { return away + static_cast<double>(n / 2 + shift); };
  return fmt::format(
      "{}: the bright disk of the mean pattern is {:.2g} rows and {:.2g} columns beside the zero frequency; "
      "data.centre = \"{:.1f},{:.1f}\" puts it right, unless the beam was tilted",
      file, disk->centre.row, disk->centre.col, at(disk->centre.row, scan.stored.rows, scan.off_centre.rows),
      at(disk->centre.col, scan.stored.cols, scan.off_centre.cols));
}

std::optional<std::string> compare_neighbours(const Scan& scan, View<const double, 2> mean, const std::string& file) {
  if (scan.probe_type != ProbeType::electron || scan.zero_frequency != ZeroFrequency::centre) return std::nullopt;
  std::vector<std::string> words;
  const std::vector<std::array<Index, 2>> hot = hot_pixels(mean);
  for (const auto& [row, col] : hot) {
    if (words.size() == 8) break;
    const auto stored = [](Index i, Index window, Index n, Index off) {
      return (i + window / 2) % window - window / 2 + n / 2 + off;
    };
    words.push_back(fmt::format("({}, {})", stored(row, scan.window.rows, scan.stored.rows, scan.off_centre.rows),
                                stored(col, scan.window.cols, scan.stored.cols, scan.off_centre.cols)));
  }
  if (hot.empty()) return std::nullopt;
  if (hot.size() > words.size()) words.push_back(fmt::format("{} more", hot.size() - words.size()));
  return fmt::format(
      "{}: {} isolated detector pixels are bright in the mean pattern, hot ones it seems: {}; data.mask leaves them "
      "out",
      file, hot.size(), join_words(words));
}

bool is_refitted(const Scan& scan) {
  return scan.window.rows != scan.stored.rows || scan.window.cols != scan.stored.cols || scan.off_centre.rows != 0 ||
         scan.off_centre.cols != 0;
}

/// The mask of the window, given that of the stored detector.
std::vector<std::uint8_t> window_mask(const std::vector<std::uint8_t>& good, const Scan& scan) {
  return is_refitted(scan) ? fit_mask(good, scan.stored, scan.zero_frequency, scan.window, scan.off_centre) : good;
}

/// Whether a line of a raster whose positions are listed goes down instead of to the right.
std::optional<std::string> compare_lines(const std::vector<Point>& points, const std::optional<Extent>& shape) {
  if (!shape || shape->cols < 2 || shape->rows * shape->cols != static_cast<Index>(points.size())) return std::nullopt;
  Point along;  // from the first to the last position of a line
  for (Index i = 0; i < shape->rows; ++i) {
    const Point& first = points[static_cast<std::size_t>(i * shape->cols)];
    const Point& last = points[static_cast<std::size_t>((i + 1) * shape->cols - 1)];
    along = {along.row + last.row - first.row, along.col + last.col - first.col};
  }
  constexpr double steep = 10;
  if (std::abs(along.row) < steep * std::abs(along.col)) return std::nullopt;
  return "within a line of the scan the positions go along rows: if the list holds columns first (x, y), exchange them "
         "or set geometry.transpose = true";
}

/// How many counts a unit of the values is, from the first block and what settings say.
void take_count_unit(const Array& patterns, const Source& source, Scan& scan, const DataSettings& data,
                     LoadedCounts& loaded) {
  if (data.counts_per_unit) {
    loaded.counts_per_unit = *data.counts_per_unit;
    return;
  }
  const CountUnit unit = count_unit_of(patterns);
  loaded.counts_per_unit = unit.counts_per_unit;
  if (unit.counts_per_unit == 0)
    loaded.warnings.push_back(fmt::format(
        "{}: no counts: {}. The floor that counting noise sets to R_I is not known; data.counts_per_unit gives "
        "how many counts a value of 1 is",
        source.file, unit.because));
  else if (unit.counts_per_unit != 1)
    scan.notes.push_back(fmt::format("{}: {}, which is taken for one count; data.counts_per_unit sets another number",
                                     source.file, unit.because));
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
  scan.off_centre = off_centre(scan, data);
  scan.skip = frames_to_skip(source, data);

  // A window of another size has the same detector pixels, and object pixels of another size.
  Geometry found = geometry_of(source, geometry);
  const Sampling stored = found.sampling;
  scan.sampling = stored;
  scan.sampling.rows = scan.window.rows;
  scan.sampling.cols = scan.window.cols;
  scan.probe_type = found.probe_type;
  scan.semiangle = found.semiangle;
  scan.notes = source.notes;
  scan.notes.insert(scan.notes.end(), found.notes.begin(), found.notes.end());
  scan.warnings = source.warnings;
  scan.warnings.insert(scan.warnings.end(), found.warnings.begin(), found.warnings.end());
  if (scan.semiangle) {
    Sampling measured = stored;  // what is padded was not
    measured.rows = std::min(scan.stored.rows, scan.window.rows);
    measured.cols = std::min(scan.stored.cols, scan.window.cols);
    require_semiangle(measured, *scan.semiangle);
  }
  if (source.positions.empty()) {
    scan.positions = raster_of(source, found);
    if (!source.position_lists.empty())
      scan.warnings.push_back(
          fmt::format("{}: {} of shape ({}, 2) may be positions, but a raster is taken: name them "
                      "with data.positions where they are meant",
                      source.file, join_words(source.position_lists), source.shape[0]));
  } else {
    during(fmt::format("taking the positions of {}", data.positions.empty() ? source.file : data.positions),
           [&] { scan.positions = listed(source, positions, found); });
    if (const auto warning = compare_step(scan.positions, source.scan_shape, found)) scan.warnings.push_back(*warning);
  }
  if (!data.positions.empty() && !geometry.transpose && geometry.scan_rotation_deg == 0)
    if (auto warning = compare_lines(scan.positions, source.scan_shape)) scan.warnings.push_back(std::move(*warning));
  scan.positions = turned(std::move(scan.positions), geometry, stored);
  for (Point& point : scan.positions) {
    point.row *= stored.pixel_row() / scan.sampling.pixel_row();
    point.col *= stored.pixel_col() / scan.sampling.pixel_col();
    if (positions.whole_pixels) point = {std::floor(point.row + 0.5), std::floor(point.col + 0.5)};
  }

  scan.good = window_mask(source.good, scan);
  if (scan.window.rows != scan.stored.rows || scan.window.cols != scan.stored.cols) {
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
  const std::vector<std::uint8_t> good = source.find_good ? source.find_good() : source.good;
  scan.good = window_mask(good, scan);
  how.zero = scan.zero_frequency;
  how.mask = scan.good;
  LoadedCounts loaded{
      Measurement(count, scan.window.rows, scan.window.cols, counted_as(source.dtype), how), {}, {}, 1, {}};
  const bool refitted = is_refitted(scan);
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
    if (own == 0) take_count_unit(patterns, source, scan, data, loaded);
    if (data.clip_negative) clipped += clip_negative(patterns);
    saturated += saturated_pixels(patterns, good);
    add_patterns(patterns, first, scan.skip, all);
    if (refitted) patterns = fit_detector(patterns, scan.zero_frequency, scan.window, scan.off_centre);
    during("reading " + source.file, [&] { loaded.measurement.add(patterns); });
  }
  if (clipped > 0) scan.notes.push_back(fmt::format("{} negative counts became zero", clipped));
  if (saturated > 0)
    loaded.warnings.push_back(
        fmt::format("{}: {} measured pixels hold {}, the largest value of {}: they may be saturated", source.file,
                    saturated, max_value(source.dtype), name(source.dtype)));
  if (zero_frequency_doubtful(all, scan.stored, good, scan.zero_frequency)) {
    const bool centre = scan.zero_frequency == ZeroFrequency::centre;
    loaded.warnings.push_back(fmt::format("{}: most counts are at the {} of the patterns, but zero_frequency is \"{}\"",
                                          source.file, centre ? "corners" : "centre", centre ? "center" : "corner"));
  }
  during("reading " + source.file, [&] { loaded.measurement.complete(); });

  const bool exchanged = axes_doubtful(all, good, loaded.measurement.sums());
  if (exchanged)
    loaded.warnings.push_back(
        fmt::format("{}: frames differ in counts as the pixels of a detector do, and the mean pattern is flat as a "
                    "scan is: the axes "
                    "seem to be in another order, expected (scan rows, scan columns, detector rows, detector columns)",
                    source.file));
  for (const Index own : loaded.measurement.empty_frames())
    if (!std::binary_search(scan.skip.begin(), scan.skip.end(), number(own))) loaded.empty.push_back(number(own));
  if (!loaded.empty.empty()) {
    if (!data.skip_empty)
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} frames have no count: {}", source.file, loaded.empty.size(),
                                                    listed_frames(loaded.empty)))
          .hint(exchanged ? "the axes seem to be in another order: the scan comes first, store "
                            "numpy.moveaxis(patterns, (2, 3), (0, 1))"
                          : "leave them out: data.skip_empty = true, or " + setting("skip_empty", true));
    scan.skip.insert(scan.skip.end(), loaded.empty.begin(), loaded.empty.end());
    std::sort(scan.skip.begin(), scan.skip.end());
    scan.notes.push_back(
        fmt::format("{} frames without a count are left out: {}", loaded.empty.size(), listed_frames(loaded.empty)));
  }

  if (refitted) sum = fit_detector(sum, scan.zero_frequency, scan.window, scan.off_centre);
  Index taking_part = 0;
  for (Index own = 0; own < count; ++own)
    taking_part += std::binary_search(scan.skip.begin(), scan.skip.end(), number(own)) ? 0 : 1;
  loaded.mean = mean_pattern(sum, scan, taking_part);
  const auto bad = std::count(good.begin(), good.end(), std::uint8_t{0});
  if (bad * 100 <= scan.stored.rows * scan.stored.cols)  // a beam stop hides the disk
    for (const auto compare : {compare_disk, compare_centre, compare_neighbours})
      if (auto warning = compare(scan, std::as_const(loaded.mean).view<double, 2>(), source.file))
        loaded.warnings.push_back(std::move(*warning));
  return loaded;
}

}  // namespace sonde::ptycho
