// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/report/json.h"

namespace sonde::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const std::string page_token = "0123456789abcdef0123456789abcdef";
const std::string page = "<p>page</p>", script = "run()";

const Asset assets[] = {
    {"/index.html", "text/html; charset=utf-8", "\"aa\"", false, std::as_bytes(std::span(page))},
    {"/assets/index-DkX2b9aQ.js", "text/javascript; charset=utf-8", "\"bb\"", true, std::as_bytes(std::span(script))}};

const Access access("127.0.0.1", 8000, page_token, {});
const std::string secret = access.make_secret();

Route routed(const Request& request) { return route(request, access, assets); }

Request get(std::string_view target) {
  return {.method = "GET", .target = target, .host = "localhost:8000", .secret = secret};
}

Request post(std::string_view target) {
  Request request = get(target);
  request.method = "POST";
  request.origin = "http://localhost:8000";
  return request;
}

std::string body(const Answer& answer) {
  return {reinterpret_cast<const char*>(answer.body.data()), answer.body.size()};
}

TEST(Routes, ThePageHasNoDataAndIsForAnybody) {
  for (const char* target : {"/", "/index.html", "/assets/index-DkX2b9aQ.js", "/?token=guessed", "/?code=used"}) {
    Request request = get(target);
    request.secret = "";
    const Route found = routed(request);
    EXPECT_EQ(found.answer.status, 200U) << target;
    EXPECT_FALSE(found.trusted) << target;
    EXPECT_THAT(found.answer.headers, Not(::testing::Contains(Pair("Set-Cookie", ::testing::_)))) << target;
  }
}

TEST(Routes, WhatLeadsToDataNeedsTheSecret) {
  const std::string other = Access("127.0.0.1", 8001, make_token(), {}).make_secret();
  for (const std::string& wrong : {std::string(), page_token, other, secret + "0"})
    for (Request request : {get("/api/state"), post("/api/export")}) {
      request.secret = wrong;
      const Route found = routed(request);
      EXPECT_EQ(found.next, Next::answer);
      EXPECT_EQ(found.answer.status, 403U) << wrong;
      EXPECT_EQ(found.answer.reason, Reason::secret);
      EXPECT_THAT(found.answer.refusal, HasSubstr(wrong.empty() ? "no secret" : "a wrong secret"));
      EXPECT_THAT(found.answer.refusal, Not(HasSubstr("0123456789abcdef"))) << "no token in the log";
      EXPECT_FALSE(found.trusted);
    }
  EXPECT_TRUE(routed(get("/api/state")).trusted);
  EXPECT_TRUE(routed(post("/api/export")).trusted);
}

TEST(Routes, AWebSocketShowsItsSecretLater) {
  Request request = get("/ws");
  request.secret = "";
  request.upgrade = true;
  request.origin = "http://localhost:8000";
  EXPECT_EQ(routed(request).next, Next::websocket);
  EXPECT_FALSE(routed(request).trusted);
}

TEST(Routes, OnlyThePageItselfEnters) {
  Request request = post("/api/enter");
  request.secret = "";
  EXPECT_EQ(routed(request).next, Next::enter);
  EXPECT_FALSE(routed(request).trusted);
  for (const char* origin : {"", "null", "http://evil.example", "http://localhost:8888", "http://127.0.0.1:8000"}) {
    request.origin = origin;
    EXPECT_EQ(routed(request).answer.status, 403U) << origin;
  }
  EXPECT_EQ(routed(get("/api/enter")).answer.status, 404U);
}

TEST(Routes, TheClientIsCachedByItsNames) {
  const Answer index = routed(get("/")).answer;
  EXPECT_EQ(body(index), page);
  EXPECT_EQ(index.media_type, "text/html; charset=utf-8");
  EXPECT_THAT(index.headers, ::testing::Contains(Pair("Cache-Control", "no-cache")));
  const Answer hashed = routed(get("/assets/index-DkX2b9aQ.js")).answer;
  EXPECT_EQ(body(hashed), script);
  EXPECT_THAT(hashed.headers, ::testing::Contains(Pair("Cache-Control", HasSubstr("immutable"))));
  Request known = get("/index.html");
  known.if_none_match = "\"aa\"";
  EXPECT_EQ(routed(known).answer.status, 304U);
  EXPECT_EQ(body(routed(known).answer), "");
}

