// SPDX-License-Identifier: Apache-2.0
// From the options to the model.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/math/philox.h"
#include "sonde/engine/math/random.h"
#include "sonde/engine/math/wavelength.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/orient/euler_angles.h"
#include "sonde/instruments/stem/orient/reflections.h"
#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/simulate/specimen.h"
#include "sonde/instruments/stem/timepix/event_options.h"

namespace sonde::stem {
namespace {

/// Several numbers with commas between; empty when the text is something else.
template <class T, std::size_t count>
std::optional<std::array<T, count>> numbers_of(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  std::array<T, count> values{};
  if (parts.size() != count) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view part = trim(parts[i]);
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), values[i]);
    if (problem != std::errc() || end != part.data() + part.size()) return std::nullopt;
  }
  return values;
}

template <class T>
std::pair<T, T> pair_of(const std::string& text, const char* what) {
  const auto values = numbers_of<T, 2>(text);
  if (!values)
    throw Error(ErrorKind::usage, fmt::format("{} \"{}\", expected two numbers with a comma between", what, text));
  return {(*values)[0], (*values)[1]};
}

/// Both extents, small enough that no product of them overflows.
std::pair<Index, Index> shape_of(const std::string& text, const char* what, Index most) {
  const auto shape = pair_of<Index>(text, what);
  if (std::min(shape.first, shape.second) < 1 || std::max(shape.first, shape.second) > most)
    throw Error(ErrorKind::bad_input, fmt::format("{} {}; expected 1 to {} in each direction", what, text, most));
  return shape;
}

constexpr Index most_positions = 1'000'000, most_pixels = 65'536;  // in one direction

