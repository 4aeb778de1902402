// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/read/frames.h"
#include "sonde/instruments/ptycho/read/settings.h"
#include "sonde/instruments/ptycho/read/source.h"

namespace sonde::ptycho {

/// A measurement before its counts are read: how it will be cropped and padded, where the frames lie, how finely all is
/// sampled.
struct Scan {
  Extent stored;      ///< the detector of the file
  Extent window;      ///< cropped as asked, then padded to sizes that transform fast
  Sampling sampling;  ///< of the window
  ZeroFrequency zero_frequency = ZeroFrequency::centre;
  OffCentre off_centre;             ///< of the zero frequency in the file
  std::vector<std::uint8_t> good;   ///< of the window: 1 where measured; empty: everywhere
  std::vector<Point> positions;     ///< place of window index floor(n/2), object pixels, origin as in the file
  std::vector<Index> skip;          ///< ascending, each once
  std::optional<double> semiangle;  ///< rad
  ProbeType probe_type = ProbeType::electron;
  std::vector<std::string> notes;     ///< what was decided, in words
  std::vector<std::string> warnings;  ///< what is doubtful in the source and in what settings say of it
};

/// Throws Error(bad_input) for sampling that is unknown or contradicts itself (naming the numbers that disagree and by
/// how much), a semiangle that does not fit on the detector, a raster without shape or step, a list of positions that
/// are not finite, all the same, or not as far apart as the run file says, and frames to skip that are not there.
[[nodiscard]] Scan plan_scan(const Source& source, const DataSettings& data, const GeometrySettings& geometry,
                             const PositionListSettings& positions);

/// The counts, read and checked, and what was found on the way.
struct LoadedCounts {
  Measurement measurement;
  Array mean;                         ///< f64 (rows, columns), zero frequency at [0,0]: of the frames that take part
  std::vector<Index> empty;           ///< frames without a count that take part; skipped when asked
  double counts_per_unit = 1;         ///< of the values; 0: not known
  std::vector<std::string> warnings;  ///< saturated pixels, a doubtful zero frequency
};

/// Reads block by block. `how` says in which storage, on which tier and from which budgets; the rest of it follows from
/// the scan. `frames`, ascending, are those that are wanted; empty: all. Throws like Measurement, and Error(bad_input)
/// listing frames without a count unless settings skip them; those are added to scan.skip then.
[[nodiscard]] LoadedCounts load_counts(const Source& source, Scan& scan, const DataSettings& data,
                                       MeasurementOptions how, std::span<const Index> frames = {});
/// How many frames are read at once: all when the source cannot give fewer.
[[nodiscard]] Index block_frames(const Source& source);

/// "3, 7 and 10" of numbers, the first eight and how many more.
[[nodiscard]] std::string listed_frames(const std::vector<Index>& frames);

}  // namespace sonde::ptycho
