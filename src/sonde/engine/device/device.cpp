// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/device.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/device_kernels.h"

namespace sonde {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return std::string(trim(std::string_view(line).substr(line.find(':') + 1)));
  return "CPU";
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return 1;
}

std::size_t available_host_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (std::size_t kib = 0; file >> key >> kib; file.ignore(64, '\n'))
    if (key == "MemAvailable:") return kib * 1024;
  return 0;
}

DeviceInfo describe_cpu() {
  DeviceInfo info;
  info.name = cpu_name();
  info.memory_bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
  info.compute_units = usable_cores();
#if defined(__x86_64__)
  __builtin_cpu_init();
  info.can.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  info.can.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512vbmi");
  info.can.gfni = info.can.avx512 && __builtin_cpu_supports("gfni");
  info.can.vpopcnt = info.can.avx512 && __builtin_cpu_supports("avx512vpopcntdq");
#endif
  return info;
}

std::pair<std::vector<DeviceInfo>, std::string> find_all() {
  std::vector<DeviceInfo> infos = {describe_cpu()};
  std::string why_none = "this program was built without CUDA";
  if constexpr (built_with_cuda) {
    why_none.clear();
    for (DeviceInfo& info : cuda::find_devices(why_none)) infos.push_back(std::move(info));
  }
  return {std::move(infos), std::move(why_none)};
}

const std::pair<std::vector<DeviceInfo>, std::string>& table() {
  static const auto found = find_all();
  return found;
}

}  // namespace

const std::vector<Device>& Device::all() {
  static const std::vector<Device> devices = [] {
    std::vector<Device> handles;
    for (std::size_t i = 0; i < table().first.size(); ++i) handles.push_back(Device(static_cast<int>(i)));
    return handles;
  }();
  return devices;
}

const std::string& Device::why_no_gpu() { return table().second; }

Choice<Device> Device::parse(std::string_view text) {
  const std::vector<Device>& devices = all();
  if (text == "auto") {
    if (devices.size() > 1) return {devices[1], "the first GPU found"};
    return {cpu(), "no GPU: " + why_no_gpu()};
  }
  if (text == "cpu") return {cpu(), "asked for"};
  const bool first_gpu = text == "cuda";
  int ordinal = 0;
  if (!first_gpu) {
    const std::string_view number = text.starts_with("cuda:") ? text.substr(5) : std::string_view();
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
    if (number.empty() || status != std::errc() || end != number.data() + number.size() || ordinal < 0)
      throw Error(ErrorKind::usage, fmt::format("unknown device \"{}\"", text)).hint("give auto, cpu, cuda or cuda:N");
  }
  if (static_cast<std::size_t>(ordinal) + 1 < devices.size())
    return {devices[static_cast<std::size_t>(ordinal) + 1], "asked for"};
  if (devices.size() == 1)
    throw Error(ErrorKind::device, fmt::format("device \"{}\" is not available: {}", text, why_no_gpu()))
        .hint("use " + setting("device", "cpu") + "; `sonde devices` lists what was found");
  throw Error(ErrorKind::device,
              fmt::format("device \"{}\" does not exist; the last one is cuda:{}", text, devices.size() - 2))
      .hint("`sonde devices` lists what was found");
}

const DeviceInfo& Device::info() const { return table().first[static_cast<std::size_t>(index_)]; }

DeviceKind Device::kind() const { return info().kind; }

std::string Device::name() const { return is_cpu() ? "cpu" : fmt::format("cuda:{}", info().ordinal); }

std::size_t Device::memory_free() const {
  if constexpr (built_with_cuda)
    if (!is_cpu()) return cuda::memory_free(info().ordinal);
  return available_host_memory();
}

}  // namespace sonde
