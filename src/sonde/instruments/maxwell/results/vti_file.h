// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/maxwell/read/gprmax_input.h"

namespace sonde::maxwell {

/// A file of VTK's ImageData (.vti, "VTK File Formats" of the VTK User's Guide), values of cells appended as they are:
/// ParaView opens it. Appears under its name when it is complete.
class VtiFile {
 public:
  struct Values {
    std::string name;
    DType dtype = DType::f32;  ///< f32, f64, u32 or i8
    Index components = 1;
  };
  struct Image {
    XyzIndex cells{};
    Xyz origin{}, spacing{};  ///< m
    std::vector<Values> values;
    std::string tail{};  ///< text behind the document, where gprMax keeps the names of materials
  };
  VtiFile(const std::string& path, Image image, const OutputRole& role = {});

  /// The next elements: all of the first values, x fastest, then all of the second ones, ... No block reaches from one
  /// into the next.
  void write(const Array& elements);
  /// Completes it without giving it its name yet; all elements were written.
  void close();
  void finish();
  [[nodiscard]] const std::string& path() const { return file_.path(); }

 private:
  [[nodiscard]] std::uint64_t bytes_of(std::size_t values) const;
  void begin_values();

  Image image_;
  AtomicFile file_;
  std::size_t at_ = 0;      // in image_.values
  std::uint64_t left_ = 0;  // bytes of these
  bool closed_ = false;
};

}  // namespace sonde::maxwell
