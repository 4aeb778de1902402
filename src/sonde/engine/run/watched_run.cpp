// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/watched_run.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/report/json.h"

namespace sonde {
namespace {

Value fact(const std::string& name, const std::string& value) {
  Value entry;
  entry["name"] = name;
  entry["value"] = value;
  return entry;
}

/// As it is read in a narrow column: broken at commas, and cut where it is a long list.
std::string in_a_column(const Value& value) {
  constexpr std::size_t most = 120;
  std::string whole = value.is_text() ? value.as_text() : "";
  if (value.is_list())
    for (const Value& item : value.items())
      whole += (whole.empty() ? "" : ",") + (item.is_text() ? item.as_text() : to_json(item, -1));
  else if (!value.is_text())
    whole = to_json(value, -1);
  std::string text;
  for (const char c : whole) {
    if (text.size() >= most && c == ',') return text + ", ...";
    if (!text.empty() && text.back() == ',' && c != ' ') text += ' ';
    text += c;
  }
  return text;
}

/// A setting, or the tables of a run file, "grid.n_xi".
void add_settings_to(Value& facts, const std::string& name, const Value& value) {
  if (value.is_object()) {
    for (const Value::Member& member : value.members())
      add_settings_to(facts, name.empty() ? member.key : name + "." + member.key, member.value);
  } else if (const std::string text = value.is_null() ? "" : in_a_column(value); !text.empty()) {
    facts.push_back(fact(name, text));
  }
}

std::vector<panel::Panel> panels_of(const Verb& verb) {
  std::vector<panel::Panel> panels = verb.watched->panels;
  panels.push_back({.id = "work", .type = "facts", .title = "Work", .place = "side"});
  panels.push_back({.id = "given", .type = "facts", .title = "Settings", .place = "side"});
  return panels;
}

}  // namespace

WatchedRun::WatchedRun(const Verb& verb, const Fields& fields)
    : cancel_("stopped in the browser; outputs that were not complete are removed", CancelScope::current()),
      live_({.title = "sonde " + verb.name,
             .panels = panels_of(verb),
             .ended = "The work has ended. This is what it showed last.",
             .keeps = false,
             .stop = [this] { cancel_.request(); }}) {
  bar_["state"] = "running";
  const Value given = fields.echo();  // null for what stands for the setting of a run file and was not given
  for (const Field& field : fields.all())
    if (!field.info.flag_only && field.key != "live" && field.key != "threads")
      add_settings_to(field.positional ? facts_ : settings_, field.key, *given.find(field.key));
  facts_.push_back(fact("threads", fmt::format("{}", thread_count())));
  if (const int processes = Ranks::world().size(); processes > 1)
    facts_.push_back(fact("processes", fmt::format("{}", processes)));
  const std::lock_guard lock(mutex_);
  offer(true);
}

void WatchedRun::offer(bool now) {
  live_.offer(now, [this] {
    LiveState state;
    state.panels["run"] = bar_;
    state.panels["work"]["facts"] = facts_;
    state.panels["given"]["facts"] = settings_;
    return state;
  });
  const double began_s = watch_.seconds();
  if (!shown_ || !(now || panels_share_.may_show(began_s))) return;
  const LiveState state = shown_();
  live_.tell([&](const std::vector<ChangeRequest>&) { return state; });
  panels_share_.showed(began_s, watch_.seconds() - began_s);
}

void WatchedRun::show(const Progress& progress) {
  shown_elsewhere_(progress);
  const std::lock_guard lock(mutex_);
  bar_["done"] = progress.done;
  bar_["total"] = progress.total;
  bar_["units"] = progress.unit;
  bar_["note"] = progress.stage;
  Value& facts = bar_["facts"] = Value::list();
  if (progress.rate > 0) {
    const std::string rate = fmt::format(fmt::runtime(progress.rate < 1000 ? "{:.3g}" : "{:.0f}"), progress.rate);
    facts.push_back(fact("rate", fmt::format("{} {}/s", rate, progress.unit)));
  }
  if (progress.rate > 0 && progress.done < progress.total)
    facts.push_back(fact("left", format_seconds(static_cast<double>(progress.total - progress.done) / progress.rate)));
  offer(progress.finished || live_.pause().wanted());
}

void WatchedRun::add_fact(const std::string& name, const std::string& value) {
  const std::lock_guard lock(mutex_);
  facts_.push_back(fact(name, value));
  offer(true);
}

void WatchedRun::add_settings(const Value& settings) {
  const std::lock_guard lock(mutex_);
  add_settings_to(settings_, "", settings);
  offer(true);
}

std::shared_ptr<void> WatchedRun::fill(std::function<LiveState()> state) {
  const std::lock_guard lock(mutex_);
  shown_ = std::move(state);
  offer(true);
  return {static_cast<void*>(this), [this](void*) {
            const std::lock_guard ending(mutex_);
            offer(true);
            shown_ = nullptr;
          }};
}

void WatchedRun::end_well() { end("finished", ""); }

void WatchedRun::end_by(const Error& error) {
  const bool stopped = error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated;
  end(stopped ? "stopped" : "failed", spelled(error.message(), Spelling::keys));
}

void WatchedRun::end(const std::string& word, const std::string& because) {
  const std::lock_guard lock(mutex_);
  bar_["state"] = word;
  bar_["over"] = true;
  bar_["because"] = because;
  offer(true);
}

}  // namespace sonde
