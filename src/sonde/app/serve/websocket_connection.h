// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sonde/app/serve/http_connection.h"
#include "sonde/app/serve/service.h"

namespace sonde::serve {

/// Answers a request to become a WebSocket (`request`: its whole head as it was sent) and then serves the client whose
/// number was reserved, until either side ends it.
void serve_websocket(Service& service, Descriptor descriptor, const std::string& request, std::uint32_t client);

}  // namespace sonde::serve
