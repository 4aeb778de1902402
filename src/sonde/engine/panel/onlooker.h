// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "sonde/engine/base/index.h"
#include "sonde/engine/panel/page.h"

namespace sonde {

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

}  // namespace sonde
