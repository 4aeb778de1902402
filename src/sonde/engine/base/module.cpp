// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/version.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

/// The program or shared library that this code was linked into.
struct Holder {
  link_map* map = nullptr;
  fs::path file;

  static Holder find() {
    Holder holder;
    Dl_info info{};
    void* map = nullptr;
    if (dladdr1(reinterpret_cast<const void*>(&module_folders), &info, &map, RTLD_DL_LINKMAP) == 0) return holder;
    holder.map = static_cast<link_map*>(map);
    std::error_code failed;
    // The name of the program itself is what the shell was given, which need not be a path.
    const bool program = holder.map == nullptr || holder.map->l_name == nullptr || *holder.map->l_name == '\0';
    holder.file = program ? fs::read_symlink("/proc/self/exe", failed) : fs::path(holder.map->l_name);
    return holder;
  }
};

/// The folders that dlopen() would search for a bare name on behalf of `map`. dlopen() itself is not asked to: under a
/// sanitiser it is called from the sanitiser's library, whose folders are others.
std::vector<std::string> folders_searched_for(link_map* map) {
  Dl_serinfo size{};
  if (map == nullptr || dlinfo(map, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  const std::unique_ptr<std::byte[]> memory(new std::byte[size.dls_size]);
  auto* found = reinterpret_cast<Dl_serinfo*>(memory.get());
  *found = size;
  if (dlinfo(map, RTLD_DI_SERINFO, found) != 0) return {};
  std::vector<std::string> folders;
  for (unsigned i = 0; i < found->dls_cnt; ++i)
    if (const char* name = found->dls_serpath[i].dls_name; name != nullptr && *name != '\0') folders.emplace_back(name);
  return folders;
}

/// The loader names the segment that it could not map, and seldom why.
bool lacks_memory(std::string_view text) {
  rlimit addresses{};
  const bool limited = getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  return text.find("llocate memory") != std::string_view::npos ||
         (limited && text.find("failed to map segment") != std::string_view::npos);
}

Error failed_to_open(const Module& module, const std::string& path, std::string_view text) {
  if (text.starts_with(path + ": ")) text.remove_prefix(path.size() + 2);
  if (lacks_memory(text))
    return Error(ErrorKind::budget,
                 fmt::format("{}: the address space does not suffice to load {} ({})", module.library, path, text))
        .hint("raise the limit of the address space (ulimit -v)");
  return Error(ErrorKind::not_supported, fmt::format("{}: {} cannot be loaded: {}", module.library, path, text))
      .hint(fmt::format("install {}", module.package));
}

}  // namespace

std::vector<std::string> module_folders() {
  const Holder holder = Holder::find();
  std::vector<std::string> folders;
  if (holder.file.has_parent_path()) folders.push_back(holder.file.parent_path().string());
  for (std::string& folder : folders_searched_for(holder.map))  // never the folder in which the program happens to run
    if (folder.front() == '/' && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(std::move(folder));
  return folders;
}

const void* open_module(const Module& module, std::size_t bytes) {
  const std::string file = fmt::format("sonde_{}.so", module.name);
  const std::vector<std::string> folders = module_folders();
  std::error_code failed;
  const auto folder = std::find_if(folders.begin(), folders.end(),
                                   [&](const std::string& each) { return fs::exists(fs::path(each) / file, failed); });
  if (folder == folders.end())
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: {} was not found in {}", module.library, file, fmt::join(folders, ", ")))
        .hint(
            fmt::format("it is part of sonde, built where {} and their headers are installed: install sonde again, or "
                        "name its folder in LD_LIBRARY_PATH",
                        module.package));
  const std::string path = (fs::path(*folder) / file).string();
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* text = dlerror();
    throw failed_to_open(module, path, text != nullptr ? text : "no reason given");
  }
  const auto* table = static_cast<const ModuleTable*>(dlsym(opened, "sonde_module"));
  const std::string_view expected = build_info().version;
  if (table == nullptr || std::string_view(table->version) != expected || table->bytes != bytes)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: {} is of another build ({}); expected one of sonde {}", module.library, path,
                            table != nullptr ? fmt::format("sonde {}", table->version) : "not a module", expected))
        .hint("install sonde again: the program and its modules belong together");
  return table->functions;
}

}  // namespace sonde
