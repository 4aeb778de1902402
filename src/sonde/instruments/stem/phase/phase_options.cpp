// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/phase_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/read/calibration_steps.h"

namespace sonde::stem {
namespace {

constexpr std::string_view file_prefix = "file:";

/// "auto" or degrees.
std::optional<double> parse_rotation(std::string_view text, std::string_view where) {
  if (text == "auto") return std::nullopt;
  double degrees = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), degrees);
  if (problem != std::errc() || end != text.data() + text.size() || !(degrees >= -360 && degrees <= 360))
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected auto, or degrees from -360 to 360", where, text));
  return degrees;
}

/// "auto", "0" or "1".
std::optional<bool> parse_transpose(std::string_view text, std::string_view where) {
  if (text == "auto") return std::nullopt;
  if (text != "0" && text != "1")
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected auto, 0 or 1", where, text));
  return text == "1";
}

/// "none", "auto" or counts.
CentreThreshold parse_threshold(std::string_view text, std::string_view where) {
  if (text == "none") return {};
  if (text == "auto") return {.automatic = true};
  double counts = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), counts);
  if (problem != std::errc() || end != text.data() + text.size() || !(counts >= 0 && counts <= 1e15))
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected none, auto, or 0 or more counts", where, text));
  return {.counts = counts};
}

OriginFit parse_fit(std::string_view text, std::string_view where) {
  if (text == "none") return OriginFit::none;
  if (text == "mean") return OriginFit::mean;
  if (text == "plane") return OriginFit::plane;
  if (text == "parabola" || (text.starts_with(file_prefix) && text.size() > file_prefix.size()))
    return OriginFit::parabola;
  throw Error(ErrorKind::usage,
              fmt::format("{}: \"{}\"; expected none, mean, plane, parabola or file:SCAN", where, text));
}

template <auto parse>
void check_text(std::string_view text, std::string_view where) {
  (void)parse(text, where);
}

}  // namespace

void PhaseOptions::describe_centres(Fields& fields) {
  fields.heading("Where deflections are measured from");
  fields.add("fit", fit,
             {.help = "surface through the centres of mass that is taken away; file: a parabola through those of a "
                      "vacuum scan of the same shape",
              .metavar = "none|mean|plane|parabola|file:SCAN",
              .check = check_text<parse_fit>});
  fields.add("min_counts", min_counts,
             {.help = "positions with fewer counts are missing", .unit = "counts", .min = 0, .max = 1e15});
  fields.add("threshold", threshold,
             {.help = "pixels with up to so many counts count as zero in centres of mass; auto: mean + 3 sigma of the "
                      "pixels in the corners of the detector, for which all frames are decoded once more",
              .unit = "counts",
              .metavar = "none|COUNTS|auto",
              .check = check_text<parse_threshold>});
}

void PhaseOptions::describe_orientation(Fields& fields) {
  fields.heading("How the detector is turned to the scan");
  fields.add("rotation", rotation,
             {.help = "from the axes of the detector to those of the scan, clockwise on a screen; auto: what the file "
                      "states, else least curl",
              .unit = "degrees",
              .metavar = "DEG|auto",
              .check = check_text<parse_rotation>});
  fields.add("transpose", transpose,
             {.help = "whether rows and columns of the detector are exchanged, before the rotation; auto: what the "
                      "file states, else least curl",
              .metavar = "0|1|auto",
              .check = check_text<parse_transpose>});
  fields.choice("convention", convention,
                {{"sonde", Convention::sonde}, {"py4dstem", Convention::py4dstem}, {"libertem", Convention::libertem}},
                {.help = "whose rotation and transposition are given; of libertem scan_rotation and flip_y"});
  fields.choice("sign", sign, {{"auto", Contrast::automatic}, {"+", Contrast::hills}, {"-", Contrast::valleys}},
                {.help = "whether the specimen is a hill (+) or a valley (-) of the phase, which decides between two "
                         "rotations half a turn apart; auto: a hill, with a warning where it is not clear which"});
  fields.add("rotation_blur", rotation_blur,
             {.help = "Gaussian on the field before the rotation is looked for; 0: none",
              .unit = "steps",
              .min = 0,
              .max = 100});
  fields.add("skip_calibration", skip_calibration,
             {.help = "steps of the calibration in the file that are not applied: pixel, transpose, rotation",
              .metavar = "STEP,...",
              .check = check_steps});
}

