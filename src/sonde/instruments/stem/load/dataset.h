// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/correct/bad_pixels.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/load/estimate.h"
#include "sonde/instruments/stem/load/ledger.h"
#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/pass/cleaning.h"
#include "sonde/instruments/stem/pass/grid.h"
#include "sonde/instruments/stem/read/acquisition.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

class Operation;  // of a pass

/// What is certain about the numbers of a loaded scan.
struct Exactness {
  double stored_largest = 0;                          ///< largest resident value before bad pixels were corrected
  double largest = 0;                                 ///< and after: the true maximum
  DType narrowest = DType::u8;                        ///< smallest type that holds it without loss
  std::uint64_t sentinels = 0, masked_sentinels = 0;  ///< "no data" values in good and in masked pixels
  std::uint64_t saturated = 0;                        ///< values above the detector's saturation, kept
  std::uint64_t clipped = 0;                          ///< values cut by a --dtype too small
  std::uint64_t failed_frames = 0;
  /// False where frames were summed without a look at single values: largest, narrowest and saturated are not known.
  bool values_seen = true;
  /// Every resident value is the exact sum of the good stored counts it stands for.
  [[nodiscard]] bool exact() const { return clipped == 0 && failed_frames == 0; }
  [[nodiscard]] Value to_value() const;
};

/// One scan, loaded: resident elements or compressed bytes, moments, masks, and how they came about.
/// Const access is thread-safe. Movable. Large memory goes back to the system with release() or the destructor.
class Dataset {
 public:
  Dataset();
  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

  [[nodiscard]] const Acquisition& acquisition() const;
  /// As asked for, but for an automatic action on bad pixels, which is what it became.
  [[nodiscard]] const LoadOptions& options() const;
  /// (scan rows, scan cols, detector rows, detector cols), after regions and bins.
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] Index positions() const;
  [[nodiscard]] DType dtype() const;
  [[nodiscard]] LayoutChoice layout() const;
  [[nodiscard]] Index det_bin() const;
  [[nodiscard]] Index scan_bin() const;
  [[nodiscard]] const Calibration& calibration() const;

  /// The resident array: planes(pixel, position) for the pixel layout, frames(position, row, col) for the frame layout.
  /// It lies on the device that the scan was loaded to.
  /// Throws Error(bad_input) for the other layouts and after release().
  [[nodiscard]] const Array& array() const;
  [[nodiscard]] const Moments& moments() const;
  /// NXdetector bits of the resident detector: file mask, mask file and found bad pixels.
  [[nodiscard]] const std::vector<std::uint32_t>& mask_bits() const;
  /// 1 for good resident pixels.
  [[nodiscard]] const std::vector<std::uint8_t>& good() const;
  /// (position): 0 where the file has no frame.
  [[nodiscard]] const std::vector<std::uint8_t>& valid() const;
  /// Pixels found bad in the data, on the stored detector.
  [[nodiscard]] const std::vector<BadPixel>& bad_pixels() const;
  [[nodiscard]] const Exactness& exactness() const;
  /// Where the counts of the frames that were read went.
  [[nodiscard]] const Ledger& ledger() const;
  [[nodiscard]] const LoadEstimate& estimate() const;
  [[nodiscard]] const StageSeconds& seconds() const;
  [[nodiscard]] const std::vector<Choice<std::string>>& choices() const;
  /// On the stored detector: in how many frames a pixel holds "no data" (of floating-point files, not a number), which
  /// counts as zero in everything else here; 0 for pixels that the mask calls bad.
  [[nodiscard]] const std::vector<std::uint64_t>& missing_per_pixel() const;
  [[nodiscard]] const std::vector<FailedFrame>& failed_frames() const;
  /// Frames that survey() decoded; 0 after load(). Of a survey, moments() hold the pattern sum over these frames only,
  /// and what only all frames show is there after sum_masks().
  [[nodiscard]] Index sampled_frames() const;
  /// How often all frames were decoded: once, and again where the element type had to be widened or bins cleaned.
  [[nodiscard]] int passes() const;
  [[nodiscard]] std::size_t stored_bytes() const;
  /// XXH3 of all bytes read; with the size it identifies the input (provenance).
  [[nodiscard]] std::uint64_t content_hash() const;

  /// The pattern of one scan position as (rows, cols) of dtype(): a copy of a frame, a gather of planes, or one decoded
  /// frame. Throws Error(bad_input) outside the scan.
  [[nodiscard]] Array pattern(Index scan_row, Index scan_col) const;
  /// The moments of some scan positions, ascending: their frames are decoded again, whatever the layout. Shapes are
  /// those of moments() with so many positions. Throws Error(bad_input) when one is outside, or there is none.
  [[nodiscard]] Moments moments_of(std::vector<Index> positions) const;

  /// Returns all large memory to the system; everything but the description is gone afterwards.
  void release();
  [[nodiscard]] bool released() const;
  /// Bytes in memory, of whatever device: elements, compressed bytes and moments.
  [[nodiscard]] std::size_t held_bytes() const;
  /// {"resident": bytes, "moments": bytes, "compressed": bytes, "budget": ..., "process": ...}.
  [[nodiscard]] Value memory_report() const;

  struct State;
  [[nodiscard]] State& state() { return *state_; }
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  void require_resident() const;
  std::unique_ptr<State> state_;
};

/// Validates, decides, decodes, corrects and sums one scan. All phases and choices are kept in the data set.
/// Throws the errors of open_source, Error(budget) before any work when it does not fit, Error(bad_input) for
/// impossible bins and regions, Error(bad_file) for broken frames (see --on-error), Error(interrupted).
/// The resident array lies on `device`, whose budget it is; what a GPU has no kernels for is done by the CPU, and one
/// of the choices says so. Operations of `beside` see every frame as the moments count it, in the same pass, on the
/// CPU; when frames are decoded again, they start again.
[[nodiscard]] Dataset load(const std::string& path, const LoadOptions& options, Budget budget,
                           Device device = Device::cpu(), std::span<Operation* const> beside = {});
/// The same for a source that is already open; what `options` say of reading has no effect then.
[[nodiscard]] Dataset load(std::unique_ptr<Source> source, const LoadOptions& options, Budget budget,
                           Device device = Device::cpu(), std::span<Operation* const> beside = {});

/// What load() would do: opened and validated, nothing decoded.
struct LoadPreview {
  Acquisition acquisition;
  LoadSizes sizes;
  LoadEstimate estimate;
};
[[nodiscard]] LoadPreview preview_load(const std::string& path, const LoadOptions& options, const Budget& budget);
[[nodiscard]] LoadPreview preview_load(std::unique_ptr<Source> opened, const LoadOptions& options,
                                       const Budget& budget);

}  // namespace sonde::stem
