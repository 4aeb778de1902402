// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/ptycho_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/blocks.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/stored_frames.h"

namespace sonde::cli {
namespace {

/// What the calibration of a scan says of a measurement. A bin of the detector widens its pixels.
void take_calibration(const stem::Calibration& calibration, Index bin, ptycho::Source& source) {
  const auto width = static_cast<double>(bin);
  source.probe_type = ptycho::ProbeType::electron;
  if (calibration.high_tension_v) source.energy_kev = calibration.high_tension_v->value / 1000;
  if (calibration.detector_step_mrad) source.mrad_per_px = width * calibration.detector_step_mrad->value;
  if (calibration.detector_step_inv_a) source.inv_a_per_px = width * calibration.detector_step_inv_a->value;
  const auto& row = calibration.scan_step_row_nm;
  const auto& col = calibration.scan_step_col_nm;
  if (row) source.step_a = row->value * 10;
  if (row && col && std::abs(row->value - col->value) > 1e-3 * std::abs(row->value))
    source.warnings.push_back(
        fmt::format("{}: scan steps of {} nm along rows and {} nm along columns: the first is used", source.file,
                    row->value, col->value));
}

/// The type that holds every count, or sum of a bin: known before any is read.
stem::ResultType type_of_all(DType stored, Index bin) {
  if (is_float(stored)) return stem::ResultType::f32;
  const std::uint64_t most = max_value(stored) * static_cast<std::uint64_t>(bin * bin);
  if (most <= max_value(DType::u8)) return stem::ResultType::u8;
  return most <= max_value(DType::u16) ? stem::ResultType::u16 : stem::ResultType::u32;
}

DType element_type(stem::ResultType type) {
  switch (type) {
    case stem::ResultType::u8:
      return DType::u8;
    case stem::ResultType::u16:
      return DType::u16;
    case stem::ResultType::u32:
      return DType::u32;
    default:
      return DType::f32;
  }
}

stem::LoadOptions load_options(const ptycho::DataSettings& settings) {
  stem::LoadOptions options;
  if (!settings.scan_shape.empty()) options.scan_shape = settings.scan_shape;
  options.det_bin = std::to_string(settings.detector_bin);
  options.dataset = settings.patterns;
  options.layout = stem::LayoutChoice::file;
  return options;
}

std::string with_keys(std::string text) {
  for (const auto& [flag, key] : {std::pair("--scan-shape", "data.scan_shape"),
                                  std::pair("--det-bin", "data.detector_bin"), std::pair("--dataset", "data.patterns")})
    for (std::size_t at = 0; (at = text.find(flag, at)) != std::string::npos; at += std::strlen(key))
      text.replace(at, std::strlen(flag), key);
  return text;
}

/// What the stem instrument says of its flags, in the words of a run file. What has no key there is left to a
/// conversion.
template <class Body>
auto in_words_of_run_files(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (!error.problems().empty()) throw;
    Error told(error.kind(), with_keys(error.message()));
    std::string hint;
    for (const std::string& clause : split(error.hint(), ';')) {
      const std::string words = with_keys(std::string(trim(clause)));
      hint += (hint.empty() ? "" : "; ") +
              (words.find("--") == std::string::npos ? words : "with `sonde stem convert`, " + words);
    }
    if (!hint.empty()) told.hint(hint);
    for (const std::string& activity : error.activities()) told.add_activity(activity);
    throw told;
  }
}

/// The frames of a scan that stays on file. Everything is decoded twice: once to find the pixels that are bad over all
/// frames, and once for the reconstruction. That costs less than an iteration, and the scan is in memory once.
class StemFrames {
 public:
  StemFrames(std::string path, stem::LoadOptions options, std::size_t memory_bytes, Context& context)
      : path_(std::move(path)), options_(std::move(options)), memory_bytes_(memory_bytes), context_(context) {}

  /// `named`, or everything where it is empty, without the pixels that mask and counts of the scan call bad.
  [[nodiscard]] std::vector<std::uint8_t> good(const std::vector<std::uint8_t>& named) {
    std::vector<std::uint8_t> good = scan().good();
    for (std::size_t i = 0; i < named.size(); ++i) good[i] = good[i] != 0 && named[i] != 0 ? 1 : 0;
    require_values(good);
    return good;
  }

  [[nodiscard]] Array frames(Index first, Index count) {
    const Index line = scan().shape()[1];
    Array lines = stem::read_rows(scan(), first / line, (first + count + line - 1) / line);
    if (lines.shape()[0] == count) return lines;
    Array part(Device::cpu(), Shape{count, lines.shape()[1], lines.shape()[2]}, lines.dtype());
    const std::size_t frame_bytes = part.allocated_bytes() / static_cast<std::size_t>(count);
    std::memcpy(part.data(),
                static_cast<const std::byte*>(lines.data()) + static_cast<std::size_t>(first % line) * frame_bytes,
                part.allocated_bytes());
    return part;
  }

