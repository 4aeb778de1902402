// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/trace.h"

#include <filesystem>

#include "sonde/engine/base/paths.h"
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
  trace["otherData"]["schema"] = "sonde.trace/1";  // first: by it a later trace knows what it may replace
  trace["traceEvents"] = events_;
  trace["displayTimeUnit"] = "ms";
  return trace;
}

void Trace::write(const std::string& path) const {
  if (const std::filesystem::path folder = std::filesystem::path(path).parent_path(); !folder.empty())
    make_folders(folder);
  AtomicFile file(path, side_output("the trace", FileMark::json));
  file.write(to_json(to_value(), -1) + "\n");
  file.commit();
}

}  // namespace sonde
