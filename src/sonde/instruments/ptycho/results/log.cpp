// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

OutputRole log_role() { return side_output("the log", FileMark::text); }

void require_log(const std::string& path) {
  if (!path_exists(path) || is_plain_file(path)) require_place(path, log_role());
}

MetricsLog::MetricsLog(std::string path) : path_(std::move(path)) {
  require_log(path_);
  file_.open(path_, std::ios::trunc);
  if (!file_) throw Error(ErrorKind::io, path_ + ": cannot be written: " + std::strerror(errno));
}

void MetricsLog::add(const IterationRecord& record) { line(metrics_value(record)); }

void MetricsLog::add(const Change& change) {
  Value value;
  value["change"] = to_value(change);
  line(value);
}

void MetricsLog::add(const std::vector<IterationRecord>& history, const std::vector<Change>& changes) {
  const auto last = std::find_if(changes.rbegin(), changes.rend(), [](const Change& one) { return one.restart(); });
  auto next = changes.begin();
  for (; next != last.base(); ++next) add(*next);
  for (const IterationRecord& record : history) {
    for (; next != changes.end() && next->after < record.number; ++next) add(*next);
    add(record);
  }
  for (; next != changes.end(); ++next) add(*next);
}

void MetricsLog::line(const Value& value) {
  if (!std::exchange(begun_, true)) {  // with the first line, so that a log that has something in it says something
    Value head;
    head["schema"] = "sonde.log/1";
    file_ << to_json(head, -1) << '\n';
  }
  file_ << to_json(value, -1) << '\n' << std::flush;
  if (!file_) throw Error(ErrorKind::io, path_ + ": cannot be written: " + std::strerror(errno));
}

}  // namespace sonde::ptycho
