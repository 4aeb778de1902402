// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/batch/batch_solver.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <optional>

#include "sonde/instruments/neoclassical/batch/batched_elimination.h"
#include "sonde/instruments/neoclassical/operators/grid_functions.h"
#include "sonde/instruments/neoclassical/solve/assemble.h"
#include "sonde/instruments/neoclassical/solve/corrections.h"

namespace sonde::neoclassical {
namespace {

using dense::Batch;
using Next = Corrections::Next;

constexpr Index drives = BatchShape::drives;

/// What cases and solutions of one batch lie in.
struct Vectors {
  Vectors(const BatchShape& shape, BatchMemory& memory) : at{memory.matrices(1, 1), memory.matrices(1, 1)} {
    for (Batch* each : {&u, &rest, &change, &work}) *each = memory.matrices(shape.rows(), drives);
    for (Batch* each : {&sign, &left, &most}) *each = memory.matrices(1, drives);
    responses = memory.matrices(2, drives);
  }
  BatchCases at;
  Batch u, rest, change, work;  // solutions, what is left of the rows, and a correction
  Batch sign, left, most;       // of each drive: what a correction counts; the largest of `rest` and of `u`
  Batch responses;
};

std::unique_ptr<BatchedElimination> elimination_of(Path path, const BatchOperators& operators, BatchMemory& memory) {
  return path == Path::spd ? spd_batch(operators, memory) : quasidefinite_batch(operators, memory);
}

Index elements_per_case(const BatchShape& shape, Path path) {
  BatchMemory counted(1);
  (void)Vectors(shape, counted);
  path == Path::spd ? count_spd_batch(shape, counted) : count_quasidefinite_batch(shape, counted);
  return counted.used();
}

/// The cases of one call on their way through the device.
class Run {
 public:
  Run(const BatchOperators& operators, Path path, std::span<const Case> cases, BatchMemory memory)
      : operators_(operators),
        algebra_(operators.algebra()),
        stream_(algebra_.stream()),
        cases_(cases),
        problems_(memory.problems()),
        m_(operators.shape(), memory),
        elimination_(elimination_of(path, operators, memory)) {
    std::vector<double> nu_hat, epsi_hat;
    for (const Case& at : cases) {
      nu_hat.push_back(at.nu_hat);
      epsi_hat.push_back(at.epsi_hat);
    }
    to_device(nu_hat, m_.at.nu_hat);
    to_device(epsi_hat, m_.at.epsi_hat);
  }

  void eliminate(Index n_xi, View<Index, 1> failed) { elimination_->eliminate(m_.at, n_xi, failed); }

  /// All drives of all cases are corrected together, until it helps none of them; those that are done stay as they are.
  std::vector<std::array<Corrections, 2>> correct(std::array<double, 2> sources, double largest_row) {
    std::vector<std::array<Corrections, 2>> made(cases_.size(), {Corrections(sources[0]), Corrections(sources[1])});
    std::vector<double> counts;
    for (std::size_t i = 0; i < cases_.size(); ++i)
      for (const double source : sources) counts.push_back(source > 0 ? 1 : 0);
    algebra_.combine(0, {}, {}, 0, m_.u);
    algebra_.combine(1, {}, operators_.sources(problems_), 0, m_.rest);
    while (std::any_of(counts.begin(), counts.end(), [](double count) { return count > 0; })) {
      substitute();
      add_change(counts);
      remain();
      operators_.largest_on_grid(m_.rest, m_.left);
      operators_.largest_on_grid(m_.u, m_.most);
      const std::vector<double> left = to_host(m_.left), most = to_host(m_.most);
      bool takes_back = false;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        const Next next = made[i / 2][i % 2].after(left[i], row_rounding(largest_row, most[i]));
        counts[i] = next == Next::correct ? 1 : next == Next::take_back ? -1 : 0;
        takes_back = takes_back || next == Next::take_back;
      }
      if (!takes_back) continue;
      std::vector<double> back = counts;
      for (double& count : back) count = std::min(count, 0.0);
      add_change(back);
      for (double& count : counts) count = std::max(count, 0.0);
    }
    return made;
  }

  /// Of each case: D11, D31, D13 and D33 before the factors of length and field, at 2 * weights + drive.
  std::vector<double> responses() {
    operators_.weigh(m_.u, m_.responses);
    return to_host(m_.responses);
  }

 private:
  void to_device(const std::vector<double>& numbers, Batch to) {
    stream_.copy(to.data, numbers.data(), numbers.size() * sizeof(double));
  }
  std::vector<double> to_host(Batch from) {
    std::vector<double> made(static_cast<std::size_t>(from.count()));
    stream_.copy(made.data(), from.data, made.size() * sizeof(double));
    stream_.synchronise();
    return made;
  }

  BatchParts parts(Batch function, Index k) const {
    const BatchShape& shape = operators_.shape();
    return {shape.part(function, k, Functions::driven), shape.part(function, k, Functions::others)};
  }
  ConstBatchParts parts_of(Batch function, Index k) const {
    const BatchParts made = parts(function, k);
    return {made.driven, made.others};
  }

  /// u += count change, a count for each drive of each case.
  void add_change(const std::vector<double>& counts) {
    to_device(counts, m_.sign);
    dense::Factors factors(m_.sign.data, problems_, drives);
    algebra_.combine(1, factors, m_.change, 1, m_.u);
  }

