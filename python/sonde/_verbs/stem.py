# SPDX-License-Identifier: Apache-2.0
"""The verbs of `sonde stem` as functions. Written by `python -m sonde._verb_functions`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

from .._calls import checked
from .._keywords import Text
from .._run import Result, run as _run
from .._types import Progress


@checked
def info(input: Text, *, metadata: bool | None = None, scan_shape: Text | None = None, transpose_scan: bool | None = None,
         transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
         ignore_mask: bool | None = None, sentinel: SupportsIndex | None = None, dataset: Text | None = None,
         raw_shape: Text | None = None, raw_dtype: Text | None = None, raw_offset: SupportsIndex | str | None = None,
         raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
         voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None, scan_step: SupportsFloat | None = None,
         rotation: SupportsFloat | None = None, det_bin: Text | None = None, bin_mode: Literal["sum", "mean"] | None = None,
         edge: Literal["keep", "drop"] | None = None, scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
         dtype: Literal["auto", "u8", "u16", "u32", "f32"] | None = None,
         layout: Literal["auto", "frame", "pixel", "compressed", "file"] | None = None, device: Text | None = None,
         memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
         config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Say what a scan holds and what loading it would take.

    What ``sonde stem info`` does.

    Parameters
    ----------
    input : str, default ''
        master file or another scan
    metadata : bool, default False
        list every value the file holds
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    scan_step : float in nm, default unset
        distance of scan positions (at least 1e-06, at most 1e+06)
    rotation : float in degrees, default unset
        rotation between scan and detector (at least -360, at most 360)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    bin_mode : {'sum', 'mean'}, default 'sum'
        exact sums of counts, or means over good pixels in f32
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    dtype : {'auto', 'u8', 'u16', 'u32', 'f32'}, default 'auto'
        element type held; auto is the narrowest that loses nothing, a given one clips and counts what it clips
    layout : {'auto', 'frame', 'pixel', 'compressed', 'file'}, default 'auto'
        how the scan is held in memory
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem info", input, metadata=metadata, scan_shape=scan_shape, transpose_scan=transpose_scan,
                transpose_detector=transpose_detector, allow_incomplete=allow_incomplete, drop_extra=drop_extra,
                ignore_mask=ignore_mask, sentinel=sentinel, dataset=dataset, raw_shape=raw_shape, raw_dtype=raw_dtype,
                raw_offset=raw_offset, raw_gap=raw_gap, preset=preset, calibration=calibration, voltage=voltage,
                camera_length=camera_length, scan_step=scan_step, rotation=rotation, det_bin=det_bin, bin_mode=bin_mode,
                edge=edge, scan_bin=scan_bin, scan_region=scan_region, dtype=dtype, layout=layout, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, copy=copy, progress=progress)


@checked
def validate(*input: Text, decode: bool | None = None, pattern: Text | None = None, recursive: bool | None = None,
             max_files: SupportsIndex | None = None, scan_shape: Text | None = None, transpose_scan: bool | None = None,
             allow_incomplete: bool | None = None, drop_extra: bool | None = None, mask_file: Text | None = None,
             dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
             raw_offset: SupportsIndex | str | None = None, raw_gap: SupportsIndex | str | None = None,
             preset: Text | None = None, det_bin: Text | None = None, scan_bin: SupportsIndex | None = None,
             scan_region: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
             memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
             config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Check scans without loading them and list every problem at once.

    What ``sonde stem validate`` does.

    Parameters
    ----------
    input : list of str, default []
        scans, or folders of *_master.h5
    decode : bool, default False
        decode every frame too, and list the broken ones
    pattern : str (TEXT), default ''
        take scans whose name contains this; * matches anything
    recursive : bool, default False
        look into sub-folders too
    max_files : int, default 0
        take at most this many scans; 0 takes all (at least 0)
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    transpose_scan : bool, default False
        exchange scan rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    """
    return _run("stem validate", *input, decode=decode, pattern=pattern, recursive=recursive, max_files=max_files,
                scan_shape=scan_shape, transpose_scan=transpose_scan, allow_incomplete=allow_incomplete, drop_extra=drop_extra,
                mask_file=mask_file, dataset=dataset, raw_shape=raw_shape, raw_dtype=raw_dtype, raw_offset=raw_offset,
                raw_gap=raw_gap, preset=preset, det_bin=det_bin, scan_bin=scan_bin, scan_region=scan_region, live=live,
                device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def load(*input: Text, output: Text | None = None,
         centre_method: Literal["edge", "threshold", "plateau", "com", "friedel"] | None = None, scan_shape: Text | None = None,
         scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
         transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
         ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
         dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
         raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
         raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
         voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None, scan_step: SupportsFloat | None = None,
         rotation: SupportsFloat | None = None, det_bin: Text | None = None, bin_mode: Literal["sum", "mean"] | None = None,
         edge: Literal["keep", "drop"] | None = None, scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
         dtype: Literal["auto", "u8", "u16", "u32", "f32"] | None = None,
         layout: Literal["auto", "frame", "pixel", "compressed", "file"] | None = None,
         hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
         on_error: Literal["fail", "zero"] | None = None, pattern: Text | None = None, recursive: bool | None = None,
         max_files: SupportsIndex | None = None, series_shape: Text | None = None, live: SupportsIndex | None = None,
         device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
         report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, copy: bool = False,
         progress: Progress | None = None) -> Result:
    """Load a scan, correct it and say what was found.

    What ``sonde stem load`` does.

    Decodes every frame once, finds bad pixels and the centre of the pattern, and reports sums, moments, exactness and memory. A
    folder is loaded as a series of scans of one shape.

    Parameters
    ----------
    input : list of str, default []
        scans, or folders of *_master.h5
    output : str (FILE.h5), default ''
        write sums, moments, mask and centre to this .h5 file
    centre_method : {'edge', 'threshold', 'plateau', 'com', 'friedel'}, default 'edge'
        how the centre is found
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    scan_step : float in nm, default unset
        distance of scan positions (at least 1e-06, at most 1e+06)
    rotation : float in degrees, default unset
        rotation between scan and detector (at least -360, at most 360)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    bin_mode : {'sum', 'mean'}, default 'sum'
        exact sums of counts, or means over good pixels in f32
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    dtype : {'auto', 'u8', 'u16', 'u32', 'f32'}, default 'auto'
        element type held; auto is the narrowest that loses nothing, a given one clips and counts what it clips
    layout : {'auto', 'frame', 'pixel', 'compressed', 'file'}, default 'auto'
        how the scan is held in memory
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    pattern : str (TEXT), default ''
        take scans whose name contains this; * matches anything
    recursive : bool, default False
        look into sub-folders too
    max_files : int, default 0
        take at most this many scans; 0 takes all (at least 0)
    series_shape : str (RY,RX,QY,QX), default ''
        take scans of this stored shape; else that of the first
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem load", *input, output=output, centre_method=centre_method, scan_shape=scan_shape, scan_flip=scan_flip,
                transpose_scan=transpose_scan, transpose_detector=transpose_detector, allow_incomplete=allow_incomplete,
                drop_extra=drop_extra, ignore_mask=ignore_mask, mask_file=mask_file, sentinel=sentinel, dataset=dataset,
                raw_shape=raw_shape, raw_dtype=raw_dtype, raw_big_endian=raw_big_endian, raw_offset=raw_offset, raw_gap=raw_gap,
                preset=preset, calibration=calibration, voltage=voltage, camera_length=camera_length, scan_step=scan_step,
                rotation=rotation, det_bin=det_bin, bin_mode=bin_mode, edge=edge, scan_bin=scan_bin, scan_region=scan_region,
                dtype=dtype, layout=layout, hot_pixels=hot_pixels, on_error=on_error, pattern=pattern, recursive=recursive,
                max_files=max_files, series_shape=series_shape, live=live, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, copy=copy, progress=progress)


@checked
def image(*input: Text, output: Text | None = None, from_: Text | None = None, state: Text | None = None, all: bool | None = None,
          detector: Text | None = None, centre: Text | None = None, radius: SupportsFloat | None = None,
          centre_method: Literal["edge", "threshold", "plateau", "com", "friedel"] | None = None, inclusive: bool | None = None,
          antialias: bool | None = None, normalise: Literal["none", "area"] | None = None, range: Text | None = None,
          map: Literal["auto", "gray", "viridis", "cividis", "inferno", "magma", "RdBu", "phase"] | None = None,
          colour_bar: bool | None = None, scan_shape: Text | None = None,
          scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
          transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
          ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
          dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
          raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
          raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
          voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None,
          scan_step: SupportsFloat | None = None, rotation: SupportsFloat | None = None, det_bin: Text | None = None,
          bin_mode: Literal["sum", "mean"] | None = None, edge: Literal["keep", "drop"] | None = None,
          scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
          dtype: Literal["auto", "u8", "u16", "u32", "f32"] | None = None,
          layout: Literal["auto", "frame", "pixel", "compressed", "file"] | None = None,
          hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
          on_error: Literal["fail", "zero"] | None = None, pattern: Text | None = None, recursive: bool | None = None,
          max_files: SupportsIndex | None = None, series_shape: Text | None = None, live: SupportsIndex | None = None,
          device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
          report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, copy: bool = False,
          progress: Progress | None = None) -> Result:
    """Make virtual images with any detectors.

    What ``sonde stem image`` does.

    Detectors are bf, abf, adf, haadf (in units of the bright-field disk), com-row and com-col (first moments), com-magnitude and
    com-angle (of their deflection from the centre), or expressions of circle, annulus, segment, ellipse, rect, point, polygon,
    runs and file joined by & | ! and parentheses. rings and segments are many detectors in one expression, whose images are one
    stack (rings by rings, sectors by sectors): pages of a TIFF, pictures side by side in a PNG. All detectors of a command are
    summed in one reading of the frames. Boolean detectors give exact integers. A PNG of a first moment shows the deflection from
    the centre of the beam. Beside every image a .json record is written that repeats it bit for bit with from.

    Shapes have their arguments in pixels after binning, rows before columns, pixel centres at whole numbers; a row or column of a
    centre may be auto, a radius may end in rho (radii of the bright-field disk), an angle is in radians or ends in deg:

    ::

            circle(row,col,r)
                Pixels at a distance d < r from the centre.
            annulus(row,col,r_in,r_out)
                Pixels at r_in <= d < r_out, so that adjacent annuli share none.
            segment(row,col,r_in,r_out,k,n[,phi0])
                Piece k (from 0) of n of an annulus, counted clockwise on the screen from the angle phi0.
            ellipse(row,col,a,b[,phi])
                Pixels inside the ellipse of semi-axis a, turned clockwise on the screen by phi, and b across it.
            rect(row0,col0,row1,col1)
                Rows row0 <= row < row1, columns col0 <= col < col1.
            point(row,col)
                The pixel that holds this place.
            polygon(row,col,row,col,row,col,...)
                Pixels inside by the even-odd rule; a centre on an edge belongs to what is right of or below the edge.
            runs(row,col0,col1,row,col0,col1,...)
                Columns col0 <= col < col1 of each row named: a mask that is painted freely.
            rings(row,col,r_in,r_out,n)
                n detectors: adjacent annuli of equal width from r_in to r_out, the innermost first.
            segments(row,col,r_in,r_out,n_rings,n_sectors[,phi0])
                n_rings x n_sectors detectors: such annuli, each in equal sectors that are counted clockwise on the screen from the angle phi0.

    Parameters
    ----------
    input : list of str, default []
        scans, or folders of *_master.h5; left out with from and state
    output : str (FILE|DIR), default ''
        FILE.npy, .tif, .png or .h5; a folder for several images (then .tif)
    from_ : str (RESULT.json), default ''
        repeat the image of this record, bit for bit
    state : str (STATE.json), default ''
        the images of all detectors of a state that `sonde view` saved, bit for bit
    all : bool, default False
        every scan of a folder; else the first
    detector : list of str, default ['bf']
        bf, abf, adf, haadf, com-row, com-col, com-magnitude, com-angle, or an expression such as 'annulus(auto,auto,40,90)'; may be repeated
    centre : str (ROW,COL|auto), default 'auto'
        centre of the pattern in pixels after binning; auto finds it in the mean pattern
    radius : float in px, default unset
        radius of the bright-field disk after binning; else found with the centre (at least 0)
    centre_method : {'edge', 'threshold', 'plateau', 'com', 'friedel'}, default 'edge'
        how the centre is found
    inclusive : bool, default False
        pixels exactly on the outer radius belong to an annulus, as in some other programs
    antialias : bool, default False
        weight edge pixels by their area inside
    normalise : {'none', 'area'}, default 'none'
        divide by the number of good pixels of the detector
    range : str (LOW,HIGH), default ''
        values at the ends of the colours of a PNG, in its unit; else the 0.5 and 99.5 % percentiles, for deflections the same on both sides of 0
    map : {'auto', 'gray', 'viridis', 'cividis', 'inferno', 'magma', 'RdBu', 'phase'}, default 'auto'
        colour map of a PNG; auto is gray for counts, RdBu for deflections, phase for directions
    colour_bar : bool, default True
        draw a colour bar with its unit beside the picture of a PNG
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    scan_step : float in nm, default unset
        distance of scan positions (at least 1e-06, at most 1e+06)
    rotation : float in degrees, default unset
        rotation between scan and detector (at least -360, at most 360)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    bin_mode : {'sum', 'mean'}, default 'sum'
        exact sums of counts, or means over good pixels in f32
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    dtype : {'auto', 'u8', 'u16', 'u32', 'f32'}, default 'auto'
        element type held; auto is the narrowest that loses nothing, a given one clips and counts what it clips
    layout : {'auto', 'frame', 'pixel', 'compressed', 'file'}, default 'auto'
        how the scan is held in memory
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    pattern : str (TEXT), default ''
        take scans whose name contains this; * matches anything
    recursive : bool, default False
        look into sub-folders too
    max_files : int, default 0
        take at most this many scans; 0 takes all (at least 0)
    series_shape : str (RY,RX,QY,QX), default ''
        take scans of this stored shape; else that of the first
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem image", *input, output=output, from_=from_, state=state, all=all, detector=detector, centre=centre,
                radius=radius, centre_method=centre_method, inclusive=inclusive, antialias=antialias, normalise=normalise,
                range=range, map=map, colour_bar=colour_bar, scan_shape=scan_shape, scan_flip=scan_flip,
                transpose_scan=transpose_scan, transpose_detector=transpose_detector, allow_incomplete=allow_incomplete,
                drop_extra=drop_extra, ignore_mask=ignore_mask, mask_file=mask_file, sentinel=sentinel, dataset=dataset,
                raw_shape=raw_shape, raw_dtype=raw_dtype, raw_big_endian=raw_big_endian, raw_offset=raw_offset, raw_gap=raw_gap,
                preset=preset, calibration=calibration, voltage=voltage, camera_length=camera_length, scan_step=scan_step,
                rotation=rotation, det_bin=det_bin, bin_mode=bin_mode, edge=edge, scan_bin=scan_bin, scan_region=scan_region,
                dtype=dtype, layout=layout, hot_pixels=hot_pixels, on_error=on_error, pattern=pattern, recursive=recursive,
                max_files=max_files, series_shape=series_shape, live=live, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, copy=copy, progress=progress)


