//! A plan of the network alone, from its first packet to its results.

use super::report;
use hostnet_config::{Code, NocPlan, Packets};
use hostnet_noc::{NocError, Run, Shape, Source, TracePacket};
use hostnet_traffic::{PacketTrace, TraceError};
use serde_json::Value;
use std::path::Path;

/// Cycles of one step: milliseconds.
const STEP: u64 = 1 << 9;
/// Packets of a trace that are read between two looks at whether to go on.
const READ_STEP: usize = 1 << 16;
/// Packets of a trace at most: they are kept, 24 B each.
const PACKETS_MAX: usize = 50_000_000;

/// Why a run of the network alone cannot begin. All of it lies in what the user gave.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NocFault {
    /// The trace is wrong: file, line, value and rule.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// The network or its traffic is wrong.
    #[error("{0}")]
    Network(#[from] NocError),
}

impl NocFault {
    /// Rule that is broken.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Trace(error) => Code::of_file(Path::new(error.file())),
            Self::Network(error) if error.field == "routing" => Code::Deadlock,
            Self::Network(error) if error.field == "trace" => Code::MalformedFile,
            Self::Network(_) => Code::OutOfRange,
        }
    }
}

/// How a run of the network alone stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NocStatus {
    /// What is being done.
    pub phase: NocPhase,
    /// Packets read, or delivered, so far.
    pub packets: u64,
    /// Simulated cycles.
    pub cycles: u64,
    /// Simulated time in ps.
    pub simulated_ps: u64,
    /// Millionths of the run that are done.
    pub done_ppm: u32,
}

/// What a run of the network alone is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NocPhase {
    /// A trace is read.
    Reading,
    /// Packets are not measured yet.
    WarmUp,
    /// Packets are measured.
    Measuring,
    /// Measured packets are still on their way.
    Draining,
}

/// What a run of the network alone has measured.
#[derive(Clone, Debug, PartialEq)]
pub struct NocReport {
    /// The summary; see docs/noc.md.
    pub summary: Value,
    /// Hexadecimal SHA-256 of what was measured.
    pub result_hash: String,
}

/// A network that carries the packets of a plan.
pub struct NocSimulation<'a> {
    pub(super) plan: &'a NocPlan,
    pub(super) run: Run,
    pub(super) complete: bool,
    /// Packets of the trace, if there is one.
    packets: Option<u64>,
    stopped: bool,
}

impl<'a> NocSimulation<'a> {
    /// Reads the packets, while `tell` hears of it and says whether to go on, and builds the network.
    ///
    /// # Errors
    /// What is wrong with the trace.
    pub fn new(plan: &'a NocPlan, mut tell: impl FnMut(NocStatus) -> bool) -> Result<Self, NocFault> {
        let mut stopped = false;
        let (source, packets) = match &plan.packets {
            Packets::Traffic(traffic) => (Source::Generated(traffic.clone()), None),
            Packets::Trace { path } => {
                let packets = read(plan, path, |count| {
                    let packets = count as u64;
                    let phase = NocPhase::Reading;
                    stopped = !tell(NocStatus { phase, packets, cycles: 0, simulated_ps: 0, done_ppm: 0 });
                    !stopped
                })?;
                let count = packets.len() as u64;
                (Source::Trace(packets), Some(count))
            }
        };
        let run = Run::new(&plan.params, source, plan.seed, plan.measure)?;
        Ok(Self { plan, run, complete: false, packets, stopped })
    }

    /// Goes on for some hundred cycles. Returns whether there is more to do.
    pub fn step(&mut self) -> bool {
        if !self.stopped && !self.complete {
            self.complete = !self.run.advance(STEP);
        }
        !self.stopped && !self.complete
    }

    /// Whether the run has come to its end.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// How the run stands.
    #[must_use]
    pub fn status(&self) -> NocStatus {
        let status = self.run.status();
        let measure = &self.plan.measure;
        let phase = match status.cycle {
            cycle if cycle < measure.warmup => NocPhase::WarmUp,
            cycle if cycle < status.measured_at => NocPhase::Measuring,
            _ => NocPhase::Draining,
        };
        let (done, all) = match self.packets {
            Some(packets) if measure.measure == u64::MAX => (status.delivered, packets),
            _ => (status.cycle, status.measured_at),
        };
        let done_ppm = (done as f64 / all.max(1) as f64).min(1.0) * 1e6;
        NocStatus {
            phase,
            packets: status.delivered,
            cycles: status.cycle,
            simulated_ps: (status.cycle as f64 * self.clock_ns() * 1000.0) as u64,
            done_ppm: done_ppm as u32,
        }
    }

    /// A cycle in ns.
    pub(super) fn clock_ns(&self) -> f64 {
        1e9 / self.plan.clock_hz as f64
    }

    /// What was measured so far.
    #[must_use]
    pub fn report(&self) -> NocReport {
        report::report(self)
    }
}

fn read(plan: &NocPlan, path: &Path, mut tell: impl FnMut(usize) -> bool) -> Result<Vec<TracePacket>, NocFault> {
    let nodes = match plan.params.shape {
        Shape::Mesh { columns, rows } => columns * rows,
        Shape::Ring { nodes } => nodes,
    };
    let mut trace = PacketTrace::open(path, nodes, plan.params.classes.len() as u8)?;
    let mut packets = Vec::new();
    while let Some(packet) = trace.next() {
        let packet = packet?;
        if packets.len() == PACKETS_MAX {
            return Err(trace.too_long(PACKETS_MAX).into());
        }
        let hostnet_traffic::PacketLine { cycle, source, destination, flits, class } = packet;
        packets.push(TracePacket { cycle, source, destination, flits, class });
        if packets.len() % READ_STEP == 0 && !tell(packets.len()) {
            break;
        }
    }
    match packets.is_empty() {
        true => Err(trace.without_packets().into()),
        false => Ok(packets),
    }
}
