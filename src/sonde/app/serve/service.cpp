// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/service.h"

#include <algorithm>
#include <utility>

namespace sonde::serve {
namespace {

// Clients come and ask at the same time; a page need not know.
panel::Page one_at_a_time(panel::Page page) {
  if (page.state)
    page.state = [inner = std::move(page.state), mutex = std::make_shared<std::mutex>()] {
      const std::lock_guard lock(*mutex);
      return inner();
    };
  if (page.open)
    page.open = [inner = std::move(page.open),
                 mutex = std::make_shared<std::mutex>()](std::shared_ptr<panel::Outlet> to) {
      const std::lock_guard lock(*mutex);
      return inner(std::move(to));
    };
  return page;
}

void add_counts(Value& sum, const Value& counts) {
  for (const auto& [key, value] : counts.members())
    sum[key] = (sum[key].is_null() ? 0 : sum[key].as_whole()) + value.as_whole();
}

}  // namespace

Connections::Admission Connections::add(const std::shared_ptr<Connection>& connection, bool trusted) {
  std::shared_ptr<Connection> making_way;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Admission::refused;
    if (entries_.size() >= capacity_) {
      const auto oldest =
          std::find_if(entries_.begin(), entries_.end(), [](const Entry& each) { return !each.trusted; });
      if (oldest == entries_.end()) return Admission::refused;
      making_way = oldest->connection.lock();
      entries_.erase(oldest);
    }
    entries_.push_back({connection.get(), connection, trusted});
  }
  if (making_way == nullptr) return Admission::admitted;
  making_way->abort();
  return Admission::in_place_of_another;
}

void Connections::trust(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  for (Entry& each : entries_)
    if (each.key == connection) each.trusted = true;
}

void Connections::remove(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& each) { return each.key == connection; });
}

std::vector<std::shared_ptr<Connection>> Connections::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  std::vector<std::shared_ptr<Connection>> open;
  for (const Entry& each : entries_)
    if (auto connection = each.connection.lock()) open.push_back(std::move(connection));
  return open;
}

std::optional<std::uint32_t> Clients::reserve() {
  const std::lock_guard lock(mutex_);
  if (clients_.size() >= capacity_) return std::nullopt;
  clients_[++last_] = nullptr;
  return last_;
}

void Clients::add(std::shared_ptr<Client> client) {
  const std::lock_guard lock(mutex_);
  clients_[client->number()] = std::move(client);
}

std::shared_ptr<Client> Clients::find(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(number);
  return found == clients_.end() ? nullptr : found->second;
}

void Clients::release(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  if (found->second != nullptr) add_counts(gone_, found->second->outlet().counts());
  clients_.erase(found);
}

void Clients::cancel() const {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, client] : clients_)
    if (client != nullptr) client->cancel();
}

Value Clients::counts() const {
  const std::lock_guard lock(mutex_);
  Value counts;
  counts["clients"] = clients_.size();
  for (const char* key : {"commands", "replaced", "frames", "dropped"}) counts[key] = 0;
  add_counts(counts, gone_);
  for (const auto& [number, client] : clients_)
    if (client != nullptr) add_counts(counts, client->outlet().counts());
  return counts;
}

Service::Service(panel::Page shown, Access rules, std::span<const Asset> files, boost::asio::io_context& io,
                 const Limits& bounds)
    : page(one_at_a_time(std::move(shown))),
      access(std::move(rules)),
      assets(files),
      limits(bounds),
      network(io),
      connections(bounds.connections),
      clients(bounds.clients) {}

}  // namespace sonde::serve
