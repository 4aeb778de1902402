// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/app/serve/access.h"
#include "sonde/app/serve/assets.h"
#include "sonde/app/serve/refusals.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/panel/page.h"

namespace sonde::serve {

/// The parts of an HTTP request that decide about its answer; empty where there was none.
struct Request {
  std::string_view method{}, target{}, host{}, origin{}, secret{};
  std::string_view if_none_match{};  ///< tag of the content that the browser has
  bool upgrade = false;              ///< wants to become a WebSocket
};

/// An HTTP answer. The body is alive as long as `owner`, or for ever when that is empty.
struct Answer {
  unsigned status = 200;
  std::string media_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::shared_ptr<const void> owner{};
  std::span<const std::byte> body{};
  Reason reason = Reason::none;  ///< why it was refused, when it was
  std::string refusal{};         ///< the same in words, for the log
};

[[nodiscard]] Answer text_answer(unsigned status, std::string text,
                                 std::string media_type = "text/plain; charset=utf-8");
[[nodiscard]] Answer json_answer(unsigned status, const Value& value);
/// An error with the status that fits its kind: 400 for what was asked, 500 for what failed here.
[[nodiscard]] Answer error_answer(const Error& error);
/// A download. The name and type come from a page, not from a stranger, but are cleaned of what would end a header.
[[nodiscard]] Answer file_answer(panel::File file);

/// The headers that every answer has.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> common_headers(const Access& access);

enum class Next {
  answer,       ///< it is there
  enter,        ///< read the body, exchange what is in it for a secret
  websocket,    ///< let it become a WebSocket, whose first message holds the secret
  state,        ///< describe the page
  export_file,  ///< read the body, make a file
};
struct Route {
  Next next = Next::answer;
  Answer answer{};
  bool trusted = false;  ///< it came with the secret
};

/// The header in which a page sends its secret.
inline constexpr const char* secret_header = "X-Sonde-Secret";

/// Where a request goes, by rules in this order: Host, Origin (of WebSockets, POST and whoever sends one), an exact
/// list of paths, and the secret for those that lead to data. Nothing of a path is looked up anywhere but in the table
/// of assets.
[[nodiscard]] Route route(const Request& request, const Access& access, std::span<const Asset> assets);

}  // namespace sonde::serve
