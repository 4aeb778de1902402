// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/foreign.h"

#include <fmt/format.h>

namespace sonde::stem {
namespace {

using namespace std::string_view_literals;

constexpr std::uint32_t k2_block = 0xffff0055, norpix = 0x0000feed;

}  // namespace

std::optional<ForeignFormat> foreign_format(const FileStart& start) {
  const std::string& extension = start.extension();
  if (start.has("PK\3\4"sv) || start.has("PK\5\6"sv))
    return extension == ".npz" ? ForeignFormat{"an NPZ archive", "store only the scan as NPY: numpy.save"}
                               : ForeignFormat{"a ZIP archive", "unpack it and name the scan inside"};
  if (start.has("\x49\x49\x97\x01"sv))
    return ForeignFormat{"a TIA file (SER)", "RosettaSciIO reads it: save it as .hspy from HyperSpy"};
  if (start.little(0) == norpix)
    return ForeignFormat{"a StreamPix sequence (SEQ)", "RosettaSciIO or LiberTEM read it: save it as .hspy or NPY"};
  if (start.has("TPX3"))
    return ForeignFormat{
        "a stream of Timepix3 events (TPX3)",
        "bin the events into frames with the detector's program (Accos, SoPhy) or tpx3awkward, as NPY"};
  if (start.big(0) == k2_block && extension == ".bin")
    return ForeignFormat{"raw data of a Gatan K2 camera",
                         "LiberTEM reads them: load the .gtg file there and export NPY; or export DM4 from "
                         "DigitalMicrograph"};
  if (extension == ".gtg")
    return ForeignFormat{"the header of raw data of a Gatan K2 camera",
                         "LiberTEM reads them: load this file there and export NPY; or export DM4 from "
                         "DigitalMicrograph"};
  return std::nullopt;
}

bool is_velox(const Hdf5File& file) {
  return file.is_group("/Data") && file.is_group("/Features") &&
         (file.is_group("/Operations") || file.is_group("/Presentation") || file.is_group("/Application"));
}

ForeignFormat velox_format() {
  return {"a Velox EMD file",
          "export the series from Velox as TIFF or MRC; or save it as .hspy from HyperSpy, which reads it"};
}

Error foreign_error(const std::string& path, const ForeignFormat& format) {
  return Error(ErrorKind::not_supported, fmt::format("{}: is {}, which is not read", path, format.name))
      .hint(std::string(format.remedy));
}

}  // namespace sonde::stem
