// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/storage.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/trajectory/checkpointing.h"

namespace sonde::maxwell {
namespace {

// Relative errors of a gradient, as measured (trajectory_test.cpp).
constexpr double error_of_bf16 = 4e-4, error_of_interval = 1e-4;

std::size_t element_bytes(const StorageRequest& request) { return request.precision == Precision::f32 ? 4 : 8; }

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
  return request.layout.components.size() * static_cast<std::size_t>(request.layout.box.count()) *
         element_bytes(request);
}

/// Beside the samples themselves: the fields before a step, and what is converted or read from a file.
std::size_t work_bytes(const StorageRequest& request, const SampleLayout& layout, bool in_place) {
  const std::size_t sample = static_cast<std::size_t>(layout.elements()) * element_bytes(request);
  return (layout.interval > 1 ? field_bytes(request) : 0) + (in_place ? 0 : 2 * sample);
}

StoragePlan stored(const StorageRequest& request, StorageMode mode, Encoding encoding, Index interval) {
  StoragePlan made;
  made.mode = mode;
  made.encoding = encoding;
  made.layout = layout_of(request, interval);
  made.steps = request.steps;
  made.interval = interval;
  const std::size_t each = encoding == Encoding::bf16 ? 2 : element_bytes(request);
  const std::size_t samples =
      static_cast<std::size_t>(made.layout.samples(request.steps) * made.layout.elements()) * each;
  made.host_bytes = work_bytes(request, made.layout, mode == StorageMode::host && encoding == Encoding::raw);
  (mode == StorageMode::disk ? made.disk_bytes : made.host_bytes) += samples;
  made.expected_error = (encoding == Encoding::bf16 ? error_of_bf16 : 0) + (interval > 1 ? error_of_interval : 0);
  return made;
}

/// The schedule within `limit` bytes that computes least; nothing where not even one step fits.
std::optional<StoragePlan> recomputed(const StorageRequest& request, std::size_t limit, Encoding encoding,
                                      Index interval) {
  StoragePlan base = stored(request, StorageMode::host, encoding, interval);
  base.mode = StorageMode::recompute;
  base.state_bytes = request.state_bytes;
  const std::size_t each = encoding == Encoding::bf16 ? 2 : element_bytes(request);
  const std::size_t sample = static_cast<std::size_t>(base.layout.elements()) * each;
  const std::size_t work = work_bytes(request, base.layout, encoding == Encoding::raw);
  std::optional<StoragePlan> best;
  for (Index states = 1; states <= 256; ++states) {
    const std::size_t fixed = work + static_cast<std::size_t>(states) * request.state_bytes;
    if (fixed + 2 * sample > limit) break;
    const auto fit = static_cast<Index>((limit - fixed) / sample);
    const Index steps = std::min(request.steps, base.layout.interval == 1 ? fit - 1 : fit * base.layout.interval);
    const Index blocks = (request.steps + steps - 1) / steps;
    if (states > 1 && states > blocks) break;
    StoragePlan made = base;
    made.states = states;
    made.block_steps = steps;
    made.host_bytes = fixed + static_cast<std::size_t>(base.layout.samples(steps)) * sample;
    made.forward_runs = static_cast<double>(blocks_run_forwards(blocks, states)) / static_cast<double>(blocks);
    if (!best || made.forward_runs < best->forward_runs) best = made;
  }
  return best;
}

/// Without a limit of its own: the least memory at which each step is computed twice.
std::size_t bytes_of_one_repetition(const StorageRequest& request, Encoding encoding, Index interval) {
  const SampleLayout layout = layout_of(request, interval);
  const std::size_t each = encoding == Encoding::bf16 ? 2 : element_bytes(request);
  const double sample = static_cast<double>(layout.elements()) * static_cast<double>(each);
  const auto samples = static_cast<double>(layout.samples(request.steps));
  const double blocks = std::sqrt(samples * sample / std::max(1.0, static_cast<double>(request.state_bytes)));
  const double bytes = std::ceil(blocks + 1) * static_cast<double>(request.state_bytes) +
                       (std::ceil(samples / std::max(1.0, blocks)) + 2) * sample;
  return static_cast<std::size_t>(bytes) + work_bytes(request, layout, encoding == Encoding::raw);
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

[[noreturn]] void refuse_memory(const StoragePlan& least, std::size_t limit) {
  throw Error(ErrorKind::budget, fmt::format("the fields of the run need {} of memory, {} are free",
                                             format_bytes(static_cast<double>(least.host_bytes)),
                                             format_bytes(static_cast<double>(limit))))
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

Index SampleLayout::elements() const {
  const Index quantities = interval == 1 ? 1 : (difference ? 1 : 0) + (sum ? 1 : 0);
  return static_cast<Index>(components.size()) * quantities * box.count();
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
  const std::size_t limit = std::min(request.host_bytes, settings.bytes_limit_host.value_or(request.host_bytes));
  const bool any = settings.mode == StorageMode::automatic;
  const bool memory = settings.mode == StorageMode::device || settings.mode == StorageMode::host;
  const std::string asked =
      settings.mode == StorageMode::device ? "asked for: of work on the CPU the device is the host" : "asked for";
  if (any || memory) {
    for (const Way& way : possible) {
      StoragePlan plan = stored(request, StorageMode::host, way.encoding, way.interval);
      if (plan.host_bytes > limit) continue;
      plan.because = any ? fmt::format("{} fit into {}", format_bytes(static_cast<double>(plan.host_bytes)),
                                       format_bytes(static_cast<double>(limit)))
                         : asked;
      return plan;
    }
    if (memory)
      refuse_memory(stored(request, StorageMode::host, possible.back().encoding, possible.back().interval), limit);
  }
  const std::string short_of = fmt::format("memory has space for {} only", format_bytes(static_cast<double>(limit)));
  if (any || settings.mode == StorageMode::disk) {
    for (const Way& way : possible) {
      StoragePlan plan = stored(request, StorageMode::disk, way.encoding, way.interval);
      if (plan.host_bytes > limit || plan.disk_bytes > request.disk_bytes) continue;
      plan.because = any ? short_of : asked;
      return plan;
    }
    if (!any)
      refuse_disk(stored(request, StorageMode::disk, possible.back().encoding, possible.back().interval), request);
  }
  const Way way = possible.front();
  const std::size_t within = any || settings.bytes_limit_host
                                 ? limit
                                 : std::min(limit, bytes_of_one_repetition(request, way.encoding, way.interval));
  std::optional<StoragePlan> plan = recomputed(request, within, way.encoding, way.interval);
  if (!plan) {
    StoragePlan least = stored(request, StorageMode::host, way.encoding, way.interval);
    least.host_bytes = request.state_bytes + work_bytes(request, least.layout, way.encoding == Encoding::raw) +
                       2 * static_cast<std::size_t>(least.layout.elements()) * element_bytes(request);
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
  std::string made = plan.mode == StorageMode::recompute ? "recompute"
                     : plan.mode == StorageMode::disk    ? "disk"
                                                         : "host";
  if (plan.encoding == Encoding::bf16) made += ", bf16";
  if (plan.interval > 1) made += fmt::format(", every {} steps", plan.interval);
  if (plan.mode == StorageMode::recompute)
    made += fmt::format(", {} states and blocks of {} steps, each step computed {:.3g} times", plan.states,
                        plan.block_steps, plan.forward_runs);
  return made;
}

void add_storage(const StoragePlan& plan, MemoryPlan& memory) {
  if (plan.mode == StorageMode::none) return;
  (void)memory.add("fields for the gradient", plan.host_bytes, text_of(plan));
  memory.disk_bytes += plan.disk_bytes;
}

}  // namespace sonde::maxwell
