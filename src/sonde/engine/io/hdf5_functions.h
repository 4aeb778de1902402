// SPDX-License-Identifier: Apache-2.0
// Private to the HDF5 sources: what sonde_hdf5.so exports, the functions and identifiers of the library that are used.
// A further one is added to a list here and to hdf5_calls.h; a forgotten one does not link.
#pragma once

#include <hdf5.h>

// clang-format off
#define SONDE_HDF5_FUNCTIONS(X) \
  X(H5Acreate_by_name) X(H5Aget_name) X(H5Aget_space) X(H5Aget_type) X(H5Aopen) X(H5Aopen_by_idx) \
  X(H5Aopen_by_name) X(H5Aread) X(H5Awrite) X(H5Dcreate2) X(H5Dget_chunk_storage_size) X(H5Dget_create_plist) \
  X(H5Dget_offset) X(H5Dget_space) X(H5Dget_storage_size) X(H5Dget_type) X(H5Dopen2) X(H5Dread) X(H5Dread_chunk) \
  X(H5Dwrite) X(H5Dwrite_chunk) X(H5Eget_auto2) X(H5Eset_auto2) X(H5Ewalk2) X(H5Fclose) X(H5Fcreate) X(H5Fflush) \
  X(H5Fget_name) X(H5Fget_vfd_handle) X(H5Fis_hdf5) X(H5Fopen) X(H5Gcreate2) X(H5Gopen2) X(H5Idec_ref) \
  X(H5Iinc_ref) X(H5Lcreate_external) X(H5Lcreate_soft) X(H5Lget_info) X(H5Lget_val) X(H5Literate) \
  X(H5Lunpack_elink_val) X(H5Oexists_by_name) X(H5Oget_info2) X(H5Oopen) X(H5PLget_loading_state) \
  X(H5PLset_loading_state) X(H5Pcreate) X(H5Pget_chunk) X(H5Pget_external_count) X(H5Pget_fill_value) \
  X(H5Pget_filter2) X(H5Pget_layout) X(H5Pget_nfilters) X(H5Pget_virtual_count) X(H5Pget_virtual_dsetname) \
  X(H5Pget_virtual_filename) X(H5Pget_virtual_srcspace) X(H5Pget_virtual_vspace) X(H5Pset_chunk) \
  X(H5Pset_create_intermediate_group) X(H5Pset_file_locking) X(H5Pset_fill_value) X(H5Pset_filter) \
  X(H5Pset_obj_track_times) X(H5Rcreate) X(H5Screate) X(H5Screate_simple) X(H5Sget_select_bounds) \
  X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_ndims) X(H5Sget_simple_extent_npoints) \
  X(H5Sget_simple_extent_type) X(H5Sselect_hyperslab) X(H5Tconvert) X(H5Tcopy) X(H5Tcreate) X(H5Tdetect_class) \
  X(H5Tequal) X(H5Tget_class) X(H5Tget_cset) X(H5Tget_member_type) X(H5Tget_native_type) X(H5Tget_nmembers) \
  X(H5Tget_order) X(H5Tget_precision) X(H5Tget_sign) X(H5Tget_size) X(H5Tget_strpad) X(H5Tget_super) X(H5Tinsert) \
  X(H5Tis_variable_str) X(H5Tset_cset) X(H5Tset_size) X(H5Tvlen_create) X(H5Zfilter_avail) X(H5Zunregister) \
  X(H5check_version) X(H5dont_atexit) X(H5free_memory) X(H5open)
#define SONDE_HDF5_IDENTIFIERS(X) \
  X(H5P_CLS_DATASET_CREATE_ID_g) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5P_CLS_LINK_CREATE_ID_g) X(H5T_C_S1_g) \
  X(H5T_NATIVE_DOUBLE_g) X(H5T_NATIVE_FLOAT_g) X(H5T_NATIVE_INT16_g) X(H5T_NATIVE_INT32_g) X(H5T_NATIVE_INT64_g) \
  X(H5T_NATIVE_INT8_g) X(H5T_NATIVE_INT_g) X(H5T_NATIVE_UINT16_g) X(H5T_NATIVE_UINT32_g) X(H5T_NATIVE_UINT64_g) \
  X(H5T_NATIVE_UINT8_g) X(H5T_STD_REF_OBJ_g)
// clang-format on

namespace sonde::hdf5 {

struct Functions {
#define SONDE_FUNCTION(name) decltype(&::name) name;
  SONDE_HDF5_FUNCTIONS(SONDE_FUNCTION)
#undef SONDE_FUNCTION
#define SONDE_IDENTIFIER(name) const hid_t* name;  // the library fills them in when it starts
  SONDE_HDF5_IDENTIFIERS(SONDE_IDENTIFIER)
#undef SONDE_IDENTIFIER
};

}  // namespace sonde::hdf5
