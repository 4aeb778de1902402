// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/image/diffraction.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/view/panel_values.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;

bool is_dense(const Dataset& dataset) {
  return dataset.layout() == LayoutChoice::pixel || dataset.layout() == LayoutChoice::frame;
}

ScanView scan_view(const Dataset& dataset) {
  return {&dataset.array(), dataset.layout() == LayoutChoice::pixel ? Layout::pixel_major : Layout::frame_major,
          dataset.shape()[2], dataset.shape()[3]};
}

template <class T>
Frame plain_frame(FrameKind kind, Index rows, Index cols, const Array& values) {
  return panel::make_frame<T>(
      kind, rows, cols, std::span(static_cast<const T*>(values.data()), static_cast<std::size_t>(values.count())));
}

template <class From>
std::vector<float> as_floats(const From* values, Index count, double scale) {
  std::vector<float> floats(static_cast<std::size_t>(count));
  std::transform(values, values + count, floats.begin(),
                 [scale](From value) { return static_cast<float>(static_cast<double>(value) / scale); });
  return floats;
}

Frame float_frame(FrameKind kind, Index rows, Index cols, const Array& values, double divisor) {
  const Index count = values.count();
  const std::vector<float> floats =
      values.dtype() == DType::u64   ? as_floats(static_cast<const std::uint64_t*>(values.data()), count, divisor)
      : values.dtype() == DType::f32 ? as_floats(static_cast<const float*>(values.data()), count, divisor)
                                     : as_floats(static_cast<const double*>(values.data()), count, divisor);
  return panel::make_frame<float>(kind, rows, cols, floats);
}

/// The sum or the maximum from the stored frames, for layouts that hold no elements.
Array decoded_pattern(const Dataset& dataset, std::span<const Index> positions, Reduction reduction) {
  Moments moments = dataset.moments_of({positions.begin(), positions.end()});
  return std::move(reduction == Reduction::max ? moments.pattern_max : moments.pattern_sum);
}

}  // namespace

std::string_view name(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return "sum";
    case Reduction::mean:
      return "mean";
    case Reduction::max:
      return "max";
  }
  return "";
}

Frame frame_of(FrameKind kind, Index rows, Index cols, const Array& values) {
  switch (values.dtype()) {
    case DType::u8:
      return plain_frame<std::uint8_t>(kind, rows, cols, values);
    case DType::u16:
      return plain_frame<std::uint16_t>(kind, rows, cols, values);
    case DType::u32:
      return plain_frame<std::uint32_t>(kind, rows, cols, values);
    case DType::u64:
      return panel::make_count_frame(
          kind, rows, cols,
          std::span(static_cast<const std::uint64_t*>(values.data()), static_cast<std::size_t>(values.count())));
    case DType::f32:
      return plain_frame<float>(kind, rows, cols, values);
    case DType::f64:
      return float_frame(kind, rows, cols, values, 1);
    default:
      throw Error(ErrorKind::internal, fmt::format("a frame of {} elements", sonde::name(values.dtype())));
  }
}

Frame pattern_frame(const Dataset& dataset, Index scan_row, Index scan_col) {
  return frame_of(FrameKind::pattern, dataset.shape()[2], dataset.shape()[3], dataset.pattern(scan_row, scan_col));
}

DetectorOf detector_of(const Dataset& dataset, const std::string& text, const DetectorGeometry& geometry) {
  if (is_moment(text)) return {text, std::nullopt, deflection_origin(dataset, geometry)};
  Mask mask = detector_mask(text, geometry);
  if (mask.area() == 0)
    throw Error(ErrorKind::bad_input, fmt::format("the detector {} covers no good pixel of {} x {}", text,
                                                  dataset.shape()[2], dataset.shape()[3]))
        .hint("coordinates are pixels after binning, rows before columns");
  return {text, std::move(mask)};
}

ClientImager::ClientImager(const std::shared_ptr<const Dataset>& dataset, Budget& budget)
    : dataset_(dataset), stream_(is_dense(*dataset) ? dataset->array().device() : Device::cpu()) {
  if (!is_dense(*dataset)) return;
  const auto image_bytes = static_cast<std::size_t>(dataset->positions()) * sizeof(std::uint64_t);
  const bool elsewhere = !stream_.device().is_cpu();
  reservation_ = budget.reserve((VirtualImager::history_length + (elsewhere ? 1 : 0)) * image_bytes,
                                "earlier images of a viewer", "release a data set, or close other windows");
  ImagerSources sources = imager_sources(*dataset);
  if (const Array& total = dataset->moments().total;
      elsewhere && total.dtype() == DType::u64 && totals_match(*dataset)) {
    total_ = total.copy_to(stream_.device(), stream_);
    sources.total = &*total_;
  }
  imager_.emplace(std::move(sources));
}

Shown image_of(const Dataset& dataset, const DetectorOf& detector) {
  const Index rows = dataset.shape()[0], cols = dataset.shape()[1];
  if (!detector.mask) {
    const Moment moment = *moment_of(detector.text);
    const Array image = deflection_image(dataset, moment, detector.origin, deflection_unit(moment, dataset).per_px);
    DetectorGeometry from;
    from.centre_row = detector.origin.row;
    from.centre_col = detector.origin.col;
    DetectorImage kept = *moment_image(dataset, detector.text, from);
    Shown shown{frame_of(FrameKind::image, rows, cols, image), kept.area, kept.path,
                fmt::format("sums taken while loading; deflection from {} at row {:.3f}, column {:.3f}",
                            detector.origin.is_beam ? "the centre of the beam" : "the mean of the scan",
                            detector.origin.row, detector.origin.col),
                0};
    shown.exact = std::make_shared<const Array>(std::move(kept.image));
    return shown;
  }
  const Mask& mask = *detector.mask;
  const std::vector<DetectorImage> images = mask_images(dataset, std::span(&mask, 1));
  const DetectorImage& image = images.front();
  return {frame_of(FrameKind::image, rows, cols, image.image), image.area, image.path,
          fmt::format("the scan is held {}", layout_name(dataset.layout())), mask.hash};
}

