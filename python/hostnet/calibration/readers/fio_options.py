"""Sorts the options in fio's results into those that define the measurement, have no effect here, or are rejected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_USED = """
    rw readwrite bs blocksize iodepth numjobs rwmixread rwmixwrite filename directory ioengine direct buffered
    group_reporting stonewall wait_for_previous new_group name jobname description
"""

USED = frozenset(_USED.split())
"""Options that define the conditions of a measurement."""

_HARMLESS = {
    "how long, how much, and where on the drive": """
        runtime time_based ramp_time loops number_ios size io_size io_limit filesize file_size offset offset_increment
        fill_device fill_fs steadystate steadystate_duration steadystate_ramp_time exitall exitall_on_error max_latency
        rate_min rate_iops_min
    """,
    "files and their data": """
        nrfiles openfiles file_service_type filename_format fallocate create_on_open create_only create_serialize
        create_fsync unlink unlink_each_loop overwrite file_append end_fsync fsync_on_close invalidate fadvise
        refill_buffers scramble_buffers zero_buffers buffer_pattern buffer_compress_percentage buffer_compress_chunk
        dedupe_percentage allow_file_create allow_mounted_write readonly opendir lockfile
    """,
    "the order of random offsets: drives of the model serve all alike": """
        norandommap softrandommap randrepeat allrandrepeat randseed rand_seed use_os_rand random_generator
        random_distribution blockalign ba bs_unaligned blocksize_unaligned
    """,
    "how commands are submitted, which costs the model no time, and where": """
        thread hipri hipri_percentage fixedbufs registerfiles nonvectored sqthread_poll sqthread_poll_cpu uncached
        userspace_reap userspace_libaio_reap force_async cmd_type libaio_vectored mem iomem mem_align iomem_align
        hugepage-size lockmem cpus_allowed cpumask cpus_allowed_policy nice prio prioclass uid gid
    """,
    "what is reported and logged": """
        output output-format terse_version eta status-interval per_job_logs unified_rw_reporting write_bw_log
        write_lat_log write_hist_log write_iops_log write_iolog log_avg_msec log_hist_msec log_hist_coarseness
        log_max_value log_window_value log_offset log_prio log_issue_time log_entries log_compression
        log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id
        bwavgtime iopsavgtime disable_lat disable_clat disable_slat disable_bw disable_bw_measurement lat_percentiles
        clat_percentiles slat_percentiles percentile_list significant_figures gtod_reduce gtod_cpu clocksource
    """,
    "nothing without an option that is refused": """
        thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime do_verify verify_fatal verify_dump
        verify_interval verify_async verify_backlog verify_pattern verify_state_save rate_process rate_cycle
        rate_ignore_thinktime latency_window latency_percentile latency_run zonesize zonerange zoneskip
    """,
}
"""Options without effect in the model, by what they set."""

HARMLESS = frozenset(name for names in _HARMLESS.values() for name in names.split())

REDUCED_LOAD = "the drives ran below capacity; measure without it"
SIZES = "the model has a single block size; measure with a single bs"
DEPTH = "it sets how many commands are in flight, not iodepth; measure without it, or give the number: @iodepth=N"
ALONE = "the jobs did not overlap fully; give one file per job"
SYNCED = "writes wait until they are durable, which is not modelled; measure without it"

REFUSED = {
    "rate": REDUCED_LOAD,
    "rate_iops": REDUCED_LOAD,
    "flow": REDUCED_LOAD,
    "thinktime": REDUCED_LOAD,
    "latency_target": "fio searches for a queue depth that meets it; measure with a fixed iodepth",
    "bssplit": SIZES,
    "bsrange": SIZES,
    "blocksize_range": SIZES,
    "percentage_random": "the model has sequential or random blocks; measure with one of them",
    "iodepth_batch": DEPTH,
    "iodepth_batch_submit": DEPTH,
    "iodepth_batch_complete": DEPTH,
    "iodepth_batch_complete_min": DEPTH,
    "iodepth_batch_complete_max": DEPTH,
    "iodepth_low": DEPTH,
    "wait_for": ALONE,
    "startdelay": ALONE,
    "verify": "fio reads back what it wrote; measure without it",
    "verify_only": "fio reads back what it wrote; measure without it",
    "fsync": SYNCED,
    "fdatasync": SYNCED,
    "sync": SYNCED,
    "sync_file_range": SYNCED,
    "write_barrier": SYNCED,
    "read_iolog": "the commands come from a file, not from rw and bs; measure with a job",
    "zonemode": "zones limit how many commands are in flight; measure without it",
    "profile": "the commands come from a profile, not from rw and bs; measure with a job",
    "trim_percentage": "the model has no trim; measure without it",
    "kb_base": "it changes the meaning of k in sizes; use kb_base=1024",
    "io_submit_mode": "a separate thread submits; measure with io_submit_mode=inline",
}
"""Options that change what was measured, and why they are rejected."""

BATCHES = frozenset(name for name, reason in REFUSED.items() if reason == DEPTH)
"""Options that change how many commands are in flight."""

UNCHANGED = {**dict.fromkeys(BATCHES, "1"), "kb_base": "1024"}
"""Values that match fio's defaults."""

