// SPDX-License-Identifier: Apache-2.0
// From the options to the scan.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/simulate/forward.h"
#include "sonde/instruments/ptycho/simulate/scan_errors.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"
#include "sonde/instruments/ptycho/simulate/source.h"
#include "sonde/instruments/ptycho/simulate/streams.h"

namespace sonde::ptycho {
namespace {

constexpr double layer_spacing_ratio = 0.825, layer_turn = 0.5;  // 4.0 and 3.3 A: no common reflections
constexpr Index margin = 2;                                      // pixels of the object around the windows

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

std::pair<double, double> pair_of(std::string_view text, std::string_view key) {
  const std::vector<double> numbers = parse_numbers(text, key);
  if (numbers.size() != 2)
    throw Error(ErrorKind::usage, fmt::format("{} \"{}\": expected two numbers with a comma between", key, text));
  return {numbers[0], numbers[1]};
}

void require_pair(std::string_view text, std::string_view where) { (void)pair_of(text, where); }

std::pair<Index, Index> scan_shape_of(const SimulateOptions& options) {
  const auto [rows, cols] = pair_of(options.scan_shape, "scan_shape");
  if (!(rows >= 1) || !(cols >= 1) || rows != std::floor(rows) || cols != std::floor(cols) || rows * cols > 1e9)
    throw Error(ErrorKind::bad_input, fmt::format("a scan of {} positions", options.scan_shape));
  return {static_cast<Index>(rows), static_cast<Index>(cols)};
}

Sampling sampling_of(const SimulateOptions& options) {
  return electron_sampling(options.detector_px, options.detector_px, options.energy_keV,
                           2 * options.detector_mrad / static_cast<double>(options.detector_px));
}

/// One mode of power one.
Array coherent_probe(const SimulateOptions& options, const Sampling& sampling, double defocus) {
  ApertureOptics optics;
  optics.semiangle = options.semiangle_mrad / 1000;
  optics.aberrations.set("defocus", defocus);
  optics.aberrations.set("C12", options.C12_A);
  optics.aberrations.set("phi12", radians(options.phi12_deg));
  optics.aberrations.set("C30", options.C30_A);
  return aperture_probe(sampling, optics);
}

Array probe_of(const SimulateOptions& options, const Sampling& sampling) {
  const Array coherent = coherent_probe(options, sampling, options.defocus_A);
  Array probe = with_source_size(with_occupancies(coherent, parse_numbers(options.occupancies, "occupancies")),
                                 sampling, options.source_fwhm_A);
  scale_to_counts(probe, options.counts_per_frame);
  return probe;
}

/// Nominal positions in A and actual ones in pixels.
struct Scan {
  std::vector<Point> nominal_a, actual_px;
};

Scan scan_of(const SimulateOptions& options, const Sampling& sampling) {
  const auto [rows, cols] = scan_shape_of(options);
  if (rows * cols > 1 && !(options.scan_step_A > 0))
    throw Error(ErrorKind::bad_input,
                fmt::format("scan_step_A {:g}: {} positions are in one place", options.scan_step_A, rows * cols))
        .hint("give a step above 0, or scan_shape 1,1");
  Scan scan;
  scan.nominal_a = raster_positions({.rows = rows,
                                     .cols = cols,
                                     .step_row = options.scan_step_A,
                                     .step_col = options.scan_step_A,
                                     .transpose = options.transpose,
                                     .rotation = radians(options.scan_rotation_deg)});
  const auto rounded = [&](std::vector<Point> points) {
    if (options.whole_pixels)
      for (Point& point : points) point = {std::round(point.row), std::round(point.col)};
    return points;
  };
  scan.nominal_a = in_angstrom(rounded(in_pixels(scan.nominal_a, sampling)), sampling);
  const auto [drift_row, drift_col] = pair_of(options.drift_A, "drift_A");
  const ScanErrors errors{.scale = options.scan_scale,
                          .shear = options.scan_shear,
                          .drift_row = drift_row,
                          .drift_col = drift_col,
                          .jitter = options.jitter_A};
  const std::vector<Point> actual_a =
      actual_positions(scan.nominal_a, errors, static_cast<std::uint64_t>(options.seed));
  scan.actual_px = rounded(in_pixels(actual_a, sampling));
  const ObjectExtent extent = object_extent(scan.actual_px, {sampling.rows, sampling.cols}, margin);
  scan.actual_px = moved(scan.actual_px, extent.offset);
  return scan;
}

Array phase_of(const SimulateOptions& options, const Grid& grid, const Box& view) {
  if (options.layers < 1) throw Error(ErrorKind::bad_input, fmt::format("{} layers", options.layers));
  Array phase(Device::cpu(), {options.layers, grid.rows, grid.cols}, DType::f64);
  for (Index layer = 0; layer < options.layers; ++layer) {
    const auto depth = static_cast<double>(layer);
    const Lattice lattice{.kind = options.lattice,
                          .spacing = options.spacing_A * std::pow(layer_spacing_ratio, depth),
                          .turn = radians(options.lattice_turn_deg) + layer_turn * depth,
                          .peak = options.peak_rad,
                          .second_peak = options.second_peak_rad,
                          .displacement = options.displacement_A,
                          .vacancies = options.vacancies};
    // Layers are different pieces of the same material: the golden ratio's bits keep their seeds apart.
    const std::uint64_t seed =
        static_cast<std::uint64_t>(options.seed) + 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(layer);
    Array map = atom_phase(lattice_sites(lattice, grid, seed), options.atom_rms_A, grid);
    if (layer == 0) {
      // Both within the field of view: the patch in its upper left part, the step across its lower right.
      const auto at = [&](double part) {
        return Point{(static_cast<double>(view.row) + part * static_cast<double>(view.rows)) * grid.pixel_row,
                     (static_cast<double>(view.col) + part * static_cast<double>(view.cols)) * grid.pixel_col};
      };
      const double radius = 0.25 * static_cast<double>(std::max(view.rows, view.cols)) * grid.pixel_row;
      if (options.amorphous_rad > 0) add_amorphous_patch(map, grid, at(0.3), radius, options.amorphous_rad, seed);
      if (options.step_rad != 0) add_step(map, grid, at(0.75), 1.0, options.step_rad, options.atom_rms_A);
    }
    std::copy_n(static_cast<const double*>(map.data()), map.count(), phase.view<double, 3>()[layer].data);
  }
  return phase;
}

std::vector<double> layer_distances_of(const SimulateOptions& options) {
  std::vector<double> distances = parse_numbers(options.layer_distance_A, "layer_distance_A");
  const auto gaps = static_cast<std::size_t>(options.layers - 1);
  if (distances.size() == 1) distances.resize(gaps, distances.front());
  if (distances.size() != gaps)
    throw Error(ErrorKind::bad_input, fmt::format("layer_distance_A \"{}\": {} layers have {} distances",
                                                  options.layer_distance_A, options.layers, gaps))
        .hint("give one number for all, or one from each layer to the next");
  for (const double distance : distances)
    if (distance < 0) throw Error(ErrorKind::bad_input, fmt::format("layers {} A apart", distance));
  return distances;
}

std::vector<std::uint8_t> good_pixels(const SimulateOptions& options) {
  const Index pixels = options.detector_px * options.detector_px;
  if (options.dead_pixels < 0 || 4 * options.dead_pixels > pixels)
    throw Error(ErrorKind::bad_input, fmt::format("{} dead pixels on a detector of {}", options.dead_pixels, pixels))
        .hint("at most a quarter of the pixels can be dead");
  std::vector<std::uint8_t> good(static_cast<std::size_t>(pixels), 1);
  Random random = random_for(static_cast<std::uint64_t>(options.seed), Use::dead_pixels);
  for (Index dead = 0; dead < options.dead_pixels;) {
    std::uint8_t& pixel = good[static_cast<std::size_t>(random.below(pixels))];
    dead += pixel;
    pixel = 0;
  }
  return good;
}

}  // namespace

void SimulateOptions::describe(Fields& fields) {
  fields.add("output", output, {.help = "HDF5 file to write", .metavar = "FILE.h5", .letter = 'o'});
  fields.heading("beam");
  fields.add("energy_keV", energy_keV, {.help = "energy of the electrons", .unit = "keV", .min = 1, .max = 3000});
  fields.add("semiangle_mrad", semiangle_mrad, {.help = "convergence semiangle", .unit = "mrad", .min = 0.01});
  fields.add("defocus_A", defocus_A, {.help = "defocus of the probe, positive is underfocus", .unit = "A"});
  fields.add("C12_A", C12_A, {.help = "twofold astigmatism", .unit = "A"});
  fields.add("phi12_deg", phi12_deg, {.help = "its direction", .unit = "degrees"});
  fields.add("C30_A", C30_A, {.help = "spherical aberration", .unit = "A"});
  fields.add("defocus_error", defocus_error,
             {.help = "share by which the defocus that the file states is too small", .min = -10, .max = 10});
  fields.add("occupancies", occupancies,
             {.help = "shares of the power of incoherent modes, made of the probe times coordinates",
              .metavar = "P0,P1,...",
              .check = require_numbers});
  fields.add("source_fwhm_A", source_fwhm_A,
             {.help = "full width at half maximum of a Gaussian source, seen at the specimen", .unit = "A", .min = 0});
  fields.heading("detector");
  fields.add("detector_px", detector_px, {.help = "pixels along each side", .min = 4, .max = 8192});
  fields.add("detector_mrad", detector_mrad,
             {.help = "angle from the centre to the side", .unit = "mrad", .min = 0.01, .max = 1500});
  fields.add("dead_pixels", dead_pixels, {.help = "pixels that never count", .min = 0});
  fields.add("counts_per_frame", counts_per_frame,
             {.help = "mean electrons per pattern", .unit = "counts", .min = 1e-3, .max = 1e12});
  fields.choice("dtype", dtype, {{"u16", DType::u16}, {"u32", DType::u32}}, {.help = "element type of the frames"});
  fields.heading("scan");
  fields.add("scan_shape", scan_shape, {.help = "scan positions", .metavar = "ROWS,COLS", .check = require_pair});
  fields.add("scan_step_A", scan_step_A, {.help = "distance of scan positions", .unit = "A", .min = 0});
  fields.add("scan_rotation_deg", scan_rotation_deg,
             {.help = "rotation of the scan, counter-clockwise with rows upwards", .unit = "degrees"});
  fields.add("transpose", transpose, {.help = "exchange rows and columns of the scan before it is turned"});
  fields.add("whole_pixels", whole_pixels, {.help = "round positions to whole object pixels"});
  fields.add("jitter_A", jitter_A, {.help = "rms error of every position along each axis", .unit = "A", .min = 0});
  fields.add("drift_A", drift_A,
             {.help = "drift over the whole scan", .unit = "A", .metavar = "ROW,COL", .check = require_pair});
  fields.add("scan_scale", scan_scale, {.help = "true size of the scan over its nominal size", .min = 0.1, .max = 10});
  fields.add("scan_shear", scan_shear, {.help = "columns move by this times the row", .min = -1, .max = 1});
  fields.heading("specimen");
  fields.choice("lattice", lattice, {{"square", LatticeKind::square}, {"hexagonal", LatticeKind::hexagonal}},
                {.help = "arrangement of the atoms"});
  fields.add("spacing_A", spacing_A, {.help = "distance of neighbouring atoms", .unit = "A", .min = 0.5});
  fields.add("lattice_turn_deg", lattice_turn_deg, {.help = "rotation of the lattice", .unit = "degrees"});
  fields.add("atom_rms_A", atom_rms_A, {.help = "rms width of an atom", .unit = "A", .min = 0.01});
  fields.add("peak_rad", peak_rad, {.help = "phase at the middle of an atom", .unit = "rad"});
  fields.add("second_peak_rad", second_peak_rad, {.help = "the same of every other atom", .unit = "rad"});
  fields.add("displacement_A", displacement_A,
             {.help = "rms displacement of the atoms along each axis", .unit = "A", .min = 0});
  fields.add("vacancies", vacancies, {.help = "share of the sites that are empty", .min = 0, .max = 1});
  fields.add("amorphous_rad", amorphous_rad, {.help = "rms phase of an amorphous patch", .unit = "rad", .min = 0});
  fields.add("step_rad", step_rad, {.help = "phase step across a line", .unit = "rad"});
  fields.add("layers", layers, {.help = "layers that scatter one after the other", .min = 1, .max = 1000});
  fields.add("layer_distance_A", layer_distance_A,
             {.help = "distance of the layers: one number for all, or one from each layer to the next",
              .unit = "A",
              .metavar = "D|D1,D2,...",
              .check = require_numbers});
  fields.add("tilt_row_mrad", tilt_row_mrad,
             {.help = "tilt of the specimen: a positive one moves the wave to larger rows on its way between layers",
              .unit = "mrad"});
  fields.add("tilt_col_mrad", tilt_col_mrad, {.help = "the same along columns", .unit = "mrad"});
  fields.add("seed", seed, {.help = "start of the random numbers", .min = 0});
}

double stated_defocus(const SimulateOptions& options) { return options.defocus_A * (1 - options.defocus_error); }

Truth truth_of(const SimulateOptions& options) {
  Truth truth;
  truth.sampling = sampling_of(options);
  std::tie(truth.scan_rows, truth.scan_cols) = scan_shape_of(options);
  truth.good = good_pixels(options);
  truth.probe = probe_of(options, truth.sampling);
  truth.start_probe = coherent_probe(options, truth.sampling, stated_defocus(options));
  scale_to_counts(truth.start_probe, options.counts_per_frame);
  Scan scan = scan_of(options, truth.sampling);
  truth.nominal_a = std::move(scan.nominal_a);
  truth.positions_px = std::move(scan.actual_px);

  const ObjectExtent extent = object_extent(truth.positions_px, truth.window(), margin);
  const Grid grid{extent.rows, extent.cols, truth.sampling.pixel_row(), truth.sampling.pixel_col()};
  truth.phase = phase_of(options, grid, field_of_view(truth.positions_px));
  truth.object = transmission(truth.phase);
  truth.layer_distances = layer_distances_of(options);
  truth.propagators =
      slice_propagators(truth.sampling, truth.layer_distances,
                        {.tilt_row = options.tilt_row_mrad / 1000, .tilt_col = options.tilt_col_mrad / 1000});
  return truth;
}

std::size_t simulation_bytes(const SimulateOptions& options) {
  const Sampling sampling = sampling_of(options);
  const auto [rows, cols] = scan_shape_of(options);
  const Scan scan = scan_of(options, sampling);
  const ObjectExtent extent = object_extent(scan.actual_px, {sampling.rows, sampling.cols}, margin);
  const std::size_t object = static_cast<std::size_t>(extent.rows * extent.cols);
  const auto layers = static_cast<std::size_t>(options.layers);
  const auto pixels = static_cast<std::size_t>(options.detector_px * options.detector_px);
  const auto modes = parse_numbers(options.occupancies, "occupancies").size() * (options.source_fwhm_A > 0 ? 9 : 1);
  // Phase and transmission of every layer, one more map and the noise; modes and propagators; a line of frames with the
  // counts of every thread: wave, intensity, rates and counts.
  return object * (24 * layers + 8 + 24) + 16 * pixels * (2 * modes + 1 + layers) +
         pixels * (static_cast<std::size_t>(cols) * size_bytes(options.dtype) +
                   static_cast<std::size_t>(thread_count()) * (16 + 8 + 8 + 4)) +
         static_cast<std::size_t>(rows * cols) * 64;
}

}  // namespace sonde::ptycho
