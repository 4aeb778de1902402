// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/radial.h"

#include <algorithm>

namespace sonde::neoclassical {
namespace {

std::vector<double> combine(const RadialRule& rule, const std::vector<double>& table, Index columns) {
  std::vector<double> sum(static_cast<std::size_t>(columns), 0.0);
  for (int k = 0; k < rule.count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double weight = rule.weights[at];
    const double* row = table.data() + rule.rows[at] * columns;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * row[i];
  }
  return sum;
}

}  // namespace

double RadialRule::operator()(std::span<const double> profile) const {
  double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
    sum += weights[k] * profile[static_cast<std::size_t>(rows[k])];
  return sum;
}

Series RadialRule::operator()(const HarmonicTable& table, const std::vector<Mode>& modes) const {
  Series series;
  series.modes = modes;
  series.cosine =
      table.cosine.empty() ? std::vector<double>(modes.size(), 0.0) : combine(*this, table.cosine, table.columns);
  if (!table.sine.empty()) series.sine = combine(*this, table.sine, table.columns);
  return series;
}

RadialRule radial_rule(std::span<const double> nodes, double s) {
  const auto last = static_cast<Index>(nodes.size()) - 1;
  const auto node = [&](Index j) { return nodes[static_cast<std::size_t>(j)]; };
  RadialRule rule;
  rule.continued = s < node(0) || s > node(last);
  const auto found = std::lower_bound(nodes.begin(), nodes.end(), s);
  const bool at_node = found != nodes.end() && *found == s;
  if (last == 0 || at_node) {
    rule.rows[0] = last == 0 ? 0 : found - nodes.begin();
    rule.weights[0] = 1;
    rule.count = 1;
    return rule;
  }

  const Index j = std::clamp<Index>(found - nodes.begin() - 1, 0, last - 1);  // the cell from node j to node j + 1
  const Index before = std::max<Index>(j - 1, 0), after = std::min(j + 2, last);
  const double width = node(j + 1) - node(j), t = (s - node(j)) / width;
  const double value_left = (1 + 2 * t) * (1 - t) * (1 - t), slope_left = width * t * (1 - t) * (1 - t);
  const double value_right = t * t * (3 - 2 * t), slope_right = width * t * t * (t - 1);
  // Weights of rows `before`, j, j + 1, `after`: values, and slopes as differences of their neighbours.
  const double left = slope_left / (node(j + 1) - node(before)), right = slope_right / (node(after) - node(j));
  rule.rows = {before, j, j + 1, after};
  rule.weights = {-left, value_left - right, value_right + left, right};
  rule.count = 4;
  return rule;
}

}  // namespace sonde::neoclassical
