// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde::maxwell {

/// Real numbers as float64, of whatever type they were where they come from.
struct NumberArray {
  Shape shape;  ///< rank 0: one number
  std::vector<double> values{};
  bool integers = false;  ///< whether they were of an integer type
};

/// Throws Error(bad_input) beginning with `what` for complex elements.
[[nodiscard]] NumberArray numbers_of(const Array& array, const std::string& what);

/// A data set of real numbers, not read yet. Throws Error(bad_file) when it is not there, has other elements, or
/// declares more than its file holds.
[[nodiscard]] Hdf5Dataset open_numbers(const Hdf5File& file, const std::string& dataset);
/// All of it. Throws what that throws.
[[nodiscard]] NumberArray read_numbers(const Hdf5File& file, const std::string& dataset);

/// What a text in a setting names: "FILE.npy", "FILE.npz" (its only array) or "FILE.npz:NAME", "FILE.h5:DATASET".
/// Throws Error(bad_input) for other texts and what reading throws.
[[nodiscard]] NumberArray read_number_file(const std::string& text);
/// Whether it has such a form.
[[nodiscard]] bool names_number_file(const std::string& text);

/// "4.5" as one number of rank 0, "1, 2, 3" as a line of them; integers where all are whole. Nothing for other texts.
[[nodiscard]] std::optional<NumberArray> listed_numbers(const std::string& text);

/// Arrays of the caller that stand where settings name files; nullptr for names of files.
using FindArray = std::function<std::shared_ptr<const Array>(const std::string& name)>;
/// Whatever of the three a setting gives. Errors begin with its name, `what`.
[[nodiscard]] NumberArray given_numbers(const std::string& text, const std::string& what, const FindArray& find);

}  // namespace sonde::maxwell
