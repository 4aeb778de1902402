// SPDX-License-Identifier: Apache-2.0
// The one place that knows all formats.
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/blo.h"
#include "sonde/instruments/stem/read/empad.h"
#include "sonde/instruments/stem/read/hdf5_source.h"
#include "sonde/instruments/stem/read/mib.h"
#include "sonde/instruments/stem/read/npy.h"
#include "sonde/instruments/stem/read/raw.h"
#include "sonde/instruments/stem/read/recognise.h"
#include "sonde/instruments/stem/read/source.h"
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
    case ScanFormat::raw:
      return open_raw(path, options);
  }
  throw Error(ErrorKind::internal, path + ": a format without a reader");
}

}  // namespace sonde::stem
