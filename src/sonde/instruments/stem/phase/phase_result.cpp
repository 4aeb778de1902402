// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/phase_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/math/wavelength.h"
#include "sonde/instruments/stem/phase/ricom.h"
#include "sonde/instruments/stem/results/provenance.h"

namespace sonde::stem {
namespace {

constexpr double two_pi = 2 * std::numbers::pi, degrees = 180 / std::numbers::pi;

// Judgements of the report. Noise gives a confidence near 0 and curl 1/2; simulated scans of atoms 0.95 and 0.03.
constexpr double low_confidence = 0.3, much_curl = 0.3, much_noise = 0.5;
constexpr double much_drift = 0.15;         // of 24 x 32 positions of small hills without any, at most 0.09
constexpr double sure = 3;                  // standard errors
constexpr double least_turn = 2 / degrees;  // rotations nearer than this to that of least curl are not doubted

Error lacks(const std::string& path, const std::string& what, const std::string& flags, const PhaseOptions& options) {
  const bool field = options.method == IntegralMethod::none;
  return std::move(Error(ErrorKind::bad_input,
                         fmt::format("{}: {} is not known, which the {} needs", path, what, field ? "field" : "phase"))
                       .hint(fmt::format("give {}, or take {} for detector pixels{}", flags, setting("units", "px"),
                                         field ? "" : " times scan steps")));
}

double pixel_of(const std::string& path, const Calibration& calibration, const PhaseOptions& options) {
  if (options.q_pixel) return *options.q_pixel;
  if (calibration.detector_step_inv_a) return calibration.detector_step_inv_a->value;
  std::string flags;
  if (calibration.detector_step_mrad) {
    flags = setting("voltage");
  } else if (calibration.detector_pixel_m) {
    if (!calibration.camera_length_m) flags = setting("camera_length");
    if (!calibration.high_tension_v) flags += (flags.empty() ? "" : " and ") + setting("voltage");
  }
  throw lacks(path, "the size of a detector pixel in 1/A", flags.empty() ? setting("q_pixel") : flags, options);
}

double in_turn(double angle) { return angle - two_pi * std::round(angle / two_pi); }

/// Of two directions without sense.
double between(double a, double b) {
  return std::abs(a - b - std::numbers::pi * std::round((a - b) / std::numbers::pi));
}

VectorField scaled(VectorField field, double factor) {
  for (std::vector<double>* component : {&field.x, &field.y})
    for (double& value : *component) value *= factor;
  return field;
}

void remove_mean(const VectorField& field, std::vector<double>& phase) {
  double sum = 0;
  for (std::size_t i = 0; i < phase.size(); ++i)
    if (field.valid[i] != 0) sum += phase[i];
  const double mean = sum / static_cast<double>(field.positions() - field.missing());
  for (std::size_t i = 0; i < phase.size(); ++i)
    phase[i] = field.valid[i] != 0 ? phase[i] - mean : std::numeric_limits<double>::quiet_NaN();
}

void integrate(const VectorField& gradient, const PhaseOptions& options, PhaseResult& result) {
  result.complete = gradient.valid;
  switch (options.method) {
    case IntegralMethod::dct:
      result.phase = integrate_cosine(gradient, options.regularise);
      break;
    case IntegralMethod::fourier:
      result.phase = integrate_fourier(gradient, {.padding = options.padding,
                                                  .highpass = options.q_highpass,
                                                  .lowpass = options.q_lowpass,
                                                  .order = options.butterworth_order,
                                                  .regularise = options.regularise});
      break;
    case IntegralMethod::cg: {
      ConjugateIntegral found =
          integrate_conjugate(gradient, {.regularise = options.regularise, .weigh_counts = options.weigh_counts});
      result.phase = std::move(found.values);
      result.iterations = found.iterations;
      if (!found.converged)
        result.warnings.push_back(fmt::format("the integral has not converged after {} iterations: residual {:.2g}",
                                              found.iterations, found.residual));
      if (found.regions > 1)
        result.warnings.push_back(fmt::format(
            "missing positions divide the scan into {} parts: their mean phases do not compare", found.regions));
      return;  // the mean of every part is 0
    }
    case IntegralMethod::none:
      result.complete.clear();
      return;
    case IntegralMethod::ricom: {
      const RicomKernel kernel({.half = options.kernel,
                                .lowest = options.kernel_lowest,
                                .highest = options.kernel_highest,
                                .normalise = options.normalise},
                               gradient.step_row, gradient.step_col);
      result.phase = integrate_kernel(gradient, kernel);
      result.complete = reached(gradient.valid, gradient.rows, gradient.cols, kernel.half());
      for (std::size_t i = 0; i < result.phase.size(); ++i)
        if (gradient.valid[i] == 0) result.phase[i] = std::numeric_limits<double>::quiet_NaN();
      return;
    }
  }
  remove_mean(gradient, result.phase);
}

/// What is wrong with an orientation that was given, the transposition first: a wrong one spoils the angle too.
void doubt_given(const RotationRequest& request, PhaseResult& result) {
  const ScanRotation& found = result.rotation;
  const LeastCurl& least = found.transpose ? found.transposed : found.straight;
  const LeastCurl& other = found.transpose ? found.straight : found.transposed;
  if (request.transpose && found.confidence > low_confidence && least.curl > other.curl) {
    result.warnings.push_back(fmt::format(
        "transposed scan: {} leaves {:.0f} % of the field as curl, {} at {:.1f} degrees only {:.1f} %: rows and "
        "columns of scan or detector are exchanged in the data or in the settings",
        setting("transpose", found.transpose ? "1" : "0"), 100 * found.curl,
        setting("transpose", found.transpose ? "0" : "1"), other.rotation * degrees, 100 * other.curl));
    return;
  }
  if (!request.rotation || found.confidence < low_confidence) return;
  if (between(found.rotation, least.rotation) > std::max(sure * found.standard_error, least_turn)) {
    result.warnings.push_back(fmt::format(
        "wrong rotation: {:.1f} degrees leave {:.0f} % of the field as curl; the least, {:.1f} %, is at {:.1f} +/- "
        "{:.1f} degrees or half a turn from it",
        found.rotation * degrees, 100 * found.curl, 100 * least.curl, least.rotation * degrees,
        found.standard_error * degrees));
  } else if (request.contrast == Contrast::automatic && found.skewness > sure * found.skewness_error) {
    result.warnings.push_back(fmt::format(
        "inverted contrast: the divergence is skewed by {:+.2f}, so the specimen is a valley of the phase; if it "
        "should be a hill, the rotation is {:.1f} degrees",
        found.skewness, in_turn(found.rotation + std::numbers::pi) * degrees));
  }
}

double squares_of(const VectorField& field) {
  double sum = 0;
  for (std::size_t i = 0; i < field.x.size(); ++i)
    if (field.valid[i] != 0) sum += field.x[i] * field.x[i] + field.y[i] * field.y[i];
  return sum;
}

/// Of the plane through the centres of mass.
std::optional<CentreDrift> drift_of(const VectorField& centres, const Origin& origin) {
  const Origin plane = fit_origin(centres, OriginFit::plane);
  const double squares = squares_of(measured_from(centres, origin));
  if (squares == 0) return std::nullopt;
  return CentreDrift{.px = 2 * std::max(std::hypot(plane.x[1] + plane.x[2], plane.y[1] + plane.y[2]),
                                        std::hypot(plane.x[1] - plane.x[2], plane.y[1] - plane.y[2])),
                     .share = 1 - squares_of(measured_from(centres, plane)) / squares};
}

/// What may have made the rotation uncertain.
std::string cause_of_doubt(const std::optional<CountingNoise>& noise) {
  if (!noise) return "deflections are little more than noise, or the scan is too small";
  if (noise->share > much_noise)
    return fmt::format("{:.0f} % of the squared deflections is noise of the counts", 100 * noise->share);
  return fmt::format(
      "noise of the counts is only {:.0f} % of the squared deflections: the scan is too small, or the "
      "deflections are not those of a phase",
      100 * noise->share);
}

void doubt_found(const RotationRequest& request, PhaseResult& result) {
  const ScanRotation& found = result.rotation;
  if (!(request.rotation && request.transpose) && found.confidence < low_confidence)
    result.warnings.push_back(
        fmt::format("the rotation is not certain: confidence {:.2f}; {}. Give {} and {} of another scan of this "
                    "microscope",
                    found.confidence, cause_of_doubt(result.noise), setting("rotation"), setting("transpose")));
  else if (result.noise && result.noise->share > much_noise)
    result.warnings.push_back(
        fmt::format("{:.0f} % of the squared deflections is noise of the counts, which the integral turns into slow "
                    "waves; more counts or {} reduce it",
                    100 * result.noise->share, setting("scan_bin", "2")));
  if (!request.rotation && request.contrast == Contrast::automatic &&
      std::abs(found.skewness) < sure * found.skewness_error)
    result.warnings.push_back(
        fmt::format("hills and valleys of the phase may be exchanged: the skewness {:+.2f} +/- {:.2f} of the "
                    "divergence does not tell them apart. Give {} or a {}",
                    found.skewness, found.skewness_error, setting("sign"), setting("rotation")));
  if (found.used > 0 && found.curl > much_curl && found.confidence >= low_confidence && result.warnings.empty())
    result.warnings.push_back(
        fmt::format("{:.0f} % of the field is curl, which no phase gives: noise, descan or diffraction contrast",
                    100 * found.curl));
}

void doubt_rest(const PhaseOptions& options, PhaseResult& result) {
  const OriginFit fit = options.origin_fit();
  if (options.reference().empty() && (fit == OriginFit::plane || fit == OriginFit::parabola))
    result.warnings.push_back(
        fmt::format("{} also takes slow variations of the specimen away; {}SCAN of a vacuum scan does not",
                    setting("fit", fit == OriginFit::plane ? "plane" : "parabola"), setting("fit", "file:")));
  if (options.method == IntegralMethod::none) return;
  const Index missing = result.centres.missing();
  if (missing > 0 && options.method != IntegralMethod::cg)
    result.warnings.push_back(
        fmt::format("{} of {} positions are missing and were filled from beside them; {} leaves "
                    "them out",
                    missing, result.centres.positions(), setting("method", "cg")));
  if (options.method == IntegralMethod::ricom &&
      options.kernel < std::max(result.centres.rows, result.centres.cols) - 1)
    result.warnings.push_back(fmt::format("the kernel damps features wider than about {} steps", 2 * options.kernel));
}

}  // namespace

std::string PhaseScale::phase_unit() const {
  switch (unit) {
    case PhaseUnit::rad:
      return "rad";
    case PhaseUnit::cycles:
      return "cycles";
    case PhaseUnit::volts:
      return "V A";
    case PhaseUnit::px:
      return "px step";
    case PhaseUnit::mrad:
      return "mrad step";
  }
  return "";
}

std::string PhaseScale::field_unit() const {
  return unit == PhaseUnit::px ? "px" : unit == PhaseUnit::mrad ? "mrad" : unit == PhaseUnit::volts ? "V" : "1/A";
}

std::string PhaseScale::derivative_unit() const {
  return in_steps() ? field_unit() + "/step" : unit == PhaseUnit::volts ? "V/A" : "1/A^2";
}

double PhaseScale::field_factor() const { return unit == PhaseUnit::volts ? -two_pi / sigma : 1; }

double PhaseScale::gradient_factor() const {
  return unit == PhaseUnit::rad ? two_pi : unit == PhaseUnit::volts ? two_pi / sigma : 1;
}

PhaseScale phase_scale(const std::string& path, const Calibration& calibration, Index det_bin, Index scan_bin,
                       const PhaseOptions& options) {
  PhaseScale scale{.det_bin = det_bin, .scan_bin = scan_bin, .unit = options.units};
  scale.record = calibration_value(calibration);
  if (options.q_pixel) {
    scale.record["q_pixel"]["value"] = *options.q_pixel;
    scale.record["q_pixel"]["from"] = "user";
  }
  const auto &row = calibration.scan_step_row_nm, &col = calibration.scan_step_col_nm;
  if (scale.in_steps()) {
    if (row && col) scale.step_row = row->value / col->value;
    if (options.units == PhaseUnit::px) return scale;
    if (!calibration.detector_step_mrad)
      throw lacks(path, "the angle of a detector pixel", setting("camera_length"), options);
    scale.pixel = calibration.detector_step_mrad->value * static_cast<double>(det_bin);
    return scale;
  }
  if (!row || !col) throw lacks(path, "the distance of scan positions", setting("scan_step"), options);
  scale.step_row = 10 * row->value * static_cast<double>(scan_bin);
  scale.step_col = 10 * col->value * static_cast<double>(scan_bin);
  scale.pixel = pixel_of(path, calibration, options) * static_cast<double>(det_bin);
  if (options.units != PhaseUnit::volts) return scale;
  if (!calibration.high_tension_v) throw lacks(path, "the accelerating voltage", setting("voltage"), options);
  scale.sigma = interaction_constant(calibration.high_tension_v->value / 1000);
  return scale;
}

double PhaseResult::missing_share() const {
  return static_cast<double>(centres.missing()) / static_cast<double>(centres.positions());
}

std::vector<std::string> PhaseResult::lines() const {
  const auto [low, high] = [&] {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double value : phase)
      if (std::isfinite(value)) {
        least = std::min(least, value);
        most = std::max(most, value);
      }
    return std::pair(least, most);
  }();
  const LeastCurl& least = rotation.transpose ? rotation.transposed : rotation.straight;
  const char* transposed = rotation.transpose ? "transposed" : "not transposed";
  std::vector<std::string> lines = {
      rotation.given
          ? fmt::format("rotation  {:.2f} degrees as given, {}; least curl at {:.2f} +/- {:.2f} or half a turn from it",
                        rotation.rotation * degrees, transposed, least.rotation * degrees,
                        rotation.standard_error * degrees)
          : fmt::format("rotation  {:.2f} +/- {:.2f} degrees, {}, from the detector to the scan",
                        rotation.rotation * degrees, rotation.standard_error * degrees, transposed),
      fmt::format("sanity    confidence {:.2f}, curl {:.1f} % of curl and divergence, skewness {:+.2f} +/- {:.2f}, "
                  "{:.1f} % of positions missing",
                  rotation.confidence, 100 * rotation.curl, rotation.skewness, rotation.skewness_error,
                  100 * missing_share())};
  if (noise)
    lines.push_back(
        fmt::format("noise     counts scatter centres by {:.2g} px (median), deflections are {:.2g} px (rms)",
                    noise->median_px, noise->deflection_px));
  if (errors.threshold)
    lines.push_back(fmt::format("threshold {:.4g} counts{}, pixels above have {:.1f} % of all counts",
                                *errors.threshold, errors.found_threshold ? " from the corners of the detector" : "",
                                100 * errors.counts_kept));
  if (drift && drift->share > much_drift)
    lines.push_back(
        fmt::format("drift     centres of mass drift by {:.2g} px across the scan, {:.0f} % of the squared "
                    "deflections: descan or a "
                    "slow field of the specimen; {} takes both away",
                    drift->px, 100 * drift->share, setting("fit", "plane")));
  if (!phase.empty()) lines.push_back(fmt::format("phase     {:.4g} to {:.4g} {}", low, high, scale.phase_unit()));
  return lines;
}

