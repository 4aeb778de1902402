// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/figure/canvas.h"
#include "sonde/engine/io/png.h"

namespace sonde {
namespace {

constexpr Colour letter_ink{34, 34, 34};
constexpr Index comfortable_pixels = 512;  // small images are enlarged to about this

/// The array as doubles on the host; display needs no more.
template <class T>
std::vector<double> values_of(const Array& image) {
  const auto view = image.view<T, 2>();
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(image.count()));
  for (Index r = 0; r < view.extent[0]; ++r)
    for (Index c = 0; c < view.extent[1]; ++c) values.push_back(static_cast<double>(view(r, c)));
  return values;
}

std::vector<double> host_values(const Array& image) {
  if (image.shape().rank() != 2 || image.count() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("shape {}, expected an image of two dimensions", image.shape().text()));
  if (!image.device().is_cpu()) {
    Stream stream(image.device());
    return host_values(image.copy_to(Device::cpu(), stream));
  }
  switch (image.dtype()) {
    case DType::u8:
      return values_of<std::uint8_t>(image);
    case DType::u16:
      return values_of<std::uint16_t>(image);
    case DType::u32:
      return values_of<std::uint32_t>(image);
    case DType::u64:
      return values_of<std::uint64_t>(image);
    case DType::i8:
      return values_of<std::int8_t>(image);
    case DType::i16:
      return values_of<std::int16_t>(image);
    case DType::i32:
      return values_of<std::int32_t>(image);
    case DType::i64:
      return values_of<std::int64_t>(image);
    case DType::f32:
      return values_of<float>(image);
    case DType::f64:
      return values_of<double>(image);
    default:
      throw Error(ErrorKind::bad_input, fmt::format("element type {}, expected real numbers", name(image.dtype())))
          .hint("show the amplitude or the phase");
  }
}

ValueRange range_of(std::vector<double> values, double low_percentile, double high_percentile) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return {};
  const auto percentile = [&](double percent) {
    const double position = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(values.size() - 1);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::lround(position));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  return {percentile(low_percentile), percentile(high_percentile)};
}

ValueRange shown_range(const std::vector<double>& values, const ImageStyle& style) {
  ValueRange range = range_of(values, style.low_percentile, style.high_percentile);
  // Where nearly all values are the same, as in a pattern of a few counts, those that differ are seen.
  if (!(range.high > range.low)) range = range_of(values, 0, 100);
  if (style.low) range.low = *style.low;
  if (style.high) range.high = *style.high;
  if (style.symmetric) {
    const double reach = std::max(std::abs(range.low), std::abs(range.high));
    range = {-reach, reach};
  }
  return range;
}

double stretched(double s, const ImageStyle& style) {
  switch (style.stretch) {
    case Stretch::linear:
      return s;
    case Stretch::log:
      return std::log1p(1000 * s) / std::log1p(1000);
    case Stretch::power:
      return std::pow(s, style.power);
  }
  return s;
}

Colour colour_of(double value, const ValueRange& range, const ImageStyle& style) {
  if (!std::isfinite(value)) return not_finite;
  // A flat image has no range; it is shown in the middle of the map.
  const double s = range.high > range.low ? std::clamp((value - range.low) / (range.high - range.low), 0.0, 1.0) : 0.5;
  return colour_table(style.colours)[static_cast<std::size_t>(std::lround(255 * stretched(s, style)))];
}

Index zoom_of(const Array& image, const ImageStyle& style) {
  if (style.zoom > 0) return style.zoom;
  const Index longer = std::max(image.shape()[0], image.shape()[1]);
  return std::max<Index>(1, (comfortable_pixels + longer / 2) / longer);
}

/// Lettering grows with the picture, so that it reads alike at any size.
double letter_height(Index rows, Index cols) {
  return std::clamp(static_cast<double>(std::min(rows, cols)) / 32, 9.0, 48.0);
}

