// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/trace.h"

#include <fmt/format.h>

#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/report/json.h"

namespace sonde {

void Trace::add(const std::string& name, double start_s, const Value& about) {
  Value event;
  event["name"] = name;
  event["ph"] = "X";  // a complete event: begin and duration in one
  event["ts"] = 1e6 * start_s;
  event["dur"] = 1e6 * (now() - start_s);
  event["pid"] = 1;
  event["tid"] = 1;
  if (!about.is_null()) event["args"] = about;
  events_.push_back(std::move(event));
}

Value Trace::to_value() const {
  Value trace;
  trace["traceEvents"] = events_;
  trace["displayTimeUnit"] = "ms";
  return trace;
}

void Trace::write(const std::string& path) const {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(ErrorKind::io, fmt::format("{}: cannot be made: {}", folder.string(), failed.message()));
  AtomicFile file(path);
  file.write(to_json(to_value(), -1) + "\n");
  file.commit();
}

}  // namespace sonde