Value PhaseResult::to_value() const {
  Value value;
  value["unit"] = phase.empty() ? scale.field_unit() : scale.phase_unit();
  value["calibration"] = scale.record;
  Value& turn = value["rotation"];
  turn["degrees"] = rotation.rotation * degrees;
  turn["transpose"] = rotation.transpose;
  turn["given"] = rotation.given;
  turn["standard_error_degrees"] = rotation.standard_error * degrees;
  turn["confidence"] = rotation.confidence;
  turn["curl"] = rotation.curl;
  turn["skewness"] = rotation.skewness;
  turn["skewness_error"] = rotation.skewness_error;
  for (const auto& [words, curl] :
       {std::pair("straight", rotation.straight), std::pair("transposed", rotation.transposed)}) {
    turn[words]["degrees"] = curl.rotation * degrees;
    turn[words]["curl"] = curl.curl;
  }
  Value& measured_from = value["origin"];
  measured_from["used"] = origin.used;
  measured_from["dropped"] = origin.dropped;
  measured_from["rms_px"] = origin.rms;
  measured_from["x"] = Value::list();
  measured_from["y"] = Value::list();
  for (const double term : origin.x) measured_from["x"].push_back(term);
  for (const double term : origin.y) measured_from["y"].push_back(term);
  if (drift) {
    value["drift"]["px"] = drift->px;
    value["drift"]["share"] = drift->share;
  }
  if (noise) {
    value["noise"]["median_px"] = noise->median_px;
    value["noise"]["deflection_px"] = noise->deflection_px;
    value["noise"]["share"] = noise->share;
  }
  if (errors.threshold) {
    value["threshold"]["counts"] = *errors.threshold;
    value["threshold"]["found"] = errors.found_threshold;
    value["threshold"]["counts_kept"] = errors.counts_kept;
  }
  value["positions"] = centres.positions();
  value["missing"] = centres.missing();
  value["iterations"] = iterations;
  value["warnings"] = warnings;
  return value;
}

