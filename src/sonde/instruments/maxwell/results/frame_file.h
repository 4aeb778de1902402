// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/maxwell/results/sampled_fields.h"

namespace sonde::maxwell {

/// What a file of frames holds.
struct FrameSpec {
  std::string title;
  Sampling sampling;
  GridSpec grid;
  Xyz origin{}, spacing{};  ///< m: of plane 0 of the padded arrays, and of its cells, in the axes of the file
  Index frames = 1;
  Precision precision = Precision::f32;
  double magnetic_delay = 0;  ///< s: H of a frame is so much earlier than its E
  bool energy = false;
  bool depth = false;  ///< z runs downwards

  /// Those that the run has, in the axes of the file.
  [[nodiscard]] std::vector<Component> components() const;
  [[nodiscard]] std::uint64_t bytes() const;
  /// Positions of the samples along x, y or z, m: of nodes on planes, or of the centres of cells.
  [[nodiscard]] std::vector<double> positions(std::size_t users) const;
};

/// Calls body(component in the axes of the file, z, sampled_plane()) for what a frame has, in the order of its file.
void for_each_plane(const FrameSpec& spec, const LiveFields& fields,
                    const std::function<void(Component c, Index z, const Array& plane)>& body);

/// Frames of a run in one HDF5 file of schema sonde.maxwell.snapshots/1, written while it goes: for each component
/// [time][z][y][x] in V/m or A/m; `time` of E and `time_of_h` in s; `x`, `y`, `z` in m; the energy in the model in J
/// (J/m in two dimensions). Nodes that are half a cell behind `x`, `y` or `z` have 0.5 in the attribute `offset_cells`
/// (z, y, x). In memory: one plane. Appears under its name when it is complete.
class FrameFile {
 public:
  FrameFile(const std::string& path, FrameSpec spec, const OutputRole& role = {});

  void add(Index frame, double time, const LiveFields& fields);
  void add_energy(Index frame, const FieldEnergy& energy);
  void close();
  void finish();
  [[nodiscard]] const std::string& path() const { return file_.path(); }

 private:
  FrameSpec spec_;
  Hdf5Writer file_;
  std::vector<double> times_, electric_, magnetic_;
  bool closed_ = false;
};

/// Such a file, opened.
class FrameReader {
 public:
  /// Throws Error(bad_file) for other files, and for arrays whose shapes do not fit.
  explicit FrameReader(const std::string& path);
  /// Whether a file says that it is one; false for all that cannot be read.
  [[nodiscard]] static bool recognises(const std::string& path);

  std::string title{};
  std::vector<Component> components{};
  Index frames = 0;
  XyzIndex count{};
  std::vector<double> times{};
  std::array<std::vector<double>, 3> positions{};  ///< x, y, z
  bool depth = false;

  /// Samples of one frame where index `at` of axis x, y or z is cut, [slower axis][faster axis].
  [[nodiscard]] std::vector<double> plane(Component c, Index frame, std::size_t cut, Index at) const;

 private:
  [[nodiscard]] std::vector<double> line(const std::string& name, Index length) const;

  Hdf5File file_;
};

}  // namespace sonde::maxwell