void PhaseOptions::describe_integral(Fields& fields) {
  fields.heading("The integral");
  fields.choice("method", method,
                {{"dct", IntegralMethod::dct},
                 {"fourier", IntegralMethod::fourier},
                 {"cg", IntegralMethod::cg},
                 {"ricom", IntegralMethod::ricom}},
                {.help = "exact least squares; Fourier transforms of a padded field; least squares where positions are "
                         "missing; the kernel sum of riCOM"});
  fields.add("regularise", regularise,
             {.help = "added to the squared frequency (fourier) or times the squared phase (dct, cg): damps what is "
                      "slow",
              .unit = "1/A^2",
              .min = 0,
              .max = 1e9});
  fields.add("padding", padding, {.help = "size of the padded field of fourier; 1: periodic", .min = 1, .max = 8});
  fields.add("q_highpass", q_highpass,
             {.help = "of fourier: frequencies below are damped", .unit = "1/A", .min = 1e-9, .max = 1e9});
  fields.add("q_lowpass", q_lowpass,
             {.help = "of fourier: frequencies above are damped", .unit = "1/A", .min = 1e-9, .max = 1e9});
  fields.add("butterworth_order", butterworth_order, {.help = "of these filters", .min = 1, .max = 64});
  fields.add("weigh_counts", weigh_counts, {.help = "of cg: pairs of positions weigh as their counts"});
  fields.add(
      "kernel", kernel,
      {.help = "of ricom: positions on each side; wider features are damped", .unit = "steps", .min = 1, .max = 16384});
  fields.add(
      "kernel_lowest", kernel_lowest,
      {.help = "of ricom: frequencies of the kernel above this pass, cycles over its width", .min = 0, .max = 32768});
  fields.add("kernel_highest", kernel_highest,
             {.help = "of ricom: frequencies of the kernel up to this pass", .min = 0, .max = 32768});
  fields.add("normalise", normalise, {.help = "of ricom: a kernel that gives rad; without: d / |d|^2 in steps"});
}

void PhaseOptions::describe_units(Fields& fields) {
  fields.heading("Units");
  if (method == IntegralMethod::none)
    fields.choice("units", units,
                  {{"px", PhaseUnit::px}, {"mrad", PhaseUnit::mrad}, {"1/A", PhaseUnit::rad}, {"V", PhaseUnit::volts}},
                  {.help = "of deflections along the scan: detector pixels, mrad, 1/A, or the projected field in V"});
  else
    fields.choice(
        "units", units,
        {{"rad", PhaseUnit::rad}, {"cycles", PhaseUnit::cycles}, {"V", PhaseUnit::volts}, {"px", PhaseUnit::px}},
        {.help = "of the phase: rad; rad / 2 pi, as py4DSTEM's DPC gives it; projected potential in V A; "
                 "detector pixels times scan steps, which needs no calibration"});
  fields.add("q_pixel", q_pixel,
             {.help = "reciprocal size of a stored detector pixel, in place of what the file states",
              .unit = "1/A",
              .min = 1e-9,
              .max = 1e3});
}

void PhaseOptions::describe(Fields& fields) {
  describe_centres(fields);
  describe_orientation(fields);
  if (method != IntegralMethod::none) describe_integral(fields);
  describe_units(fields);
  fields.heading("");
}

OriginFit PhaseOptions::origin_fit() const { return parse_fit(fit, setting("fit")); }

std::string PhaseOptions::reference() const {
  return fit.starts_with(file_prefix) ? fit.substr(file_prefix.size()) : std::string();
}

CentreThreshold PhaseOptions::centre_threshold() const { return parse_threshold(threshold, setting("threshold")); }

RotationRequest PhaseOptions::rotation_request() const {
  RotationRequest request{.contrast = sign, .blur = rotation_blur};
  const std::optional<double> degrees = parse_rotation(rotation, setting("rotation"));
  const std::optional<bool> flag = parse_transpose(transpose, setting("transpose"));
  request.transpose = flag;
  if (!degrees) return request;
  if (convention == Convention::libertem && !flag)
    throw Error(ErrorKind::usage, "a scan_rotation of LiberTEM means another angle with its flip_y")
        .hint("give " + setting("transpose", "0") + " or " + setting("transpose", "1") + ", which is flip_y, too");
  request.rotation = from_convention(convention, *degrees * std::numbers::pi / 180, flag.value_or(false)).rotation;
  return request;
}

Calibration PhaseOptions::used(Calibration calibration) const {
  return without(std::move(calibration), parse_steps(skip_calibration, setting("skip_calibration")));
}

void PhaseOptions::check() const {
  (void)rotation_request();
  check_steps(skip_calibration, setting("skip_calibration"));
  if (kernel_lowest && kernel_highest && *kernel_lowest >= *kernel_highest)
    throw Error(ErrorKind::usage,
                fmt::format("no frequency of the kernel is above {:g} and up to {:g}", *kernel_lowest, *kernel_highest))
        .hint("give a larger " + setting("kernel_highest") + " or a smaller " + setting("kernel_lowest"));
}

StatedOrientation with_orientation(PhaseOptions options, const Calibration& calibration) {
  if (options.rotation != "auto" || options.transpose != "auto" || !calibration.rotation_rad)
    return {std::move(options), false};
  // The convention of the settings is that of a given angle; calibrations are in ours.
  options.convention = Convention::sonde;
  options.rotation =
      fmt::format("{:.9g}", std::remainder(calibration.rotation_rad->value * 180 / std::numbers::pi, 360));
  options.transpose = calibration.transpose.value_or(false) ? "1" : "0";
  return {std::move(options), true};
}

}  // namespace sonde::stem
