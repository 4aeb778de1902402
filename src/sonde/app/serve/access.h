// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::serve {

/// 128 bits of the operating system's random source as 32 hexadecimal digits. Throws Error(io) when there is none.
[[nodiscard]] std::string make_token();

/// Whether two secrets are equal, in a time that depends on their lengths alone.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b);

/// Who may speak with the server. The rules hold on the loopback too: every page in a browser on this machine can reach
/// it. A name that an attacker points at 127.0.0.1 fails at the Host header; a foreign page fails at Origin and at the
/// cookie, which browsers do not send along with foreign requests; another user of the machine lacks the token.
class Access {
 public:
  /// `host` is the address that is listened on, `embed_in` the origins that may frame the page.
  Access(const std::string& host, std::uint16_t port, std::string token, const std::vector<std::string>& embed_in);

  /// localhost, 127.0.0.1, [::1] or the host that is listened on, each with the port that is listened on.
  [[nodiscard]] bool host_allowed(std::string_view host) const;
  /// Whether the Origin header is the page's own: exactly "http://" and the Host header of the same request.
  [[nodiscard]] bool origin_allowed(std::string_view origin, std::string_view host) const;
  [[nodiscard]] bool token_valid(std::string_view token) const;
  /// Whether a Cookie header holds ours. Cookies of other servers on this machine stand beside it.
  [[nodiscard]] bool cookie_valid(std::string_view cookie_header) const;

  /// The Set-Cookie header that a valid token is exchanged for. The name has the port in it: cookies of one host are
  /// shared by all its ports.
  [[nodiscard]] std::string cookie() const;
  [[nodiscard]] const std::string& content_security_policy() const { return policy_; }
  /// "localhost:8000, 127.0.0.1:8000 and [::1]:8000", for messages.
  [[nodiscard]] std::string allowed_hosts() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// "http://127.0.0.1:8000/?token=...".
  [[nodiscard]] std::string url() const;
  /// What to say about an address that other machines reach; empty for the loopback.
  [[nodiscard]] std::string warning() const;

 private:
  std::string host_;  ///< as in a URL: an IPv6 address has brackets
  std::uint16_t port_;
  std::string token_;
  std::string cookie_name_;
  std::string policy_;
  std::vector<std::string> hosts_;
};

}  // namespace sonde::serve
