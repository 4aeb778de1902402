// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/log.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

MetricsLog::MetricsLog(std::string path) : path_(std::move(path)), file_(path_, std::ios::trunc) {
  if (!file_) throw Error(ErrorKind::io, path_ + ": cannot be written: " + std::strerror(errno));
}

void MetricsLog::add(const IterationRecord& record) {
  file_ << to_json(metrics_value(record), -1) << '\n' << std::flush;
  if (!file_) throw Error(ErrorKind::io, path_ + ": cannot be written: " + std::strerror(errno));
}

}  // namespace sonde::ptycho
