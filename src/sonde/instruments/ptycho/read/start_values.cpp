// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/start_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/ptycho/optics/start_modes.h"
#include "sonde/instruments/ptycho/read/files.h"

namespace sonde::ptycho {
namespace {

/// Key of an aberration in a run file: "C12_A", "phi12_deg".
std::string key_of(const std::string& name) { return name + (name.starts_with("phi") ? "_deg" : "_A"); }

/// What an aberration is called.
std::string about_aberration(const std::string& name) {
  if (name.starts_with("phi")) return "direction of C" + name.substr(3);
  for (const auto& [key, words] : {std::pair("C10", "defocus, negative for underfocus"),
                                   {"C12", "twofold astigmatism"},
                                   {"C21", "axial coma"},
                                   {"C23", "threefold astigmatism"},
                                   {"C30", "spherical aberration"},
                                   {"C32", "star aberration"},
                                   {"C34", "fourfold astigmatism"},
                                   {"C41", "coma of fourth order"},
                                   {"C43", "three-lobe aberration"},
                                   {"C45", "fivefold astigmatism"},
                                   {"C50", "spherical aberration of fifth order"},
                                   {"C52", "star aberration of fifth order"},
                                   {"C54", "rosette aberration"},
                                   {"C56", "sixfold astigmatism"},
                                   {"defocus", "defocus, positive for underfocus: C10 with the other sign"},
                                   {"Cs", "spherical aberration, C30 by another name"},
                                   {"C5", "spherical aberration of fifth order, C50 by another name"}})
    if (name == key) return words;
  return "aberration coefficient";
}

/// A wave of a file and where it says it lies.
struct StoredWave {
  Array values;                 // complex128, three dimensions
  std::optional<Point> origin;  // object pixels
  std::string what;
};

std::optional<Point> pair_in(const std::optional<Hdf5Value>& value) {
  if (!value || value->elements.size() != 2) return std::nullopt;
  const auto number = [&](std::size_t i) { return Hdf5Value{{}, {value->elements[i]}}.number().value_or(0); };
  return Point{number(0), number(1)};
}

/// Size of an object's pixels in A: attribute pixel_size_A of a result, _psize (m) beside the data of a .ptyr.
std::optional<Point> pixel_of(const Hdf5File& file, const std::string& object) {
  if (const std::optional<Point> pixel = pair_in(file.attribute(object, "pixel_size_A"))) return pixel;
  const std::optional<Point> metres = pair_in(file.value(object.substr(0, object.rfind('/')) + "/_psize", 2));
  return metres ? std::optional(Point{metres->row * 1e10, metres->col * 1e10}) : std::nullopt;
}

/// Attribute origin_px of a result, _origin / _psize (m) beside the data of a .ptyr.
std::optional<Point> origin_of(const Hdf5File& file, const std::string& object) {
  if (const std::optional<Point> origin = pair_in(file.attribute(object, "origin_px"))) return origin;
  const std::string group = object.substr(0, object.rfind('/'));
  const std::optional<Point> origin = pair_in(file.value(group + "/_origin", 2)),
                             pixel = pair_in(file.value(group + "/_psize", 2));
  if (!origin || !pixel || !(pixel->row > 0) || !(pixel->col > 0)) return std::nullopt;
  return Point{origin->row / pixel->row, origin->col / pixel->col};
}

/// The data set of a result, a .ptyr or another HDF5 file that holds the wanted wave.
std::string wave_path(const Hdf5File& file, const std::string& name) {
  const std::string kind = name == "object" ? "obj" : "probe";
  if (file.is_dataset("/" + name)) return "/" + name;
  if (name == "object" && file.is_dataset("/object_phase")) return "/object_phase";
  if (file.is_group("/content/" + kind))
    for (const Hdf5Link& link : file.list("/content/" + kind)) return "/content/" + kind + "/" + link.name + "/data";
  const std::string cxi = name == "object" ? "/entry_1/image_1/data" : "/entry_1/instrument_1/source_1/illumination";
  if (file.is_dataset(cxi)) return cxi;
  throw Error(ErrorKind::bad_file, fmt::format("{}: no {} in it", file.path(), name))
      .hint(fmt::format("name the data set: {}:DATASET", file.path()));
}

StoredWave read_wave(const std::string& text, const std::string& name, const std::string& key) {
  if (text.empty()) throw Error(ErrorKind::bad_input, fmt::format("{} is missing", key));
  ArrayName from = array_name(text, text);
  StoredWave wave;
  if (from.file == text && !to_lower(text).ends_with(".npy")) from.dataset = wave_path(Hdf5File::open(text), name);
  wave.what = from.text();
  const Array stored = read_named(from);
  wave.values = as_complex(stored, wave.what);
  const Shape shape = wave.values.shape();
  if (shape.rank() == 2) wave.values = std::move(wave.values).reshaped(Shape{1, shape[0], shape[1]});
  // Probes of a result are (positions or one, modes, rows, columns).
  if (shape.rank() == 4 && shape[0] == 1) wave.values = std::move(wave.values).reshaped(shape.last(3));
  if (wave.values.shape().rank() != 3)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: shape {}, expected two or three dimensions", wave.what, shape.text()));
  if (!from.dataset.empty()) wave.origin = origin_of(Hdf5File::open(from.file), from.dataset);
  auto* values = static_cast<complex128*>(wave.values.data());
  if (from.dataset == "/object_phase")
    for (Index i = 0; i < wave.values.count(); ++i) values[i] = std::polar(1.0, values[i].real());
  for (Index i = 0; i < wave.values.count(); ++i)
    if (!std::isfinite(values[i].real()) || !std::isfinite(values[i].imag()))
      throw Error(ErrorKind::bad_input, fmt::format("{}: element {} is not finite", wave.what, i));
  return wave;
}

void require_window(const Array& probe, const Sampling& sampling, const std::string& what) {
  const Shape& shape = probe.shape();
  if (shape[1] != sampling.rows || shape[2] != sampling.cols)
    throw Error(ErrorKind::bad_input, fmt::format("{}: a probe of {} x {} pixels, the patterns have {} x {}", what,
                                                  shape[1], shape[2], sampling.rows, sampling.cols));
}

/// Brightest pixels of the mean pattern that count as the undiffracted disk: half of a flat disk's level.
constexpr double disk_cut = 0.5;

Array placed_object(const StoredWave& wave, Index slices, Index rows, Index cols, Point origin) {
  const Shape& shape = wave.values.shape();
  if (shape[0] != slices && shape[0] != 1)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} slices, expected {}", wave.what, shape[0], slices));
  if (!wave.origin && (shape[1] != rows || shape[2] != cols))
    throw Error(ErrorKind::bad_input, fmt::format("{}: an object of {} x {} pixels, expected {} x {}", wave.what,
                                                  shape[1], shape[2], rows, cols))
        .hint("an object that says where it is (attribute origin_px, _origin and _psize of a .ptyr) may have any size");
  const Index down = wave.origin ? static_cast<Index>(std::lround(wave.origin->row - origin.row)) : 0;
  const Index right = wave.origin ? static_cast<Index>(std::lround(wave.origin->col - origin.col)) : 0;
  Array made(Device::cpu(), Shape{slices, rows, cols}, DType::c128);
  auto to = made.view<complex128, 3>();
  const auto from = wave.values.view<complex128, 3>();
  for (Index s = 0; s < slices; ++s)
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < cols; ++c) {
        const Index i = r - down, k = c - right;
        const bool inside = i >= 0 && i < shape[1] && k >= 0 && k < shape[2];
        to(s, r, c) = inside ? from(shape[0] == 1 ? 0 : s, i, k) : complex128(1);
      }
  return made;
}

}  // namespace

