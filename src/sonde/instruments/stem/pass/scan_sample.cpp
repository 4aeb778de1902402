// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/scan_sample.h"

#include <algorithm>
#include <utility>

#include "sonde/engine/base/sampling.h"

namespace sonde::stem {

ScanSample sample_scan(Source& source, const PassSettings& settings, Index samples) {
  const Index positions = settings.scan.positions();
  samples = std::min(samples, positions);
  std::vector<Index> chosen;
  for (Index i = 0; i < samples; ++i) chosen.push_back(spread_sample(i, samples, positions));
  PassSettings some = only_at(settings, std::move(chosen));
  some.interpolations.clear();
  some.on_error = OnError::zero;  // the pass itself reports a broken frame
  some.sum_stored = true;
  some.stage.clear();
  PassResult found = run_pass(source, some, {});
  return {found.largest, std::move(found.input_sum), static_cast<Index>(found.frames - found.failed.size())};
}

}  // namespace sonde::stem
