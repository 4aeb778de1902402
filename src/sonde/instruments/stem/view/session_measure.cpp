// SPDX-License-Identifier: Apache-2.0
// Fourier transforms and line profiles of what a client sees.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/trusted.h"
#include "sonde/instruments/stem/results/depiction.h"
#include "sonde/instruments/stem/view/session.h"
#include "sonde/instruments/stem/view/spectrum.h"

namespace sonde::stem {

using panel::Frame;
using panel::FrameKind;

namespace {

/// What a picture of a pattern shows: bad pixels, also those that are only marked, are no numbers, so that they do not
/// set its range. Empty where all are good: the pattern itself.
Array trusted_only(const Dataset& dataset, const PanelValues& pattern) {
  const std::vector<std::uint8_t> trusted = trusted_pixels(dataset);
  if (std::find(trusted.begin(), trusted.end(), std::uint8_t{0}) == trusted.end()) return {};
  const std::vector<double> numbers = pattern.numbers();
  Array values(Device::cpu(), {pattern.rows(), pattern.cols()}, DType::f32);
  auto* to = static_cast<float*>(values.data());
  for (std::size_t q = 0; q < numbers.size(); ++q)
    to[q] = trusted[q] != 0 ? static_cast<float>(numbers[q]) : std::numeric_limits<float>::quiet_NaN();
  return values;
}

}  // namespace

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
  const std::string counted = dataset.dtype() == DType::f32 ? "" : "counts";
  if (panel == "pattern" || panel == "region") {
    PanelValues shown{panel == "pattern" ? pattern(target).frame : reduced(target).frame,
                      detector_scale(dataset.calibration(), dataset.det_bin()),
                      {.unit = counted, .palette = Palette::pattern}};
    shown.depiction.values = trusted_only(dataset, shown);
    return shown;
  }
  const ClientView::Channel& chosen = channel_with_detector(channel);
  ImageScale scale = scan_scale(dataset.calibration(), dataset.scan_bin());
  if (panel == "image") {
    const Shown shown = image(target, chosen.detector);
    return {shown.frame, scale, depiction(target, chosen.detector), shown.exact};
  }
  if (scale.unit == "nm") {
    // One pixel of the transform is one cycle over the whole image.
    scale.row_step = 1 / (*scale.row_step * static_cast<double>(dataset.shape()[0]));
    scale.col_step = 1 / (*scale.col_step * static_cast<double>(dataset.shape()[1]));
    scale.unit = "1/nm";
  }
  return {spectrum(target, chosen).frame, scale, {.unit = "", .palette = Palette::spectrum}};
}

double units_per_px(const LineProfile& profile, const ImageScale& scale) {
  const double rows = profile.p1.row - profile.p0.row, cols = profile.p1.col - profile.p0.col;
  const double length_px = std::hypot(rows, cols);
  if (length_px == 0) return 1;
  return std::hypot(rows * scale.row_step.value_or(1), cols * scale.col_step.value_or(1)) / length_px;
}

Depiction ClientSession::depiction(const Target& target, const std::string& detector) const {
  const Dataset& dataset = *target.dataset;
  const std::optional<Moment> moment = moment_of(detector);
  if (!moment) return {.unit = dataset.dtype() == DType::f32 ? "" : "counts"};
  return depiction_of(*moment, deflection_unit(*moment, dataset), deflection_origin(dataset, geometry(target, true)));
}

LineProfile ClientSession::profile_along(const Target& target, const ClientView::Line& line, ImageScale& scale,
                                         std::string* value_unit) {
  const PanelValues values = values_of(target, line.panel, line.channel);
  scale = values.scale;
  if (value_unit != nullptr) *value_unit = values.depiction.unit;
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
      if (!(std::abs(each) < 1e6)) arguments.fail(fmt::format("\"{}\" is far from the image", name));
    return Place{both[0], both[1]};
  };
  line.p0 = place("p0");
  line.p1 = place("p1");
  line.width = arguments.has("width") ? arguments.real("width") : 1;
  if (!(line.width >= 1 && line.width <= 1e6))
    arguments.fail(fmt::format("\"width\" is {}, expected 1 to 1000000", line.width));
  const Target current = target(arguments);
  Value reply;
  if (!current.dataset) {
    view_.line = line;
    tell_waiting(current, reply);
    return reply;
  }
  const Stopwatch watch;
  ImageScale scale;
  std::string value_unit;
  const LineProfile profile = profile_along(current, line, scale, &value_unit);
  view_.line = line;
  const double unit_per_px = units_per_px(profile, scale);
  reply["length"] = std::hypot(profile.p1.row - profile.p0.row, profile.p1.col - profile.p0.col) * unit_per_px;
  for (const auto& [name, end] : {std::pair("p0", profile.p0), std::pair("p1", profile.p1)}) {
    reply[name].push_back(end.row);
    reply[name].push_back(end.col);
  }
  reply["unit"] = scale.unit;
  reply["value_unit"] = value_unit;
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