@checked
def com(input: Text, *, output: Text | None = None, png: Text | None = None, html: Text | None = None, fit: Text | None = None,
        min_counts: SupportsFloat | None = None, threshold: Text | None = None, rotation: Text | None = None,
        transpose: Text | None = None, convention: Literal["sonde", "py4dstem", "libertem"] | None = None,
        sign: Literal["auto", "+", "-"] | None = None, rotation_blur: SupportsFloat | None = None,
        skip_calibration: Text | None = None, units: Literal["px", "mrad", "1/A", "V"] | None = None,
        q_pixel: SupportsFloat | None = None, scan_shape: Text | None = None,
        scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
        transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
        ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
        dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
        raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
        raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
        voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None, scan_step: SupportsFloat | None = None,
        det_bin: Text | None = None, bin_mode: Literal["sum", "mean"] | None = None, edge: Literal["keep", "drop"] | None = None,
        scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
        hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
        on_error: Literal["fail", "zero"] | None = None, live: SupportsIndex | None = None, device: Text | None = None,
        memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
        config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Measure the centre of mass of each pattern, and the field of deflections.

    What ``sonde stem com`` does.

    The centre of mass of each pattern is the mean deflection of the beam. Frames are decoded once and not held. What is taken
    away as its origin (fit) and how the detector is turned to the scan, as the file states it or as least curl says, is reported;
    the field is along the axes of the scan, with its curl and divergence. Standard errors are those that the counts give. sonde
    stem phase integrates the file.

    Parameters
    ----------
    input : str, default ''
        a scan, or the file of its centres of mass that sonde stem com wrote
    output : str (FILE.h5|.nc|.npz), default ''
        write centres of mass and the field of deflections to this file
    png : str (FILE.png), default ''
        draw counts, deflections, curl and divergence into this picture
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    fit : str (none|mean|plane|parabola|file:SCAN), default 'mean'
        surface through the centres of mass that is taken away; file: a parabola through those of a vacuum scan of the same shape
    min_counts : float in counts, default 1.0
        positions with fewer counts are missing (at least 0, at most 1e+15)
    threshold : str (none|COUNTS|auto) in counts, default 'none'
        pixels with up to so many counts count as zero in centres of mass; auto: mean + 3 sigma of the pixels in the corners of the detector, for which all frames are decoded once more
    rotation : str (DEG|auto) in degrees, default 'auto'
        from the axes of the detector to those of the scan, clockwise on a screen; auto: what the file states, else least curl
    transpose : str (0|1|auto), default 'auto'
        whether rows and columns of the detector are exchanged, before the rotation; auto: what the file states, else least curl
    convention : {'sonde', 'py4dstem', 'libertem'}, default 'sonde'
        whose rotation and transposition are given; of libertem scan_rotation and flip_y
    sign : {'auto', '+', '-'}, default 'auto'
        whether the specimen is a hill (+) or a valley (-) of the phase, which decides between two rotations half a turn apart; auto: a hill, with a warning where it is not clear which
    rotation_blur : float in steps, default 1.0
        Gaussian on the field before the rotation is looked for; 0: none (at least 0, at most 100)
    skip_calibration : str (STEP,...), default ''
        steps of the calibration in the file that are not applied: pixel, transpose, rotation
    units : {'px', 'mrad', '1/A', 'V'}, default 'px'
        of deflections along the scan: detector pixels, mrad, 1/A, or the projected field in V
    q_pixel : float in 1/A, default unset
        reciprocal size of a stored detector pixel, in place of what the file states (at least 1e-09, at most 1000)
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    scan_step : float in nm, default unset
        distance of scan positions (at least 1e-06, at most 1e+06)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    bin_mode : {'sum', 'mean'}, default 'sum'
        exact sums of counts, or means over good pixels in f32
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem com", input, output=output, png=png, html=html, fit=fit, min_counts=min_counts, threshold=threshold,
                rotation=rotation, transpose=transpose, convention=convention, sign=sign, rotation_blur=rotation_blur,
                skip_calibration=skip_calibration, units=units, q_pixel=q_pixel, scan_shape=scan_shape, scan_flip=scan_flip,
                transpose_scan=transpose_scan, transpose_detector=transpose_detector, allow_incomplete=allow_incomplete,
                drop_extra=drop_extra, ignore_mask=ignore_mask, mask_file=mask_file, sentinel=sentinel, dataset=dataset,
                raw_shape=raw_shape, raw_dtype=raw_dtype, raw_big_endian=raw_big_endian, raw_offset=raw_offset, raw_gap=raw_gap,
                preset=preset, calibration=calibration, voltage=voltage, camera_length=camera_length, scan_step=scan_step,
                det_bin=det_bin, bin_mode=bin_mode, edge=edge, scan_bin=scan_bin, scan_region=scan_region, hot_pixels=hot_pixels,
                on_error=on_error, live=live, device=device, memory=memory, threads=threads, report=report, config=config,
                dry_run=dry_run, copy=copy, progress=progress)


