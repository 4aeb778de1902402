// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/routes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/app/serve/refusals.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/report/json.h"

namespace sonde::serve {
namespace {

Answer refused(unsigned status, std::string text, Reason reason, std::string in_words) {
  Answer answer = text_answer(status, std::move(text));
  answer.reason = reason;
  answer.refusal = std::move(in_words);
  return answer;
}

/// For the log: without the query, where a token may stand.
std::string what(const Request& request) {
  return printable(request.method) + " " + printable(request.target.substr(0, request.target.find('?')));
}

Answer no_secret(const Request& request) {
  return refused(403,
                 "This needs the secret of a page that was opened with the address that sonde printed when it was "
                 "started.\n",
                 Reason::secret, what(request) + (request.secret.empty() ? ": no secret" : ": a wrong secret"));
}

Answer asset_answer(const Asset& asset, std::string_view known_tag) {
  Answer answer;
  answer.media_type = asset.media_type;
  answer.headers = {{"ETag", std::string(asset.tag)},
                    {"Cache-Control", asset.lasting ? "public, max-age=31536000, immutable" : "no-cache"}};
  if (known_tag == asset.tag)
    answer.status = 304;
  else
    answer.body = asset.bytes;
  return answer;
}

std::string clean(std::string text, std::string_view forbidden) {
  std::replace_if(
      text.begin(), text.end(),
      [&](char c) { return c < ' ' || c > '~' || forbidden.find(c) != std::string_view::npos; }, '_');
  return text;
}

}  // namespace

Answer text_answer(unsigned status, std::string text, std::string media_type) {
  Answer answer{.status = status, .media_type = std::move(media_type), .headers = {{"Cache-Control", "no-store"}}};
  const auto owner = std::make_shared<const std::string>(std::move(text));
  answer.body = std::as_bytes(std::span(*owner));
  answer.owner = owner;
  return answer;
}

Answer json_answer(unsigned status, const Value& value) {
  return text_answer(status, to_json(value, -1), "application/json");
}

Answer error_answer(const Error& error) {
  Value value;
  value["type"] = "error";
  value["kind"] = name(error.kind());
  value["message"] = error.message();
  value["hint"] = error.hint();
  const int status = exit_status(error.kind());
  return json_answer(status == exit_status(ErrorKind::usage) || status == exit_status(ErrorKind::bad_input) ? 400 : 500,
                     value);
}

Answer file_answer(panel::File file) {
  Answer answer{.media_type = clean(std::move(file.media_type), ""), .headers = {{"Cache-Control", "no-store"}}};
  answer.headers.emplace_back("Content-Disposition",
                              fmt::format("attachment; filename=\"{}\"", clean(std::move(file.name), "\"\\/")));
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(file.bytes));
  answer.body = *owner;
  answer.owner = owner;
  return answer;
}

std::vector<std::pair<std::string, std::string>> common_headers(const Access& access) {
  return {{"Content-Security-Policy", access.content_security_policy()},
          {"Referrer-Policy", "no-referrer"},
          {"X-Content-Type-Options", "nosniff"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

Route route(const Request& request, const Access& access, std::span<const Asset> assets) {
  if (!access.host_allowed(request.host))
    return {Next::answer,
            refused(403,
                    fmt::format("This server answers only to {}. Through ssh -L use the same port on both sides.\n",
                                access.allowed_hosts()),
                    Reason::host, fmt::format("a request for the host \"{}\"", printable(request.host)))};
  const bool post = request.method == "POST";
  if ((request.upgrade || post || !request.origin.empty()) && !access.origin_allowed(request.origin, request.host))
    return {Next::answer, refused(403, "Only the page itself may ask for this.\n", Reason::origin,
                                  fmt::format("{}: from the origin \"{}\"", what(request), printable(request.origin)))};
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  const bool get = request.method == "GET";
  if (get && path == "/healthz") return {Next::answer, text_answer(200, "ok\n")};
  if (get && path == "/ws" && request.upgrade) return {Next::websocket};
  if (post && path == "/api/enter") return {Next::enter};
  const bool state = get && path == "/api/state", file = post && path == "/api/export";
  if (state || file) {
    if (!access.secret_valid(request.secret)) return {Next::answer, no_secret(request)};
    return {state ? Next::state : Next::export_file, {}, true};
  }
  const std::string_view wanted = path == "/" ? "/index.html" : path;
  for (const Asset& asset : assets)
    if (get && asset.path == wanted) return {Next::answer, asset_answer(asset, request.if_none_match)};
  return {Next::answer, refused(404, "There is nothing here.\n", Reason::path, what(request) + ": no such path")};
}

}  // namespace sonde::serve