TEST(Routes, PathsAreOnlyThoseOfTheTable) {
  for (const char* target : {"/../etc/passwd",
                             "/assets/../../etc/passwd",
                             "/assets/%2e%2e/%2e%2e/etc/passwd",
                             "/assets/..%2findex.html",
                             "//etc/passwd",
                             "/assets/",
                             "/assets",
                             "/index.html/",
                             "/INDEX.HTML",
                             "index.html",
                             "",
                             "*",
                             "/./index.html",
                             "http://localhost:8000/index.html",
                             "/api",
                             "/api/",
                             "/api/state/",
                             "/api/export",
                             "/ws",
                             "/favicon.ico",
                             "/\\..\\index.html",
                             "/assets/index-DkX2b9aQ.js%00.html"}) {
    const Route found = routed(get(target));
    EXPECT_EQ(found.next, Next::answer) << target;
    EXPECT_EQ(found.answer.status, 404U) << target;
    EXPECT_THAT(found.answer.refusal, HasSubstr("no such path")) << target;
  }
}

TEST(Routes, NamesThatPointHereAreNoHosts) {
  for (const char* host : {"", "evil.example", "evil.example:8000", "localhost:8001", "127.0.0.1"}) {
    for (const char* target : {"/", "/healthz", "/ws", "/api/state"}) {
      Request request = get(target);
      request.host = host;
      request.upgrade = true;
      const Route found = routed(request);
      EXPECT_EQ(found.next, Next::answer) << host;
      EXPECT_EQ(found.answer.status, 403U) << host;
      EXPECT_THAT(found.answer.refusal, HasSubstr("host")) << host;
    }
  }
}

TEST(Routes, OnlyThePageItselfOpensAWebSocketOrPosts) {
  for (const char* origin : {"", "null", "http://evil.example", "http://localhost:8001", "https://localhost:8000",
                             "http://127.0.0.1:8000"}) {
    Request socket = get("/ws");
    socket.upgrade = true;
    socket.origin = origin;
    EXPECT_EQ(routed(socket).answer.status, 403U) << origin;
    Request request = post("/api/export");
    request.origin = origin;
    EXPECT_EQ(routed(request).answer.status, 403U) << origin;
    EXPECT_THAT(routed(request).answer.refusal, HasSubstr("origin")) << origin;
  }
  Request foreign = get("/api/state");
  foreign.origin = "http://evil.example";
  EXPECT_EQ(routed(foreign).answer.status, 403U) << "a foreign origin is refused wherever it is told";
  Request own = get("/ws");
  own.upgrade = true;
  own.origin = "http://localhost:8000";
  EXPECT_EQ(routed(own).next, Next::websocket);
  EXPECT_EQ(routed(post("/api/export")).next, Next::export_file);
  EXPECT_EQ(routed(get("/api/state")).next, Next::state);
}

TEST(Routes, OtherMethodsFindNothing) {
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "TRACE", "HEAD", "CONNECT", "get"}) {
    Request request = get("/");
    request.method = method;
    EXPECT_EQ(routed(request).answer.status, 404U) << method;
  }
  EXPECT_EQ(routed(post("/")).answer.status, 404U);
  EXPECT_EQ(routed(post("/api/state")).answer.status, 404U);
}

TEST(Routes, HealthNeedsNoSecretAndTellsNothing) {
  Request request = get("/healthz");
  request.secret = "";
  EXPECT_EQ(body(routed(request).answer), "ok\n");
}

TEST(Routes, EveryAnswerForbidsForeignThings) {
  const auto headers = common_headers({"127.0.0.1", 8000, page_token, {}});
  EXPECT_THAT(headers, ::testing::Contains(Pair("Content-Security-Policy", HasSubstr("default-src 'self'"))));
  EXPECT_THAT(headers, ::testing::Contains(Pair("Referrer-Policy", "no-referrer")));
  EXPECT_THAT(headers, ::testing::Contains(Pair("X-Content-Type-Options", "nosniff")));
}

TEST(Routes, AFileIsADownloadUnderAPlainName) {
  const Answer answer = file_answer(
      {.name = "../a\"b\r\nSet-Cookie: x", .media_type = "image/png\r\nX: y", .bytes = {std::byte{1}, std::byte{2}}});
  EXPECT_THAT(answer.headers,
              ::testing::Contains(Pair("Content-Disposition", "attachment; filename=\".._a_b__Set-Cookie: x\"")));
  EXPECT_EQ(answer.media_type, "image/png__X: y");
  EXPECT_EQ(body(answer), "\x01\x02");
}

TEST(Routes, ErrorsHaveTheStatusOfTheirKind) {
  EXPECT_EQ(error_answer({ErrorKind::bad_input, "no format \"gif\""}).status, 400U);
  EXPECT_EQ(error_answer({ErrorKind::usage, "x"}).status, 400U);
  EXPECT_EQ(error_answer({ErrorKind::budget, "x"}).status, 500U);
  const Value told = parse_json(body(error_answer({ErrorKind::bad_input, "no format \"gif\""})), "answer");
  EXPECT_EQ(text_at(told, "message"), "no format \"gif\"");
  EXPECT_EQ(text_at(told, "kind"), "bad_input");
}

}  // namespace
}  // namespace sonde::serve