@checked
def phase(input: Text, *, output: Text | None = None, png: Text | None = None, html: Text | None = None, fit: Text | None = None,
          min_counts: SupportsFloat | None = None, threshold: Text | None = None, rotation: Text | None = None,
          transpose: Text | None = None, convention: Literal["sonde", "py4dstem", "libertem"] | None = None,
          sign: Literal["auto", "+", "-"] | None = None, rotation_blur: SupportsFloat | None = None,
          skip_calibration: Text | None = None, method: Literal["dct", "fourier", "cg", "ricom"] | None = None,
          regularise: SupportsFloat | None = None, padding: SupportsFloat | None = None, q_highpass: SupportsFloat | None = None,
          q_lowpass: SupportsFloat | None = None, butterworth_order: SupportsIndex | None = None,
          weigh_counts: bool | None = None, kernel: SupportsIndex | None = None, kernel_lowest: SupportsFloat | None = None,
          kernel_highest: SupportsFloat | None = None, normalise: bool | None = None,
          units: Literal["rad", "cycles", "V", "px"] | None = None, q_pixel: SupportsFloat | None = None,
          scan_shape: Text | None = None, scan_flip: Literal["none", "rows", "cols", "both"] | None = None,
          transpose_scan: bool | None = None, transpose_detector: bool | None = None, allow_incomplete: bool | None = None,
          drop_extra: bool | None = None, ignore_mask: bool | None = None, mask_file: Text | None = None,
          sentinel: SupportsIndex | None = None, dataset: Text | None = None, raw_shape: Text | None = None,
          raw_dtype: Text | None = None, raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
          raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
          voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None,
          scan_step: SupportsFloat | None = None, det_bin: Text | None = None, bin_mode: Literal["sum", "mean"] | None = None,
          edge: Literal["keep", "drop"] | None = None, scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
          hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
          on_error: Literal["fail", "zero"] | None = None, live: SupportsIndex | None = None, device: Text | None = None,
          memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
          config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Make the phase image of a scan from its centres of mass.

    What ``sonde stem phase`` does.

    The centre of mass of each pattern is the mean deflection of the beam, which is the gradient of the specimen's phase, averaged
    over the probe, divided by 2 pi. Frames are decoded once and not held. The rotation of the detector to the scan is what the
    file states, else that of least curl, and of the two that are half a turn apart the one that makes the specimen a hill of the
    phase; it is reported with its standard error, and a rotation or transposition that was given and does not fit the data is
    named. The integral is exact least squares (method="dct") unless another is asked for.

    Results are maps over the scan with their units, and a map of the positions that count; missing ones are NaN.

    Parameters
    ----------
    input : str, default ''
        a scan, or the file of its centres of mass that sonde stem com wrote
    output : str (FILE.h5|.nc|.npz), default ''
        write centres of mass, field and phase to this file
    png : str (FILE.png), default ''
        draw phase, deflections, curl and divergence into this picture
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    fit : str (none|mean|plane|parabola|file:SCAN), default 'mean'
        surface through the centres of mass that is taken away; file: a parabola through those of a vacuum scan of the same shape
    min_counts : float in counts, default 1.0
        positions with fewer counts are missing (at least 0, at most 1e+15)
    threshold : str (none|COUNTS|auto) in counts, default 'none'
        pixels with up to so many counts count as zero in centres of mass; auto: mean + 3 sigma of the pixels in the corners of the detector, for which all frames are decoded once more
    rotation : str (DEG|auto) in degrees, default 'auto'
        from the axes of the detector to those of the scan, clockwise on a screen; auto: what the file states, else least curl
    transpose : str (0|1|auto), default 'auto'
        whether rows and columns of the detector are exchanged, before the rotation; auto: what the file states, else least curl
    convention : {'sonde', 'py4dstem', 'libertem'}, default 'sonde'
        whose rotation and transposition are given; of libertem scan_rotation and flip_y
    sign : {'auto', '+', '-'}, default 'auto'
        whether the specimen is a hill (+) or a valley (-) of the phase, which decides between two rotations half a turn apart; auto: a hill, with a warning where it is not clear which
    rotation_blur : float in steps, default 1.0
        Gaussian on the field before the rotation is looked for; 0: none (at least 0, at most 100)
    skip_calibration : str (STEP,...), default ''
        steps of the calibration in the file that are not applied: pixel, transpose, rotation
    method : {'dct', 'fourier', 'cg', 'ricom'}, default 'dct'
        exact least squares; Fourier transforms of a padded field; least squares where positions are missing; the kernel sum of riCOM
    regularise : float in 1/A^2, default 0.0
        added to the squared frequency (fourier) or times the squared phase (dct, cg): damps what is slow (at least 0, at most 1e+09)
    padding : float, default 2.0
        size of the padded field of fourier; 1: periodic (at least 1, at most 8)
    q_highpass : float in 1/A, default unset
        of fourier: frequencies below are damped (at least 1e-09, at most 1e+09)
    q_lowpass : float in 1/A, default unset
        of fourier: frequencies above are damped (at least 1e-09, at most 1e+09)
    butterworth_order : int, default 2
        of these filters (at least 1, at most 64)
    weigh_counts : bool, default True
        of cg: pairs of positions weigh as their counts
    kernel : int in steps, default 16
        of ricom: positions on each side; wider features are damped (at least 1, at most 16384)
    kernel_lowest : float, default unset
        of ricom: frequencies of the kernel above this pass, cycles over its width (at least 0, at most 32768)
    kernel_highest : float, default unset
        of ricom: frequencies of the kernel up to this pass (at least 0, at most 32768)
    normalise : bool, default True
        of ricom: a kernel that gives rad; without: d / |d|^2 in steps
    units : {'rad', 'cycles', 'V', 'px'}, default 'rad'
        of the phase: rad; rad / 2 pi, as py4DSTEM's DPC gives it; projected potential in V A; detector pixels times scan steps, which needs no calibration
    q_pixel : float in 1/A, default unset
        reciprocal size of a stored detector pixel, in place of what the file states (at least 1e-09, at most 1000)
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    scan_step : float in nm, default unset
        distance of scan positions (at least 1e-06, at most 1e+06)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    bin_mode : {'sum', 'mean'}, default 'sum'
        exact sums of counts, or means over good pixels in f32
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem phase", input, output=output, png=png, html=html, fit=fit, min_counts=min_counts, threshold=threshold,
                rotation=rotation, transpose=transpose, convention=convention, sign=sign, rotation_blur=rotation_blur,
                skip_calibration=skip_calibration, method=method, regularise=regularise, padding=padding, q_highpass=q_highpass,
                q_lowpass=q_lowpass, butterworth_order=butterworth_order, weigh_counts=weigh_counts, kernel=kernel,
                kernel_lowest=kernel_lowest, kernel_highest=kernel_highest, normalise=normalise, units=units, q_pixel=q_pixel,
                scan_shape=scan_shape, scan_flip=scan_flip, transpose_scan=transpose_scan, transpose_detector=transpose_detector,
                allow_incomplete=allow_incomplete, drop_extra=drop_extra, ignore_mask=ignore_mask, mask_file=mask_file,
                sentinel=sentinel, dataset=dataset, raw_shape=raw_shape, raw_dtype=raw_dtype, raw_big_endian=raw_big_endian,
                raw_offset=raw_offset, raw_gap=raw_gap, preset=preset, calibration=calibration, voltage=voltage,
                camera_length=camera_length, scan_step=scan_step, det_bin=det_bin, bin_mode=bin_mode, edge=edge,
                scan_bin=scan_bin, scan_region=scan_region, hot_pixels=hot_pixels, on_error=on_error, live=live, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, copy=copy, progress=progress)


@checked
def calibrate(input: Text, *, output: Text | None = None, plot: Text | None = None, html: Text | None = None,
              calibrant: Text | None = None, centre: Text | None = None,
              centre_method: Literal["edge", "threshold", "plateau", "com", "friedel"] | None = None,
              inner: SupportsFloat | None = None, outer: SupportsFloat | None = None, k_max: SupportsFloat | None = None,
              fit_ellipse: bool | None = None, scan_shape: Text | None = None,
              scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
              transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
              ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
              dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
              raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
              raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, voltage: SupportsFloat | None = None,
              camera_length: SupportsFloat | None = None, det_bin: Text | None = None,
              edge: Literal["keep", "drop"] | None = None, scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
              hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
              on_error: Literal["fail", "zero"] | None = None, live: SupportsIndex | None = None, device: Text | None = None,
              memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
              config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Measure the ellipse of rings and the size of a detector pixel.

    What ``sonde stem calibrate`` does.

    The rings of a powder in the mean pattern of a scan are circles but for the lenses, which make ellipses of them. Ellipse and
    centre are those for which pixels of equal radius vary least; all rings count, and an intensity that varies along them
    (texture) does not turn the result. Errors are those of leaving out each of 16 sectors.

    With the substance of the rings (calibrant) the size of a pixel is the one that puts them on its lines; it is refused where
    few rings are on lines, where strong lines have no ring, and where another size fits nearly as well.

    Parameters
    ----------
    input : str, default ''
        a scan of a powder, or one pattern of it
    output : str (FILE.h5|.nc|.npz), default ''
        write ellipse, size of a pixel and profile to this file
    plot : str (FILE.png|.pdf|.svg), default ''
        draw the profile with its rings and the lines
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    calibrant : str (FILE.cif|FILE.D), default ''
        substance of the rings, for the size of a pixel: a CIF file, or spacings in A, one to a line
    centre : str (ROW,COL|auto), default 'auto'
        where the fit begins, in pixels after binning; auto finds it in the mean pattern
    centre_method : {'edge', 'threshold', 'plateau', 'com', 'friedel'}, default 'edge'
        how that centre is found
    inner : float in px, default unset
        rings are measured from this radius on; else from 1.5 radii of the direct disk (at least 0, at most 100000)
    outer : float in px, default unset
        up to this radius; else to the nearest edge of the detector (at least 1, at most 100000)
    k_max : float in 1/A, default 2.0
        largest 1/d of the lines of the calibrant (at least 0.01, at most 20)
    fit_ellipse : bool, default True
        measure the ellipse; else rings are taken as circles about the centre
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem calibrate", input, output=output, plot=plot, html=html, calibrant=calibrant, centre=centre,
                centre_method=centre_method, inner=inner, outer=outer, k_max=k_max, fit_ellipse=fit_ellipse,
                scan_shape=scan_shape, scan_flip=scan_flip, transpose_scan=transpose_scan, transpose_detector=transpose_detector,
                allow_incomplete=allow_incomplete, drop_extra=drop_extra, ignore_mask=ignore_mask, mask_file=mask_file,
                sentinel=sentinel, dataset=dataset, raw_shape=raw_shape, raw_dtype=raw_dtype, raw_big_endian=raw_big_endian,
                raw_offset=raw_offset, raw_gap=raw_gap, preset=preset, voltage=voltage, camera_length=camera_length,
                det_bin=det_bin, edge=edge, scan_bin=scan_bin, scan_region=scan_region, hot_pixels=hot_pixels, on_error=on_error,
                live=live, device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run,
                copy=copy, progress=progress)


