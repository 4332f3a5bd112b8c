//! Builds the jobs of the model from the options of a job file.

use super::engine::{Submission, DEFAULT};
use super::options::Options;
use crate::code::Code;
use crate::error::Fault;
use hostnet_params::{Direction, FioJobSpec, JobDrives, Size};

const GIBIBYTE: u64 = 1 << 30;
const BLOCK: u64 = 4096;

/// Job on one drive.
#[derive(Debug)]
pub(crate) struct FileJob {
    /// Parameters of the job. The drive is filled in later.
    pub(crate) spec: FioJobSpec,
    /// File or directory that represents the drive in the job file.
    pub(crate) filename: Option<String>,
    /// Line of the section of the job.
    pub(crate) line: usize,
}

/// Checked job before `numjobs` clones it.
pub(super) struct Plan<'a> {
    options: &'a Options,
    rw: Direction,
    block: u64,
    depth: u32,
    size: u64,
}

/// Key whose value does not fit the other options, and the fault.
pub(super) type Misfit = (&'static str, Fault);

impl<'a> Plan<'a> {
    pub(super) fn of(options: &'a Options) -> Result<Self, Misfit> {
        let rw = options.rw.unwrap_or(Direction::Read);
        let block = block(rw, options)?;
        let depth = depth(options)?;
        let size = options.size.unwrap_or(GIBIBYTE.next_multiple_of(block));
        let plan = Plan { options, rw, block, depth, size };
        let files = plan.files();
        if depth < files {
            let message = format!("{depth} in flight is fewer than its {files} files; give one job per file");
            return Err(("iodepth", Fault::new(Code::OutOfRange, message)));
        }
        if size / u64::from(files) < block {
            let message = format!("{size} over {files} files is less than a block of {block} bytes");
            return Err(("size", Fault::new(Code::WrongOrder, message)));
        }
        Ok(plan)
    }

    /// Returns the number of files, each on a drive, that a clone spreads its commands over.
    pub(super) fn files(&self) -> u32 {
        if self.options.directories.is_empty() {
            self.options.filenames.len().max(1) as u32
        } else {
            1
        }
    }

    pub(super) fn clones(&self) -> u32 {
        self.options.numjobs.unwrap_or(1)
    }

    /// Returns the number of commands that fio keeps in flight if the job asks for more, `None` otherwise.
    pub(super) fn capped_depth(&self) -> Option<u32> {
        self.options.iodepth.filter(|&asked| asked > self.depth).map(|_| self.depth)
    }

    /// Returns the part of a clone that accesses file number `at`. fio spreads the commands of a job over its files.
    pub(super) fn job(&self, clone: u32, at: u32, number: usize, line: usize) -> FileJob {
        let (depth, files) = (self.depth, self.files());
        let size = self.size / u64::from(files);
        let cpus = self.options.cpus.as_deref().unwrap_or_default();
        let spec = FioJobSpec {
            rw: self.rw,
            bs: Size(self.block),
            // The first files take one command more, so that all add up to the depth.
            iodepth: depth / files + u32::from(at < depth % files),
            size: Some(Size(size - size % 512)),
            rwmixread: self.options.rwmixread.filter(|_| is_mixed(self.rw)),
            ssd: JobDrives::One(0),
            core: cpus.get(number % cpus.len().max(1)).copied(),
        };
        FileJob { spec, filename: self.place(clone, at), line }
    }

    /// Returns the file or directory of a clone. Clones use the directories round robin, but named files are all in
    /// the first directory.
    fn place(&self, clone: u32, at: u32) -> Option<String> {
        let Options { filenames, directories, .. } = self.options;
        if filenames.is_empty() {
            return directories.get(clone as usize % directories.len().max(1)).cloned();
        }
        directories.first().or(filenames.get(at as usize)).cloned()
    }
}

fn is_mixed(rw: Direction) -> bool {
    matches!(rw, Direction::Rw | Direction::RandRw)
}

/// Returns the block size, in bytes, of the directions that a job uses.
fn block(rw: Direction, options: &Options) -> Result<u64, Misfit> {
    let [reads, writes] = options.blocks.map(|block| block.unwrap_or(BLOCK));
    match rw {
        Direction::Read | Direction::RandRead => Ok(reads),
        Direction::Write | Direction::RandWrite => Ok(writes),
        _ if reads == writes => Ok(reads),
        _ => {
            let message = format!("reads of {reads} B and writes of {writes} B: the model has a single block size");
            Err(("bs", Fault::new(Code::NotSupported, format!("{message}; give one job for each"))))
        }
    }
}

/// Returns the number of commands that a job keeps in flight.
fn depth(options: &Options) -> Result<u32, Misfit> {
    let asked = options.iodepth.unwrap_or(1);
    match options.engine {
        Some((_, Submission::Queued)) => {}
        None | Some((_, Submission::OneAtATime)) => return Ok(1),
        Some((_, Submission::Unknown)) if asked > 1 => {
            let message = "the number of commands that posixaio keeps in flight depends on the C library";
            return Err(("ioengine", Fault::new(Code::NotSupported, format!("{message}; give libaio or io_uring"))));
        }
        Some(_) => {}
    }
    if options.iodepth_low.is_some_and(|low| low < asked) {
        let message = format!("the model always keeps iodepth={asked} commands in flight; leave it out");
        return Err(("iodepth_low", Fault::new(Code::NotSupported, message)));
    }
    // With batches of up to half the depth the drive always has commands to serve; at the full depth it idles.
    if options.batch > 1 && options.batch > asked / 2 {
        let message = format!("batches of {} leave too few of iodepth={asked} commands in flight", options.batch);
        let message = format!("{message}; the model keeps all: batches may have at most half of it");
        return Err(("iodepth_batch", Fault::new(Code::NotSupported, message)));
    }
    Ok(asked)
}

/// Returns the name of the engine for a note that the engine keeps fewer commands in flight than the job asks for.
pub(super) fn engine_name(options: &Options) -> String {
    match &options.engine {
        Some((name, _)) => name.clone(),
        None => format!("{DEFAULT}, fio's default engine,"),
    }
}
