//! Parses job files: sections, options and comments.

use super::job::{engine_name, FileJob, Plan};
use super::options::{Applied, Options};
use crate::code::Code;
use crate::document::TEXT_BYTES_MAX;
use crate::error::{Fault, Issue};
use crate::units::shorten;

/// Largest number of jobs in one file, counted after `numjobs` has cloned them.
const JOBS_MAX: usize = 1024;
/// Largest number of problems that one error lists.
const PROBLEMS_MAX: usize = 20;

/// The server that the jobs run on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub(crate) nodes: usize,
}

/// Result of parsing a job file.
#[derive(Debug, Default)]
pub(crate) struct JobFile {
    pub(crate) jobs: Vec<FileJob>,
    /// Longest ramp time of all jobs, in ps.
    pub(crate) ramp_ps: u64,
    /// Notes for the user: one that lists the options without effect, and one for each difference between the model
    /// and fio.
    pub(crate) notes: Vec<String>,
}

/// Parses the text of a job file. Messages call the file `file`.
pub(crate) fn parse(text: &str, file: &str, host: Host) -> Result<JobFile, Issue> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Issue::in_file(
            Code::MalformedFile,
            file,
            None,
            "",
            format!("longer than {} MiB", TEXT_BYTES_MAX >> 20),
        ));
    }
    let mut reader = Reader {
        file,
        host,
        jobs: Vec::new(),
        ramp_ps: 0,
        ignored: Vec::new(),
        notes: Vec::new(),
        problems: Vec::new(),
        global: Options::default(),
        section: Section::Before,
    };
    // Windows editors put a byte order mark before the text.
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        reader.line(line.trim(), at + 1);
    }
    reader.close();
    reader.finish()
}

enum Section {
    Before,
    Global,
    Job { name: String, line: usize, options: Box<Options> },
}

/// Fault, with all lines and keys where it occurs.
struct Problem {
    fault: Fault,
    places: Vec<(usize, String)>,
}

struct Reader<'a> {
    file: &'a str,
    host: Host,
    jobs: Vec<FileJob>,
    ramp_ps: u64,
    /// Settings without effect, each with the reason.
    ignored: Vec<(String, &'static str)>,
    notes: Vec<String>,
    problems: Vec<Problem>,
    global: Options,
    section: Section,
}

