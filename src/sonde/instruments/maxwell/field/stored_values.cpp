// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/stored_values.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sonde/engine/base/text.h"

namespace sonde::maxwell {

StoredValues::StoredValues(const std::string& path, const std::string& schema) : file_(Hdf5File::open(path)) {
  const std::string own = text("schema");
  if (own != schema)
    throw bad(own.empty() ? fmt::format("no attribute schema; expected {}", schema)
                          : fmt::format("a file of {}; expected {}", own, schema));
}

std::string StoredValues::text(const std::string& attribute) const {
  const std::optional<Hdf5Value> value = file_.attribute("/", attribute);
  return value ? value->text().value_or("") : "";
}

std::vector<std::string> StoredValues::lines(const std::string& attribute) const {
  return split(text(attribute), '\n');
}

double StoredValues::number(const std::string& attribute) const { return numbers(attribute, 1).front(); }

double StoredValues::above_zero(const std::string& attribute) const {
  const double value = number(attribute);
  if (!(value > 0)) throw bad(fmt::format("{} = {:g}; expected above 0", attribute, value));
  return value;
}

std::vector<double> StoredValues::numbers(const std::string& attribute, std::size_t count) const {
  const std::optional<Hdf5Value> value = file_.attribute("/", attribute);
  std::vector<double> made;
  if (value)
    for (const Hdf5Value::Scalar& element : value->elements)
      if (const auto number = Hdf5Value{{}, {element}}.number(); number && std::isfinite(*number))
        made.push_back(*number);
  if (!value || made.size() != count || value->elements.size() != count)
    throw bad(fmt::format("{} = {}; expected {} finite number{}", attribute, value ? value->printed() : "nothing",
                          count, count == 1 ? "" : "s"));
  return made;
}

NumberArray StoredValues::array(const std::string& dataset, int rank) const {
  if (!has(dataset)) throw bad("no data set " + dataset);
  NumberArray made = read_numbers(file_, "/" + dataset);
  if (made.shape.rank() != rank)
    throw bad(fmt::format("{} is of shape {}; expected {} dimension{}", dataset, made.shape.text(), rank,
                          rank == 1 ? "" : "s"));
  return made;
}

Error StoredValues::bad(const std::string& what) const {
  return {ErrorKind::bad_file, fmt::format("{}: {}", file_.path(), what)};
}

}  // namespace sonde::maxwell
