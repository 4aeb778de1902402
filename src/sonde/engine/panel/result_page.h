// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/io/contents.h"
#include "sonde/engine/options/value.h"
#include "sonde/engine/panel/page.h"
#include "sonde/engine/panel/stored_result.h"

namespace sonde::panel {

/// One panel of arrays of a result.
struct ResultPanel {
  enum class Kind {
    image,    ///< the last two axes of one quantity that have several elements; sliders choose along the others
    vectors,  ///< two quantities: along columns and along rows; the direction is a colour, the length its brightness
    curves,   ///< over one axis; one curve for each quantity, or for each element of a second axis of one quantity
    labels,   ///< as image, of whole numbers that are names: each has a colour of its own, 0 none
    /// Quantities whose first two axes are a picture and whose last one has three elements: u8, red, green and blue;
    /// then, where they are given, a picture of u8 that explains the colours, of any size, and a direction of every
    /// pixel, of another type, that is said at the pointer. `along` and `family` are not looked at.
    colours,
    points,  ///< quantities of shape (points, 2): row and column, drawn as a map of them
  };
  Kind kind = Kind::image;
  std::string title{};
  std::vector<std::string> quantities{};
  std::string range{};  ///< pictures with equal words here have one range of colours
  int along = 0;        ///< curves: the axis from left to right; pictures: that of the columns, where `family` is given
  int family = -1;  ///< curves: the axis with one curve for each element; pictures: that of the rows; -1: none given
};

/// What a person may change on the page of a result: a number between two, a switch, or one of some choices.
struct ResultSetting {
  std::string name{};  ///< "rotation"
  std::string help{};
  std::string unit{};
  Value value{};  ///< at first: a number, a truth, or one of `choices`
  double low = 0, high = 0;
  std::vector<std::string> choices{};
};

/// What other values make of a result: quantities that take the place of those of equal names and axes, and facts.
struct AdjustedResult {
  Contents contents{};
  Value facts{};
};

/// How a result is made anew on its page.
struct ResultAdjustment {
  std::vector<ResultSetting> settings{};  ///< none: nothing is
  Value facts{};                          ///< of the result as it is stored, for the panel beside the settings
  /// Makes the result anew with the values of all settings by their names; every client has its own. Called from one
  /// thread at a time for each client. What it throws becomes the reply to the change, which then has no effect.
  std::function<AdjustedResult(const Value& values)> adjust{};
};

/// What fits a quantity: two axes are an image, one a curve. Where the axes of an image are no picture, because the
/// elements of one are unevenly spaced or very few, there are curves over the uneven axis, else over the longer one,
/// one for each element of the other.
[[nodiscard]] ResultPanel default_panel(const Quantity& quantity);

/// A result to look at: the panels of `first`, then the default panel of every quantity that none of them shows, its
/// single numbers, and its texts; at the side the settings of `adjustment`. Quantities that the result lacks, or that
/// have other axes than the panel shows, are left out of `first`. Numbers are read when a panel is looked at ("The page
/// of a result" in docs/viewer-protocol.md).
[[nodiscard]] Page result_page(std::shared_ptr<const StoredResult> result, const std::vector<ResultPanel>& first = {},
                               const ResultAdjustment& adjustment = {});

/// "m^-1 T^-2" with raised exponents, as it is printed; empty for the unit 1.
[[nodiscard]] std::string unit_text(const std::string& unit);

}  // namespace sonde::panel
