//! The options of one job.

use crate::cores::parse_cores;
use crate::error::suggestion;
use crate::spec::Direction;
use crate::units::shorten;

/// Options of a job or of `[global]`; absent ones have fio's default, or the model's where fio depends on the device.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) rw: Option<Direction>,
    pub(super) bs: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) iodepth: Option<u32>,
    pub(super) numjobs: Option<u32>,
    pub(super) rwmixread: Option<u32>,
    pub(super) filenames: Vec<String>,
    pub(super) cpus: Option<Vec<u32>>,
    pub(super) ramp_ps: u64,
}

/// What became of an option.
pub(super) enum Applied {
    Modelled,
    /// It has no effect, because of this.
    Ignored(&'static str),
}

const MODELLED: [&str; 12] = [
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "size",
    "iodepth",
    "numjobs",
    "rwmixread",
    "filename",
    "cpus_allowed",
    "ramp_time",
    "runtime",
];

/// Longest ramp time that is simulated: queues of a host settle in microseconds.
const RAMP_PS_MAX: u64 = 10_000_000_000;
const LONG_RAMP: &str = "has no effect: queues settle within microseconds; the warm-up is run.warmup";

const NO_EFFECT: &str = "has no effect in the model";
const STEADY: &str = "has no effect: a run measures run.duration; steady state lasts longer than any window";

const NOT_DATA: &str = "has no effect in the model: what the data are changes nothing";
const NOT_FILES: &str = "has no effect in the model: there are no files";
const REPORTS: &str = "has no effect in the model: it changes what fio reports";
const NO_SUBMISSION: &str = "has no effect in the model: submission costs no time of a processor";

/// Options that say how fio does its work, not what the drives and the host do.
const IGNORED: [(&str, &[&str]); 8] = [
    ("has no effect in the model: iodepth commands stay in flight", &["ioengine"]),
    ("has no effect in the model: there is no page cache", &["direct", "invalidate"]),
    (
        NO_EFFECT,
        &[
            "thread",
            "name",
            "description",
            "norandommap",
            "randrepeat",
            "allrandrepeat",
            "randseed",
            "random_generator",
        ],
    ),
    (STEADY, &["time_based", "loops", "exitall"]),
    (NOT_DATA, &["scramble_buffers", "refill_buffers", "zero_buffers", "buffer_pattern"]),
    (NOT_FILES, &["directory", "filename_format", "fallocate", "create_on_open", "unlink", "end_fsync"]),
    (NO_SUBMISSION, &["hipri", "fixedbufs", "registerfiles", "sqthread_poll", "nonvectored"]),
    (REPORTS, &REPORTING),
];

/// Options that say what fio reports and logs, and how it takes times for that.
const REPORTING: [&str; 38] = [
    "group_reporting",
    "per_job_logs",
    "unified_rw_reporting",
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
    "bwavgtime",
    "iopsavgtime",
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
];

/// Options that change what a job does, and what to give in their place.
const UNLIKE: [(&str, &str); 8] = [
    ("rate", "cap all jobs with the rate of the workload"),
    ("rate_iops", "cap all jobs with the rate of the workload"),
    ("latency_target", "fio looks for a queue depth that keeps it; give iodepth"),
    ("thinktime", "give a smaller iodepth"),
    ("stonewall", "all jobs run at the same time; give a file for each"),
    ("wait_for", "all jobs run at the same time; give a file for each"),
    ("startdelay", "all jobs run at the same time"),
    ("bssplit", "the model has one size of blocks; give bs"),
];

const DIRECTIONS: [(&str, Direction); 7] = [
    ("read", Direction::Read),
    ("write", Direction::Write),
    ("randread", Direction::RandRead),
    ("randwrite", Direction::RandWrite),
    ("rw", Direction::Rw),
    ("readwrite", Direction::Rw),
    ("randrw", Direction::RandRw),
];

impl Options {
    /// Applies `key=value`. The error is a sentence without the key.
    pub(super) fn apply(&mut self, key: &str, value: Option<&str>) -> Result<Applied, String> {
        if let Some(reason) = without_effect(key) {
            return Ok(Applied::Ignored(reason));
        }
        if !MODELLED.contains(&key) {
            return Err(format!("not an option that the model knows; {}", instead(key)));
        }
        let value = value.filter(|value| !value.is_empty()).ok_or("a value is missing after \"=\"")?;
        match key {
            "rw" | "readwrite" => self.rw = Some(direction(value)?),
            "bs" | "blocksize" => self.bs = Some(block(value)?),
            "size" => self.size = Some(multiple_of_sector(value)?),
            "iodepth" => self.iodepth = Some(count(value, 1, 65536)?),
            "numjobs" => self.numjobs = Some(count(value, 1, 1024)?),
            "rwmixread" => self.rwmixread = Some(count(value, 0, 100)?),
            "filename" => self.filenames = filenames(value)?,
            "cpus_allowed" => self.cpus = Some(parse_cores(value)?),
            "ramp_time" => {
                self.ramp_ps = duration_ps(value)?;
                if self.ramp_ps > RAMP_PS_MAX {
                    self.ramp_ps = 0;
                    return Ok(Applied::Ignored(LONG_RAMP));
                }
            }
            _ => {
                duration_ps(value)?;
                return Ok(Applied::Ignored(STEADY));
            }
        }
        Ok(Applied::Modelled)
    }
}

/// Why an option has no effect, if it is known to have none.
fn without_effect(key: &str) -> Option<&'static str> {
    IGNORED.iter().find(|(_, names)| names.contains(&key)).map(|(reason, _)| *reason)
}

