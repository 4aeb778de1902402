// SPDX-License-Identifier: Apache-2.0
// The one place that knows all formats.
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/blo.h"
#include "sonde/instruments/stem/read/empad.h"
#include "sonde/instruments/stem/read/gatan/dm.h"
#include "sonde/instruments/stem/read/hdf5_source.h"
#include "sonde/instruments/stem/read/mib.h"
#include "sonde/instruments/stem/read/mrc/mrc.h"
#include "sonde/instruments/stem/read/nion/ndata.h"
#include "sonde/instruments/stem/read/npy.h"
#include "sonde/instruments/stem/read/raw.h"
#include "sonde/instruments/stem/read/recognise.h"
#include "sonde/instruments/stem/read/source.h"
#include "sonde/instruments/stem/read/tiff/tiff_stack.h"
#include "sonde/instruments/stem/read/tvips/tvips.h"
#include "sonde/instruments/stem/read/zarr.h"

namespace sonde::stem {

std::unique_ptr<Source> open_source(const std::string& path, const ReadOptions& options) {
  switch (recognise(path, options)) {
    case ScanFormat::hdf5:
      return open_hdf5(path, options);
    case ScanFormat::npy:
      return open_npy(path, options);
    case ScanFormat::zarr:
      return open_zarr(path, options);
    case ScanFormat::mib:
      return open_mib(path, options);
    case ScanFormat::blo:
      return open_blo(path, options);
    case ScanFormat::empad:
      return open_empad(path, options);
    case ScanFormat::mrc:
      return open_mrc(path, options);
    case ScanFormat::dm:
      return open_dm(path, options);
    case ScanFormat::tvips:
      return open_tvips(path, options);
    case ScanFormat::tiff:
      return open_tiff_stack(path, options);
    case ScanFormat::ndata:
      return open_ndata(path, options);
    case ScanFormat::raw:
      return open_raw(path, options);
  }
  throw Error(ErrorKind::internal, path + ": a format without a reader");
}

}  // namespace sonde::stem
