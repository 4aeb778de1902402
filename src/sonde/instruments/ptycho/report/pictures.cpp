// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/report/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "sonde/engine/figure/html.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/figure/svg.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/quality/spectrum.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/scan/spacing.h"

namespace sonde::ptycho {
namespace {

std::string img(const Array& picture, std::string_view words) {
  return fmt::format("<img alt=\"{}\" src=\"{}\">", html_text(words), png_data(picture));
}

void add_scale(const Sampling& sampling, ImageStyle& style) {
  if (!sampling.calibrated()) return;
  style.pixel_size = sampling.pixel_col() / 10;
  style.unit = "nm";
}

Index zoom_to(Index pixels, Index rows, Index cols) { return std::max<Index>(1, pixels / std::max(rows, cols)); }

Figure real_figure(std::string title, std::string caption, const Array& image, const Sampling& sampling) {
  ImageStyle style;
  style.colour_bar = true;
  add_scale(sampling, style);
  std::string markup = img(render_image(image, style), title);
  return {std::move(title), std::move(caption), std::move(markup)};
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
    for (Index c = 0; c < wave.extent[1]; ++c) largest = std::max(largest, std::abs(wave(r, c)));
  const auto& hues = colour_table(ColourMap::phase);
  Array picture(Device::cpu(), Shape{wave.extent[0] * zoom, wave.extent[1] * zoom, 3}, DType::u8);
  auto to = picture.view<std::uint8_t, 3>();
  for (Index r = 0; r < to.extent[0]; ++r)
    for (Index c = 0; c < to.extent[1]; ++c) {
      const complex128 value = wave(r / zoom, c / zoom);
      const double turn = std::arg(value) / (2 * std::numbers::pi) + 0.5;
      const Colour hue = hues[static_cast<std::size_t>(std::clamp(255 * turn, 0.0, 255.0))];
      // The root lifts the tails, which tell most about a probe.
      const double light = largest > 0 ? std::sqrt(std::abs(value) / largest) : 0;
      to(r, c, 0) = static_cast<std::uint8_t>(std::lround(light * hue.red));
      to(r, c, 1) = static_cast<std::uint8_t>(std::lround(light * hue.green));
      to(r, c, 2) = static_cast<std::uint8_t>(std::lround(light * hue.blue));
    }
  return picture;
}

/// A scale bar in the lower left corner of a picture with `scale` CSS pixels for a pixel of the object.
void draw_scale(Svg& svg, SvgPoint corner, double scale, double width, const Sampling& sampling) {
  const double per_nm = scale * 10 / sampling.pixel_col(), length = scale_bar_length(0.3 * width / per_nm);
  const double bar = length * per_nm, box = std::max(bar, 50.0) + 20, left = corner.x + 8, top = corner.y - 44;
  svg.rectangle({left, top}, box, 36, {.fill = "white", .opacity = 0.85});
  svg.text({left + box / 2, top + 18}, fmt::format("{:g} nm", length), {.size = 14, .anchor = Anchor::middle});
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
  return {"Spectrum of the phase", caption, img(render_image(centred(power), style), "spectrum of the phase")};
}

}  // namespace

std::vector<Figure> object_figures(const Result& result) {
  const Box view = result.field_of_view();
  const Index slices = result.object.shape()[0];
  const std::string of_all = slices > 1 ? fmt::format("{} slices together, ", slices) : "";
  std::vector<Figure> figures;
  figures.push_back(
      real_figure("Phase", of_all + "radians, field of view of the scan", phase_image(result, view), result.sampling));
  if (result.type == ObjectType::complex)
    figures.push_back(real_figure("Amplitude", of_all + "1 is vacuum", amplitude_image(result, view), result.sampling));
  if (slices > 1) {
    std::vector<Panel> panels;
    for (Index s = 0; s < slices; ++s) {
      Result one;
      one.type = ObjectType::complex;
      const Array all = result.transmission();
      one.object = Array(Device::cpu(), Shape{1, all.shape()[1], all.shape()[2]}, DType::c128);
      std::copy_n(static_cast<const complex128*>(all.data()) + s * one.object.count(), one.object.count(),
                  static_cast<complex128*>(one.object.data()));
      ImageStyle style;
      style.zoom = zoom_to(256, view.rows, view.cols);
      style.colour_bar = true;
      panels.push_back({fmt::format("slice {}", s + 1), render_image(phase_image(one, view), style)});
    }
    figures.push_back(
        {"Phase of every slice",
         fmt::format("{:.4g} A thick{}, in the order of the beam", fmt::join(result.slice_thickness_a, ", "),
                     result.slice_thickness_a.size() > 1 ? "" : " each"),
         img(montage(panels), "phase of every slice")});
  }
  return figures;
}

std::optional<Figure> spectrum_figure(const Result& result, const Findings& findings) {
  constexpr Index smallest = 16;  // a spectrum of fewer pixels says nothing
  const Box square = middle_square(result.field_of_view());
  if (square.rows < smallest) return std::nullopt;
  return spectrum_of(result, findings, square);
}

std::vector<Figure> probe_figures(const Result& result, const Findings& findings) {
  std::vector<Figure> figures;
  Array probe = in_double_precision(result.probe);
  const auto modes = std::as_const(probe).view<complex128, 3>();
  const Sampling& sampling = result.sampling;
  const Index zoom = zoom_to(512, modes.extent[1], modes.extent[2]);
  for (Index m = 0; m < modes.extent[0]; ++m) {
    Array picture = complex_picture(modes[m], zoom);
    if (sampling.calibrated()) add_scale_bar(picture, sampling.pixel_col() / 10 / static_cast<double>(zoom), "nm");
    figures.push_back({modes.extent[0] == 1 ? "Probe" : fmt::format("Mode {}", m + 1),
                       fmt::format("{:.1f} % of the power", 100 * findings.occupancy[static_cast<std::size_t>(m)]),
                       img(picture, fmt::format("probe mode {}", m + 1))});
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
  figures.push_back({"Aperture", caption, img(render_image(centred(power), style), "probe in the aperture plane")});
  return figures;
}

Figure position_figure(const Result& result, const Findings& findings) {
  constexpr double wide = 560, margin = 6;
  constexpr std::size_t most = 4000;  // arrows that still can be told apart
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
    if (longer > 1) caption += fmt::format(", {:g} times as long", longer);
  }
  if (every > 1) caption += fmt::format("; one of {} is shown", every);
  if (result.sampling.calibrated()) draw_scale(svg, {margin, margin + height}, scale, width, result.sampling);
  return {"", caption, svg.take()};
}

}  // namespace sonde::ptycho
