# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments for type checkers. Written by `python -m sonde._options`; do not edit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict

import numpy.typing as npt

#: Text, and what stands for it: a path, a number, a list with commas.
Text = str | os.PathLike[str] | SupportsFloat | Sequence[str | SupportsFloat] | npt.NDArray[Any]


class LoadKeywords(TypedDict, total=False):
    """Keywords of load."""

    scan_shape: Text | None
    scan_flip: Literal["none", "rows", "cols", "both"] | None
    transpose_scan: bool | None
    transpose_detector: bool | None
    allow_incomplete: bool | None
    drop_extra: bool | None
    ignore_mask: bool | None
    mask_file: Text | None
    sentinel: SupportsIndex | None
    dataset: Text | None
    raw_shape: Text | None
    raw_dtype: Text | None
    raw_big_endian: bool | None
    raw_offset: SupportsIndex | str | None
    raw_gap: SupportsIndex | str | None
    preset: Text | None
    calibration: Text | None
    voltage: SupportsFloat | None
    camera_length: SupportsFloat | None
    scan_step: SupportsFloat | None
    rotation: SupportsFloat | None
    det_bin: Text | None
    bin_mode: Literal["sum", "mean"] | None
    edge: Literal["keep", "drop"] | None
    scan_bin: SupportsIndex | None
    scan_region: Text | None
    dtype: Literal["auto", "u8", "u16", "u32", "f32"] | None
    layout: Literal["auto", "frame", "pixel", "compressed", "file"] | None
    hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None
    on_error: Literal["fail", "zero"] | None
    device: Text | None
    memory: SupportsIndex | str | None


class FolderKeywords(TypedDict, total=False):
    """Keywords of load_folder."""

    pattern: Text | None
    recursive: bool | None
    max_files: SupportsIndex | None
    series_shape: Text | None
    scan_shape: Text | None
    scan_flip: Literal["none", "rows", "cols", "both"] | None
    transpose_scan: bool | None
    transpose_detector: bool | None
    allow_incomplete: bool | None
    drop_extra: bool | None
    ignore_mask: bool | None
    mask_file: Text | None
    sentinel: SupportsIndex | None
    dataset: Text | None
    raw_shape: Text | None
    raw_dtype: Text | None
    raw_big_endian: bool | None
    raw_offset: SupportsIndex | str | None
    raw_gap: SupportsIndex | str | None
    preset: Text | None
    calibration: Text | None
    voltage: SupportsFloat | None
    camera_length: SupportsFloat | None
    scan_step: SupportsFloat | None
    rotation: SupportsFloat | None
    det_bin: Text | None
    bin_mode: Literal["sum", "mean"] | None
    edge: Literal["keep", "drop"] | None
    scan_bin: SupportsIndex | None
    scan_region: Text | None
    dtype: Literal["auto", "u8", "u16", "u32", "f32"] | None
    layout: Literal["auto", "frame", "pixel", "compressed", "file"] | None
    hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None
    on_error: Literal["fail", "zero"] | None
    device: Text | None
    memory: SupportsIndex | str | None


class ArinaKeywords(TypedDict, total=False):
    """Keywords of load."""

    scan_flip: Literal["none", "rows", "cols", "both"] | None
    transpose_scan: bool | None
    transpose_detector: bool | None
    allow_incomplete: bool | None
    drop_extra: bool | None
    ignore_mask: bool | None
    mask_file: Text | None
    sentinel: SupportsIndex | None
    dataset: Text | None
    raw_shape: Text | None
    raw_dtype: Text | None
    raw_big_endian: bool | None
    raw_offset: SupportsIndex | str | None
    raw_gap: SupportsIndex | str | None
    preset: Text | None
    calibration: Text | None
    voltage: SupportsFloat | None
    camera_length: SupportsFloat | None
    scan_step: SupportsFloat | None
    rotation: SupportsFloat | None
    bin_mode: Literal["sum", "mean"] | None
    edge: Literal["keep", "drop"] | None
    scan_region: Text | None
    dtype: Literal["auto", "u8", "u16", "u32", "f32"] | None
    layout: Literal["auto", "frame", "pixel", "compressed", "file"] | None
    on_error: Literal["fail", "zero"] | None
    device: Text | None
    memory: SupportsIndex | str | None


