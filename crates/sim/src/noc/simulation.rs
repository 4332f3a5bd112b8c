//! Runs a plan of a network on a chip, from its first packet to its results.

use super::report::{build_report, clock_ns, NocReport};
use hostnet_config::{Code, NocPlan, Packets};
use hostnet_noc::{NocError, Run, Shape, Source, TracePacket};
use hostnet_traffic::{PacketTrace, TraceError};
use std::path::Path;

/// Cycles of one step: milliseconds of wall time.
const STEP: u64 = 1 << 9;
/// Packets of a trace that are read between two calls of the progress callback.
const READ_STEP: usize = 1 << 16;
/// Maximum number of packets of a trace. They are kept in memory, 24 B each.
const PACKETS_MAX: usize = 50_000_000;

/// Errors that keep a run of a network on a chip from starting. All of them are errors in the user's input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NocRunError {
    /// The trace is invalid: file, line, value and rule.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// The network or its traffic is invalid.
    #[error("{0}")]
    Network(#[from] NocError),
}

impl NocRunError {
    /// Rule that is broken.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Trace(error) => Code::of_file(Path::new(error.file())),
            // The only error of this field is a cycle of packets that wait for each other.
            Self::Network(error) if error.field == "routing" => Code::Deadlock,
            Self::Network(error) if error.field == "trace" => Code::MalformedFile,
            Self::Network(_) => Code::OutOfRange,
        }
    }
}

/// Progress of a run of a network on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NocStatus {
    /// Current phase.
    pub phase: NocPhase,
    /// Packets read, or delivered, so far.
    pub packets: u64,
    /// Simulated cycles.
    pub cycles: u64,
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Progress of the run, in millionths.
    pub done_ppm: u32,
}

/// Phase of a run of a network on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NocPhase {
    /// A trace is read.
    Reading,
    /// Packets are sent and not measured yet.
    WarmUp,
    /// Packets are sent and measured.
    Measuring,
    /// Measured packets are still in flight.
    Draining,
}

/// A network that carries the packets of a plan.
pub struct NocSimulation {
    plan: NocPlan,
    run: Run,
    complete: bool,
    /// Number of packets of the trace, if there is one.
    packets: Option<u64>,
    stopped: bool,
}

impl NocSimulation {
    /// Reads the packets and builds the network. While a trace is read, `tell` is called with the progress and
    /// returns false to stop.
    ///
    /// # Errors
    /// Returns an error if the trace or the network is invalid.
    pub fn new(plan: &NocPlan, mut tell: impl FnMut(NocStatus) -> bool) -> Result<Self, NocRunError> {
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
        Ok(Self { plan: plan.clone(), run, complete: false, packets, stopped })
    }

    /// Runs for some hundred cycles. Returns true if there is more to do.
    pub fn step(&mut self) -> bool {
        if !self.stopped && !self.complete {
            self.complete = !self.run.advance(STEP);
        }
        !self.stopped && !self.complete
    }

    /// Returns true if the run has reached its end.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// Returns the progress of the run.
    #[must_use]
    pub fn status(&self) -> NocStatus {
        let status = self.run.status();
        let measure = &self.plan.measure;
        let phase = match status.cycle {
            cycle if cycle < measure.warmup => NocPhase::WarmUp,
            cycle if cycle < status.measure_end => NocPhase::Measuring,
            _ => NocPhase::Draining,
        };
        let (done, all) = match self.packets {
            // A trace without a length of the measurement ends with its packets, not at a cycle.
            Some(packets) if measure.measure == u64::MAX => (status.delivered, packets),
            _ => (status.cycle, status.measure_end),
        };
        let done_ppm = (done as f64 / all.max(1) as f64).min(1.0) * 1e6;
        NocStatus {
            phase,
            packets: status.delivered,
            cycles: status.cycle,
            simulated_ps: (status.cycle as f64 * clock_ns(&self.plan) * 1000.0) as u64,
            done_ppm: done_ppm as u32,
        }
    }

    /// Returns the results so far.
    #[must_use]
    pub fn report(&self) -> NocReport {
        build_report(&self.plan, &self.run, self.complete)
    }
}

fn read(plan: &NocPlan, path: &Path, mut tell: impl FnMut(usize) -> bool) -> Result<Vec<TracePacket>, NocRunError> {
    let nodes = match plan.params.shape {
        Shape::Mesh { columns, rows } => columns * rows,
        Shape::Ring { nodes } => nodes,
    };
    let mut trace = PacketTrace::open(path, nodes, plan.params.classes.len() as u8)?;
    let mut packets = Vec::new();
    while let Some(packet) = trace.next() {
        let packet = packet?;
        // Refused rather than cut off, as a part of a trace would give other results.
        if packets.len() == PACKETS_MAX {
            return Err(trace.too_long_error(PACKETS_MAX).into());
        }
        let hostnet_traffic::PacketLine { cycle, source, destination, flits, class } = packet;
        packets.push(TracePacket { cycle, source, destination, flits, class });
        if packets.len() % READ_STEP == 0 && !tell(packets.len()) {
            break;
        }
    }
    match packets.is_empty() {
        true => Err(trace.no_packets_error().into()),
        false => Ok(packets),
    }
}
