// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sonde/app/serve/access.h"
#include "sonde/engine/base/error.h"

namespace sonde::serve {
namespace {

// 16 letters and digits of 64 kinds are 96 bits; the token that is made here has 128.
constexpr std::size_t shortest_token = 16;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

void check_host(const std::string& host) {
  const bool plain = !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return is_word_character(c) || c == '.' || c == ':' || c == '[' || c == ']';
  });
  if (!plain || is_wildcard(host))
    throw Error(ErrorKind::usage, fmt::format("--allow-host: \"{}\" is not a name that a browser asks for", host))
        .hint(
            "give the name of this machine, with a port where another one is forwarded: microscope.example or "
            "localhost:9000");
}

void check_origin(std::string_view origin) {
  std::string_view rest = origin;
  const bool known = rest.starts_with("http://") || rest.starts_with("https://");
  if (known) rest.remove_prefix(rest.find("//") + 2);
  const bool plain = !rest.empty() && std::all_of(rest.begin(), rest.end(), [](char c) {
    return is_word_character(c) || c == '.' || c == ':' || c == '[' || c == ']';
  });
  if (!known || !plain)
    throw Error(ErrorKind::usage, fmt::format("--embed-in: \"{}\" is not an origin", origin))
        .hint("an origin is a scheme, a host and a port without a path: http://localhost:8888");
}

}  // namespace

void ServeOptions::describe(Fields& fields) {
  fields.add("host", host, {.help = "address to listen on; another than the loopback is not encrypted"});
  fields.add("port", port, {.help = "port to listen on; 0 takes a free one", .min = 0, .max = 65535});
  fields.add("token", token,
             {.help = "secret in the address; auto makes one of 128 random bits", .metavar = "TEXT|auto"});
  fields.add("allow_host", allow_host,
             {.help = "name under which browsers may reach the server besides localhost and --host; may be repeated",
              .metavar = "NAME[:PORT]"});
  fields.add("embed_in", embed_in,
             {.help = "origin whose pages may show the viewer in a frame, such as a Jupyter server; may be repeated",
              .metavar = "ORIGIN"});
}

void ServeOptions::check() const {
  if (token != "auto" && (token.size() < shortest_token || !std::all_of(token.begin(), token.end(), is_word_character)))
    throw Error(ErrorKind::usage, fmt::format("--token: expected at least {} letters, digits, \"-\" or \"_\", got {}",
                                              shortest_token, token.size()))
        .hint("--token auto makes a good one");
  if (port < 0 || port > 65535) throw Error(ErrorKind::usage, fmt::format("--port: there is no port {}", port));
  for (const std::string& name : allow_host) check_host(name);
  if (is_wildcard(host) && allow_host.empty())
    throw Error(ErrorKind::usage,
                fmt::format("--host {}: no browser can ask for this address; a name of this machine is needed",
                            host.empty() ? "\"\"" : host))
        .hint(
            "--allow-host NAME allows one; safer is to leave --host out and forward the port: ssh -N -L "
            "PORT:localhost:PORT USER@MACHINE");
  for (const std::string& origin : embed_in) check_origin(origin);
}

}  // namespace sonde::serve
