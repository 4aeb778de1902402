// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/array/view.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/optics/aberrations.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/sampling.h"

namespace sonde::ptycho {

enum class ProbeInit { automatic, aperture, vacuum, mean_bf, gaussian, file };

/// [probe]: where the first probe comes from.
struct ProbeSettings {
  ProbeInit init = ProbeInit::automatic;
  std::string file;
  std::optional<double> fwhm;
  Index modes = 1, start = 2;
  ApertureEdge edge = ApertureEdge::pixel;
  std::vector<std::pair<std::string, std::optional<double>>> aberrations;  ///< those of Aberrations::names()

  ProbeSettings();
  /// Throws Error(bad_input) for two names of one aberration with different values.
  [[nodiscard]] Aberrations lens() const;
  [[nodiscard]] bool has_aberrations() const;
  void describe(Fields& fields);
};

/// low_resolution: ones, from which a reconstruction on the middle of the patterns begins. ssb, parallax: a one-shot
/// reconstruction. Both come before a run begins.
enum class ObjectInit { ones, random, file, low_resolution, ssb, parallax };

/// [object]: what is looked for, and where it starts.
struct ObjectSettings {
  ObjectType type = ObjectType::complex;
  ObjectInit init = ObjectInit::ones;
  std::string file;
  double random_phase = 0.1;
  Index slices = 1, start = 1;
  std::string slice_thickness_a = "10";  ///< one number for all slices, or one of each
  std::optional<double> tilt_row_mrad, tilt_col_mrad;

  /// A, as given: one number for all slices, or one of each. Throws Error(usage) for what is no number,
  /// Error(bad_input) for other counts and for numbers below zero.
  [[nodiscard]] std::vector<double> slice_thickness() const;
  /// A, from each slice to the next, slices - 1 numbers: the thickness of the one the wave has just left.
  [[nodiscard]] std::vector<double> slice_distances() const;
  void describe(Fields& fields);
};

/// Where the first probe comes from, and why. `has_angle`: energy and semiangle are known. Aberrations in [probe] ask
/// for an aperture before the probe that the data file carries.
[[nodiscard]] Choice<ProbeInit> choose_probe_init(const ProbeSettings& settings, bool has_angle, bool source_has_probe);

/// What is set in [probe] and has no effect on a probe of that origin, one sentence each.
[[nodiscard]] std::vector<std::string> unused_probe_settings(const ProbeSettings& settings,
                                                             const Choice<ProbeInit>& init);

/// The first probe, complex128 (modes, rows, columns), of the given counts per frame, and why it is this one.
/// `semiangle` in rad for the aperture; `mean` the mean pattern (rows, columns), zero frequency at [0,0], for mean_bf;
/// `from_source` is the probe that the data file carries, or empty. Throws Error(bad_input) for what is missing and for
/// shapes that do not fit.
[[nodiscard]] Choice<Array> start_probe(const ProbeSettings& settings, const Sampling& sampling,
                                        std::optional<double> semiangle, View<const double, 2> mean,
                                        const Array& from_source, double counts);

/// An object from somewhere else: its transmission, complex (slices or 1, rows, columns), and where its pixel [0,0]
/// lies, in object pixels of the frame of the positions.
struct KnownObject {
  Array transmission;
  Point origin;
};

/// Throws Error(bad_input) when object.file states the size of its pixels and it is another one than this scan's: it
/// would be another specimen.
void require_object_pixels(const ObjectSettings& settings, const Sampling& sampling);

/// The first object of `rows` x `cols` pixels, pixel [0,0] at `origin` (object pixels, in the frame of the positions),
/// in the precision of `complex_type` (c64 or c128); fills state.object, state.phase and state.type. Objects of files
/// are shifted by whole pixels to where they belong when the file says where that is, and must else have the same size.
/// `direct` is what ssb or parallax has found. Throws Error(not_supported) when that is asked for and not there.
void start_object(const ObjectSettings& settings, Index rows, Index cols, Point origin, DType complex_type,
                  std::uint64_t seed, State& state, const KnownObject* direct = nullptr);

}  // namespace sonde::ptycho
