// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/scan_shape.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/saturate.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

/// The side of a square of this area, if there is one.
std::optional<Index> side_of_square(Index area) {
  if (area <= 0) return std::nullopt;
  const auto side = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(area))));
  return side * side == area ? std::optional(side) : std::nullopt;
}

/// Pairs of factors (smaller first) nearest to a square, the nearest first.
std::vector<std::string> nearest_pairs(Index frames, std::size_t most) {
  std::vector<std::string> pairs;
  const auto root = static_cast<Index>(std::sqrt(static_cast<double>(frames)));
  for (Index rows = root + 1; rows >= 1 && pairs.size() < most; --rows)
    if (frames % rows == 0 && rows * rows <= frames) pairs.push_back(fmt::format("{},{}", rows, frames / rows));
  return pairs;
}

/// Whether a grid of `needed` positions may be used for the frames that there are.
bool fits(Index needed, Index frames, const ReadOptions& options) {
  return needed == frames || (needed > frames && options.allow_incomplete) || (needed < frames && options.drop_extra);
}

/// Throws unless the frames fill the grid, or the user accepts that they do not.
ScanShape checked(const ScanShape& shape, const ScanFacts& facts, const ReadOptions& options,
                  const std::string& source) {
  const Index needed = saturating_product(shape.rows, saturating_sum(shape.prescan, shape.cols));
  if (needed == saturated)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} a scan of {} x {} positions, more than 2^63; the file has {} frames", source,
                            shape.rows, shape.cols, facts.frames));
  if (fits(needed, facts.frames, options)) return shape;
  const std::string fact = fmt::format(
      "{} frames, but {} a scan of {} x {} = {}", facts.frames, source, shape.rows,
      shape.prescan > 0 ? fmt::format("({} + {})", shape.prescan, shape.cols) : std::to_string(shape.cols), needed);
  if (needed > facts.frames)
    throw Error(ErrorKind::bad_file, fact)
        .hint(setting("allow_incomplete") + " leaves the missing positions empty; " + setting("scan_shape") +
              " gives another shape");
  throw Error(ErrorKind::bad_file, fact)
      .hint(setting("drop_extra") + " leaves the rest out; " + setting("scan_shape") + " gives another shape");
}

std::optional<ScanShape> from_user(const ScanFacts& facts, const ReadOptions& options) {
  if (!options.scan_rows && !options.scan_cols) return std::nullopt;
  const Index known = options.scan_rows ? *options.scan_rows : *options.scan_cols;
  if (known <= 0 || (options.scan_cols && *options.scan_cols <= 0))
    throw Error(ErrorKind::bad_input, setting("scan_shape") + " needs positive numbers");
  if (options.scan_rows && options.scan_cols)
    return checked({*options.scan_rows, *options.scan_cols, 0, "given as scan_shape"}, facts, options,
                   setting("scan_shape") + " asks for");
  Index other = facts.frames / known;
  if (facts.frames % known != 0 && options.allow_incomplete) ++other;
  const bool whole = facts.frames % known == 0 || options.allow_incomplete || options.drop_extra;
  if (!whole || other == 0)
    throw Error(ErrorKind::bad_input, fmt::format("{} frames do not divide into {} {}", facts.frames, known,
                                                  options.scan_rows ? "rows" : "columns"))
        .hint(setting("allow_incomplete") + " or " + setting("drop_extra") + " accept a last row that is not whole");
  const std::string because = fmt::format("{} given as scan_shape, the rest from {} frames",
                                          options.scan_rows ? "rows" : "columns", facts.frames);
  return options.scan_rows ? ScanShape{known, other, 0, because} : ScanShape{other, known, 0, because};
}

std::optional<ScanShape> from_sidecar(const ScanFacts& facts, const ReadOptions& options) {
  if (!facts.sidecar) return std::nullopt;
  const StatedGrid& grid = *facts.sidecar;
  const ScanShape plain = {grid.rows, grid.cols, 0, grid.source};
  const ScanShape with_prescan = {
      grid.rows, grid.cols, grid.prescan,
      fmt::format("{}, whose {} prescan columns were stored as well and are dropped", grid.source, grid.prescan)};
  const Index needed = saturating_product(grid.rows, grid.cols),
              needed_with = saturating_product(grid.rows, saturating_sum(grid.cols, grid.prescan));
  if (needed == facts.frames) return plain;
  if (grid.prescan > 0 && needed_with == facts.frames) return with_prescan;
  // The detector's own count agrees with the frames: then the sidecar describes something else.
  if (facts.ntrigger && facts.nimages && saturating_product(*facts.ntrigger, *facts.nimages) == facts.frames)
    return std::nullopt;
  return checked(grid.prescan > 0 && facts.frames > needed ? with_prescan : plain, facts, options,
                 grid.source + " describes");
}

std::optional<ScanShape> from_detector(const ScanFacts& facts, const ReadOptions& options) {
  const Index triggers = facts.ntrigger.value_or(0), images = facts.nimages.value_or(0);
  if (triggers > 1 && images > 1)
    return checked({triggers, images, 0, fmt::format("{} triggers of {} images", triggers, images)}, facts, options,
                   "the master expects");
  // One trigger of one image is what files say that do not know.
  const Index expected = saturating_product(triggers, images);
  const auto side = side_of_square(expected);
  if (expected > 1 && side)
    return checked({*side, *side, 0, fmt::format("the master expects {} frames, a square number", expected)}, facts,
                   options, "the master expects");
  if (expected > 1 && !fits(expected, facts.frames, options))
    throw Error(ErrorKind::bad_file, fmt::format("{} frames, but the master expects {}", facts.frames, expected))
        .hint("give " + setting("scan_shape") + " together with " + setting("allow_incomplete") + " or " +
              setting("drop_extra"));
  return std::nullopt;
}

}  // namespace

ScanShape choose_scan_shape(const ScanFacts& facts, const ReadOptions& options) {
  if (facts.frames <= 0) throw Error(ErrorKind::bad_file, "there are no frames");
  if (const auto shape = from_user(facts, options)) return *shape;
  if (facts.attribute)
    return checked({facts.attribute->rows, facts.attribute->cols, 0, facts.attribute->source}, facts, options,
                   facts.attribute->source + " says");
  if (const auto shape = from_sidecar(facts, options)) return *shape;
  if (const auto shape = from_detector(facts, options)) return *shape;
  if (const auto side = side_of_square(facts.frames))
    return {*side, *side, 0, fmt::format("nothing says the shape, and {} is a square number", facts.frames)};
  throw Error(ErrorKind::bad_input, fmt::format("{} frames: nothing says the shape of the scan", facts.frames))
      .hint("give " + setting("scan_shape") + ", for instance " + join_words(nearest_pairs(facts.frames, 2), " or "));
}

ScanOrder scan_order(const ScanShape& shape, const ReadOptions& options) {
  ScanOrder order;
  order.rows = options.transpose_scan ? shape.cols : shape.rows;
  order.cols = options.transpose_scan ? shape.rows : shape.cols;
  order.prescan = shape.prescan;
  order.flip_rows = options.flip_rows;
  order.flip_cols = options.flip_cols;
  order.transpose = options.transpose_scan;
  return order;
}

}  // namespace sonde::stem
