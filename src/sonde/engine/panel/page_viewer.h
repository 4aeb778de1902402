// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "sonde/engine/base/index.h"
#include "sonde/engine/panel/page.h"

namespace sonde {

/// Somebody who looks at a page, and goes away with this object.
class PageViewer {
 public:
  PageViewer() = default;
  PageViewer(const PageViewer&) = delete;
  PageViewer& operator=(const PageViewer&) = delete;
  virtual ~PageViewer() = default;
  /// That have arrived until now.
  [[nodiscard]] virtual Index pictures() const = 0;
};

/// How a page comes before somebody: a server and its client, which instruments do not know.
using ShowPage = std::function<std::unique_ptr<PageViewer>(panel::Page)>;

}  // namespace sonde
