//! Defines the options of one job and applies the settings of a job file to them.

use super::engine::{submission, Submission};
use super::known::{self, meaning, Meaning, NO_CACHE, ORDER, STEADY};
use super::placement;
use super::value::{
    block_ranges, blocks, check_literal, cores_of_mask, count, direction, duration_ps, is_off, job_size, names, truth,
};
use crate::code::Code;
use crate::cores::parse_cores;
use crate::error::nearest;
use crate::error::Fault;
use crate::units::shorten;
use hostnet_params::Direction;

/// Options of a job or of `[global]`. An absent option takes fio's default, or the default of the model if fio's
/// depends on the device.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) rw: Option<Direction>,
    /// Block sizes of reads and of writes, in bytes.
    pub(super) blocks: [Option<u64>; 2],
    pub(super) size: Option<u64>,
    pub(super) iodepth: Option<u32>,
    /// Largest number of commands that are submitted or completed at once.
    pub(super) batch: u32,
    pub(super) iodepth_low: Option<u32>,
    pub(super) numjobs: Option<u32>,
    pub(super) rwmixread: Option<u32>,
    pub(super) filenames: Vec<String>,
    pub(super) directories: Vec<String>,
    pub(super) cpus: Option<Vec<u32>>,
    pub(super) ramp_ps: u64,
    pub(super) engine: Option<(String, Submission)>,
    pub(super) direct: bool,
    /// True if the job waits for the preceding jobs to end (`stonewall`).
    pub(super) waits: bool,
    /// True if one of the options was refused. The job is then not checked as a whole.
    pub(super) broken: bool,
}

/// Effect of an option on a job.
#[derive(Debug)]
pub(super) enum Applied {
    Modelled,
    /// The option has no effect, for this reason.
    Ignored(&'static str),
}

/// Options that the model has a quantity for, and options that it accepts for some of their values only.
pub(super) const MODELLED: [&str; 34] = [
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "size",
    "iodepth",
    "iodepth_batch",
    "iodepth_batch_submit",
    "iodepth_batch_complete",
    "iodepth_batch_complete_min",
    "iodepth_low",
    "numjobs",
    "rwmixread",
    "rwmixwrite",
    "filename",
    "directory",
    "cpus_allowed",
    "cpumask",
    "ramp_time",
    "runtime",
    "timeout",
    "ioengine",
    "direct",
    "buffered",
    "stonewall",
    "wait_for_previous",
    "mem",
    "iomem",
    "kb_base",
    "zonemode",
    "numa_cpu_nodes",
    "numa_mem_policy",
];

/// Longest ramp time that is simulated, in ps. The queues of a host settle within microseconds.
const RAMP_PS_MAX: u64 = 10_000_000_000;
const LONG_RAMP: &str = "queues settle within microseconds; set the warm-up with run.warmup";

const IODEPTH_MAX: u32 = 65536;

impl Options {
    /// Applies the setting `key=value`. The message of an error does not name the key.
    pub(super) fn apply(&mut self, key: &str, value: Option<&str>, nodes: usize) -> Result<Applied, Fault> {
        let value = value.filter(|value| !value.is_empty());
        // Options without effect are taken with any value, so values are checked afterwards.
        match meaning(key) {
            Some(Meaning::Nothing(reason)) => return Ok(Applied::Ignored(reason)),
            Some(Meaning::Refused(_)) if is_off(value) => return Ok(Applied::Ignored("it is off")),
            Some(Meaning::Refused(advice)) => {
                return Err(Fault::new(Code::NotSupported, format!("it changes what a job does: {advice}")))
            }
            None => {}
        }
        value.map_or(Ok(()), check_literal)?;
        match key {
            "direct" | "buffered" => return self.apply_cache(key, value),
            "stonewall" | "wait_for_previous" => {
                self.waits = truth(value)?;
                return Ok(if self.waits { Applied::Modelled } else { Applied::Ignored("it is off") });
            }
            "numa_mem_policy" => return placement::memory_policy(value, nodes).map(Applied::Ignored),
            _ if !MODELLED.contains(&key) => return Err(unknown(key)),
            _ => {}
        }
        let value = value.ok_or_else(|| Fault::new(Code::MissingKey, "a value is missing after \"=\""))?;
        match key {
            "numa_cpu_nodes" => placement::nodes(value, nodes).map(Applied::Ignored),
            "runtime" | "timeout" => duration_ps(value).map(|_| Applied::Ignored(STEADY)),
            "kb_base" if value == "1024" => Ok(Applied::Ignored("k is 1024 here, too")),
            "kb_base" => Err(Fault::new(
                Code::NotSupported,
                format!("{} changes the meaning of k; write sizes with k = 1024", shorten(value)),
            )),
            "zonemode" if matches!(value, "none" | "strided") => Ok(Applied::Ignored(ORDER)),
            "zonemode" => Err(Fault::new(
                Code::NotSupported,
                format!("{} needs zoned drives, which are not modelled", shorten(value)),
            )),
            "mem" | "iomem" => placement::buffers(value).map(Applied::Ignored),
            "ramp_time" => self.apply_ramp(value),
            "rw" | "readwrite" => self.apply_direction(value),
            _ => self.apply_amount(key, value).map(|()| Applied::Modelled),
        }
    }

