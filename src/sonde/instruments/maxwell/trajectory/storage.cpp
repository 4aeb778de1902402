// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/trajectory/checkpointing.h"

namespace sonde::maxwell {
namespace {

// Relative errors of a gradient, as measured (check "compression" of verify).
constexpr double error_of_bf16 = 4e-4, error_of_interval = 1e-4;

Index bounded_interval(const StorageRequest& request, const StorageSettings& settings) {
  const Index asked = settings.interval.value_or(1);
  if (asked < 1) throw Error(ErrorKind::bad_input, fmt::format("sampling interval {}: expected at least 1", asked));
  const double most = longest_interval(request.highest_frequency, request.dt);
  if (asked > 1 && static_cast<double>(asked) > most && !settings.force)
    throw Error(ErrorKind::bad_input, fmt::format("sampling interval {}: at {:.4g} Hz and {:.4g} s the gradient is "
                                                  "aliased above {:.3g}",
                                                  asked, request.highest_frequency, request.dt, most))
        .hint(fmt::format("take {} or less; {} takes it all the same",
                          safe_interval(request.highest_frequency, request.dt), setting("force")));
  return asked;
}

SampleLayout layout_of(const StorageRequest& request, Index interval) {
  SampleLayout made = request.layout;
  made.interval = interval == 1 ? 1 : interval * request.ratio;
  return made;
}

std::size_t field_bytes(const StorageRequest& request) {
  return request.layout.components.size() *
         static_cast<std::size_t>(request.layout.shots * request.layout.box.count()) * element_bytes(request.precision);
}

/// Beside the samples themselves: the fields before a step, and what is converted or read from a file.
std::size_t work_bytes(const StorageRequest& request, const SampleLayout& layout, bool in_place) {
  const std::size_t sample = static_cast<std::size_t>(layout.elements()) * element_bytes(request.precision);
  return (layout.interval > 1 ? field_bytes(request) : 0) + (in_place ? 0 : 2 * sample);
}

/// What may be held.
struct Room {
  bool on_gpu = false;
  std::size_t device = 0, host = 0, disk = 0;

