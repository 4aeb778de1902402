// SPDX-License-Identifier: Apache-2.0
// The one file that calls OpenBLAS, through a module that is opened at the first call. LAPACK counts columns first: a
// matrix by rows is to it the transposed one, and a lower triangle an upper one.
#include "sonde/engine/math/dense/blas.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/module.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/dense/blas_functions.h"

namespace sonde::dense {
namespace {

/// While one lives OpenBLAS reads that it may use one thread. It starts its threads when it is loaded, and where the
/// address space does not suffice for their stacks it waits for them at the end of the process, for ever.
class OneThreadAtLoad {
 public:
  OneThreadAtLoad() {
    if (const char* value = std::getenv(variable)) before_ = value;
    setenv(variable, "1", 1);
  }
  OneThreadAtLoad(const OneThreadAtLoad&) = delete;
  OneThreadAtLoad& operator=(const OneThreadAtLoad&) = delete;
  ~OneThreadAtLoad() {  // other libraries of a Python session, and children, read it too
    if (before_)
      setenv(variable, before_->c_str(), 1);
    else
      unsetenv(variable);
  }

 private:
  static constexpr const char* variable = "OPENBLAS_NUM_THREADS";
  std::optional<std::string> before_;
};

const BlasFunctions& open_blas() {
  const OneThreadAtLoad at_load;
  const auto& functions =
      functions_of<BlasFunctions>({.name = "blas", .library = "OpenBLAS", .package = "libopenblas0 and liblapacke"});
  // Another part of the process may have loaded it before. On several threads it is slower than on one for matrices of
  // some hundred rows, and its threads would compete with the workers.
  functions.set_threads(1);
  return functions;
}

bool addresses_are_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// OpenBLAS waits for ever where it gets no buffer for a caller: where that can happen, all are made at the first call.
void make_buffers(const BlasFunctions& functions) {
  static std::atomic<int> made = 0;
  static std::mutex mutex;
  const int callers = thread_count();
  if (made >= callers) return;
  const std::lock_guard lock(mutex);
  if (made >= callers) return;
  made = functions.make_buffers(callers);
  if (made >= callers) return;
  throw Error(ErrorKind::budget, fmt::format("OpenBLAS: the address space holds the buffers (128 MiB each) of {} "
                                             "of {} threads",
                                             made.load(), callers))
      .hint(made > 0 ? fmt::format("use {} thread{}, or raise the limit of the address space (ulimit -v)", made.load(),
                                   made > 1 ? "s" : "")
                     : "raise the limit of the address space (ulimit -v)");
}

const BlasFunctions& blas() {
  static const BlasFunctions& opened = open_blas();
  static const bool limited = addresses_are_limited();
  if (limited) make_buffers(opened);
  return opened;
}

template <class T>
int step(View<T, 2> a) {
  assert(a.stride[1] == 1 || a.extent[1] <= 1);
  const Index rows_apart = a.extent[0] <= 1 && a.stride[0] < a.extent[1] ? a.extent[1] : a.stride[0];
  return static_cast<int>(rows_apart > 0 ? rows_apart : 1);
}

template <class T>
int rows(View<T, 2> a) {
  return static_cast<int>(a.extent[0]);
}

template <class T>
int columns(View<T, 2> a) {
  return static_cast<int>(a.extent[1]);
}

CBLAS_TRANSPOSE transposition(Form form) { return form == Form::plain ? CblasNoTrans : CblasTrans; }

/// Runs the routine of the element type.
template <class T, class Single, class Double, class... Arguments>
auto call(Single single, Double full, Arguments... arguments) {
  if constexpr (std::is_same_v<T, float>)
    return single(arguments...);
  else
    return full(arguments...);
}

template <class T>
void multiply_matrices(T alpha, ConstMatrix<T> a, Form form_a, ConstMatrix<T> b, Form form_b, T beta, Matrix<T> c) {
  const int inner = form_a == Form::plain ? columns(a) : rows(a);
  assert((form_a == Form::plain ? rows(a) : columns(a)) == rows(c));
  assert((form_b == Form::plain ? rows(b) : columns(b)) == inner);
  assert((form_b == Form::plain ? columns(b) : rows(b)) == columns(c));
  if (c.count() == 0) return;
  call<T>(blas().sgemm, blas().dgemm, CblasRowMajor, transposition(form_a), transposition(form_b), rows(c), columns(c),
          inner, alpha, a.data, step(a), b.data, step(b), beta, c.data, step(c));
}

/// Rows of c = a^T a up to which products of halves take less time than the library's symmetric product, which packs
/// what it multiplies and takes a lock: 3.1 against 4.3 us at 50 rows.
constexpr Index small = 64;
/// Rows of a half that is multiplied as if it were not symmetric.
constexpr Index smallest = 32;

template <class T>
void multiply_transposed_by_halves(T alpha, ConstMatrix<T> a, T beta, Matrix<T> c) {
  const Index n = c.extent[0];
  if (n <= smallest) {  // beside c, whose upper triangle stays
    T elements[smallest * smallest];
    multiply_matrices(alpha, a, Form::transposed, a, Form::plain, T{0}, Matrix<T>(elements, n, n));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) c(i, j) = elements[i * n + j] + (beta == 0 ? 0 : beta * c(i, j));
    return;
  }
  const auto columns_of = [&](Index from, Index count) {
    ConstMatrix<T> part = a;
    part.data += from;
    part.extent[1] = count;
    return part;
  };
  const auto part_of_c = [&](Index row, Index rows, Index column, Index columns) {
    Matrix<T> part(c.data + row * c.stride[0] + column, rows, columns);
    part.stride[0] = c.stride[0];
    return part;
  };
  const Index half = n / 2, rest = n - half;
  multiply_transposed_by_halves(alpha, columns_of(0, half), beta, part_of_c(0, half, 0, half));
  multiply_matrices(alpha, columns_of(half, rest), Form::transposed, columns_of(0, half), Form::plain, beta,
                    part_of_c(half, rest, 0, half));
  multiply_transposed_by_halves(alpha, columns_of(half, rest), beta, part_of_c(half, rest, half, rest));
}

template <class T>
void multiply_own(T alpha, ConstMatrix<T> a, Form form, T beta, Matrix<T> c) {
  const int inner = form == Form::plain ? columns(a) : rows(a);
  assert((form == Form::plain ? rows(a) : columns(a)) == rows(c) && rows(c) == columns(c));
  if (c.count() == 0) return;
  if (form == Form::transposed && c.extent[0] <= small && inner <= small)
    return multiply_transposed_by_halves(alpha, a, beta, c);
  call<T>(blas().ssyrk, blas().dsyrk, CblasRowMajor, CblasLower, transposition(form), rows(c), inner, alpha, a.data,
          step(a), beta, c.data, step(c));
}

template <class T>
void multiply_vector(ConstMatrix<T> a, Form form, std::span<const T> x, T beta, std::span<T> y) {
  assert(static_cast<Index>(x.size()) == a.extent[form == Form::plain ? 1 : 0]);
  assert(static_cast<Index>(y.size()) == a.extent[form == Form::plain ? 0 : 1]);
  if (y.empty()) return;
  if (x.empty()) {
    for (T& value : y) value *= beta;
    return;
  }
  call<T>(blas().sgemv, blas().dgemv, CblasRowMajor, transposition(form), rows(a), columns(a), T{1}, a.data, step(a),
          x.data(), 1, beta, y.data(), 1);
}

template <class T>
void multiply_vector_symmetric(ConstMatrix<T> a, std::span<const T> x, std::span<T> y) {
  assert(rows(a) == columns(a) && static_cast<Index>(x.size()) == a.extent[0] && x.size() == y.size());
  if (y.empty()) return;
  call<T>(blas().ssymv, blas().dsymv, CblasRowMajor, CblasLower, rows(a), T{1}, a.data, step(a), x.data(), 1, T{0},
          y.data(), 1);
}

template <class T>
void solve_vector(ConstMatrix<T> lower, Form form, std::span<T> x) {
  assert(rows(lower) == columns(lower) && static_cast<Index>(x.size()) == lower.extent[0]);
  if (x.empty()) return;
  const bool by_columns = lower.stride[0] == 1 && lower.stride[1] > 1;
  call<T>(blas().strsv, blas().dtrsv, by_columns ? CblasColMajor : CblasRowMajor, CblasLower, transposition(form),
          CblasNonUnit, rows(lower), lower.data, by_columns ? static_cast<int>(lower.stride[1]) : step(lower), x.data(),
          1);
}

template <class T>
void solve_matrix(ConstMatrix<T> lower, Matrix<T> b) {
  assert(rows(lower) == columns(lower) && rows(lower) == rows(b));
  if (b.count() == 0) return;
  call<T>(blas().strsm, blas().dtrsm, CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rows(b),
          columns(b), T{1}, lower.data, step(lower), b.data, step(b));
}

template <class T>
bool cholesky(Matrix<T> a) {
  assert(rows(a) == columns(a));
  if (a.count() == 0) return true;
  return call<T>(blas().spotrf, blas().dpotrf, LAPACK_COL_MAJOR, 'U', rows(a), a.data, step(a)) == 0;
}

template <class T>
bool lu(Matrix<T> a, std::span<int> pivots) {
  assert(rows(a) == columns(a) && static_cast<Index>(pivots.size()) == a.extent[0]);
  if (a.count() == 0) return true;
  return call<T>(blas().sgetrf, blas().dgetrf, LAPACK_COL_MAJOR, rows(a), columns(a), a.data, step(a), pivots.data()) ==
         0;
}

template <class T>
void solve_rows(ConstMatrix<T> factors, std::span<const int> pivots, Matrix<T> right_sides) {
  assert(columns(right_sides) == rows(factors));
  if (right_sides.count() == 0) return;
  call<T>(blas().sgetrs, blas().dgetrs, LAPACK_COL_MAJOR, 'T', rows(factors), rows(right_sides), factors.data,
          step(factors), pivots.data(), right_sides.data, step(right_sides));
}

}  // namespace

