// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::serve {

/// 128 bits of the operating system's random source as 32 hexadecimal digits. Throws Error(io) when there is none.
[[nodiscard]] std::string make_token();

/// Whether two secrets are equal, in a time that depends only on their lengths.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b);

/// A host as browsers write it into the Host header, without brackets: a numeric address in its usual form ("127.1" is
/// 127.0.0.1, "0" is 0.0.0.0), a name in lower case. Looks nothing up.
[[nodiscard]] std::string as_browsers_write(std::string_view host);

/// Whether an address stands for all of this machine, in any spelling, the empty one too: no browser can ask for it.
[[nodiscard]] bool is_wildcard(std::string_view host);

/// Who may speak with the server. The rules hold on the loopback too: every page in a browser on this machine can reach
/// it. A name that an attacker points at 127.0.0.1 fails at the Host header; a foreign page fails at Origin and has no
/// secret; another user of the machine lacks the token.
///
/// The page itself may be fetched by anybody: it holds no data. It exchanges the token of its address, or a code that
/// works once, for a secret of its own, which browsers keep apart by host and port.
class Access {
 public:
  /// `host` is the address that is listened on, `embed_in` the origins that may frame the page, `allow_host` further
  /// names (with a port, or with that of the server) under which browsers may reach it.
  Access(const std::string& host, std::uint16_t port, std::string token, const std::vector<std::string>& embed_in,
         const std::vector<std::string>& allow_host = {});

  /// localhost, 127.0.0.1, [::1] or the host that is listened on, each with the port that is listened on; and those
  /// that were allowed.
  [[nodiscard]] bool host_allowed(std::string_view host) const;
  /// Whether the Origin header is the page's own: exactly "http://" and the Host header of the same request.
  [[nodiscard]] bool origin_allowed(std::string_view origin, std::string_view host) const;
  [[nodiscard]] bool token_valid(std::string_view token) const;

  /// A secret for one page. It is made of random bits and of what only the holder of the token can make of them, so
  /// that nothing has to be remembered, and a server that is started again with the same token still knows it.
  [[nodiscard]] std::string make_secret() const;
  [[nodiscard]] bool secret_valid(std::string_view secret) const;

  [[nodiscard]] const std::string& content_security_policy() const { return policy_; }
  /// "localhost:8000, 127.0.0.1:8000 and [::1]:8000", for messages.
  [[nodiscard]] std::string allowed_hosts() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// "http://127.0.0.1:8000/?token=...".
  [[nodiscard]] std::string url() const;
  /// "http://127.0.0.1:8000/?code=...".
  [[nodiscard]] std::string url_with_code(const std::string& code) const;
  /// What to say about an address that other machines reach; empty for the loopback.
  [[nodiscard]] std::string warning() const;

 private:
  [[nodiscard]] std::string page() const;

  std::string host_;  ///< as in a URL: an IPv6 address has brackets
  std::uint16_t port_;
  std::string token_;
  std::string policy_;
  std::vector<std::string> hosts_;
  std::string reachable_;  ///< what a browser asks for, with the port
};

/// Codes that let one page in, once and for ten minutes: for addresses that others may read, in a notebook's file or in
/// the list of processes. Thread-safe.
class Codes {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  explicit Codes(Clock clock = std::chrono::steady_clock::now) : clock_(std::move(clock)) {}

  /// At most 64 are good at once; the oldest gives way.
  [[nodiscard]] std::string make();
  /// Whether it is good; it is not any more.
  [[nodiscard]] bool use(std::string_view code);

 private:
  struct Code {
    std::string text;
    std::chrono::steady_clock::time_point until;
  };
  void forget_old();

  const Clock clock_;
  std::mutex mutex_;
  std::vector<Code> codes_;  // oldest first
};

}  // namespace sonde::serve
