// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/geometry.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/math/wavelength.h"
#include "sonde/instruments/ptycho/scan/spacing.h"

namespace sonde::ptycho {
namespace {

constexpr const char* run_file = "the run file";

/// "2.5 times as much".
std::string factor(double now, double before) { return fmt::format("{:.3g} times as much", now / before); }

/// Takes the numbers of both files one by one, and keeps what there is to say about those that differ.
class Merge {
 public:
  Merge(const Source& source, Geometry& found) : by_(short_name(source.file)), found_(found) {}

  /// What the run file says unless it says nothing.
  std::optional<Claim> operator()(const char* key, const std::optional<double>& set,
                                  const std::optional<double>& file) {
    if (!set) return file ? std::optional(Claim(*file, by_)) : std::nullopt;
    if (file) compare(key, *set, *file);
    return Claim(*set, run_file);
  }

  /// Notes when the run file's number is not that of the data file.
  void compare(const char* key, double set, double file) {
    constexpr double rounding = 1e-6;  // of numbers that went through single precision or a few printed digits
    const double off = std::abs(set / file - 1);
    if (off < rounding) return;
    (off < claim_tolerance ? found_.notes : found_.warnings)
        .push_back(fmt::format("{} = {:.6g} of the run file is used, {} says {:.6g}: {}", key, set, by_, file,
                               factor(set, file)));
  }

