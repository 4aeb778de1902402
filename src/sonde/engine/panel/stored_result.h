// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"

namespace sonde::panel {

/// One axis of a quantity.
struct Axis {
  std::string name{};  ///< "row"; empty: the file does not say it
  std::string unit{};
  Index size = 0;
  std::vector<double> places{};  ///< of the elements; empty: they are at 0, step, 2 step, ...
  double step = 1;
  /// Whether its elements are equally far apart.
  [[nodiscard]] bool even() const;
  [[nodiscard]] double place(Index i) const {
    return places.empty() ? step * static_cast<double>(i) : places.at(static_cast<std::size_t>(i));
  }
};

/// An array of a result, not read yet.
struct Quantity {
  std::string name{};  ///< "metrics/R_I"
  std::string unit{};
  DType dtype = DType::f64;
  std::vector<Axis> axes{};
  [[nodiscard]] bool complex() const { return dtype == DType::c64 || dtype == DType::c128; }
};

/// A single number of a result, or a few of them.
struct Numbers {
  std::string name{}, unit{};
  std::vector<double> values{};
};

/// A text of a result; what is JSON is a tree as well.
struct Text {
  std::string name{}, text{};
  Value tree{};  ///< null where it is not JSON
};

/// A file that a verb wrote: HDF5, NetCDF (both kinds) or NPZ, with the attribute `schema` = "sonde....", which NPZ has
/// in `attributes_json`. What axes and units are comes from the file: `units`; the names of axes from NetCDF
/// dimensions, DIMENSION_LIST, DIMENSION_LABELS or `dimensions` in `attributes_json`; their places from the array of
/// one dimension that has the name of the axis, or from `pixel_size_<unit>` = (row, column). Opening reads what is
/// small; arrays are read when they are shown. Thread-safe.
class StoredResult {
 public:
  /// Nothing for a file that no verb wrote as its result: of other programs, scans, and what is in none of the formats.
  /// Throws what opening a damaged file of these formats throws, and Error(budget) for an archive whose largest array
  /// does not fit.
  [[nodiscard]] static std::optional<StoredResult> open(const std::string& path, const Budget& budget);
  /// The same of what a verb gave and nobody has written; `name` is the title of its page.
  [[nodiscard]] static std::optional<StoredResult> of(std::shared_ptr<const Contents> contents,
                                                      const std::string& name);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// "sonde.ptycho.result/1".
  [[nodiscard]] const std::string& schema() const { return schema_; }
  /// In the order of the file. Those that are only the places of an axis of another one are left out.
  [[nodiscard]] const std::vector<Quantity>& quantities() const { return quantities_; }
  [[nodiscard]] const std::vector<Numbers>& numbers() const { return numbers_; }
  /// A single finite number; nothing where there is none of that name.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  [[nodiscard]] const std::vector<Text>& texts() const { return texts_; }

  /// A box of a quantity on the host, while the budget has room for it: Error(budget) otherwise. Only HDF5 and NetCDF-4
  /// read no more than the box; the other formats need room for the whole quantity.
  [[nodiscard]] Array read(const Quantity& quantity, const Shape& first, const Shape& count) const;

  /// Whether reading a box costs as little as the box; otherwise the whole quantity is read each time.
  [[nodiscard]] bool reads_boxes() const;

  /// A file of one of the formats.
  class Source;

 private:
  explicit StoredResult(Budget budget) : budget_(std::move(budget)) {}
  static std::optional<StoredResult> of(std::shared_ptr<const Source> source, const std::string& path,
                                        const Budget& budget);
  void take_entries();

  Budget budget_;
  std::string path_, schema_;
  std::shared_ptr<const Source> source_;
  std::vector<Quantity> quantities_;
  std::vector<Numbers> numbers_;
  std::vector<Text> texts_;
};

/// The elements of an array on the host: one list of real numbers, or the real and the imaginary parts.
[[nodiscard]] std::vector<std::vector<double>> planes_of(const Array& array);

}  // namespace sonde::panel