std::string library_version() { return blas().configuration(); }

void multiply(double alpha, ConstMatrix<double> a, Form form_a, ConstMatrix<double> b, Form form_b, double beta,
              Matrix<double> c) {
  multiply_matrices(alpha, a, form_a, b, form_b, beta, c);
}
void multiply(float alpha, ConstMatrix<float> a, Form form_a, ConstMatrix<float> b, Form form_b, float beta,
              Matrix<float> c) {
  multiply_matrices(alpha, a, form_a, b, form_b, beta, c);
}

void multiply_symmetric(double alpha, ConstMatrix<double> a, Form form, double beta, Matrix<double> c) {
  multiply_own(alpha, a, form, beta, c);
}
void multiply_symmetric(float alpha, ConstMatrix<float> a, Form form, float beta, Matrix<float> c) {
  multiply_own(alpha, a, form, beta, c);
}

void multiply(ConstMatrix<double> a, Form form, std::span<const double> x, double beta, std::span<double> y) {
  multiply_vector(a, form, x, beta, y);
}
void multiply(ConstMatrix<float> a, Form form, std::span<const float> x, float beta, std::span<float> y) {
  multiply_vector(a, form, x, beta, y);
}

void multiply_symmetric(ConstMatrix<double> a, std::span<const double> x, std::span<double> y) {
  multiply_vector_symmetric(a, x, y);
}
void multiply_symmetric(ConstMatrix<float> a, std::span<const float> x, std::span<float> y) {
  multiply_vector_symmetric(a, x, y);
}