Frame moment_preview(const FirstLook& look, Moment moment, const DetectorGeometry& geometry,
                     const DeflectionUnit& unit) {
  const PanelValues rows{look.moment(true), {}}, cols{look.moment(false), {}};
  const std::vector<double> row = rows.numbers(), col = cols.numbers();
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    std::size_t finite = 0;
    for (const double value : values)
      if (std::isfinite(value)) {
        sum += value;
        ++finite;
      }
    return finite > 0 ? sum / static_cast<double>(finite) : 0;
  };
  const double row0 = geometry.centre_row ? *geometry.centre_row : mean(row),
               col0 = geometry.centre_col ? *geometry.centre_col : mean(col);
  std::vector<float> values(row.size());
  for (std::size_t p = 0; p < values.size(); ++p)
    values[p] = static_cast<float>(deflection(moment, row[p] - row0, col[p] - col0, unit.per_px));
  return panel::make_frame<float>(FrameKind::image, rows.rows(), rows.cols(), values);
}

Shown ClientImager::image(const Dataset& dataset, const DetectorOf& detector) {
  if (!detector.mask || !imager_) return image_of(dataset, detector);
  const Index rows = dataset.shape()[0], cols = dataset.shape()[1];
  const Mask& mask = *detector.mask;
  const VirtualImage made = imager_->compute(stream_, mask);
  const Frame frame = stream_.device().is_cpu()
                          ? frame_of(FrameKind::image, rows, cols, *made.image)
                          : frame_of(FrameKind::image, rows, cols, made.image->copy_to(Device::cpu(), stream_));
  return {frame, made.area, std::string(name(made.path)), made.because, mask.hash};
}

Frame ClientPattern::pattern(const std::shared_ptr<const Dataset>& dataset, std::span<const Index> positions,
                             Reduction reduction) {
  const Index rows = dataset->shape()[2], cols = dataset->shape()[3];
  const std::vector<std::uint8_t>& valid = dataset->valid();
  const Moments& moments = dataset->moments();
  const bool whole = positions.empty();
  const Index frames = whole ? std::count(valid.begin(), valid.end(), std::uint8_t{1})
                             : std::count_if(positions.begin(), positions.end(), [&](Index position) {
                                 return valid[static_cast<std::size_t>(position)] != 0;
                               });
  if (frames == 0) throw Error(ErrorKind::bad_input, "no position of the region has a frame");
  const auto kind = FrameKind::reduced_pattern;
  const double divisor = reduction == Reduction::mean ? static_cast<double>(frames) : 1;
  const auto shown = [&](const Array& pattern) {
    return reduction == Reduction::mean ? float_frame(kind, rows, cols, pattern, divisor)
                                        : frame_of(kind, rows, cols, pattern);
  };
  if (whole) return shown(reduction == Reduction::max ? moments.pattern_max : moments.pattern_sum);
  if (!is_dense(*dataset)) return shown(decoded_pattern(*dataset, positions, reduction));

  const ScanView scan = scan_view(*dataset);
  Stream stream(scan.array->device());
  const Shape shape{rows, cols};
  if (reduction == Reduction::max) {
    Array most(stream.device(), shape, dataset->dtype());
    pattern_maximum(stream, scan, positions, most);
    return shown(most.copy_to(Device::cpu(), stream));
  }
  if (dataset->dtype() == DType::f32) {
    Array mean(stream.device(), shape, DType::f64);  // over all positions; those without a frame hold zeros
    pattern_mean(stream, scan, positions, mean);
    const double sum_per_mean = static_cast<double>(positions.size());
    return float_frame(kind, rows, cols, mean.copy_to(Device::cpu(), stream), divisor / sum_per_mean);
  }
  std::vector<Index> added(positions.begin(), positions.end()), removed;
  if (dataset_.lock() == dataset && sum_) {
    added.clear();
    std::set_difference(positions.begin(), positions.end(), positions_.begin(), positions_.end(),
                        std::back_inserter(added));
    std::set_difference(positions_.begin(), positions_.end(), positions.begin(), positions.end(),
                        std::back_inserter(removed));
    if (added.size() + removed.size() < positions.size()) {
      dataset_.reset();  // what sum_ holds is of nothing until it is made
      pattern_update(stream, scan, *sum_, added, removed, *sum_);
      dataset_ = dataset;
      positions_.assign(positions.begin(), positions.end());
      return shown(sum_->copy_to(Device::cpu(), stream));
    }
  }
  if (!sum_ || sum_->shape() != shape || sum_->device() != stream.device())
    sum_.emplace(stream.device(), shape, DType::u64);
  dataset_.reset();
  pattern_sum(stream, scan, positions, *sum_);
  dataset_ = dataset;
  positions_.assign(positions.begin(), positions.end());
  return shown(sum_->copy_to(Device::cpu(), stream));
}

}  // namespace sonde::stem