PhaseResult make_phase(VectorField centres, const PhaseScale& scale, const PhaseOptions& options,
                       const std::optional<VectorField>& reference, CentreErrors errors) {
  if (reference && (reference->rows != centres.rows || reference->cols != centres.cols))
    throw Error(ErrorKind::bad_input, fmt::format("the reference has {} x {} positions, the scan {} x {}",
                                                  reference->rows, reference->cols, centres.rows, centres.cols))
        .hint("give a vacuum scan of the same shape, or " + setting("fit", "mean"));
  if (centres.positions() - centres.missing() < 2)
    throw Error(ErrorKind::bad_input, fmt::format("{} of {} positions have counts; a {} needs 2 or more",
                                                  centres.positions() - centres.missing(), centres.positions(),
                                                  options.method == IntegralMethod::none ? "field" : "phase"))
        .hint("lower " + setting("min_counts"));
  centres.step_row = scale.step_row;
  centres.step_col = scale.step_col;
  PhaseResult result{.scale = scale, .options = options, .centres = std::move(centres), .errors = std::move(errors)};
  result.origin = fit_origin(reference ? *reference : result.centres, options.origin_fit());
  const VectorField deflections = measured_from(result.centres, result.origin);
  result.noise = counting_noise(deflections, result.errors);
  const RotationRequest request = options.rotation_request();
  result.rotation = find_rotation(deflections, request);
  if (options.origin_fit() == OriginFit::mean && !reference && result.rotation.used > 0)
    result.drift = drift_of(result.centres, result.origin);
  result.field = turned(deflections, result.rotation.rotation, result.rotation.transpose, scale.pixel);
  doubt_given(request, result);
  doubt_found(request, result);
  integrate(scaled(result.field, scale.gradient_factor()), options, result);
  doubt_rest(options, result);
  result.field = scaled(std::move(result.field), scale.field_factor());
  result.derivatives = curl_and_divergence(result.field);
  return result;
}

}  // namespace sonde::stem
