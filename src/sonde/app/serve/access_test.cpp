// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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

TEST(Access, TheCookieIsFoundAmongThoseOfOtherPorts) {
  const Access access = loopback();
  EXPECT_TRUE(access.cookie_valid("sonde_8000=" + token));
  EXPECT_TRUE(access.cookie_valid("_xsrf=2|a; sonde_8001=" + std::string(32, 'f') + "; sonde_8000=" + token + "; b=c"));
  EXPECT_TRUE(access.cookie_valid("sonde_8000=old; sonde_8000=" + token)) << "a forged one beside it does no harm";
  for (const std::string& header :
       {std::string(), std::string("sonde_8000"), std::string("sonde_8000="), "sonde_8001=" + token, token,
        "sonde_8000=" + token + "0", "sonde_8000=\"" + token + "\"", "xsonde_8000=" + token, "SONDE_8000=" + token})
    EXPECT_FALSE(access.cookie_valid(header)) << header;
}

TEST(Access, TheCookieIsOutOfReachOfScriptsAndForeignPages) {
  const std::string cookie = loopback().cookie();
  EXPECT_EQ(cookie, "sonde_8000=" + token + "; Path=/; HttpOnly; SameSite=Strict");
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
