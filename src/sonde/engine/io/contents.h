// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sonde/engine/array/array.h"

namespace sonde {

/// What a result holds, whatever file it goes into: variables with names, axes and attributes, in the order of adding.
class Contents {
 public:
  using Attribute = std::variant<std::int64_t, double, std::string, std::vector<double>>;
  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  struct Variable {
    std::string name;                     ///< "D11", or with a group before it: "run/seconds"
    std::vector<std::string> dimensions;  ///< the name of each axis, the last one fastest
    Array values{};
    std::optional<std::string> text{};  ///< in place of values
    Attributes attributes{};

    /// The attribute `units`; an empty text: a pure number or a count, which has none.
    Variable& unit(const std::string& text);
    [[nodiscard]] std::string unit() const;
  };

  /// A contiguous host array. Throws Error(internal) when the number of dimensions is not the array's rank, or when the
  /// name is taken. What is returned lives until the next variable is added.
  Variable& add(std::string name, std::vector<std::string> dimensions, Array values);
  Variable& add(std::string name, double value);
  Variable& add(std::string name, std::int32_t value);
  Variable& add_text(std::string name, std::string text);
  /// An attribute of the file, or with a group before it ("pattern/centre") of that group.
  void attribute(std::string name, Attribute value) { attributes_.emplace_back(std::move(name), std::move(value)); }
  /// Takes the variables of another one; of attributes of the file that both have, its own count.
  void append(Contents other);

  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }
  /// nullptr when there is none.
  [[nodiscard]] const Variable* find(const std::string& name) const;
  /// All of it on memory of its own.
  [[nodiscard]] Contents clone() const;

 private:
  Variable& insert(Variable variable);

  std::vector<Variable> variables_;
  Attributes attributes_;
};

}  // namespace sonde
