// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/score/ratios.h"

namespace sonde::separate {

/// What an estimate consists of, in dB (Vincent, Gribonval and Fevotte 2006, "Performance measurement in blind audio
/// source separation", equations 13 to 15, with the time-invariant filters of section III.B).
struct BssEval {
  std::vector<double> sdr_db, sir_db, sar_db;  ///< of each reference: distortion, interference, artifacts
  std::vector<Index> estimates;                ///< which estimate belongs to each reference
};

/// Which estimate is compared with which reference: those of equal place, or those of the order with the largest mean
/// SIR.
enum class Pairing { given, best };

/// Filters of BSS-Eval version 3 have so many taps.
constexpr Index bss_eval_taps = 512;

/// References s and estimates e, both (sources, samples). With P_j e the projection of an estimate on the delays 0 to
/// taps - 1 of s_j, and P e on those of all references, e_interf = P e - P_j e and e_artif = e - P e;
///   SDR = |P_j e|^2 / |e_interf + e_artif|^2, SIR = |P_j e|^2 / |e_interf|^2, SAR = |P e|^2 / |e_artif|^2.
/// Normal equations from correlations by FFT, solved by Cholesky, or where they are singular by a factorisation with
/// pivots that leaves out what depends on the rest. Not-a-number for all where a source or an estimate is silent;
/// infinity where a part is exactly zero. Takes (sources taps)^3 / 3 operations and what bss_eval_bytes() says. Throws
/// Error(bad_input) for other shapes, and for more than 8 sources with Pairing::best.
[[nodiscard]] BssEval bss_eval(View<const double, 2> references, View<const double, 2> estimates, Pairing pairing,
                               Index taps = bss_eval_taps);

/// The same of every frame, in parallel.
[[nodiscard]] std::vector<BssEval> framewise_bss_eval(View<const double, 2> references, View<const double, 2> estimates,
                                                      const Frames& frames, Index taps = bss_eval_taps);

/// The memory that bss_eval() takes for so many samples.
[[nodiscard]] std::size_t bss_eval_bytes(Index sources, Index samples, Index taps = bss_eval_taps);

}  // namespace sonde::separate