void draw_outline(Canvas& canvas, const Overlay& overlay, double zoom) {
  const double width = std::max(1.5, static_cast<double>(std::min(canvas.rows(), canvas.cols())) / 250);
  // Pixel (r, c) of the data covers [zoom r, zoom (r + 1)), so its centre lies at zoom (r + 1/2) - 1/2.
  const auto circle = [&](double row, double col, double radius) {
    const Point centre{zoom * (row + 0.5) - 0.5, zoom * (col + 0.5) - 0.5};
    canvas.circle(centre, zoom * radius, width + 2, {0, 0, 0});  // a dark rim, to be seen on bright ground
    canvas.circle(centre, zoom * radius, width, {255, 255, 255});
  };
  if (const auto* round = std::get_if<Circle>(&overlay)) circle(round->row, round->col, round->radius);
  if (const auto* ring = std::get_if<Annulus>(&overlay)) {
    circle(ring->row, ring->col, ring->inner);
    circle(ring->row, ring->col, ring->outer);
  }
}

void draw_scale_bar(Canvas& canvas, double zoom, double pixel_size, const std::string& unit) {
  const double length = scale_bar_length(0.3 * static_cast<double>(canvas.cols()) / zoom * pixel_size);
  const double bar = length / pixel_size * zoom;
  const double height = letter_height(canvas.rows(), canvas.cols());
  const std::string label = fmt::format("{} {}", length, unit);
  const double label_width = text_width(label, height);
  const double inner = std::max(bar, label_width), margin = 0.6 * height, thickness = std::max(2.0, height / 4);

  const double box_height = 2 * margin + height + 0.45 * height + thickness;
  const double top = static_cast<double>(canvas.rows()) - margin - box_height, left = margin;
  canvas.fill(std::lround(top), std::lround(left), std::lround(box_height), std::lround(inner + 2 * margin), {0, 0, 0},
              0.55);
  const double middle = left + margin + inner / 2;
  canvas.text(label, {top + margin + height, middle - label_width / 2}, height, {255, 255, 255});
  canvas.fill(std::lround(top + margin + 1.45 * height), std::lround(middle - bar / 2), std::lround(thickness),
              std::lround(bar), {255, 255, 255});
}

/// An end of a range, with as many digits as tell a few hundredths of the range: 0.60 of 0.75, 1.016 of 0.02.
std::string end_text(double value, const ValueRange& range, const std::string& unit) {
  const double size = std::abs(value), share = 0.6 * (range.high - range.low);
  const auto decade = [](double number) { return static_cast<int>(std::floor(std::log10(number))); };
  std::string text;
  if (size != 0 && (size >= 1e6 || size < 1e-3))
    text = fmt::format("{:.{}e}", value, share > 0 ? std::clamp(decade(size) - decade(share) + 1, 1, 9) : 1);
  else if (share > 0)
    text = fmt::format("{:.{}f}", value, std::clamp(1 - decade(share), 0, 9));
  else
    text = fmt::format("{:.3g}", value);
  return unit.empty() ? text : text + " " + unit;
}

Array with_colour_bar(Array picture, const ValueRange& range, const ImageStyle& style) {
  const Index rows = picture.shape()[0], cols = picture.shape()[1];
  const double height = letter_height(rows, cols);
  const std::string low = end_text(range.low, range, style.value_unit);
  const std::string high = end_text(range.high, range, style.value_unit);
  const Index gap = std::lround(0.8 * height), width = std::lround(1.2 * height);
  const Index label = std::lround(std::max(text_width(low, height), text_width(high, height)));
  Array framed = blank_image(rows, cols + gap + width + gap / 2 + label + gap);
  Canvas canvas(framed);
  canvas.paste(picture, 0, 0);
  for (Index r = 0; r < rows; ++r) {
    // The whole map evenly, so that the ends of a stretched range are seen as well.
    const double s = 1 - (static_cast<double>(r) + 0.5) / static_cast<double>(rows);
    canvas.fill(r, cols + gap, 1, width, colour_table(style.colours)[static_cast<std::size_t>(255 * s)]);
  }
  const Index text_begin = cols + gap + width + gap / 2;
  const auto text_col = static_cast<double>(text_begin);
  canvas.text(high, {height + 1, text_col}, height, letter_ink);
  canvas.text(low, {static_cast<double>(rows) - 2, text_col}, height, letter_ink);
  return framed;
}

}  // namespace

