// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/export.h"

#include "sonde/engine/io/npy.h"
#include "sonde/instruments/ptycho/results/export_foreign.h"
#include "sonde/instruments/ptycho/results/picture.h"

namespace sonde::ptycho {

std::vector<std::string> export_names(ExportFormat format, const std::string& output) {
  switch (format) {
    case ExportFormat::cxi:
    case ExportFormat::ptyr:
      return {output};
    case ExportFormat::npy:
      return {output + "_object.npy", output + "_probe.npy", output + "_positions.npy"};
    case ExportFormat::tiff:
      return {output + "_phase.tif", output + "_amplitude.tif"};
    case ExportFormat::png:
      return {output + "_phase.png", output + "_amplitude.png"};
  }
  return {};
}

std::vector<std::string> export_result(const Result& result, ExportFormat format, const std::string& output) {
  switch (format) {
    case ExportFormat::cxi:
      write_cxi(output, result);
      return {output};
    case ExportFormat::ptyr:
      write_ptyr(output, result);
      return {output};
    case ExportFormat::npy: {
      std::vector<double> positions;
      for (const Point& point : result.positions) {  // pixels of the exported object, as forward models take them
        positions.push_back(point.row - result.origin.row);
        positions.push_back(point.col - result.origin.col);
      }
      write_npy(output + "_object.npy", result.object);
      write_npy(output + "_probe.npy", result.probe);
      write_npy(output + "_positions.npy",
                Array::from(positions, Shape{static_cast<Index>(result.positions.size()), 2}));
      return {output + "_object.npy", output + "_probe.npy", output + "_positions.npy"};
    }
    default: {
      const std::string ending = format == ExportFormat::tiff ? ".tif" : ".png";
      const Box view = result.field_of_view();
      std::vector<std::string> files;
      const auto write = [&](const char* what, const Array& image, const char* unit) {
        files.push_back(output + what + ending);
        write_picture(files.back(), image, result.sampling, unit);
      };
      write("_phase", phase_image(result, view), "rad");
      write("_amplitude", amplitude_image(result, view), "");
      if (format == ExportFormat::tiff && result.object.shape()[0] > 1) {
        write("_phase_slices", phase_slices(result, view), "rad");
        write("_amplitude_slices", amplitude_slices(result, view), "");
      }
      return files;
    }
  }
}

}  // namespace sonde::ptycho
