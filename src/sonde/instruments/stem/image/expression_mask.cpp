// SPDX-License-Identifier: Apache-2.0
// Tree to mask.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/image/detector_shapes.h"
#include "sonde/instruments/stem/image/expression_tree.h"
#include "sonde/instruments/stem/image/sample_set.h"

namespace sonde::stem {
namespace {

constexpr int fine = 8;  // points per pixel and direction

class Evaluation {
 public:
  Evaluation(const DetectorExpression::Tree& tree, const DetectorGeometry& geometry, const MembershipRules& rules)
      : tree_(tree), geometry_(geometry), rules_(rules) {}

  [[nodiscard]] SampleSet samples(const Node& node, const SampleGrid& grid) {
    check_interrupt();  // a thousand shapes on a scan of 4096 x 4096 positions take seconds
    switch (node.kind) {
      case NodeKind::negation: {
        SampleSet set = samples(*node.left, grid);
        for (std::uint8_t& inside : set) inside ^= 1;
        return set;
      }
      case NodeKind::both:
        return combine(node, grid, [](auto a, auto b) { return a & b; });
      case NodeKind::without:
        return combine(node, grid, [](auto a, auto b) { return a & ~b; });
      case NodeKind::either:
        return combine(node, grid, [](auto a, auto b) { return a ^ b; });
      case NodeKind::any:
        return combine(node, grid, [](auto a, auto b) { return a | b; });
      case NodeKind::shape:
        return node.shape->samples(grid, resolved(node), rules_.inclusive);
      case NodeKind::file:
        return file_samples(node);
      case NodeKind::all:
        break;
    }
    return SampleSet(grid.count(), 1);
  }

  /// The mask of a file as it is: the only part of an expression that may hold weights of its own.
  [[nodiscard]] MaskImage load(const Node& node) const {
    if (!rules_.load) throw expression_error("files cannot be read here", tree_.text, node.place);
    MaskImage image = during("reading the mask " + node.path, [&] { return rules_.load(node.path); });
    if (image.rows != geometry_.rows || image.cols != geometry_.cols)
      throw Error(ErrorKind::bad_input, fmt::format("{}: a mask of {} x {} pixels, the detector has {} x {}", node.path,
                                                    image.rows, image.cols, geometry_.rows, geometry_.cols))
          .hint("bin the mask like the data");
    assert(image.weights.size() == static_cast<std::size_t>(image.rows * image.cols));
    return image;
  }

 private:
  /// The side that needs more sets first: then a text of a thousand shapes holds ten sets at once, however it nests.
  template <class Operation>
  [[nodiscard]] SampleSet combine(const Node& node, const SampleGrid& grid, Operation operation) {
    const bool right_first = node.right->sets > node.left->sets;
    SampleSet first = samples(right_first ? *node.right : *node.left, grid);
    const SampleSet second = samples(right_first ? *node.left : *node.right, grid);
    for (std::size_t i = 0; i < first.size(); ++i)
      first[i] = static_cast<std::uint8_t>(
          (right_first ? operation(second[i], first[i]) : operation(first[i], second[i])) & 1);
    return first;
  }

  [[nodiscard]] double need(const std::optional<double>& value, std::string_view what, std::size_t place) const {
    if (value) return *value;
    throw expression_error(fmt::format("the {} is not known", what), tree_.text, place)
        .hint("find the bright-field disk with " + setting("centre", "auto") + ", or give numbers in pixels");
  }

  [[nodiscard]] double resolved(const Number& number, ArgumentRole role) const {
    switch (number.unit) {
      case Unit::automatic:
        return need(role == ArgumentRole::centre_row ? geometry_.centre_row : geometry_.centre_col, "centre",
                    number.place);
      case Unit::rho:
        return number.value * need(geometry_.radius, "radius of the bright-field disk", number.place);
      case Unit::degree:
        return number.value * std::numbers::pi / 180;
      case Unit::pixel:
        break;
    }
    return number.value;
  }