/// Masked and hot pixels at places that the seed decides, each pixel once.
std::vector<Defect> defects_of(const SimulateOptions& options, const Optics& optics) {
  const Index wanted = options.masked_pixels + options.hot_pixels;
  if (options.masked_pixels < 0 || options.hot_pixels < 0 || 4 * wanted > optics.rows * optics.cols)
    throw Error(ErrorKind::bad_input, fmt::format("{} masked and {} hot pixels on a detector of {} x {}",
                                                  options.masked_pixels, options.hot_pixels, optics.rows, optics.cols))
        .hint("at most a quarter of the pixels can be bad");
  // Five times what the brightest pixel of the undeflected disk could count.
  const double hot_rate = 20 + 5 * optics.dose / (3 * optics.disk_radius * optics.disk_radius);
  const auto seed = static_cast<std::uint64_t>(options.seed);
  std::vector<Defect> defects;
  for (std::uint32_t attempt = 0; static_cast<Index>(defects.size()) < wanted; ++attempt) {
    // A stream that no frame uses.
    const auto bits =
        philox({attempt, 0, ~0u, ~0u}, {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    Defect defect;
    defect.row = static_cast<Index>(unit_interval(bits[0], bits[1]) * static_cast<double>(optics.rows));
    defect.col = static_cast<Index>(unit_interval(bits[2], bits[3]) * static_cast<double>(optics.cols));
    // Neighbours of bad pixels stay good, so that each hot pixel is isolated.
    const bool crowded = std::any_of(defects.begin(), defects.end(), [&](const Defect& other) {
      return std::abs(other.row - defect.row) <= 1 && std::abs(other.col - defect.col) <= 1;
    });
    if (crowded && attempt < 100 * wanted) continue;
    const bool taken = std::any_of(defects.begin(), defects.end(), [&](const Defect& other) {
      return other.row == defect.row && other.col == defect.col;
    });
    if (taken) continue;
    if (static_cast<Index>(defects.size()) < options.masked_pixels) {
      defect.kind = Defect::Kind::sentinel;
      // Real masks of this detector hold these two values.
      defect.mask_bits = defects.size() % 2 == 0 ? mask_bit::noisy : mask_bit::noisy | mask_bit::under_responding;
    } else {
      defect.kind = Defect::Kind::hot;
      defect.rate = hot_rate;
    }
    defects.push_back(defect);
  }
  return defects;
}

/// No specimen: nine beam shifts in turn.
Model::BeamAt shifted_in_turn(Index scan_cols, double halo_fraction, double deflection) {
  return [=](Index scan_row, Index scan_col) {
    const Index turn = (scan_row * scan_cols + scan_col) % 9, down = turn / 3 - 1, across = turn % 3 - 1;
    Beam beam;
    beam.shift_row = deflection * static_cast<double>(down);
    beam.shift_col = deflection * static_cast<double>(across);
    beam.disk = 1 - halo_fraction;
    beam.halo = halo_fraction;
    return beam;
  };
}

/// Only descan.
Model::BeamAt drifting(Index scan_rows, Index scan_cols, double descan) {
  return [=](Index scan_row, Index scan_col) {
    Beam beam;
    beam.shift_row = descan * ((static_cast<double>(scan_row) + 0.5) / static_cast<double>(scan_rows) - 0.5);
    beam.shift_col = -descan * ((static_cast<double>(scan_col) + 0.5) / static_cast<double>(scan_cols) - 0.5);
    return beam;
  };
}

/// About one hill in a square of four widths, over the scan and two widths around it, of half to one and a half times
/// the height, at places that the seed decides.
std::vector<PhaseHill> hills_of(const SimulateOptions& options, Index scan_rows, Index scan_cols, double step) {
  const double width = options.phase_width * step;
  const double high = step * static_cast<double>(scan_rows) + 4 * width,
               wide = step * static_cast<double>(scan_cols) + 4 * width;
  Random random(static_cast<std::uint64_t>(options.seed), ~std::uint64_t{0});  // a stream that no frame uses
  std::vector<PhaseHill> hills(static_cast<std::size_t>(std::ceil(high * wide / (16 * width * width))));
  for (PhaseHill& hill : hills) {
    hill.y = high * (random.uniform() - 0.5);
    hill.x = wide * (random.uniform() - 0.5);
    hill.height = options.phase_height * (0.5 + random.uniform());
    hill.width = width;
  }
  return hills;
}

// Diffracted disks lie a little less than two radii from the direct one, so that they touch.
constexpr double spots_per_radius = 1.875;
constexpr double strongest_deflection = 5;  // px, of the demonstration's specimen at deflection 1

/// Vectors of a lattice between square and hexagonal, a little turned: 25 disks on the detector, unless they would
/// touch.
LatticeVectors usual_lattice(const Optics& optics) {
  const double degree = std::numbers::pi / 180, side = static_cast<double>(std::min(optics.rows, optics.cols));
  const double first = std::max(2.2 * optics.disk_radius, 0.19 * side), second = 1.045 * first;
  return {first * std::cos(12 * degree), first * std::sin(12 * degree), second * std::cos(100 * degree),
          second * std::sin(100 * degree)};
}

LatticeVectors lattice_of(const SimulateOptions& options, const Optics& optics) {
  if (!options.lattice) return usual_lattice(optics);
  const auto values = numbers_of<double, 4>(*options.lattice);
  if (!values)
    throw Error(ErrorKind::usage,
                fmt::format("lattice \"{}\"; expected four numbers, G1X,G1Y,G2X,G2Y", *options.lattice));
  return {(*values)[0], (*values)[1], (*values)[2], (*values)[3]};
}

constexpr double usual_radius = 16, usual_length = 0.115;
constexpr double radius_per_spacing = 0.3;  // disks of neighbours that are nearer in projection still do not touch
constexpr double margin = 3;                // px: half a pixel of the centre, and the soft edge

constexpr std::size_t most_crystals = 8;

/// Of each crystal.
std::vector<std::vector<Reflection>> reflections_of(const SimulateOptions& options) {
  if (options.crystal.empty())
    throw Error(ErrorKind::usage, "no crystal was given").hint("give " + setting("crystal", "FILE.cif"));
  if (options.crystal.size() > most_crystals)
    throw Error(ErrorKind::usage, fmt::format("{} crystals; expected 1 to {}", options.crystal.size(), most_crystals));
  std::vector<std::vector<Reflection>> reflections;
  for (const std::string& file : options.crystal)
    reflections.push_back(list_reflections(read_crystal(file), options.k_max));
  return reflections;
}

/// 1/A: of the reflection nearest the direct beam.
double shortest_reflection(const SimulateOptions& options) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const std::vector<Reflection>& crystal : reflections_of(options))
    shortest = std::min(shortest, crystal.front().length);
  return shortest;
}

/// 1/A: that of camera length and voltage.
double q_pixel_of(const SimulateOptions& options) {
  return detector_pixel_m / camera_length_of(options) / electron_wavelength(options.voltage);
}