 private:
  std::string by_;
  Geometry& found_;
};

/// All that is missing at once.
void require_known(std::initializer_list<std::pair<const char*, bool>> claims) {
  std::vector<std::string> missing;
  for (const auto& [key, known] : claims)
    if (!known) missing.emplace_back(key);
  if (!missing.empty())
    throw Error(ErrorKind::bad_input, fmt::format("the sampling is not known: {} {} missing", join_words(missing),
                                                  missing.size() == 1 ? "is" : "are"))
        .hint("give it in [geometry], or units = \"pixel\" to work without energy and angles");
}

/// Electrons that form images have 1 keV to 10 MeV, photons 1 eV to 1 MeV: whatever is beyond was meant in eV or MeV.
void require_plausible(const Claim& energy, ProbeType type) {
  const bool photons = type == ProbeType::photon;
  const double least = photons ? 1e-3 : 1.0, most = photons ? 1e3 : 1e4, value = energy.value;
  if (!(value > 0) || (value >= least && value <= most)) return;  // zero and below: the wavelength says so
  Error error(ErrorKind::bad_input, fmt::format("energy_keV = {:.6g} of {}: {} for imaging have {} to {} keV", value,
                                                energy.by, photons ? "photons" : "electrons", least, most));
  const double other = value > most ? value / 1000 : value * 1000;
  if (other >= least && other <= most)
    error.hint(fmt::format("{:.6g} {} would be energy_keV = {:.6g}", value, value > most ? "eV" : "MeV", other));
  throw error;
}

/// CXI and PtyD are X-ray formats that people also keep electrons in, and neither says which. Photons above 30 keV meet
/// no detector whose pixels span more than 0.1 mrad; electrons usually do.
void require_probe_type(const Source& source, const GeometrySettings& set, const SamplingClaims& claims) {
  if (set.probe_type || !source.probe_type_assumed || source.probe_type != ProbeType::photon) return;
  if (!claims.energy_kev || !claims.detector_pixel_m || !claims.distance_m) return;
  constexpr double least_energy_kev = 30, least_angle = 1e-4;
  const double angle = claims.detector_pixel_m->value / claims.distance_m->value;
  if (claims.energy_kev->value <= least_energy_kev || !(angle > least_angle)) return;
  throw Error(
      ErrorKind::bad_input,
      fmt::format("{}: {} has no probe type; {:.4g} keV and {:.3g} mrad per detector pixel are those of electrons",
                  source.file, source.format, claims.energy_kev->value, 1000 * angle))
      .hint("set geometry.probe_type to \"electron\" or \"photon\"");
}

/// Settings that speak of lengths and angles where all is in pixels.
void tell_unused(const GeometrySettings& set, Geometry& found) {
  std::vector<std::string> keys;
  const auto look = [&](const char* key, const std::optional<double>& value) {
    if (value) keys.emplace_back(key);
  };
  look("energy_keV", set.energy_kev);
  look("semiangle_mrad", set.semiangle_mrad);
  look("detector_mrad_per_px", set.detector_mrad_per_px);
  look("detector_inv_A_per_px", set.detector_inv_a_per_px);
  look("detector_pixel_m", set.detector_pixel_m);
  look("distance_m", set.distance_m);
  look("object_pixel_A", set.object_pixel_a);
  look("scan_step_A", set.scan_step_a);
  if (!keys.empty())
    found.warnings.push_back(
        fmt::format("geometry.units is \"pixel\": {} {} not used", join_words(keys), keys.size() == 1 ? "is" : "are"));
}

Sampling electrons(Index rows, Index cols, const SamplingClaims& claims) {
  std::optional<Claim> angle = claims.mrad_per_px;
  if (!angle && claims.energy_kev) {
    const double mrad = 1000 * electron_wavelength(claims.energy_kev->value);  // of 1/A
    if (claims.inv_a_per_px)
      angle = mrad * claims.inv_a_per_px->value;
    else if (claims.object_pixel_a)
      angle = mrad / (static_cast<double>(cols) * claims.object_pixel_a->value);
  }
  const bool calibrated = angle || claims.inv_a_per_px || claims.object_pixel_a;
  require_known(
      {{"energy_keV", claims.energy_kev.has_value()}, {"detector_mrad_per_px (or detector_inv_A_per_px)", calibrated}});
  return electron_sampling(rows, cols, claims.energy_kev->value, angle->value);
}

Sampling photons(Index rows, Index cols, const SamplingClaims& claims) {
  require_known({{"energy_keV", claims.energy_kev.has_value()},
                 {"detector_pixel_m", claims.detector_pixel_m.has_value()},
                 {"distance_m", claims.distance_m.has_value()}});
  return photon_sampling(rows, cols, claims.energy_kev->value, claims.detector_pixel_m->value,
                         claims.distance_m->value);
}

/// The two steps of a raster whose points jitter: the slopes of positions over line and column.
std::vector<double> lattice_steps(const std::vector<Point>& points, const Extent& shape) {
  Point along_rows, along_cols;
  double rows2 = 0, cols2 = 0;
  for (Index i = 0; i < shape.rows; ++i)
    for (Index k = 0; k < shape.cols; ++k) {
      const Point& at = points[static_cast<std::size_t>(i * shape.cols + k)];
      const double row = static_cast<double>(i) - static_cast<double>(shape.rows - 1) / 2;
      const double col = static_cast<double>(k) - static_cast<double>(shape.cols - 1) / 2;
      along_rows = {along_rows.row + row * at.row, along_rows.col + row * at.col};
      along_cols = {along_cols.row + col * at.row, along_cols.col + col * at.col};
      rows2 += row * row;
      cols2 += col * col;
    }
  std::vector<double> steps;
  if (rows2 > 0) steps.push_back(std::hypot(along_rows.row, along_rows.col) / rows2);
  if (cols2 > 0) steps.push_back(std::hypot(along_cols.row, along_cols.col) / cols2);
  return steps;
}

}  // namespace

std::string short_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

Geometry geometry_of(const Source& source, const GeometrySettings& set) {
  const Index rows = source.shape[1], cols = source.shape[2];
  Geometry found;
  found.probe_type = set.probe_type ? *set.probe_type : source.probe_type.value_or(ProbeType::electron);
  if (set.scan_step_px) found.step_px = Claim(*set.scan_step_px, run_file);
  if (set.units == Units::pixel) {
    tell_unused(set, found);
    found.sampling = pixel_sampling(rows, cols);
    return found;
  }
  Merge merge(source, found);
  SamplingClaims claims;
  claims.n = cols;
  claims.photons = found.probe_type == ProbeType::photon;
  claims.energy_kev = merge("energy_keV", set.energy_kev, source.energy_kev);
  if (claims.energy_kev) require_plausible(*claims.energy_kev, found.probe_type);
  claims.mrad_per_px = merge("detector_mrad_per_px", set.detector_mrad_per_px, source.mrad_per_px);
  claims.inv_a_per_px = merge("detector_inv_A_per_px", set.detector_inv_a_per_px, source.inv_a_per_px);
  // One calibration of the detector in the run file replaces both of the data file: of those one often follows from the
  // other and an energy.
  if (set.detector_mrad_per_px.has_value() != set.detector_inv_a_per_px.has_value() && claims.energy_kev &&
      claims.mrad_per_px && claims.inv_a_per_px) {
    const double wavelength = electron_wavelength(claims.energy_kev->value);
    if (set.detector_mrad_per_px) {
      const double of_file = 1000 * wavelength * claims.inv_a_per_px->value;
      if (!source.mrad_per_px) merge.compare("detector_mrad_per_px", *set.detector_mrad_per_px, of_file);
      claims.inv_a_per_px.reset();
    } else {
      const double of_file = claims.mrad_per_px->value / 1000 / wavelength;
      if (!source.inv_a_per_px) merge.compare("detector_inv_A_per_px", *set.detector_inv_a_per_px, of_file);
      claims.mrad_per_px.reset();
    }
  }
  claims.detector_pixel_m = merge("detector_pixel_m", set.detector_pixel_m, source.detector_pixel_m);
  claims.distance_m = merge("distance_m", set.distance_m, source.distance_m);
  if (set.object_pixel_a) claims.object_pixel_a = Claim(*set.object_pixel_a, run_file);
  claims.step_px = found.step_px;
  claims.step_a = merge("scan_step_A", set.scan_step_a, source.step_a);
  found.step_a = claims.step_a;
  require_probe_type(source, set, claims);
  if (!claims.photons && (set.detector_pixel_m || set.distance_m) && (claims.mrad_per_px || claims.inv_a_per_px))
    throw Error(ErrorKind::bad_input,
                "the angle of a detector pixel is known, and detector_pixel_m or distance_m is given")
        .hint("leave out geometry.detector_pixel_m and geometry.distance_m");
  if (!claims.photons && !claims.mrad_per_px && !claims.inv_a_per_px && claims.detector_pixel_m && claims.distance_m)
    claims.mrad_per_px = Claim(1000 * claims.detector_pixel_m->value / claims.distance_m->value, claims.distance_m->by);
  require_consistent(claims);
  found.sampling = claims.photons ? photons(rows, cols, claims) : electrons(rows, cols, claims);
  if (const std::optional<Claim> mrad = merge("semiangle_mrad", set.semiangle_mrad, source.semiangle_mrad))
    found.semiangle = mrad->value / 1000;
  return found;
}

std::optional<std::string> compare_step(const std::vector<Point>& positions, const std::optional<Extent>& shape,
                                        const Geometry& geometry) {
  const bool in_pixels = geometry.step_px.has_value();
  if (!in_pixels && !(geometry.step_a && geometry.sampling.calibrated())) return std::nullopt;
  const Claim& step = in_pixels ? *geometry.step_px : *geometry.step_a;
  const std::vector<Point> places = in_pixels ? positions : in_angstrom(positions, geometry.sampling);
  const bool raster = shape && shape->rows * shape->cols == static_cast<Index>(places.size());
  std::vector<double> steps;
  if (raster) {
    steps = lattice_steps(places, *shape);
  } else {
    const Spacing spacing = spacing_of(places, Interruption::looked_for);
    steps = {spacing.nearest, spacing.across};
  }
  // A list of refined positions is stretched by a per cent or two; scattered ones have no step but a typical distance.
  const double tolerance = raster ? 0.05 : 0.33;
  const auto off = [&](double found) { return std::abs(std::log(step.value / found)); };
  double nearest = 0;
  for (const double found : steps) {
    if (!(found > 0)) continue;  // a single line or place
    if (std::abs(step.value - found) <= tolerance * found) return std::nullopt;
    if (nearest == 0 || off(found) < off(nearest)) nearest = found;
  }
  if (nearest == 0) return std::nullopt;
  const char* unit = in_pixels ? "px" : "A";
  const std::string message =
      fmt::format("the step is inconsistent: the positions are {:.4g} {} apart, scan_step_{} = {:.4g} of {}: {}",
                  nearest, unit, unit, step.value, step.by, factor(step.value, nearest));
  if (step.by != run_file) return message;
  Error error(ErrorKind::bad_input, message);
  const double pixel = geometry.sampling.pixel_col();
  const auto is_pixel = [&](double ratio) { return !in_pixels && std::abs(ratio / pixel - 1) < tolerance; };
  if (is_pixel(step.value / nearest))
    error.hint(fmt::format("a pixel is {:.4g} A: are the positions in pixels? positions.unit = \"px\"", pixel));
  else if (is_pixel(nearest / step.value))
    error.hint(fmt::format("a pixel is {:.4g} A: is the step in pixels? scan_step_A = {:.4g}", pixel, nearest));
  else
    error.hint("positions of a list need no step: leave it out, or check positions.unit and the list");
  throw error;
}

}  // namespace sonde::ptycho
