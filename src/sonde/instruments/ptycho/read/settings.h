// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// Whose layout a file has. automatic: scans of `sonde ptycho simulate`, CXI and PtyD are recognised,
/// everything else is plain.
enum class SourceFormat { automatic, plain, sonde, cxi, ptyd, stem };

/// Which value of a mask marks a pixel that was measured.
enum class MaskGood { nonzero, zero };

/// [data]: where the patterns are and which of them count.
struct DataSettings {
  std::string file;  ///< relative paths of a run file start at its folder
  SourceFormat format = SourceFormat::automatic;
  std::string patterns;   ///< data set inside the file; empty: the only one with three or four dimensions
  std::string positions;  ///< data set inside the file, or FILE[:DATASET]; empty: those of the format, or a raster
  std::string scan_shape;
  std::optional<ZeroFrequency> zero_frequency;  ///< unset: the centre, or what the format says
  std::string mask;
  MaskGood mask_good = MaskGood::nonzero;
  std::string skip;
  bool skip_empty = false, clip_negative = false;
  Index detector_bin = 1;  ///< what `sonde stem` opens only
  std::string crop;
  std::string centre;                     ///< detector row and column of the direct beam; empty: the middle
  std::optional<double> counts_per_unit;  ///< unset: estimated from the values
  std::optional<double> holdout;
  std::optional<AmplitudeStorage> storage;  ///< unset: chosen by the memory there is
  std::optional<Tier> tier;                 ///< host or disk; unset: chosen

  void describe(Fields& fields);
};

enum class Units { angstrom, pixel };
enum class ProbeType { electron, photon };

/// [geometry]: what turns pixels into lengths, and how a raster lies on the specimen.
struct GeometrySettings {
  Units units = Units::angstrom;
  std::optional<ProbeType> probe_type;  ///< unset: what the file says, else electrons
  std::optional<double> energy_kev, semiangle_mrad, detector_mrad_per_px, detector_inv_a_per_px;
  std::optional<double> detector_pixel_m, distance_m, object_pixel_a;
  std::optional<double> scan_step_a, scan_step_px;
  double scan_rotation_deg = 0;
  bool transpose = false;

  void describe(Fields& fields);
};

/// What a list of positions means; part of [positions].
struct PositionListSettings {
  std::optional<LengthUnit> unit;      ///< unset: A, or pixels when the geometry is in pixels
  std::optional<Reference> reference;  ///< unset: the centre of the window
  bool whole_pixels = false;

  void describe(Fields& fields);
};

/// "128" or "128,96" as rows and columns. Throws Error(usage) beginning with `key` for anything else and for numbers
/// below 1.
struct Extent {
  Index rows = 0, cols = 0;
};
[[nodiscard]] Extent parse_extent(std::string_view text, std::string_view key);

/// "3,7,10-12": frame numbers from 0. Throws Error(usage) for anything else.
[[nodiscard]] std::vector<Index> parse_frames(std::string_view text, std::string_view key);

}  // namespace sonde::ptycho