class ArinaFolderKeywords(TypedDict, total=False):
    """Keywords of load_folder."""

    pattern: Text | None
    recursive: bool | None
    max_files: SupportsIndex | None
    series_shape: Text | None
    scan_flip: Literal["none", "rows", "cols", "both"] | None
    transpose_scan: bool | None
    transpose_detector: bool | None
    allow_incomplete: bool | None
    drop_extra: bool | None
    ignore_mask: bool | None
    mask_file: Text | None
    sentinel: SupportsIndex | None
    dataset: Text | None
    raw_shape: Text | None
    raw_dtype: Text | None
    raw_big_endian: bool | None
    raw_offset: SupportsIndex | str | None
    raw_gap: SupportsIndex | str | None
    preset: Text | None
    calibration: Text | None
    voltage: SupportsFloat | None
    camera_length: SupportsFloat | None
    scan_step: SupportsFloat | None
    rotation: SupportsFloat | None
    bin_mode: Literal["sum", "mean"] | None
    edge: Literal["keep", "drop"] | None
    scan_region: Text | None
    dtype: Literal["auto", "u8", "u16", "u32", "f32"] | None
    layout: Literal["auto", "frame", "pixel", "compressed", "file"] | None
    on_error: Literal["fail", "zero"] | None
    device: Text | None
    memory: SupportsIndex | str | None


class ImageKeywords(TypedDict, total=False):
    """Keywords of image."""

    centre: Text | None
    radius: SupportsFloat | None
    centre_method: Literal["edge", "threshold", "plateau", "com", "friedel"] | None
    inclusive: bool | None
    antialias: bool | None
    normalise: Literal["none", "area"] | None


class SaveImageKeywords(TypedDict, total=False):
    """Keywords of save_image."""

    centre: Text | None
    radius: SupportsFloat | None
    centre_method: Literal["edge", "threshold", "plateau", "com", "friedel"] | None
    inclusive: bool | None
    antialias: bool | None
    normalise: Literal["none", "area"] | None
    range: Text | None
    map: Literal["auto", "gray", "viridis", "cividis", "inferno", "magma", "RdBu", "phase"] | None
    colour_bar: bool | None


class SimulateKeywords(TypedDict, total=False):
    """Keywords of simulate."""

    scan_shape: Text | None
    detector_shape: Text | None
    sample: Literal["particles", "vacuum", "phase", "disks", "crystal", "counting", "events"] | None
    dose: SupportsFloat | None
    centre: Text | None
    disk_radius: SupportsFloat | None
    edge_width: SupportsFloat | None
    halo_length: SupportsFloat | None
    wide_length: SupportsFloat | None
    halo_fraction: SupportsFloat | None
    deflection: SupportsFloat | None
    descan: SupportsFloat | None
    phase_height: SupportsFloat | None
    phase_width: SupportsFloat | None
    rotation: SupportsFloat | None
    transpose: bool | None
    lattice: Text | None
    strain_field: Literal["uniform", "gradient", "step", "rotation"] | None
    strain: Text | None
    lattice_turn: SupportsFloat | None
    orders: SupportsIndex | None
    excitation: SupportsFloat | None
    crystal: Text | None
    grains: SupportsIndex | None
    euler: Text | None
    k_max: SupportsFloat | None
    sigma_excitation_error: SupportsFloat | None
    diffracted: SupportsFloat | None
    occupancy: SupportsFloat | None
    dwell: Text | None
    cloud: SupportsFloat | None
    deposit: SupportsFloat | None
    deposit_spread: SupportsFloat | None
    read_noise: SupportsFloat | None
    dark_level: SupportsFloat | None
    dark_spread: SupportsFloat | None
    gain_spread: SupportsFloat | None
    xray_rate: SupportsFloat | None
    masked_pixels: SupportsIndex | None
    hot_pixels: SupportsIndex | None
    seed: SupportsIndex | None
    dtype: Literal["u8", "u16", "u32"] | None
    frames_per_file: SupportsIndex | None
    voltage: SupportsFloat | None
    camera_length: SupportsFloat | None
    scan_step: SupportsFloat | None
    truth: bool | None


class ViewKeywords(TypedDict, total=False):
    """Keywords of view."""

    host: Text | None
    port: SupportsIndex | None
    token: Text | None
    allow_host: Text | None
    embed_in: Text | None


