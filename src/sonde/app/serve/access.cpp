// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/sha256.h"
#include "sonde/engine/base/text.h"

namespace sonde::serve {
namespace {

std::string in_url(const std::string& host) {
  return host.find(':') != std::string::npos && !host.starts_with('[') ? "[" + host + "]" : host;
}

/// Not every colon of an IPv6 address is followed by a port.
bool has_port(const std::string& host) {
  if (host.starts_with('[')) return host.find("]:") != std::string::npos;
  return std::count(host.begin(), host.end(), ':') == 1;
}

constexpr std::size_t nonce_digits = 32;
constexpr std::size_t most_codes = 64;
constexpr std::chrono::minutes life_of_a_code(10);

std::string seal(std::string_view token, std::string_view nonce) {
  return hexadecimal(hmac_sha256(token, fmt::format("sonde session {}", nonce)));
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "[::1]" || host.starts_with("127."); }

}  // namespace

std::string as_browsers_write(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string name = to_lower(host);
  addrinfo numeric_only{};
  numeric_only.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  // An address of one interface ("fe80::1%eth0") is left as it was written.
  if (name.find('%') != std::string::npos || getaddrinfo(name.c_str(), nullptr, &numeric_only, &found) != 0)
    return name;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* address =
      found->ai_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(found->ai_addr)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr;
  const char* made = inet_ntop(found->ai_family, address, text.data(), text.size());
  return made == nullptr ? name : made;
}

bool is_wildcard(std::string_view host) {
  const std::string address = as_browsers_write(host);
  return address.empty() || address == "0.0.0.0" || address == "::" || address == "::ffff:0.0.0.0";
}

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

Access::Access(const std::string& host, std::uint16_t port, std::string token, const std::vector<std::string>& embed_in,
               const std::vector<std::string>& allow_host)
    : host_(in_url(as_browsers_write(host))),
      port_(port),
      token_(std::move(token)),
      // 'self' by itself forbids inline scripts and styles; what default-src does not cover is forbidden by name.
      policy_(
          fmt::format("default-src 'self'; connect-src 'self'; img-src 'self' blob:; worker-src 'self'; "
                      "style-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors {}",
                      embed_in.empty() ? "'none'" : fmt::format("{}", fmt::join(embed_in, " ")))) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "[::1]"};
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (!is_wildcard(host_)) add(host_);
  for (const std::string& name : allow_host) add(has_port(name) ? to_lower(name) : in_url(to_lower(name)));
  for (const std::string& name : names) {
    hosts_.push_back(has_port(name) ? name : fmt::format("{}:{}", name, port));
    if (port == 80 && !has_port(name)) hosts_.push_back(name);  // a browser leaves the usual port out
  }
  const std::string first = !is_wildcard(host_)   ? host_
                            : !allow_host.empty() ? in_url(to_lower(allow_host.front()))
                            : host_ == "0.0.0.0"  ? "127.0.0.1"
                                                  : "[::1]";
  reachable_ = has_port(first) ? first : fmt::format("{}:{}", first, port);
}

bool Access::host_allowed(std::string_view host) const {
  return std::find(hosts_.begin(), hosts_.end(), to_lower(host)) != hosts_.end();
}

bool Access::origin_allowed(std::string_view origin, std::string_view host) const {
  constexpr std::string_view scheme = "http://";
  return host_allowed(host) && origin.starts_with(scheme) && to_lower(origin.substr(scheme.size())) == to_lower(host);
}

bool Access::token_valid(std::string_view token) const { return equal_secrets(token, token_); }

std::string Access::make_secret() const {
  const std::string nonce = make_token();
  return nonce + seal(token_, nonce);
}

bool Access::secret_valid(std::string_view secret) const {
  const std::string_view nonce = secret.substr(0, nonce_digits);
  return equal_secrets(secret.substr(nonce.size()), seal(token_, nonce)) && nonce.size() == nonce_digits;
}

std::string Access::allowed_hosts() const { return join_words(hosts_); }

std::string Access::page() const { return fmt::format("http://{}/", reachable_); }

std::string Access::url() const { return page() + "?token=" + token_; }

std::string Access::url_with_code(const std::string& code) const { return page() + "?code=" + code; }

std::string Access::warning() const {
  if (is_loopback(host_)) return "";
  return fmt::format(
      "listening on {0}:{1} without encryption: everything can be read on its way, the token too\n"
      "hint: leave --host out and reach the program from another machine through\n"
      "      ssh -N -L {1}:localhost:{1} USER@THIS-MACHINE\n"
      "      with the same port on both sides, then open the address with localhost",
      host_, port_);
}

void Codes::forget_old() {
  const auto now = clock_();
  std::erase_if(codes_, [&](const Code& each) { return each.until <= now; });
}

std::string Codes::make() {
  const std::lock_guard lock(mutex_);
  forget_old();
  if (codes_.size() == most_codes) codes_.erase(codes_.begin());
  codes_.push_back({make_token(), clock_() + life_of_a_code});
  return codes_.back().text;
}

bool Codes::use(std::string_view code) {
  const std::lock_guard lock(mutex_);
  forget_old();
  // All are compared, so that the time says nothing of the place.
  std::size_t found = codes_.size();
  for (std::size_t i = 0; i < codes_.size(); ++i)
    if (equal_secrets(codes_[i].text, code)) found = i;
  if (found == codes_.size()) return false;
  codes_.erase(codes_.begin() + static_cast<std::ptrdiff_t>(found));
  return true;
}

}  // namespace sonde::serve
