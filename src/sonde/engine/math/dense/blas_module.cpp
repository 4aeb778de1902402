// SPDX-License-Identifier: Apache-2.0
// sonde_blas.so: the one object that is linked to OpenBLAS and LAPACKE.
#include <sys/mman.h>

#include <vector>

#include "sonde/engine/base/module.h"
#include "sonde/engine/math/dense/blas_functions.h"

// Where a caller gets its buffer. Exported by the library, and in no header of it.
extern "C" void* blas_memory_alloc(int);
extern "C" void blas_memory_free(void*);

namespace {

/// The library's buffer (32 << 22 bytes) and what it aligns and books with it.
constexpr std::size_t buffer_bytes = std::size_t{136} << 20;

bool have_room() {
  void* const room =
      mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, buffer_bytes);
  return true;
}

int make_buffers(int callers) {
  std::vector<void*> buffers;
  // Asked for without room the library would try again for ever.
  while (static_cast<int>(buffers.size()) < callers && have_room()) buffers.push_back(blas_memory_alloc(0));
  for (void* buffer : buffers) blas_memory_free(buffer);
  return static_cast<int>(buffers.size());
}

constexpr sonde::dense::BlasFunctions functions = {
    .set_threads = openblas_set_num_threads,
    .configuration = openblas_get_config,
    .make_buffers = make_buffers,
    .sgemm = cblas_sgemm,
    .dgemm = cblas_dgemm,
    .ssyrk = cblas_ssyrk,
    .dsyrk = cblas_dsyrk,
    .sgemv = cblas_sgemv,
    .dgemv = cblas_dgemv,
    .ssymv = cblas_ssymv,
    .dsymv = cblas_dsymv,
    .strsv = cblas_strsv,
    .dtrsv = cblas_dtrsv,
    .strsm = cblas_strsm,
    .dtrsm = cblas_dtrsm,
    .spotrf = LAPACKE_spotrf_work,
    .dpotrf = LAPACKE_dpotrf_work,
    .sgetrf = LAPACKE_sgetrf_work,
    .dgetrf = LAPACKE_dgetrf_work,
    .sgetrs = LAPACKE_sgetrs_work,
    .dgetrs = LAPACKE_dgetrs_work,
    .dgecon = LAPACKE_dgecon_work,
};
}  // namespace

SONDE_MODULE(functions);