    fn apply_amount(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        match key {
            "bs" | "blocksize" => self.take_blocks(blocks(value)?),
            "bsrange" | "blocksize_range" => self.take_blocks(block_ranges(value)?),
            "size" => self.size = job_size(value)?,
            "iodepth" => self.iodepth = Some(count(value, 1, IODEPTH_MAX)?),
            "iodepth_low" => self.iodepth_low = Some(count(value, 0, IODEPTH_MAX)?),
            "numjobs" => self.numjobs = Some(count(value, 1, 1024)?),
            "rwmixread" => self.rwmixread = Some(count(value, 0, 100)?),
            "rwmixwrite" => self.rwmixread = Some(100 - count(value, 0, 100)?),
            "filename" => self.filenames = names(value, "files")?,
            "directory" => self.directories = names(value, "directories")?,
            "cpus_allowed" => self.cpus = Some(parse_cores(value)?),
            "cpumask" => self.cpus = Some(cores_of_mask(value)?),
            "ioengine" => self.engine = Some((value.to_string(), submission(value)?)),
            // The largest batch, of submissions or of completions, decides.
            _ => self.batch = self.batch.max(count(value, 0, IODEPTH_MAX)?),
        }
        Ok(())
    }

    fn take_blocks(&mut self, blocks: [Option<u64>; 2]) {
        for (own, new) in self.blocks.iter_mut().zip(blocks) {
            *own = new.or(*own);
        }
    }

    /// Applies a direction. The suffix after `:`, which chooses the order of the blocks, has no effect.
    fn apply_direction(&mut self, value: &str) -> Result<Applied, Fault> {
        let (name, order) = value.split_once(':').map_or((value, None), |(name, order)| (name.trim(), Some(order)));
        self.rw = Some(direction(name)?);
        Ok(order.map_or(Applied::Modelled, |_| Applied::Ignored(ORDER)))
    }

    /// Checks that IO is direct. IO through the page cache is refused because the model has no page cache.
    fn apply_cache(&mut self, key: &str, value: Option<&str>) -> Result<Applied, Fault> {
        if truth(value)? != (key == "direct") {
            return Err(Fault::new(
                Code::NotSupported,
                "IO would go through the page cache, which is not modelled; give direct=1",
            ));
        }
        self.direct = true;
        Ok(Applied::Ignored(NO_CACHE))
    }

    fn apply_ramp(&mut self, value: &str) -> Result<Applied, Fault> {
        self.ramp_ps = duration_ps(value)?;
        if self.ramp_ps > RAMP_PS_MAX {
            self.ramp_ps = 0;
            return Ok(Applied::Ignored(LONG_RAMP));
        }
        Ok(Applied::Modelled)
    }
}

/// Returns the error for an unknown option. The message suggests a known option that differs by at most two letters.
fn unknown(key: &str) -> Fault {
    if key == "include" || key.starts_with("include ") {
        return Fault::new(Code::NotSupported, "included files are not read; copy their options here");
    }
    let known = || MODELLED.into_iter().chain(known::all());
    // A larger distance matches unrelated words: fio has several hundred options, and some start alike.
    let typos_max = 2.min(key.len() / 4);
    let near = nearest(key, known()).filter(|near| strsim::damerau_levenshtein(key, near) <= typos_max);
    let message = match near {
        Some(near) => format!("unknown option; did you mean \"{near}\"?"),
        None => String::from("unknown option; see \"fio job files\" in docs/config.md"),
    };
    Fault::new(Code::UnknownKey, message)
}
