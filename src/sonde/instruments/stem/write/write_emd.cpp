// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/write/write_emd.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/version.h"

namespace sonde::stem {
namespace {

constexpr const char* root = "/datacube_root";
constexpr const char* cube = "/datacube_root/datacube";
constexpr const char* data = "/datacube_root/datacube/data";

struct Axis {
  const char* name;
  std::optional<double> step;
  const char* unit;
};

std::array<Axis, 4> axes_of(const Calibration& c) {
  const auto value = [](const std::optional<Quantity>& q) { return q ? std::optional(q->value) : std::nullopt; };
  const Axis detector = c.detector_step_inv_a  ? Axis{"", value(c.detector_step_inv_a), "A^-1"}
                        : c.detector_step_mrad ? Axis{"", value(c.detector_step_mrad), "mrad"}
                                               : Axis{"", std::nullopt, "pixels"};
  // The first scan axis is the slow one (rows, y).
  return {Axis{"Ry", value(c.scan_step_row_nm), "nm"}, Axis{"Rx", value(c.scan_step_col_nm), "nm"},
          Axis{"Qy", detector.step, detector.unit}, Axis{"Qx", detector.step, detector.unit}};
}

void write_axis(Hdf5Writer& writer, int dimension, Index extent, const Axis& axis) {
  // Every position is written: readers that do not know the two-value shorthand of linear axes read it as well.
  std::vector<double> positions;
  for (Index i = 0; i < extent; ++i) positions.push_back(static_cast<double>(i) * axis.step.value_or(1.0));
  const std::string path = fmt::format("{}/dim{}", cube, dimension);
  writer.array(path, Array::from(positions, {extent}));
  writer.text_attribute(path, "name", axis.name);
  writer.text_attribute(path, "units", axis.step ? axis.unit : "pixels");
}

}  // namespace

EmdWriter::EmdWriter(const std::string& path, const Shape& shape, DType dtype, const Calibration& calibration,
                     const std::map<std::string, Hdf5Value::Scalar>& attributes)
    : writer_(path), shape_(shape), dtype_(dtype) {
  if (shape.rank() != 4)
    throw Error(ErrorKind::bad_input, fmt::format("{}: shape {}, expected four dimensions", path, shape.text()));
  writer_.text_attribute("/", "emd_group_type", "file");
  writer_.attribute("/", "version_major", std::int64_t{1});
  writer_.attribute("/", "version_minor", std::int64_t{0});
  writer_.text_attribute("/", "authoring_program", fmt::format("sonde {}", build_info().version));
  writer_.text_attribute("/", "authoring_user", "");
  writer_.group(cube);
  writer_.text_attribute(root, "emd_group_type", "root");
  writer_.text_attribute(root, "python_class", "Root");
  writer_.text_attribute(cube, "emd_group_type", "array");
  writer_.text_attribute(cube, "python_class", "DataCube");
  for (const auto& [name, value] : attributes) writer_.attribute(cube, name, value);
  writer_.declare(data, {.shape = shape, .dtype = dtype, .chunk = {}, .filters = {}, .fill = {}});
  writer_.text_attribute(data, "units", "counts");
  const auto axes = axes_of(calibration);
  for (int i = 0; i < 4; ++i) write_axis(writer_, i, shape[i], axes[static_cast<std::size_t>(i)]);
}

void EmdWriter::append(const Array& frames) {
  if (frames.shape().rank() < 3 || frames.shape().last(2) != shape_.last(2) || frames.dtype() != dtype_)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: frames {} of {}, expected (n, {}, {}) of {}", writer_.path(), frames.shape().text(),
                            name(frames.dtype()), shape_[2], shape_[3], name(dtype_)));
  const Index count = frames.shape().first(frames.shape().rank() - 2).count();
  const Index total = shape_[0] * shape_[1];
  if (count > total - written_)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} frames after {}, the scan has {}", writer_.path(), count, written_, total));
  if (!frames.contiguous() || frames.device() != Device::cpu())
    throw Error(ErrorKind::internal, "only contiguous host frames are written");
  const std::size_t frame_bytes = static_cast<std::size_t>(shape_[2] * shape_[3]) * size_bytes(dtype_);
  const auto* bytes = static_cast<const std::byte*>(frames.data());
  for (Index done = 0; done < count;) {
    const Index row = written_ / shape_[1], col = written_ % shape_[1];
    // Whole scan rows at once where possible.
    const Index rows = col == 0 ? std::max<Index>((count - done) / shape_[1], 1) : 1;
    const Index cols = std::min(shape_[1] - col, count - done);
    writer_.write_box(data, {row, col, 0, 0}, {rows, cols, shape_[2], shape_[3]}, dtype_,
                      bytes + static_cast<std::size_t>(done) * frame_bytes);
    done += rows * cols;
    written_ += rows * cols;
  }
}

void EmdWriter::finish() {
  const Index total = shape_[0] * shape_[1];
  if (written_ != total)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} of {} frames were given", writer_.path(), written_, total));
  writer_.finish();
}

}  // namespace sonde::stem
