// SPDX-License-Identifier: Apache-2.0
// A disk with a bad sector, for a program started with LD_PRELOAD: reading the byte at SONDE_BAD_OFFSET of the file
// SONDE_BAD_FILE fails with EIO, as a real one does. A server that is gone, the same way: reading SONDE_STUCK_FILE
// makes the file "<SONDE_STUCK_FILE>.reached" and waits for ever, whatever signals arrive. All else goes to the C
// library.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool is_file(int descriptor, const char* file) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  return readlink(link.c_str(), path.data(), path.size() - 1) > 0 && std::strcmp(path.data(), file) == 0;
}

bool is_bad(int descriptor, off_t offset, std::size_t size) {
  if (const char* stuck = std::getenv("SONDE_STUCK_FILE"); stuck != nullptr && is_file(descriptor, stuck)) {
    close(open((std::string(stuck) + ".reached").c_str(), O_CREAT | O_WRONLY, 0600));
    for (;;) pause();
  }
  const char* file = std::getenv("SONDE_BAD_FILE");
  const char* place = std::getenv("SONDE_BAD_OFFSET");
  if (file == nullptr || place == nullptr) return false;
  const off_t bad = std::atoll(place);
  return bad >= offset && bad < offset + static_cast<off_t>(size) && is_file(descriptor, file);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" ssize_t pread(int descriptor, void* bytes, std::size_t size, off_t offset) {
  static auto* const read = next<ssize_t(int, void*, std::size_t, off_t)>("pread");
  if (!is_bad(descriptor, offset, size)) return read(descriptor, bytes, size, offset);
  errno = EIO;
  return -1;
}

extern "C" ssize_t preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  static auto* const read = next<ssize_t(int, const iovec*, int, off_t)>("preadv");
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  if (!is_bad(descriptor, offset, size)) return read(descriptor, parts, count, offset);
  errno = EIO;
  return -1;
}
