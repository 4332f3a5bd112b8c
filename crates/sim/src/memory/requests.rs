//! Opens the requests of a plan.

use hostnet_config::{Code, MemoryPlan, Requests, TraceFormat, TrafficPattern};
use hostnet_traffic::{Format, Pattern, Request, Synthetic, Trace, TraceError, TrafficError, LINE_BYTES};
use std::path::Path;

/// Requests counted between two calls of the progress callback.
const COUNT_STEP: u64 = 1 << 16;

/// Errors that keep a run of the memory alone from starting or continuing. All of them are errors in the user's
/// input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The trace is invalid: file, line, value and rule.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// The description of the traffic is invalid.
    #[error("traffic.pattern: {0}")]
    Traffic(#[from] TrafficError),
    /// The trace cannot be read twice.
    #[error(
        "{0}: is no regular file, so its requests cannot be counted before the run, which a share of warm-up needs; \
         set run.warmup to 0"
    )]
    Uncounted(String),
}

impl MemoryError {
    /// Returns the code of the broken rule.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Trace(error) => Code::of_file(Path::new(error.file())),
            Self::Traffic(_) => Code::OutOfRange,
            Self::Uncounted(_) => Code::NotSupported,
        }
    }
}

/// Source of the requests of a plan.
pub(super) enum RequestSource {
    /// Generated from a description.
    Generated(Synthetic),
    /// Read from a file.
    Trace(Box<Trace>),
}

impl Iterator for RequestSource {
    type Item = Result<Request, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Generated(requests) => requests.next().map(Ok),
            Self::Trace(requests) => requests.next(),
        }
    }
}

/// Requests of a plan, with what is known about them before the first.
pub(super) struct OpenedRequests {
    pub(super) source: RequestSource,
    /// Number of request streams that are counted separately.
    pub(super) streams: usize,
    /// Number of requests, if known.
    pub(super) total: Option<u64>,
    /// True if requests have arrival times.
    pub(super) timed: bool,
}

/// Opens the requests of a plan. If a share of a trace is warm-up, the trace is read once to count its requests.
/// `tell` is called with the count so far and returns false to stop.
///
/// # Errors
/// Returns an error if the trace is invalid, anywhere if it is counted, or if the traffic is invalid.
pub(super) fn open(plan: &MemoryPlan, tell: &mut dyn FnMut(u64) -> bool) -> Result<OpenedRequests, MemoryError> {
    match &plan.requests {
        Requests::Traffic(traffic) => {
            let mean_gap_clocks = traffic.load.map(|load| clocks_per_line(plan) / load);
            let pattern = pattern(traffic.pattern)?;
            let described = hostnet_traffic::Traffic {
                pattern,
                write_share: write_share(traffic.reads),
                mean_gap_clocks,
                capacity_lines: plan.capacity_bytes / LINE_BYTES,
                requests: traffic.requests,
                seed: traffic.seed,
            };
            let streams = if let Pattern::Streams { count, .. } = pattern { usize::from(count) } else { 1 };
            let source = RequestSource::Generated(described.generate()?);
            Ok(OpenedRequests { source, streams, total: Some(traffic.requests), timed: mean_gap_clocks.is_some() })
        }
        Requests::Trace { path, format } => {
            // Without a warm-up the number of requests is not needed, so a pipe can be read (memory.md).
            let total = if plan.warm_up > 0.0 { Some(count(plan, path, *format, tell)?) } else { None };
            let trace = Trace::open(path, reader_format(*format), plan.capacity_bytes)?;
            let timed = trace.timed();
            Ok(OpenedRequests { source: RequestSource::Trace(Box::new(trace)), streams: 1, total, timed })
        }
    }
}

fn count(
    plan: &MemoryPlan,
    path: &Path,
    format: TraceFormat,
    tell: &mut dyn FnMut(u64) -> bool,
) -> Result<u64, MemoryError> {
    // A pipe could be counted, but not read again for the run.
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(MemoryError::Uncounted(path.display().to_string()));
    }
    let mut count = 0;
    for request in Trace::open(path, reader_format(format), plan.capacity_bytes)? {
        // Errors anywhere in the trace show before the run rather than in its middle.
        request?;
        count += 1;
        if count % COUNT_STEP == 0 && !tell(count) {
            break;
        }
    }
    Ok(count)
}

/// Returns the DRAM clocks per line if every controller transfers data all the time.
pub(super) fn clocks_per_line(plan: &MemoryPlan) -> f64 {
    let dram = &plan.dram;
    let line = f64::from(dram.timing.burst * dram.accesses_per_line);
    line / f64::from(plan.map.channels * dram.subchannels)
}

/// Returns the share of writes for a share of reads. Decimal shares stay exact: 0.67 reads are 0.33 writes, not
/// 0.32999999999999996, which would change some draws.
fn write_share(reads: f64) -> f64 {
    const GRAIN: f64 = 1e9;
    ((1.0 - reads) * GRAIN).round() / GRAIN
}

fn pattern(pattern: TrafficPattern) -> Result<Pattern, TrafficError> {
    Ok(match pattern {
        TrafficPattern::Random => Pattern::Random,
        TrafficPattern::Sequential => Pattern::Streams { count: 1, colliding: false },
        TrafficPattern::Streams { count, colliding } => {
            let prefix = if colliding { "cstr" } else { "str" };
            format!("{prefix}{count}").parse()?
        }
    })
}

fn reader_format(format: TraceFormat) -> Option<Format> {
    match format {
        TraceFormat::Auto => None,
        TraceFormat::Ramulator => Some(Format::Ramulator),
        TraceFormat::Ramulator1 => Some(Format::Ramulator1),
        TraceFormat::Dramsim3 => Some(Format::DramSim3),
    }
}

#[cfg(test)]
mod tests {
    use super::write_share;

    #[test]
    fn decimal_shares_of_reads_leave_decimal_shares_of_writes() {
        for percent in 0..=100_u32 {
            let share = write_share(f64::from(percent) / 100.0);
            assert_eq!(share.to_bits(), (f64::from(100 - percent) / 100.0).to_bits(), "{percent}% reads");
        }
        assert_ne!((1.0_f64 - 0.67).to_bits(), 0.33_f64.to_bits(), "the difference alone is another double");
    }
}
