// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "convert.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::python {

/// A loaded scan as Python's objects share it: the Dataset, and how many arrays on its memory are alive. Counts rise
/// under the GIL alone, so that release() can be sure of what it sees.
class Scan : public std::enable_shared_from_this<Scan> {
 public:
  /// A data set of its own.
  explicit Scan(stem::Dataset dataset);
  /// An item of a series: letting go of it leaves the series with it.
  explicit Scan(std::shared_ptr<const stem::Dataset> item) : dataset_(std::move(item)) {}

  /// Throws Error(bad_input) after release().
  [[nodiscard]] const stem::Dataset& dataset() const;
  [[nodiscard]] bool released() const { return dataset_ == nullptr; }

  /// Gives the memory back. Throws Error(bad_input) naming how many arrays and running calls use it. Idempotent.
  void release();
  /// The same without the check, for a series that has made it for all its items.
  void let_go() { dataset_.reset(); }

  /// Keeps the data set and counts as one array (or as one running call) while it lives.
  class Use {
   public:
    enum class Kind { array, call };
    Use(std::shared_ptr<Scan> scan, Kind kind);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { --count(); }

   private:
    std::atomic<int>& count() { return kind_ == Kind::array ? scan_->arrays_ : scan_->calls_; }
    std::shared_ptr<Scan> scan_;
    std::shared_ptr<const stem::Dataset> dataset_;
    Kind kind_;
  };
  /// A capsule that holds a Use: the base of exported arrays.
  [[nodiscard]] py::capsule owner();
  [[nodiscard]] Use call() { return {shared_from_this(), Use::Kind::call}; }

  [[nodiscard]] int arrays() const { return arrays_; }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  std::shared_ptr<const stem::Dataset> dataset_;
  stem::Dataset* own_ = nullptr;
  std::atomic<int> arrays_{0}, calls_{0};
};

/// "2 arrays and 1 running call": what stands against a release.
[[nodiscard]] std::string users_text(int arrays, int calls);

/// Where element (scan row, scan col, row, col) of a resident scan lies, in elements, for either dense layout.
[[nodiscard]] std::vector<Index> strides_of(const stem::Dataset& dataset);

/// The options of save_image(), described.
[[nodiscard]] py::list save_image_fields();
void add_dataset(py::module_& module);

}  // namespace sonde::python
