// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/report/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "sonde/engine/figure/html.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/figure/svg.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/quality/spectrum.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/scan/spacing.h"

namespace sonde::ptycho {
namespace {

/// Into a picture that shows every pixel of the object as `zoom` squared.
void add_scale(Array& picture, const Sampling& sampling, Index zoom) {
  const ImageStyle style = measured_style(sampling, "");
  add_scale_bar(picture, *style.pixel_size / static_cast<double>(zoom), style.unit);
}

Index zoom_to(Index pixels, Index rows, Index cols) { return std::max<Index>(1, pixels / std::max(rows, cols)); }

Figure real_figure(std::string title, std::string caption, const Array& image, const ImageStyle& style) {
  std::string markup = html_image(render_image(image, style), title);
  return {std::move(title), std::move(caption), std::move(markup)};
}

/// Drawn in the size in which the page shows it, where that can be: a page that shrinks a picture blurs its lettering.
ImageStyle style_on_page(const Box& view, const Sampling& sampling, const std::string& value_unit, Index pixels) {
  ImageStyle style = measured_style(sampling, value_unit);
  style.zoom = zoom_to(pixels, view.rows, view.cols);
  return style;
}

/// What the amplitude is measured in. Object and probe share a factor that no pattern determines, so that the brightest
/// of the view is not always what the beam meets nothing in.
std::string amplitude_words(const Array& amplitude) {
  constexpr double near = 0.1;
  const double brightest = percentile_range(amplitude, 0, 99).high;
  return std::abs(brightest - 1) < near ? "1 is vacuum" : "relative: a factor is shared with the probe";
}

/// One image of a stack (S, rows, cols).
Array image_at(const Array& stack, Index s) {
  Array image(Device::cpu(), stack.shape().last(2), DType::f32);
  std::copy_n(static_cast<const float*>(stack.data()) + s * image.count(), image.count(),
              static_cast<float*>(image.data()));
  return image;
}

/// One picture of each slice, all with the colours of the same range, so that they can be compared.
void add_slices(const Result& result, const Box& view, std::vector<Figure>& figures) {
  const Array phases = phase_slices(result, view);
  const Index slices = phases.shape()[0];
  constexpr Index pixels = 256;  // three beside each other
  ImageStyle style = style_on_page(view, result.sampling, "rad", pixels);
  for (Index s = 0; s < slices; ++s) {
    const ValueRange range = percentile_range(image_at(phases, s), style.low_percentile, style.high_percentile);
    style.low = std::min(style.low.value_or(range.low), range.low);
    style.high = std::max(style.high.value_or(range.high), range.high);
  }
  const std::vector<double>& thickness = result.slice_thickness_a;
  for (Index s = 0; s < slices; ++s) {
    std::string caption = s == 0 ? "radians, the first that the beam meets" : "radians, the same range";
    if (!thickness.empty())
      caption +=
          fmt::format("; {:.4g} Å thick", thickness[std::min(static_cast<std::size_t>(s), thickness.size() - 1)]);
    figures.push_back(
        real_figure(fmt::format("Phase of slice {} of {}", s + 1, slices), caption, image_at(phases, s), style));
  }
}

/// Index 0 of both axes goes to the middle.
Array centred(const Image& power) {
  Array shown(Device::cpu(), Shape{power.rows, power.cols}, DType::f32);
  auto to = shown.view<float, 2>();
  for (Index r = 0; r < power.rows; ++r)
    for (Index c = 0; c < power.cols; ++c)
      to((r + power.rows / 2) % power.rows, (c + power.cols / 2) % power.cols) = static_cast<float>(power(r, c));
  return shown;
}

/// Hue is the phase, brightness the amplitude over its largest value; one pixel becomes `zoom` squared.
Array complex_picture(View<const complex128, 2> wave, Index zoom) {
  double largest = 0;
  for (Index r = 0; r < wave.extent[0]; ++r)
    for (Index c = 0; c < wave.extent[1]; ++c)
      if (const double amplitude = std::abs(wave(r, c)); std::isfinite(amplitude))
        largest = std::max(largest, amplitude);
  const auto& hues = colour_table(ColourMap::phase);
  Array picture(Device::cpu(), Shape{wave.extent[0] * zoom, wave.extent[1] * zoom, 3}, DType::u8);
  auto to = picture.view<std::uint8_t, 3>();
  for (Index r = 0; r < to.extent[0]; ++r)
    for (Index c = 0; c < to.extent[1]; ++c) {
      const complex128 value = wave(r / zoom, c / zoom);
      const bool finite = std::isfinite(std::abs(value));
      const double turn = finite ? std::arg(value) / (2 * std::numbers::pi) + 0.5 : 0;
      const Colour hue = finite ? hues[static_cast<std::size_t>(std::clamp(255 * turn, 0.0, 255.0))] : not_finite;
      // The root lifts the tails, which tell most about a probe.
      const double light = !finite ? 1 : largest > 0 ? std::sqrt(std::abs(value) / largest) : 0;
      to(r, c, 0) = static_cast<std::uint8_t>(std::lround(light * hue.red));
      to(r, c, 1) = static_cast<std::uint8_t>(std::lround(light * hue.green));
      to(r, c, 2) = static_cast<std::uint8_t>(std::lround(light * hue.blue));
    }
  return picture;
}

/// Which colour is which phase.
Figure wheel_figure() {
  constexpr Index side = 120;
  constexpr double room = 34, middle = room + side / 2.0;
  Array wave(Device::cpu(), Shape{side, side}, DType::c128);
  auto to = wave.view<complex128, 2>();
  const auto in_the_middle = [](Index i) { return (static_cast<double>(i) + 0.5) / (side / 2.0) - 1; };
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c) to(r, c) = {in_the_middle(c), -in_the_middle(r)};
  Array picture = complex_picture(std::as_const(wave).view<complex128, 2>(), 1);
  auto pixels = picture.view<std::uint8_t, 3>();
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c)
      if (std::abs(to(r, c)) > 1) pixels(r, c, 0) = pixels(r, c, 1) = pixels(r, c, 2) = 255;
  Svg svg(side + 2 * room, side + 2 * room, "hue is the phase");
  svg.picture({room, room}, side, side, picture);
  svg.text({room + side + 6, middle + 5}, "0", {.size = 14});
  svg.text({middle, room - 8}, "π/2", {.size = 14, .anchor = Anchor::middle});
  svg.text({room - 6, middle + 5}, "π", {.size = 14, .anchor = Anchor::end});
  svg.text({middle, room + side + 18}, "−π/2", {.size = 14, .anchor = Anchor::middle});
  return {"Colours of waves", "hue is the phase, brightness the root of the amplitude", svg.take()};
}

