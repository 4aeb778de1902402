// SPDX-License-Identifier: Apache-2.0
// Fourier transforms and line profiles of what a client sees.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/view/session.h"
#include "sonde/instruments/stem/view/spectrum.h"

namespace sonde::stem {

using panel::Frame;
using panel::FrameKind;

const ClientView::Channel& ClientSession::channel_with_detector(Index channel) const {
  const ClientView::Channel& chosen = view_.channels[static_cast<std::size_t>(channel)];
  if (chosen.detector.empty())
    throw Error(ErrorKind::bad_input, fmt::format("channel {} has no detector", channel)).hint("set one first");
  return chosen;
}

Shown ClientSession::spectrum(const Target& target, const ClientView::Channel& channel) {
  const std::string name =
      key(target, fmt::format("spectrum{}{} {}", channel.hann ? " hann" : "", beam_key(target), channel.detector));
  if (std::optional<Shown> shown = catalogue_.cache().find(name)) return *shown;
  const PanelValues values{image(target, channel.detector).frame, {}};
  const Stopwatch watch;
  const std::vector<double> numbers = values.numbers();
  const std::vector<float> magnitude =
      fourier_magnitude({numbers.data(), values.rows(), values.cols()}, channel.hann ? Window::hann : Window::none);
  Shown shown{panel::make_frame<float>(FrameKind::spectrum, values.rows(), values.cols(), magnitude), 0, "", "", 0};
  shown.frame.compute_us = static_cast<std::uint32_t>(watch.seconds() * 1e6);
  catalogue_.cache().put(name, shown);
  return shown;
}

void ClientSession::send_spectrum(const Target& target, Index channel) {
  Frame frame = spectrum(target, channel_with_detector(channel)).frame;
  frame.channel = static_cast<std::uint16_t>(channel);
  send(std::move(frame), target);
}

Value ClientSession::request_fft(const Arguments& arguments) {
  const Index channel = arguments.whole("channel", 0, most_channels - 1);
  ClientView::Channel& chosen = view_.channels[static_cast<std::size_t>(channel)];
  Value reply;
  reply["channel"] = channel;
  if (arguments.has("on") && !arguments.truth_or("on", true)) {
    chosen.spectrum = false;
    return reply;
  }
  (void)channel_with_detector(channel);
  const bool hann = arguments.has("window") ? arguments.word("window", {"none", "hann"}) == "hann" : chosen.hann;
  const Target current = target(arguments);
  chosen.spectrum = arguments.truth_or("on", chosen.spectrum);
  chosen.hann = hann;
  if (!current.dataset) {
    tell_waiting(current, reply);
    return reply;
  }
  const PanelValues shown = values_of(current, "spectrum", channel);
  if (shown.scale.row_step && shown.scale.unit == "1/nm") {
    reply["step_per_nm"].push_back(*shown.scale.row_step);
    reply["step_per_nm"].push_back(*shown.scale.col_step);
  }
  const auto* magnitude = reinterpret_cast<const float*>(shown.frame.payload.data());
  if (const auto peak = spectrum_peak({magnitude, shown.rows(), shown.cols()})) {
    reply["peak"]["row"] = peak->row;
    reply["peak"]["col"] = peak->col;
    if (shown.scale.row_step && shown.scale.unit == "1/nm")
      reply["peak"]["frequency_per_nm"] =
          std::hypot(peak->row_frequency * static_cast<double>(shown.rows()) * *shown.scale.row_step,
                     peak->col_frequency * static_cast<double>(shown.cols()) * *shown.scale.col_step);
  } else {
    reply["peak"] = Value();
  }
  send_spectrum(current, channel);
  return reply;
}

PanelValues ClientSession::values_of(const Target& target, const std::string& panel, Index channel) {
  const Dataset& dataset = *target.dataset;
  if (panel == "pattern" || panel == "region")
    return {panel == "pattern" ? pattern(target).frame : reduced(target).frame,
            detector_scale(dataset.calibration(), dataset.det_bin())};
  const ClientView::Channel& chosen = channel_with_detector(channel);
  ImageScale scale = scan_scale(dataset.calibration(), dataset.scan_bin());
  if (panel == "image") return {image(target, chosen.detector).frame, scale};
  if (scale.unit == "nm") {
    // One pixel of the transform is one cycle over the whole image.
    scale.row_step = 1 / (*scale.row_step * static_cast<double>(dataset.shape()[0]));
    scale.col_step = 1 / (*scale.col_step * static_cast<double>(dataset.shape()[1]));
    scale.unit = "1/nm";
  }
  return {spectrum(target, chosen).frame, scale};
}

LineProfile ClientSession::profile_along(const Target& target, const ClientView::Line& line, ImageScale& scale) {
  const PanelValues values = values_of(target, line.panel, line.channel);
  scale = values.scale;
  const std::vector<double> numbers = values.numbers();
  return line_profile({numbers.data(), values.rows(), values.cols()}, line.p0, line.p1, line.width);
}

Value ClientSession::line_profile_of(const Arguments& arguments) {
  ClientView::Line line;
  line.panel = arguments.word("panel", {"image", "pattern", "region", "spectrum"});
  line.channel = arguments.whole_or("channel", 0, most_channels - 1, 0);
  const auto place = [&](const char* name) {
    const std::vector<double> both = arguments.reals(name);
    if (both.size() != 2) arguments.fail(fmt::format("\"{}\" is [row, col]", name));
    for (const double each : both)
      if (!(std::abs(each) < 1e6)) arguments.fail(fmt::format("\"{}\" lies far from the image", name));
    return Place{both[0], both[1]};
  };
  line.p0 = place("p0");
  line.p1 = place("p1");
  line.width = arguments.has("width") ? arguments.real("width") : 1;
  if (!(line.width >= 1 && line.width <= 1e4))
    arguments.fail(fmt::format("\"width\" is {}, expected 1 to 10000", line.width));
  const Target current = target(arguments);
  Value reply;
  if (!current.dataset) {
    view_.line = line;
    tell_waiting(current, reply);
    return reply;
  }
  const Stopwatch watch;
  ImageScale scale;
  const LineProfile profile = profile_along(current, line, scale);
  view_.line = line;
  const double length_px = std::hypot(line.p1.row - line.p0.row, line.p1.col - line.p0.col);
  const double length = std::hypot((line.p1.row - line.p0.row) * scale.row_step.value_or(1),
                                   (line.p1.col - line.p0.col) * scale.col_step.value_or(1));
  const double unit_per_px = length_px > 0 ? length / length_px : 1;
  reply["length"] = length;
  reply["unit"] = scale.unit;
  reply["step"] = profile.step_px * unit_per_px;
  reply["fwhm"] = profile.fwhm_px ? Value(*profile.fwhm_px * unit_per_px) : Value();
  const std::vector<float> values(profile.values.begin(), profile.values.end());
  Frame frame = panel::make_frame<float>(FrameKind::profile, 1, static_cast<Index>(values.size()), values);
  frame.channel = static_cast<std::uint16_t>(line.channel);
  frame.compute_us = static_cast<std::uint32_t>(watch.seconds() * 1e6);
  send(std::move(frame), current);
  return reply;
}

}  // namespace sonde::stem