ProbeSettings::ProbeSettings() {
  for (const std::string& name : Aberrations::names()) aberrations.emplace_back(name, std::nullopt);
}

Aberrations ProbeSettings::lens() const {
  Aberrations lens;
  for (const auto& [name, value] : aberrations) {
    if (!value) continue;
    const double stored = name.starts_with("phi") ? *value * std::numbers::pi / 180 : *value;
    // Other names of a coefficient come last, and are found set by its own.
    const double before = lens.get(name);
    if (before != 0 && before != stored && !name.starts_with("phi"))
      throw Error(ErrorKind::bad_input, fmt::format("probe.{} = {:.6g}, but another name of the same aberration says "
                                                    "{:.6g}",
                                                    key_of(name), *value, before))
          .hint("defocus_A is -C10_A, Cs_A is C30_A, C5_A is C50_A: leave one of both out");
    lens.set(name, stored);
  }
  return lens;
}

bool ProbeSettings::has_aberrations() const {
  return std::any_of(aberrations.begin(), aberrations.end(), [](const auto& each) { return each.second.has_value(); });
}

void ProbeSettings::describe(Fields& fields) {
  fields.choice("init", init,
                {{"auto", ProbeInit::automatic},
                 {"aperture", ProbeInit::aperture},
                 {"vacuum", ProbeInit::vacuum},
                 {"mean_bf", ProbeInit::mean_bf},
                 {"gaussian", ProbeInit::gaussian},
                 {"file", ProbeInit::file}},
                {.help = "where the first probe comes from: aperture and aberrations, a pattern in vacuum, the disk of "
                         "the mean pattern, a Gaussian, or a file"});
  fields.add("file", file,
             {.help = "probe (file) or intensity in vacuum (vacuum): FILE.npy, FILE.h5:DATASET, a result or a .ptyr; "
                      "only its shape is used, its power comes from the counts"});
  fields.add("fwhm", fwhm,
             {.help = "gaussian: full width at half maximum of the intensity, in A, or in pixels without calibration"});
  fields.add("modes", modes, {.help = "incoherent modes", .min = 1, .max = 64});
  fields.add("start", start, {.help = "first iteration in which the probe is free", .min = 1});
  fields.choice("edge", edge, {{"pixel", ApertureEdge::pixel}, {"hard", ApertureEdge::hard}},
                {.help = "aperture: edge over one detector pixel, or none"});
  for (auto& [name, value] : aberrations)
    fields.add(key_of(name), value, {.help = about_aberration(name), .unit = name.starts_with("phi") ? "deg" : "A"});
}

