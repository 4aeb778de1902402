// SPDX-License-Identifier: Apache-2.0
// Any file is hits, edges and electrons at their positions, or an Error; and what is held stays within its bounds. The
// first byte chooses how.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/timepix/event_report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::stem;
  static const int memory = memfd_create("tpx3_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  static const ChipLayout layout({{.number = 0}, {.number = 1, .x = 256, .y = 3, .quarter_turns = 1, .flip = true}});
  const std::uint8_t how = size > 0 ? bytes[0] : 0;
  if (size > 0) {
    ++bytes;
    --size;
  }
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  TimepixOptions options{.dwell = how & 1 ? "50us" : "1us", .scan_shape = "3x5"};
  options.damage = how & 2 ? Damage::skip : Damage::stop;
  if (how & 4) options.cluster_time = "0";
  if (how & 8) options.lines = LineTrigger::tdc1;
  if (how & 16) options.delay = "-30us";
  if (how & 32) options.start = ScanStart::hit;
  try {
    const ScanTiming timing = choose_timing(path, survey_file(path, layout, options.damage), options);
    const TimepixEvents events =
        find_events(path, layout, timing, options, sonde::Budget(std::size_t{1} << 29, "fuzz"));
    const std::uint64_t hits = events.packets.hits - events.late_hits - events.stray_hits;
    if (events.packets.hits > size / 8 || events.electrons > hits) std::abort();
    if (events.placed() + events.before + events.flyback + events.after != events.electrons) std::abort();
    if (std::accumulate(events.rate.hits.begin(), events.rate.hits.end(), std::uint64_t{0}) != hits) std::abort();
    const auto index = events.index.view<std::uint32_t, 1>();
    for (sonde::Index e = 0; e < events.index.count(); ++e)
      if (index(e) >= events.rows * events.cols) std::abort();
    (void)warnings_of(events, options);
    (void)lines_of(events, options);
  } catch (const sonde::Error&) {
  }
  return 0;
}