/// What to give in the place of an option that changes what a job does.
fn instead(key: &str) -> String {
    if let Some((_, advice)) = UNLIKE.iter().find(|(name, _)| *name == key) {
        return format!("it changes what a job does: {advice}");
    }
    let ignored = IGNORED.iter().flat_map(|(_, names)| names.iter().copied());
    suggestion(key, MODELLED.iter().copied().chain(ignored))
}

fn direction(value: &str) -> Result<Direction, String> {
    let found = DIRECTIONS.iter().find(|(name, _)| *name == value);
    let names = DIRECTIONS.iter().map(|(name, _)| *name);
    found
        .map(|(_, direction)| *direction)
        .ok_or_else(|| format!("{} is not known; {}", shorten(value), suggestion(value, names)))
}

fn count(value: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("{} is not a whole number from {least} to {most}", shorten(value)))
}

fn block(value: &str) -> Result<u64, String> {
    const BLOCK_MAX: u64 = 1 << 30;
    if value.contains(',') {
        return Err(format!("{} gives several sizes; the model has one for both directions", shorten(value)));
    }
    let bytes = multiple_of_sector(value)?;
    if bytes > BLOCK_MAX {
        return Err(format!("{} is larger than a block of 1 GiB", shorten(value)));
    }
    Ok(bytes)
}

fn multiple_of_sector(value: &str) -> Result<u64, String> {
    const SECTOR: u64 = 512;
    const BYTES_MAX: u64 = 64 << 40;
    let bytes = amount(value)?;
    if bytes == 0 || bytes % SECTOR != 0 || bytes > BYTES_MAX {
        return Err(format!("{} is not a multiple of 512 bytes from 512 to 64 TiB", shorten(value)));
    }
    Ok(bytes)
}

/// A size in fio's notation, where k, m, g and t are powers of 1024.
fn amount(value: &str) -> Result<u64, String> {
    let wrong = || format!("{} is not a size such as 4k, 8m or 1g", shorten(value));
    let split = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let number: u64 = value[..split].parse().map_err(|_| wrong())?;
    let shift = match value[split..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "kib" | "mib" | "gib" | "tib" => {
            let advice = "fio takes this suffix as a power of 1000 unless kb_base is set; write 4k, 8m or 1g";
            return Err(format!("{} is ambiguous: {advice}", shorten(value)));
        }
        _ => return Err(wrong()),
    };
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

fn filenames(value: &str) -> Result<Vec<String>, String> {
    const FILES_MAX: usize = 64;
    let names: Vec<String> = value.split(':').map(|name| name.trim().to_string()).collect();
    if names.len() > FILES_MAX || names.iter().any(String::is_empty) {
        return Err(format!("{} is not a list of up to {FILES_MAX} files", shorten(value)));
    }
    Ok(names)
}

/// A time in fio's notation: seconds unless a unit follows.
fn duration_ps(value: &str) -> Result<u64, String> {
    const SECONDS_MAX: u64 = 1000;
    let wrong = || format!("{} is not a time such as 10, 500ms or 20us", shorten(value));
    let split = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let number: u64 = value[..split].parse().map_err(|_| wrong())?;
    let factor: u64 = match value[split..].trim() {
        "" | "s" => 1_000_000_000_000,
        "ms" => 1_000_000_000,
        "us" => 1_000_000,
        "m" => 60_000_000_000_000,
        "h" => 3_600_000_000_000_000,
        _ => return Err(wrong()),
    };
    Ok(number.saturating_mul(factor).min(SECONDS_MAX * 1_000_000_000_000))
}
