// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sonde/engine/run/write_contents.h"

namespace sonde::neoclassical {

/// A result of numbers by name: single ones as such, more of them as a line; and texts.
inline void write_numbers(const std::string& path, const std::map<std::string, std::vector<double>>& numbers,
                          const std::map<std::string, std::string>& texts = {}) {
  Contents contents;
  for (const auto& [name, values] : numbers)
    if (values.size() == 1)
      contents.add(name, values.front());
    else
      contents.add(name, {name}, Array::from(values, Shape{static_cast<Index>(values.size())}));
  for (const auto& [name, text] : texts) contents.add_text(name, text);
  write_contents(path, contents);
}

}  // namespace sonde::neoclassical
