// SPDX-License-Identifier: Apache-2.0
// The server as its clients meet it, good ones and others.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "sonde/app/serve/test_page.h"

namespace sonde::serve {
namespace {

using ::testing::HasSubstr;

/// Until every command sent so far has been received: an unknown one is answered at once.
void wait_until_received(TestWebSocket& client, std::uint32_t id) {
  client.send(fmt::format(R"({{"id": {}, "command": "nothing"}})", id));
  EXPECT_EQ(text_at(client.receive_answer(id), "type"), "error");
}

TEST(ServerWebSocket, TellsThePageFirst) {
  const TestServer test;
  TestWebSocket client(test.server.port(), test.secret);
  ASSERT_TRUE(client.is_open()) << client.head;
  EXPECT_EQ(client.head.find("permessage-deflate"), std::string::npos);
  const Value page = client.receive_json();
  EXPECT_EQ(text_at(page, "type"), "page");
  EXPECT_EQ(text_at(page, "protocol"), "sonde.view.v1");
  EXPECT_EQ(number_at(page, "client"), 1);
  EXPECT_EQ(text_at(page, "state"), "the state");
  EXPECT_EQ(page.find("actions")->size(), 5U);
}

TEST(ServerWebSocket, ACommandIsAnsweredWithItsId) {
  const TestServer test;
  TestWebSocket client = test.open();
  client.send(R"({"id": 17, "command": "set", "frames": 1, "bytes": 1000})");
  EXPECT_EQ(client.receive_frame().request, 17U);
  const Value reply = client.receive_json();
  EXPECT_EQ(text_at(reply, "type"), "reply");
  EXPECT_EQ(number_at(reply, "id"), 17);
  EXPECT_EQ(text_at(reply, "command"), "set");
}

TEST(ServerWebSocket, AMessageMayComeInPieces) {
  const TestServer test;
  TestWebSocket client = test.open();
  client.connection.send(TestWebSocket::encode(TestWebSocket::text, R"({"id": 1, "com)"));
  client.connection.send(TestWebSocket::encode(0x80 | TestWebSocket::ping, "still here"));
  client.connection.send(TestWebSocket::encode(0x80 | TestWebSocket::continuation, R"(mand": "each"})"));
  EXPECT_EQ(number_at(client.receive_answer(1), "id"), 1);
}

TEST(ServerWebSocket, ErrorsAreAnswers) {
  const TestServer test;
  TestWebSocket client = test.open();
  client.send(R"({"id": 1, "command": "fail"})");
  Value error = client.receive_answer(1);
  EXPECT_EQ(text_at(error, "type"), "error");
  EXPECT_EQ(text_at(error, "kind"), "bad_input");
  EXPECT_EQ(text_at(error, "hint"), "channels are 0 to 7");
  client.send(R"({"id": 2, "command": "eech"})");
  EXPECT_THAT(text_at(client.receive_answer(2), "message"), HasSubstr("did you mean \"each\""));
  client.send(R"({"id": 3, "command": "crash"})");
  error = client.receive_answer(3);
  EXPECT_EQ(text_at(error, "kind"), "internal");
  EXPECT_TRUE(test.log.gets("crash: unexpected: a bug"));
  client.send(R"([1])");
  EXPECT_EQ(text_at(client.receive_answer(0), "kind"), "bad_input");
  client.send(R"({"id": 4, "command": "each"})");
  EXPECT_EQ(text_at(client.receive_answer(4), "type"), "reply") << "it continues after each of them";
}

TEST(ServerWebSocket, AFloodEndsWithTheAnswerToTheLast) {
  TestServer test;
  TestWebSocket client = test.open();
  test.stage.hold();
  for (int id = 1; id <= 500; ++id)
    client.send(fmt::format(R"({{"id": {}, "command": "set", "channel": 0, "frames": 1, "bytes": 4}})", id));
  wait_until_received(client, 501);
  test.stage.pass();
  const Value last = client.receive_answer(500);
  EXPECT_EQ(text_at(last, "type"), "reply");
  client.send(R"({"id": 502, "command": "stats"})");
  const Value stats = client.receive_answer(502);
  // The first may have begun before the second came; all others between were replaced.
  EXPECT_LE(number_at(stats, "commands"), 3);
  EXPECT_EQ(number_at(stats, "commands") + number_at(stats, "replaced"), 501);
  EXPECT_EQ(number_at(stats, "frames") + number_at(stats, "dropped"), number_at(stats, "commands") - 1);
}

TEST(ServerWebSocket, ChannelsDoNotReplaceEachOther) {
  TestServer test;
  TestWebSocket client = test.open();
  test.stage.hold();
  client.send(R"({"id": 1, "command": "each"})");
  for (int id = 2; id <= 41; ++id)
    client.send(fmt::format(R"({{"id": {}, "command": "set", "channel": {}}})", id, id % 2));
  wait_until_received(client, 42);
  test.stage.pass();
  EXPECT_EQ(number_at(client.receive_answer(40), "channel"), 0);
  EXPECT_EQ(number_at(client.receive_answer(41), "channel"), 1);
}

TEST(ServerWebSocket, CommandsThatAllCountAreBounded) {
  TestServer test;
  TestWebSocket client = test.open();
  test.stage.hold();
  for (int id = 1; id <= 100; ++id) client.send(fmt::format(R"({{"id": {}, "command": "each"}})", id));
  const Value refused = client.receive_answer(100);
  EXPECT_EQ(text_at(refused, "kind"), "budget");
  EXPECT_THAT(text_at(refused, "message"), HasSubstr("64 commands wait"));
  test.stage.pass();
  EXPECT_EQ(text_at(client.receive_answer(64), "type"), "reply");
}

TEST(ServerWebSocket, OneFrameWaitsForASlowReader) {
  TestServer test;
  TestWebSocket client = test.open(4096);
  constexpr int mebibyte = 1 << 20;
  client.send(fmt::format(R"({{"id": 1, "command": "set", "frames": 500, "bytes": {}}})", mebibyte));
  std::uint32_t frames = 0, last = 0;
  while (last < 500) {
    const std::uint32_t request = client.receive_frame().request;
    ASSERT_GT(request, last);
    last = request;
    ++frames;
  }
  EXPECT_LT(frames, 500U) << "nothing was left out";
  // One in the making, one that waits, one on its way, and one that is being exchanged.
  EXPECT_LE(test.stage.most_payloads, 4);
  client.send(R"({"id": 1000, "command": "stats"})");
  const Value stats = client.receive_answer(1000);
  EXPECT_EQ(number_at(stats, "frames"), frames);
  EXPECT_EQ(number_at(stats, "frames") + number_at(stats, "dropped"), 500);
}

TEST(ServerWebSocket, TwoClientsAreIndependent) {
  TestServer test;
  TestWebSocket one = test.open();
  test.stage.hold();
  one.send(R"({"id": 1, "command": "each"})");
  TestWebSocket other = test.open();
  other.send(R"({"id": 1, "command": "nothing"})");
  EXPECT_EQ(text_at(other.receive_answer(1), "type"), "error") << "answered while the first is held up";
  EXPECT_EQ(number_at(test.server.stats(), "clients"), 2);
  test.stage.pass();
  EXPECT_EQ(text_at(one.receive_answer(1), "type"), "reply");
  for (int id = 2; id <= 20; ++id) {
    one.send(fmt::format(R"({{"id": {}, "command": "each", "row": {}}})", id, id));
    other.send(fmt::format(R"({{"id": {}, "command": "each", "row": {}}})", id, -id));
  }
  for (std::uint32_t id = 2; id <= 20; ++id) {
    EXPECT_EQ(number_at(one.receive_answer(id), "row"), id);
    EXPECT_EQ(number_at(other.receive_answer(id), "row"), -static_cast<double>(id));
  }
}

TEST(ServerWebSocket, ClientsAreCounted) {
  TestServer test;
  std::vector<TestWebSocket> clients;
  for (int i = 0; i < 16; ++i) clients.push_back(test.open());
  TestWebSocket refused(test.server.port(), test.secret);
  EXPECT_EQ(refused.receive_close(), 1013U) << "try again later";
  EXPECT_TRUE(test.log.gets("too many clients"));
  clients.pop_back();
  test.stage.wait_for_ended(1);
  const TestWebSocket next = test.open();
}

TEST(ServerWebSocket, WithoutTheSecretNothingIsSaid) {
  const TestServer other, test;  // the log is that of the last
  for (const std::string& secret : {std::string("guessed"), test.token, other.secret, test.secret + "0"}) {
    TestWebSocket socket(test.server.port(), secret);
    ASSERT_TRUE(socket.is_open());
    EXPECT_EQ(socket.receive_close(), 1008U) << "against the rules";
  }
  for (const char* first : {R"({"id": 1, "command": "each"})", "{}", "[]", "x"}) {
    TestWebSocket socket(test.server.port(), "");
    socket.send(first);
    const TestWebSocket::Message answer = socket.receive();
    EXPECT_EQ(answer.opcode, TestWebSocket::close) << first;
  }
  EXPECT_TRUE(test.log.gets("without the secret of this server"));
  EXPECT_EQ(number_at(test.server.stats(), "clients"), 0);
}

TEST(ServerWebSocket, TheFirstMessageIsShort) {
  const TestServer test;
  TestWebSocket socket(test.server.port(), std::string(2000, 'x'));
  EXPECT_EQ(socket.receive_close(), 1009U);
}

TEST(ServerWebSocket, WhoShowsNoSecretIsCutOffAndTakesNoPlace) {
  Limits limits;
  limits.handshake = std::chrono::milliseconds(300);
  limits.clients = 2;
  const TestServer test(limits);
  std::vector<TestWebSocket> silent;
  for (int i = 0; i < 4; ++i) silent.emplace_back(test.server.port(), "");
  const TestWebSocket one = test.open(), other = test.open();
  for (TestWebSocket& each : silent) EXPECT_TRUE(each.connection.is_closed_by_server());
  EXPECT_TRUE(test.log.gets("no secret came in time"));
  EXPECT_EQ(number_at(test.server.stats(), "clients"), 2);
}

struct Malformed {
  const char* name;
  std::string bytes;
  unsigned code;  ///< of the closing frame
  const char* logged;
};

class ServerEnds : public ::testing::TestWithParam<Malformed> {};

TEST_P(ServerEnds, WhoBreaksTheProtocol) {
  TestServer test;
  TestWebSocket good = test.open(), bad = test.open();
  bad.connection.send(GetParam().bytes);
  const unsigned code = bad.receive_close();
  EXPECT_TRUE(code == GetParam().code || code == 0) << code;  // 0: the rest of what was sent made the system reset it
  bad.connection.close();
  test.stage.wait_for_ended(1);
  EXPECT_TRUE(test.log.gets(GetParam().logged)) << ::testing::PrintToString(test.log.lines());
  good.send(R"({"id": 1, "command": "each"})");
  EXPECT_EQ(text_at(good.receive_answer(1), "type"), "reply") << "the other is unharmed";
}

std::string frame(unsigned first_byte, std::string_view payload, bool masked = true) {
  return TestWebSocket::encode(first_byte, payload, masked);
}

INSTANTIATE_TEST_SUITE_P(
    , ServerEnds,
    ::testing::Values(
        Malformed{"BinaryMessage", frame(0x82, "SND1 and more"), 1003, "a binary message"},
        Malformed{"NoJson", frame(0x81, "set_position 3 5"), 1007, "command"},
        Malformed{"Utf8ThatIsNone", frame(0x81, "{\"id\": 1, \"command\": \"\xFF\xFE\"}"), 1007, "ended client"},
        Malformed{"TooLong", frame(0x81, std::string(70'000, ' ')), 1009, "more than 65536 bytes"},
        Malformed{"TooLongInPieces", frame(0x01, std::string(40'000, ' ')) + frame(0x80, std::string(40'000, ' ')),
                  1009, "more than 65536 bytes"},
        Malformed{"AnnouncesExabytes", std::string("\x81\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1\2\3\4", 14), 1009,
                  "more than 65536 bytes"},
        Malformed{"NotMasked", frame(0x81, R"({"id": 1, "command": "each"})", false), 1002, "against the protocol"},
        Malformed{"UnknownOpcode", frame(0x83, "x"), 1002, "against the protocol"},
        Malformed{"ReservedBit", frame(0xC1, "x"), 1002, "against the protocol"},
        Malformed{"PieceOfNothing", frame(0x80, "x"), 1002, "against the protocol"},
        Malformed{"LongPing", frame(0x89, std::string(126, 'x')), 1002, "against the protocol"}),
    [](const auto& each) { return each.param.name; });

TEST(ServerWebSocket, WhoNeverReadsIsEnded) {
  TestServer test;
  TestWebSocket good = test.open(), bad = test.open(4096);
  // 400 answers of 64 KiB: three times what may wait.
  bad.send(R"({"id": 1, "command": "each", "texts": 400, "bytes": 65536})");
  test.stage.wait_for_ended(1);
  EXPECT_TRUE(test.log.gets("reads too slowly")) << ::testing::PrintToString(test.log.lines());
  good.send(R"({"id": 1, "command": "each"})");
  EXPECT_EQ(text_at(good.receive_answer(1), "type"), "reply");
}

TEST(ServerWebSocket, WhoGivesNoSignOfLifeIsEnded) {
  Limits limits;
  limits.silence = std::chrono::milliseconds(200);
  TestServer test(limits);
  TestWebSocket client = test.open();
  EXPECT_TRUE(client.connection.is_closed_by_server()) << "pings are not answered here";
  test.stage.wait_for_ended(1);
  EXPECT_TRUE(test.log.gets("no sign of life"));
}

TEST(ServerWebSocket, AClientThatLeavesInTheMiddleHarmsNobody) {
  TestServer test;
  TestWebSocket good = test.open();
  for (int i = 1; i <= 10; ++i) {
    TestWebSocket bad = test.open(4096);
    bad.send(R"({"id": 1, "command": "each", "frames": 3, "bytes": 4000000})");
    EXPECT_EQ(bad.connection.read(1000).size(), 1000U) << "in the middle of a frame";
    bad.connection.reset();
    test.stage.wait_for_ended(i);
  }
  for (int i = 11; i <= 20; ++i) {
    TestWebSocket bad = test.open();
    bad.connection.send(TestWebSocket::encode(0x81, R"({"id": 1, "command": "each"})").substr(0, 10));
    bad.connection.reset();
    test.stage.wait_for_ended(i);
  }
  good.send(R"({"id": 1, "command": "each", "frames": 1, "bytes": 4})");
  EXPECT_EQ(good.receive_frame().request, 1U);
  good.connection.close();
  test.stage.wait_for_ended(21);
  test.server.stop();
  EXPECT_EQ(test.stage.payloads, 0) << "frames of those who left are gone";
}

TEST(ServerWebSocket, WhatASessionSendsAfterItsClientLeftIsDropped) {
  TestServer test;
  {
    TestWebSocket client = test.open();
    test.stage.hold();
    client.send(R"({"id": 1, "command": "each", "frames": 5, "bytes": 1000})");
    wait_until_received(client, 2);
  }
  while (number_at(test.server.stats(), "clients") > 0) std::this_thread::yield();
  test.stage.pass();
  test.server.stop();
  test.stage.wait_for_ended(1);
  EXPECT_EQ(test.stage.payloads, 0);
}

TEST(ServerWebSocket, WorkOfAClientThatLeftIsCancelled) {
  TestServer test;
  {
    TestWebSocket client = test.open();
    client.send(R"({"id": 1, "command": "work"})");
    test.stage.wait_for_work(1);
  }
  test.stage.wait_for_ended(1);
}

TEST(ServerWebSocket, WorkThatTakesTooLongGivesWayToANewerCommand) {
  Limits limits;
  limits.patience = std::chrono::milliseconds(0);
  TestServer test(limits);
  TestWebSocket client = test.open();
  client.send(R"({"id": 1, "command": "work", "channel": 1})");
  test.stage.wait_for_work(1);
  client.send(R"({"id": 2, "command": "each"})");
  client.send(R"({"id": 3, "command": "work", "channel": 1})");
  EXPECT_EQ(number_at(client.receive_answer(2), "id"), 2) << "what waited behind it";
  test.stage.wait_for_work(2);
  const Value stats = test.server.stats();
  EXPECT_EQ(number_at(stats, "replaced"), 1) << "it has no answer, like one that was never begun";
  EXPECT_EQ(number_at(stats, "commands"), 2);
}

TEST(ServerWebSocket, TheEndCancelsWhatIsBeingDone) {
  TestServer test;
  std::vector<TestWebSocket> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(test.open());  // while the others work
    clients.back().send(R"({"id": 1, "command": "work"})");
    test.stage.wait_for_work(i + 1);
  }
  test.server.stop();
  test.stage.wait_for_ended(6);
}

TEST(ServerWebSocket, TheEndIsTold) {
  TestServer test;
  TestWebSocket client = test.open();
  const std::jthread stopping([&] { test.server.stop(); });
  const Value closing = client.receive_json();
  EXPECT_EQ(text_at(closing, "type"), "event");
  EXPECT_EQ(text_at(closing, "event"), "closing");
  EXPECT_EQ(client.receive_close(), 1001U) << "going away";
  client.connection.close();  // before `stopping` waits for it
}

TEST(ServerWebSocket, TheEndWaitsForWhatIsBeingDone) {
  TestServer test;
  TestWebSocket client = test.open();
  test.stage.hold();
  client.send(R"({"id": 1, "command": "each", "frames": 3, "bytes": 1000})");
  client.send(R"({"id": 2, "command": "each"})");
  wait_until_received(client, 3);
  TestConnection exporting = test.connect();
  exporting.send(test.request("POST /api/export", "", R"({"client": 1, "format": "csv"})"));
  const std::jthread stopping([&] { test.server.stop(); });
  EXPECT_EQ(client.receive_close(), 1001U);
  client.connection.close();
  EXPECT_TRUE(exporting.is_closed_by_server());
  test.stage.pass();
  test.stage.wait_for_ended(1);
}

TEST(ServerWebSocket, TheEndWaitsForNobodyWhoDoesNotListen) {
  Limits limits;
  limits.last_word = std::chrono::milliseconds(50);
  TestServer test(limits);
  TestWebSocket client = test.open(4096);
  client.send(R"({"id": 1, "command": "each", "frames": 1, "bytes": 16000000})");
  EXPECT_EQ(client.connection.read(1000).size(), 1000U);
  test.server.stop();
  test.stage.wait_for_ended(1);
}

}  // namespace
}  // namespace sonde::serve
