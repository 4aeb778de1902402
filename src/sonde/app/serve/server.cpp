// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "sonde/app/serve/http_connection.h"
#include "sonde/app/serve/service.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/log.h"

namespace sonde::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Two: while one copies a large frame into the kernel, the other answers.
constexpr int network_threads = 2;
// What the kernel holds back of a slow reader's frames cannot be replaced by newer ones any more, so it is little.
constexpr int send_buffer_bytes = 256 * 1024;
// How soon the log reports refusals that were left out of it.
constexpr std::chrono::seconds flush_every(10);

/// A program that is started meanwhile (the browser) would keep the port and the connections open after our end.
void keep_from_children(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

tcp::acceptor listen(asio::io_context& network, const ServeOptions& options) {
  error_code error;
  const auto failed = [&](const char* what) {
    Error failure(ErrorKind::io, fmt::format("{}:{}: {}: {}", options.host, options.port, what, error.message()));
    if (error == asio::error::address_in_use) failure.hint("another program uses this port; --port 0 takes a free one");
    if (error == asio::error::access_denied) failure.hint("ports below 1024 are reserved; --port 0 takes a free one");
    return failure;
  };
  std::string host = options.host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  tcp::resolver resolver(network);
  const auto found = resolver.resolve(host, std::to_string(options.port), tcp::resolver::passive, error);
  if (error || found.empty()) throw failed("no such address").hint("--host 127.0.0.1 is this machine only");
  const tcp::endpoint endpoint = found.begin()->endpoint();
  tcp::acceptor acceptor(asio::make_strand(network));
  acceptor.open(endpoint.protocol(), error);
  if (!error) keep_from_children(acceptor.native_handle());
  // A server that is started again finds the port of the one before free, although its last connections still linger.
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) throw failed("cannot listen");
  return acceptor;
}

/// Starts threads that run `body`: fewer than are wanted where a limit of addresses or processes leaves no room for
/// more.
template <class Body>
std::vector<std::jthread> start_threads(std::size_t wanted, Body body) {
  std::vector<std::jthread> threads;
  try {
    while (threads.size() < wanted) threads.emplace_back(body);
  } catch (const std::system_error& error) {
    if (threads.empty())
      throw Error(ErrorKind::budget, fmt::format("the system gave no thread to the server: {}", error.what()))
          .hint("raise the limit of the address space (ulimit -v) or of processes (ulimit -u)");
  }
  return threads;
}

/// Of `wanted` threads those for which a limited address space has room twice, so that the threads of others (network,
/// loading, loops) have some too: each takes its stack and an arena of malloc.
std::size_t with_room(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t each = std::size_t{128} << 20;
  return std::clamp<std::size_t>((std::max<std::size_t>(limit.rlim_cur, used) - used) / (2 * each), 1, wanted);
}

/// Threads that carry commands out. (asio::thread_pool waits for ever when it cannot start all of its threads.)
class Compute {
 public:
  explicit Compute(std::size_t threads) : threads_(start_threads(with_room(threads), [this] { context_.run(); })) {}
  ~Compute() {
    context_.stop();
    threads_.clear();
  }
  [[nodiscard]] auto strand() { return asio::make_strand(context_); }
  /// Waits for what was posted.
  void join() {
    work_.reset();
    threads_.clear();
  }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::vector<std::jthread> threads_;
};

}  // namespace

