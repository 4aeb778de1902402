// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/instruments/stem/image/sample_set.h"

namespace sonde::stem {

/// What an argument of a shape is. It decides what the argument is measured in, which words and suffixes of an
/// expression it takes, and how a viewer edits it.
enum class ArgumentRole {
  centre_row,
  centre_col,
  radius,
  inner_radius,  ///< at most the outer radius, which follows it
  outer_radius,
  first_semi_axis,
  second_semi_axis,  ///< across the first one
  direction,         ///< of the first semi-axis
  start_angle,       ///< where pieces are counted from
  piece,             ///< which one of `pieces`, from 0
  pieces,            ///< how many there are
  first_row,         ///< edges between pixels: the first row of a rectangle, ...
  first_col,
  end_row,  ///< ... and the first one outside
  end_col,
  vertex_row,
  vertex_col,
  run_row,  ///< whole pixels: a row, its first column, ...
  run_first,
  run_end,  ///< ... and the first column outside
};
[[nodiscard]] std::string_view name(ArgumentRole role);  ///< "centre_row"

/// How an argument may be written beside a plain number: `auto`, in `rho` (then it is not negative either), in `deg`.
enum class ArgumentKind { number, centre, length, angle };
[[nodiscard]] ArgumentKind kind(ArgumentRole role);

/// "px" after binning; "rad", clockwise on the screen from the direction of the columns; "" of a plain number.
[[nodiscard]] std::string_view unit(ArgumentRole role);

struct ShapeArgument {
  std::string_view name;  ///< "r_in"
  ArgumentRole role;
};

/// What is wrong with the arguments of a shape, whatever the detector.
struct ShapeFault {
  std::string_view message{};
  std::optional<std::size_t> argument{};  ///< which one; none: the shape as a whole
  std::string_view hint{};
};

/// All that the program knows of one kind of virtual detectors. The parser of expressions, its errors, the help, the
/// commands of the viewer and the description of its page read these rows and know no shape by name.
struct DetectorShape {
  std::string_view name;                 ///< in expressions
  std::vector<ShapeArgument> arguments;  ///< in their order; of a shape that repeats them, those of one group
  std::size_t optional = 0;              ///< so many of the last ones may be left out, and are 0 then
  std::size_t groups = 0;                ///< the arguments repeat, at least so many times; 0: they do not
  std::string_view drawn{};              ///< its name in the command set_detector, where that is another one
  std::string_view help;                 ///< one sentence: which pixels belong to it
  std::string_view example;
  /// The samples inside, the arguments in px and rad. A boundary belongs to the shape on one side only, so that
  /// adjacent shapes share no pixel; with `inclusive` an outer boundary of a round shape belongs to it too. Costs a few
  /// operations per pixel.
  SampleSet (*samples)(const SampleGrid& grid, std::span<const double> arguments, bool inclusive);
  /// Faults that ArgumentRole does not imply. It sees arguments as they were written, of which only radii and angles
  /// may have another unit.
  std::optional<ShapeFault> (*check)(std::span<const double> arguments) = nullptr;

  [[nodiscard]] ArgumentRole role(std::size_t argument) const { return arguments[argument % arguments.size()].role; }
  [[nodiscard]] bool takes(std::size_t count) const;
  [[nodiscard]] std::string form() const;  ///< "segment(row,col,r_in,r_out,k,n[,phi0])"
  [[nodiscard]] std::string_view drawn_name() const { return drawn.empty() ? name : drawn; }
};

/// Every shape, in the order in which people read them.
[[nodiscard]] const std::vector<DetectorShape>& detector_shapes();

/// The shape of this name in expressions; nullptr when there is none.
[[nodiscard]] const DetectorShape* find_detector_shape(std::string_view name);

/// Names for many shapes at once, which expand_detector() writes out one by one; they have no samples of their own.
[[nodiscard]] const std::vector<DetectorShape>& detector_families();
[[nodiscard]] const DetectorShape* find_detector_family(std::string_view name);

/// The most detectors of one family.
constexpr Index most_of_family = 1024;

/// Form and help of every shape and family on lines of their own, indented by four blanks: a paragraph of help.
[[nodiscard]] std::string detector_shapes_help();

}  // namespace sonde::stem