class PtychoSimulateKeywords(TypedDict, total=False):
    """Keywords of ptycho_simulate."""

    energy_keV: SupportsFloat | None
    semiangle_mrad: SupportsFloat | None
    defocus_A: SupportsFloat | None
    C12_A: SupportsFloat | None
    phi12_deg: SupportsFloat | None
    C30_A: SupportsFloat | None
    defocus_error: SupportsFloat | None
    occupancies: Text | None
    source_fwhm_A: SupportsFloat | None
    detector_px: SupportsIndex | None
    detector_mrad: SupportsFloat | None
    dead_pixels: SupportsIndex | None
    counts_per_frame: SupportsFloat | None
    dtype: Literal["u16", "u32"] | None
    scan_shape: Text | None
    scan_step_A: SupportsFloat | None
    scan_rotation_deg: SupportsFloat | None
    transpose: bool | None
    whole_pixels: bool | None
    jitter_A: SupportsFloat | None
    drift_A: Text | None
    scan_scale: SupportsFloat | None
    scan_shear: SupportsFloat | None
    lattice: Literal["square", "hexagonal"] | None
    spacing_A: SupportsFloat | None
    lattice_turn_deg: SupportsFloat | None
    atom_rms_A: SupportsFloat | None
    peak_rad: SupportsFloat | None
    second_peak_rad: SupportsFloat | None
    displacement_A: SupportsFloat | None
    vacancies: SupportsFloat | None
    amorphous_rad: SupportsFloat | None
    step_rad: SupportsFloat | None
    layers: SupportsIndex | None
    layer_distance_A: Text | None
    tilt_row_mrad: SupportsFloat | None
    tilt_col_mrad: SupportsFloat | None
    seed: SupportsIndex | None


class GridKeywords(TypedDict, total=False):
    """Keywords of neoclassical_grid."""

    discretisation: Literal["skew", "collocation"] | None
    round_odd: bool | None


class CaseKeywords(TypedDict, total=False):
    """Keywords of neoclassical_case."""

    epsi_hat: SupportsFloat | None
    er_hat: SupportsFloat | None
    er_tilde: SupportsFloat | None


class ScanKeywords(TypedDict, total=False):
    """Keywords of neoclassical_scan."""

    er_hat: Text | None
    er_tilde: Text | None


class SurfaceKeywords(TypedDict, total=False):
    """Keywords of neoclassical_surface."""

    type: Literal["auto", "analytic", "example", "dkes", "boozmn", "vmec", "bc"] | None
    s: SupportsFloat | None
    rho: SupportsFloat | None
    surface_index: SupportsIndex | None
    psi_a: SupportsFloat | None
    wout: Text | None
    signgs: SupportsIndex | None
    min_bmn: SupportsFloat | None
    snap: bool | None
    vmec_radial_option: SupportsIndex | None
    m: Text | None
    n: Text | None
    b_cos: Text | None
    b_sin: Text | None
    nfp: SupportsIndex | None
    iota: SupportsFloat | None
    psi_p: SupportsFloat | None
    b_theta: SupportsFloat | None
    b_zeta: SupportsFloat | None


class VmecKeywords(TypedDict, total=False):
    """Keywords of neoclassical_surface."""

    surface_index: SupportsIndex | None
    min_bmn: SupportsFloat | None
    vmec_radial_option: SupportsIndex | None


class BoozerKeywords(TypedDict, total=False):
    """Keywords of neoclassical_surface."""

    surface_index: SupportsIndex | None
    psi_a: SupportsFloat | None
    wout: Text | None
    signgs: SupportsIndex | None
    min_bmn: SupportsFloat | None
    snap: bool | None


class StudyKeywords(TypedDict, total=False):
    """Keywords of neoclassical_study."""

    refine: Text | None
    tol: SupportsFloat | None
    steps: SupportsIndex | None


class SolverKeywords(TypedDict, total=False):
    """Keywords of neoclassical_solver."""

    path: Literal["auto", "dense", "spd", "quasidefinite"] | None
    precision: Literal["auto", "f64", "f32-refine"] | None
    scan_batch_size: SupportsIndex | None
    tol: SupportsFloat | None
    adapt_n_xi: SupportsFloat | None
    krylov_reuse: bool | None


class ConversionKeywords(TypedDict, total=False):
    """Keywords of neoclassical_conversion."""

    radius: SupportsFloat | None
    minor_radius: SupportsFloat | None
    major_radius: SupportsFloat | None
    psi_a: SupportsFloat | None


class TransportKeywords(TypedDict, total=False):
    """Keywords of neoclassical_transport."""

    root: Literal["entropy", "ion", "electron"] | None
    E_r_lowest: SupportsFloat | None
    E_r_highest: SupportsFloat | None
    E_r_points: SupportsIndex | None
    E_par: SupportsFloat | None
    momentum_correction: Literal["none", "sonine"] | None
    sonine_order: SupportsIndex | None
    energies: SupportsIndex | None
    quadrature: Literal["laguerre", "maxwell"] | None
    coulomb_logarithm: Literal["electrons", "nrl", "impact"] | None