  [[nodiscard]] bool has(const StoragePlan& plan) const {
    return plan.device_bytes <= device && plan.host_bytes <= host && plan.disk_bytes <= disk;
  }
  [[nodiscard]] StorageMode nearest() const { return on_gpu ? StorageMode::device : StorageMode::host; }
};

/// Of the host's memory; for work on the CPU the device is the host.
std::optional<std::size_t> host_limit(const StorageRequest& request, const StorageSettings& settings) {
  if (request.device_bytes || !settings.bytes_limit_device) return settings.bytes_limit_host;
  return std::min(*settings.bytes_limit_device, settings.bytes_limit_host.value_or(*settings.bytes_limit_device));
}

Room room_of(const StorageRequest& request, const StorageSettings& settings) {
  const std::size_t device = request.device_bytes.value_or(0);
  return {.on_gpu = request.device_bytes.has_value(),
          .device = std::min(device, settings.bytes_limit_device.value_or(device)),
          .host = std::min(request.host_bytes, host_limit(request, settings).value_or(request.host_bytes)),
          .disk = request.disk_bytes};
}

std::size_t stored_bytes(const StorageRequest& request, const SampleLayout& layout, Encoding encoding) {
  return static_cast<std::size_t>(layout.elements()) *
         (encoding == Encoding::bf16 ? 2 : element_bytes(request.precision));
}

StoragePlan stored(const StorageRequest& request, StorageMode mode, Encoding encoding, Index interval) {
  StoragePlan made;
  made.mode = mode;
  made.encoding = encoding;
  made.layout = layout_of(request, interval);
  made.steps = request.steps;
  made.interval = interval;
  const bool on_gpu = request.device_bytes.has_value();
  const bool near = mode == (on_gpu ? StorageMode::device : StorageMode::host);
  const std::size_t sample = stored_bytes(request, made.layout, encoding);
  // What is on its way between a GPU and a farther tier.
  const std::size_t in_flight = on_gpu && !near ? 2 * sample : 0;
  // A GPU makes 16 bits itself, where they are stored or in a place of their own.
  const std::size_t halves = on_gpu && !near && encoding == Encoding::bf16 ? sample : 0;
  (on_gpu ? made.device_bytes : made.host_bytes) =
      work_bytes(request, made.layout, near && encoding == Encoding::raw) + in_flight + halves;
  if (mode == StorageMode::disk) made.host_bytes += in_flight;
  (mode == StorageMode::disk     ? made.disk_bytes
   : mode == StorageMode::device ? made.device_bytes
                                 : made.host_bytes) +=
      static_cast<std::size_t>(made.layout.samples(request.steps)) * sample;
  made.expected_error = (encoding == Encoding::bf16 ? error_of_bf16 : 0) + (interval > 1 ? error_of_interval : 0);
  return made;
}

/// The schedule within the room that computes least; nothing where not even one step fits. States are memory of the
/// host, samples of the device that computes.
std::optional<StoragePlan> recomputed(const StorageRequest& request, const Room& room, Encoding encoding,
                                      Index interval) {
  StoragePlan base = stored(request, room.nearest(), encoding, interval);
  base.mode = StorageMode::recompute;
  base.state_bytes = request.state_bytes;
  const std::size_t sample = stored_bytes(request, base.layout, encoding);
  const std::size_t work = work_bytes(request, base.layout, encoding == Encoding::raw);
  std::optional<StoragePlan> best;
  for (Index states = 1; states <= 256; ++states) {
    const std::size_t of_states = static_cast<std::size_t>(states) * request.state_bytes;
    const std::size_t fixed = work + (room.on_gpu ? 0 : of_states), limit = room.on_gpu ? room.device : room.host;
    if (fixed + 2 * sample > limit || of_states > room.host) break;
    const auto fit = static_cast<Index>((limit - fixed) / sample);
    const Index steps = std::min(request.steps, base.layout.interval == 1 ? fit - 1 : fit * base.layout.interval);
    const Index blocks = (request.steps + steps - 1) / steps;
    if (states > 1 && states > blocks) break;
    StoragePlan made = base;
    made.states = states;
    made.block_steps = steps;
    const std::size_t samples = work + static_cast<std::size_t>(base.layout.samples(steps)) * sample;
    made.host_bytes = of_states + (room.on_gpu ? 0 : samples);
    made.device_bytes = room.on_gpu ? samples : 0;
    made.forward_runs = static_cast<double>(blocks_run_forwards(blocks, states)) / static_cast<double>(blocks);
    if (!best || made.forward_runs < best->forward_runs) best = made;
  }
  return best;
}

/// Without a limit of its own: the least memory at which each step is computed twice.
std::size_t bytes_of_one_repetition(const StorageRequest& request, Encoding encoding, Index interval) {
  const SampleLayout layout = layout_of(request, interval);
  const std::size_t each = encoding == Encoding::bf16 ? 2 : element_bytes(request.precision);
  const double sample = static_cast<double>(layout.elements()) * static_cast<double>(each);
  const auto samples = static_cast<double>(layout.samples(request.steps));
  const double blocks = std::sqrt(samples * sample / std::max(1.0, static_cast<double>(request.state_bytes)));
  const double bytes = std::ceil(blocks + 1) * static_cast<double>(request.state_bytes) +
                       (std::ceil(samples / std::max(1.0, blocks)) + 2) * sample;
  return static_cast<std::size_t>(bytes) + work_bytes(request, layout, encoding == Encoding::raw);
}

/// Digits that rounding may take from fields that grow backwards.
constexpr double error_of_reverse = 1e-3;

void require_reversible(const StorageRequest& request, const StorageSettings& settings, double round_off) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorKind::not_supported, "reconstruct: " + why)
        .hint(fmt::format("take {} recompute or disk", setting("storage_mode")));
  };
  if (request.device_bytes) refuse("a run on a GPU is not taken back step by step");
  if (settings.compression == Compression::bf16 || settings.interval.value_or(1) > 1)
    refuse("fields are taken back through every step, without compression");
  const Reconstruction& how = request.reconstruction;
  if (!how.obstacle.empty()) refuse(how.obstacle);
  const double most = std::log(error_of_reverse / round_off);
  if (how.growth >= most)
    refuse(fmt::format("backwards in time loss makes rounding grow by exp({:.3g}); at {} up to exp({:.3g}) is possible",
                       how.growth, request.precision == Precision::f32 ? "float32" : "float64", most));
}

StoragePlan reconstructed(const StorageRequest& request, const StorageSettings& settings) {
  const double round_off = request.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
  require_reversible(request, settings, round_off);
  const Reconstruction& how = request.reconstruction;
  StoragePlan made;
  made.mode = StorageMode::reconstruct;
  made.because = "asked for";
  made.layout = request.layout;
  made.shell = how.shell;
  made.steps = request.steps;
  made.work_bytes = how.work_bytes;
  made.host_bytes = how.work_bytes + static_cast<std::size_t>(how.shell.samples(request.steps)) *
                                         stored_bytes(request, how.shell, Encoding::raw);
  made.forward_runs = 2;
  made.expected_error = round_off * std::exp(how.growth);
  return made;
}

