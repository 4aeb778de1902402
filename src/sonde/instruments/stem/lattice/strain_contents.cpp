// SPDX-License-Identifier: Apache-2.0
// What a result of strain says and writes.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>

#include "sonde/engine/base/version.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/lattice/strain_result.h"

namespace sonde::stem {
namespace {

const char* text_of(StrainMeasure measure) {
  switch (measure) {
    case StrainMeasure::biot:
      return "biot";
    case StrainMeasure::infinitesimal:
      return "infinitesimal";
    case StrainMeasure::green_lagrange:
      return "green_lagrange";
    case StrainMeasure::reciprocal_first_order:
      return "reciprocal_first_order";
  }
  return "";
}

const char* text_of(OriginFit fit) {
  switch (fit) {
    case OriginFit::none:
      return "none";
    case OriginFit::mean:
      return "constant";
    case OriginFit::plane:
      return "plane";
    case OriginFit::parabola:
      return "parabola";
  }
  return "";
}

Value vectors_value(const Basis& basis) {
  Value value;
  value["g1_x"] = basis.g1_x;
  value["g1_y"] = basis.g1_y;
  value["g2_x"] = basis.g2_x;
  value["g2_y"] = basis.g2_y;
  return value;
}

Value strain_value(const Strain& strain) {
  Value value;
  value["e_xx"] = strain.xx;
  value["e_yy"] = strain.yy;
  value["e_xy"] = strain.xy;
  value["theta"] = strain.theta;
  return value;
}

std::string vectors_text(const Basis& basis) {
  return fmt::format("g1 ({:.3f}, {:.3f}), g2 ({:.3f}, {:.3f}) px", basis.g1_x, basis.g1_y, basis.g2_x, basis.g2_y);
}

std::string reasons_text(const StrainResult& result) {
  std::string list;
  for (std::size_t i = 1; i < fit_outcomes; ++i)
    if (result.outcomes[i] > 0)
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", result.outcomes[i], reason(static_cast<FitOutcome>(i)));
  return list;
}

}  // namespace

std::string strain_text(const Strain& strain, const char* form) {
  return fmt::format(fmt::runtime(fmt::format("e_xx {0}, e_yy {0}, e_xy {0}, theta {0}", form)), strain.xx, strain.yy,
                     strain.xy, strain.theta);
}

std::vector<std::string> StrainResult::lines() const {
  std::vector<std::string> lines;
  if (origin_stated) lines.emplace_back("origin    of every position, of the file");
  if (ellipse)
    lines.push_back(fmt::format("ellipse   {:.4g} : {:.4g} at {:.1f} degrees, of the file; corrected", ellipse->a,
                                ellipse->b, ellipse->theta * 180 / std::numbers::pi));
  if (origin_fit != OriginFit::none)
    lines.push_back(fmt::format("origin    {} through the direct disks, rms {:.3f} px; {} of {} left out",
                                text_of(origin_fit), origin.rms, origin.dropped, origin.used + origin.dropped));
  if (fitted() == 0) {
    lines.push_back(fmt::format("positions none of {} has a lattice ({})", positions(), reasons_text(*this)));
    return lines;
  }
  std::string lattice = "lattice   " + vectors_text(basis);
  lattice += found
                 ? fmt::format("; {:.0f} % of the intensity of {} maxima is on it", 100 * found->indexed, found->maxima)
                 : std::string(" (given)");
  if (by_cepstrum)
    lattice = "lattice   " + vectors_text(basis) +
              (found ? fmt::format("; of {} maxima of the mean cepstrum", found->maxima) : std::string(" (given)"));
  lines.push_back(std::move(lattice));
  const std::string without = reasons_text(*this);
  std::string place = fmt::format("positions {} of {} with a lattice", fitted(), positions());
  if (!without.empty()) place += " (" + without + ")";
  lines.push_back(place + (by_cepstrum ? std::string() : fmt::format(", residual {:.3f} px", residual)) +
                  (over_sigma > 0 ? fmt::format(", {:.2f} of the disks' own sigma", over_sigma) : ""));
  lines.push_back(reference_given
                      ? "reference " + vectors_text(reference) + " (given)"
                      : fmt::format("reference median of {} positions: {}; its error {}", reference_positions,
                                    vectors_text(reference), strain_text(reference_sigma, "{:.1e}")));
  const std::string axes =
      frame.scan ? fmt::format("scan (rotation {:.1f} degrees{})", frame.rotation * 180 / std::numbers::pi,
                               frame.transpose ? ", transposed" : "")
                 : std::string("detector");
  lines.push_back(fmt::format("strain    {}, along the axes of the {}; sigma (median) {}", text_of(measure), axes,
                              strain_text(median_sigma(), "{:.1e}")));
  if (scatter.xx > 0)
    lines.push_back("sanity    neighbours along a row differ, in units of sigma, by " + strain_text(scatter, "{:.2f}"));
  return lines;
}

Value StrainResult::to_value() const {
  Value value;
  value["origin"]["fit"] = origin_stated ? "file" : text_of(origin_fit);
  if (ellipse) {
    value["ellipse"]["a"] = ellipse->a;
    value["ellipse"]["b"] = ellipse->b;
    value["ellipse"]["theta_rad"] = ellipse->theta;
    value["ellipse"]["radius"] = ellipse->radius;
  }
  value["origin"]["rms_px"] = origin.rms;
  value["origin"]["left_out"] = origin.dropped;
  value["method"] = by_cepstrum ? "cepstrum" : "disks";
  value["frame"]["name"] = frame.name();
  value["frame"]["degrees"] = frame.rotation * 180 / std::numbers::pi;
  value["frame"]["transpose"] = frame.transpose;
  value["positions"]["fitted"] = fitted();
  for (std::size_t i = 1; i < fit_outcomes; ++i)
    if (outcomes[i] > 0) value["positions"][reason(static_cast<FitOutcome>(i))] = outcomes[i];
  value["measure"] = text_of(measure);
  value["warnings"] = warnings;
  value["status"] = failed() ? "not converged" : "done";
  if (fitted() == 0) return value;
  value["basis"] = vectors_value(basis);
  if (found) {
    value["basis"]["maxima"] = found->maxima;
    if (!by_cepstrum) value["basis"]["indexed"] = found->indexed;
  }
  value["max_peak_spacing"] = max_peak_spacing;
  value["reference"] = vectors_value(reference);
  value["reference"]["positions"] = reference_positions;
  value["reference"]["sigma"] = strain_value(reference_sigma);
  value["sigma"] = strain_value(median_sigma());
  if (!by_cepstrum) value["residual_px"] = residual;
  if (over_sigma > 0) value["residual_over_sigma"] = over_sigma;
  value["scatter_over_sigma"] = strain_value(scatter);
  return value;
}

namespace {

/// Maps of the positions with a lattice.
class StrainMaps {
 public:
  StrainMaps(const StrainResult& result, Contents& contents, const std::string& calibration, const std::string& command)
      : result_(result), contents_(contents), calibration_(calibration), command_(command) {}

