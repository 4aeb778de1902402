// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sonde/app/serve/limits.h"
#include "sonde/app/serve/options.h"
#include "sonde/engine/options/value.h"
#include "sonde/engine/panel/page.h"

namespace sonde::serve {

/// Shows one page to browsers: HTTP for the client and for files, one WebSocket (`sonde.view.v1`) per client. Threads
/// of its own speak with the network, others carry out commands. All members are thread-safe.
///
///   Server server(std::move(page), {.port = 8000});   // from now on the port is taken
///   open_browser(server.url_once());
///   server.run();                                     // until Ctrl-C
///
/// A program that has other work (a notebook) calls start() instead, and stop() or the destructor in the end.
class Server {
 public:
  /// Listens, but answers nobody yet. Throws Error(usage) for options that make no sense and Error(io) when the address
  /// cannot be had, naming it. What a person should know (no encryption beyond the loopback, a program without the
  /// viewer) goes to the log as a warning.
  Server(panel::Page page, const ServeOptions& options, const Limits& limits = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Stops.
  ~Server();

  /// "http://127.0.0.1:8000/?token=...": opens the page, and is as secret as the page.
  [[nodiscard]] std::string url() const;
  /// "http://127.0.0.1:8000/?code=...": opens one page, once and within ten minutes. For places that others can read,
  /// such as the list of processes and the file of a notebook.
  [[nodiscard]] std::string url_once();
  [[nodiscard]] std::uint16_t port() const;

  /// Begins to serve and returns at once. Does nothing when it was called before.
  void start();
  /// Serves until stop() is called from another thread (returns) or until an interrupt, which stops the server and is
  /// thrown on: Error(interrupted) or Error(terminated).
  void run();
  /// Notifies every client that the server ends, closes all connections, cancels the commands that are being carried
  /// out and waits for their end. A stopped server stays stopped; another may be made on the same port at once.
  void stop();

  /// {"clients", "commands", "replaced", "frames", "dropped", "refused"}: clients now, all else since the start.
  [[nodiscard]] Value stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::serve
