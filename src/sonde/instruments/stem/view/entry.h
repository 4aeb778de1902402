// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/pattern_preview.h"
#include "sonde/instruments/stem/view/first_look.h"
#include "sonde/instruments/stem/view/page.h"

namespace sonde::stem {

/// Where the beam is in one item: found in its mean pattern, or why not.
struct BeamFound {
  std::optional<Centre> centre;
  std::optional<Error> error;
};

/// What went wrong with a file, on one line that names it.
[[nodiscard]] std::string in_words(const Error& error, const std::string& path);

/// One data set of a page: a scan, or a series of scans of one shape. Thread-safe, but load(), append() and release()
/// are for one thread at a time.
class Entry {
 public:
  /// Opens and validates. A folder that is watched may be without a finished scan: it has no items until one is
  /// appended. Throws what opening one scan, or Series::open, throws.
  Entry(Index id, const std::string& path, const ViewOptions& options, const Budget& budget, Device device);

  /// Scans that others have opened. Throws what opening throws.
  Entry(Index id, std::shared_ptr<Series> series, const Budget& budget);

  [[nodiscard]] Index id() const { return id_; }
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] Index size() const;
  /// Throws Error(bad_input) as long as there is no item.
  void require_scan() const;
  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] std::string item_path(Index item) const;
  [[nodiscard]] std::string item_label(Index item) const;
  /// (scan rows, scan cols, rows, cols) after regions and bins; before the first load those that the load will choose.
  [[nodiscard]] Shape shape() const;
  /// The item when it is in memory, else nullptr. A look-up.
  [[nodiscard]] std::shared_ptr<const Dataset> held(Index item) const;
  /// The same, but not as a use of it: what makes room for others stays the same.
  [[nodiscard]] std::shared_ptr<const Dataset> peek(Index item) const;

  /// Loads the item unless it is held, and finds its beam. What a load throws is kept for state() and thrown.
  std::shared_ptr<const Dataset> load(Index item);
  /// The pattern of a position decoded from the file, for an item that is still being loaded.
  [[nodiscard]] Array preview_pattern(Index item, Index scan_row, Index scan_col);
  /// Images of such an item. The first call decodes some patterns, others wait for it meanwhile.
  [[nodiscard]] std::shared_ptr<const FirstLook> first_look(Index item);
  /// Looked for in an item in memory, once; it stays known after release.
  /// What a pixel of the detector is worth, where that is known.
  [[nodiscard]] std::optional<double> pixel_mrad() const;
  [[nodiscard]] BeamFound beam(Index item);
  /// Why the last load of the item failed, when it did; of the others nothing follows from that.
  [[nodiscard]] std::optional<Error> problem(Index item) const;
  /// What a load is tried again with: no problem is known of the item any more.
  void forget_problem(Index item);
  /// How far the load of this entry is; nothing when none runs.
  void set_loading(std::optional<Value> progress);
  /// Stored bytes of one item: what a load reads.
  [[nodiscard]] double stored_bytes(Index item) const;

  /// A further scan at the end of a series, or its first. Throws as Series::append, or as opening.
  void append(const std::string& path);
  /// Files of the item that were there at the last look and are not now.
  [[nodiscard]] std::vector<std::string> look_for_files(Index item);
  /// Lets go of one item, or of all, and of what is known of failed loads: they are tried again when wanted.
  void release(std::optional<Index> item);

  /// The entry of `datasets` in the page's state. It fails as a whole only when each of its items did.
  [[nodiscard]] Value state() const;

 private:
  struct Item {
    std::string label, path;
    double stored_bytes = 0;
    std::optional<BeamFound> beam;
    std::optional<Error> error;
    bool described = false;          // its files and facts are known
    std::vector<std::string> files;  // that it is read from, as far as is known
    std::vector<std::string> gone;
  };
  void describe(const Dataset& dataset);
  void expect(const LoadPreview& preview);
  void begin(const std::string& path);
  void add(const SeriesItem& item);
  [[nodiscard]] std::shared_ptr<Series> series() const;
  [[nodiscard]] std::shared_ptr<PatternPreview> preview_of(Index item);

  const Index id_;
  const std::string source_;
  std::string label_;
  const LoadOptions load_;
  const SeriesOptions which_;
  const Budget budget_;
  const Device device_;

  mutable std::mutex mutex_;        // of what follows
  std::shared_ptr<Series> series_;  // nullptr: without a scan yet; once it is there it stays
  std::vector<Item> items_;
  Shape shape_;
  Value facts_ = Value::object();  // what is known of every item: scan, detector, calibration, choices
  std::optional<Value> loading_;
  Index preview_item_ = -1;  // of both
  std::shared_ptr<PatternPreview> preview_;
  std::shared_ptr<const FirstLook> first_look_;

  std::mutex looking_;  // one first look at a time; taken before the other
};

}  // namespace sonde::stem