 private:
  const stem::Dataset& scan() {
    if (scan_) return *scan_;
    scan_.emplace(in_words_of_run_files(
        [&] { return stem::load(path_, options_, Budget(memory_bytes_, "set aside by the plan")); }));
    report_load(context_, *scan_);
    if (scan_->exactness().clipped > 0)
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} sums of bins exceed {}", path_, scan_->exactness().clipped,
                                                    max_value(scan_->dtype())))
          .hint("give a smaller data.detector_bin");
    return *scan_;
  }

  /// What has no value must not count as a measured zero.
  void require_values(const std::vector<std::uint8_t>& good) {
    const stem::Acquisition& acquisition = scan().acquisition();
    const Index bin = scan().det_bin(), rows = scan().shape()[2], cols = scan().shape()[3];
    std::uint64_t missing = 0;
    std::vector<Index> pixels;  // of the stored detector
    for (Index pixel = 0; pixel < acquisition.rows * acquisition.cols; ++pixel) {
      const Index row = pixel / acquisition.cols / bin, col = pixel % acquisition.cols / bin;
      const std::uint64_t here = scan().missing_per_pixel()[static_cast<std::size_t>(pixel)];
      if (here == 0 || row >= rows || col >= cols || good[static_cast<std::size_t>(row * cols + col)] == 0) continue;
      missing += here;
      pixels.push_back(pixel);
    }
    if (missing == 0) return;
    const Index first = first_missing(pixels), pixel = first % (acquisition.rows * acquisition.cols);
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{}: {} measured pixels have no value ({}), first frame {}, row {}, column {}", path_, missing,
                    is_float(acquisition.stored) ? std::string("not a number")
                                                 : fmt::format("{} means no data", acquisition.sentinel.value_or(0)),
                    first / (acquisition.rows * acquisition.cols), pixel / acquisition.cols, pixel % acquisition.cols))
        .hint("name a mask without these pixels as data.mask, or mend the file");
  }

  /// Frame and pixel, as one number, of the first of `pixels` that has no value.
  [[nodiscard]] Index first_missing(const std::vector<Index>& pixels) {
    const stem::Acquisition& acquisition = scan().acquisition();
    const Index all = acquisition.rows * acquisition.cols;
    std::mutex access;
    Index first = std::numeric_limits<Index>::max();
    stem::for_each_stored_frame(
        scan(), [&](const stem::StoredFrame& frame, stem::DecodeScratch& scratch, std::vector<std::byte>& elements) {
          frame.decode(scratch, elements);
          for (const Index pixel : pixels) {
            if (!has_no_value(elements, pixel, acquisition)) continue;
            const std::lock_guard lock(access);
            first = std::min(first, frame.position * all + pixel);
            break;
          }
        });
    return first;
  }

  [[nodiscard]] static bool has_no_value(const std::vector<std::byte>& elements, Index pixel,
                                         const stem::Acquisition& acquisition) {
    const auto element = [&]<class T>(T value) {
      std::memcpy(&value, elements.data() + static_cast<std::size_t>(pixel) * sizeof(T), sizeof(T));
      return value;
    };
    switch (acquisition.stored) {
      case DType::u8:
        return element(std::uint8_t{}) == acquisition.sentinel;
      case DType::u16:
        return element(std::uint16_t{}) == acquisition.sentinel;
      case DType::u32:
        return element(std::uint32_t{}) == acquisition.sentinel;
      default:
        return std::isnan(element(0.0F));
    }
  }

  std::string path_;
  stem::LoadOptions options_;
  std::size_t memory_bytes_;
  Context& context_;
  std::optional<stem::Dataset> scan_;
};

ptycho::Source open_scan(const ptycho::DataSettings& settings, Context& context) {
  stem::LoadOptions options = load_options(settings);
  const stem::LoadPreview preview = in_words_of_run_files([&] {
    return stem::preview_load(settings.file, options,
                              Budget(std::numeric_limits<std::size_t>::max(), "nothing is loaded"));
  });
  const stem::LoadSizes& sizes = preview.sizes;
  const stem::Acquisition& acquisition = preview.acquisition;
  options.dtype = type_of_all(acquisition.stored, settings.detector_bin);

  ptycho::Source source;
  source.file = settings.file;
  source.format = acquisition.format;
  source.scan_shape = ptycho::Extent{sizes.scan_rows, sizes.scan_cols};
  source.shape = Shape{sizes.scan_rows * sizes.scan_cols, preview.estimate.rows, preview.estimate.cols};
  source.dtype = element_type(options.dtype);
  source.together = sizes.scan_cols;
  take_calibration(acquisition.calibration, settings.detector_bin, source);
  ptycho::take_named_arrays(settings, source);
  ptycho::require_fitting(source);

  // Chunks of several frames need not be decoded again for each of them.
  const std::size_t cache = std::min(sizes.useful_cache_bytes, context.host_budget().available_bytes() / 4);
  source.reading_bytes = cache + stem::estimate_load(sizes, settings.detector_bin, options.edge, options.scan_bin,
                                                     options.layout, options.dtype)
                                     .predicted_peak_bytes;
  const auto frames = std::make_shared<StemFrames>(settings.file, options, source.reading_bytes, context);
  source.find_good = [frames, named = source.good] { return frames->good(named); };
  source.read_frames = [frames](Index first, Index count) { return frames->frames(first, count); };
  source.read_patterns = [frames, count = source.shape[0]] { return frames->frames(0, count); };
  return source;
}

}  // namespace

ptycho::Source open_measurement(const ptycho::DataSettings& settings, Context& context) {
  if (settings.file.empty() || ptycho::is_own_format(settings)) return ptycho::open_source(settings);
  return open_scan(settings, context);
}

void say_source(const ptycho::Source& source, const Context& context) {
  context.say(fmt::format("data      {}: {} patterns of {} x {} pixels, {}", source.file, source.shape[0],
                          source.shape[1], source.shape[2], source.format));
}

}  // namespace sonde::cli
