// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/spool.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/mark.h"

namespace sonde::separate {
namespace {

// The file begins with text: a mark, the state in a line of fixed length, then its origin; zeros fill it up.
constexpr std::string_view mark = "sonde separation 1\n";
constexpr std::size_t state_bytes = 64, head_bytes = 8192;
constexpr Index frames_at_once = 4096;

Error failed(const std::string& path, const char* doing, int error) {
  Error failure(ErrorKind::io, fmt::format("{}: {} failed: {}", path, doing, std::strerror(error)));
  if (error == ENOSPC || error == EDQUOT) {
    failure.hint("free space there, or choose a folder on another disk by " + setting("output"));
  }
  return failure;
}

/// The first line in which two texts differ, of each.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream lines_a(a), lines_b(b);
  std::string of_a, of_b;
  do {
    of_a.clear(), of_b.clear();
    std::getline(lines_a, of_a);
    std::getline(lines_b, of_b);
  } while (of_a == of_b && (lines_a || lines_b));
  return {of_a, of_b};
}

}  // namespace

Spool::Spool(std::string path, int descriptor, const Layout& layout)
    : path_(std::move(path)),
      descriptor_(descriptor),
      layout_(layout),
      frames_(static_cast<std::size_t>(frames_at_once * frame())) {}

Spool::Spool(Spool&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      layout_(other.layout_),
      state_(other.state_),
      frames_(std::move(other.frames_)) {}

Spool::~Spool() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Spool::remove() noexcept {
  if (descriptor_ < 0) return;
  std::remove(path_.c_str());
  close(std::exchange(descriptor_, -1));
}

std::optional<Spool> Spool::open(const std::string& path, bool make, const Layout& layout) {
  if (path_exists(path) && !may_replace(path, FileMark::text)) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: is not a file of sonde's and is not replaced", path))
        .hint("rename it, or choose another " + setting("output"));
  }
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0666);
  if (descriptor < 0 && !make && errno == ENOENT) return std::nullopt;
  if (descriptor < 0) throw failed(path, "opening", errno);
  Spool spool(path, descriptor, layout);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: another run is at work on this file; expected one at a time", path))
        .hint("wait for it, or choose another " + setting("output"));
  }
  return spool;
}

Spool Spool::begin(const std::string& path, const std::string& origin, const Layout& layout) {
  Spool spool = *open(path, true, layout);
  if (ftruncate(spool.descriptor_, 0) != 0) throw failed(path, "writing", errno);
  spool.write_head(origin);
  return spool;
}

std::optional<Spool> Spool::resume(const std::string& path, const std::string& origin, const Layout& layout) {
  std::optional<Spool> spool = open(path, false, layout);
  return spool && spool->read_state(origin) ? std::move(spool) : std::nullopt;
}

void Spool::transfer(bool write, Index byte, char* bytes, std::size_t size) const {
  for (std::size_t done = 0; done < size;) {
    const auto at = static_cast<off_t>(byte) + static_cast<off_t>(done);
    const ssize_t step =
        write ? pwrite(descriptor_, bytes + done, size - done, at) : pread(descriptor_, bytes + done, size - done, at);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) throw failed(path_, write ? "writing" : "reading", step < 0 ? errno : EIO);
    done += static_cast<std::size_t>(step);
  }
}

void Spool::write_head(const std::string& origin) {
  std::string head(mark);
  head.resize(mark.size() + state_bytes, ' ');
  head += origin.substr(0, head_bytes - head.size());
  head.resize(head_bytes, '\0');
  transfer(true, 0, head.data(), head.size());
  write_state();
}

void Spool::write_state() {
  std::string line = fmt::format("{} {} {} {}", state_.pass, state_.finished, state_.samples, state_.adding ? 1 : 0);
  line.resize(state_bytes - 1, ' ');
  line += '\n';
  transfer(true, static_cast<Index>(mark.size()), line.data(), line.size());
}

bool Spool::read_state(const std::string& origin) {
  struct stat about {};
  if (fstat(descriptor_, &about) != 0 || about.st_size < static_cast<off_t>(head_bytes)) return false;
  std::string head(head_bytes, '\0');
  transfer(false, 0, head.data(), head.size());
  if (!head.starts_with(mark)) return false;
  std::istringstream line(head.substr(mark.size(), state_bytes));
  if (!(line >> state_.pass >> state_.finished >> state_.samples >> state_.adding)) return false;
  const std::string begun = head.c_str() + mark.size() + state_bytes;
  if (begun != origin.substr(0, begun.size()) ||
      begun.size() != std::min(origin.size(), head_bytes - mark.size() - state_bytes)) {
    const auto [before, now] = first_difference(begun, origin);
    throw Error(ErrorKind::bad_input, fmt::format("{}: was begun with \"{}\"; now it is \"{}\"", path_, before, now))
        .hint("restore the settings and files, or leave out " + setting("resume") + " to begin again");
  }
  const Index there = (static_cast<Index>(about.st_size) - static_cast<Index>(head_bytes)) /
                      (frame() * static_cast<Index>(sizeof(float)));
  const Index needed = std::max(state_.finished, state_.samples);
  return state_.pass >= 0 && state_.finished >= 0 && needed <= there && !state_.adding;
}

