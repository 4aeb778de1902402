// SPDX-License-Identifier: Apache-2.0
// The server as a browser meets it before the WebSocket, and as strangers do.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "sonde/app/serve/test_page.h"
#include "sonde/engine/base/interrupt.h"
#include "tests/support/errors.h"

namespace sonde::serve {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ServerHttp, ThePageIsForAnybodyAndHoldsNothing) {
  const TestServer test;
  for (const std::string& target : {std::string("/"), "/?token=" + test.token, std::string("/?token=guessed")}) {
    const TestAnswer page = test.ask("GET " + target + " HTTP/1.1\r\nHost: " + test.host + "\r\n\r\n");
    EXPECT_EQ(page.status, 200) << target;
    EXPECT_EQ(page.header("Set-Cookie"), "");
    EXPECT_THAT(page.body, StartsWith("<!doctype html>"));
    EXPECT_EQ(page.body.find(test.token), std::string::npos);
    EXPECT_THAT(page.header("Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(page.header("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(page.header("X-Content-Type-Options"), "nosniff");
  }
  const std::string tag = test.ask(test.request("GET /")).header("ETag");
  const TestAnswer known = test.ask(test.request("GET /", "If-None-Match: " + tag));
  EXPECT_EQ(known.status, 304);
}

TEST(ServerHttp, TheTokenIsExchangedForASecret) {
  const TestServer test;
  const TestAnswer entered = test.enter("token", test.token);
  EXPECT_EQ(entered.status, 200);
  EXPECT_EQ(entered.header("Cache-Control"), "no-store");
  EXPECT_EQ(entered.header("Set-Cookie"), "");
  const std::string secret = text_at(parse_json(entered.body, "answer"), "secret");
  EXPECT_EQ(secret.size(), 96U);
  EXPECT_NE(secret, test.secret) << "each page has its own";
  EXPECT_EQ(test.ask(test.request("GET /api/state", "X-Sonde-Secret: " + secret)).status, 200);
  for (const std::string& body : {std::string(R"({"token": "guessed"})"), std::string("{}"), std::string("[]"),
                                  std::string("x"), std::string(R"({"token": 7})"), std::string(R"({"code": ""})"),
                                  R"({"secret": ")" + secret + "\"}", R"({"code": ")" + test.token + "\"}"})
    EXPECT_EQ(test.ask(test.request("POST /api/enter", "", body)).status, 403) << body;
  EXPECT_TRUE(test.log.gets("a wrong token"));
}

TEST(ServerHttp, TheTokenIsNoSecret) {
  const TestServer test;
  for (const std::string& header :
       {"X-Sonde-Secret: " + test.token, "Cookie: sonde_1=" + test.token + "\r\nX-Sonde-Secret:",
        "Authorization: Bearer " + test.secret + "\r\nX-Sonde-Secret:"})
    EXPECT_EQ(test.ask("GET /api/state HTTP/1.1\r\nHost: " + test.host + "\r\n" + header + "\r\n\r\n").status, 403)
        << header;
  EXPECT_EQ(test.ask("GET /api/state?token=" + test.token + " HTTP/1.1\r\nHost: " + test.host + "\r\n\r\n").status,
            403);
}

TEST(ServerHttp, ACodeOpensOnePage) {
  TestServer test;
  const std::string url = test.server.url_once();
  EXPECT_THAT(url, HasSubstr("/?code="));
  EXPECT_EQ(url.find(test.token), std::string::npos);
  const std::string code = url.substr(url.find('=') + 1);
  const TestAnswer entered = test.enter("code", code);
  EXPECT_EQ(entered.status, 200);
  const std::string secret = text_at(parse_json(entered.body, "answer"), "secret");
  EXPECT_EQ(test.ask(test.request("GET /api/state", "X-Sonde-Secret: " + secret)).status, 200);
  const TestAnswer again = test.enter("code", code);
  EXPECT_EQ(again.status, 403) << "it was read from a notebook's file";
  EXPECT_THAT(text_at(parse_json(again.body, "error"), "message"), HasSubstr("opens one page, once"));
  EXPECT_EQ(test.enter("token", code).status, 403);
  EXPECT_TRUE(test.log.gets("a wrong code"));
}

TEST(ServerHttp, EveryServerHasItsOwnToken) {
  const TestServer one, other;
  EXPECT_NE(one.token, other.token);
  EXPECT_EQ(one.token.size(), 32U);
  EXPECT_EQ(one.ask(one.request("GET /api/state", "X-Sonde-Secret: " + other.secret)).status, 403) << "of another port";
  EXPECT_EQ(one.enter("token", other.token).status, 403);
}