std::vector<double> ObjectSettings::slice_thickness() const {
  std::vector<double> numbers = parse_numbers(slice_thickness_a, "object.slice_thickness_A");
  if (numbers.size() != 1 && static_cast<Index>(numbers.size()) != slices)
    throw Error(ErrorKind::bad_input, fmt::format("object.slice_thickness_A has {} numbers for {} slice{}",
                                                  numbers.size(), slices, slices == 1 ? "" : "s"))
        .hint("give one for all, or one of each slice");
  for (const double number : numbers)
    if (number < 0) throw Error(ErrorKind::bad_input, fmt::format("object.slice_thickness_A: a slice of {} A", number));
  return numbers;
}

std::vector<double> ObjectSettings::slice_distances() const {
  std::vector<double> distances = slice_thickness();
  distances.resize(static_cast<std::size_t>(slices), distances.front());
  distances.pop_back();
  return distances;
}

void ObjectSettings::describe(Fields& fields) {
  fields.choice("type", type, {{"complex", ObjectType::complex}, {"potential", ObjectType::potential}},
                {.help = "complex transmission, or only a phase"});
  fields.choice("init", init,
                {{"ones", ObjectInit::ones},
                 {"random", ObjectInit::random},
                 {"file", ObjectInit::file},
                 {"low_resolution", ObjectInit::low_resolution},
                 {"ssb", ObjectInit::ssb},
                 {"parallax", ObjectInit::parallax}},
                {.help = "where it starts: empty space, random phases, a file, a reconstruction of the middle of the "
                         "patterns by [low_resolution], or a one-shot reconstruction by the settings of [direct], "
                         "which also finds defocus and rotation"});
  fields.add("file", file, {.help = "object of a file: FILE.npy, FILE.h5:DATASET, a result or a .ptyr"});
  fields.add("random_phase", random_phase, {.help = "random: largest phase", .unit = "rad", .min = 0, .max = 3.2});
  fields.add("slices", slices, {.help = "slices along the beam", .min = 1, .max = 4096});
  fields.add("slice_thickness_A", slice_thickness_a,
             {.help = "how far the wave goes from each slice to the next: one number for all, or one of each slice in "
                      "the order of the beam (behind the last one it goes nowhere)",
              .unit = "A",
              .metavar = "T|T1,T2,...",
              .check = require_numbers});
  fields.add("tilt_row_mrad", tilt_row_mrad,
             {.help = "tilt of the specimen along rows: a positive one moves the wave to larger rows, by the "
                      "thickness times its tangent per slice",
              .unit = "mrad"});
  fields.add("tilt_col_mrad", tilt_col_mrad, {.help = "the same along columns", .unit = "mrad"});
  fields.add("start", start, {.help = "first iteration in which the object is free", .min = 1});
}

Choice<ProbeInit> choose_probe_init(const ProbeSettings& settings, bool has_angle, bool source_has_probe) {
  if (settings.init != ProbeInit::automatic) return {settings.init, "as asked"};
  if (!settings.file.empty()) return {ProbeInit::file, "probe.file is given"};
  if (has_angle && settings.has_aberrations()) return {ProbeInit::aperture, "aberrations are given in [probe]"};
  if (source_has_probe) return {ProbeInit::file, "the data file has a probe"};
  if (has_angle) return {ProbeInit::aperture, "energy and semiangle are known"};
  if (settings.fwhm) return {ProbeInit::gaussian, "probe.fwhm is given"};
  return {ProbeInit::mean_bf, "nothing else is known of the probe"};
}