struct Way {
  Encoding encoding;
  Index interval;
};

/// What may be kept, the best first: precision and interval are lowered only where that was left to us.
std::vector<Way> ways(const StorageRequest& request, const StorageSettings& settings) {
  const Index asked = bounded_interval(request, settings);
  const Index safe = safe_interval(request.highest_frequency, request.dt);
  const bool may_round = request.precision == Precision::f32;
  const Encoding first = settings.compression == Compression::bf16 ? Encoding::bf16 : Encoding::raw;
  std::vector<Way> made{{first, asked}};
  if (settings.compression == Compression::automatic && may_round) made.push_back({Encoding::bf16, asked});
  if (!settings.interval && safe > 1) made.push_back({made.back().encoding, safe});
  return made;
}

[[noreturn]] void refuse_memory(const StoragePlan& least, const Room& room) {
  if (least.device_bytes > room.device)
    throw Error(ErrorKind::budget, fmt::format("the fields of the run need {} of the memory of the GPU, {} are free",
                                               format_bytes(static_cast<double>(least.device_bytes)),
                                               format_bytes(static_cast<double>(room.device))))
        .hint(fmt::format("raise {} or {}, or take {} host, disk or recompute", setting("memory"),
                          setting("bytes_limit_device"), setting("storage_mode")));
  throw Error(ErrorKind::budget, fmt::format("the fields of the run need {} of memory, {} are free",
                                             format_bytes(static_cast<double>(least.host_bytes)),
                                             format_bytes(static_cast<double>(room.host))))
      .hint(fmt::format("raise {} or {}, or take {} disk or recompute", setting("memory"), setting("bytes_limit_host"),
                        setting("storage_mode")));
}

[[noreturn]] void refuse_disk(const StoragePlan& least, const StorageRequest& request) {
  throw Error(ErrorKind::io, fmt::format("the fields of the run need {} on disk, {} are free",
                                         format_bytes(static_cast<double>(least.disk_bytes)),
                                         format_bytes(static_cast<double>(request.disk_bytes))))
      .hint("take another folder by " + setting("storage_path") + ", or " + setting("storage_mode") + " recompute");
}

}  // namespace

bool SampleLayout::has_magnetic() const {
  return std::any_of(components.begin(), components.end(), [](Component c) { return !is_electric(c); });
}

Index SampleLayout::elements_of_shot() const {
  const Index quantities = interval == 1 ? 1 : (difference ? 1 : 0) + (sum ? 1 : 0);
  const auto electric = std::count_if(components.begin(), components.end(), is_electric);
  return (static_cast<Index>(components.size()) * quantities + poles * electric) * nodes();
}

Index SampleLayout::row(Index k, Index j) const {
  const auto before = [](Index at, const NodeBox& in, std::size_t axis) {
    return std::clamp<Index>(at - in.first[axis], 0, in.extent(axis));
  };
  const Index row = (k - box.first[0]) * box.extent(1) + j - box.first[1];
  const bool among = k >= hollow.first[0] && k < hollow.last[0];
  const Index cut = before(k, hollow, 0) * hollow.extent(1) + (among ? before(j, hollow, 1) : 0);
  return row * box.extent(2) - cut * hollow.extent(2);
}

std::array<SampleLayout::Piece, 2> SampleLayout::pieces(Index k, Index j) const {
  const Index first = box.first[2], last = box.last[2];
  if (!hollow.has_row(k, j)) return {Piece{first, last - first}, Piece{last, 0}};
  return {Piece{first, hollow.first[2] - first}, Piece{hollow.last[2], last - hollow.last[2]}};
}

double longest_interval(double highest_frequency, double dt) {
  return highest_frequency > 0 ? 1 / (2 * highest_frequency * dt) : 1;
}

Index safe_interval(double highest_frequency, double dt) {
  return std::max<Index>(1, static_cast<Index>(0.7 * longest_interval(highest_frequency, dt)));
}

