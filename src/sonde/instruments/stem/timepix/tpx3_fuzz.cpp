// SPDX-License-Identifier: Apache-2.0
// Any bytes, of packets or of records, are hits and edges in the order of time, electrons and positions, or an Error;
// every hit is accounted for. The first byte chooses how. Whole files go through the program in tests/damage.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/timepix/clusters.h"
#include "sonde/instruments/stem/timepix/packet_reader.h"
#include "sonde/instruments/stem/timepix/record_reader.h"
#include "sonde/instruments/stem/timepix/scan_clock.h"
#include "sonde/instruments/stem/timepix/time_order.h"

namespace {

using namespace sonde::stem;

constexpr sonde::Index side = 16, scan_rows = 3, scan_cols = 5;

void require(bool fact) {
  if (!fact) std::abort();
}

/// What follows the reader, with bounds that small inputs reach.
class Pipeline {
 public:
  explicit Pipeline(std::uint8_t how)
      : order_(how & 8 ? 20 : 1000),
        clusters_(side, side, how & 4 ? 0 : 64),
        clock_(how & 16 ? ScanClock::by_lines(scan_rows, scan_cols, 3840, 100)
                        : ScanClock::steady(scan_rows, scan_cols, 1e6, 1000)) {}

  void take(const PacketBlock& block, Ticks until) {
    order_.add(block);
    order_.release(until, until);
    for (const TdcEdge& edge : order_.edges()) clock_.begin_line(edge.time);
    std::vector<Hit> hits = order_.hits();
    for (Hit& hit : hits) {
      require(hit.time >= latest_ && hit.row < 256 && hit.col < 256);
      latest_ = hit.time;
      hit.row %= side;
      hit.col %= side;
    }
    released_ += hits.size();
    clusters_.take(hits);
    if (!hits.empty()) give(latest_);
  }
  void finish(std::uint64_t hits) {
    give(std::numeric_limits<Ticks>::max());
    require(in_electrons_ == released_);
    require(released_ + order_.late_hits() + order_.waiting() == hits);
  }

 private:
  void give(Ticks now) {
    electrons_.clear();
    clusters_.give(now, electrons_);
    for (const Electron& electron : electrons_) {
      require(electron.time >= given_ && electron.pixel < side * side);
      given_ = electron.time;
      in_electrons_ += electron.hits;
      require(clock_.at(electron.time * fine_per_tick) < scan_rows * scan_cols);
    }
  }

  TimeOrder order_;
  Clusterer clusters_;
  ScanClock clock_;
  std::vector<Electron> electrons_;
  Ticks latest_ = std::numeric_limits<Ticks>::min(), given_ = latest_;
  std::uint64_t released_ = 0, in_electrons_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const ChipLayout layout({{.number = 1, .quarter_turns = 1, .flip = true}});
  if (size == 0) return 0;
  const std::uint8_t how = bytes[0];
  auto left = std::as_bytes(std::span(bytes + 1, size - 1));
  const Damage damage = how & 2 ? Damage::skip : Damage::stop;
  std::unique_ptr<HitReader> reader;
  if (how & 64)
    reader = std::make_unique<RecordReader>("fuzz.t3p", layout, damage);
  else
    reader = std::make_unique<PacketReader>("fuzz.tpx3", layout, damage);
  Pipeline pipeline(how);
  PacketBlock block;
  try {
    while (!left.empty()) {
      const auto piece = left.first(std::min<std::size_t>(left.size(), how & 1 ? 48 : 4096));
      left = left.subspan(piece.size());
      block.clear();
      reader->take(piece, block);
      pipeline.take(block, reader->latest().value_or(0) - (how & 32 ? 0 : 64'000));
    }
    reader->finish();
    pipeline.take({}, reader->latest().value_or(0) + 1);
    require(reader->counts().hits <= size / 8);
    pipeline.finish(reader->counts().hits);
  } catch (const sonde::Error&) {
  }
  return 0;
}