ValueRange percentile_range(const Array& image, double low_percentile, double high_percentile) {
  return range_of(host_values(image), low_percentile, high_percentile);
}

double scale_bar_length(double most) {
  const double decade = std::pow(10.0, std::floor(std::log10(most)));
  for (const double step : {5.0, 2.0, 1.0})
    if (step * decade <= most * (1 + 1e-12)) return step * decade;
  return decade / 2;  // log10 rounded up across the decade
}

Array render_image(const Array& image, const ImageStyle& style) {
  const std::vector<double> values = host_values(image);
  const ValueRange range = shown_range(values, style);
  const Index rows = image.shape()[0], cols = image.shape()[1], zoom = zoom_of(image, style);
  Array picture = blank_image(rows * zoom, cols * zoom);
  Canvas canvas(picture);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      canvas.fill(r * zoom, c * zoom, zoom, zoom,
                  colour_of(values[static_cast<std::size_t>(r * cols + c)], range, style));
  for (const Overlay& overlay : style.overlays) draw_outline(canvas, overlay, static_cast<double>(zoom));
  if (style.pixel_size && *style.pixel_size > 0 && !style.unit.empty())
    draw_scale_bar(canvas, static_cast<double>(zoom), *style.pixel_size, style.unit);
  return style.colour_bar ? with_colour_bar(std::move(picture), range, style) : std::move(picture);
}

void add_scale_bar(Array& picture, double pixel_size, const std::string& unit) {
  Canvas canvas(picture);
  draw_scale_bar(canvas, 1, pixel_size, unit);
}

void write_image(const std::string& path, const Array& image, const ImageStyle& style, std::string_view description,
                 const OutputRole& role) {
  write_png(path, render_image(image, style), description, role);
}

Array montage(const std::vector<Panel>& panels, Index columns, std::string_view title) {
  if (panels.empty()) throw Error(ErrorKind::bad_input, "a montage of 0 panels; expected 1 or more");
  const auto count = static_cast<Index>(panels.size());
  if (columns <= 0) columns = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(count))));
  columns = std::min(columns, count);
  const Index panel_rows = (count + columns - 1) / columns;

  Index smallest = panels.front().picture.shape()[0];
  std::vector<Index> widths(static_cast<std::size_t>(columns)), heights(static_cast<std::size_t>(panel_rows));
  for (Index i = 0; i < count; ++i) {
    const Shape& shape = panels[static_cast<std::size_t>(i)].picture.shape();
    smallest = std::min({smallest, shape[0], shape[1]});
    Index& width = widths[static_cast<std::size_t>(i % columns)];
    Index& height = heights[static_cast<std::size_t>(i / columns)];
    width = std::max(width, shape[1]);
    height = std::max(height, shape[0]);
  }
  const double letters = letter_height(smallest, smallest);
  const Index gap = std::lround(1.6 * letters), label = std::lround(2.4 * letters);
  const Index heading = title.empty() ? 0 : std::lround(3.2 * letters);
  const Index total_cols = std::accumulate(widths.begin(), widths.end(), gap * (columns + 1));
  const Index total_rows =
      std::accumulate(heights.begin(), heights.end(), heading + (label + gap) * panel_rows + gap / 2);

  Array sheet = blank_image(total_rows, total_cols);
  Canvas canvas(sheet);
  if (!title.empty()) canvas.text(title, {2.6 * letters, static_cast<double>(gap)}, 1.35 * letters, letter_ink);
  Index top = heading + gap / 2;
  for (Index i = 0; i < panel_rows; ++i) {
    Index left = gap;
    for (Index k = 0; k < columns && i * columns + k < count; ++k) {
      const Panel& panel = panels[static_cast<std::size_t>(i * columns + k)];
      canvas.text(panel.label, {static_cast<double>(top) + 1.5 * letters, static_cast<double>(left)}, letters,
                  letter_ink);
      canvas.paste(panel.picture, top + label, left);
      left += widths[static_cast<std::size_t>(k)] + gap;
    }
    top += label + heights[static_cast<std::size_t>(i)] + gap;
  }
  return sheet;
}

}  // namespace sonde