std::vector<std::string> unused_probe_settings(const ProbeSettings& settings, const Choice<ProbeInit>& init) {
  std::vector<std::string> keys;
  const bool from_file = init.value == ProbeInit::file, gaussian = init.value == ProbeInit::gaussian;
  if (from_file || gaussian)
    for (const auto& [name, value] : settings.aberrations)
      if (value) keys.push_back(fmt::format("{} = {:.6g}", key_of(name), *value));
  if (settings.fwhm && !gaussian) keys.push_back(fmt::format("fwhm = {:.6g}", *settings.fwhm));
  if (!settings.file.empty() && !from_file && init.value != ProbeInit::vacuum)
    keys.push_back(fmt::format("file = \"{}\"", settings.file));
  if (keys.empty()) return {};
  const char* origin = from_file                           ? "a file"
                       : gaussian                          ? "a Gaussian"
                       : init.value == ProbeInit::aperture ? "the aperture"
                       : init.value == ProbeInit::vacuum   ? "a pattern in vacuum"
                                                           : "the mean pattern";
  return {fmt::format("[probe] {} {} no effect: the first probe comes from {} ({})", join_words(keys),
                      keys.size() == 1 ? "has" : "have", origin, init.because)};
}

Choice<Array> start_probe(const ProbeSettings& settings, const Sampling& sampling, std::optional<double> semiangle,
                          View<const double, 2> mean, const Array& from_source, double counts) {
  const Choice<ProbeInit> init =
      choose_probe_init(settings, sampling.calibrated() && semiangle.has_value(), !from_source.empty());
  Array probe;
  switch (init.value) {
    case ProbeInit::aperture:
      if (!semiangle)
        throw Error(ErrorKind::bad_input, "probe.init is aperture, but geometry.semiangle_mrad is missing");
      probe = aperture_probe(sampling, {*semiangle, settings.lens(), settings.edge});
      break;
    case ProbeInit::gaussian:
      if (!settings.fwhm) throw Error(ErrorKind::bad_input, "probe.init is gaussian, but probe.fwhm is missing");
      probe = gaussian_probe(sampling, *settings.fwhm);
      break;
    case ProbeInit::mean_bf:
      probe = measured_probe(sampling, mean, settings.lens(), disk_cut);
      break;
    case ProbeInit::vacuum: {
      if (settings.file.empty())
        throw Error(ErrorKind::bad_input, "probe.init is vacuum, but probe.file is missing")
            .hint("name the pattern without a specimen, for instance probe.file = \"vacuum.npy\"");
      const ArrayName name = array_name(settings.file, settings.file);
      const Array stored = read_named(name);
      if (!(stored.shape() == Shape{sampling.rows, sampling.cols}))
        throw Error(ErrorKind::bad_input, fmt::format("{}: shape {}, the patterns have {} x {}", name.text(),
                                                      stored.shape().text(), sampling.rows, sampling.cols));
      // Stored with the zero frequency at the centre, as pictures of patterns are.
      const std::vector<double> centred = as_doubles(stored, name.text());
      Array corner(Device::cpu(), stored.shape(), DType::f64);
      auto to = corner.view<double, 2>();
      for (Index r = 0; r < sampling.rows; ++r)
        for (Index c = 0; c < sampling.cols; ++c)
          to(r, c) = centred[static_cast<std::size_t>((r + sampling.rows / 2) % sampling.rows * sampling.cols +
                                                      (c + sampling.cols / 2) % sampling.cols)];
      probe = measured_probe(sampling, std::as_const(corner).view<double, 2>(), settings.lens());
      break;
    }
    default: {
      const bool own = settings.file.empty() && !from_source.empty();
      if (settings.file.empty() && !own)
        throw Error(ErrorKind::bad_input, "probe.init is file, but probe.file is missing, and the data have no probe")
            .hint("name one, for instance probe.file = \"result.h5\"");
      StoredWave wave = own ? StoredWave{from_source.clone(), {}, "the probe of the data file"}
                            : read_wave(settings.file, "probe", "probe.file");
      require_window(wave.values, sampling, wave.what);
      probe = std::move(wave.values);
    }
  }
  const Index given = probe.shape()[0];
  if (given == 1 && settings.modes > 1) {
    probe = start_modes(probe, settings.modes);
  } else if (given > settings.modes) {
    // The first modes are the strongest.
    Array fewer(Device::cpu(), Shape{settings.modes, sampling.rows, sampling.cols}, DType::c128);
    std::copy_n(static_cast<const complex128*>(probe.data()), fewer.count(), static_cast<complex128*>(fewer.data()));
    probe = std::move(fewer);
  } else if (given < settings.modes) {
    throw Error(ErrorKind::bad_input,
                fmt::format("the first probe has {} modes, probe.modes asks for {}", given, settings.modes))
        .hint("give a probe of one mode, from which the others are made, or of all");
  }
  scale_to_counts(probe, counts);
  return {std::move(probe), init.because};
}

