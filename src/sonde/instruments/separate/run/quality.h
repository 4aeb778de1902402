// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"

namespace sonde::separate {

/// What can be said of stems without true ones, over time. Values are means over `seconds` of all channels.
struct Quality {
  double seconds = 1;
  std::vector<double> mixture{};     ///< squares of the mixture
  std::vector<double> difference{};  ///< squares of the mixture without all stems
  struct Stem {
    std::vector<double> squares;
    /// Of single passes around their mean, which is the stem.
    std::vector<double> variance;
  };
  std::vector<Stem> stems{};
};

/// Collects it from samples that come one after the other, with memory that does not depend on their number: beyond
/// `most` values each becomes that of twice the time.
class QualityMeter {
 public:
  static constexpr std::size_t most = 4096;
  QualityMeter(Index rate, Index channels, Index stems);

  /// A sample: the channels of the mixture, then those of each stem, then the variance of each.
  void add(const float* mixture, const float* stems, const float* variances);
  /// What it was until now.
  [[nodiscard]] Quality quality() const;

 private:
  void halve();

  Index channels_, stems_;
  Index samples_of_value_, rate_;
  Index in_last_ = 0;         ///< samples in the last value
  std::vector<double> sums_;  ///< (values, 2 + 2 stems)
};

/// In dB: {"seconds", "passes", "mixture_db": [...], "consistency_db": [...], "stems": [{"name", "agreement_db",
/// "agreement_db_over_time": [...], "deviation_db_over_time": [...]}]}. Deviation is that of single passes, of full
/// scale; agreement, how far a stem is above it; consistency, the part of the mixture that all stems together miss.
/// Nothing where there is silence, below -80 dB of full scale; deviations are at least -120 dB.
[[nodiscard]] Value quality_value(const Quality& quality, const std::vector<std::string>& names, Index passes);

}  // namespace sonde::separate
