// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace sonde::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string token = "0123456789abcdef0123456789abcdef";

Access loopback() { return {"127.0.0.1", 8000, token, {}}; }

TEST(Access, TokensHave128BitsAndNeverRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string made = make_token();
    EXPECT_EQ(made.size(), 32U);
    EXPECT_EQ(made.find_first_not_of("0123456789abcdef"), std::string::npos) << made;
    seen.insert(made);
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(Access, SecretsAreEqualInEveryByte) {
  EXPECT_TRUE(equal_secrets(token, token));
  EXPECT_TRUE(equal_secrets("", ""));
  EXPECT_FALSE(equal_secrets(token, ""));
  EXPECT_FALSE(equal_secrets(token, token + "0"));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string other = token;
    other[i] = 'x';
    EXPECT_FALSE(equal_secrets(token, other)) << "byte " << i;
  }
}

TEST(Access, OnlyOwnNamesWithTheOwnPortAreHosts) {
  const Access access = loopback();
  for (const char* host : {"localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LocalHost:8000"})
    EXPECT_TRUE(access.host_allowed(host)) << host;
  for (const char* host : {"", "localhost", "localhost:8001", "localhost:80000", "evil.example:8000",
                           "127.0.0.1.nip.io:8000", "localhost.evil.example:8000", "127.0.0.2:8000", "[::1]",
                           "localhost:8000:8000", "localhost:8000 ", "localhost:08000", "user@localhost:8000"})
    EXPECT_FALSE(access.host_allowed(host)) << host;
}

TEST(Access, TheHostThatIsListenedOnIsAllowedToo) {
  EXPECT_TRUE(Access("192.168.1.5", 8000, token, {}).host_allowed("192.168.1.5:8000"));
  EXPECT_TRUE(Access("Microscope.example", 8000, token, {}).host_allowed("microscope.example:8000"));
  EXPECT_TRUE(Access("fe80::1", 8000, token, {}).host_allowed("[fe80::1]:8000"));
  EXPECT_FALSE(Access("0.0.0.0", 8000, token, {}).host_allowed("0.0.0.0:8000")) << "no browser needs that name";
}

TEST(Access, AnAddressInAnotherSpellingIsWhatBrowsersMakeOfIt) {
  for (const auto& [given, written] :
       {std::pair("3232235781", "192.168.1.5"), std::pair("0xc0a80105", "192.168.1.5"), std::pair("127.1", "127.0.0.1"),
        std::pair("0:0:0:0:0:0:0:1", "::1"), std::pair("[FE80::01]", "fe80::1"),
        std::pair("Microscope.example", "microscope.example")})
    EXPECT_EQ(as_browsers_write(given), written);
  const Access access("3232235781", 8000, token, {});
  EXPECT_TRUE(access.host_allowed("192.168.1.5:8000"));
  EXPECT_EQ(access.url(), "http://192.168.1.5:8000/?token=" + token);
  EXPECT_EQ(Access("127.1", 8000, token, {}).warning(), "");
}

TEST(Access, EveryAddressHasManySpellings) {
  for (const char* host :
       {"0.0.0.0", "0", "0.0", "0x0", "::", "[::]", "0:0:0:0:0:0:0:0", "::0", "::ffff:0.0.0.0", "", "[]"})
    EXPECT_TRUE(is_wildcard(host)) << host;
  for (const char* host : {"127.0.0.1", "::1", "localhost", "0.example", "10.0.0.0", "1"})
    EXPECT_FALSE(is_wildcard(host)) << host;
}

TEST(Access, APortThatBrowsersLeaveOut) { EXPECT_TRUE(Access("localhost", 80, token, {}).host_allowed("localhost")); }

TEST(Access, OnlyThePageItselfIsAnOrigin) {
  const Access access = loopback();
  EXPECT_TRUE(access.origin_allowed("http://localhost:8000", "localhost:8000"));
  EXPECT_TRUE(access.origin_allowed("http://[::1]:8000", "[::1]:8000"));
  for (const char* origin :
       {"", "null", "http://localhost", "http://localhost:8888", "https://localhost:8000", "http://127.0.0.1:8000",
        "http://localhost:8000/", "http://localhost:8000.evil.example", "http://evil.example", "localhost:8000"})
    EXPECT_FALSE(access.origin_allowed(origin, "localhost:8000")) << origin;
  EXPECT_FALSE(access.origin_allowed("http://evil.example:8000", "evil.example:8000")) << "equal, but no host of ours";
}

