// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/bench/process_scans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/process.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/neoclassical/bench/workload.h"

namespace sonde::neoclassical {
namespace {

/// One scan as files: what the programs read and write, in a folder that goes with it.
class ScanOfPrograms {
 public:
  ScanOfPrograms(const GridSpec& grid, std::vector<double> nu_hat, std::vector<double> epsi_hat)
      : folder_(temporary_folder() / fmt::format("sonde-bench-{}-{}", ::getpid(), made_++)),
        nu_hat_(std::move(nu_hat)),
        epsi_hat_(std::move(epsi_hat)) {
    make_folders(folder_);
    const AnalyticSurface surface = bench_harmonics();
    const auto list = [](const auto& values) { return fmt::format("[{}]", fmt::join(values, ", ")); };
    std::vector<Index> m, n;
    for (const Mode& mode : surface.b.modes) {
      m.push_back(mode.m);
      n.push_back(mode.n);
    }
    std::ofstream(folder_ / "run.toml") << fmt::format(
        "[surface]\ntype = \"analytic\"\nm = {}\nn = {}\nb_cos = {}\nnfp = {}\niota = {}\npsi_p = {}\nb_theta = {}\n"
        "b_zeta = {}\n[grid]\nn_theta = {}\nn_zeta = {}\nn_xi = {}\n",
        list(m), list(n), list(surface.b.cosine), surface.periods, surface.iota, surface.psi_p, surface.b_theta,
        surface.b_zeta, grid.n_theta, grid.n_zeta, grid.n_xi);
  }
  ScanOfPrograms(const ScanOfPrograms&) = delete;
  ScanOfPrograms& operator=(const ScanOfPrograms&) = delete;
  ~ScanOfPrograms() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::size_t rows() const { return nu_hat_.size(); }

  /// Every `stride`-th row from `first` as a command started so, one thread per process.
  [[nodiscard]] std::vector<std::string> command(const char* way, std::size_t first, std::size_t stride) const {
    std::vector<double> rows;
    for (std::size_t i = first; i < nu_hat_.size(); i += stride) rows.push_back(nu_hat_[i]);
    return {canonical_path("/proc/self/exe").string(),
            "neoclassical",
            "scan",
            (folder_ / "run.toml").string(),
            fmt::format("--nu-v={}", fmt::join(rows, ",")),
            fmt::format("--epsi-hat={}", fmt::join(epsi_hat_, ",")),
            "--threads=1",
            "--quiet",
            "-o",
            file(way, first)};
  }
  static void run(const std::vector<std::string>& command) {
    if (!program_output(command))
      throw Error(ErrorKind::internal, fmt::format("`{}` could not be run, or failed", fmt::join(command, " ")));
  }
  /// What the programs started so have written, in the order of all rows.
  [[nodiscard]] std::vector<Coefficients> found(const char* way, std::size_t stride) const {
    std::vector<Coefficients> all(nu_hat_.size() * epsi_hat_.size());
    for (std::size_t first = 0; first < std::min(stride, rows()); ++first) {
      const Hdf5File written = Hdf5File::open(file(way, first));
      const std::pair<const char*, double Coefficients::*> tables[] = {{"/D11", &Coefficients::D11},
                                                                       {"/D31", &Coefficients::D31},
                                                                       {"/D13", &Coefficients::D13},
                                                                       {"/D33", &Coefficients::D33}};
      for (const auto& [name, which] : tables) {
        const Array read = written.dataset(name).read();
        const auto table = read.view<double, 3>();
        for (Index row = 0; row < table.extent[1]; ++row)
          for (Index field = 0; field < table.extent[2]; ++field)
            all[(first + static_cast<std::size_t>(row) * stride) * epsi_hat_.size() + static_cast<std::size_t>(field)].*
                which = table(0, row, field);
      }
    }
    return all;
  }

 private:
  [[nodiscard]] std::string file(const char* way, std::size_t first) const {
    return (folder_ / fmt::format("{}-{}.h5", way, first)).string();
  }

  static inline int made_ = 0;  // only names folders apart
  std::filesystem::path folder_;
  std::vector<double> nu_hat_, epsi_hat_;
};

std::vector<std::string> mpirun(int ranks) {
  std::vector<std::string> words = {"mpirun", "-n", std::to_string(ranks), "--oversubscribe"};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  return words;
}

}  // namespace

std::vector<Operation> process_scans(const GridSpec& grid, std::vector<double> nu_hat, std::vector<double> epsi_hat,
                                     int workers,
                                     const std::function<double(std::span<const Coefficients>)>& difference) {
  const auto scan = std::make_shared<const ScanOfPrograms>(grid, std::move(nu_hat), std::move(epsi_hat));
  const std::size_t count = std::min(static_cast<std::size_t>(workers), scan->rows());
  std::vector<Operation> scans;
  scans.push_back({.name = "processes",
                   .run =
                       [=] {
                         std::vector<std::exception_ptr> failed(count);
                         {
                           std::vector<std::jthread> waiting;  // each for one program
                           for (std::size_t i = 0; i < count; ++i)
                             waiting.emplace_back([&, i] {
                               try {
                                 ScanOfPrograms::run(scan->command("processes", i, count));
                               } catch (...) {
                                 failed[i] = std::current_exception();
                               }
                             });
                         }
                         for (const std::exception_ptr& each : failed)
                           if (each) std::rethrow_exception(each);
                       },
                   .difference = [=] { return difference(scan->found("processes", count)); }});
  if (*mpi_library() == '\0' || !program_output({"mpirun", "--version"})) return scans;
  scans.push_back({.name = "MPI",
                   .run =
                       [=] {
                         std::vector<std::string> words = mpirun(workers);
                         const std::vector<std::string> alone = scan->command("mpi", 0, 1);
                         words.insert(words.end(), alone.begin(), alone.end());
                         ScanOfPrograms::run(words);
                       },
                   .difference = [=] { return difference(scan->found("mpi", 1)); }});
  return scans;
}

}  // namespace sonde::neoclassical
