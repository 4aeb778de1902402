// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/contents.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"

namespace sonde {

Contents::Variable& Contents::Variable::unit(const std::string& text_) {
  if (!text_.empty()) attributes.emplace_back("units", text_);
  return *this;
}

std::string Contents::Variable::unit() const {
  for (const auto& [key, value] : attributes)
    if (const auto* said = std::get_if<std::string>(&value); said != nullptr && key == "units") return *said;
  return {};
}

Contents::Variable& Contents::insert(Variable variable) {
  if (find(variable.name) != nullptr)
    throw Error(ErrorKind::internal, fmt::format("two variables named {}", variable.name));
  return variables_.emplace_back(std::move(variable));
}

Contents::Variable& Contents::add(std::string name, std::vector<std::string> dimensions, Array values) {
  if (static_cast<int>(dimensions.size()) != values.shape().rank())
    throw Error(ErrorKind::internal, fmt::format("variable {}: {} dimensions named for the shape {}", name,
                                                 dimensions.size(), values.shape().text()));
  return insert({std::move(name), std::move(dimensions), std::move(values)});
}

Contents::Variable& Contents::add(std::string name, double value) {
  return add(std::move(name), {}, Array::from<double>({value}, {}));
}

Contents::Variable& Contents::add(std::string name, std::int32_t value) {
  return add(std::move(name), {}, Array::from<std::int32_t>({value}, {}));
}

Contents::Variable& Contents::add_text(std::string name, std::string text) {
  return insert({std::move(name), {}, {}, std::move(text)});
}

void Contents::append(Contents other) {
  for (auto& [name, value] : other.attributes_)
    if (std::none_of(attributes_.begin(), attributes_.end(),
                     [&, &key = name](const auto& own) { return own.first == key; }))
      attribute(name, std::move(value));
  for (Variable& variable : other.variables_) insert(std::move(variable));
}

const Contents::Variable* Contents::find(const std::string& name) const {
  const auto found = std::find_if(variables_.begin(), variables_.end(),
                                  [&](const Variable& variable) { return variable.name == name; });
  return found == variables_.end() ? nullptr : &*found;
}

Contents Contents::clone() const {
  Contents copy;
  copy.attributes_ = attributes_;
  for (const Variable& each : variables_)
    copy.variables_.push_back({.name = each.name,
                               .dimensions = each.dimensions,
                               .values = each.text ? Array() : each.values.clone(),
                               .text = each.text,
                               .attributes = each.attributes});
  return copy;
}

}  // namespace sonde
