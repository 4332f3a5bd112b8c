//! Derives the quantities that reports show from the fixed point.

use super::solve::{Problem, Rate, Solution};
use super::storage::Drives;
use super::traffic::{Flow, Stream};
use super::{coverage, PredictedServer};
use crate::binding::lfb_domain;
use crate::offered::offered_gb_per_s;
use crate::pool::Pool;
use crate::regime::{
    regime, Basis, C2mLoad, ContentionSides, CoreContention, IsolatedGain, P2mLoad, Regime, SideWorkload,
};
use hostnet_model::params::ServerParams;

/// Mean error of predicted throughput against the simulator over random servers, as a share; see `docs/predict.md`.
const ERROR_MEAN: f64 = 0.025;
/// Error that 95 % of the predicted throughputs stay below, as a share.
const ERROR_95: f64 = 0.1;
/// Number of independent groups in which the LFB entries of a core are taken and freed, per entry.
const ENTRY_GROUPS: f64 = 0.65;
/// Width of the transition from never full to always full, in square roots of the credits.
const FULL_WIDTH: f64 = 0.5;

/// Prediction of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Throughput of the workload's lines in its domains, in GB/s.
    pub gb_per_s: f64,
    /// DRAM reads that the workload causes, including kernel work, in GB/s.
    pub read_gb_per_s: f64,
    /// DRAM writes that the workload causes, including kernel work, in GB/s.
    pub write_gb_per_s: f64,
    /// Mean residence of a line in an LFB or IIO entry, in ns.
    pub latency_ns: f64,
    /// Pools on the workload's path.
    pub pools: Vec<Pool>,
}

/// A domain or a queue, summed over the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Name of the domain in reports.
    pub name: &'static str,
    /// Index of the workload whose share of the domain this is; `None` for all workloads together.
    pub workload: Option<usize>,
    /// Credits of all parts together.
    pub capacity: f64,
    /// Mean number of credits in use.
    pub in_use: f64,
    /// Mean time that a credit is held, in ns.
    pub latency_ns: f64,
    /// Throughput of lines whose credits are released, in GB/s.
    pub gb_per_s: f64,
    /// Share of time with all credits in use, 0 to 1, if it can be predicted.
    pub full_share: Option<f64>,
}

/// Prediction of the memory channels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Lines read on all channels, in GB/s.
    pub read_gb_per_s: f64,
    /// Lines written on all channels, in GB/s.
    pub write_gb_per_s: f64,
    /// Activations per line read.
    pub row_miss_ratio: f64,
    /// Activations per line written.
    pub write_row_miss_ratio: f64,
    /// Number of memory controllers, each with a read queue and a write queue.
    pub controllers: u32,
    /// Mean occupancy of one read queue, in entries.
    pub rpq: f64,
    /// Mean occupancy of one write queue, in entries.
    pub wpq: f64,
    /// Share of time in write mode, 0 to 1.
    pub write_mode_share: f64,
    /// Share of time with data on the bus, 0 to 1.
    pub bus_busy_share: f64,
}

/// Prediction of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Predictions of the workloads, in the order of the server.
    pub workloads: Vec<Workload>,
    /// Domains in use, in the order of reports.
    pub domains: Vec<Domain>,
    /// Memory channels, all together.
    pub memory: Memory,
    /// Regime of contention between cores and devices.
    pub regime: Regime,
    /// Expected error of a throughput, as a share: the mean, and the value that 95 % stay below.
    pub error: [f64; 2],
    /// Properties of the configuration that predictions were not checked against; the errors do not hold if there are
    /// any.
    pub outside: Vec<String>,
}

pub(super) fn of(base: &PredictedServer) -> Prediction {
    let (server, solution) = (base.server, &base.solution);
    let view = PredictionView { base, server, problem: &base.problem, solution };
    let paces = base.now.iter().enumerate();
    let workloads: Vec<Workload> = paces.map(|(class, pace)| view.workload(class, *pace)).collect();
    let regime = view.regime(&workloads);
    let mut outside = coverage::outside(server);
    if !solution.has_settled() {
        outside.push("rates and waits that have not settled".to_owned());
    }
    Prediction {
        domains: view.domains(),
        memory: view.memory(),
        regime,
        error: [ERROR_MEAN, ERROR_95],
        outside,
        workloads,
    }
}

