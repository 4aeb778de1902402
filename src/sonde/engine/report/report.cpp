// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/memory/host_memory.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/report_role.h"
#include "sonde/engine/report/spread.h"

namespace sonde {

namespace {
constexpr const char* schema = "sonde.report/1";
}  // namespace

struct Phase::Node {
  std::string name;
  Node* parent = nullptr;
  std::vector<std::unique_ptr<Node>> children;
  double prepare_s = 0;
  std::vector<double> calls_s;    ///< every call in order; the first is not part of the steady state
  std::array<double, 3> bytes{};  ///< over all calls, by Traffic
  double flops = 0;               ///< over all calls

  Node& child(const std::string& wanted) {
    for (const auto& each : children)
      if (each->name == wanted) return *each;
    auto made = std::make_unique<Node>();
    made->name = wanted;
    made->parent = this;
    return *children.emplace_back(std::move(made));
  }

  [[nodiscard]] Value to_value(const MachineRates& machine) const {
    Value value;
    value["name"] = name;
    value["calls"] = calls_s.size();
    if (prepare_s > 0) value["prepare_s"] = prepare_s;
    if (calls_s.empty()) return value;
    value["first_s"] = calls_s.front();
    const Spread steady = spread_of({calls_s.begin() + 1, calls_s.end()});
    if (steady.samples > 0) value["steady_s"] = steady.to_value();

    const double calls = static_cast<double>(calls_s.size());
    const double typical_s = steady.samples > 0 ? steady.median : calls_s.front();
    const auto widest = static_cast<std::size_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
    if (bytes[widest] > 0) {
      static constexpr std::array<const char*, 3> names = {"memory", "disk", "link"};
      const std::array<double, 3> limits = {machine.memory_bytes_per_s, machine.disk_bytes_per_s,
                                            machine.link_bytes_per_s};
      value["bytes"] = bytes[widest] / calls;
      value["traffic"] = names[widest];
      if (limits[widest] > 0 && typical_s > 0)
        value["bandwidth_fraction"] = bytes[widest] / calls / typical_s / limits[widest];
    }
    if (flops > 0) {
      value["flops"] = flops / calls;
      if (machine.flops_per_s > 0 && typical_s > 0)
        value["flops_fraction"] = flops / calls / typical_s / machine.flops_per_s;
    }
    for (const auto& each : children) value["phases"].push_back(each->to_value(machine));
    return value;
  }
};

Phase::Phase(Report& report, Node& node, Stream* stream) : report_(&report), node_(&node), stream_(stream) {
  if (stream_ != nullptr) stream_->synchronise();
  watch_.restart();
}

Phase::Phase(Phase&& other) noexcept
    : report_(std::exchange(other.report_, nullptr)),
      node_(other.node_),
      stream_(other.stream_),
      watch_(other.watch_) {}

Phase::~Phase() {
  try {
    end();
  } catch (...) {  // a device error surfaces at the next call on the stream
  }
}

void Phase::prepared() {
  if (stream_ != nullptr) stream_->synchronise();
  node_->prepare_s += watch_.seconds();
  watch_.restart();
}

void Phase::add_bytes(double bytes, Traffic traffic) { node_->bytes[static_cast<std::size_t>(traffic)] += bytes; }

void Phase::add_flops(double flops) { node_->flops += flops; }

void Phase::end() {
  if (report_ == nullptr) return;
  Report& report = *std::exchange(report_, nullptr);
  report.current_ = node_->parent;
  if (stream_ != nullptr) stream_->synchronise();
  node_->calls_s.push_back(watch_.seconds());
}

Report::Report(std::string command)
    : command_(std::move(command)), root_(std::make_unique<Phase::Node>()), current_(root_.get()) {}

Report::~Report() = default;

void Report::set_device(Device device) { device_ = device; }

void Report::set_failed(const std::string& error) { error_ = error; }

void Report::add_choice(std::string what, Value value, std::string because) {
  Value choice;
  choice["what"] = std::move(what);
  choice["value"] = std::move(value);
  choice["because"] = std::move(because);
  choices_.push_back(std::move(choice));
}

Phase Report::phase(const std::string& name, Stream* stream) {
  Phase::Node& node = current_->child(name);
  current_ = &node;
  return Phase(*this, node, stream);
}

bool Report::check(std::string name, double value, double tolerance) {
  const bool pass = std::abs(value) <= tolerance;
  Value check;
  check["name"] = std::move(name);
  check["value"] = value;
  check["tolerance"] = tolerance;
  check["pass"] = pass;
  checks_.push_back(std::move(check));
  return pass;
}

void Report::set_memory_limit(const std::string& tier, std::size_t bytes, const std::string& because) {
  limits_[tier]["bytes"] = bytes;
  limits_[tier]["because"] = because;
}

bool Report::all_checks_pass() const {
  return std::all_of(checks_.items().begin(), checks_.items().end(),
                     [](const Value& check) { return check.find("pass")->as_bool(); });
}

namespace {

/// The widest instruction set in use, by Highway's names.
const char* simd_name(const DeviceFlags& can) {
  if (can.gfni && can.vpopcnt) return "AVX3_DL";
  if (can.avx512) return "AVX3";
  return can.avx2 ? "AVX2" : "SSE4";
}

/// Those limits that were measured.
Value machine_value(const MachineRates& rates) {
  Value value;
  const auto add = [&](const char* name, double rate) {
    if (rate > 0) value[name] = rate;
  };
  add("memory_bytes_per_s", rates.memory_bytes_per_s);
  add("disk_bytes_per_s", rates.disk_bytes_per_s);
  add("link_bytes_per_s", rates.link_bytes_per_s);
  add("flops_per_s", rates.flops_per_s);
  return value;
}

}  // namespace

void Report::add_message(const std::string& level, const std::string& marked) {
  const std::string text = spelled(marked, Spelling::keys);
  Value message;
  message["level"] = level;
  message["text"] = text;
  messages_.push_back(std::move(message));
}

Value Report::to_value() const {
  const BuildInfo& build = build_info();
  const DeviceInfo& host = Device::cpu().info();
  const DeviceInfo& device = device_.info();
  Value value;
  value["schema"] = schema;
  value["command"] = command_;
  value["version"] = build.version;
  value["revision"] = build.revision;
  value["status"] = error_.empty() ? "ok" : "failed";
  if (!error_.empty()) value["error"] = error_;
  value["host"]["cpu"] = host.name;
  value["host"]["cores"] = host.compute_units;
  value["host"]["memory_bytes"] = host.memory_bytes;
  if (machine_.memory_bytes_per_s > 0) value["host"]["limits"] = machine_value(machine_);
  value["device"]["name"] = device.name;
  value["device"]["memory_bytes"] = device.memory_bytes;
  value["device"]["driver"] = device.driver;
  value["build"]["compiler"] = build.compiler;
  value["build"]["type"] = build.build_type;
  value["build"]["simd"] = simd_name(host.can);
  value["build"]["cuda"] = build.cuda;
  value["build"]["fft"] = "none";
  value["options"] = options_;
  value["choices"] = choices_;
  value["phases"] = Value::list();
  for (const auto& node : root_->children) value["phases"].push_back(node->to_value(machine_));
  value["total_s"] = watch_.seconds();
  value["memory"]["peak_rss_bytes"] = resident_memory().peak;
  value["memory"]["peak_device_bytes"] = device_.is_cpu() ? 0 : Pool::of(device_).peak_bytes();
  value["memory"]["limits"] = limits_;
  value["memory"]["cached_device_bytes"] = device_.is_cpu() ? 0 : Pool::of(device_).cached_bytes();
  value["checks"] = checks_;
  value["messages"] = messages_;
  value["results"] = results_;
  return value;
}

void Report::write(const std::string& path) const {
  during("writing the report", [&] {
    AtomicFile file(path, report_role());
    file.write(to_json(to_value()) + "\n");
    file.commit();
  });
}

std::string Report::to_text() const { return report_text(to_value()); }

Value read_report(const std::string& path) {
  Value report = read_json(path);
  const Value* found = report.find("schema");
  if (found == nullptr || !found->is_text())
    throw Error(ErrorKind::bad_file, fmt::format("{}: JSON, but not a report: it has no \"schema\"", path));
  if (found->as_text() != schema)
    throw Error(ErrorKind::bad_file, fmt::format("{}: schema \"{}\", expected \"{}\"", path, found->as_text(), schema));
  return report;
}

}  // namespace sonde
