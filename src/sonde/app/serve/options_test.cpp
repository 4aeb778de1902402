// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/options.h"

#include "tests/support/errors.h"

namespace sonde::serve {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

TEST(ServeOptions, DefaultsAreAFreePortOfTheLoopback) {
  ServeOptions options;
  options.check();
  EXPECT_EQ(options.host, "127.0.0.1");
  EXPECT_EQ(options.port, 0);
}

TEST(ServeOptions, APortThatDoesNotExistIsRefused) {
  ServeOptions options;
  Fields fields(options);
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { fields.assign_text("port", "65536", "--port"); }), HasSubstr("65535"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { ServeOptions{.port = -1}.check(); }), HasSubstr("no port -1"));
}

TEST(ServeOptions, ATokenThatCouldBeGuessedIsRefused) {
  const auto refused = [](const std::string& token) {
    return error_of(ErrorKind::usage, [&] { ServeOptions{.token = token}.check(); });
  };
  EXPECT_THAT(refused("secret"), HasSubstr("--token auto"));
  EXPECT_THAT(refused(""), HasSubstr("at least 16"));
  EXPECT_THAT(refused("sixteen and more&x=1"), HasSubstr("letters"));
  EXPECT_THAT(refused("0123456789abcdef\r\nSet-Cookie: a"), HasSubstr("letters"));
  ServeOptions{.token = "0123456789abcdef"}.check();
}

TEST(ServeOptions, EveryAddressNeedsAName) {
  for (const char* host : {"0.0.0.0", "::", "[::]", "0", "0.0", "::0"}) {
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { ServeOptions{.host = host}.check(); }),
                ::testing::AllOf(HasSubstr(std::string("--host ") + host + ": no browser can ask for this address"),
                                 HasSubstr("--allow-host NAME"), HasSubstr("ssh -N -L")));
    ServeOptions{.host = host, .allow_host = {"microscope.example"}}.check();
  }
  EXPECT_THAT(error_of(ErrorKind::usage, [] { ServeOptions{.host = ""}.check(); }),
              HasSubstr("--host \"\": no browser can ask for this address"));
  for (const char* name : {"", "0.0.0.0", "0", "http://microscope", "a/b", "a b", "a\r\nb", "*"})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { ServeOptions{.allow_host = {name}}.check(); }),
                HasSubstr("is not a name that a browser asks for"))
        << name;
  ServeOptions{.allow_host = {"microscope", "localhost:9000", "[fe80::1]:9000"}}.check();
}

TEST(ServeOptions, AnOriginIsASchemeAHostAndAPort) {
  const auto refused = [](const std::string& origin) {
    return error_of(ErrorKind::usage, [&] { ServeOptions{.embed_in = {origin}}.check(); });
  };
  EXPECT_THAT(refused("localhost:8888"), HasSubstr("localhost:8888"));
  EXPECT_THAT(refused("http://localhost:8888/lab"), HasSubstr("without a path"));
  EXPECT_THAT(refused("http://a; script-src *"), HasSubstr("origin"));
  EXPECT_THAT(refused("*"), HasSubstr("origin"));
  ServeOptions{.embed_in = {"http://localhost:8888", "https://hub.example.org"}}.check();
}

}  // namespace
}  // namespace sonde::serve