impl Reader<'_> {
    /// Records a problem. Keys with an equal fault share one entry.
    fn fail(&mut self, line: usize, key: &str, fault: Fault) {
        match self.problems.iter_mut().find(|known| known.fault == fault) {
            Some(known) if known.places.iter().any(|(_, other)| other == key) => {}
            Some(known) => known.places.push((line, key.to_string())),
            None => self.problems.push(Problem { fault, places: vec![(line, key.to_string())] }),
        }
    }

    fn line(&mut self, text: &str, line: usize) {
        if text.is_empty() || text.starts_with([';', '#']) {
            return;
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
            Section::Before => {
                let message = "stands before the first section such as [global]";
                return self.fail(line, &shown, Fault::new(Code::MisplacedKey, message));
            }
            Section::Global => &mut self.global,
            Section::Job { options, .. } => &mut **options,
        };
        match options.apply(key, value, self.host.nodes) {
            Ok(Applied::Modelled) => {}
            Ok(Applied::Ignored(reason)) => {
                let setting = value.map_or(shown.clone(), |value| format!("{shown}={}", shown_key(value)));
                if !self.ignored.iter().any(|(known, _)| *known == setting) && self.ignored.len() < JOBS_MAX {
                    self.ignored.push((setting, reason));
                }
            }
            Err(fault) => {
                options.broken = true;
                self.fail(line, &shown, fault);
            }
        }
    }

    fn open(&mut self, rest: &str, line: usize) {
        self.close();
        let name = strip_comment(rest).strip_suffix(']').map(str::trim).filter(|name| !name.is_empty());
        self.section = match name {
            Some("global") => Section::Global,
            Some(name) => Section::Job { name: name.to_string(), line, options: Box::new(self.global.clone()) },
            None => {
                let shown = shorten(&format!("[{rest}"));
                self.fail(line, "", Fault::new(Code::MalformedFile, format!("{shown} is not a section such as [job]")));
                // A broken section still takes its lines, which would be reported as misplaced otherwise.
                let options = Box::new(Options { broken: true, ..self.global.clone() });
                Section::Job { name: String::new(), line, options }
            }
        };
    }

    /// Ends the current section and adds the clones of its job.
    fn close(&mut self) {
        let Section::Job { name, line, options } = std::mem::replace(&mut self.section, Section::Before) else {
            return;
        };
        if options.broken {
            return;
        }
        let shown = shown_key(&name);
        let plan = match Plan::of(&options) {
            Ok(plan) => plan,
            Err((key, fault)) => return self.fail(line, &format!("[{shown}] {key}"), fault),
        };
        // The first job has no other to wait for.
        if options.waits && !self.jobs.is_empty() {
            let message = "it changes what a job does: all jobs run at the same time; give a file for each";
            return self.fail(line, &format!("[{shown}] stonewall"), Fault::new(Code::NotSupported, message));
        }
        if self.jobs.len() + (plan.clones() * plan.files()) as usize > JOBS_MAX {
            let message = format!("more than {JOBS_MAX} jobs in the file");
            return self.fail(line, &shown, Fault::new(Code::TooMany, message));
        }
        self.note(&options, &plan);
        self.ramp_ps = self.ramp_ps.max(options.ramp_ps);
        for clone in 0..plan.clones() {
            for at in 0..plan.files() {
                self.jobs.push(plan.job(clone, at, self.jobs.len(), line));
            }
        }
    }

    /// Adds a note for each treatment of a job, by fio or by the model, that its author may not expect.
    fn note(&mut self, options: &Options, plan: &Plan) {
        let capped = plan.capped_depth().map(|_| {
            let asked = options.iodepth.unwrap_or(1);
            format!("iodepth={asked} acts as 1: {} keeps one command in flight", engine_name(options))
        });
        let cached = (!options.direct)
            .then(|| String::from("without direct=1 fio goes through the page cache, but the model does not"));
        let batched = (options.batch > 1 && plan.capped_depth().is_none()).then(|| {
            format!("with iodepth_batch fio has up to {} fewer commands in flight; the model does not", options.batch)
        });
        for text in [capped, cached, batched].into_iter().flatten() {
            let note = format!("{}: {text}", self.file);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    fn finish(mut self) -> Result<JobFile, Issue> {
        if self.problems.is_empty() && self.jobs.is_empty() {
            let message = "has no job; add a section such as [job] with rw=read";
            return Err(Issue::in_file(Code::NothingToDo, self.file, None, "", message));
        }
        if let Some(issue) = all_in_one(self.file, &self.problems) {
            return Err(issue);
        }
        self.notes.splice(0..0, without_effect(self.file, &self.ignored));
        Ok(JobFile { jobs: self.jobs, ramp_ps: self.ramp_ps, notes: self.notes })
    }
}

/// Combines all problems into one error at the place of the first problem. The message is a single line.
fn all_in_one(file: &str, problems: &[Problem]) -> Option<Issue> {
    let first = problems.first()?;
    let (line, key) = first.places.first()?;
    let told = |(at, Problem { fault: Fault { message, .. }, places }): (usize, &Problem)| {
        let own = if at == 0 { String::new() } else { format!("; line {}: {}: ", places[0].0, places[0].1) };
        let others = places[1..].iter().take(PROBLEMS_MAX).map(|(line, key)| format!("{key} in line {line}"));
        let others = others.chain(more(places.len() - 1)).collect::<Vec<_>>().join(", ");
        let others = if others.is_empty() { others } else { format!(" (also {others})") };
        format!("{own}{message}{others}")
    };
    let mut message: String = problems.iter().enumerate().take(PROBLEMS_MAX).map(told).collect();
    message.extend(more(problems.len()).map(|more| format!("; {more}")));
    Some(Issue::in_file(first.fault.code, file, Some(*line), key, message))
}

/// Returns a count of the problems beyond `PROBLEMS_MAX`, such as "9 more". `None` if all are listed.
fn more(all: usize) -> Option<String> {
    all.checked_sub(PROBLEMS_MAX).filter(|&more| more > 0).map(|more| format!("{more} more"))
}

/// Returns the note that lists the settings without effect, grouped by reason.
fn without_effect(file: &str, ignored: &[(String, &'static str)]) -> Option<String> {
    let mut reasons: Vec<&str> = Vec::new();
    for (_, reason) in ignored {
        if !reasons.contains(reason) {
            reasons.push(reason);
        }
    }
    let of = |reason: &&str| {
        let settings = ignored.iter().filter(|(_, own)| own == reason).map(|(setting, _)| setting.as_str());
        format!("{} ({reason})", settings.collect::<Vec<_>>().join(", "))
    };
    let listed = reasons.iter().map(of).collect::<Vec<_>>().join("; ");
    (!ignored.is_empty()).then(|| format!("{file}: no effect in the model: {listed}"))
}

/// Removes a trailing comment. As in fio, a `;` or `#` after white space starts a comment.
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
