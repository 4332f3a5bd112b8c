//! Classifies the options of fio that the model has no quantity for: those without effect, and those that are refused
//! unless they are off.

/// Effect of an option that the model has no quantity for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The option has no effect, for this reason.
    Nothing(&'static str),
    /// The option changes the work of a job unless it is off. The text is the advice to the user.
    Refused(&'static str),
}

/// Returns the meaning of an option, `None` if the option is unknown or modelled.
pub(super) fn meaning(key: &str) -> Option<Meaning> {
    let nothing = NOTHING.iter().find(|(_, keys)| keys.contains(&key)).map(|(reason, _)| Meaning::Nothing(reason));
    nothing.or_else(|| REFUSED.iter().find(|(_, keys)| keys.contains(&key)).map(|(advice, _)| Meaning::Refused(advice)))
}

/// Returns all options that [`meaning`] knows.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    NOTHING.iter().chain(&REFUSED).flat_map(|(_, keys)| keys.iter().copied())
}

pub(super) const STEADY: &str = "a run measures run.duration in steady state";
pub(super) const ORDER: &str = "the location of blocks on a drive does not matter";
pub(super) const NO_CACHE: &str = "there is no page cache";
const NO_SUBMISSION: &str = "submission costs no CPU time";

/// Options that control how fio works, but not the work of the drives and the host. Each group has its reason.
const NOTHING: [(&str, &[&str]); 15] = [
    (
        NO_CACHE,
        &["invalidate", "fadvise_hint", "pre_read", "uncached", "sync_file_range", "allow_mounted_write", "readonly"],
    ),
    (
        ORDER,
        &[
            "norandommap",
            "softrandommap",
            "randrepeat",
            "allrandrepeat",
            "randseed",
            "use_os_rand",
            "random_generator",
            "random_distribution",
            "percentage_random",
            "rw_sequencer",
            "offset",
            "offset_align",
            "offset_increment",
            "blockalign",
            "ba",
            "zonesize",
            "zonerange",
            "zoneskip",
            "zonecapacity",
            "file_append",
        ],
    ),
    (
        STEADY,
        &[
            "time_based",
            "loops",
            "io_size",
            "io_limit",
            "number_ios",
            "exitall",
            "exit_what",
            "exitall_on_error",
            "steadystate",
            "ss",
            "steadystate_duration",
            "ss_dur",
            "steadystate_ramp_time",
            "ss_ramp",
            "steadystate_check_interval",
            "ss_interval",
            "continue_on_error",
            "ignore_error",
            "error_dump",
            "max_latency",
            "rate_min",
            "rate_iops_min",
            "exec_prerun",
            "exec_postrun",
        ],
    ),
    (
        "the content of the data does not matter",
        &[
            "scramble_buffers",
            "refill_buffers",
            "zero_buffers",
            "buffer_pattern",
            "buffer_compress_percentage",
            "buffer_compress_chunk",
            "dedupe_percentage",
            "dedupe_mode",
            "dedupe_working_set_percentage",
            "dedupe_global",
        ],
    ),
    (
        "files are not modelled",
        &[
            "filename_format",
            "unique_filename",
            "filesize",
            "fill_device",
            "fill_fs",
            "nrfiles",
            "openfiles",
            "file_service_type",
            "fallocate",
            "create_on_open",
            "create_serialize",
            "create_fsync",
            "allow_file_create",
            "overwrite",
            "unlink",
            "unlink_each_loop",
            "end_fsync",
            "fsync_on_close",
            "lockfile",
            "opendir",
            "truncate",
            "write_hint",
        ],
    ),
    (
        NO_SUBMISSION,
        &[
            "hipri",
            "hipri_percentage",
            "fixedbufs",
            "registerfiles",
            "sqthread_poll",
            "sqthread_poll_cpu",
            "sqthread_poll_idle",
            "nonvectored",
            "force_async",
            "nowait",
            "userspace_reap",
            "cmd_type",
            "io_submit_mode",
            "iodepth_batch_complete_max",
            "thread",
            "nice",
            "stack_size",
            "cpus_allowed_policy",
        ],
    ),
    (
        "buffers are local to the node of their core",
        &["mem_align", "iomem_align", "hugepage-size", "lockmem", "mem_no_prefault"],
    ),
    (
        "drives and the block layer treat all IO alike",
        &[
            "ioscheduler",
            "prio",
            "prioclass",
            "priohint",
            "cmdprio",
            "cmdprio_percentage",
            "cmdprio_class",
            "cmdprio_hint",
            "cmdprio_bssplit",
        ],
    ),
    ("it only names or describes", &["name", "description", "profile", "new_group", "uid", "gid"]),
    ("it only changes what fio reports", &REPORTING),
    ("it matters only with rate", &["rate_process", "rate_cycle", "ratecycle", "rate_ignore_thinktime"]),
    (
        "it matters only with thinktime",
        &["thinktime_blocks", "thinktime_blocks_type", "thinktime_spin", "thinktime_iotime"],
    ),
    ("it matters only with latency_target", &["latency_window", "latency_percentile", "latency_run"]),
    ("it matters only with flow", &["flow_id", "flow_watermark", "flow_sleep"]),
    (
        "it matters only with verify",
        &[
            "do_verify",
            "verify_offset",
            "verify_interval",
            "verify_pattern",
            "verify_pattern_interval",
            "verify_fatal",
            "verify_dump",
            "verify_async",
            "verify_async_cpus",
            "verify_backlog",
            "verify_backlog_batch",
            "verify_header_seed",
            "verify_write_sequence",
            "verify_state_save",
            "verifysort",
            "verifysort_nr",
            "serialize_overlap",
        ],
    ),
];