@checked
def radial(input: Text, *, output: Text | None = None, plot: Text | None = None, html: Text | None = None,
           centre: Text | None = None, centre_method: Literal["edge", "threshold", "plateau", "com", "friedel"] | None = None,
           bins: SupportsIndex | None = None, unit: Literal["auto", "px", "mrad", "1/A"] | None = None,
           inner: SupportsFloat | None = None, outer: SupportsFloat | None = None, azimuth: SupportsIndex | None = None,
           ellipse: Text | None = None, skip_calibration: Text | None = None,
           split: Literal["none", "bbox", "full"] | None = None, median: bool | None = None, spread: bool | None = None,
           orders: SupportsIndex | None = None, scan_shape: Text | None = None,
           scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
           transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
           ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
           dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
           raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
           raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
           voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None, det_bin: Text | None = None,
           edge: Literal["keep", "drop"] | None = None, scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
           hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
           on_error: Literal["fail", "zero"] | None = None, live: SupportsIndex | None = None, device: Text | None = None,
           memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
           config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Average each pattern over rings, or over rings and sectors.

    What ``sonde stem radial`` does.

    The mean counts of a pixel by its distance from the centre of the pattern, for every scan position and for the mean pattern of
    the scan, with the variance that the counts themselves give. A first pass over the frames finds bad pixels and the centre, a
    second one sums; none is held.

    Rings may be ellipses (ellipse), be cut into sectors (azimuth), and have radii in 1/A, mrad or px (unit). Bins without a good
    pixel are NaN, and so are positions without a frame. The median, the spread around each ring and its angular orders (median,
    spread, orders) take whole pixels, by their centres.

    Parameters
    ----------
    input : str, default ''
        a scan
    output : str (FILE.h5|.nc|.npz), default ''
        write the profiles to this file
    plot : str (FILE.png|.pdf|.svg), default ''
        draw the profile of the mean pattern
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    centre : str (ROW,COL|auto), default 'auto'
        centre of the pattern in pixels after binning; auto finds it in the mean pattern
    centre_method : {'edge', 'threshold', 'plateau', 'com', 'friedel'}, default 'edge'
        how the centre is found
    bins : int, default unset
        rings of equal width; else one for each pixel of radius (at least 1, at most 100000)
    unit : {'auto', 'px', 'mrad', '1/A'}, default 'auto'
        of radii, given and written; auto: 1/A where it is known, else mrad, else px
    inner : float, default 0.0
        inner radius of the first ring, in that unit (at least 0)
    outer : float, default unset
        outer radius of the last ring; else the farthest pixel is in it (at least 0)
    azimuth : int, default 1
        sectors of each ring, the first from the columns toward the rows; 1: whole rings (at least 1, at most 3600)
    ellipse : str (A,B,DEGREES), default ''
        shape of a ring on the detector: semi-axes (their ratio counts) and the angle of the first one from the columns toward the rows; else as the file states it
    skip_calibration : str (STEP,...), default ''
        steps of the calibration in the file that are not applied: origin, ellipse, pixel
    split : {'none', 'bbox', 'full'}, default 'full'
        how a pixel on an edge is shared: none: its centre decides; bbox: by the radii of its corners; full: by area
    median : bool, default False
        also the median of each ring, which Bragg disks hardly change: the background between them
    spread : bool, default False
        also the variance of the pixels around each ring (counts^2), and of the scan its mean over the square of the mean, the fluctuation profile
    orders : int, default unset
        also the angular orders 0 to N of each ring: mean of the counts times exp(i m angle) (at least 0, at most 24)
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem radial", input, output=output, plot=plot, html=html, centre=centre, centre_method=centre_method, bins=bins,
                unit=unit, inner=inner, outer=outer, azimuth=azimuth, ellipse=ellipse, skip_calibration=skip_calibration,
                split=split, median=median, spread=spread, orders=orders, scan_shape=scan_shape, scan_flip=scan_flip,
                transpose_scan=transpose_scan, transpose_detector=transpose_detector, allow_incomplete=allow_incomplete,
                drop_extra=drop_extra, ignore_mask=ignore_mask, mask_file=mask_file, sentinel=sentinel, dataset=dataset,
                raw_shape=raw_shape, raw_dtype=raw_dtype, raw_big_endian=raw_big_endian, raw_offset=raw_offset, raw_gap=raw_gap,
                preset=preset, calibration=calibration, voltage=voltage, camera_length=camera_length, det_bin=det_bin, edge=edge,
                scan_bin=scan_bin, scan_region=scan_region, hot_pixels=hot_pixels, on_error=on_error, live=live, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, copy=copy, progress=progress)


@checked
def bragg(input: Text, *, output: Text | None = None, png: Text | None = None, html: Text | None = None,
          tune: SupportsIndex | None = None, kernel_study: SupportsIndex | None = None, dose_report: SupportsIndex | None = None,
          probe: Text | None = None,
          kernel: Literal["flat", "gaussian", "sigmoid", "sigmoid_log", "ring", "poisson"] | None = None,
          kernel_inner: SupportsFloat | None = None, kernel_outer: SupportsFloat | None = None,
          kernel_sigma: SupportsFloat | None = None,
          background: Literal["none", "constant", "radial_median", "dog"] | None = None,
          background_sigma: SupportsFloat | None = None, corr_power: SupportsFloat | None = None,
          sigma_dp: SupportsFloat | None = None, sigma_cc: SupportsFloat | None = None,
          subpixel: Literal["none", "poly", "multicorr", "newton", "gaussian2d", "mle"] | None = None,
          upsample_factor: SupportsIndex | None = None, min_absolute_intensity: SupportsFloat | None = None,
          min_relative_intensity: SupportsFloat | None = None, relative_to_peak: SupportsIndex | None = None,
          min_peak_spacing: SupportsFloat | None = None, edge_boundary: SupportsIndex | None = None,
          max_num_peaks: SupportsIndex | None = None, gain: SupportsFloat | None = None, scan_shape: Text | None = None,
          scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
          transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
          ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
          dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
          raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
          raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
          voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None,
          scan_step: SupportsFloat | None = None, det_bin: Text | None = None, edge: Literal["keep", "drop"] | None = None,
          scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
          hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
          on_error: Literal["fail", "zero"] | None = None, live: SupportsIndex | None = None, device: Text | None = None,
          memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
          config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Find the Bragg disks of every pattern.

    What ``sonde stem bragg`` does.

    The brightest disk of the mean pattern is correlated with every pattern; maxima of the correlation are disks, whose places are
    found between pixels, with the standard error that the counts give them. What each filter removed is reported, and so is what
    should not be trusted: disks that overlap, a central disk that is saturated or hidden. A first pass over the frames finds bad
    pixels and the disk, a second one the disks of every position; none is held.

    Tuning chooses threshold, kernel, background, trench and spacing on some patterns: those whose disks give strain the least
    error, compared with what the counts of all disks allow. Each value that was tried, each choice with its reason, and the
    options that repeat it are printed.

    A kernel study finds the disks of some patterns with each kernel. How far they are from the lattice of their pattern, over the
    Cramer-Rao bound of their counts, shows which kernel wastes least of the dose.

    A dose report divides the electrons of some patterns at random into two halves, finds the disks of both and compares their
    places: the scatter of the places at the full dose, beside the Cramer-Rao bound and the standard errors stated, the strain
    precision at each position, and the counts that a strain of 1e-3 needs. Electrons must be counted, or their gain known: where
    the variance of a flat background is not its mean, the report is refused.

    Settings have the names of py4DSTEM and follow from the radius of the disk where they are not given. When more than nine
    patterns in ten have no disk, the exit status is 7; the file is written.

    Parameters
    ----------
    input : str, default ''
        a scan
    output : str (FILE.h5|.emd), default ''
        write the disks of every position to this file; .emd is the layout of py4DSTEM
    png : str (FILE.png), default ''
        draw the template, the disks of a pattern and those of all patterns into this picture
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    tune : int, default unset
        choose threshold, kernel, background, trench and spacing on so many patterns, by the error of strain beside what the counts allow; an output is made with what is chosen, without one nothing else is done (at least 1, at most 100000)
    kernel_study : int, default unset
        find the disks of so many patterns with each kernel, and compare their scatter with what the counts allow; without an output nothing else is done (at least 1, at most 100000)
    dose_report : int, default unset
        divide the counts of so many patterns into two halves, and report how precisely disks and strain are known, beside what the counts allow; without an output nothing else is done (at least 1, at most 100000)
    probe : str (FILE|RADIUS|auto), default 'auto'
        the disk that is searched: of a vacuum scan, a soft disk of this radius in pixels after binning, or the brightest disk of the mean pattern
    kernel : {'flat', 'gaussian', 'sigmoid', 'sigmoid_log', 'ring', 'poisson'}, default 'ring'
        what is taken from the disk around it; poisson: its logarithm, the most precise where disks are evenly filled
    kernel_inner : float in px, default unset
        where the trench begins; else the radius of the disk (at least 0.1, at most 10000)
    kernel_outer : float in px, default unset
        where it ends; else before the nearest disk of the mean pattern, at most twice the radius (at least 0.1, at most 10000)
    kernel_sigma : float in px, default unset
        width of the gaussian one; else twice the radius (at least 0.1, at most 10000)
    background : {'none', 'constant', 'radial_median', 'dog'}, default 'none'
        what is subtracted from each pattern first: the median of its pixels, the median at each distance from the direct beam, or the pattern blurred by a wide Gaussian (difference of Gaussians)
    background_sigma : float in px, default unset
        width of that Gaussian; else twice the radius (at least 0.1, at most 10000)
    corr_power : float, default 1.0
        1: cross-correlation, 0: phase correlation, between: hybrid (at least 0, at most 1)
    sigma_dp : float in px, default 0.0
        Gaussian blur of the pattern (at least 0, at most 1000)
    sigma_cc : float in px, default 2.0
        Gaussian smoothing of the correlation (at least 0, at most 1000)
    subpixel : {'none', 'poly', 'multicorr', 'newton', 'gaussian2d', 'mle'}, default 'newton'
        how places between pixels are found: newton: the maximum of the correlation itself; mle: where the counts about the disk and its neighbours are most likely; both with standard errors
    upsample_factor : int, default 16
        points of multicorr in a pixel (at least 2, at most 256)
    min_absolute_intensity : float, default 0.0
        least correlation of a disk (at least 0)
    min_relative_intensity : float, default 0.005
        the same as a fraction of that of another disk of the pattern (at least 0, at most 1)
    relative_to_peak : int, default 0
        which one: 0 for the brightest, 1 for the next (at least 0, at most 10000)
    min_peak_spacing : float in px, default unset
        least distance of two disks, of which the brighter one stays; else 1.5 radii (at least 0, at most 10000)
    edge_boundary : int in px, default unset
        distance from the edge of the detector within which no disk is taken; else one radius and a pixel (at least 1, at most 10000)
    max_num_peaks : int, default 70
        most disks of a pattern (at least 1, at most 10000)
    gain : float, default 1.0
        units of the detector for one electron, which standard errors follow from; 1 where electrons are counted (at least 1e-06, at most 1e+09)
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    scan_step : float in nm, default unset
        distance of scan positions (at least 1e-06, at most 1e+06)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem bragg", input, output=output, png=png, html=html, tune=tune, kernel_study=kernel_study,
                dose_report=dose_report, probe=probe, kernel=kernel, kernel_inner=kernel_inner, kernel_outer=kernel_outer,
                kernel_sigma=kernel_sigma, background=background, background_sigma=background_sigma, corr_power=corr_power,
                sigma_dp=sigma_dp, sigma_cc=sigma_cc, subpixel=subpixel, upsample_factor=upsample_factor,
                min_absolute_intensity=min_absolute_intensity, min_relative_intensity=min_relative_intensity,
                relative_to_peak=relative_to_peak, min_peak_spacing=min_peak_spacing, edge_boundary=edge_boundary,
                max_num_peaks=max_num_peaks, gain=gain, scan_shape=scan_shape, scan_flip=scan_flip, transpose_scan=transpose_scan,
                transpose_detector=transpose_detector, allow_incomplete=allow_incomplete, drop_extra=drop_extra,
                ignore_mask=ignore_mask, mask_file=mask_file, sentinel=sentinel, dataset=dataset, raw_shape=raw_shape,
                raw_dtype=raw_dtype, raw_big_endian=raw_big_endian, raw_offset=raw_offset, raw_gap=raw_gap, preset=preset,
                calibration=calibration, voltage=voltage, camera_length=camera_length, scan_step=scan_step, det_bin=det_bin,
                edge=edge, scan_bin=scan_bin, scan_region=scan_region, hot_pixels=hot_pixels, on_error=on_error, live=live,
                device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, copy=copy,
                progress=progress)