OFF = re.compile(r"0+[a-z]*|none|off|false|null|inline", re.IGNORECASE)
"""Values that turn an option off."""

SYNCHRONOUS = frozenset(("sync", "psync", "vsync", "pvsync", "pvsync2"))
"""Engines that wait for each command: one is in flight whatever iodepth says."""

ASYNCHRONOUS = frozenset(("libaio", "io_uring", "io_uring_cmd", "windowsaio", "solarisaio", "xnvme", "libblkio"))
"""Engines that keep iodepth commands in flight."""

BYPASSING = frozenset(("io_uring_cmd", "xnvme", "libblkio", "spdk"))
"""Engines that have no page cache to go through."""

SERIAL = "posixaio"
"""The engine whose library serves one command per file at a time."""

PLACEMENT = frozenset(("numa_cpu_nodes", "numa_mem_policy"))
"""Options that place buffers and threads."""


def is_off(value: Any) -> bool:
    """Returns True if this value turns an option off."""
    return value is False or OFF.fullmatch(str(value).strip()) is not None


def is_on(options: Mapping[str, Any], name: str) -> bool:
    """Returns True if a switch is on, as it is without a value."""
    return name in options and not is_off(options[name])


def engine_of(options: Mapping[str, Any]) -> str:
    """Returns the engine of a job; "" if it names none."""
    name = str(options.get("ioengine") or "")
    return "spdk" if "spdk" in name else name


def refusal_of(options: Mapping[str, Any], given: Iterable[str]) -> str | None:
    """Returns the reason why results with these options are rejected, None if they are accepted."""
    for name, value in options.items():
        is_told = str(value) == UNCHANGED.get(name) or (name in BATCHES and "iodepth" in given)
        if name in REFUSED and not is_off(value) and not is_told:
            return f"{name}={value}: {REFUSED[name]}"
    if ("direct" in options and is_off(options["direct"])) or is_on(options, "buffered"):
        name = "buffered" if is_on(options, "buffered") else "direct"
        return f"{name}={options[name]}: the page cache was measured, not the drives; measure with direct=1"
    engine = engine_of(options)
    if engine == SERIAL and str(options.get("iodepth", "1")) != "1" and "iodepth" not in given:
        return "ioengine=posixaio: its library serves one command per file at a time; measure with libaio or io_uring"
    if engine and engine not in {*SYNCHRONOUS, *ASYNCHRONOUS, "spdk", SERIAL}:
        return f"ioengine={engine}: not I/O to local drives as far as the model knows; measure with libaio or io_uring"
    return None


def remarks_on(options: Mapping[str, Any]) -> Iterator[str]:
    """Yields notes on options that are not used."""
    unknown = sorted(name for name in options if name not in USED | HARMLESS | PLACEMENT and name not in REFUSED)
    if unknown:
        yield f"unknown options, whose effect is not taken into account: {', '.join(unknown)[:200]}"
    placed = sorted(PLACEMENT & options.keys())
    if placed:
        yield f"{', '.join(placed)}: buffers are assumed to be local to the socket of the drives"
    if not {"direct", "buffered"} & options.keys() and engine_of(options) not in BYPASSING:
        yield "direct=1 is missing, so fio went through the page cache, which is assumed to have held none of the data"
