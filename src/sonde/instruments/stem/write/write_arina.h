// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// What an acquisition in the layout of a DECTRIS ARINA says besides its frames.
struct ArinaDescription {
  Index scan_rows = 0, scan_cols = 0;
  Index rows = 0, cols = 0;  ///< detector
  DType dtype = DType::u16;  ///< u8, u16 or u32
  Index frames_per_file = 10000;
  bool sidecar = true;     ///< scan shape and microscope in "<base>.h5"; false: attribute scan_shape in the master
  bool sentinels = false;  ///< whether the largest value of dtype means "no data"; false is recorded in the files
  std::optional<std::uint64_t> saturation;
  std::vector<std::uint32_t> pixel_mask;  ///< (rows, cols) NXdetector bits; empty: no bad pixel
  Calibration calibration;
  double frame_time_s = 0;                              ///< 0: not recorded
  std::string description;                              ///< of the detector
  std::map<std::string, Hdf5Value::Scalar> attributes;  ///< of /entry/data in the master, for provenance
};

/// require_place() for the files of an acquisition that are known by name before the first frame. Only the master is
/// named by a person: the files beside it take the place of files of sonde only (Error(bad_input)).
void require_arina_places(const std::string& master, bool sidecar = true);

/// Writes "<base>_master.h5", "<base>_data_000001.h5", ... and the sidecar "<base>.h5". One frame per chunk, packed by
/// bitshuffle + LZ4 (HDF5 filter 32008) on all cores. None of the files has its name before finish() has succeeded, and
/// the master gets its name last. Layout: DECTRIS FileWriter, NeXus NXmx 1.4.
class ArinaWriter {
 public:
  /// `master` must end in "_master.h5" (Error(usage) otherwise). Throws Error(bad_input) for a description that
  /// contradicts itself, Error(io) when the folder cannot be written.
  ArinaWriter(const std::string& master, ArinaDescription description);
  ArinaWriter(ArinaWriter&&) noexcept;
  ~ArinaWriter();

  /// Appends frames in scan order: (n, rows, cols) or (rows of the scan, cols of the scan, rows, cols), contiguous, on
  /// the host, of the described type. Throws Error(bad_input) when shape or type differ or there are too many.
  void append(const Array& frames);

  /// Completes the files and returns their names, master first. Throws Error(bad_input) when frames are missing.
  std::vector<std::string> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::stem