struct Server::State {
  State(panel::Page page, const ServeOptions& options, const Limits& limits)
      // As many as there may be clients: none waits for a command of another. Each uses all cores by itself.
      : compute(limits.clients),
        acceptor(listen(network, options)),
        pause(acceptor.get_executor()),
        tick(acceptor.get_executor()) {
    service.emplace(
        std::move(page),
        Access(options.host, acceptor.local_endpoint().port(), options.token == "auto" ? make_token() : options.token,
               options.embed_in, options.allow_host),
        viewer_assets(), network, limits);
    service->new_turn = [this]() -> Client::Turn {
      return [strand = compute.strand()](std::function<void()> task) { asio::post(strand, std::move(task)); };
    };
  }

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error) return accept_later(error);
      keep_from_children(socket.native_handle());
      error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      socket.set_option(asio::socket_base::send_buffer_size(send_buffer_bytes), ignored);
      const bool v6 = socket.local_endpoint(ignored).address().is_v6();
      const int number = socket.release(error);
      accept();
      if (!error) serve_http(*service, {number, v6});
    });
  }

  /// No descriptors left, for instance: asking again at once would only burn time.
  void accept_later(error_code error) {
    service->refusals.note(Reason::cannot_accept, "cannot accept connections: " + error.message());
    pause.expires_after(std::chrono::milliseconds(100));
    pause.async_wait([this](error_code cancelled) {
      if (!cancelled) accept();
    });
  }

  void flush_later() {
    tick.expires_after(flush_every);
    tick.async_wait([this](error_code cancelled) {
      if (cancelled || !acceptor.is_open()) return;
      service->refusals.flush(false);
      flush_later();
    });
  }

  void start() {
    const std::lock_guard lock(mutex);
    if (!threads.empty() || stopped) return;
    asio::post(acceptor.get_executor(), [this] {
      accept();
      flush_later();
    });
    threads = start_threads(network_threads, [this] {
      for (;;) try {
          network.run();
          return;
        } catch (const std::exception& error) {  // memory for one answer: the others go on
          log_warning(fmt::format("the server continues after an error: {}", error.what()));
        }
    });
  }

  void stop() {
    {
      std::unique_lock lock(mutex);
      if (stopped) {
        changed.wait(lock, [this] { return finished; });
        return;
      }
      stopped = true;
    }
    asio::post(acceptor.get_executor(), [this] {
      error_code ignored;
      acceptor.close(ignored);
      pause.cancel();
      tick.cancel();
    });
    for (const auto& connection : service->connections.close()) connection->stop();
    service->clients.cancel();
    work.reset();
    threads.clear();  // each connection ends within its farewell, then there is nothing left to do
    error_code ignored;
    acceptor.close(ignored);  // of a server that was never started
    compute.join();
    network.restart();
    network.poll();  // what commands sent meanwhile finds its connection closed
    service->refusals.flush(true);
    const std::lock_guard lock(mutex);
    finished = true;
    changed.notify_all();
  }

  std::optional<Service> service;  // first, because connections that are left when `network` ends still know it
  Compute compute;
  asio::io_context network{network_threads};
  asio::executor_work_guard<asio::io_context::executor_type> work{network.get_executor()};
  tcp::acceptor acceptor;
  asio::steady_timer pause, tick;

  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false, finished = false;
  std::vector<std::jthread> threads;
};

Server::Server(panel::Page page, const ServeOptions& options, const Limits& limits) {
  options.check();
  state_ = std::make_unique<State>(std::move(page), options, limits);
  if (const std::string warning = state_->service->access.warning(); !warning.empty()) log_warning(warning);
  if (!why_no_viewer().empty())
    log_warning(
        fmt::format("this program was built without its viewer ({}); the page says how to build it", why_no_viewer()));
}

Server::~Server() { state_->stop(); }

std::string Server::url() const { return state_->service->access.url(); }

std::string Server::url_once() { return state_->service->access.url_with_code(state_->service->codes.make()); }

std::uint16_t Server::port() const { return state_->service->access.port(); }

void Server::start() { state_->start(); }

void Server::run() {
  start();
  State& state = *state_;
  for (;;) {
    try {
      check_interrupt();
    } catch (...) {
      state.stop();
      throw;
    }
    std::unique_lock lock(state.mutex);
    // A signal handler cannot wake a thread that waits: it is asked now and then.
    if (state.changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return state.finished; })) return;
  }
}

void Server::stop() { state_->stop(); }

Value Server::stats() const {
  Value stats = state_->service->clients.counts();
  stats["refused"] = state_->service->refusals.count();
  return stats;
}

}  // namespace sonde::serve