void Spool::transfer_frames(bool write, Index first, Index count) {
  const Index bytes = frame() * static_cast<Index>(sizeof(float));
  transfer(write, static_cast<Index>(head_bytes) + first * bytes, reinterpret_cast<char*>(frames_.data()),
           static_cast<std::size_t>(count * bytes));
}

void Spool::append(View<const float, 2> mixture, View<const float, 3> stems, View<const float, 1> weights) {
  const Index count = stems.extent[2], channels = layout_.channels, width = frame();
  for (Index from = 0; from < count; from += frames_at_once) {
    const Index now = std::min(frames_at_once, count - from);
    for (Index c = 0; c < channels; ++c) {
      float* const to = frames_.data() + c;
      for (Index i = 0; i < now; ++i) to[i * width] = mixture(c, from + i);
      for (Index s = 0; s < layout_.stems; ++s) {
        for (Index i = 0; i < now; ++i) to[i * width + (1 + s) * channels] = stems(s, c, from + i);
      }
    }
    if (layout_.means) {
      for (Index i = 0; i < now; ++i) {
        float* const to = frames_.data() + i * width + weight_at();
        *to = weights(from + i);
        std::fill(to + 1, frames_.data() + (i + 1) * width, 0.0F);
      }
    }
    transfer_frames(true, state_.finished + from, now);
  }
  state_.finished += count;
  write_state();
}

template <class Change>
void Spool::change_frames(Index first, Index count, Change&& change) {
  state_.adding = true;
  write_state();
  for (Index from = 0; from < count;) {
    const Index at = (first + from) % state_.samples;
    const Index now = std::min({frames_at_once, count - from, state_.samples - at});
    transfer_frames(false, at, now);
    for (Index i = 0; i < now; ++i) change(frames_.data() + i * frame(), from + i);
    transfer_frames(true, at, now);
    from += now;
  }
  state_.finished += count;
  state_.adding = false;
  write_state();
}

void Spool::add(Index first, View<const float, 3> stems) {
  const Index channels = layout_.channels;
  change_frames(first, stems.extent[2], [&](float* frame, Index i) {
    for (Index s = 0; s < layout_.stems; ++s) {
      for (Index c = 0; c < channels; ++c) frame[(1 + s) * channels + c] += stems(s, c, i);
    }
  });
}

/// Moves the mean of a sample by this part of the way to its new stems. Its variance follows (West 1979).
void Spool::move_mean(float* frame, float part, View<const float, 3> stems, Index i) const {
  const Index channels = layout_.channels;
  for (Index s = 0; s < layout_.stems; ++s) {
    float squares = 0;
    for (Index c = 0; c < channels; ++c) {
      float& mean = frame[(1 + s) * channels + c];
      const float way = stems(s, c, i) - mean;
      mean += part * way;
      squares += way * way;
    }
    if (!layout_.variances) continue;
    float& variance = frame[weight_at() + 1 + s];
    variance = (1 - part) * (variance + part * squares / static_cast<float>(channels));
  }
}

void Spool::weigh_in(Index first, View<const float, 3> stems, View<const float, 1> weights) {
  change_frames(first, stems.extent[2], [&](float* frame, Index i) {
    if (weights(i) == 0) return;
    float& weight = frame[weight_at()];
    weight += weights(i);
    move_mean(frame, weights(i) / weight, stems, i);
  });
}

void Spool::weigh_in(Index first, View<const float, 3> stems, Index results) {
  const float part = 1 / static_cast<float>(results + 1);
  change_frames(first, stems.extent[2], [&](float* frame, Index i) { move_mean(frame, part, stems, i); });
}

void Spool::end_pass() {
  if (state_.pass == 0) state_.samples = state_.finished;
  ++state_.pass;
  state_.finished = 0;
  write_state();
}

void Spool::read(Index first, std::vector<float>& to) const {
  const Index bytes = frame() * static_cast<Index>(sizeof(float));
  transfer(false, static_cast<Index>(head_bytes) + first * bytes, reinterpret_cast<char*>(to.data()),
           to.size() * sizeof(float));
}

}  // namespace sonde::separate
