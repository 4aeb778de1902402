// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sonde/instruments/neoclassical/read/boozer_file.h"
#include "sonde/instruments/neoclassical/read/notes.h"
#include "sonde/instruments/neoclassical/read/surface_options.h"
#include "sonde/instruments/neoclassical/read/wout.h"

namespace sonde::neoclassical {

/// A surface with what a user should know of how it was made.
struct ReadSurface {
  Surface surface;
  Notes notes;
};

/// A file of many surfaces (VMEC wout, boozmn, .bc), read once: surfaces and profiles at any radius it covers. Copies
/// share the contents; thread-safe.
class Equilibrium {
 public:
  /// Uses type, path, psi_a, wout, signgs, min_bmn, snap and vmec_radial_option. Throws Error(bad_file) naming file,
  /// field and reason, also when the file is missing or may not be read; Error(bad_input) for a file of one surface and
  /// for settings that contradict the file, as a wout of another equilibrium does (psi_a, iota or G differ by more than
  /// 1e-3); Error(io) when a read fails.
  static Equilibrium open(const SurfaceOptions& options);

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] SurfaceType type() const;
  [[nodiscard]] int periods() const;
  /// Toroidal flux of the edge / 2 pi, signed, T m^2. Throws Error(bad_input) when neither file nor options have it.
  [[nodiscard]] double psi_a() const;
  /// s of the surfaces that the file stores.
  [[nodiscard]] const std::vector<double>& radii() const;
  /// What was decided on opening.
  [[nodiscard]] const Notes& notes() const;
  /// The contents, when it is such a file; else nullptr.
  [[nodiscard]] const Wout* wout() const;
  [[nodiscard]] const BoozerFile* boozer() const;

  /// The surface at 0 < s <= 1, in the angles of the file, with psi replaced by s. Throws Error(bad_input) outside and,
  /// for Boozer files, in gaps of their surfaces, listing the radii there are.
  [[nodiscard]] ReadSurface surface(double s) const;
  /// iota, I, G and B_00 there; B_00 in the angles of the file, R_00 only of a Boozer file that has it.
  [[nodiscard]] RadialProfile profile(double s) const;

 private:
  struct Contents;
  explicit Equilibrium(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}
  double nearest_radius(double s, Notes& notes) const;

  std::shared_ptr<const Contents> contents_;
};

/// The kind of a file by its content. Throws Error(bad_file) when it is missing, may not be read or is none of them.
[[nodiscard]] SurfaceType recognise_surface(const std::string& path);

/// The kind that options mean: as they say, a built-in or analytic surface, or recognised. Throws like
/// recognise_surface(), and Error(bad_input) without a path.
[[nodiscard]] SurfaceType surface_type(const SurfaceOptions& options);

/// s of the surface that exactly one of s, rho and surface_index chooses. Throws Error(bad_input) when none or several
/// do, or the index is not there.
[[nodiscard]] double chosen_s(const SurfaceOptions& options, const Equilibrium& equilibrium);

/// The surface that the table [surface] describes. For files of several surfaces exactly one of s, rho and
/// surface_index is given, for one surface none. Throws like Equilibrium::open and Equilibrium::surface.
[[nodiscard]] ReadSurface read_surface(const SurfaceOptions& options);

}  // namespace sonde::neoclassical