@checked
def strain(input: Text, *, output: Text | None = None, plot: Text | None = None, calibration: Text | None = None,
           html: Text | None = None, method: Literal["disks", "cepstrum"] | None = None,
           origin: Literal["auto", "nearest", "brightest"] | None = None,
           origin_fit: Literal["none", "constant", "plane", "parabola"] | None = None, basis: Text | None = None,
           max_peak_spacing: SupportsFloat | None = None, min_num_peaks: SupportsIndex | None = None,
           weights: Literal["intensity", "uniform", "sqrt", "intensity_squared", "variance"] | None = None,
           robust: bool | None = None, reference: Text | None = None, reference_region: Text | None = None,
           measure: Literal["biot", "infinitesimal", "green_lagrange", "reciprocal_first_order"] | None = None,
           rotation: SupportsFloat | None = None, transpose: Text | None = None, skip_calibration: Text | None = None,
           sensitivity: SupportsIndex | None = None, live: SupportsIndex | None = None, device: Text | None = None,
           memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
           config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Map strain and rotation of a crystal, with their errors.

    What ``sonde stem strain`` does.

    The lattice of the scan is found in the map of all Bragg disks; that of each pattern is a weighted fit to its disks. With the
    reference lattice, the median of the scan unless another is given, it is the deformation of the crystal: strain e_xx, e_yy,
    e_xy, positive for tension, and theta, which turns the columns (x) towards the rows (y). Both are exact for large
    deformations. The scatter of the disks about each lattice gives the standard error of every value. The power cepstrum of each
    pattern gives the same maps (method="cepstrum"), with other mistakes: a check.

    Axes are those of the scan where the rotation of the detector is known (rotation), else those of the detector, which is
    reported and written to the file. Positions without a lattice are NaN; why is counted. Strain of 16 patterns of a scan is
    found again with other trenches and kernels, from halves of the disks and with other references; what changes it by more than
    the stated error is a warning. A scan with a lattice in less than a tenth of its patterns ends with status 7, its file
    written.

    Parameters
    ----------
    input : str, default ''
        a scan, or the file of its Bragg disks that sonde stem bragg wrote
    output : str (FILE.h5|.nc|.npz), default ''
        write strain and lattice to this file
    plot : str (FILE.png), default ''
        draw the maps of strain into this picture
    calibration : str (FILE), default ''
        use the pixel size, ellipse, rotation and origins of this file in place of those of the input: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    method : {'disks', 'cepstrum'}, default 'disks'
        disks: a fit to the Bragg disks of each pattern; cepstrum: peaks of its power cepstrum, a check that needs the scan, but no disks
    origin : {'auto', 'nearest', 'brightest'}, default 'auto'
        direct disk of each pattern: that nearest the mean place of all disks, or the brightest one; auto: the origin in the file's calibration, else nearest
    origin_fit : {'none', 'constant', 'plane', 'parabola'}, default 'plane'
        surface through the direct disks of the scan: descan; none: each as measured
    basis : str (G1X,G1Y,G2X,G2Y|auto), default 'auto'
        lattice vectors in pixels of the detector; auto finds them in the map of all disks
    max_peak_spacing : float in px, default unset
        farthest that a disk on the lattice is from its site; unset: a fraction of the lattice vectors (at least 0.001)
    min_num_peaks : int, default 5
        disks on the lattice that a position needs (at least 4)
    weights : {'intensity', 'uniform', 'sqrt', 'intensity_squared', 'variance'}, default 'intensity'
        weight of a disk; intensity suits counts, intensity_squared is what py4DSTEM does, variance takes the variances of the disks
    robust : bool, default True
        leave out disks that are far from the fit of the others
    reference : str (median|G1X,G1Y,G2X,G2Y), default 'median'
        unstrained lattice: the median of the scan, or vectors in pixels of the detector
    reference_region : str (ROW0,ROW1,COL0,COL1), default ''
        positions whose median is the reference; the last ones are exclusive; unset: all
    measure : {'biot', 'infinitesimal', 'green_lagrange', 'reciprocal_first_order'}, default 'biot'
        what strain means where it is large; reciprocal_first_order is what py4DSTEM computes
    rotation : float in degrees, default unset
        from the axes of the detector to those of the scan, clockwise on a screen; unset: that of the file, and without one the axes are those of the detector (at least -360, at most 360)
    transpose : str (auto|0|1), default 'auto'
        rows and columns of the detector are exchanged before that; auto: as the file says, else not
    skip_calibration : str (STEP,...), default ''
        steps of the calibration in the file that are not applied: origin, ellipse, pixel, transpose, rotation
    sensitivity : int, default unset
        patterns of the scan on which strain is found again with other kernels, halves of the disks and other references; 0: none; unset: 16 of a scan, none of a file of disks (at least 0, at most 100000)
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem strain", input, output=output, plot=plot, calibration=calibration, html=html, method=method, origin=origin,
                origin_fit=origin_fit, basis=basis, max_peak_spacing=max_peak_spacing, min_num_peaks=min_num_peaks,
                weights=weights, robust=robust, reference=reference, reference_region=reference_region, measure=measure,
                rotation=rotation, transpose=transpose, skip_calibration=skip_calibration, sensitivity=sensitivity, live=live,
                device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, copy=copy,
                progress=progress)


@checked
def cepstrum(input: Text, *, output: Text | None = None, png: Text | None = None, html: Text | None = None,
             kind: Literal["cepstrum", "power", "autocorrelation"] | None = None, window: Literal["hann", "none"] | None = None,
             basis: Text | None = None, skip_calibration: Text | None = None, scan_shape: Text | None = None,
             scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
             transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
             ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
             dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
             raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
             raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
             voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None, det_bin: Text | None = None,
             edge: Literal["keep", "drop"] | None = None, scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
             hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
             on_error: Literal["fail", "zero"] | None = None, live: SupportsIndex | None = None, device: Text | None = None,
             memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
             config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Measure the spacings of a crystal in the power cepstrum of every pattern.

    What ``sonde stem cepstrum`` does.

    The power spectrum of the logarithm of a pattern, |F{log(1 + I)}|^2, has peaks at the lattice vectors of the crystal: disks
    that are g apart make one at 1/g, wherever the pattern is on the detector, and whatever its disks look like inside. The mean
    over the scan shows them; the two shortest independent ones are then measured in each pattern, between the points of the
    transform, with the standard errors that the counts give. Lengths are in Angstrom where the size of a detector pixel is known,
    else in cycles per pixel (1/px).

    A first pass over the frames finds bad pixels, a second one makes the spectra; none is held. The power spectrum and the
    autocorrelation of the counts are made the same way (kind). When more than nine patterns in ten have no lattice, the exit
    status is 7; the file is written.

    Parameters
    ----------
    input : str, default ''
        a scan
    output : str (FILE.h5|.nc|.npz), default ''
        write the mean spectrum and the vectors of every position to this file
    png : str (FILE.png), default ''
        draw the mean spectrum and the lengths of the vectors into this picture
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    kind : {'cepstrum', 'power', 'autocorrelation'}, default 'cepstrum'
        cepstrum: |F{log(1 + I)}|^2, with the vectors of every position; power: |F{I}|^2; autocorrelation: the inverse transform of the power
    window : {'hann', 'none'}, default 'hann'
        what patterns are multiplied by first: hann avoids streaks from the edges of the detector
    basis : str (G1X,G1Y,G2X,G2Y|auto), default 'auto'
        lattice vectors of the pattern in pixels of the detector, near whose inverse peaks are sought; auto finds them in the mean cepstrum of some patterns
    skip_calibration : str (STEP,...), default ''
        steps of the calibration in the file that are not applied: pixel
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem cepstrum", input, output=output, png=png, html=html, kind=kind, window=window, basis=basis,
                skip_calibration=skip_calibration, scan_shape=scan_shape, scan_flip=scan_flip, transpose_scan=transpose_scan,
                transpose_detector=transpose_detector, allow_incomplete=allow_incomplete, drop_extra=drop_extra,
                ignore_mask=ignore_mask, mask_file=mask_file, sentinel=sentinel, dataset=dataset, raw_shape=raw_shape,
                raw_dtype=raw_dtype, raw_big_endian=raw_big_endian, raw_offset=raw_offset, raw_gap=raw_gap, preset=preset,
                calibration=calibration, voltage=voltage, camera_length=camera_length, det_bin=det_bin, edge=edge,
                scan_bin=scan_bin, scan_region=scan_region, hot_pixels=hot_pixels, on_error=on_error, live=live, device=device,
                memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, copy=copy, progress=progress)


