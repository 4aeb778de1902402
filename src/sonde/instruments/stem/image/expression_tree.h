// SPDX-License-Identifier: Apache-2.0
// Private: what the parser of detector expressions hands to their evaluation.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/image/detector_shapes.h"
#include "sonde/instruments/stem/image/expression.h"

namespace sonde::stem {

enum class Unit { pixel, rho, degree, automatic };

struct Number {
  double value = 0;
  Unit unit = Unit::pixel;
  std::size_t place = 0;  // where it stands in the text
  std::size_t end = 0;    // and where it ends
};

enum class NodeKind { shape, file, all, negation, both, without, either, any };

struct Node {
  NodeKind kind = NodeKind::all;
  std::size_t place = 0;
  const DetectorShape* shape = nullptr;
  std::vector<Number> numbers;  // arguments of the shape
  std::string path;             // of file()
  std::unique_ptr<Node> left, right;
  int sets = 1;  // of samples that are held at once while it is evaluated, see Evaluation
};

struct DetectorExpression::Tree {
  std::string text;
  std::unique_ptr<Node> root;
  bool needs_disk = false;
  // A family of shapes, where one is allowed: what stands in its place is written instead of [place, end).
  struct Family {
    const DetectorShape* shape = nullptr;
    std::vector<Number> numbers;
    std::size_t place = 0, end = 0;
  };
  bool allows_family = false;
  Family family;
};

/// Error(usage): the message, the text and a caret under `place`.
[[nodiscard]] Error expression_error(const std::string& message, std::string_view text, std::size_t place);

}  // namespace sonde::stem
