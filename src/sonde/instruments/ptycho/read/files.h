// SPDX-License-Identifier: Apache-2.0
// Arrays of a file by a name that a person gives: the words of settings, and conversions to what the instrument keeps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

inline constexpr double angstrom_per_m = 1e10;

/// "FILE.npy", "FILE.h5:DATASET", or the name of a data set in `home`, the file that names it.
struct ArrayName {
  std::string file, dataset;  ///< dataset is empty for NPY
  [[nodiscard]] std::string text() const { return dataset.empty() ? file : file + ":" + dataset; }
};
[[nodiscard]] ArrayName array_name(const std::string& text, const std::string& home);

/// By the ending, in either case.
[[nodiscard]] bool is_npy(const std::string& path);

/// Throws Error(bad_file) naming the nearest when the data set is not there, and what reading throws.
[[nodiscard]] Array read_named(const ArrayName& name);
/// A data set with or without a leading slash. Throws Error(bad_file) naming the nearest ones.
[[nodiscard]] Hdf5Dataset require_dataset(const Hdf5File& file, const std::string& path);

/// The elements as double or complex double; other shapes and types are an Error(bad_input) beginning with `what`.
[[nodiscard]] std::vector<double> as_doubles(const Array& array, const std::string& what);
[[nodiscard]] Array as_complex(const Array& array, const std::string& what);
/// The unit that the name of a list of positions ends in: "positions_px", "shifts_pixels", "positions_A",
/// "xy_angstrom".
[[nodiscard]] std::optional<LengthUnit> unit_in_name(const ArrayName& name);
/// A unit that such a name ends in and that lists are not in: "nm", "pm", "um", "mm", "m".
[[nodiscard]] std::optional<std::string> foreign_unit_in_name(const ArrayName& name);
/// (count, 2) as rows and columns in that order.
[[nodiscard]] std::vector<Point> as_points(const Array& array, const std::string& what);
/// (rows, cols): 1 where the value is good. Throws Error(bad_input) for another shape than the detector's.
[[nodiscard]] std::vector<std::uint8_t> as_mask(const Array& array, bool nonzero_is_good, const Shape& detector,
                                                const std::string& what);

/// The number in a data set of one element; nothing when it is not there.
[[nodiscard]] std::optional<double> number_in(const Hdf5File& file, const std::string& path);

}  // namespace sonde::ptycho