std::vector<Orientation> orientations_of(const SimulateOptions& options) {
  if (!options.euler) return random_orientations(static_cast<std::uint64_t>(options.seed), options.grains);
  std::vector<Orientation> orientations;
  for (const std::string& each : split(*options.euler, ';')) {
    const auto angles = numbers_of<double, 3>(each);
    if (!angles)
      throw Error(ErrorKind::usage,
                  fmt::format("euler \"{}\"; expected three angles for each grain, PHI1,PHI,PHI2;...", *options.euler));
    const double degree = std::numbers::pi / 180;
    orientations.push_back(orientation_of({degree * (*angles)[0], degree * (*angles)[1], degree * (*angles)[2]}));
  }
  return orientations;
}

void check_dwell(std::string_view text, std::string_view where) {
  const double s = parse_duration(text, where);
  if (!(s >= 1e-8 && s <= 1))
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected 10 ns to 1 s", where, text));
}

Deformation deformation_of(const SimulateOptions& options) {
  const auto values = numbers_of<double, 3>(options.strain);
  if (!values)
    throw Error(ErrorKind::usage, fmt::format("strain \"{}\"; expected three numbers, EXX,EYY,EXY", options.strain));
  return {(*values)[0], (*values)[1], (*values)[2], options.lattice_turn * std::numbers::pi / 180};
}

}  // namespace