StoragePlan plan_storage(const StorageRequest& request, const StorageSettings& settings) {
  if (settings.mode == StorageMode::none) return {.because = "asked for"};
  if (settings.compression == Compression::bf16 && request.precision == Precision::f64)
    throw Error(ErrorKind::bad_input, "fields of float64 are not kept in bf16")
        .hint("take " + setting("dtype") + " f32, or no compression");
  const std::vector<Way> possible = ways(request, settings);
  const Room room = room_of(request, settings);
  const bool any = settings.mode == StorageMode::automatic;
  const bool host_for_device = settings.mode == StorageMode::device && !room.on_gpu;
  const StorageMode wanted = host_for_device ? StorageMode::host : settings.mode;
  const std::string asked =
      host_for_device ? "asked for: of work on the CPU the device is the host" : std::string("asked for");
  const std::size_t nearest_bytes = room.on_gpu ? room.device : room.host;
  const std::string short_of = fmt::format("{} has space for {} only", room.on_gpu ? "the GPU" : "memory",
                                           format_bytes(static_cast<double>(nearest_bytes)));
  for (const StorageMode mode : {StorageMode::device, StorageMode::host, StorageMode::disk}) {
    if ((!any && mode != wanted) || (mode == StorageMode::device && !room.on_gpu)) continue;
    for (const Way& way : possible) {
      StoragePlan plan = stored(request, mode, way.encoding, way.interval);
      if (!room.has(plan)) continue;
      plan.because =
          !any ? asked
          : mode != room.nearest()
              ? short_of
              : fmt::format("{} fit into {}",
                            format_bytes(static_cast<double>(room.on_gpu ? plan.device_bytes : plan.host_bytes)),
                            format_bytes(static_cast<double>(nearest_bytes)));
      return plan;
    }
    if (any) continue;
    const StoragePlan least = stored(request, mode, possible.back().encoding, possible.back().interval);
    least.disk_bytes > request.disk_bytes ? refuse_disk(least, request) : refuse_memory(least, room);
  }
  if (settings.mode == StorageMode::reconstruct) {
    StoragePlan made = reconstructed(request, settings);
    if (!room.has(made)) refuse_memory(made, room);
    return made;
  }
  const Way way = possible.front();
  Room within = room;
  if (!any && !host_limit(request, settings) && !room.on_gpu)
    within.host = std::min(room.host, bytes_of_one_repetition(request, way.encoding, way.interval));
  std::optional<StoragePlan> plan = recomputed(request, within, way.encoding, way.interval);
  if (!plan) {
    StoragePlan least = stored(request, room.nearest(), way.encoding, way.interval);
    const std::size_t samples =
        work_bytes(request, least.layout, way.encoding == Encoding::raw) +
        2 * static_cast<std::size_t>(least.layout.elements()) * element_bytes(request.precision);
    least.host_bytes = request.state_bytes + (room.on_gpu ? 0 : samples);
    least.device_bytes = room.on_gpu ? samples : 0;
    refuse_memory(least, within);
  }
  plan->because = any ? short_of + ", and the disk has less space" : "asked for";
  return *plan;
}

void require_kept(const StoragePlan& plan) {
  if (plan.mode == StorageMode::none)
    throw Error(ErrorKind::bad_input, "storage mode none keeps no fields, and a gradient needs them")
        .hint("take another " + setting("storage_mode"));
}

std::string text_of(const StoragePlan& plan) {
  if (plan.mode == StorageMode::none) return "none";
  std::string made = plan.mode == StorageMode::recompute     ? "recompute"
                     : plan.mode == StorageMode::reconstruct ? "reconstruct"
                     : plan.mode == StorageMode::disk        ? "disk"
                     : plan.mode == StorageMode::device      ? "device"
                                                             : "host";
  if (plan.encoding == Encoding::bf16) made += ", bf16";
  if (plan.interval > 1) made += fmt::format(", every {} steps", plan.interval);
  if (plan.mode == StorageMode::recompute)
    made += fmt::format(", {} states and blocks of {} steps, each step computed {:.3g} times", plan.states,
                        plan.block_steps, plan.forward_runs);
  if (plan.mode == StorageMode::reconstruct)
    made += fmt::format(", {:.3g} % of the nodes, the others by steps backwards in time",
                        100.0 * static_cast<double>(plan.shell.nodes()) / static_cast<double>(plan.shell.box.count()));
  return made;
}

void add_storage(const StoragePlan& plan, MemoryPlan& memory) {
  if (plan.mode == StorageMode::none) return;
  (void)memory.add("fields for the gradient", plan.host_bytes, text_of(plan));
  memory.disk_bytes += plan.disk_bytes;
}

void add_device_storage(const StoragePlan& plan, MemoryPlan& memory) {
  if (plan.device_bytes > 0) (void)memory.add("fields for the gradient", plan.device_bytes, text_of(plan));
}

}  // namespace sonde::maxwell