TEST(Access, FurtherNamesMayBeAllowedWithTheirOwnPort) {
  const Access access("0.0.0.0", 8000, token, {}, {"Microscope.example", "localhost:9000", "fe80::1"});
  for (const char* host : {"microscope.example:8000", "localhost:9000", "localhost:8000", "[fe80::1]:8000"})
    EXPECT_TRUE(access.host_allowed(host)) << host;
  for (const char* host : {"microscope.example", "microscope.example:9000", "127.0.0.1:9000", "0.0.0.0:8000"})
    EXPECT_FALSE(access.host_allowed(host)) << host;
  EXPECT_TRUE(access.origin_allowed("http://microscope.example:8000", "microscope.example:8000"));
  EXPECT_FALSE(access.origin_allowed("http://localhost:8000", "microscope.example:8000"));
  EXPECT_EQ(access.url(), "http://microscope.example:8000/?token=" + token) << "what a browser can ask for";
}

TEST(Access, ASecretIsOnesOwnAndOnlyTheTokenMakesIt) {
  const Access access = loopback();
  const std::string one = access.make_secret(), other = access.make_secret();
  EXPECT_NE(one, other);
  EXPECT_TRUE(access.secret_valid(one));
  EXPECT_TRUE(access.secret_valid(other));
  EXPECT_TRUE(loopback().secret_valid(one)) << "of a server that was started again with the same token";
  EXPECT_FALSE(Access("127.0.0.1", 8000, make_token(), {}).secret_valid(one)) << "of another one";
  EXPECT_EQ(one.find(token), std::string::npos);
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::string changed = one;
    changed[i] = changed[i] == '0' ? '1' : '0';
    EXPECT_FALSE(access.secret_valid(changed)) << "digit " << i;
  }
  for (const std::string& wrong : {std::string(), token, one.substr(1), one.substr(0, 32), one + "0",
                                   one.substr(0, 32) + other.substr(32), std::string(one.size(), '0')})
    EXPECT_FALSE(access.secret_valid(wrong)) << wrong;
}

TEST(Codes, OpenOnce) {
  Codes codes;
  const std::string one = codes.make(), other = codes.make();
  EXPECT_FALSE(codes.use(token));
  EXPECT_FALSE(codes.use(""));
  EXPECT_TRUE(codes.use(other));
  EXPECT_FALSE(codes.use(other)) << "whoever reads it afterwards";
  EXPECT_TRUE(codes.use(one));
}

TEST(Codes, AreForgottenAfterTenMinutes) {
  auto now = std::chrono::steady_clock::now();
  Codes codes([&] { return now; });
  const std::string early = codes.make();
  now += std::chrono::minutes(9);
  const std::string late = codes.make();
  now += std::chrono::minutes(1);
  EXPECT_FALSE(codes.use(early));
  EXPECT_TRUE(codes.use(late));
}

TEST(Codes, AreFew) {
  Codes codes;
  const std::string first = codes.make(), second = codes.make();
  for (int i = 0; i < 63; ++i) (void)codes.make();
  EXPECT_FALSE(codes.use(first));
  EXPECT_TRUE(codes.use(second));
}

TEST(Access, NothingForeignIsLoadedAndNobodyFramesThePage) {
  const std::string policy = loopback().content_security_policy();
  for (const char* rule : {"default-src 'self'", "connect-src 'self'", "img-src 'self' blob:", "worker-src 'self'",
                           "style-src 'self'", "frame-ancestors 'none'"})
    EXPECT_THAT(policy, HasSubstr(rule));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  const Access jupyter("127.0.0.1", 8000, token, {"http://localhost:8888"});
  EXPECT_THAT(jupyter.content_security_policy(), HasSubstr("frame-ancestors http://localhost:8888"));
}

TEST(Access, TheAddressOpensThePage) {
  EXPECT_EQ(loopback().url(), "http://127.0.0.1:8000/?token=" + token);
  EXPECT_EQ(Access("::1", 8000, token, {}).url(), "http://[::1]:8000/?token=" + token);
  EXPECT_EQ(Access("0.0.0.0", 8000, token, {}).url(), "http://127.0.0.1:8000/?token=" + token);
  EXPECT_EQ(loopback().url_with_code("c0de"), "http://127.0.0.1:8000/?code=c0de");
}

TEST(Access, BeyondTheLoopbackTheSshLineIsTold) {
  EXPECT_EQ(loopback().warning(), "");
  EXPECT_EQ(Access("::1", 8000, token, {}).warning(), "");
  EXPECT_EQ(Access("localhost", 8000, token, {}).warning(), "");
  const std::string warning = Access("0.0.0.0", 8000, token, {}).warning();
  EXPECT_THAT(warning, HasSubstr("without encryption"));
  EXPECT_THAT(warning, HasSubstr("ssh -N -L 8000:localhost:8000"));
  EXPECT_THAT(warning, Not(HasSubstr(token)));
}

}  // namespace
}  // namespace sonde::serve