void SimulateOptions::describe(Fields& fields) {
  fields.positional(
      "output", output,
      {.help = "master file to write, its name ends in _master.h5; of events a .tpx3 file", .optional = true});
  fields.add("scan_shape", scan_shape, {.help = "scan positions", .metavar = "ROWS,COLS"});
  fields.add("detector_shape", detector_shape, {.help = "detector pixels", .metavar = "ROWS,COLS"});
  fields.choice(
      "sample", sample,
      {{"particles", Sample::particles},
       {"vacuum", Sample::vacuum},
       {"phase", Sample::phase},
       {"disks", Sample::disks},
       {"crystal", Sample::crystal},
       {"counting", Sample::counting},
       {"events", Sample::events}},
      {.help = "what the beam passes: nanoparticles on a film; nothing, with nine beam shifts in turn; hills "
               "of the phase, whose patterns are computed by wave optics; a strained crystal that diffracts "
               "into disks; grains of crystals from files, with kinematic patterns; counting: nothing, electrons "
               "are spread evenly over a detector that integrates their charge; events: the nanoparticles, as the raw "
               "data of a Timepix3 detector"});
  fields.add("dose", dose,
             {.help = "mean counts of a detector pixel in one frame", .unit = "counts", .min = 1e-6, .max = 1e6});
  fields.add(
      "centre", centre,
      {.help = "undeflected beam; unset: near the middle", .unit = "px", .metavar = "ROW,COL", .alias = "center"});
  fields.add(
      "disk_radius", disk_radius,
      {.help = "radius of the bright-field disk; unset: 16, of crystal 0.3 of the distance to the nearest reflection",
       .unit = "px",
       .min = 0.1});
  fields.add("edge_width", edge_width, {.help = "width of the disk's logistic edge", .unit = "px", .min = 0.01});
  fields.add("halo_length", halo_length, {.help = "decay length of the halo", .unit = "px", .min = 0.1});
  fields.add("wide_length", wide_length,
             {.help = "decay length of scattering to high angles", .unit = "px", .min = 0.1});
  fields.add("halo_fraction", halo_fraction,
             {.help = "share of the dose in the halo, for vacuum, disks and crystal only", .min = 0, .max = 1});
  fields.add("deflection", deflection,
             {.help = "scale of the beam deflections: vacuum shifts by this many pixels, particles by up to five times",
              .min = -100,
              .max = 100});
  fields.add("descan", descan, {.help = "drift of the beam over the scan, but for vacuum", .unit = "px"});
  fields.add("phase_height", phase_height,
             {.help = "mean height of the hills of phase; negative: valleys", .unit = "rad", .min = -1e3, .max = 1e3});
  fields.add("phase_width", phase_width,
             {.help = "standard deviation of these hills", .unit = "steps", .min = 0.01, .max = 1e4});
  fields.add("rotation", rotation,
             {.help = "of phase and disks: from the axes of the detector to those of the scan, clockwise on a screen",
              .unit = "degrees",
              .min = -360,
              .max = 360});
  fields.add("transpose", transpose,
             {.help = "of phase and disks: rows and columns of the detector are exchanged before that"});
  fields.add("lattice", lattice,
             {.help = "of disks: reciprocal lattice vectors without strain; unset: 0.19 of the detector, but at least "
                      "2.2 disk radii",
              .unit = "px",
              .metavar = "G1X,G1Y,G2X,G2Y"});
  fields.choice("strain_field", strain_field,
                {{"uniform", StrainField::uniform},
                 {"gradient", StrainField::gradient},
                 {"step", StrainField::step},
                 {"rotation", StrainField::rotation}},
                {.help = "of disks: strain everywhere; growing along the columns from minus to plus one half of it; "
                         "beyond three fifths of the columns; none, only the turn, growing down the rows"});
  fields.add("strain", strain,
             {.help = "of disks: strain of the crystal along the axes of the scan, positive for tension",
              .metavar = "EXX,EYY,EXY"});
  fields.add("lattice_turn", lattice_turn,
             {.help = "of disks: turn of the crystal with the strain, clockwise on a screen",
              .unit = "degrees",
              .min = -180,
              .max = 180});
  fields.add("orders", orders, {.help = "of disks: orders on either side of the direct disk", .min = 0, .max = 20});
  fields.add(
      "excitation", excitation,
      {.help = "of disks: how far intensities vary about their mean from pattern to pattern", .min = 0, .max = 1});
  fields.add(
      "crystal", crystal,
      {.help = "of crystal: the structure; repeat for several, which the grains have in turn", .metavar = "FILE.cif"});
  fields.add("grains", grains,
             {.help = "of crystal: grains, about points that the seed decides, with orientations that it decides",
              .min = 1,
              .max = 10000});
  fields.add("euler", euler,
             {.help = "of crystal: the orientations instead, one grain for each: angles of Bunge",
              .unit = "degrees",
              .metavar = "PHI1,PHI,PHI2;..."});
  fields.add("k_max", k_max, {.help = "of crystal: largest 1/d of reflections", .unit = "1/A", .min = 0.01, .max = 20});
  fields.add("sigma_excitation_error", sigma_excitation_error,
             {.help = "of crystal: standard deviation of the distance from Ewald's sphere at which a reflection is "
                      "excited",
              .unit = "1/A",
              .min = 1e-4,
              .max = 1});
  fields.add(
      "diffracted", diffracted,
      {.help = "of crystal: share of the counts of all disks in those beside the direct one", .min = 0, .max = 1});
  fields.add("occupancy", occupancy,
             {.help = "of counting and events: mean electrons of a pixel at one position", .min = 1e-6, .max = 10});
  fields.add("dwell", dwell,
             {.help = "of events: time at a scan position, 10ns to 1s", .metavar = "TIME", .check = check_dwell});
  fields.add(
      "cloud", cloud,
      {.help = "of counting: standard deviation of the charge of an electron", .unit = "px", .min = 0.01, .max = 2});
  fields.add("deposit", deposit,
             {.help = "of counting: most frequent charge of an electron", .unit = "counts", .min = 0, .max = 1e5});
  fields.add("deposit_spread", deposit_spread,
             {.help = "of counting: scale of the spread of these charges", .unit = "counts", .min = 0, .max = 1e4});
  fields.add("read_noise", read_noise,
             {.help = "of counting: standard deviation of the noise", .unit = "counts", .min = 0, .max = 1e4});
  fields.add("dark_level", dark_level,
             {.help = "of counting: mean value without a beam", .unit = "counts", .min = 0, .max = 1e5});
  fields.add("dark_spread", dark_spread,
             {.help = "of counting: its standard deviation between pixels", .unit = "counts", .min = 0, .max = 1e4});
  fields.add("gain_spread", gain_spread,
             {.help = "of counting: standard deviation of the gain between pixels", .min = 0, .max = 1});
  fields.add("xray_rate", xray_rate, {.help = "of counting: x-ray hits in a frame", .min = 0, .max = 100});
  fields.add("masked_pixels", masked_pixels,
             {.help = "pixels that say \"no data\" and are marked in the mask", .min = 0, .max = 1e9});
  fields.add("hot_pixels", hot_pixels,
             {.help = "pixels that count too much and are marked nowhere", .min = 0, .max = 1e9});
  fields.add("seed", seed, {.help = "start of the random numbers", .min = 0});
  fields.choice("dtype", dtype, {{"u8", DType::u8}, {"u16", DType::u16}, {"u32", DType::u32}},
                {.help = "element type of the frames"});
  fields.add("frames_per_file", frames_per_file, {.help = "frames in one data file", .unit = "frames", .min = 1});
  fields.add("voltage", voltage, {.help = "acceleration voltage to record", .unit = "kV", .min = 1, .max = 2000});
  fields.add("camera_length", camera_length,
             {.help = "camera length to record; unset: 0.115, of crystal such that reflections up to k-max are on the "
                      "detector",
              .unit = "m",
              .min = 1e-6});
  fields.add("scan_step", scan_step, {.help = "distance of scan positions to record", .unit = "nm", .min = 1e-6});
  fields.add("truth", truth, {.help = "write the expected values beside the scan"});
}