/// Predicted throughput and latency of one workload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkloadPace {
    /// Throughput of the workload's lines in its domains, in GB/s.
    pub gb_per_s: f64,
    /// Mean residence of a line in an LFB or IIO entry, in ns.
    pub latency_ns: f64,
}

/// Returns the throughput and latency of each workload.
pub(super) fn paces(problem: &Problem, solution: &Solution) -> Vec<WorkloadPace> {
    let latency = &solution.latency;
    let of = |(rate, flow): (&Rate, &Flow)| match flow {
        Flow::Stream(stream) => {
            let (reads, writes) = problem.of_cores(flow, rate);
            let held = latency.core_read + (1.0 - stream.loads) * latency.core_write;
            WorkloadPace { gb_per_s: 64.0 * (reads + writes), latency_ns: held }
        }
        Flow::Storage(_) => {
            let io = rate.io_write + rate.io_read;
            let held = rate.io_write * latency.io_write + rate.io_read * latency.io_read;
            WorkloadPace { gb_per_s: 64.0 * io, latency_ns: if io > 0.0 { held / io } else { 0.0 } }
        }
    };
    solution.rates.iter().zip(&problem.flows).map(of).collect()
}

pub(super) struct PredictionView<'a> {
    base: &'a PredictedServer<'a>,
    server: &'a ServerParams,
    pub(super) problem: &'a Problem,
    pub(super) solution: &'a Solution,
}

