// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/read/settings.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// A measurement as its file describes it, patterns not yet read. What a file leaves open is empty; settings fill it.
struct Source {
  std::string file;
  std::string format;  ///< "CXI", "PtyD", "plain HDF5", "NPY", or what another reader calls itself
  Shape shape;         ///< (frames, rows, columns)
  DType dtype = DType::u16;
  std::function<Array()> read_patterns;  ///< all of them, on the host, of that shape and type
  /// Frames [first, first + count) of them; empty: they come all at once or not at all.
  std::function<Array(Index first, Index count)> read_frames;
  Index together = 1;             ///< frames that a file keeps in one piece: fewer of them take as long to read
  bool in_memory = false;         ///< read_patterns gives what is there already, for nothing
  std::size_t reading_bytes = 0;  ///< that a reader holds beside the frames it gives
  std::optional<ZeroFrequency> zero_frequency;
  std::vector<std::uint8_t> good;  ///< (rows, columns): 1 where a pixel was measured; empty: everywhere
  /// For readers that find bad pixels in the counts: reads all frames once, and returns `good` without those. Empty:
  /// nobody looks. Throws Error(bad_input) where a pixel that is left has no value in some frame.
  std::function<std::vector<std::uint8_t>()> find_good;

  std::vector<Point> positions;  ///< empty: a raster
  std::optional<LengthUnit> unit;
  std::optional<Reference> reference;
  std::optional<Extent> scan_shape;  ///< of a raster
  /// Data sets of the file that may be a list of positions, of a file whose layout does not say so.
  std::vector<std::string> position_lists;

  std::optional<ProbeType> probe_type;
  bool probe_type_assumed = false;  ///< by the custom of the format: the file does not say it
  std::optional<double> energy_kev, semiangle_mrad, mrad_per_px, detector_pixel_m, distance_m, step_a;
  std::optional<double> inv_a_per_px;  ///< 1/A per detector pixel, for who knows it without the energy
  Array probe;                         ///< complex128 (modes, rows, columns), centred; empty unless the file has one
  std::vector<std::string> notes;      ///< what was chosen among what it holds
  std::vector<std::string> warnings;   ///< what in the file was doubtful
};

/// The array of the caller that a setting names in place of a file; nullptr where it is a file.
using FindArray = std::function<std::shared_ptr<const Array>(const std::string& name)>;

/// Takes positions and mask that settings name in place of those of the file. Throws Error(bad_file) for missing ones,
/// Error(bad_input) for shapes that do not fit.
void take_named_arrays(const DataSettings& settings, Source& source, const FindArray& find = {});

/// Throws Error(bad_input) when there is another number of positions than of frames.
void require_fitting(const Source& source);

/// Whether a file says everything that a reconstruction must know: a scan of `sonde ptycho simulate`, CXI or PtyD.
/// False for files that are no HDF5. Throws Error(bad_file) when it is missing, and for HDF5 files that are damaged.
[[nodiscard]] bool describes_itself(const std::string& path);

/// Whether `settings` describe a file that open_source() knows: always, unless the format is stem, or automatic with a
/// file that describes_itself() not, holds no list of positions beside its patterns, and no positions or data set are
/// named. Throws like describes_itself().
[[nodiscard]] bool is_own_format(const DataSettings& settings);

/// Opens a file and reads all but the patterns. Throws Error(bad_file) naming file and data set for missing ones,
/// Error(bad_input) for shapes that do not fit each other; axes that seem to be in another order are named.
[[nodiscard]] Source open_source(const DataSettings& settings, const FindArray& find = {});

/// The same of patterns in memory, (frames, rows, columns) or (scan rows, scan columns, rows, columns), contiguous on
/// the host; `settings.file` stands for them in messages.
[[nodiscard]] Source open_array(std::shared_ptr<const Array> patterns, const DataSettings& settings,
                                const FindArray& find = {});

}  // namespace sonde::ptycho
