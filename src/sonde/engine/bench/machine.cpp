// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/bench/machine_kernels.h"
#include "sonde/engine/bench/measure.h"
#include "sonde/engine/bench/number_of.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/pinned.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/io/cache_file.h"
#include "sonde/engine/math/fft.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/scratch_file.h"
#include "sonde/engine/report/json.h"

namespace sonde {
namespace {

/// Restores the number of threads of the program.
class ThreadCount {
 public:
  ThreadCount() : before_(thread_count()) {}
  ~ThreadCount() { set_thread_count(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

/// Memory of the Pool, given back at the end.
class Block {
 public:
  Block(Device device, std::size_t bytes) : device_(device), data_(Pool::of(device).allocate(bytes)), bytes_(bytes) {}
  ~Block() { Pool::of(device_).deallocate(data_, bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  [[nodiscard]] double* doubles() const { return static_cast<double*>(data_); }
  [[nodiscard]] void* data() const { return data_; }

 private:
  Device device_;
  void* data_;
  std::size_t bytes_;
};

/// The fastest call is the limit: whatever is slower was disturbed.
double fastest_rate(double amount, const MachineOptions& options, const std::function<void()>& operation) {
  const Measured measured =
      measure(operation, {.least = 5, .most = 1000, .relative = 0, .most_s = options.seconds_each});
  return amount / measured.steady().min;
}

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int threads = 1; threads < most; threads *= 2) counts.push_back(threads);
  counts.push_back(most);
  return counts;
}

Value memory_rates(const MachineOptions& options, const std::vector<int>& counts) {
  Budget budget = Budget::automatic(Device::cpu());
  const Reservation held = budget.reserve(3 * options.array_bytes, "the arrays of the memory measurement");
  const auto count = static_cast<Index>(options.array_bytes / sizeof(double));
  const double bytes = static_cast<double>(count) * sizeof(double);
  Value rates = Value::list();
  for (const int threads : counts) {
    set_thread_count(threads);
    // Pages are placed where they are first touched, so each count of threads gets fresh arrays.
    const Block a(Device::cpu(), options.array_bytes), b(Device::cpu(), options.array_bytes),
        c(Device::cpu(), options.array_bytes);
    const Index share = (count + threads - 1) / threads;
    const auto in_shares = [&](auto&& body) {
      parallel_for(count, share, [&](Index first, Index last, Worker&) { body(first, last - first); });
    };
    in_shares([&](Index first, Index n) {
      std::fill_n(a.doubles() + first, n, 1.0);
      std::fill_n(b.doubles() + first, n, 2.0);
      std::fill_n(c.doubles() + first, n, 3.0);
    });
    Value rate;
    rate["threads"] = threads;
    rate["copy_bytes_per_s"] = fastest_rate(2 * bytes, options, [&] {
      in_shares([&](Index first, Index n) { machine::copy(a.doubles() + first, b.doubles() + first, n); });
    });
    rate["triad_bytes_per_s"] = fastest_rate(3 * bytes, options, [&] {
      in_shares([&](Index first, Index n) {
        machine::triad(a.doubles() + first, b.doubles() + first, c.doubles() + first, n);
      });
    });
    PerWorker<double> sums;
    rate["read_bytes_per_s"] = fastest_rate(bytes, options, [&] {
      parallel_for(count, share, [&](Index first, Index last, Worker& worker) {
        sums[worker] = machine::sum(b.doubles() + first, last - first);
      });
    });
    rates.push_back(std::move(rate));
  }
  return rates;
}

Value multiply_add_rates(const MachineOptions& options, const std::vector<int>& counts) {
  constexpr Index rounds = 1'000'000;  // a few milliseconds
  Value rates = Value::list();
  for (const int threads : {counts.front(), counts.back()}) {
    if (threads == counts.front() && rates.size() > 0) break;  // one core
    set_thread_count(threads);
    const auto peak = [&](double (*multiply_add)(Index)) {
      PerWorker<double> done;
      const auto operation = [&] {
        parallel_for(threads, 1, [&](Index, Index, Worker& worker) { done[worker] = multiply_add(rounds); });
      };
      return fastest_rate(multiply_add(1) * static_cast<double>(rounds) * threads, options, operation);
    };
    Value rate;
    rate["threads"] = threads;
    rate["f32_flops_per_s"] = peak(machine::multiply_add_f32);
    rate["f64_flops_per_s"] = peak(machine::multiply_add_f64);
    rates.push_back(std::move(rate));
  }
  return rates;
}

/// Complex transforms in single precision, in place, forward, on one thread with its wave in the cache.
Value fft_rates(const MachineOptions& options) {
  Value rates = Value::list();
  for (const Index side : {Index{128}, Index{256}}) {
    const auto fft = Fft2d<float>::prepare({.rows = side, .cols = side});
    // Zeros stay zeros, so that nothing overflows; the time does not depend on the values.
    Array wave = Array::zeros(Device::cpu(), Shape{side, side}, DType::c64);
    auto* elements = static_cast<complex64*>(wave.data());
    constexpr int each_call = 16;  // a millisecond
    Value rate;
    rate["side"] = side;
    rate["transforms_per_s"] = fastest_rate(each_call, options, [&] {
      for (int i = 0; i < each_call; ++i) fft.transform(elements, FftDirection::forward);
    });
    rates.push_back(std::move(rate));
  }
  return rates;
}

Value disk_rates(const MachineOptions& options) {
  const std::string folder = options.folder.empty() ? temporary_folder().string() : options.folder;
  constexpr std::size_t piece = 8u << 20;
  const std::size_t pieces = std::max<std::size_t>(1, options.file_bytes / piece);
  std::vector<std::byte> block(piece);
  for (std::size_t i = 0; i < piece; ++i) block[i] = static_cast<std::byte>(i * 2654435761u >> 13u);  // no long runs
  const ScratchFile file(folder);
  const double bytes = static_cast<double>(pieces * piece);

  const Stopwatch writing;
  for (std::size_t i = 0; i < pieces; ++i) file.write_at(i * piece, block.data(), piece);
  file.flush();
  const double write_s = writing.seconds();

  posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);  // what is on the disk may leave the page cache
  const Stopwatch reading;
  for (std::size_t i = 0; i < pieces; ++i) file.read_at(i * piece, block.data(), piece);
  Value rates;
  rates["folder"] = folder;
  rates["write_bytes_per_s"] = bytes / write_s;
  rates["read_bytes_per_s"] = bytes / reading.seconds();
  return rates;
}

Value link_rates(Device device, const MachineOptions& options) {
  const std::size_t bytes = std::min<std::size_t>(options.array_bytes, 256u << 20);
  const double amount = static_cast<double>(bytes);
  Stream stream(device);
  const Block on_device(device, bytes), pageable(Device::cpu(), bytes);
  std::memset(pageable.data(), 1, bytes);
  const PinnedBlock pinned(device, bytes);
  std::memset(pinned.data(), 1, bytes);
  const auto rate = [&](void* to, const void* from) {
    return fastest_rate(amount, options, [&] {
      stream.copy(to, from, bytes);
      stream.synchronise();
    });
  };
  Value rates;
  rates["device"] = device.name();
  rates["name"] = device.info().name;
  rates["to_device_pinned_bytes_per_s"] = rate(on_device.data(), pinned.data());
  rates["to_device_pageable_bytes_per_s"] = rate(on_device.data(), pageable.data());
  rates["to_host_pinned_bytes_per_s"] = rate(pinned.data(), on_device.data());
  rates["to_host_pageable_bytes_per_s"] = rate(pageable.data(), on_device.data());
  return rates;
}

/// The row of the smallest thread count that is at least `threads`, else the last; nullptr without rows.
const Value* row_for(const Value* rows, int threads) {
  if (rows == nullptr || !rows->is_list() || rows->size() == 0) return nullptr;
  for (const Value& row : rows->items())
    if (number_of(row, "threads") >= threads) return &row;
  return &rows->items().back();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

Value machine_identity() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const DeviceInfo& cpu = Device::cpu().info();
  Value identity;
  identity["host"] = host;
  identity["cpu"] = cpu.name;
  identity["cores"] = cpu.compute_units;
  identity["memory_bytes"] = cpu.memory_bytes;
  identity["gpus"] = Value::list();
  for (const Device& device : Device::all())
    if (!device.is_cpu()) identity["gpus"].push_back(device.info().name);
  return identity;
}

Value measure_machine(const MachineOptions& options) {
  const ThreadCount restored;
  const std::vector<int> counts = thread_counts(Device::cpu().info().compute_units);
  Value machine;
  machine["identity"] = machine_identity();
  machine["measured"] = utc_now();
  machine["memory"] = memory_rates(options, counts);
  machine["multiply_add"] = multiply_add_rates(options, counts);
  machine["fft"] = fft_rates(options);
  machine["disk"] = disk_rates(options);
  machine["links"] = Value::list();
  for (const Device& device : Device::all())
    if (!device.is_cpu()) machine["links"].push_back(link_rates(device, options));
  return machine;
}

std::string machine_cache_path() { return cache_path("machine.json"); }

std::optional<Value> cached_machine(const std::string& path) {
  const std::optional<std::string> text = read_cache(path);
  if (!text) return std::nullopt;
  try {
    const Value kept = parse_json(*text, path);
    if (!kept.is_object()) return std::nullopt;
    Value machine = Value::object();
    for (const Value::Member& member : kept.members())
      if (member.key != "schema") machine[member.key] = member.value;
    const Value* identity = machine.find("identity");
    if (identity != nullptr && *identity == machine_identity()) return machine;
  } catch (const Error&) {  // a cache that cannot be read is no cache
  }
  return std::nullopt;
}

void cache_machine(const Value& machine, const std::string& path) {
  Value kept;
  kept["schema"] = "sonde.machine/1";  // first: by it a later measurement knows what it may replace
  for (const Value::Member& member : machine.members()) kept[member.key] = member.value;
  write_cache(path, to_json(kept) + "\n");
}

bool keep_machine(const Value& machine) {
  try {
    cache_machine(machine);
    return true;
  } catch (const Error& error) {
    log_note(fmt::format("the numbers of this machine are not kept: {}", error.message()));
    return false;
  }
}

MachineRates machine_rates(const Value& machine, int threads) {
  MachineRates rates;
  if (const Value* row = row_for(machine.find("memory"), threads))
    rates.memory_bytes_per_s = std::max({number_of(*row, "copy_bytes_per_s"), number_of(*row, "triad_bytes_per_s"),
                                         number_of(*row, "read_bytes_per_s")});
  if (const Value* row = row_for(machine.find("multiply_add"), threads)) {
    // Only one and all threads are measured; in between the peak grows with the cores.
    const double measured = number_of(*row, "threads");
    rates.flops_per_s = number_of(*row, "f32_flops_per_s") * (measured > 0 ? std::min(1.0, threads / measured) : 1);
  }
  if (const Value* disk = machine.find("disk")) rates.disk_bytes_per_s = number_of(*disk, "read_bytes_per_s");
  if (const Value* links = machine.find("links"); links != nullptr && links->size() > 0)
    rates.link_bytes_per_s = number_of(links->items().front(), "to_device_pinned_bytes_per_s");
  return rates;
}

std::string machine_text(const Value& machine) {
  std::string text;
  if (const Value* identity = machine.find("identity"))
    text += fmt::format("{}, {:.0f} cores, {}\n", identity->find("cpu")->as_text(), number_of(*identity, "cores"),
                        format_bytes(number_of(*identity, "memory_bytes")));
  const auto giga = [](double rate) { return fmt::format("{:.3g}", rate / 1e9); };
  text += fmt::format("\n{:<24} {:>8} {:>10} {:>10} {:>10}\n", "memory, GB/s", "threads", "copy", "triad", "read");
  for (const Value& row : machine.find("memory")->items())
    text += fmt::format("{:<24} {:>8.0f} {:>10} {:>10} {:>10}\n", "", number_of(row, "threads"),
                        giga(number_of(row, "copy_bytes_per_s")), giga(number_of(row, "triad_bytes_per_s")),
                        giga(number_of(row, "read_bytes_per_s")));
  text += fmt::format("\n{:<24} {:>8} {:>10} {:>10}\n", "multiply-add, GF/s", "threads", "f32", "f64");
  for (const Value& row : machine.find("multiply_add")->items())
    text += fmt::format("{:<24} {:>8.0f} {:>10} {:>10}\n", "", number_of(row, "threads"),
                        giga(number_of(row, "f32_flops_per_s")), giga(number_of(row, "f64_flops_per_s")));
  // Numbers that were kept by an earlier version have none.
  if (const Value* transforms = machine.find("fft")) {
    text += fmt::format("\n{:<24} {:>8} {:>10} {:>10}\n", "complex f32 transforms", "threads", "per second", "GF/s");
    for (const Value& row : transforms->items()) {
      const double side = number_of(row, "side"), rate = number_of(row, "transforms_per_s");
      // 5 n log2 n operations each, as is usual.
      text += fmt::format("{:<24} {:>8} {:>10.0f} {:>10}\n", fmt::format("  {0:.0f} x {0:.0f}", side), 1, rate,
                          giga(rate * 5 * side * side * std::log2(side * side)));
    }
  }
  const Value& disk = *machine.find("disk");
  text += fmt::format("\n{:<24} {:>8} {:>10} {:>10}\n{:<24} {:>8} {:>10} {:>10}  {}\n", "disk, GB/s", "", "write",
                      "read", "", "", giga(number_of(disk, "write_bytes_per_s")),
                      giga(number_of(disk, "read_bytes_per_s")), disk.find("folder")->as_text());
  for (const Value& link : machine.find("links")->items())
    text += fmt::format("\n{:<24} {:>8} {:>10} {:>10}\n{:<24} {:>8} {:>10} {:>10}\n{:<24} {:>8} {:>10} {:>10}\n",
                        "host and " + link.find("device")->as_text() + ", GB/s", "", "pinned", "pageable",
                        "  to device", "", giga(number_of(link, "to_device_pinned_bytes_per_s")),
                        giga(number_of(link, "to_device_pageable_bytes_per_s")), "  to host", "",
                        giga(number_of(link, "to_host_pinned_bytes_per_s")),
                        giga(number_of(link, "to_host_pageable_bytes_per_s")));
  return text;
}

}  // namespace sonde