impl PredictionView<'_> {
    fn workload(&self, class: usize, pace: WorkloadPace) -> Workload {
        let (rate, flow) = (&self.solution.rates[class], &self.problem.flows[class]);
        let (reads, writes) = self.problem.of_cores(flow, rate);
        Workload {
            gb_per_s: pace.gb_per_s,
            read_gb_per_s: 64.0 * (reads + rate.io_read),
            write_gb_per_s: 64.0 * (writes + rate.io_write),
            latency_ns: pace.latency_ns,
            pools: match flow {
                Flow::Stream(stream) => self.stream_pools(stream, rate),
                Flow::Storage(_) => self.storage_pools(rate),
            },
        }
    }

    fn stream_pools(&self, stream: &Stream, rate: &Rate) -> Vec<Pool> {
        let latency = &self.solution.latency;
        let (read, write) = (latency.core_read, (1.0 - stream.loads) * latency.core_write);
        let ahead = self.problem.prefetched(stream, rate, latency) * (read + write);
        let in_use = rate.access * (read + write);
        let prefetches = if stream.prefetched { self.problem.prefetches } else { 0.0 };
        vec![Pool {
            domain: lfb_domain(read, write).to_owned(),
            credits: stream.cores * (self.problem.entries + prefetches),
            in_use: stream.cores * in_use,
            full_share: self.lfb_full(in_use - ahead),
            latency_ns: Some(read + write),
            gb_per_s: 64.0 * stream.cores * rate.access,
            place: None,
            prefetched: prefetches > 0.0,
        }]
    }

    /// Share of time that all LFB entries of a core are in use. Independent entries would give the product of their
    /// shares; as entries are taken and freed in groups, the exponent is smaller than their number.
    pub(super) fn lfb_full(&self, in_use: f64) -> f64 {
        (in_use / self.problem.entries).clamp(0.0, 1.0).powf(ENTRY_GROUPS * self.problem.entries)
    }

    fn storage_pools(&self, rate: &Rate) -> Vec<Pool> {
        let (latency, rates) = (&self.solution.latency, &self.solution.rates);
        let pool = |domain: &str, credits, pick: fn(&Rate) -> f64, latency_ns: f64, full_share| Pool {
            domain: domain.to_owned(),
            credits,
            in_use: (rates.iter().map(pick).sum::<f64>() * latency_ns).min(credits),
            full_share,
            latency_ns: Some(latency_ns),
            gb_per_s: 64.0 * pick(rate),
            place: None,
            prefetched: false,
        };
        let write = |rate: &Rate| rate.io_write;
        let read = |rate: &Rate| rate.io_read;
        let problem = self.problem;
        // IIO entries are shared by all storage workloads, so `in_use` sums over them.
        let all = [
            pool("P2M-Write", problem.write_credits, write, latency.io_write, self.write_full()),
            pool("P2M-Read", problem.read_credits, read, latency.io_read, self.read_full()),
        ];
        all.into_iter().filter(|pool| pool.gb_per_s > 0.0).collect()
    }

    /// Rate that all drives offer in lines per ns, counting the share `part` of each.
    fn offered(&self, part: fn(&Drives) -> f64) -> f64 {
        let drives = self.problem.flows.iter().flat_map(Flow::drives);
        drives.map(|drives| drives.count * drives.offered() * part(drives)).sum()
    }

    pub(super) fn write_full(&self) -> f64 {
        let offered = self.offered(|drives| drives.share);
        let credits = self.problem.write_credits;
        // Entries run out by their own latency or behind the port: the larger share counts.
        full_share(offered, credits / self.solution.latency.io_write, credits).max(self.port_full(credits))
    }

    pub(super) fn read_full(&self) -> f64 {
        let offered = self.offered(|drives| 1.0 - drives.share);
        let credits = self.problem.read_credits;
        full_share(offered, credits / self.solution.latency.io_read, credits).max(self.port_full(credits))
    }

    /// Share of time that IIO entries are full because lines wait for the IIO's port into the processor, holding
    /// their entries.
    fn port_full(&self, credits: f64) -> f64 {
        full_share(self.offered(|_| 1.0), self.problem.port, credits)
    }

    fn regime(&self, workloads: &[Workload]) -> Regime {
        let alone = self.base.alone();
        let side = |devices: bool| -> Vec<SideWorkload> {
            let mine = |class: &usize| self.is_of_devices(*class) == devices && workloads[*class].gb_per_s > 0.0;
            (0..workloads.len()).filter(mine).map(|class| self.party(class, alone[class])).collect()
        };
        let (cores, devices) = (side(false), side(true));
        let storage = workloads.iter().enumerate().filter(|(class, _)| self.is_of_devices(*class));
        let p2m = P2mLoad {
            full_share: self.write_full().max(self.read_full()),
            gb_per_s: storage.map(|(_, workload)| workload.gb_per_s).sum(),
            offered_gb_per_s: Some((0..workloads.len()).filter_map(|class| offered_gb_per_s(self.server, class)).sum()),
        };
        regime(&ContentionSides { cores, devices, c2m: self.c2m(workloads, &alone), p2m, crowd: self.crowd(workloads) })
    }

    fn is_of_devices(&self, class: usize) -> bool {
        self.server.workloads[class].kind.is_of_devices()
    }

    /// Returns a workload with its predicted gain without the other side.
    fn party(&self, class: usize, alone: Option<WorkloadPace>) -> SideWorkload {
        let now = self.base.now[class].gb_per_s;
        // There is no measurement to be off from, so the gain has no error range.
        let gain = |pace: WorkloadPace| IsolatedGain::predicted([now, pace.gb_per_s], now);
        SideWorkload { name: self.server.workloads[class].name.clone(), alone: alone.map(gain) }
    }

    /// Returns the load of the stream whose latency has grown most over that without devices.
    fn c2m(&self, workloads: &[Workload], alone: &[Option<WorkloadPace>]) -> Option<C2mLoad> {
        let cores = (0..workloads.len()).filter(|&class| !self.is_of_devices(class));
        let streams = cores.filter_map(|class| {
            let (latency_ns, isolated_ns) = (workloads[class].latency_ns, alone[class]?.latency_ns);
            Some(C2mLoad { latency_ns, isolated_ns, basis: Basis::Predicted })
        });
        streams.max_by(|a, b| (a.latency_ns / a.isolated_ns).total_cmp(&(b.latency_ns / b.isolated_ns)))
    }

    /// Finds out how much the cores slow each other down: returns the latency of the stream that has grown most over
    /// one of its cores alone.
    fn crowd(&self, workloads: &[Workload]) -> CoreContention {
        let lone = self.base.lone_latencies_ns().into_iter().zip(workloads);
        let told = lone.filter_map(|(lone, found)| Some((found.latency_ns, lone?)));
        let most = told.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
        most.map_or(CoreContention::None, |(latency_ns, lone_ns)| CoreContention::Known { latency_ns, lone_ns })
    }
}

/// Share of time that a pool of `credits` is full if it passes `allowed` lines per ns and `offered` arrive.
fn full_share(offered: f64, allowed: f64, credits: f64) -> f64 {
    if offered <= 0.0 {
        return 0.0;
    }
    // Relative fluctuations fall as one over the square root of the credits, so larger pools pass more sharply.
    let excess = (offered / allowed - 1.0) * credits.sqrt() / FULL_WIDTH;
    1.0 / (1.0 + (-excess).exp())
}
