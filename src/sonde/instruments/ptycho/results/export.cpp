// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/export.h"

#include "sonde/engine/io/npy.h"
#include "sonde/instruments/ptycho/results/export_foreign.h"
#include "sonde/instruments/ptycho/results/picture.h"

namespace sonde::ptycho {

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
      for (const Point& point : result.positions) {
        positions.push_back(point.row);
        positions.push_back(point.col);
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
      write_picture(output + "_phase" + ending, phase_image(result, view), result.sampling);
      write_picture(output + "_amplitude" + ending, amplitude_image(result, view), result.sampling);
      return {output + "_phase" + ending, output + "_amplitude" + ending};
    }
  }
}

}  // namespace sonde::ptycho
