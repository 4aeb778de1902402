// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace sonde::neoclassical {

/// A result read back from any of the three.
class ResultFile {
 public:
  /// The content determines the format. Throws Error(bad_file) when it is none of them or damaged.
  explicit ResultFile(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(const std::string& name) const { return numbers_.contains(name) || texts_.contains(name); }
  /// Every quantity by name.
  [[nodiscard]] const std::map<std::string, std::vector<double>>& numbers() const { return numbers_; }
  /// What follows throws Error(bad_file) naming file and quantity when it is not there.
  [[nodiscard]] const std::vector<double>& numbers(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] const std::string& text(const std::string& name) const;

 private:
  std::string path_;
  std::map<std::string, std::vector<double>> numbers_;
  std::map<std::string, std::string> texts_;
};

}  // namespace sonde::neoclassical
