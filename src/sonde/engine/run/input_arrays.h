// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sonde/engine/array/array.h"

namespace sonde {

/// Arrays of the caller that stand where a verb takes files, each under a name that stands for its path. Their elements
/// belong to somebody else and stay as they are.
class InputArrays {
 public:
  /// Returns its name: "array", then "array 2".
  std::string add(Array array) {
    const std::string name = arrays_.empty() ? "array" : "array " + std::to_string(arrays_.size() + 1);
    arrays_.emplace(name, std::make_shared<Array>(std::move(array)));
    return name;
  }
  /// nullptr where the name is that of a file.
  [[nodiscard]] std::shared_ptr<const Array> find(const std::string& name) const {
    const auto found = arrays_.find(name);
    return found == arrays_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, std::shared_ptr<const Array>> arrays_;
};

}  // namespace sonde
