// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "convert.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "work.h"

namespace sonde::python {

/// A loaded scan as Python's objects share it: the Dataset, and how many arrays on its memory are alive. Counts rise
/// only under the GIL, so that release() can be sure of what it sees.
class Scan : public std::enable_shared_from_this<Scan> {
 public:
  /// A data set of its own.
  explicit Scan(stem::Dataset dataset);
  /// An item of a series: letting go of it leaves the series with it.
  explicit Scan(std::shared_ptr<const stem::Dataset> item) : dataset_(std::move(item)) {}

  /// Throws Error(bad_input) after release().
  [[nodiscard]] const stem::Dataset& dataset() const;
  /// The files that it was read from are inputs of later calls too.
  void read_by(const Work& work) { files_ = work.files(); }
  void read_by(std::shared_ptr<RunFiles> files) { files_ = std::move(files); }
  /// For one later call.
  [[nodiscard]] std::shared_ptr<RunFiles> files() const {
    return files_ ? std::make_shared<RunFiles>(*files_) : nullptr;
  }
  [[nodiscard]] bool released() const { return dataset_ == nullptr; }

  /// Gives the memory back. Throws Error(bad_input) naming how many arrays and running calls use it. Idempotent.
  void release();
  /// The same without the check, for a series that has made it for all its items.
  void let_go() { dataset_.reset(); }

  /// Keeps the data set and counts as one array, running call, viewer or imager while it lives.
  class Use {
   public:
    enum class Kind { array, call, viewer, imager };
    Use(std::shared_ptr<Scan> scan, Kind kind);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { --scan_->uses_[static_cast<std::size_t>(kind_)]; }
    [[nodiscard]] const std::shared_ptr<const stem::Dataset>& dataset() const { return dataset_; }

   private:
    std::shared_ptr<Scan> scan_;
    std::shared_ptr<const stem::Dataset> dataset_;
    Kind kind_;
  };
  /// While it lives, frames are read for a function of the caller: calls that may need to read some themselves would
  /// wait for ever, and throw Error(bad_input) instead. Needs the GIL.
  class Mapping {
   public:
    explicit Mapping(Scan& scan);
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { scan_.mapped_ = false; }

   private:
    Scan& scan_;
  };
  /// A capsule that holds a Use: the base of exported arrays.
  [[nodiscard]] py::capsule owner();
  [[nodiscard]] Use call() { return {shared_from_this(), Use::Kind::call}; }

  /// How many of each kind there are now.
  struct Users {
    int arrays = 0, calls = 0, viewers = 0, imagers = 0;
    [[nodiscard]] bool any() const { return arrays + calls + viewers + imagers > 0; }
    /// "2 arrays and 1 running call".
    [[nodiscard]] std::string text() const;
  };
  [[nodiscard]] Users users() const { return {uses_[0], uses_[1], uses_[2], uses_[3]}; }

 private:
  std::shared_ptr<const stem::Dataset> dataset_;
  std::shared_ptr<RunFiles> files_;
  stem::Dataset* own_ = nullptr;
  std::array<std::atomic<int>, 4> uses_{};  // by Use::Kind
  bool mapped_ = false;                     // by map(), under the GIL
};

/// The hint of a release that is refused.
extern const char* const how_to_let_go;

/// Where element (scan row, scan col, row, col) of a resident scan lies, in elements, for either dense layout.
[[nodiscard]] std::vector<Index> strides_of(const stem::Dataset& dataset);

/// The options of save_image(), described.
[[nodiscard]] py::list save_image_fields();
void add_dataset(py::module_& module);

}  // namespace sonde::python
