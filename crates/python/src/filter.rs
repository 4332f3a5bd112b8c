//! Filters traces of processors through caches and writes the misses and write-backs as a trace for a memory.

use crate::errors::{config_error, fault_error, os_error, wrong_trace};
use crate::output::Output;
use crate::supervise::{supervise, Describe, RunMonitor};
use hostnet_config::Code;
use hostnet_model::params::Replacement;
use hostnet_sim::filter::{CacheFilter, LevelParams, LEVELS_MAX};
use hostnet_traffic::{AccessFormat, AccessTrace, Format, Pages, Request, TraceError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{json, Value};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Number of accesses between two status reports.
const PUBLISH_EVERY: u64 = 1 << 16;
/// Maximum memory, in bytes, that the pages of a trace may occupy when they are placed side by side: 64 GiB.
const MEMORY_BYTES: u64 = 1 << 36;

/// Maximum size of all caches together, in bytes: the state of a line of 64 B takes 12 B of memory.
const CACHES_BYTES: u64 = 1 << 34;

enum Failure {
    Open(io::Error),
    Trace(TraceError),
    Output(io::Error),
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::Trace(error)
    }
}

/// Returns the names of the trace formats that can be filtered.
#[pyfunction]
pub(crate) fn access_formats() -> Vec<&'static str> {
    AccessFormat::ALL.into_iter().map(AccessFormat::name).collect()
}

/// Runs a trace through caches and returns their counts as JSON.
///
/// `levels` are the caches, the one next to the processor first, each given by its bytes, ways and replacement. With
/// `output`, the requests that miss in or are written back by the last cache are written to that file as a trace.
#[pyfunction]
#[pyo3(signature = (
    path,
    levels,
    *,
    format=None,
    output=None,
    output_format="ramulator",
    compression="none",
    keep_addresses=false,
    progress=None
))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
pub(crate) fn filter_trace(
    py: Python<'_>,
    path: PathBuf,
    levels: Vec<(u64, u32, String)>,
    format: Option<&str>,
    output: Option<PathBuf>,
    output_format: &str,
    compression: &str,
    keep_addresses: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let levels = levels_of(&levels)?;
    let format = format.map(access_format).transpose()?;
    let output_format = Format::ALL.into_iter().find(|known| known.name() == output_format).ok_or_else(|| {
        config_error(
            Code::UnknownName,
            format!("{output_format:?} is no format of requests: ramulator, ramulator1 or dramsim3"),
        )
    })?;
    let result = supervise(py, progress, |monitor| {
        let input = Input::open(&path, format)?;
        let output = output.map(|path| Output::create(&path, compression)).transpose().map_err(Failure::Output)?;
        // Addresses of a process are sparse, and a simulated memory starts at 0.
        let pages = (!keep_addresses).then(|| Pages::new(MEMORY_BYTES));
        let writer = output.map(|file| Writer { file, format: output_format, pages, requests: 0 });
        run(input, CacheFilter::new(&levels), writer, monitor)
    })?;
    match result {
        Ok(summary) => Ok(format!("{summary:#}")),
        Err(Failure::Open(error) | Failure::Output(error)) => Err(os_error(&error)),
        Err(Failure::Trace(error)) => Err(wrong_trace(&error)),
    }
}

fn levels_of(levels: &[(u64, u32, String)]) -> PyResult<Vec<LevelParams>> {
    if !(1..=LEVELS_MAX).contains(&levels.len()) {
        return Err(config_error(
            Code::WrongCount,
            format!("{} levels of caches: must be 1 to {LEVELS_MAX}", levels.len()),
        ));
    }
    let level = |(bytes, ways, replacement): &(u64, u32, String)| {
        let replacement = match replacement.as_str() {
            "lru" => Replacement::Lru,
            "random" => Replacement::Random,
            "qlru" => Replacement::Qlru,
            other => {
                let message = format!("{other:?} is no replacement: lru, random or qlru");
                return Err(config_error(Code::UnknownName, message));
            }
        };
        let level = LevelParams { bytes: *bytes, ways: *ways, replacement };
        level.check().map(|()| level).map_err(fault_error)
    };
    let levels: Vec<LevelParams> = levels.iter().map(level).collect::<PyResult<_>>()?;
    let bytes: u64 = levels.iter().map(|level| level.bytes).sum();
    if bytes > CACHES_BYTES {
        let rule = format!("must be at most {CACHES_BYTES} bytes, which take 3 GiB of memory");
        return Err(config_error(Code::TooLarge, format!("{bytes} bytes of caches in all: {rule}")));
    }
    Ok(levels)
}