@checked
def crystal(input: Text, *, output: Text | None = None, plot: Text | None = None, k_max: SupportsFloat | None = None,
            zone: Text | None = None, voltage: SupportsFloat | None = None, excitation_error: SupportsFloat | None = None,
            precession: SupportsFloat | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
            threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
            dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """List the reflections of a crystal and compute its pattern.

    What ``sonde stem crystal`` does.

    Reads cell, symmetry and sites from a CIF file, and lists the reflections up to k_max by families of equal ones, with their
    structure factors for electrons: sums of atomic factors (International Tables C, 4.3.2.2), kinematic and without a
    relativistic factor.

    With zone and voltage the spots of a beam along a zone axis too, each weakened by its distance from Ewald's sphere. Compare
    their lengths with those of a measured pattern to find its scale.

    Parameters
    ----------
    input : str (FILE), default ''
        a crystal structure
    output : str (FILE.h5|.nc|.npz), default ''
        write reflections and pattern to this file
    plot : str (FILE.png|.pdf|.svg), default ''
        draw lines and pattern
    k_max : float in 1/A, default 1.5
        largest 1/d (at least 0.01, at most 20)
    zone : str (U,V,W), default ''
        the beam along this direction of the crystal: its pattern too
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    excitation_error : float in 1/A, default 0.02
        standard deviation of the distance from Ewald's sphere at which a reflection is excited (at least 0.0001, at most 1)
    precession : float in degrees, default 0.0
        half-angle of the cone of a precessing beam (at least 0, at most 10)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    """
    return _run("stem crystal", input, output=output, plot=plot, k_max=k_max, zone=zone, voltage=voltage,
                excitation_error=excitation_error, precession=precession, device=device, memory=memory, threads=threads,
                report=report, config=config, dry_run=dry_run, progress=progress)


@checked
def orient(input: Text, *, output: Text | None = None, png: Text | None = None, ang: Text | None = None,
           calibration: Text | None = None, html: Text | None = None, crystal: Text | None = None,
           phase_margin: SupportsFloat | None = None, voltage: SupportsFloat | None = None, q_pixel: SupportsFloat | None = None,
           origin: Literal["auto", "nearest", "brightest"] | None = None,
           origin_fit: Literal["none", "mean", "plane", "parabola"] | None = None, skip_calibration: Text | None = None,
           k_max: SupportsFloat | None = None, angle_step_zone_axis: SupportsFloat | None = None,
           angle_step_in_plane: SupportsFloat | None = None, sigma_excitation_error: SupportsFloat | None = None,
           precession: SupportsFloat | None = None, corr_kernel_size: SupportsFloat | None = None,
           tol_distance: SupportsFloat | None = None, power_radial: SupportsFloat | None = None,
           power_intensity: SupportsFloat | None = None, matches: SupportsIndex | None = None,
           min_number_peaks: SupportsIndex | None = None, refine: bool | None = None, grain_angle: SupportsFloat | None = None,
           grain_size: SupportsIndex | None = None, strain: bool | None = None, rotation: SupportsFloat | None = None,
           transpose: Text | None = None, live: SupportsIndex | None = None, device: Text | None = None,
           memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
           config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Find the orientation of a crystal at every scan position.

    What ``sonde stem orient`` does.

    Of a scan the Bragg disks are found first. Compares the disks of every pattern with the kinematic patterns of a crystal along
    all zone axes, by sparse correlation in polar coordinates, and writes rotation matrices, beam directions and their
    reliability. Matrices take vectors along the detector's columns, rows and beam to the Cartesian axes of the crystal (x along
    a, z along c*).

    Where all disks are of one plane of the crystal, half a turn about the axis across it gives the same pattern with the opposite
    tilt: such positions are marked, with both orientations. Positions that touch with nearly one orientation form grains, with a
    mean orientation, spread and size; of two orientations that is kept which the grain has.

    Of several crystals each position has the one whose kinematic pattern shares most of the strength of the disks; peaks without
    a spot and spots without a peak both count against a crystal, so that one with many reflections is not preferred. Where two
    are equal within the phase margin the position is not decided.

    Parameters
    ----------
    input : str, default ''
        a scan, or the file of its Bragg disks that sonde stem bragg wrote
    output : str (FILE.h5|.nc|.npz), default ''
        write orientations to this file
    png : str (FILE.png), default ''
        draw directions of the beam in colours, grains, and reliability
    ang : str (FILE.ang), default ''
        write Euler angles for other programs
    calibration : str (FILE), default ''
        use the pixel size, ellipse, rotation and origins of this file in place of those of the input: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    crystal : list of str, default []
        the crystal structure; repeat for several, of which the one that explains a position best is its phase
    phase_margin : float in %, default 1.0
        of several crystals: a position where the second best explains the disks nearly as well, to this, is not decided (at least 0, at most 50)
    voltage : float in kV, default unset
        accelerating voltage; else that of the input (at least 1, at most 3000)
    q_pixel : float in 1/A, default unset
        reciprocal size of a detector pixel; else that of the input, or one fitted to the crystal's lines (at least 1e-06, at most 1)
    origin : {'auto', 'nearest', 'brightest'}, default 'auto'
        the direct disk of a pattern: that nearest the mean place of all, or the brightest; auto: the origin in the file's calibration, else nearest
    origin_fit : {'none', 'mean', 'plane', 'parabola'}, default 'plane'
        surface over the scan through the direct disks; none: each by itself
    skip_calibration : str (STEP,...), default ''
        steps of the calibration in the file that are not applied: origin, ellipse, pixel, transpose, rotation
    k_max : float in 1/A, default 1.5
        largest 1/d (at least 0.01, at most 20)
    angle_step_zone_axis : float in degrees, default 2.0
        between zone axes (at least 0.2, at most 20)
    angle_step_in_plane : float in degrees, default 2.0
        between turns about the beam (at least 0.2, at most 20)
    sigma_excitation_error : float in 1/A, default 0.02
        standard deviation of the distance from Ewald's sphere at which a reflection is excited (at least 0.0001, at most 1)
    precession : float in degrees, default 0.0
        half-angle of the cone of a precessing beam (at least 0, at most 10)
    corr_kernel_size : float in 1/A, default 0.08
        distance at which a peak still matches a reflection (at least 0.001, at most 1)
    tol_distance : float in 1/A, default 0.01
        reflections of lengths that differ by less share a ring (at least 1e-06, at most 1)
    power_radial : float, default 1.0
        power of 1/d in the weight of a peak (at least 0, at most 4)
    power_intensity : float, default 0.25
        power of the intensity in the weight of a peak (at least 0, at most 2)
    matches : int, default 1
        overlapping crystals looked for in a pattern (at least 1, at most 16)
    min_number_peaks : int, default 3
        patterns with fewer disks have no orientation (at least 1, at most 1000)
    refine : bool, default True
        turn the best matches to where their kinematic pattern is most like the disks, and state standard errors
    grain_angle : float in degrees, default 5.0
        positions that touch are of one grain where their orientations differ by less; 0: no grains (at least 0, at most 60)
    grain_size : int, default 3
        positions of the smallest grain (at least 1, at most 1e+06)
    strain : bool, default False
        strain of the crystal against its cell, from where the disks are beside those of the orientation
    rotation : float in degrees, default unset
        from the axes of the detector to those of the scan, clockwise on a screen; unset: that of the file, and without one the axes are those of the detector (at least -360, at most 360)
    transpose : str (auto|0|1), default 'auto'
        rows and columns of the detector are exchanged before that; auto: as the file says, else not
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem orient", input, output=output, png=png, ang=ang, calibration=calibration, html=html, crystal=crystal,
                phase_margin=phase_margin, voltage=voltage, q_pixel=q_pixel, origin=origin, origin_fit=origin_fit,
                skip_calibration=skip_calibration, k_max=k_max, angle_step_zone_axis=angle_step_zone_axis,
                angle_step_in_plane=angle_step_in_plane, sigma_excitation_error=sigma_excitation_error, precession=precession,
                corr_kernel_size=corr_kernel_size, tol_distance=tol_distance, power_radial=power_radial,
                power_intensity=power_intensity, matches=matches, min_number_peaks=min_number_peaks, refine=refine,
                grain_angle=grain_angle, grain_size=grain_size, strain=strain, rotation=rotation, transpose=transpose, live=live,
                device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run, copy=copy,
                progress=progress)


@checked
def count(input: Text, *, output: Text | None = None, format: Literal["sonde", "stempy"] | None = None, png: Text | None = None,
          plot: Text | None = None, html: Text | None = None, dark: Text | None = None, gain: Text | None = None,
          background: SupportsFloat | None = None, xray: SupportsFloat | None = None,
          background_sigma: SupportsFloat | None = None, xray_sigma: SupportsFloat | None = None,
          samples: SupportsIndex | None = None, seed: SupportsIndex | None = None, scan_shape: Text | None = None,
          scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
          transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
          ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
          dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
          raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
          raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, voltage: SupportsFloat | None = None,
          camera_length: SupportsFloat | None = None, scan_step: SupportsFloat | None = None, scan_region: Text | None = None,
          hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
          on_error: Literal["fail", "zero"] | None = None, live: SupportsIndex | None = None, device: Text | None = None,
          memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
          config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Count the electrons of dense frames.

    What ``sonde stem count`` does.

    A detector that integrates charge shows each electron as a small cloud over noise. Values are compared with two thresholds,
    after the dark image is subtracted and the gain applied: above the noise, below x-rays. Each maximum of 3 x 3 pixels between
    them is an electron, and the file holds the pixels of the electrons of every position, in place of frames. A first pass over
    the frames finds bad pixels, a second one counts; none is held.

    Thresholds that are not given follow from sampled frames: the background from a Gaussian fitted to their noise, the x-rays
    from the values of the electrons. The report says how many electrons a frame has, how many are lost beside another one, and
    how many noise by itself makes. Where no frame has an electron the exit status is 7.

    Parameters
    ----------
    input : str, default ''
        a scan of dense frames
    output : str (FILE.h5), default ''
        write the electrons of every position to this file
    format : {'sonde', 'stempy'}, default 'sonde'
        layout of the .h5 file: one list with offsets, or the one that stempy reads
    png : str (FILE.png), default ''
        draw the electrons by pixel and by position into this picture
    plot : str (FILE.png|.pdf|.svg), default ''
        draw the values of the sampled frames with the thresholds
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    dark : str (FILE.npy|.tif|.png), default ''
        mean frame without a beam, subtracted from every frame
    gain : str (FILE.npy|.tif|.png), default ''
        image by which counts are multiplied after that
    background : float in counts, default unset
        an electron is above this; else from the noise of sampled frames (at least -1e+09, at most 1e+09)
    xray : float in counts, default unset
        and below this; else from the electrons of sampled frames (at least -1e+09, at most 1e+09)
    background_sigma : float, default 4.0
        sigma of the noise between its mean and the background threshold (at least 0, at most 100)
    xray_sigma : float, default 10.0
        spreads of electrons between their median and the x-ray threshold (at least 0.1, at most 1000)
    samples : int in frames, default 20
        frames that are sampled for the thresholds (at least 1, at most 10000)
    seed : int, default 0
        start of the random numbers that choose these frames (at least 0)
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    scan_step : float in nm, default unset
        distance of scan positions (at least 1e-06, at most 1e+06)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem count", input, output=output, format=format, png=png, plot=plot, html=html, dark=dark, gain=gain,
                background=background, xray=xray, background_sigma=background_sigma, xray_sigma=xray_sigma, samples=samples,
                seed=seed, scan_shape=scan_shape, scan_flip=scan_flip, transpose_scan=transpose_scan,
                transpose_detector=transpose_detector, allow_incomplete=allow_incomplete, drop_extra=drop_extra,
                ignore_mask=ignore_mask, mask_file=mask_file, sentinel=sentinel, dataset=dataset, raw_shape=raw_shape,
                raw_dtype=raw_dtype, raw_big_endian=raw_big_endian, raw_offset=raw_offset, raw_gap=raw_gap, preset=preset,
                voltage=voltage, camera_length=camera_length, scan_step=scan_step, scan_region=scan_region, hot_pixels=hot_pixels,
                on_error=on_error, live=live, device=device, memory=memory, threads=threads, report=report, config=config,
                dry_run=dry_run, copy=copy, progress=progress)


