// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/measure.h"

#include <algorithm>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde {
namespace {

double timed(const std::function<double()>& operation) {
  check_interrupt();
  const Stopwatch watch;
  const double own_s = operation();
  return own_s >= 0 ? own_s : watch.seconds();
}

bool known(const Measured& measured, const Sampling& sampling) {
  const Spread steady = measured.steady();
  return steady.samples >= sampling.least && steady.uncertainty() <= sampling.relative * steady.median;
}

}  // namespace

std::vector<Measured> measure_in_turns(const std::vector<std::function<double()>>& operations,
                                       const Sampling& sampling) {
  std::vector<Measured> measured(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) measured[i].first_s = timed(operations[i]);

  const Stopwatch watch;
  for (Index round = 0; round < sampling.most; ++round) {
    for (std::size_t k = 0; k < operations.size(); ++k) {
      const std::size_t i = round % 2 == 0 ? k : operations.size() - 1 - k;
      measured[i].samples.push_back(timed(operations[i]));
    }
    if (round + 1 < sampling.least) continue;
    if (watch.seconds() > sampling.most_s) break;
    if (std::all_of(measured.begin(), measured.end(), [&](const Measured& each) { return known(each, sampling); }))
      break;
  }
  return measured;
}

Measured measure(const std::function<void()>& operation, const Sampling& sampling) {
  return measure_in_turns({[&] {
                            operation();
                            return -1.0;
                          }},
                          sampling)
      .front();
}

double half_sample_mode(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t first = 0, count = values.size();
  while (count > 2) {  // keep the narrowest half
    const std::size_t half = (count + 1) / 2;
    std::size_t best = first;
    for (std::size_t at = first; at + half <= first + count; ++at)
      if (values[at + half - 1] - values[at] < values[best + half - 1] - values[best]) best = at;
    first = best;
    count = half;
  }
  return count == 2 ? (values[first] + values[first + 1]) / 2 : values[first];
}

}  // namespace sonde
