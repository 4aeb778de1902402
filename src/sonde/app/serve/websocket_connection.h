// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/app/serve/http_connection.h"
#include "sonde/app/serve/service.h"

namespace sonde::serve {

/// Answers a request to become a WebSocket (`request`: its whole head as it was sent). Its first message has to hold
/// the secret of the page, {"secret": "..."}; then it is served as a client until either side ends it.
void serve_websocket(Service& service, Descriptor descriptor, const std::string& request);

}  // namespace sonde::serve