  /// The arguments of a shape in px and rad; optional ones that are left out are 0.
  [[nodiscard]] std::vector<double> resolved(const Node& node) const {
    std::vector<double> values;
    values.reserve(std::max(node.numbers.size(), node.shape->arguments.size()));
    std::optional<double> inner;
    for (const Number& number : node.numbers) {
      const ArgumentRole role = node.shape->role(values.size());
      values.push_back(resolved(number, role));
      if (role == ArgumentRole::inner_radius) inner = values.back();
      // One of them may be in rho.
      if (role == ArgumentRole::outer_radius && inner && *inner > values.back())
        throw expression_error("the inner radius is larger than the outer one", tree_.text, node.place);
    }
    if (values.size() < node.shape->arguments.size()) values.resize(node.shape->arguments.size(), 0);
    return values;
  }

  [[nodiscard]] SampleSet file_samples(const Node& node) {
    // One file is read once, however many points a pixel has.
    for (const auto& [known, set] : files_)
      if (known == &node) return set;
    const MaskImage image = load(node);
    SampleSet set(image.weights.size());
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (image.weights[i] != 0 && image.weights[i] != 1)
        throw Error(ErrorKind::bad_input, fmt::format("{}: a weighted mask cannot be combined with others", node.path))
            .hint("give only file(...), or a mask of zeros and ones");
      set[i] = image.weights[i] != 0;
    }
    files_.emplace_back(&node, set);
    return set;
  }

  const DetectorExpression::Tree& tree_;
  const DetectorGeometry& geometry_;
  const MembershipRules& rules_;
  std::vector<std::pair<const Node*, SampleSet>> files_;
};

/// Pixels with a weight other than zero that are good.
Mask weighted_mask(const DetectorGeometry& geometry, const std::vector<float>& weights) {
  std::vector<Index> pixels;
  std::vector<float> kept;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0 || (!geometry.good.empty() && geometry.good[i] == 0)) continue;
    pixels.push_back(static_cast<Index>(i));
    kept.push_back(weights[i]);
  }
  return make_mask(geometry.rows, geometry.cols, std::move(pixels), std::move(kept));
}

/// Good pixels whose sample is inside.
Mask boolean_mask(const DetectorGeometry& geometry, const SampleSet& inside) {
  std::vector<Index> pixels;
  for (std::size_t i = 0; i < inside.size(); ++i)
    if (inside[i] != 0 && (geometry.good.empty() || geometry.good[i] != 0)) pixels.push_back(static_cast<Index>(i));
  return make_mask(geometry.rows, geometry.cols, std::move(pixels));
}

}  // namespace

Mask DetectorExpression::mask(const DetectorGeometry& geometry, const MembershipRules& rules) const {
  if (geometry.rows < 0 || geometry.cols < 0 ||
      (!geometry.good.empty() && static_cast<Index>(geometry.good.size()) != geometry.rows * geometry.cols))
    throw Error(ErrorKind::bad_input, fmt::format("a detector of {} x {} pixels with {} pixel flags", geometry.rows,
                                                  geometry.cols, geometry.good.size()));
  Evaluation evaluation(*tree_, geometry, rules);
  if (tree_->root->kind == NodeKind::file) return weighted_mask(geometry, evaluation.load(*tree_->root).weights);
  SampleGrid grid{geometry.rows, geometry.cols};
  if (!rules.antialias) return boolean_mask(geometry, evaluation.samples(*tree_->root, grid));
  std::vector<float> weights(grid.count(), 0);
  for (int i = 0; i < fine; ++i)
    for (int j = 0; j < fine; ++j) {
      grid.shift_row = (i + 0.5) / fine - 0.5;
      grid.shift_col = (j + 0.5) / fine - 0.5;
      const SampleSet inside = evaluation.samples(*tree_->root, grid);
      for (std::size_t k = 0; k < inside.size(); ++k) weights[k] += inside[k];
    }
  for (float& weight : weights) weight /= static_cast<float>(fine * fine);
  return weighted_mask(geometry, weights);
}

}  // namespace sonde::stem
