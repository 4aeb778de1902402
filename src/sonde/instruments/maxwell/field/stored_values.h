// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a result of sonde holds, checked as it is read.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/maxwell/read/number_array.h"

namespace sonde::maxwell {

/// All throw Error(bad_file) for what is absent or has another form.
class StoredValues {
 public:
  /// `schema` is that which the file names; another one is an error as well.
  StoredValues(const std::string& path, const std::string& schema);

  [[nodiscard]] bool has(const std::string& dataset) const { return file_.is_dataset("/" + dataset); }
  /// Empty where there is none.
  [[nodiscard]] std::string text(const std::string& attribute) const;
  [[nodiscard]] std::vector<std::string> lines(const std::string& attribute) const;
  /// A finite one.
  [[nodiscard]] double number(const std::string& attribute) const;
  [[nodiscard]] double above_zero(const std::string& attribute) const;
  [[nodiscard]] std::vector<double> numbers(const std::string& attribute, std::size_t count) const;
  [[nodiscard]] NumberArray array(const std::string& dataset, int rank) const;

  [[nodiscard]] Error bad(const std::string& what) const;

 private:
  Hdf5File file_;
};

}  // namespace sonde::maxwell