/// A scale bar in the lower left corner of a picture with `scale` CSS pixels for a pixel of the object.
void draw_scale(Svg& svg, SvgPoint corner, double scale, double width, const Sampling& sampling) {
  const bool calibrated = sampling.calibrated();
  const double per_unit = calibrated ? scale * 10 / sampling.pixel_col() : scale;
  const double length = scale_bar_length(0.3 * width / per_unit), bar = length * per_unit;
  const double box = std::max(bar, 50.0) + 20, left = corner.x + 8, top = corner.y - 44;
  svg.rectangle({left, top}, box, 36, {.fill = "white", .opacity = 0.85});
  svg.text({left + box / 2, top + 18}, fmt::format("{:g} {}", length, calibrated ? "nm" : "px"),
           {.size = 14, .anchor = Anchor::middle});
  svg.line({left + (box - bar) / 2, top + 27}, {left + (box + bar) / 2, top + 27}, {.stroke = "#222", .width = 3});
}

bool nearly(double a, double b) { return std::abs(a - b) < 1e-3 * std::abs(a); }

/// The middle square of a view, whose transform has pixels as wide as they are high.
Box middle_square(const Box& view) {
  const Index side = std::min(view.rows, view.cols);
  return {view.row + (view.rows - side) / 2, view.col + (view.cols - side) / 2, side, side};
}

