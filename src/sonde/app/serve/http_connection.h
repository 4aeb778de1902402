// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/app/serve/service.h"

namespace sonde::serve {

/// A connected socket without an owner. Connections are handed on as this, so that no header needs the network library;
/// whoever is given one closes it.
struct Descriptor {
  int number = -1;
  bool v6 = false;
};

/// Reads requests from a new connection and answers them until it ends or becomes a WebSocket.
void serve_http(Service& service, Descriptor descriptor);

}  // namespace sonde::serve
