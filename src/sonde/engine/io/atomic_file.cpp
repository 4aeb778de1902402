// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"

namespace sonde {
namespace {

Error write_error(const std::string& path, const std::string& activity, int error) {
  Error failure(ErrorKind::io, fmt::format("{}: {} failed: {}", path, activity, std::strerror(error)));
  if (error == ENOSPC || error == EDQUOT) failure.hint("free space there, or write to another disk");
  if (error == EFBIG) failure.hint("raise the file size limit (ulimit -f), or write to another file system");
  if (error == EACCES || error == EPERM || error == EROFS) failure.hint("choose a folder that you may write to");
  return failure;
}

/// The file that a link points to, so that the link itself survives the rename.
std::string behind_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> target(::realpath(path.c_str(), nullptr), &std::free);
  return target ? target.get() : path;
}

/// File systems whose locks need not reach other hosts.
bool on_network(const std::string& folder) {
  struct statfs about {};
  if (::statfs(folder.c_str(), &about) != 0) return false;
  // NFS, SMB, CIFS, SMB2, FUSE, Lustre, GPFS, AFS, Ceph, BeeGFS, 9P (linux/magic.h and the documents of each)
  static constexpr std::uint32_t kinds[] = {0x6969,     0x517B,     0xFF534D42, 0xFE534D42, 0x65735546, 0x0BD00BD0,
                                            0x47504653, 0x5346414F, 0x00C36400, 0x19830326, 0x01021997};
  return std::find(std::begin(kinds), std::end(kinds), static_cast<std::uint32_t>(about.f_type)) != std::end(kinds);
}

std::uint32_t short_hash(std::string_view text) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// "<name>.partial-<n>"; a name that would become too long for the file system is shortened.
class PartialNames {
 public:
  explicit PartialNames(const std::string& target) {
    const std::size_t slash = target.find_last_of('/');
    folder_ = slash == std::string::npos ? "" : target.substr(0, slash + 1);
    name_ = slash == std::string::npos ? target : target.substr(slash + 1);
    if (on_network(folder_.empty() ? "." : folder_)) {
      char host[256] = {};
      ::gethostname(host, sizeof host - 1);
      host_ = fmt::format("{:08x}-", short_hash(host));
    }
    constexpr std::size_t most = 255, room = 32;  // of a name, and for what is added
    if (name_.size() + room > most)
      name_ = fmt::format("{}~{:08x}", name_.substr(0, most - 2 * room), short_hash(name_));
  }
  [[nodiscard]] std::string at(unsigned number) const {
    return fmt::format("{}{}.partial-{}{:x}", folder_, name_, host_, number);
  }