/// Options that control the reports and logs of fio and the time stamps for them.
const REPORTING: [&str; 43] = [
    "group_reporting",
    "per_job_logs",
    "unified_rw_reporting",
    "stats",
    "unit_base",
    "disk_util",
    "job_start_clock_id",
    "bwavgtime",
    "iopsavgtime",
    "write_bw_log",
    "write_lat_log",
    "write_hist_log",
    "write_iops_log",
    "write_iolog",
    "log_avg_msec",
    "log_hist_msec",
    "log_hist_coarseness",
    "log_max_value",
    "log_window_value",
    "log_offset",
    "log_prio",
    "log_issue_time",
    "log_entries",
    "log_compression",
    "log_compression_cpus",
    "log_store_compressed",
    "log_unix_epoch",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw",
    "disable_bw_measurement",
    "lat_percentiles",
    "clat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "significant_figures",
    "gtod_reduce",
    "gtod_cpu",
    "clocksource",
    "block_error_percentiles",
];

/// Options that change the work of a job. Each group has advice on the options to give instead.
const REFUSED: [(&str, &[&str]); 18] = [
    ("cap all jobs with the rate of the workload", &["rate", "rate_iops"]),
    ("fio searches for a queue depth that meets it; give iodepth", &["latency_target"]),
    ("commands are issued back-to-back; give a smaller iodepth", &["thinktime"]),
    ("all jobs run at the same time; give a file for each", &["wait_for"]),
    ("all jobs run at the same time", &["startdelay", "start_delay"]),
    ("jobs do not wait for each other; cap all with the rate of the workload", &["flow"]),
    ("the model has a single block size; give bs", &["bssplit"]),
    ("blocks are multiples of 512 bytes; give bs", &["blocksize_unaligned", "bs_unaligned"]),
    ("the model has a single block size for any order; give bs", &["bs_is_seq_rand"]),
    ("data is not read back; leave it out, or add a job that reads", &["verify", "verify_only"]),
    ("data is not read back; leave it out, or add a job that reads", &["experimental_verify", "verify_state_load"]),
    ("the model has no flushes; leave it out", &["fsync", "fdatasync", "write_barrier"]),
    ("the model has no synchronous writes; leave it out", &["sync", "atomic"]),
    ("it creates files and does no IO; leave it out", &["create_only"]),
    ("a recorded trace is not replayed; give rw, bs and iodepth", &["read_iolog", "merge_blktrace_file"]),
    ("a cgroup may throttle the job; leave it out", &["cgroup", "cgroup_weight", "cgroup_nodelete"]),
    ("trims move no data and are not modelled", &["trim_percentage", "trim_backlog", "trim_verify_zero"]),
    (
        "zoned drives are not modelled",
        &["max_open_zones", "job_max_open_zones", "zone_reset_threshold", "zone_reset_frequency"],
    ),
];
