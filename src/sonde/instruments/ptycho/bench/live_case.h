// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "sonde/engine/base/index.h"
#include "sonde/engine/bench/case.h"
#include "sonde/engine/panel/page.h"

namespace sonde::ptycho {

/// Somebody who looks at a page, and goes away with this object.
class Onlooker {
 public:
  Onlooker() = default;
  Onlooker(const Onlooker&) = delete;
  Onlooker& operator=(const Onlooker&) = delete;
  virtual ~Onlooker() = default;
  /// That have arrived until now.
  [[nodiscard]] virtual Index pictures() const = 0;
};

/// How a page comes before somebody: a server and its client, which instruments do not know.
using ShowPage = std::function<std::unique_ptr<Onlooker>(panel::Page)>;

/// ptycho-live: iterations of a reconstruction that nobody sees, and as many while somebody looks.
[[nodiscard]] BenchCase live_bench_case(ShowPage show);

}  // namespace sonde::ptycho
