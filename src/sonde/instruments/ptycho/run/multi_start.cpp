// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/multi_start.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"

namespace sonde::ptycho {
namespace {

constexpr double failed = std::numeric_limits<double>::infinity();

/// A start whose numbers are none any more has failed; everything else that goes wrong concerns them all.
double score_after(Reconstruction& reconstruction, Index iterations, ProgressMeter& meter) {
  try {
    while (reconstruction.outcome().kind == Outcome::Kind::running &&
           static_cast<Index>(reconstruction.history().size()) < iterations) {
      (void)reconstruction.iterate();
      meter.advance();
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_converged) throw;
    return failed;
  }
  return score_of(reconstruction);
}

}  // namespace

double score_of(const Reconstruction& reconstruction) {
  if (reconstruction.history().empty() || reconstruction.outcome().kind == Outcome::Kind::diverged) return failed;
  const IterationRecord& last = reconstruction.history().back();
  const double score = last.r_free.value_or(last.fit.r_intensity);
  return std::isfinite(score) ? score : failed;
}

std::vector<StartOutcome> choose_start(Job& job, const RunFile& run) {
  const MultiStartSettings& settings = run.multi_start;
  std::vector<StartOutcome> outcomes;
  if (settings.starts <= 1) return outcomes;
  if (run.object.init != ObjectInit::random)
    throw Error(ErrorKind::bad_input, fmt::format("{} starts that are all the same", settings.starts))
        .hint("object.init = \"random\" gives each its own phases");
  ProgressMeter meter("trying starts", settings.starts * settings.iterations, "iterations");
  std::unique_ptr<Reconstruction> best, tried;
  std::size_t best_at = 0;
  const auto seed_of = [&](Index start) { return job.schedule().seed + static_cast<std::uint64_t>(start); };
  Index trying = 0;
  try {
    for (Index start = 0; start < settings.starts; ++start) {
      trying = start;
      tried = job.another(run, job.schedule(), seed_of(start));
      const double score = score_after(*tried, settings.iterations, meter);
      outcomes.push_back({start, static_cast<Index>(tried->history().size()), score, false});
      if (score < outcomes[best_at].score || !best) {
        best = std::move(tried);
        best_at = outcomes.size() - 1;
      }
    }
  } catch (const Error&) {
    // What was asked to stop keeps the best until now, or the first start as far as it came.
    if (best)
      job.adopt(std::move(best), seed_of(outcomes[best_at].start));
    else if (tried && !tried->history().empty())
      job.adopt(std::move(tried), seed_of(trying));
    throw;
  }
  if (outcomes[best_at].score == failed)
    throw Error(ErrorKind::not_converged,
                fmt::format("none of {} starts gets through {} iterations", settings.starts, settings.iterations))
        .hint("halve the steps, or switch the constraint probe_power on");
  outcomes[best_at].chosen = true;
  job.adopt(std::move(best), seed_of(outcomes[best_at].start));
  return outcomes;
}

}  // namespace sonde::ptycho