  /// The change that the rest asks for; the rest serves as the right side. U_{k-1} = -L_k^T.
  void substitute() {
    const auto solve = [&](Index k, Batch from, Batch to) { elimination_->solve(k, parts_of(from, k), parts(to, k)); };
    solve(2, m_.rest, m_.work);
    operators_.add_lower_transposed(2, 1, m_.work, m_.rest);
    solve(1, m_.rest, m_.work);
    operators_.add_lower_transposed(1, 1, m_.work, m_.rest);
    solve(0, m_.rest, m_.change);
    operators_.add_lower(1, -1, m_.change, m_.rest);
    solve(1, m_.rest, m_.change);
    operators_.add_lower(2, -1, m_.change, m_.rest);
    solve(2, m_.rest, m_.change);
  }

  void remain() {
    algebra_.combine(1, {}, operators_.sources(problems_), 0, m_.rest);
    for (const Index k : {0, 1}) operators_.subtract_diagonal(k, m_.at, m_.u, m_.work, m_.rest);
    for (const Index k : {1, 2}) {
      operators_.add_lower_transposed(k, 1, m_.u, m_.rest);
      operators_.add_lower(k, -1, m_.u, m_.rest);
    }
    elimination_->subtract_top(parts_of(m_.u, 2), parts(m_.rest, 2));
  }

  const BatchOperators& operators_;
  dense::BatchedAlgebra& algebra_;
  Stream& stream_;
  std::span<const Case> cases_;
  Index problems_;
  Vectors m_;
  std::unique_ptr<BatchedElimination> elimination_;
};

}  // namespace

std::string why_not_batched(const Plan& plan, double epsi_hat) {
  if (plan.options().precision != Precision::f64) return "precision = \"f32-refine\" is refined only on the CPU";
  if (plan.path(epsi_hat).value != Path::dense) return "";
  if (plan.options().path) return "path = \"dense\" runs only on the CPU";
  return plan.grid().discretisation == Discretisation::collocation
             ? "discretisation = \"collocation\" needs the dense path, which runs only on the CPU"
             : "an electric field without stellarator symmetry needs the dense path, which runs only on the CPU";
}

struct BatchSolver::State {
  State(const Plan& of, Path along, Index cases, Device device)
      : plan(of), path(along), most(cases), algebra(device), operators(of, along, algebra) {
    memory = Array(device, {most * elements_per_case(operators.shape(), path)}, DType::f64);
    failed = Array(device, {most}, DType::i64);
  }

  const Plan& plan;
  Path path;
  Index most;
  dense::BatchedAlgebra algebra;
  BatchOperators operators;
  Array memory, failed;
};

BatchSolver::BatchSolver(const Plan& plan, Path path, Index most, Device device)
    : state_(std::make_unique<State>(plan, path, most, device)) {}
BatchSolver::~BatchSolver() = default;

std::size_t BatchSolver::bytes_per_case(const Plan& plan, Path path) {
  return static_cast<std::size_t>(elements_per_case(BatchShape(plan, path), path)) * sizeof(double) + sizeof(Index);
}

std::size_t BatchSolver::fixed_bytes(const Plan& plan, Path path, Device device) {
  return BatchOperators::bytes(plan, path) + dense::BatchedAlgebra::bytes(device);
}

std::vector<BatchSolver::Answer> BatchSolver::solve(std::span<const Case> cases) {
  State& s = *state_;
  assert(static_cast<Index>(cases.size()) <= s.most);
  std::vector<Answer> answers;
  if (cases.empty()) return answers;
  const DriftKinetic& equation = s.plan.equation();
  Stream& stream = s.algebra.stream();
  std::vector<Index> failed(cases.size(), -1);
  const std::size_t failed_bytes = failed.size() * sizeof(Index);
  stream.copy(s.failed.data(), failed.data(), failed_bytes);
  Run run(s.operators, s.path, cases, BatchMemory(static_cast<Index>(cases.size()), s.memory.view<double, 1>().data));
  run.eliminate(s.plan.grid().n_xi, s.failed.view<Index, 1>());
  const std::vector<std::array<Corrections, 2>> corrections =
      run.correct({largest(equation.radial), largest(equation.parallel)}, equation.largest_row);
  const std::vector<double> responses = run.responses();
  stream.copy(failed.data(), s.failed.data(), failed_bytes);
  stream.synchronise();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto response = [&](std::size_t drive) {
      const Corrections& made = corrections[i][drive];
      return Response{responses[4 * i + drive], responses[4 * i + 2 + drive], made.residual()};
    };
    try {
      // Kernels have no functions to leave out.
      if (!equation.left_out(cases[i]).empty())
        throw Error(ErrorKind::not_converged, "a rational surface without a field is solved only on the CPU");
      if (failed[i] >= 0) throw not_positive_definite(equation, failed[i], cases[i]);
      answers.emplace_back(assemble(equation, cases[i], s.path, s.plan.grid().n_xi, response(0), response(1),
                                    s.plan.options().tolerance));
    } catch (const Error& error) {
      answers.emplace_back(error);
    }
  }
  return answers;
}

}  // namespace sonde::neoclassical