double disk_radius_of(const SimulateOptions& options) {
  if (options.disk_radius) return *options.disk_radius;
  if (options.sample != Sample::crystal) return usual_radius;
  return radius_per_spacing * shortest_reflection(options) / q_pixel_of(options);
}

double camera_length_of(const SimulateOptions& options) {
  if (options.camera_length) return *options.camera_length;
  if (options.sample != Sample::crystal) return usual_length;
  const auto [rows, cols] = shape_of(options.detector_shape, "detector shape", most_pixels);
  const double reach = std::max(1.0, static_cast<double>(std::min(rows, cols)) / 2 - margin);
  const double farthest = options.disk_radius ? options.k_max * reach / std::max(1.0, reach - *options.disk_radius)
                                              : options.k_max + radius_per_spacing * shortest_reflection(options);
  return detector_pixel_m * reach / farthest / electron_wavelength(options.voltage);
}

namespace {

IntegratingSettings integrating_of(const SimulateOptions& options) {
  return {.cloud = options.cloud,
          .deposit = options.deposit,
          .spread = options.deposit_spread,
          .noise = options.read_noise,
          .dark = options.dark_level,
          .dark_spread = options.dark_spread,
          .gain_spread = options.gain_spread,
          .xrays = options.xray_rate,
          .seed = static_cast<std::uint64_t>(options.seed)};
}

Optics optics_of(const SimulateOptions& options) {
  Optics optics;
  std::tie(optics.rows, optics.cols) = shape_of(options.detector_shape, "detector shape", most_pixels);
  const bool electrons = options.sample == Sample::counting || options.sample == Sample::events;
  const double of_pixel = electrons ? options.occupancy : options.dose;
  optics.dose = of_pixel * static_cast<double>(optics.rows) * static_cast<double>(optics.cols);
  if (options.centre) {
    std::tie(optics.centre_row, optics.centre_col) = pair_of<double>(*options.centre, "centre");
  } else if (options.sample == Sample::vacuum) {
    optics.centre_row = static_cast<double>(optics.rows - 1) / 2;
    optics.centre_col = static_cast<double>(optics.cols - 1) / 2;
  } else {  // no microscope is aligned to the pixel
    optics.centre_row = static_cast<double>(optics.rows - 1) / 2 + 0.37;
    optics.centre_col = static_cast<double>(optics.cols - 1) / 2 - 0.62;
  }
  optics.disk_radius = disk_radius_of(options);
  optics.edge_width = options.edge_width;
  optics.halo_length = options.halo_length;
  optics.wide_length = options.wide_length;
  return optics;
}

}  // namespace

PhasePatterns phase_patterns_of(const SimulateOptions& options) {
  WaveScan scan;
  std::tie(scan.scan_rows, scan.scan_cols) = shape_of(options.scan_shape, "scan shape", most_positions);
  scan.step = 10 * options.scan_step;
  scan.rotation = options.rotation * std::numbers::pi / 180;
  scan.transpose = options.transpose;
  scan.pixel = q_pixel_of(options);
  scan.hills = hills_of(options, scan.scan_rows, scan.scan_cols, scan.step);
  return PhasePatterns(optics_of(options), std::move(scan));
}

