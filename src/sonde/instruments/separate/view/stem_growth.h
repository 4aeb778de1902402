// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/panel/page.h"

namespace sonde::separate {

/// What those see who watch a separation: the level of each stem over time as far as the file is separated, and of
/// later passes what they give in its place. Memory does not depend on the length. Not thread-safe.
class StemGrowth {
 public:
  static constexpr Index columns = 400;
  /// "stems".
  [[nodiscard]] static std::vector<panel::Panel> panels();

  explicit StemGrowth(std::vector<std::string> stems, Index rate);

  /// Another file of so many samples.
  void begin(const std::string& file, Index samples);
  /// The next stems (stems, channels, count) of a pass, from sample `first` on in a circle.
  void add(Index pass, Index passes, Index first, View<const float, 3> stems);
  /// The options of the panel.
  [[nodiscard]] Value options() const;

 private:
  struct Column {
    double squares = 0, count = 0;
  };
  std::vector<std::string> names_;
  Index rate_;
  std::string file_;
  Index samples_ = 0, pass_ = 0, passes_ = 0;
  std::vector<Column> now_, before_;  ///< (stems, columns): of this pass, and of the one before
};

}  // namespace sonde::separate
