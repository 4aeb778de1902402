// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/hdf5_frames.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// A scan whose frames lie in one or several HDF5 data sets, one after another. All have one shape and type.
class Hdf5Source : public Source {
 public:
  Hdf5Source(Acquisition acquisition, std::vector<Hdf5Frames> parts);

  [[nodiscard]] std::size_t stored_bytes(Index frame) const override;
  void read(Index first, Index last, RawBatch& batch) override;
  void decode(const RawBatch& batch, Index frame, DecodeScratch& scratch, std::span<std::byte> elements) const override;
  [[nodiscard]] std::optional<BitshuffleFormat> packing() const override;
  [[nodiscard]] std::size_t reading_bytes(int workers) const override;
  [[nodiscard]] std::size_t useful_cache_bytes() const override;
  void set_cache_bytes(std::size_t bytes) override;

 private:
  [[nodiscard]] std::size_t part_of(Index frame) const;

  std::vector<Hdf5Frames> parts_;
  std::vector<Index> firsts_;                       ///< stored frame that each part begins with, and the total
  std::size_t cache_bytes_ = 0, caching_part_ = 0;  ///< one part at a time keeps chunks
};

/// Whether this is the layout of DECTRIS detectors: a master, or a data file.
[[nodiscard]] bool is_arina(const Hdf5File& file);

/// Opens an ARINA acquisition by its master, or only one of its data files. Resolves every link, opens every file and
/// checks every byte range; throws one Error with all problems.
[[nodiscard]] std::unique_ptr<Source> open_arina(const Hdf5File& file, const ReadOptions& options);

/// Opens a scan in any other HDF5 file: the data set that the options name, else the largest with four dimensions,
/// else with three. Axes of EMD 0.x, EMD 1.0, py4DSTEM and Prismatic give calibration.
[[nodiscard]] std::unique_ptr<Source> open_hdf5_generic(const Hdf5File& file, const ReadOptions& options);

/// Opens any HDF5 file as the above. Throws Error(bad_file) for a microscope's sidecar, which holds no frames, and for
/// files without a scan.
[[nodiscard]] std::unique_ptr<Source> open_hdf5(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