void solve_triangular(ConstMatrix<double> lower, Form form, std::span<double> x) { solve_vector(lower, form, x); }
void solve_triangular(ConstMatrix<float> lower, Form form, std::span<float> x) { solve_vector(lower, form, x); }
void solve_triangular(ConstMatrix<double> lower, Matrix<double> b) { solve_matrix(lower, b); }
void solve_triangular(ConstMatrix<float> lower, Matrix<float> b) { solve_matrix(lower, b); }

bool factorise_cholesky(Matrix<double> a) { return cholesky(a); }
bool factorise_cholesky(Matrix<float> a) { return cholesky(a); }

bool factorise_lu(Matrix<double> a, std::span<int> pivots) { return lu(a, pivots); }
bool factorise_lu(Matrix<float> a, std::span<int> pivots) { return lu(a, pivots); }

void solve_lu(ConstMatrix<double> factors, std::span<const int> pivots, Matrix<double> right_sides) {
  solve_rows(factors, pivots, right_sides);
}
void solve_lu(ConstMatrix<float> factors, std::span<const int> pivots, Matrix<float> right_sides) {
  solve_rows(factors, pivots, right_sides);
}

double reciprocal_condition(ConstMatrix<double> factors, double norm, std::span<double> work, std::span<int> counts) {
  assert(static_cast<Index>(work.size()) >= 4 * factors.extent[0]);
  assert(static_cast<Index>(counts.size()) >= factors.extent[0]);
  if (factors.count() == 0) return 1;
  double reciprocal = 0;
  blas().dgecon(LAPACK_COL_MAJOR, '1', rows(factors), factors.data, step(factors), norm, &reciprocal, work.data(),
                counts.data());
  return reciprocal;
}

double row_sum_norm(ConstMatrix<double> a) {
  double largest = 0;
  for (Index i = 0; i < a.extent[0]; ++i) {
    double sum = 0;
    for (Index j = 0; j < a.extent[1]; ++j) sum += std::abs(a(i, j));
    if (!(sum <= largest)) largest = sum;  // a NaN stays
  }
  return largest;
}

}  // namespace sonde::dense
