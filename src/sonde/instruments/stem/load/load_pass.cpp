// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/load_pass.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sonde/instruments/stem/load/device_pass.h"
#include "sonde/instruments/stem/pass/moment_sums.h"
#include "sonde/instruments/stem/pass/pattern_statistics.h"

namespace sonde::stem {
namespace {

Moments moments_from(MomentSums& sums, PatternStatistics& statistics) {
  Moments moments;
  moments.total = std::move(sums.total);
  moments.moment_row = std::move(sums.moment_row);
  moments.moment_col = std::move(sums.moment_col);
  moments.pattern_sum = std::move(statistics.sum);
  moments.pattern_max = std::move(statistics.largest);
  moments.nonzero = std::move(statistics.nonzero);
  return moments;
}

/// S of the stored detector is that of the resident one, but for suspects, which are zero there.
template <class Sum>
void add_to(Array& input_sum, const Array& pattern_sum) {
  auto* to = static_cast<Sum*>(input_sum.data());
  const auto* from = static_cast<const Sum*>(pattern_sum.data());
  for (Index pixel = 0; pixel < input_sum.count(); ++pixel) to[pixel] += from[pixel];
}

LoadResult run_on_host(Source& source, PassSettings settings, const ResidentSettings& resident, Array& destination,
                       std::span<Operation* const> beside) {
  settings.sum_stored = !is_plain(settings);
  ResidentElements elements(resident, destination);
  MomentSums sums;
  PatternStatistics statistics;
  std::vector<Operation*> operations = {&elements, &sums, &statistics};
  operations.insert(operations.end(), beside.begin(), beside.end());
  LoadResult result;
  result.pass = run_pass(source, settings, operations);
  result.pass.seconds.place += result.pass.operation_s[0];
  for (std::size_t i = 1; i < operations.size(); ++i) result.pass.seconds.moments += result.pass.operation_s[i];
  result.moments = moments_from(sums, statistics);
  result.overflow = elements.overflow;
  result.clipped = elements.clipped;
  result.clipped_counts = elements.clipped_counts;
  if (settings.sum_stored) return result;
  if (result.pass.input_sum.dtype() == DType::u64)
    add_to<std::uint64_t>(result.pass.input_sum, result.moments.pattern_sum);
  else
    add_to<double>(result.pass.input_sum, result.moments.pattern_sum);
  return result;
}

}  // namespace

Choice<std::string> pass_way(Device device, const Source& source, const PassSettings& settings,
                             std::span<Operation* const> beside) {
  if (device.is_cpu()) return {"decoded and summed on the CPU", "the data set is there"};
  std::string why_not = why_not_on_gpu(source, settings);
  if (why_not.empty() && !beside.empty()) why_not = "sums that are taken beside the load have no kernels for a GPU";
  if (!why_not.empty()) return {"decoded and summed on the CPU, then copied to " + device.name(), why_not};
  if (const std::string why = why_decoded_on_cpu(source); !why.empty())
    return {"decoded on the CPU, summed on " + device.name(), why};
  return {"decoded and summed on " + device.name(), "the data set is there"};
}

LoadResult run_load_pass(Stream& stream, Source& source, const PassSettings& settings, const ResidentSettings& resident,
                         Array& destination, std::span<Operation* const> beside) {
  if (stream.device().is_cpu()) return run_on_host(source, settings, resident, destination, beside);
  if (beside.empty() && why_not_on_gpu(source, settings).empty())
    return run_device_pass(stream, source, settings, resident, destination);
  const DetectorGrid& grid = settings.detector;
  const Index positions = settings.scan.positions();
  Array host;
  if (resident.destination == Destination::frames)
    host = make_frames(Device::cpu(), positions, grid.out_rows, grid.out_cols, resident.out);
  else if (resident.destination == Destination::planes)
    host = make_planes(Device::cpu(), positions, grid.out_rows, grid.out_cols, resident.out);
  LoadResult result = run_on_host(source, settings, resident, host, beside);
  stream.copy(destination.data(), host.data(), host.allocated_bytes());  // one layout on every device
  stream.synchronise();
  return result;
}

void decode_frames(Source& source, PassSettings settings, ResidentSettings resident, Array& frames) {
  settings.sum_stored = false;
  resident.destination = Destination::frames;
  ResidentElements elements(resident, frames);
  Operation* const operation = &elements;
  (void)run_pass(source, settings, std::span(&operation, 1));
}

Moments sum_frames(Source& source, PassSettings settings) {
  settings.sum_stored = false;
  MomentSums sums;
  PatternStatistics statistics;
  const std::array<Operation*, 2> operations = {&sums, &statistics};
  (void)run_pass(source, settings, operations);
  return moments_from(sums, statistics);
}

std::size_t load_pass_bytes(const PassSettings& settings, const ResidentSettings& resident, DType stored,
                            std::size_t largest_batch_bytes, std::size_t scan_bytes, int workers) {
  Array nowhere;
  ResidentElements elements(resident, nowhere);
  MomentSums sums;
  PatternStatistics statistics;
  const std::array<Operation*, 3> operations = {&elements, &sums, &statistics};
  return pass_bytes(settings, stored, operations, largest_batch_bytes, scan_bytes, workers);
}

}  // namespace sonde::stem
