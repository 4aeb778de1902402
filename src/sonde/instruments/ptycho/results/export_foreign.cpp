// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/export_foreign.h"

#include <vector>

#include "sonde/engine/base/version.h"
#include "sonde/engine/io/hdf5_writer.h"

namespace sonde::ptycho {
namespace {

constexpr double m_per_angstrom = 1e-10;
constexpr const char* export_schema = "sonde.export/1";  // by which a later export knows what it may replace

struct Pixel {
  double row, col;  // m
};
Pixel pixel_of(const Result& result, const char* format) {
  require_calibrated(result.sampling, format);
  return {result.sampling.pixel_row() * m_per_angstrom, result.sampling.pixel_col() * m_per_angstrom};
}

}  // namespace

void write_cxi(const std::string& path, const Result& result) {
  const Pixel pixel = pixel_of(result, "CXI");
  Hdf5Writer writer(path);
  writer.attribute("/", "schema", export_schema);
  writer.value("/cxi_version", std::int64_t{160});
  writer.group("/entry_1");
  writer.value("/entry_1/program_name", "sonde " + std::string(build_info().version));
  writer.array("/entry_1/image_1/data", result.object);
  writer.value("/entry_1/image_1/data_space", std::string("real"));
  writer.value("/entry_1/image_1/data_type", std::string("complex object transmission function"));
  writer.value("/entry_1/image_1/x_pixel_size", pixel.col);
  writer.value("/entry_1/image_1/y_pixel_size", pixel.row);
  writer.array("/entry_1/instrument_1/source_1/illumination", result.probe);
  constexpr double joule_per_kev = 1.602176634e-16;
  if (const Value* energy = result.diagnostics.find("energy_keV"); energy != nullptr && energy->is_number())
    writer.value("/entry_1/instrument_1/source_1/energy", energy->as_real() * joule_per_kev);
  std::vector<double> translation;  // from pixel [0, 0] of the image, whose place in the scan CXI has no name for
  for (const Point& point : result.positions) {
    translation.push_back((point.col - result.origin.col) * pixel.col);
    translation.push_back((point.row - result.origin.row) * pixel.row);
    translation.push_back(0);
  }
  writer.array("/entry_1/sample_1/geometry_1/translation",
               Array::from(translation, Shape{static_cast<Index>(result.positions.size()), 3}));
  writer.finish();
}

void write_ptyr(const std::string& path, const Result& result) {
  const Pixel pixel = pixel_of(result, ".ptyr");
  const auto pair = [](double row, double col) { return Array::from(std::vector<double>{row, col}, Shape{2}); };
  Hdf5Writer writer(path);
  writer.attribute("/", "schema", export_schema);
  const std::string object = "/content/obj/S0", probe = "/content/probe/S0";
  writer.array(object + "/data", result.object);
  writer.array(object + "/_psize", pair(pixel.row, pixel.col));
  writer.array(object + "/_origin", pair(result.origin.row * pixel.row, result.origin.col * pixel.col));
  writer.array(probe + "/data", result.probe);
  writer.array(probe + "/_psize", pair(pixel.row, pixel.col));
  writer.array(probe + "/_origin", pair(0, 0));
  std::vector<double> positions;
  for (const Point& point : result.positions) {
    positions.push_back(point.row * pixel.row);
    positions.push_back(point.col * pixel.col);
  }
  writer.array("/content/positions/S0", Array::from(positions, Shape{static_cast<Index>(result.positions.size()), 2}));
  writer.finish();
}

}  // namespace sonde::ptycho
