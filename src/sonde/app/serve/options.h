// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"

namespace sonde::serve {

/// Where a page is shown, and to whom.
struct ServeOptions {
  std::string host = "127.0.0.1";
  Index port = 0;
  std::string token = "auto";
  std::vector<std::string> allow_host{};
  std::vector<std::string> embed_in{};

  void describe(Fields& fields);
  /// Throws Error(usage) for a port that does not exist, a token that could be guessed or does not fit into an address,
  /// a host that is not a name or an address, every address without a name under which a browser may reach it, and an
  /// origin that is not "http://host:port".
  void check() const;
};

}  // namespace sonde::serve