TEST(ServerHttp, AGivenTokenIsUsed) {
  const TestServer test({}, {.token = "0123456789abcdef"});
  EXPECT_THAT(test.server.url(), HasSubstr("?token=0123456789abcdef"));
}

TEST(ServerHttp, OneConnectionCarriesManyRequests) {
  const TestServer test;
  TestConnection connection = test.connect();
  for (int i = 0; i < 3; ++i) {
    connection.send(test.request("GET /healthz"));
    EXPECT_EQ(read_answer(connection).body, "ok\n");
  }
  connection.send(test.request("GET /healthz") + test.request("GET /nothing"));
  EXPECT_EQ(read_answer(connection).status, 200);
  EXPECT_EQ(read_answer(connection).status, 404);
}

TEST(ServerHttp, TellsTheStateOfThePage) {
  const TestServer test;
  const TestAnswer answer = test.ask(test.request("GET /api/state"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Cache-Control"), "no-store");
  const Value state = parse_json(answer.body, "state");
  EXPECT_EQ(text_at(state, "protocol"), "sonde.view.v1");
  EXPECT_EQ(text_at(state, "state"), "the state");
}

TEST(ServerHttp, ExportsAFileOfAClient) {
  const TestServer test;
  const TestWebSocket client = test.open();
  const TestAnswer file = test.ask(test.request("POST /api/export", "", R"({"client": 1, "format": "csv"})"));
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.body, "1\n");
  EXPECT_EQ(file.header("Content-Type"), "text/csv");
  EXPECT_EQ(file.header("Content-Disposition"), "attachment; filename=\"profile.csv\"");
  const TestAnswer other = test.ask(test.request("POST /api/export", "", R"({"client": 1, "format": "gif"})"));
  EXPECT_EQ(other.status, 400);
  EXPECT_EQ(text_at(parse_json(other.body, "error"), "message"), "no such format");
  for (const char* body :
       {R"({"client": 2, "format": "csv"})", R"({"format": "csv"})", R"({"client": -1})", "[]", "{", "x"})
    EXPECT_EQ(test.ask(test.request("POST /api/export", "", body)).status, 400) << body;
}

struct Attack {
  const char* name;
  const char* line;
  const char* header;  ///< replaces one of the good ones
  int status;
  const char* logged;
};

class ServerRefuses : public ::testing::TestWithParam<Attack> {};

TEST_P(ServerRefuses, AndSaysSoInTheLog) {
  const TestServer test;
  const Attack& attack = GetParam();
  EXPECT_EQ(test.ask(test.request(attack.line, attack.header)).status, attack.status);
  EXPECT_TRUE(test.log.gets(attack.logged)) << ::testing::PrintToString(test.log.lines());
  EXPECT_EQ(test.server.stats().find("refused")->as_whole(), 1);
  EXPECT_EQ(test.ask(test.request("GET /")).status, 200) << "the others are unharmed";
}

constexpr const char* upgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    "AAAAAAAAAAAAAAAAAAAAAA==";

INSTANTIATE_TEST_SUITE_P(
    , ServerRefuses,
    ::testing::Values(Attack{"RebindingHost", "GET /", "Host: evil.example", 403, "host \"evil.example\""},
                      Attack{"HostWithAnotherPort", "GET /", "Host: localhost:1", 403, "host \"localhost:1\""},
                      Attack{"NoHost", "GET /", "Host:", 403, "host \"\""},
                      Attack{"TwoHosts", "GET /", "X: y\r\nHost: evil.example", 400, "two Host headers"},
                      Attack{"ForeignOrigin", "GET /api/state", "Origin: http://evil.example", 403,
                             "origin \"http://evil.example\""},
                      Attack{"CrossSitePost", "POST /api/export", "Origin: http://evil.example", 403, "origin"},
                      Attack{"PostOfNoOrigin", "POST /api/export", "Origin:", 403, "origin \"\""},
                      Attack{"SandboxedPost", "POST /api/export", "Origin: null", 403, "origin \"null\""},
                      Attack{"NoSecret", "GET /api/state", "X-Sonde-Secret:", 403, "no secret"},
                      Attack{"WrongSecret", "GET /api/state", "X-Sonde-Secret: 00000000000000000000000000000000", 403,
                             "a wrong secret"},
                      Attack{"ExportWithoutSecret", "POST /api/export", "X-Sonde-Secret:", 403, "no secret"},
                      Attack{"EntryFromAnotherPort", "POST /api/enter", "Origin: http://localhost:1", 403,
                             "origin \"http://localhost:1\""},
                      Attack{"EntryWithoutToken", "POST /api/enter", "Content-Length: 0", 403, "a wrong code"},
                      Attack{"PathTraversal", "GET /../../../../etc/passwd", "", 404, "no such path"},
                      Attack{"EncodedTraversal", "GET /assets/%2e%2e%2f%2e%2e%2fetc/passwd", "", 404, "no such path"},
                      Attack{"AbsoluteTarget", "GET http://localhost/etc/passwd", "", 404, "no such path"},
                      Attack{"UnknownPath", "GET /admin", "", 404, "no such path"},
                      Attack{"OtherMethod", "DELETE /", "", 404, "no such path"},
                      Attack{"SocketWithoutUpgrade", "GET /ws", "", 404, "no such path"}),
    [](const auto& each) { return each.param.name; });

TEST(ServerHttp, AForeignPageOpensNoWebSocket) {
  const TestServer test;
  for (const char* other :
       {"Origin: http://evil.example", "Origin:", "Origin: http://localhost:1", "Host: evil.example"})
    EXPECT_EQ(test.ask(test.request("GET /ws", std::string(other) + "\r\n" + upgrade)).status, 403) << other;
  EXPECT_EQ(test.ask(test.request("GET /ws", upgrade)).status, 101);
}

TEST(ServerHttp, WhatIsTooLongIsCutOff) {
  const TestServer test;
  EXPECT_EQ(test.ask(test.request("GET /", "X: " + std::string(20'000, 'x'))).status, 431);
  EXPECT_TRUE(test.log.gets("head that is too long"));
  EXPECT_EQ(test.ask(test.request("POST /api/export", "", std::string(70'000, ' '))).status, 413);
  EXPECT_TRUE(test.log.gets("body that is too long"));
  EXPECT_EQ(test.ask(test.request("POST /api/export", "Content-Length: 99999999999999999999999")).status, 400);
  EXPECT_EQ(test.ask(test.request("GET /" + std::string(20'000, 'x'))).status, 431);
}

TEST(ServerHttp, WhatIsNoHttpIsRefused) {
  const TestServer test;
  for (const std::string& bytes :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), std::string(64, '\0'),
        std::string("HELO there\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n")}) {
    TestConnection connection = test.connect();
    connection.send(bytes);
    EXPECT_EQ(read_answer(connection).status, 400);
    EXPECT_TRUE(connection.is_closed_by_server());
  }
  EXPECT_TRUE(test.log.gets("not HTTP"));
}

TEST(ServerHttp, ABodyThatNobodyWantsIsNoSecondRequest) {
  const TestServer test;
  TestConnection connection = test.connect();
  connection.send(test.request("GET /healthz", "", test.request("GET /?token=" + test.token)));
  EXPECT_EQ(read_answer(connection).status, 200);
  EXPECT_TRUE(connection.is_closed_by_server());
}

TEST(ServerHttp, WhoSendsNothingIsCutOff) {
  Limits limits;
  limits.handshake = std::chrono::milliseconds(50);
  const TestServer test(limits);
  TestConnection silent = test.connect();
  EXPECT_TRUE(silent.is_closed_by_server());
  TestConnection half = test.connect();
  half.send("GET / HTTP/1.1\r\nHost: loc");
  EXPECT_TRUE(half.is_closed_by_server());
  EXPECT_TRUE(test.log.gets("did not arrive in time"));
  TestConnection body = test.connect();
  body.send(test.request("POST /api/export", "Content-Length: 10"));
  EXPECT_TRUE(body.is_closed_by_server());
}

TEST(ServerHttp, AThousandConnectionsShutNobodyOut) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  ASSERT_GE(files.rlim_cur, 1200U) << "this process holds the other ends";
  TestServer test;
  TestWebSocket client = test.open();
  std::vector<TestConnection> crowd;
  for (int i = 0; i < 1000; ++i) {
    crowd.push_back(test.connect());
    if (i % 2 == 0) crowd.back().send("GET / HTTP/1.1\r\n");
  }
  client.send(R"({"id": 1, "command": "set", "row": 3})");
  EXPECT_EQ(number_at(client.receive_answer(1), "row"), 3);
  EXPECT_EQ(test.ask(test.request("GET /")).status, 200);
  // Those that made way end; at most as many as there are places (64, one of which is the client's) stay.
  for (std::size_t i = 0; i < 1000 - 64; ++i) EXPECT_TRUE(crowd[i].is_closed_by_server()) << i;
  EXPECT_TRUE(test.log.gets("too many are open"));
}

TEST(ServerHttp, RefusalsDoNotFillTheLog) {
  const TestServer test;
  const std::size_t before = test.log.lines().size();
  TestConnection connection = test.connect();
  for (int i = 0; i < 200; ++i) {
    connection.send(test.request("GET /nothing"));
    EXPECT_EQ(read_answer(connection).status, 404);
  }
  EXPECT_EQ(test.log.lines().size(), before + 1);
  EXPECT_EQ(test.server.stats().find("refused")->as_whole(), 200);
}

TEST(ServerHttp, NoReasonHidesBehindAnother) {
  const TestServer test;
  for (const char* header : {"Host: evil.example", "Origin: http://evil.example", "X-Sonde-Secret: a"})
    EXPECT_EQ(test.ask(test.request("GET /api/state", header)).status, 403) << header;
  EXPECT_EQ(test.enter("token", "0").status, 403);
  TestWebSocket binary = test.open(), words = test.open(), longest = test.open();
  binary.connection.send(TestWebSocket::encode(0x82, "SND1"));
  words.send("set_position 3 5");
  longest.send(std::string(70'000, ' '));
  for (const char* logged : {"host \"evil.example\"", "origin \"http://evil.example\"", "a wrong secret", "wrong token",
                             "a binary message", "command", "more than 65536 bytes"})
    EXPECT_TRUE(test.log.gets(logged)) << logged << " in " << ::testing::PrintToString(test.log.lines());
}

TEST(ServerHttp, TheEndTellsOfRefusalsThatWereLeftOut) {
  TestServer test;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(test.ask(test.request("GET /" + std::to_string(i))).status, 404);
  EXPECT_FALSE(::testing::Value(test.log.lines(), ::testing::Contains(HasSubstr("/4"))));
  test.server.stop();
  EXPECT_THAT(test.log.lines(), ::testing::Contains(AllOf(HasSubstr("GET /4"), HasSubstr("(and 3 like it before)"))));
}

TEST(Server, APortIsHadByOneAtATime) {
  const TestServer test;
  const Index port = test.server.port();
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::io, [&] { const Server second({}, {.port = port}); }),
              HasSubstr("--port 0 takes a free one"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::io, [] { const Server none({}, {.host = "256.1.1.1"}); }),
              HasSubstr("256.1.1.1"));
}

TEST(Server, AnotherMayBeginOnThePortAtOnce) {
  Index port = 0;
  for (int i = 0; i < 3; ++i) {
    const TestServer test({}, {.port = port});
    port = test.server.port();
    const TestWebSocket client = test.open();
    EXPECT_EQ(test.ask(test.request("GET /healthz")).status, 200);
  }
}

TEST(Server, AProgramThatWasStartedMeanwhileKeepsNothingOpen) {
  Index port = 0;
  pid_t child = -1;
  {
    const TestServer test;
    port = test.server.port();
    TestConnection connection = test.connect();
    connection.send(test.request("GET /healthz"));
    EXPECT_EQ(read_answer(connection).status, 200) << "accepted";
    // Its end in the child closes when the other program begins: until then the child is a copy that holds everything.
    std::array<int, 2> begun{};
    ASSERT_EQ(pipe2(begun.data(), O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
      execl("/bin/sleep", "sleep", "600", nullptr);
      _exit(127);
    }
    close(begun[1]);
    char none = 0;
    EXPECT_EQ(read(begun[0], &none, 1), 0);
    close(begun[0]);
    connection.send(test.request("DELETE /", "Connection: close"));
    EXPECT_TRUE(connection.is_closed_by_server());
  }
  const TestServer again({}, {.port = port});
  EXPECT_EQ(again.ask(again.request("GET /healthz")).status, 200);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Server, AServerThatNeverStartedStops) {
  const TestLog log;
  Server server({}, {});
  server.stop();
  server.stop();
}

TEST(Server, AnInterruptEndsIt) {
  const TestLog log;
  Server server({}, {});
  request_interrupt(SIGINT);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::interrupted, [&] { server.run(); }), HasSubstr("interrupted"));
  clear_interrupt();
}

TEST(Server, StopEndsARunningOne) {
  const TestLog log;
  Server server({}, {});
  std::jthread running([&] { server.run(); });
  server.stop();
}

TEST(Server, BeyondTheLoopbackItWarns) {
  const TestLog log;
  const Server server({}, {.host = "0.0.0.0", .allow_host = {"localhost"}});
  EXPECT_TRUE(log.gets("ssh -N -L"));
}

}  // namespace
}  // namespace sonde::serve
