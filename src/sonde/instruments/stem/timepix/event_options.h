// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/timepix/packet_reader.h"

namespace sonde::stem {

/// Which input of the TDC marks the lines of a scan, or its start.
enum class LineTrigger { automatic, none, tdc1, tdc2 };
enum class ScanStart { automatic, hit, tdc1, tdc2 };
enum class Slope { rise, fall };

/// How hits become electrons, and where these belong.
struct TimepixOptions {
  std::string dwell{}, scan_shape{};  ///< both are needed
  LineTrigger lines = LineTrigger::automatic;
  ScanStart start = ScanStart::automatic;
  Slope edge = Slope::rise;
  std::string delay = "0s";
  // Charge drifts for up to 30 ns, and of two pixels the one with less of it crosses the threshold some tens of
  // nanoseconds after the other.
  std::string cluster_time = "100ns";
  // Chips are read out column by column, which takes up to 100 us, and several chips take turns.
  std::string reorder_time = "1ms";
  std::string chips{};  ///< a file; empty: one chip
  Damage damage = Damage::stop;

  void describe(Fields& fields);
  /// What can be refused before the file is read. Throws Error(usage).
  void check() const;

  [[nodiscard]] double dwell_s() const;
  [[nodiscard]] std::pair<Index, Index> scan_asked() const;
  [[nodiscard]] double delay_s() const;
  [[nodiscard]] double cluster_s() const;
  [[nodiscard]] double reorder_s() const;
};

/// Seconds: "1us", "500 ns", "0.01ms", "2s", or a number without a unit. Throws Error(usage) beginning with `where`.
[[nodiscard]] double parse_duration(std::string_view text, std::string_view where);

}  // namespace sonde::stem