Figure spectrum_of(const Result& result, const Findings& findings, const Box& square) {
  const Array phase = phase_image(result, square);
  Image image{square.rows, square.cols, std::vector<double>(static_cast<std::size_t>(phase.count()))};
  std::copy_n(static_cast<const float*>(phase.data()), phase.count(), image.values.begin());
  Image power = power_spectrum(image);
  for (double& value : power.values) value = std::log10(value + 1e-300);
  ImageStyle style;
  style.colours = ColourMap::inferno;
  style.low_percentile = 5;
  style.high_percentile = 99.9;
  std::string caption = "logarithm of the power";
  const Sampling& sampling = result.sampling;
  if (sampling.calibrated()) {
    const double step = 1 / (static_cast<double>(square.cols) * sampling.pixel_col());  // 1/A per pixel
    style.pixel_size = 10 * step;
    style.unit = "1/nm";
    if (findings.semiangle && nearly(sampling.pixel_row(), sampling.pixel_col())) {
      const auto middle = static_cast<double>(square.rows / 2);
      const double radius = *findings.semiangle / sampling.wavelength / step;
      for (const double factor : {1.0, 2.0})
        if (factor * radius < middle) style.overlays.emplace_back(sonde::Circle{middle, middle, factor * radius});
      caption += "; circles at the semiangle and at twice of it";
    }
  }
  return {"Spectrum of the phase", caption, html_image(render_image(centred(power), style), "spectrum of the phase")};
}

}  // namespace

std::vector<Figure> object_figures(const Result& result) {
  const Box view = result.field_of_view();
  const Index slices = result.object.shape()[0];
  const std::string of_all = slices > 1 ? fmt::format("{} slices together, ", slices) : "";
  constexpr Index large = 400;  // two beside each other
  std::vector<Figure> figures;
  figures.push_back(real_figure("Phase", of_all + "radians, field of view of the scan", phase_image(result, view),
                                style_on_page(view, result.sampling, "rad", large)));
  if (result.type == ObjectType::complex) {
    const Array amplitude = amplitude_image(result, view);
    figures.push_back(real_figure("Amplitude", of_all + amplitude_words(amplitude), amplitude,
                                  style_on_page(view, result.sampling, "", large)));
  }
  if (slices > 1) add_slices(result, view, figures);
  return figures;
}

std::optional<Figure> spectrum_figure(const Result& result, const Findings& findings) {
  constexpr Index smallest = 16;  // a spectrum of fewer pixels says nothing
  const Box square = middle_square(result.field_of_view());
  if (square.rows < smallest) return std::nullopt;
  return spectrum_of(result, findings, square);
}

Index variation_count(const Result& result) { return result.opr_modes.empty() ? 0 : result.opr_modes.shape()[0]; }