@checked
def events(input: Text, *, output: Text | None = None, format: Literal["sonde", "stempy"] | None = None, png: Text | None = None,
           html: Text | None = None, dwell: Text | None = None, scan_shape: Text | None = None,
           lines: Literal["auto", "none", "tdc1", "tdc2"] | None = None,
           start: Literal["auto", "hit", "tdc1", "tdc2"] | None = None, edge: Literal["rise", "fall"] | None = None,
           delay: Text | None = None, cluster_time: Text | None = None, reorder_time: Text | None = None,
           chips: Text | None = None, damage: Literal["stop", "skip"] | None = None, live: SupportsIndex | None = None,
           device: Text | None = None, memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None,
           report: Text | None = None, config: Text | None = None, dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Find the electrons of each scan position in the raw data of a Timepix3 detector.

    What ``sonde stem events`` does.

    Reads the words of a TPX3 file (pixel, time and time over threshold of each hit, edges of the TDC) on one clock without wraps,
    or the records of a .t3p file, which have no edges, joins hits of pixels that touch into electrons, and gives each electron
    the position at which the probe was. What the file does not say are dwell and scan_shape; that the edges of an input of the
    TDC begin the lines of the scan is seen from their distance.

    The file is read once, in blocks: memory does not depend on its size. The result is a list of pixels for each position.
    Electrons before and after the scan and in flybacks are counted, and a dwell or a scan shape that does not fit the file is
    named.

    Parameters
    ----------
    input : str (FILE.tpx3|.t3p), default ''
        raw data of a Timepix3 detector
    output : str (FILE.h5|.nc|.npz), default ''
        write the electrons of each position to this file
    format : {'sonde', 'stempy'}, default 'sonde'
        layout of the .h5 file: one list with offsets, or the one that stempy reads
    png : str (FILE.png), default ''
        draw the sum of all patterns and the electrons of each position
    html : str (FILE.html), default ''
        write a page with pictures, figures, warnings and settings into this file, which needs nothing else
    dwell : str (TIME), default ''
        time at a scan position: 1us, 500ns, 0.01ms; without a unit in seconds
    scan_shape : str (ROWSxCOLS), default ''
        scan positions
    lines : {'auto', 'none', 'tdc1', 'tdc2'}, default 'auto'
        input of the TDC whose edges begin the lines of the scan; none: the scan runs without a break; auto: the input whose edges are one to three lines apart, if there is one
    start : {'auto', 'hit', 'tdc1', 'tdc2'}, default 'auto'
        where a scan without line edges begins: at the first hit or the first edge; auto: at the first edge of tdc1, else of tdc2, else at the first hit
    edge : {'rise', 'fall'}, default 'rise'
        which edges of the TDC count
    delay : str (TIME), default '0s'
        from that start, or that of each line, to the first position; it may be negative
    cluster_time : str (TIME), default '100ns'
        hits of pixels that touch are one electron when they are at most so far apart; 0: every hit is one
    reorder_time : str (TIME), default '1ms'
        how far hits of the file may be out of order
    chips : str (FILE.toml), default ''
        where the chips of a detector are: a table [[chip]] for each, with number, x, y, quarter_turns and flip; unset: chip 0, 256 x 256 pixels
    damage : {'stop', 'skip'}, default 'stop'
        at a place where no chunk begins, or a chunk that is cut off: an error, or leave it out and count it
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    """
    return _run("stem events", input, output=output, format=format, png=png, html=html, dwell=dwell, scan_shape=scan_shape,
                lines=lines, start=start, edge=edge, delay=delay, cluster_time=cluster_time, reorder_time=reorder_time,
                chips=chips, damage=damage, live=live, device=device, memory=memory, threads=threads, report=report,
                config=config, dry_run=dry_run, progress=progress)


@checked
def convert(input: Text, target: Text | None = None, *, output: Text | None = None, scan_shape: Text | None = None,
            scan_flip: Literal["none", "rows", "cols", "both"] | None = None, transpose_scan: bool | None = None,
            transpose_detector: bool | None = None, allow_incomplete: bool | None = None, drop_extra: bool | None = None,
            ignore_mask: bool | None = None, mask_file: Text | None = None, sentinel: SupportsIndex | None = None,
            dataset: Text | None = None, raw_shape: Text | None = None, raw_dtype: Text | None = None,
            raw_big_endian: bool | None = None, raw_offset: SupportsIndex | str | None = None,
            raw_gap: SupportsIndex | str | None = None, preset: Text | None = None, calibration: Text | None = None,
            voltage: SupportsFloat | None = None, camera_length: SupportsFloat | None = None,
            scan_step: SupportsFloat | None = None, rotation: SupportsFloat | None = None, det_bin: Text | None = None,
            bin_mode: Literal["sum", "mean"] | None = None, edge: Literal["keep", "drop"] | None = None,
            scan_bin: SupportsIndex | None = None, scan_region: Text | None = None,
            dtype: Literal["auto", "u8", "u16", "u32", "f32"] | None = None,
            layout: Literal["auto", "frame", "pixel", "compressed", "file"] | None = None,
            hot_pixels: Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | None = None,
            on_error: Literal["fail", "zero"] | None = None, live: SupportsIndex | None = None, device: Text | None = None,
            memory: SupportsIndex | str | None = None, threads: SupportsIndex | None = None, report: Text | None = None,
            config: Text | None = None, dry_run: bool | None = None, copy: bool = False, progress: Progress | None = None) -> Result:
    """Write a scan, cropped and binned as asked, in another format.

    What ``sonde stem convert`` does.

    Parameters
    ----------
    input : str, default ''
        master file or another scan
    target : str, default ''
        the same as -o
    output : str (FILE), default ''
        FILE.npy, FILE.emd, FILE.h5 (EMD 1.0) or NAME_master.h5 (ARINA layout)
    scan_shape : str (ROWS,COLS|auto), default 'auto'
        scan rows and columns; one of them may be auto
    scan_flip : {'none', 'rows', 'cols', 'both'}, default 'none'
        mirror the scan
    transpose_scan : bool, default False
        exchange scan rows and columns
    transpose_detector : bool, default False
        exchange detector rows and columns
    allow_incomplete : bool, default False
        load a scan that ended early; missing positions are zero and marked
    drop_extra : bool, default False
        leave frames out that are more than the scan has positions
    ignore_mask : bool, default False
        do not use the pixel mask of the file
    mask_file : str (FILE), default ''
        further bad pixels: an image of the detector that is non-zero where bad (NPY, TIFF, PNG)
    sentinel : int, default unset
        stored value that means no data, for formats that declare none (at least 1)
    dataset : str (PATH), default ''
        object inside an HDF5 file or a Zarr folder
    raw_shape : str (RY,RX,QY,QX), default ''
        shape of a raw file
    raw_dtype : str (u1|u2|u4|i2|f4|f8), default ''
        element type of a raw file
    raw_big_endian : bool, default False
        a raw file has its most significant byte first
    raw_offset : int or str, default 0
        bytes before the first frame of a raw file
    raw_gap : int or str, default 0
        bytes after every frame of a raw file
    preset : str (empad), default ''
        known raw layout
    calibration : str (FILE), default ''
        use the pixel size, ellipse, centre, rotation and origins of this file in place of those of the scan: a result of sonde stem calibrate, com or phase, or a scan that states them (EMD)
    voltage : float in kV, default unset
        accelerating voltage (at least 1, at most 3000)
    camera_length : float in m, default unset
        camera length (at least 0.0001, at most 1000)
    scan_step : float in nm, default unset
        distance of scan positions (at least 1e-06, at most 1e+06)
    rotation : float in degrees, default unset
        rotation between scan and detector (at least -360, at most 360)
    det_bin : str (N|auto), default '1'
        sum N x N detector pixels; auto takes the smallest bin that fits the memory
    bin_mode : {'sum', 'mean'}, default 'sum'
        exact sums of counts, or means over good pixels in f32
    edge : {'keep', 'drop'}, default 'keep'
        incomplete bins at the edge
    scan_bin : int, default 1
        sum N x N scan positions (at least 1, at most 4096)
    scan_region : str (ROW0,ROW1,COL0,COL1), default ''
        load these positions only; the last ones are exclusive
    dtype : {'auto', 'u8', 'u16', 'u32', 'f32'}, default 'auto'
        element type held; auto is the narrowest that loses nothing, a given one clips and counts what it clips
    layout : {'auto', 'frame', 'pixel', 'compressed', 'file'}, default 'auto'
        how the scan is held in memory
    hot_pixels : {'auto', 'zero', 'sampled', 'interpolate', 'mark', 'none'}, default 'auto'
        what is done to bad pixels that the mask does not name; zero judges by all frames, sampled by 128 of them; auto is zero for 100 frames or more (sampled for an image), mark for fewer, and none for a conversion
    on_error : {'fail', 'zero'}, default 'fail'
        a broken frame ends the load, or is zeroed and listed
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    copy : bool, default False
        make an array contiguous where it is not; otherwise that is an error
    """
    return _run("stem convert", input, target=target, output=output, scan_shape=scan_shape, scan_flip=scan_flip,
                transpose_scan=transpose_scan, transpose_detector=transpose_detector, allow_incomplete=allow_incomplete,
                drop_extra=drop_extra, ignore_mask=ignore_mask, mask_file=mask_file, sentinel=sentinel, dataset=dataset,
                raw_shape=raw_shape, raw_dtype=raw_dtype, raw_big_endian=raw_big_endian, raw_offset=raw_offset, raw_gap=raw_gap,
                preset=preset, calibration=calibration, voltage=voltage, camera_length=camera_length, scan_step=scan_step,
                rotation=rotation, det_bin=det_bin, bin_mode=bin_mode, edge=edge, scan_bin=scan_bin, scan_region=scan_region,
                dtype=dtype, layout=layout, hot_pixels=hot_pixels, on_error=on_error, live=live, device=device, memory=memory,
                threads=threads, report=report, config=config, dry_run=dry_run, copy=copy, progress=progress)


@checked
def simulate(output: Text | None = None, *, scan_shape: Text | None = None, detector_shape: Text | None = None,
             sample: Literal["particles", "vacuum", "phase", "disks", "crystal", "counting", "events"] | None = None,
             dose: SupportsFloat | None = None, centre: Text | None = None, disk_radius: SupportsFloat | None = None,
             edge_width: SupportsFloat | None = None, halo_length: SupportsFloat | None = None,
             wide_length: SupportsFloat | None = None, halo_fraction: SupportsFloat | None = None,
             deflection: SupportsFloat | None = None, descan: SupportsFloat | None = None,
             phase_height: SupportsFloat | None = None, phase_width: SupportsFloat | None = None,
             rotation: SupportsFloat | None = None, transpose: bool | None = None, lattice: Text | None = None,
             strain_field: Literal["uniform", "gradient", "step", "rotation"] | None = None, strain: Text | None = None,
             lattice_turn: SupportsFloat | None = None, orders: SupportsIndex | None = None,
             excitation: SupportsFloat | None = None, crystal: Text | None = None, grains: SupportsIndex | None = None,
             euler: Text | None = None, k_max: SupportsFloat | None = None, sigma_excitation_error: SupportsFloat | None = None,
             diffracted: SupportsFloat | None = None, occupancy: SupportsFloat | None = None, dwell: Text | None = None,
             cloud: SupportsFloat | None = None, deposit: SupportsFloat | None = None,
             deposit_spread: SupportsFloat | None = None, read_noise: SupportsFloat | None = None,
             dark_level: SupportsFloat | None = None, dark_spread: SupportsFloat | None = None,
             gain_spread: SupportsFloat | None = None, xray_rate: SupportsFloat | None = None,
             masked_pixels: SupportsIndex | None = None, hot_pixels: SupportsIndex | None = None,
             seed: SupportsIndex | None = None, dtype: Literal["u8", "u16", "u32"] | None = None,
             frames_per_file: SupportsIndex | None = None, voltage: SupportsFloat | None = None,
             camera_length: SupportsFloat | None = None, scan_step: SupportsFloat | None = None, truth: bool | None = None,
             live: SupportsIndex | None = None, device: Text | None = None, memory: SupportsIndex | str | None = None,
             threads: SupportsIndex | None = None, report: Text | None = None, config: Text | None = None,
             dry_run: bool | None = None, progress: Progress | None = None) -> Result:
    """Write a scan whose every expected count is known.

    What ``sonde stem simulate`` does.

    Nanoparticles on a thin film, seen by a detector that counts single electrons, in the layout of a DECTRIS ARINA acquisition:
    master, data files, the microscope's sidecar, bad pixels. Beside it the truth: what every detector should see, without the
    counting noise. Sample events gives the raw data of a Timepix3 detector, with every electron of the scan beside it.

    The same options give the same files, byte for byte.

    Parameters
    ----------
    output : str, default 'scan_master.h5'
        master file to write, its name ends in _master.h5; of events a .tpx3 file
    scan_shape : str (ROWS,COLS), default '128,128'
        scan positions
    detector_shape : str (ROWS,COLS), default '192,192'
        detector pixels
    sample : {'particles', 'vacuum', 'phase', 'disks', 'crystal', 'counting', 'events'}, default 'particles'
        what the beam passes: nanoparticles on a film; nothing, with nine beam shifts in turn; hills of the phase, whose patterns are computed by wave optics; a strained crystal that diffracts into disks; grains of crystals from files, with kinematic patterns; counting: nothing, electrons are spread evenly over a detector that integrates their charge; events: the nanoparticles, as the raw data of a Timepix3 detector
    dose : float in counts, default 1.0
        mean counts of a detector pixel in one frame (at least 1e-06, at most 1e+06)
    centre : str (ROW,COL) in px, default unset
        undeflected beam; unset: near the middle
    disk_radius : float in px, default unset
        radius of the bright-field disk; unset: 16, of crystal 0.3 of the distance to the nearest reflection (at least 0.1)
    edge_width : float in px, default 0.8
        width of the disk's logistic edge (at least 0.01)
    halo_length : float in px, default 22.0
        decay length of the halo (at least 0.1)
    wide_length : float in px, default 60.0
        decay length of scattering to high angles (at least 0.1)
    halo_fraction : float, default 0.15
        share of the dose in the halo, for vacuum, disks and crystal only (at least 0, at most 1)
    deflection : float, default 1.0
        scale of the beam deflections: vacuum shifts by this many pixels, particles by up to five times (at least -100, at most 100)
    descan : float in px, default 0.6
        drift of the beam over the scan, but for vacuum
    phase_height : float in rad, default 2.0
        mean height of the hills of phase; negative: valleys (at least -1000, at most 1000)
    phase_width : float in steps, default 3.0
        standard deviation of these hills (at least 0.01, at most 10000)
    rotation : float in degrees, default 0.0
        of phase and disks: from the axes of the detector to those of the scan, clockwise on a screen (at least -360, at most 360)
    transpose : bool, default False
        of phase and disks: rows and columns of the detector are exchanged before that
    lattice : str (G1X,G1Y,G2X,G2Y) in px, default unset
        of disks: reciprocal lattice vectors without strain; unset: 0.19 of the detector, but at least 2.2 disk radii
    strain_field : {'uniform', 'gradient', 'step', 'rotation'}, default 'step'
        of disks: strain everywhere; growing along the columns from minus to plus one half of it; beyond three fifths of the columns; none, only the turn, growing down the rows
    strain : str (EXX,EYY,EXY), default '0.02,-0.01,0.005'
        of disks: strain of the crystal along the axes of the scan, positive for tension
    lattice_turn : float in degrees, default 1.0
        of disks: turn of the crystal with the strain, clockwise on a screen (at least -180, at most 180)
    orders : int, default 2
        of disks: orders on either side of the direct disk (at least 0, at most 20)
    excitation : float, default 0.8
        of disks: how far intensities vary about their mean from pattern to pattern (at least 0, at most 1)
    crystal : list of str, default []
        of crystal: the structure; repeat for several, which the grains have in turn
    grains : int, default 8
        of crystal: grains, about points that the seed decides, with orientations that it decides (at least 1, at most 10000)
    euler : str (PHI1,PHI,PHI2;...) in degrees, default unset
        of crystal: the orientations instead, one grain for each: angles of Bunge
    k_max : float in 1/A, default 1.5
        of crystal: largest 1/d of reflections (at least 0.01, at most 20)
    sigma_excitation_error : float in 1/A, default 0.02
        of crystal: standard deviation of the distance from Ewald's sphere at which a reflection is excited (at least 0.0001, at most 1)
    diffracted : float, default 0.5
        of crystal: share of the counts of all disks in those beside the direct one (at least 0, at most 1)
    occupancy : float, default 0.005
        of counting and events: mean electrons of a pixel at one position (at least 1e-06, at most 10)
    dwell : str (TIME), default '2us'
        of events: time at a scan position, 10ns to 1s
    cloud : float in px, default 0.35
        of counting: standard deviation of the charge of an electron (at least 0.01, at most 2)
    deposit : float in counts, default 30.0
        of counting: most frequent charge of an electron (at least 0, at most 100000)
    deposit_spread : float in counts, default 8.0
        of counting: scale of the spread of these charges (at least 0, at most 10000)
    read_noise : float in counts, default 1.0
        of counting: standard deviation of the noise (at least 0, at most 10000)
    dark_level : float in counts, default 20.0
        of counting: mean value without a beam (at least 0, at most 100000)
    dark_spread : float in counts, default 0.0
        of counting: its standard deviation between pixels (at least 0, at most 10000)
    gain_spread : float, default 0.0
        of counting: standard deviation of the gain between pixels (at least 0, at most 1)
    xray_rate : float, default 0.0
        of counting: x-ray hits in a frame (at least 0, at most 100)
    masked_pixels : int, default 4
        pixels that say "no data" and are marked in the mask (at least 0, at most 1e+09)
    hot_pixels : int, default 2
        pixels that count too much and are marked nowhere (at least 0, at most 1e+09)
    seed : int, default 1
        start of the random numbers (at least 0)
    dtype : {'u8', 'u16', 'u32'}, default 'u16'
        element type of the frames
    frames_per_file : int in frames, default 5000
        frames in one data file (at least 1)
    voltage : float in kV, default 200.0
        acceleration voltage to record (at least 1, at most 2000)
    camera_length : float in m, default unset
        camera length to record; unset: 0.115, of crystal such that reflections up to k-max are on the detector (at least 1e-06)
    scan_step : float in nm, default 0.5
        distance of scan positions to record (at least 1e-06)
    truth : bool, default True
        write the expected values beside the scan
    live : int, default unset
        show the work in the browser while it runs, on this port of this machine; 0 takes a free one. It can be paused there between two steps, and stopped (at least 0, at most 65535)
    device : str (auto|cpu|cuda|cuda:N), default 'auto'
        where to compute
    memory : int or str, default unset
        most memory to hold, for instance 8G; unset takes 0.6 of what is free (at least 1)
    threads : int, default 0
        threads that compute; 0 takes every core this process may use (at least 0, at most 4096)
    report : str (FILE), default unset
        write what was done as JSON (sonde.report/1)
    config : str (FILE), default unset
        read settings from a TOML file; flags count more
    dry_run : bool, default False
        print the resolved settings and the choices, do nothing
    """
    return _run("stem simulate", output=output, scan_shape=scan_shape, detector_shape=detector_shape, sample=sample, dose=dose,
                centre=centre, disk_radius=disk_radius, edge_width=edge_width, halo_length=halo_length, wide_length=wide_length,
                halo_fraction=halo_fraction, deflection=deflection, descan=descan, phase_height=phase_height,
                phase_width=phase_width, rotation=rotation, transpose=transpose, lattice=lattice, strain_field=strain_field,
                strain=strain, lattice_turn=lattice_turn, orders=orders, excitation=excitation, crystal=crystal, grains=grains,
                euler=euler, k_max=k_max, sigma_excitation_error=sigma_excitation_error, diffracted=diffracted,
                occupancy=occupancy, dwell=dwell, cloud=cloud, deposit=deposit, deposit_spread=deposit_spread,
                read_noise=read_noise, dark_level=dark_level, dark_spread=dark_spread, gain_spread=gain_spread,
                xray_rate=xray_rate, masked_pixels=masked_pixels, hot_pixels=hot_pixels, seed=seed, dtype=dtype,
                frames_per_file=frames_per_file, voltage=voltage, camera_length=camera_length, scan_step=scan_step, truth=truth,
                live=live, device=device, memory=memory, threads=threads, report=report, config=config, dry_run=dry_run,
                progress=progress)
