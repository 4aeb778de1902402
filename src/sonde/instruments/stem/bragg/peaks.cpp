// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/peaks.h"

#include <algorithm>
#include <cstring>

#include "sonde/instruments/stem/bragg/disk_kernels.h"

namespace sonde::stem {
namespace {

bool brighter(const Peak& a, const Peak& b) {
  if (a.value != b.value) return a.value > b.value;
  return a.row != b.row ? a.row < b.row : a.col < b.col;
}

void collect_maxima(const float* correlation, Index rows, Index cols, Index edge, PeakRooms& rooms,
                    FilterCounts& counts) {
  rooms.peaks.clear();
  // A row more for reading eight flags at a time.
  rooms.flags.assign(static_cast<std::size_t>(cols + 8), 0);
  for (Index row = 1; row < rows - 1; ++row) {
    const float* here = correlation + row * cols;
    cpu::flag_maxima(here - cols, here, here + cols, cols, rooms.flags.data());
    const bool row_inside = row >= edge && row < rows - edge;
    for (Index col = 0; col < cols; col += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, rooms.flags.data() + col, sizeof eight);
      if (eight == 0) continue;
      for (Index c = col; c < std::min(col + 8, cols); ++c) {
        if (rooms.flags[static_cast<std::size_t>(c)] == 0) continue;
        ++counts.found;
        if (row_inside && c >= edge && c < cols - edge)
          rooms.peaks.push_back({here[c], row, c});
        else
          ++counts.edge;
      }
    }
  }
}

/// Takes out what is below a limit, before anything is sorted: noise has hundreds of maxima.
std::uint64_t remove_below(std::vector<Peak>& peaks, float limit) {
  return std::erase_if(peaks, [&](const Peak& peak) { return peak.value < limit; });
}

/// Of two peaks that are closer than the spacing the brighter one stays.
void keep_spaced(const DiskSettings& settings, PeakRooms& rooms, FilterCounts& counts) {
  const double least = settings.min_peak_spacing * settings.min_peak_spacing;
  rooms.kept.clear();
  for (const Peak& peak : rooms.peaks) {
    const bool close = std::any_of(rooms.kept.begin(), rooms.kept.end(), [&](const Peak& other) {
      const auto y = static_cast<double>(peak.row - other.row), x = static_cast<double>(peak.col - other.col);
      return y * y + x * x < least;
    });
    if (close)
      ++counts.spacing;
    else
      rooms.kept.push_back(peak);
  }
}

}  // namespace

void find_peaks(const float* correlation, Index rows, Index cols, const DiskSettings& settings, PeakRooms& rooms,
                FilterCounts& counts) {
  collect_maxima(correlation, rows, cols, std::max<Index>(settings.edge_boundary, 1), rooms, counts);
  std::vector<Peak>& peaks = rooms.peaks;
  counts.absolute += remove_below(peaks, static_cast<float>(settings.min_absolute_intensity));
  rooms.kept.clear();
  if (peaks.empty()) return;
  const auto last = static_cast<Index>(peaks.size()) - 1;
  const auto reference = peaks.begin() + std::min(settings.relative_to_peak, last);
  std::nth_element(peaks.begin(), reference, peaks.end(), brighter);
  const auto limit = static_cast<float>(settings.min_relative_intensity * static_cast<double>(reference->value));
  counts.relative += remove_below(peaks, limit);
  std::sort(peaks.begin(), peaks.end(), brighter);
  keep_spaced(settings, rooms, counts);
  const auto most = static_cast<std::size_t>(settings.max_num_peaks);
  if (rooms.kept.size() <= most) return;
  counts.number += rooms.kept.size() - most;
  rooms.kept.resize(most);
}

}  // namespace sonde::stem
