//! The file format: sections, options, comments.

use super::options::{Applied, Options};
use crate::document::TEXT_BYTES_MAX;
use crate::error::Issue;
use crate::spec::{Direction, FioJobSpec, Size};
use crate::units::shorten;

const GIBIBYTE: u64 = 1 << 30;
/// Jobs of one file, after `numjobs`.
const JOBS_MAX: usize = 1024;

/// What a job file asks for.
#[derive(Debug, Default)]
pub(crate) struct JobFile {
    pub(crate) jobs: Vec<FileJob>,
    /// The longest ramp time in ps.
    pub(crate) ramp_ps: u64,
    /// What has no effect, and why.
    pub(crate) ignored: Vec<String>,
}

/// One job on one file.
#[derive(Debug)]
pub(crate) struct FileJob {
    /// The job; its drive is not known yet.
    pub(crate) spec: FioJobSpec,
    pub(crate) filename: Option<String>,
    /// Line of the job's section.
    pub(crate) line: usize,
}

/// Reads a job file. `file` is its name for messages.
pub(crate) fn parse(text: &str, file: &str) -> Result<JobFile, Issue> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Issue::in_file(file, None, "", format!("longer than {} MiB", TEXT_BYTES_MAX >> 20)));
    }
    let mut reader = Reader { file, result: JobFile::default(), global: Options::default(), section: Section::Before };
    for (at, line) in text.lines().enumerate() {
        reader.line(line.trim(), at + 1)?;
    }
    reader.close()?;
    if reader.result.jobs.is_empty() {
        return Err(Issue::in_file(
            file,
            None,
            "",
            "has no job: a fio job file has a section such as [job] with rw=read",
        ));
    }
    Ok(reader.result)
}

enum Section {
    Before,
    Global,
    Job { name: String, line: usize, options: Options },
}

struct Reader<'a> {
    file: &'a str,
    result: JobFile,
    global: Options,
    section: Section,
}

impl Reader<'_> {
    fn fail<T>(&self, line: usize, key: &str, message: impl Into<String>) -> Result<T, Issue> {
        Err(Issue::in_file(self.file, Some(line), key, message))
    }

    fn line(&mut self, text: &str, line: usize) -> Result<(), Issue> {
        if text.is_empty() || text.starts_with([';', '#']) {
            return Ok(());
        }
        if let Some(rest) = text.strip_prefix('[') {
            return self.open(rest, line);
        }
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key.trim(), Some(strip_comment(value))),
            None => (strip_comment(text), None),
        };
        let shown = shown_key(key);
        let options = match &mut self.section {
            Section::Before => return self.fail(line, &shown, "stands before the first section such as [global]"),
            Section::Global => &mut self.global,
            Section::Job { options, .. } => options,
        };
        match options.apply(key, value) {
            Ok(Applied::Modelled) => Ok(()),
            Ok(Applied::Ignored(reason)) => {
                let setting = value.map_or(shown.clone(), |value| format!("{shown}={}", shown_key(value)));
                let note = format!("{}: {setting} {reason}", self.file);
                if !self.result.ignored.contains(&note) && self.result.ignored.len() < JOBS_MAX {
                    self.result.ignored.push(note);
                }
                Ok(())
            }
            Err(message) => self.fail(line, &shown, message),
        }
    }

    fn open(&mut self, rest: &str, line: usize) -> Result<(), Issue> {
        self.close()?;
        let name = strip_comment(rest).strip_suffix(']').map(str::trim).filter(|name| !name.is_empty());
        let Some(name) = name else {
            return self.fail(line, "", format!("{} is not a section such as [job]", shorten(&format!("[{rest}"))));
        };
        self.section = match name {
            "global" => Section::Global,
            _ => Section::Job { name: name.to_string(), line, options: self.global.clone() },
        };
        Ok(())
    }

    /// Ends the current section and turns a job into its clones.
    fn close(&mut self) -> Result<(), Issue> {
        let Section::Job { name, line, options } = std::mem::replace(&mut self.section, Section::Before) else {
            return Ok(());
        };
        let shown = shown_key(&name);
        let Some(rw) = options.rw else {
            return self.fail(line, &shown, "has no rw; write rw=read or rw=write");
        };
        let clones = options.numjobs.unwrap_or(1) as usize * options.filenames.len().max(1);
        if self.result.jobs.len() + clones > JOBS_MAX {
            return self.fail(line, &shown, format!("more than {JOBS_MAX} jobs in the file"));
        }
        let files = options.filenames.len().max(1) as u32;
        let depth = options.iodepth.unwrap_or(1);
        if depth < files {
            let message = format!("iodepth={depth} is less than its {files} files; give one job per file");
            return self.fail(line, &shown, message);
        }
        let bs = options.bs.unwrap_or(4096);
        let size = options.size.unwrap_or(GIBIBYTE.next_multiple_of(bs));
        if size / u64::from(files) < bs {
            return self.fail(
                line,
                &shown,
                format!("size={size} over {files} files is less than a block of {bs} bytes"),
            );
        }
        self.result.ramp_ps = self.result.ramp_ps.max(options.ramp_ps);
        for _ in 0..options.numjobs.unwrap_or(1) {
            for at in 0..files {
                let job = self.clone_of(&options, rw, at, files, line);
                self.result.jobs.push(job);
            }
        }
        Ok(())
    }

    /// The part of a job that is on file number `at` of `files`: fio spreads the commands of a job over its files.
    fn clone_of(&self, options: &Options, rw: Direction, at: u32, files: u32, line: usize) -> FileJob {
        let depth = options.iodepth.unwrap_or(1);
        let bs = options.bs.unwrap_or(4096);
        let size = options.size.unwrap_or(GIBIBYTE.next_multiple_of(bs)) / u64::from(files);
        let cpus = options.cpus.as_deref().unwrap_or_default();
        let spec = FioJobSpec {
            rw,
            bs: Size(bs),
            iodepth: depth / files + u32::from(at < depth % files),
            size: Size(size - size % 512),
            rwmixread: options.rwmixread.filter(|_| matches!(rw, Direction::Rw | Direction::RandRw)),
            ssd: 0,
            core: cpus.get(self.result.jobs.len() % cpus.len().max(1)).copied(),
        };
        FileJob { spec, filename: options.filenames.get(at as usize).cloned(), line }
    }
}

/// fio takes a `;` or `#` after white space as the start of a comment.
fn strip_comment(text: &str) -> &str {
    let starts = |(at, c): &(usize, char)| {
        matches!(c, ';' | '#') && (*at == 0 || text[..*at].ends_with(|before: char| before.is_whitespace()))
    };
    let end = text.char_indices().find(starts).map_or(text.len(), |(at, _)| at);
    text[..end].trim()
}

fn shown_key(key: &str) -> String {
    key.chars().filter(|c| !c.is_control()).take(60).collect()
}
