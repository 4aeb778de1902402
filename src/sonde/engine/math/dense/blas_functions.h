// SPDX-License-Identifier: Apache-2.0
// Private to the room: what sonde_blas.so exports, the functions of OpenBLAS and LAPACKE that blas.cpp calls.
#pragma once

#include <cblas.h>
#include <lapacke.h>

namespace sonde::dense {

struct BlasFunctions {
  decltype(&openblas_set_num_threads) set_threads;
  decltype(&openblas_get_config) configuration;
  /// Has the library allocate the buffers (128 MiB of addresses each) that so many simultaneous callers need; it keeps
  /// them. How many it has then: fewer where the address space ends.
  int (*make_buffers)(int callers);
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_dgemm) dgemm;
  decltype(&cblas_ssyrk) ssyrk;
  decltype(&cblas_dsyrk) dsyrk;
  decltype(&cblas_sgemv) sgemv;
  decltype(&cblas_dgemv) dgemv;
  decltype(&cblas_ssymv) ssymv;
  decltype(&cblas_dsymv) dsymv;
  decltype(&cblas_strsv) strsv;
  decltype(&cblas_dtrsv) dtrsv;
  decltype(&cblas_strsm) strsm;
  decltype(&cblas_dtrsm) dtrsm;
  decltype(&LAPACKE_spotrf_work) spotrf;
  decltype(&LAPACKE_dpotrf_work) dpotrf;
  decltype(&LAPACKE_sgetrf_work) sgetrf;
  decltype(&LAPACKE_dgetrf_work) dgetrf;
  decltype(&LAPACKE_sgetrs_work) sgetrs;
  decltype(&LAPACKE_dgetrs_work) dgetrs;
  decltype(&LAPACKE_dgecon_work) dgecon;
};

}  // namespace sonde::dense
