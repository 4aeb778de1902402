// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/panel/page.h"
#include "sonde/engine/panel/stored_result.h"

namespace sonde::panel {

/// One panel of arrays of a result.
struct ResultPanel {
  enum class Kind {
    image,   ///< the last two axes of one quantity that have several elements; sliders choose along the others
    curves,  ///< over one axis; one curve for each quantity, or for each element of a second axis of one quantity
    points,  ///< quantities of shape (points, 2): row and column, drawn as a map of them
  };
  Kind kind = Kind::image;
  std::string title{};
  std::vector<std::string> quantities{};
  int along = 0;    ///< curves: the axis from left to right
  int family = -1;  ///< curves: the axis with one curve for each element; -1: none
};

/// What fits a quantity: two axes are an image, one a curve. Where the axes of an image are no picture, because the
/// elements of one are unevenly spaced or very few, there are curves over the uneven axis, else over the longer one,
/// one for each element of the other.
[[nodiscard]] ResultPanel default_panel(const Quantity& quantity);

/// A result to look at: the panels of `first`, then the default panel of every quantity that none of them shows, its
/// single numbers, and its texts. Quantities that the result lacks, or that have other axes than the panel shows, are
/// left out of `first`. Numbers are read when a panel is looked at ("The page of a result" in docs/viewer-protocol.md).
[[nodiscard]] Page result_page(std::shared_ptr<const StoredResult> result, const std::vector<ResultPanel>& first = {});

/// "m^-1 T^-2" with raised exponents, as it is printed; empty for the unit 1.
[[nodiscard]] std::string unit_text(const std::string& unit);

}  // namespace sonde::panel
