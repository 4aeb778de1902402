// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Which scans of a folder form a series.
struct SeriesOptions {
  std::string pattern;  ///< part of the file name; a * stands for anything; empty: every scan
  bool recursive = false;
  Index max_files = 0;  ///< 0: all
  std::string shape;    ///< "Ry,Rx,Qy,Qx" as stored: only scans of this shape; empty: that of the first
  void describe(Fields& fields);
  /// Without the shape: for verbs that take the scans one by one.
  void describe_names(Fields& fields);
};

/// One scan of a series before it is loaded.
struct SeriesItem {
  std::string path;
  std::string label;  ///< file name without "_master.h5"
  Shape shape;        ///< as stored: scan rows, scan cols, rows, cols
  LoadSizes sizes;
};

/// A scan that was left out, and why.
struct SkippedScan {
  std::string path, reason;
};

/// Scans of one shape along a further axis (tilts, times). Every item is a data set of its own; all are held when their
/// sum fits the budget, else the recently used ones, with the neighbours of the current one loaded ahead. Switching
/// never copies: it is a pointer. Thread-safe.
class Series {
 public:
  /// Naturally sorted *_master.h5 files of a folder, or a list of files. Every one is opened and validated; nothing is
  /// decoded. Throws Error(bad_file) listing the shapes that were found, with a suggestion, when no scan is left, and
  /// Error(budget) when not even one fits.
  static Series open(const std::vector<std::string>& paths, const SeriesOptions& series, const LoadOptions& options,
                     Budget budget, Device device = Device::cpu());
  /// A series of one scan that is loaded already. It stays: release() and other items do not push it out.
  static Series of(std::shared_ptr<const Dataset> dataset);

  [[nodiscard]] Index size() const { return static_cast<Index>(items_.size()); }
  [[nodiscard]] const std::vector<SeriesItem>& items() const { return items_; }
  /// How every item is loaded, and into which budget.
  [[nodiscard]] const LoadOptions& options() const { return options_; }
  [[nodiscard]] Budget budget() const;
  [[nodiscard]] const std::vector<SkippedScan>& skipped() const { return skipped_; }
  /// All items fit at once.
  [[nodiscard]] bool eager() const { return eager_; }
  [[nodiscard]] const std::string& eager_because() const { return eager_because_; }

  /// The item, loaded now unless it is held. The pointer stays valid while it is kept, even when the series lets go.
  [[nodiscard]] std::shared_ptr<const Dataset> item(Index i);
  /// Whether item(i) would return at once.
  [[nodiscard]] bool held(Index i) const;
  /// The item when it is held, else nullptr; never waits for a load.
  [[nodiscard]] std::shared_ptr<const Dataset> held_item(Index i);
  /// The same, but not as a use of the item: what is pushed out next stays the same.
  [[nodiscard]] std::shared_ptr<const Dataset> peek(Index i) const;
  /// Validates one more scan and makes it the last item. Throws what opening throws, and Error(bad_input) for another
  /// shape than that of the series. Not while another thread uses items() or size().
  void append(const std::string& path);
  /// Starts loading an item in the background (no effect when held or when it would push out the current one).
  void prefetch(Index i);
  /// Waits for background loading; an item that failed is loaded again, with its error, by item().
  void wait();
  /// Lets go of everything, or of one item.
  void release();
  void release(Index i);

  Series(Series&&) noexcept;
  Series& operator=(Series&&) noexcept;
  ~Series();

 private:
  Series();
  struct Held;
  std::vector<SeriesItem> items_;
  std::vector<SkippedScan> skipped_;
  LoadOptions options_;
  bool eager_ = true;
  std::string eager_because_;
  std::unique_ptr<Held> held_;
};

/// Scans of one shape, and those that were left out with the reason.
struct ScanSelection {
  std::vector<SeriesItem> items;
  std::vector<SkippedScan> skipped;
};

/// Opens and validates every scan, and takes those of the shape that `series` asks for, else of the first one's. Each
/// one left out is a warning. Throws Error when none is left, naming the shapes found, and Error(budget).
[[nodiscard]] ScanSelection select_scans(const std::vector<std::string>& paths, const SeriesOptions& series,
                                         const LoadOptions& options, const Budget& budget);

/// Throws Error(bad_file) when a scan that `named` lists itself was left out: only those of a folder may be.
void require_named(const ScanSelection& selected, const std::vector<std::string>& named);

/// Whether this is a folder of scans; a folder that is one scan itself (Zarr) is not. Never throws.
[[nodiscard]] bool is_series_folder(const std::string& path);

/// Finds the scans of folders and files: *_master.h5 in natural order, else any file or Zarr folder named.
[[nodiscard]] std::vector<std::string> find_scans(const std::vector<std::string>& paths, const SeriesOptions& options);

}  // namespace sonde::stem
