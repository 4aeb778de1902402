// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/access.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::serve {
namespace {

std::string in_url(const std::string& host) {
  return host.find(':') != std::string::npos && !host.starts_with('[') ? "[" + host + "]" : host;
}

bool is_wildcard(const std::string& host) { return host == "0.0.0.0" || host == "[::]"; }

bool is_loopback(const std::string& host) { return host == "localhost" || host == "[::1]" || host.starts_with("127."); }

}  // namespace

std::string make_token() {
  std::array<std::uint8_t, 16> bits{};
  std::size_t filled = 0;
  while (filled < bits.size()) {
    const ssize_t got = getrandom(bits.data() + filled, bits.size() - filled, 0);
    if (got < 0 && errno != EINTR) throw Error(ErrorKind::io, "the system's random source gives nothing");
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return fmt::format("{:02x}", fmt::join(bits, ""));
}

bool equal_secrets(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  // volatile: the loop must not become one that returns at the first difference.
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  return difference == 0;
}

Access::Access(const std::string& host, std::uint16_t port, std::string token, const std::vector<std::string>& embed_in)
    : host_(in_url(to_lower(host))),
      port_(port),
      token_(std::move(token)),
      cookie_name_(fmt::format("sonde_{}", port)),
      // 'self' alone forbids inline scripts and styles; what default-src does not cover is forbidden by name.
      policy_(
          fmt::format("default-src 'self'; connect-src 'self'; img-src 'self' blob:; worker-src 'self'; "
                      "style-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors {}",
                      embed_in.empty() ? "'none'" : fmt::format("{}", fmt::join(embed_in, " ")))) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "[::1]"};
  if (!is_wildcard(host_) && std::find(names.begin(), names.end(), host_) == names.end()) names.push_back(host_);
  for (const std::string& name : names) {
    hosts_.push_back(fmt::format("{}:{}", name, port));
    if (port == 80) hosts_.push_back(name);  // a browser leaves the usual port out
  }
}

bool Access::host_allowed(std::string_view host) const {
  return std::find(hosts_.begin(), hosts_.end(), to_lower(host)) != hosts_.end();
}

bool Access::origin_allowed(std::string_view origin, std::string_view host) const {
  constexpr std::string_view scheme = "http://";
  return host_allowed(host) && origin.starts_with(scheme) && to_lower(origin.substr(scheme.size())) == to_lower(host);
}

bool Access::token_valid(std::string_view token) const { return equal_secrets(token, token_); }

bool Access::cookie_valid(std::string_view cookie_header) const {
  for (const std::string& pair : split(cookie_header, ';')) {
    const std::string_view each = trim(pair);
    const std::size_t equals = each.find('=');
    if (equals != std::string_view::npos && each.substr(0, equals) == cookie_name_ &&
        token_valid(each.substr(equals + 1)))
      return true;
  }
  return false;
}

std::string Access::cookie() const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name_, token_);
}

std::string Access::allowed_hosts() const { return join_words(hosts_); }

std::string Access::url() const {
  const std::string reachable = host_ == "0.0.0.0" ? "127.0.0.1" : host_ == "[::]" ? "[::1]" : host_;
  return fmt::format("http://{}:{}/?token={}", reachable, port_, token_);
}

std::string Access::warning() const {
  if (is_loopback(host_)) return "";
  return fmt::format(
      "listening on {0}:{1} without encryption: whoever is on the way can read everything, the token too\n"
      "hint: leave --host out and reach the program from another machine through\n"
      "      ssh -N -L {1}:localhost:{1} USER@THIS-MACHINE\n"
      "      with the same port on both sides, then open the address with localhost",
      host_, port_);
}

}  // namespace sonde::serve
