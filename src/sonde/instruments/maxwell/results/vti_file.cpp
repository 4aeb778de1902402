// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/vti_file.h"

#include <fmt/format.h>

#include <cassert>
#include <span>

#include "sonde/engine/figure/html.h"

namespace sonde::maxwell {
namespace {

std::string_view vtk_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "Float64";
    case DType::u32:
      return "UInt32";
    case DType::i8:
      return "Int8";
    default:
      return "Float32";
  }
}

std::string as_text(const Xyz& xyz) { return fmt::format("{} {} {}", xyz[0], xyz[1], xyz[2]); }

}  // namespace

VtiFile::VtiFile(const std::string& path, Image image, const OutputRole& role)
    : image_(std::move(image)), file_(path, role) {
  const std::string extent = fmt::format("0 {} 0 {} 0 {}", image_.cells[0], image_.cells[1], image_.cells[2]);
  // The comment is how sonde knows its own files (engine/io/mark.h).
  std::string head = fmt::format(
      "<?xml version=\"1.0\"?>\n<!-- made by sonde -->\n"
      "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
      "<ImageData WholeExtent=\"{0}\" Origin=\"{1}\" Spacing=\"{2}\">\n<Piece Extent=\"{0}\">\n<CellData>\n",
      extent, as_text(image_.origin), as_text(image_.spacing));
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < image_.values.size(); ++i) {
    const Values& values = image_.values[i];
    head += fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
        vtk_type(values.dtype), html_text(values.name), values.components, offset);
    offset += sizeof(std::uint64_t) + bytes_of(i);
  }
  file_.write(head + "</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_");
  begin_values();
}

std::uint64_t VtiFile::bytes_of(std::size_t values) const {
  const Values& of = image_.values[values];
  return static_cast<std::uint64_t>(image_.cells[0] * image_.cells[1] * image_.cells[2] * of.components) *
         size_bytes(of.dtype);
}

void VtiFile::begin_values() {
  left_ = bytes_of(at_);
  file_.write(std::as_bytes(std::span(&left_, 1)));
}

void VtiFile::write(const Array& elements) {
  const std::size_t bytes = static_cast<std::size_t>(elements.count()) * size_bytes(elements.dtype());
  assert(elements.dtype() == image_.values[at_].dtype && bytes <= left_);
  file_.write(std::span(static_cast<const std::byte*>(elements.data()), bytes));
  left_ -= bytes;
  if (left_ == 0 && at_ + 1 < image_.values.size()) {
    ++at_;
    begin_values();
  }
}

void VtiFile::close() {
  if (std::exchange(closed_, true)) return;
  assert(left_ == 0);
  file_.write("\n</AppendedData>\n</VTKFile>\n" + image_.tail);
  file_.close();
}

void VtiFile::finish() {
  close();
  file_.commit();
}

}  // namespace sonde::maxwell