std::vector<Figure> probe_figures(const Result& result, const Findings& findings) {
  std::vector<Figure> figures;
  Array probe = in_double_precision(result.probe);
  const auto modes = std::as_const(probe).view<complex128, 3>();
  const Sampling& sampling = result.sampling;
  const Index zoom = zoom_to(512, modes.extent[1], modes.extent[2]);
  for (Index m = 0; m < modes.extent[0]; ++m) {
    Array picture = complex_picture(modes[m], zoom);
    add_scale(picture, sampling, zoom);
    figures.push_back({modes.extent[0] == 1 ? "Probe" : fmt::format("Mode {}", m + 1),
                       fmt::format("{:.1f} % of the power", 100 * findings.occupancy[static_cast<std::size_t>(m)]),
                       html_image(picture, fmt::format("probe mode {}", m + 1))});
  }
  const Array variations = variation_count(result) > 0 ? in_double_precision(result.opr_modes) : Array();
  for (Index l = 0; l < variation_count(result); ++l) {
    Array picture = complex_picture(variations.view<complex128, 3>()[l], zoom);
    add_scale(picture, sampling, zoom);
    figures.push_back({fmt::format("Variation {}", l + 1), "how the first mode varies along the scan",
                       html_image(picture, fmt::format("variation {} of the probe", l + 1))});
  }
  fourier(probe);
  const auto spectra = std::as_const(probe).view<complex128, 3>();
  Image power{spectra.extent[1], spectra.extent[2],
              std::vector<double>(static_cast<std::size_t>(spectra.extent[1] * spectra.extent[2]))};
  for (Index m = 0; m < spectra.extent[0]; ++m)
    for (Index r = 0; r < power.rows; ++r)
      for (Index c = 0; c < power.cols; ++c) power(r, c) += std::norm(spectra(m, r, c));
  ImageStyle style;
  style.colours = ColourMap::viridis;
  style.low_percentile = 0;
  style.high_percentile = 99.9;
  style.zoom = zoom;
  std::string caption = "intensity of all modes in the aperture plane";
  if (sampling.calibrated()) {
    style.pixel_size = 1000 * sampling.angle_col();
    style.unit = "mrad";
    if (findings.semiangle && nearly(sampling.angle_row(), sampling.angle_col())) {
      const auto row = static_cast<double>(power.rows / 2), col = static_cast<double>(power.cols / 2);
      style.overlays.emplace_back(sonde::Circle{row, col, *findings.semiangle / sampling.angle_row()});
      caption += "; the circle is the semiangle";
    }
  }
  figures.push_back(
      {"Aperture", caption, html_image(render_image(centred(power), style), "probe in the aperture plane")});
  figures.push_back(wheel_figure());
  return figures;
}

Figure position_figure(const Result& result, const Findings& findings) {
  constexpr double wide = 560, margin = 6;
  constexpr std::size_t most = 4000;  // arrows that still can be distinguished
  const Box view = result.field_of_view();
  const double scale = (wide - 2 * margin) / static_cast<double>(std::max(view.rows, view.cols));
  const double width = scale * static_cast<double>(view.cols), height = scale * static_cast<double>(view.rows);
  Svg svg(width + 2 * margin, height + 2 * margin, "positions");
  ImageStyle style;
  style.zoom = 1;
  svg.picture({margin, margin}, width, height, render_image(phase_image(result, view), style));
  svg.rectangle({margin, margin}, width, height, {.fill = "white", .opacity = 0.55});
  const auto place = [&](const Point& at) {
    // A pixel's centre is a whole number and lies in the middle of its square.
    return SvgPoint{margin + scale * (at.col - result.origin.col - static_cast<double>(view.col) + 0.5),
                    margin + scale * (at.row - result.origin.row - static_cast<double>(view.row) + 0.5)};
  };
  const std::size_t count = std::min(result.positions.size(), result.initial_positions.size());
  const std::size_t every = std::max<std::size_t>(1, (count + most - 1) / most);
  const double step = spacing_of(result.initial_positions).nearest;
  const double longer = arrows_longer(findings.movement, step);
  const double dot = std::clamp(0.08 * scale * step, 1.2, 2.5);
  for (std::size_t j = 0; j < count; j += every) {
    const Point &from = result.initial_positions[j], &to = result.positions[j];
    svg.circle(place(from), dot, {.fill = "#4477AA"});
    if (findings.movement.any())
      svg.arrow(place(from), place({from.row + longer * (to.row - from.row), from.col + longer * (to.col - from.col)}),
                {.stroke = "#C1272D", .width = std::clamp(0.8 * dot, 0.7, 1.6)});
  }
  std::string caption = "dots: positions as the file has them, over the phase";
  if (findings.movement.any()) {
    caption += "; arrows: how they were moved";
    caption += longer > 1 ? fmt::format(", {:g} times as long", longer) : ", to scale";
  }
  if (every > 1) caption += fmt::format("; one of {} is shown", every);
  draw_scale(svg, {margin, margin + height}, scale, width, result.sampling);
  return {"", caption, svg.take()};
}

}  // namespace sonde::ptycho