 private:
  std::string folder_, name_, host_;
};

/// Whether the open file is the one that has the name.
bool has_name(int descriptor, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

/// Removes what a killed process has left. Who removes holds the lock: a writer that has it and finds its name in place
/// cannot lose it any more.
void remove_left_over(const std::string& partial) {
  const int descriptor = ::open(partial.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;  // nothing is there, or it is somebody else's
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
      has_name(descriptor, partial))
    ::unlink(partial.c_str());
  ::close(descriptor);
}

/// A new file of its own, locked where the file system has locks; -1 when the name is taken or was lost.
int open_new(const std::string& partial) {
  const int descriptor = ::open(partial.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return -1;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {  // it is being taken for a left-over
    ::close(descriptor);
    errno = EEXIST;
    return -1;
  }
  if (has_name(descriptor, partial)) return descriptor;
  ::close(descriptor);
  errno = EEXIST;
  return -1;
}

/// What a name that the program made up may replace: a file that says that sonde wrote it, whatever it holds.
void require_own(const std::string& path, const OutputRole& role) {
  const RunFiles* files = run_files();
  if (files == nullptr || !files->makes_up_names()) return;
  if (file_bytes(path) == 0 || mark_of(path) != FileMark::none) return;  // an empty file loses nothing
  throw Error(
      ErrorKind::bad_input,
      fmt::format("{}: a file is here that does not say that sonde wrote it; under a name that was not given, {} "
                  "replaces only files of sonde",
                  path, role.what))
      .hint(fmt::format("move it away, or give {} another name", role.what));
}

void require_own_kind(const std::string& path, const OutputRole& role) {
  if (role.replaces == FileMark::none) return require_own(path, role);
  if (may_replace(path, role.replaces)) return;
  throw Error(ErrorKind::bad_input,
              fmt::format("{}: a file that sonde did not write as {} is here; {} replaces only its own kind", path,
                          role.what, role.what))
      .hint(fmt::format("move it away, or give {} another name", role.what));
}

}  // namespace

void require_place(const std::string& path, const OutputRole& role) {
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  const int error = there ? 0 : errno;
  if (there && !S_ISREG(status.st_mode))
    throw Error(ErrorKind::io, fmt::format("{}: is {}, it cannot be replaced by a file", path,
                                           S_ISDIR(status.st_mode) ? "a folder" : "not a regular file"))
        .hint("give the name of a file");
  if (!there && error != ENOENT && error != ENOTDIR) throw write_error(path, "looking for it", error);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!there && !folder.empty()) {
    if (::stat(folder.c_str(), &status) != 0)
      throw Error(ErrorKind::io, fmt::format("{}: there is no folder {}", path, folder)).hint("mkdir -p " + folder);
    if (!S_ISDIR(status.st_mode))
      throw Error(ErrorKind::io, fmt::format("{}: {} is not a folder", path, folder)).hint("give another name");
  }
  // Links lead to the folder where the file is made.
  const std::string made_in = std::filesystem::path(behind_links(path)).parent_path().string();
  if (::access(made_in.empty() ? "." : made_in.c_str(), W_OK | X_OK) != 0)
    throw write_error(path, "creating it", errno);
  if (RunFiles* files = run_files()) files->declare_output(path, role.what, role.continues);
  if (there) require_own_kind(path, role);
}

AtomicFile::AtomicFile(std::string path, const OutputRole& role) : path_(std::move(path)) {
  require_place(path_, role);
  target_ = behind_links(path_);
  const PartialNames names(target_);
  // Several runs that write one name at a time are rare: a few numbers hold all that was left.
  constexpr unsigned looked_at = 4, most = 1000;
  for (unsigned number = 0; number < looked_at; ++number) remove_left_over(names.at(number));
  for (unsigned number = 0; descriptor_ < 0 && number < most; ++number) {
    partial_path_ = names.at(number);
    descriptor_ = open_new(partial_path_);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    const int error = errno;
    partial_path_.clear();
    throw write_error(path_, "creating it", error);
  }
  if (RunFiles* files = run_files())
    if (const auto made = file_identity(partial_path_)) files->add_made(*made);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      partial_path_(std::exchange(other.partial_path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      lock_(std::exchange(other.lock_, -1)),
      written_bytes_(other.written_bytes_) {}

AtomicFile::~AtomicFile() { remove(); }

void AtomicFile::remove() noexcept {
  if (!partial_path_.empty()) ::unlink(partial_path_.c_str());  // before the lock goes: the name may be another's then
  partial_path_.clear();
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;  // a system call takes less than 2^31
  const std::size_t total = bytes.size();
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most_bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw write_error(path_, fmt::format("writing {} bytes at offset {}", total, written_bytes_), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    written_bytes_ += static_cast<std::uint64_t>(put);
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::close(Durability durability) { close_file(durability, Lock::given_back); }

void AtomicFile::close_file(Durability durability, Lock lock) {
  if (descriptor_ < 0) return;
  if (durability == Durability::on_disk && ::fsync(descriptor_) != 0) {
    const int error = errno;
    remove();
    throw write_error(path_, "writing it to the disk", error);
  }
  if (lock == Lock::kept) lock_ = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  const int closed = ::close(std::exchange(descriptor_, -1));  // some file systems report a full disk only here
  if (closed == 0 || errno == EINTR) return;
  const int error = errno;
  remove();
  throw write_error(path_, fmt::format("closing it after {} bytes", written_bytes_), error);
}

void AtomicFile::commit(Durability durability) {
  assert(!partial_path_.empty());
  close_file(durability, Lock::kept);
  const std::optional<FileIdentity> before = file_identity(target_), made = file_identity(partial_path_);
  if (::rename(partial_path_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    const std::string partial = partial_path_;
    remove();
    throw write_error(path_, "renaming " + partial, error);
  }
  partial_path_.clear();
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
  if (RunFiles* files = run_files(); files != nullptr && made) files->add_made(*made, before);
}

}  // namespace sonde
