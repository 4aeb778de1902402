// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/read/settings.h"
#include "sonde/instruments/ptycho/read/source.h"

namespace sonde::ptycho {

/// How a measurement is sampled and lit, from what its file and the run file say together: the run file counts more.
struct Geometry {
  Sampling sampling;  ///< of the detector as stored
  ProbeType probe_type = ProbeType::electron;
  std::optional<double> semiangle;       ///< rad
  std::optional<Claim> step_a, step_px;  ///< of the scan
  std::vector<std::string> notes;        ///< numbers of the file that the run file replaces by almost the same
  std::vector<std::string> warnings;     ///< those that it replaces by others, and settings that have no effect
};

/// The name of a file without its folders: how messages name who says something.
[[nodiscard]] std::string short_name(const std::string& path);

/// Throws Error(bad_input) for sampling that is unknown or contradicts itself (naming the numbers that disagree, who
/// says them and by how much) and for energies that no instrument has.
[[nodiscard]] Geometry geometry_of(const Source& source, const GeometrySettings& settings);

/// Compares a list of positions (object pixels, in the order of the scan; `shape` of a raster, if it is one) with the
/// step that is said besides. They agree when the step is within a twentieth of one of the raster's own, or within a
/// third of the typical distance of neighbours where the list has no shape. Throws Error(bad_input) naming both and the
/// factor when the run file says the step; what the data file says of itself comes back as a warning.
[[nodiscard]] std::optional<std::string> compare_step(const std::vector<Point>& positions,
                                                      const std::optional<Extent>& shape, const Geometry& geometry);

}  // namespace sonde::ptycho