void require_object_pixels(const ObjectSettings& settings, const Sampling& sampling) {
  if (settings.init != ObjectInit::file || settings.file.empty() || !sampling.calibrated()) return;
  ArrayName from = array_name(settings.file, settings.file);
  if (to_lower(from.file).ends_with(".npy")) return;
  const Hdf5File file = Hdf5File::open(from.file);
  if (from.file == settings.file) from.dataset = wave_path(file, "object");
  const std::optional<Point> pixel = pixel_of(file, from.dataset);
  if (!pixel || !(pixel->row > 0) || !(pixel->col > 0)) return;
  const double row = sampling.pixel_row(), col = sampling.pixel_col();
  // Files that went through single precision agree to 1e-7; a cropped detector differs by a fiftieth and more.
  constexpr double tolerance = 1e-3;
  if (std::abs(pixel->row / row - 1) < tolerance && std::abs(pixel->col / col - 1) < tolerance) return;
  throw Error(ErrorKind::bad_input,
              fmt::format("{}: its pixels are {:.5g} x {:.5g} A, those of this scan {:.5g} x {:.5g} A", from.text(),
                          pixel->row, pixel->col, row, col))
      .hint(
          "an object of the same detector extent (data.crop, geometry.detector_mrad_per_px), or object.init = "
          "\"ones\"");
}

void start_object(const ObjectSettings& settings, Index rows, Index cols, Point origin, DType complex_type,
                  std::uint64_t seed, State& state, const KnownObject* direct) {
  const bool directly = settings.init == ObjectInit::ssb || settings.init == ObjectInit::parallax;
  if (directly && direct == nullptr)
    throw Error(ErrorKind::not_supported, "object.init: a one-shot reconstruction (ssb, parallax) must come first")
        .hint(
            "`sonde ptycho run` and sonde.ptycho make it; elsewhere `sonde ptycho direct -o start.h5`, then "
            "object.init = \"file\" "
            "with object.file");
  const Shape shape{settings.slices, rows, cols};
  Array first(Device::cpu(), shape, DType::c128);
  auto* values = static_cast<complex128*>(first.data());
  if (settings.init == ObjectInit::file || directly) {
    const StoredWave wave = directly ? StoredWave{as_complex(direct->transmission, "the one-shot reconstruction"),
                                                  direct->origin, "the one-shot reconstruction"}
                                     : read_wave(settings.file, "object", "object.file");
    first = placed_object(wave, settings.slices, rows, cols, origin);
    values = static_cast<complex128*>(first.data());
  } else if (settings.init == ObjectInit::random) {
    std::mt19937_64 generator(seed);
    for (Index i = 0; i < first.count(); ++i) {
      // By hand: the library's distributions differ between implementations.
      const double uniform = static_cast<double>(generator() >> 11) * 0x1p-53;
      values[i] = std::polar(1.0, settings.random_phase * (2 * uniform - 1));
    }
  } else {
    std::fill_n(values, first.count(), complex128(1));
  }

  state.type = settings.type;
  if (settings.type == ObjectType::potential) {
    state.phase = Array(Device::cpu(), shape, complex_type == DType::c64 ? DType::f32 : DType::f64);
    for (Index i = 0; i < first.count(); ++i) {
      if (complex_type == DType::c64)
        static_cast<float*>(state.phase.data())[i] = static_cast<float>(std::arg(values[i]));
      else
        static_cast<double*>(state.phase.data())[i] = std::arg(values[i]);
    }
  }
  if (complex_type == DType::c128) {
    state.object = std::move(first);
  } else {
    state.object = Array(Device::cpu(), shape, DType::c64);
    auto* to = static_cast<complex64*>(state.object.data());
    for (Index i = 0; i < first.count(); ++i) to[i] = complex64(values[i]);
  }
  state.follow_phase();
}

}  // namespace sonde::ptycho