fn access_format(name: &str) -> PyResult<AccessFormat> {
    AccessFormat::named(name).ok_or_else(|| {
        config_error(Code::UnknownName, format!("{name:?} is no format of traces: {}", access_formats().join(", ")))
    })
}

/// An open trace and the number of its bytes that were read.
struct Input {
    trace: AccessTrace,
    bytes: u64,
    read: Arc<AtomicU64>,
}

impl Input {
    fn open(path: &Path, format: Option<AccessFormat>) -> Result<Self, Failure> {
        let file = File::open(path).map_err(Failure::Open)?;
        let bytes = file.metadata().map_or(0, |found| found.len());
        let read = Arc::new(AtomicU64::new(0));
        let counted = Counted { file, read: read.clone() };
        let trace = AccessTrace::from_reader(&path.display().to_string(), counted, format)?;
        Ok(Self { trace, bytes, read })
    }

    fn reading(&self) -> Reading {
        Reading { read: self.read.load(Ordering::Relaxed), size: self.bytes }
    }
}

/// A file that counts the bytes read from it.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// An open output trace of requests.
struct Writer {
    file: Output,
    format: Format,
    /// Physical pages of the trace; `None` to keep its addresses.
    pages: Option<Pages>,
    requests: u64,
}

impl Writer {
    /// Writes a request at `clock`, counted in instructions. Returns `None` if there is no room for the page of the
    /// request.
    fn write(&mut self, request: Request, clock: u64) -> io::Result<Option<()>> {
        let line = match &mut self.pages {
            Some(pages) => pages.line(request.line),
            None => Some(request.line),
        };
        let Some(line) = line else { return Ok(None) };
        self.requests += 1;
        self.format.write(&mut self.file, &Request { line, clock, ..request }).map(Some)
    }
}

fn run(
    mut input: Input,
    mut filter: CacheFilter,
    mut writer: Option<Writer>,
    monitor: &RunMonitor<Reading>,
) -> Result<Value, Failure> {
    let (mut accesses, mut instructions, mut complete) = (0_u64, 0_u64, true);
    while let Some(access) = input.trace.next() {
        let access = access?;
        accesses += 1;
        instructions += u64::from(access.instructions_before);
        // The closure cannot return an error, so the first one is kept.
        let mut written = Ok(Some(()));
        filter.access(&access, |request| {
            if let (Some(writer), Ok(Some(()))) = (&mut writer, &written) {
                written = writer.write(request, instructions);
            }
        });
        if written.map_err(Failure::Output)?.is_none() {
            let rule = format!("{:#x} does not fit: its pages take more than {MEMORY_BYTES} bytes", access.address);
            return Err(input.trace.error(rule).into());
        }
        if accesses % PUBLISH_EVERY == 0 && !monitor.publish(input.reading()) {
            complete = false;
            break;
        }
    }
    let format = input.trace.format().name();
    let requests = writer.as_ref().map(|writer| writer.requests);
    let footprint = writer.as_ref().and_then(|writer| writer.pages.as_ref()).map(Pages::used_bytes);
    writer.map_or(Ok(()), |writer| writer.file.finish()).map_err(Failure::Output)?;
    Ok(json!({
        "complete": complete,
        "format": format,
        "accesses": accesses,
        "instructions": instructions,
        "levels": levels(&filter),
        "requests": requests,
        "footprint_bytes": footprint,
    }))
}

fn levels(filter: &CacheFilter) -> Vec<Value> {
    let level = |counts: &hostnet_sim::filter::LevelCounts| {
        json!({
            "accesses": counts.loads + counts.stores,
            "misses": counts.load_misses + counts.store_misses,
            "loads": counts.loads,
            "stores": counts.stores,
            "load_misses": counts.load_misses,
            "store_misses": counts.store_misses,
            "fills": counts.fills,
            "write_backs": counts.write_backs,
        })
    };
    filter.counts().iter().map(level).collect()
}

struct Reading {
    read: u64,
    size: u64,
}

impl Describe for Reading {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        entries.set_item("phase", "filter")?;
        entries.set_item("bytes", self.read)?;
        entries.set_item("progress", (self.read as f64 / self.size.max(1) as f64).min(1.0))
    }
}