  void describe(const std::string& name, Array values, const char* unit, const char* axes) {
    Contents::Variable& variable = contents_.add(name, {"scan row", "scan column"}, std::move(values)).unit(unit);
    variable.attributes.emplace_back("frame", std::string(axes));
    variable.attributes.emplace_back("calibration", calibration_);
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command_);
  }
  void add(const std::string& name, const char* unit, const char* axes,
           const std::function<double(std::size_t)>& value) {
    std::vector<float> map(result_.fits.size(), std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < map.size(); ++i)
      if (result_.fits[i].outcome == FitOutcome::fitted) map[i] = static_cast<float>(value(i));
    describe(name, Array::from(map, {result_.scan_rows, result_.scan_cols}), unit, axes);
  }

 private:
  const StrainResult& result_;
  Contents& contents_;
  const std::string &calibration_, &command_;
};

}  // namespace

void StrainResult::add_strain(Contents& contents, const std::string& calibration, const std::string& command) const {
  StrainMaps maps(*this, contents, calibration, command);
  const Shape shape{scan_rows, scan_cols};
  const char* axes = frame.name();
  contents.add_text("strain/frame", axes);
  maps.add("strain/e_xx", "", axes, [&](std::size_t i) { return strain[i].xx; });
  maps.add("strain/e_yy", "", axes, [&](std::size_t i) { return strain[i].yy; });
  maps.add("strain/e_xy", "", axes, [&](std::size_t i) { return strain[i].xy; });
  maps.add("strain/theta", "rad", axes, [&](std::size_t i) { return strain[i].theta; });
  maps.add("strain/sigma_exx", "", axes, [&](std::size_t i) { return sigma[i].xx; });
  maps.add("strain/sigma_eyy", "", axes, [&](std::size_t i) { return sigma[i].yy; });
  maps.add("strain/sigma_exy", "", axes, [&](std::size_t i) { return sigma[i].xy; });
  maps.add("strain/sigma_theta", "rad", axes, [&](std::size_t i) { return sigma[i].theta; });
  maps.add("strain/residual", "px", "detector", [&](std::size_t i) { return fits[i].residual; });
  std::vector<std::int32_t> peaks;
  std::vector<std::uint8_t> valid, outcome;
  for (const LatticeFit& fit : fits) {
    peaks.push_back(static_cast<std::int32_t>(fit.peaks));
    valid.push_back(fit.outcome == FitOutcome::fitted ? 1 : 0);
    outcome.push_back(static_cast<std::uint8_t>(fit.outcome));
  }
  maps.describe("strain/n_peaks", Array::from(peaks, shape), "", "scan");
  maps.describe("strain/valid", Array::from(valid, shape), "", "scan");
  maps.describe("strain/outcome", Array::from(outcome, shape), "", "scan");
  std::string words;
  for (std::size_t i = 0; i < fit_outcomes; ++i)
    words += fmt::format("{}{}: {}", i == 0 ? "" : ", ", i, reason(static_cast<FitOutcome>(i)));
  contents.attribute("strain/outcomes", words);
}

Contents StrainResult::contents(const std::string& command) const {
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.strain/1"));
  const std::string calibration = to_json(to_value(), -1);
  add_strain(contents, calibration, command);
  StrainMaps maps(*this, contents, calibration, command);
  maps.add("lattice/q0_x", "px", "detector", [&](std::size_t i) { return fits[i].q0_x; });
  maps.add("lattice/q0_y", "px", "detector", [&](std::size_t i) { return fits[i].q0_y; });
  maps.add("lattice/g1_x", "px", "detector", [&](std::size_t i) { return fits[i].basis.g1_x; });
  maps.add("lattice/g1_y", "px", "detector", [&](std::size_t i) { return fits[i].basis.g1_y; });
  maps.add("lattice/g2_x", "px", "detector", [&](std::size_t i) { return fits[i].basis.g2_x; });
  maps.add("lattice/g2_y", "px", "detector", [&](std::size_t i) { return fits[i].basis.g2_y; });
  return contents;
}

}  // namespace sonde::stem