DiskPatterns disk_patterns_of(const SimulateOptions& options) {
  DiskScan scan;
  std::tie(scan.scan_rows, scan.scan_cols) = shape_of(options.scan_shape, "scan shape", most_positions);
  const Optics optics = optics_of(options);
  scan.undeformed = lattice_of(options, optics);
  scan.field = options.strain_field;
  scan.deformation = deformation_of(options);
  scan.rotation = options.rotation * std::numbers::pi / 180;
  scan.transpose = options.transpose;
  scan.orders = options.orders;
  // The outermost disks have about a tenth of the intensity of the direct one.
  scan.falloff = 0.65 * static_cast<double>(std::max<Index>(options.orders, 1)) *
                 std::max(std::hypot(scan.undeformed.g1_x, scan.undeformed.g1_y),
                          std::hypot(scan.undeformed.g2_x, scan.undeformed.g2_y));
  scan.excitation = options.excitation;
  scan.background = options.halo_fraction;
  scan.seed = static_cast<std::uint64_t>(options.seed);
  return DiskPatterns(optics, scan);
}

GrainPatterns grain_patterns_of(const SimulateOptions& options) {
  GrainScan scan;
  std::tie(scan.scan_rows, scan.scan_cols) = shape_of(options.scan_shape, "scan shape", most_positions);
  scan.crystals = reflections_of(options);
  scan.beam = {.wavelength = electron_wavelength(options.voltage),
               .sigma_excitation_error = options.sigma_excitation_error};
  scan.orientations = orientations_of(options);
  scan.q_pixel = q_pixel_of(options);
  scan.diffracted = options.diffracted;
  scan.background = options.halo_fraction;
  scan.seed = static_cast<std::uint64_t>(options.seed);
  return GrainPatterns(optics_of(options), std::move(scan));
}

Model model_of(const SimulateOptions& options) {
  const auto [scan_rows, scan_cols] = shape_of(options.scan_shape, "scan shape", most_positions);
  const Optics optics = optics_of(options);
  if (options.sample == Sample::phase) {
    const auto patterns = std::make_shared<const PhasePatterns>(phase_patterns_of(options));
    return Model(optics, scan_rows, scan_cols, drifting(scan_rows, scan_cols, options.descan),
                 defects_of(options, optics),
                 [patterns](Index scan_row, Index scan_col, const Beam& beam, Model::Scratch& scratch,
                            std::span<double> rate) { patterns->rates(scan_row, scan_col, beam, scratch, rate); });
  }
  if (options.sample == Sample::disks) {
    const auto patterns = std::make_shared<const DiskPatterns>(disk_patterns_of(options));
    return Model(optics, scan_rows, scan_cols, drifting(scan_rows, scan_cols, options.descan),
                 defects_of(options, optics),
                 [patterns](Index scan_row, Index scan_col, const Beam& beam, Model::Scratch&, std::span<double> rate) {
                   patterns->rates(scan_row, scan_col, beam, rate);
                 });
  }
  if (options.sample == Sample::crystal) {
    const auto patterns = std::make_shared<const GrainPatterns>(grain_patterns_of(options));
    return Model(optics, scan_rows, scan_cols, drifting(scan_rows, scan_cols, options.descan),
                 defects_of(options, optics),
                 [patterns](Index scan_row, Index scan_col, const Beam& beam, Model::Scratch&, std::span<double> rate) {
                   patterns->rates(scan_row, scan_col, beam, rate);
                 });
  }
  std::vector<Defect> defects = defects_of(options, optics);
  if (options.sample == Sample::counting) {
    std::vector<std::uint8_t> defect(static_cast<std::size_t>(optics.rows * optics.cols));
    for (const Defect& each : defects)
      if (each.kind != Defect::Kind::sentinel) defect[static_cast<std::size_t>(each.row * optics.cols + each.col)] = 1;
    const auto detector = std::make_shared<const IntegratingDetector>(optics.rows, optics.cols, integrating_of(options),
                                                                      std::move(defect));
    return Model(
        optics, scan_rows, scan_cols, drifting(scan_rows, scan_cols, 0), std::move(defects),
        [occupancy = options.occupancy](Index, Index, const Beam&, Model::Scratch&, std::span<double> rate) {
          std::fill(rate.begin(), rate.end(), occupancy);
        },
        detector);
  }
  Model::BeamAt beam =
      options.sample == Sample::vacuum
          ? shifted_in_turn(scan_cols, options.halo_fraction, options.deflection)
          : scan_over(Specimen(spots_per_radius * disk_radius_of(options), strongest_deflection * options.deflection),
                      scan_rows, scan_cols, options.descan);
  return Model(optics, scan_rows, scan_cols, std::move(beam), std::move(defects));
}

}  // namespace sonde::stem
