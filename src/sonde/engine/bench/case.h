// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/bench/measure.h"
#include "sonde/engine/bench/target.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/options/value.h"
#include "sonde/engine/report/report.h"
#include "sonde/engine/report/trace.h"

namespace sonde {

/// One point of a benchmark: where and how much.
struct BenchPoint {
  std::string size;  ///< one of the case's sizes, or what the user gave
  Device device;
  int workers = 1;           ///< threads; already set when a case is prepared
  std::string program = {};  ///< another program that the user has named; empty: none
};

/// One operation to be timed, with what it must move and compute at least.
struct Operation {
  std::string name;           ///< "decode", "decode, plain loop"
  std::function<void()> run;  ///< one call, complete when it returns (synchronise streams)
  double bytes = 0;           ///< that one call must read and write
  Traffic traffic = Traffic::memory;
  double flops = 0;
  std::function<void()> before{};        ///< made ready again before every call, outside the clock; may be empty
  std::function<double()> own_s{};       ///< seconds of the last call by a clock of its own; empty: of the whole call
  std::function<double()> difference{};  ///< largest difference from the serial reference after a call; may be empty
  double items = 0;     ///< equal pieces of work in one call, frames for instance: the time of one is reported; 0: none
  std::string floor{};  ///< the operation beside it that this one cannot beat: its distance from it is reported
};

/// Another program that does the same work. It prints one JSON object per run, {"seconds": 0.123}, on its last line:
/// its own time without start-up and input. It may add "peak_rss_bytes", the most memory that it held.
struct Peer {
  std::string name;                  ///< "h5py + hdf5plugin"
  std::vector<std::string> command;  ///< words, found on PATH
};

/// Where the scripts of bench/peers are: $SONDE_PEERS, share/sonde/peers of the prefix that `program` was installed
/// into, or the source tree that it was built in.
[[nodiscard]] std::string peers_folder(const std::string& program);

/// A script of peers_folder() of this program, run by Debian's Python.
[[nodiscard]] Peer python_peer(const std::string& name, const std::string& script,
                               const std::vector<std::string>& arguments);

/// What a case makes ready before its clock starts.
struct PreparedCase {
  std::vector<Operation> operations;  ///< timed in turns
  std::vector<Peer> peers{};          ///< timed in the same turns
  std::string input{};                ///< the input in words, "16384 frames of 192x192 u16, density 0.42"
};

/// A benchmark as data.
struct BenchCase {
  std::string name;  ///< "stem-decode"
  std::string summary;
  std::vector<std::string> sizes;   ///< default sizes, smallest first
  std::vector<DeviceKind> devices;  ///< where it can run
  std::function<PreparedCase(const BenchPoint&)> prepare;
  bool same_work = false;  ///< its operations all do the work of one point: crossovers between them count
  /// Keeps what its points have shown for later runs and returns the file; empty: nothing is kept.
  std::function<std::string(const Value& points)> keep{};
  std::string item = {};             ///< what Operation::items count: "frame"
  std::string grows_with = {};       ///< what sizes are, where they are numbers: "pixels along a side"
  std::string needs_program = {};    ///< "MONKES": compares with a program that the user has to name
  std::vector<Target> targets = {};  ///< set for `sizes`
  double relative = 0.01;            ///< of itself to which every median is to be known, as far as time allows
  Index least = 7;                   ///< samples of each operation
};

/// A size of a case as a whole number of `what`. Throws Error(usage) for anything that is none above zero.
[[nodiscard]] Index whole_size(const std::string& size, const char* what);

/// Runs one point; one that does not fit into memory (Error(budget) from prepare) gets "absent" with the reason and no
/// operations. Peak memory is that of the process so far, so start the largest point last. A peer that cannot be run is
/// left out with the reason, as is one that fails later; the others go on. Preparation and every call become spans of
/// `trace`. Returns
///   {"size", "device", "workers", "input", "prepare_s", "peak_rss_bytes",
///    "operations": [{"name", "first_s", "steady_s": {...}, "mode_s", "bytes", "rate", "bandwidth_fraction", "flops",
///                    "flops_fraction", "difference", "items", "item_s", "floor", "distance"}], "peers": [{"name",
///                    "steady_s", "ratio", "peak_rss_bytes"},
///                    {"name", "absent"} or
///                                          {"name", "failed"}]}
/// with `ratio` = the peer's median over that of the first operation, `distance` = the median over that of the floor.
[[nodiscard]] Value run_bench_point(const BenchCase& bench_case, const BenchPoint& point, const MachineRates& machine,
                                    const Sampling& sampling = {}, Trace* trace = nullptr);

/// How much faster several workers are than one, by medians: {"size", "device", "operation", "workers", "speedup",
/// "efficiency"} with efficiency = speedup / workers, for every operation that ran on one worker too.
[[nodiscard]] Value speedups(const Value& points);

/// Sizes between which another device or number of workers becomes clearly the fastest (by more than noise, as in
/// report/compare.h): {"between": [size, size], "from": "cpu x 1", "to": "cuda:0 x 1"}. Looks at the first operation,
/// or with `same_work` at all of them ("cpu x 2, threads"). `points` are results of run_bench_point, sizes in order.
[[nodiscard]] Value crossovers(const Value& points, bool same_work = false);

/// How times grow with the size: of every operation that ran on at least three sizes that are numbers, the slope of
/// log(time) over log(size) by least squares, of the time of one item where there are items:
///   {"operation", "device", "workers", "sizes", "exponent", "scatter"}
/// with `scatter` = the root mean square of log(time) about the line, a relative deviation.
[[nodiscard]] Value growth(const Value& points);

/// Points as a table for people.
[[nodiscard]] std::string bench_text(const Value& points);
/// The times of one item, and distances from floors, a line each; `item` is what one is called.
[[nodiscard]] std::string items_text(const Value& points, const std::string& item);

}  // namespace sonde
