//! From the fixed point to what reports show.

use super::solve::{Problem, Rate, Solution};
use super::storage::Drives;
use super::traffic::{Flow, Stream};
use super::{coverage, Base};
use crate::binding::lfb_domain;
use crate::explain::Pool;
use crate::offered::offered_gb_per_s;
use crate::regime::{regime, Alone, Basis, C2m, Crowd, P2m, Party, Regime, Sides};
use hostnet_model::params::ServerParams;

/// Mean error of predicted throughput against the simulator over random servers, and the most of 95 in 100; see
/// `docs/predict.md`.
const ERROR_MEAN: f64 = 0.025;
const ERROR_95: f64 = 0.1;
/// Bunches that the entries of a core come and go in, per entry.
const BUNCHES: f64 = 0.65;
/// Width of the change from never to always full, in square roots of the credits.
const FULL_WIDTH: f64 = 0.5;

/// What a workload is predicted to get.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Lines through its domains, GB/s.
    pub gb_per_s: f64,
    /// DRAM reads that it causes, GB/s, kernel work included.
    pub read_gb_per_s: f64,
    /// DRAM writes that it causes, GB/s, kernel work included.
    pub write_gb_per_s: f64,
    /// Mean time of one line, in ns: an LFB entry or an IIO entry held.
    pub latency_ns: f64,
    /// The domains on its path.
    pub pools: Vec<Pool>,
}

/// A domain or a queue, of the whole server.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Its name in reports.
    pub name: &'static str,
    /// The workload whose part of it this is; nothing for all of them.
    pub workload: Option<usize>,
    /// Credits of all parts together.
    pub capacity: f64,
    /// Credits in use, mean over time.
    pub in_use: f64,
    /// Mean time that a credit is held, in ns.
    pub latency_ns: f64,
    /// Lines whose credits come back, GB/s.
    pub gb_per_s: f64,
    /// Share of time with all credits in use, where it can be told.
    pub full_share: Option<f64>,
}

/// The memory channels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Lines read, all channels together, GB/s.
    pub read_gb_per_s: f64,
    /// Lines written, all channels together, GB/s.
    pub write_gb_per_s: f64,
    /// Activations per line read.
    pub row_miss_ratio: f64,
    /// Activations per line written.
    pub write_row_miss_ratio: f64,
    /// Memory controllers, with a queue of each kind.
    pub controllers: u32,
    /// Entries in use of one read queue.
    pub rpq: f64,
    /// Entries in use of one write queue.
    pub wpq: f64,
    /// Share of time in write mode.
    pub write_mode_share: f64,
    /// Share of time with data on the bus.
    pub bus_busy_share: f64,
}

/// What a server is predicted to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// In the order of the server's workloads.
    pub workloads: Vec<Workload>,
    /// Those in use, in the order of reports.
    pub domains: Vec<Domain>,
    /// The memory channels, all together.
    pub memory: Memory,
    /// How cores and devices contend.
    pub regime: Regime,
    /// Mean error to be expected of a throughput, as a share, and the one that 95 in 100 stay below.
    pub error: [f64; 2],
    /// What of the configuration lies outside of what predictions were checked against; the errors do not hold there.
    pub outside: Vec<String>,
}

pub(super) fn of(base: &Base) -> Prediction {
    let (server, solution) = (base.server, &base.solution);
    let view = View { base, server, problem: &base.problem, solution };
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

/// What a workload gets, and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Lines through its domains, GB/s.
    pub gb_per_s: f64,
    /// Mean time of one line, in ns: an LFB entry or an IIO entry held.
    pub latency_ns: f64,
}

/// What each workload gets.
pub(super) fn paces(problem: &Problem, solution: &Solution) -> Vec<Pace> {
    let latency = &solution.latency;
    let of = |(rate, flow): (&Rate, &Flow)| match flow {
        Flow::Stream(stream) => {
            let (reads, writes) = problem.of_cores(flow, rate);
            let held = latency.core_read + (1.0 - stream.loads) * latency.core_write;
            Pace { gb_per_s: 64.0 * (reads + writes), latency_ns: held }
        }
        Flow::Storage(_) => {
            let io = rate.io_write + rate.io_read;
            let held = rate.io_write * latency.io_write + rate.io_read * latency.io_read;
            Pace { gb_per_s: 64.0 * io, latency_ns: if io > 0.0 { held / io } else { 0.0 } }
        }
    };
    solution.rates.iter().zip(&problem.flows).map(of).collect()
}

pub(super) struct View<'a> {
    base: &'a Base<'a>,
    server: &'a ServerParams,
    pub(super) problem: &'a Problem,
    pub(super) solution: &'a Solution,
}

impl View<'_> {
    fn workload(&self, class: usize, pace: Pace) -> Workload {
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
        let in_use = rate.access * (read + write);
        vec![Pool {
            domain: lfb_domain(read, write).to_owned(),
            credits: stream.cores * self.problem.entries,
            in_use: stream.cores * in_use,
            full_share: self.lfb_full(in_use),
            latency_ns: Some(read + write),
            gb_per_s: 64.0 * stream.cores * rate.access,
            place: None,
        }]
    }

    /// If entries of a core came and went by themselves, all would be in use as often as each of them is, together; as
    /// they come and go in bunches, it is as if they were fewer.
    pub(super) fn lfb_full(&self, in_use: f64) -> f64 {
        (in_use / self.problem.entries).clamp(0.0, 1.0).powf(BUNCHES * self.problem.entries)
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
        };
        let write = |rate: &Rate| rate.io_write;
        let read = |rate: &Rate| rate.io_read;
        let problem = self.problem;
        let all = [
            pool("P2M-Write", problem.write_credits, write, latency.io_write, self.write_full()),
            pool("P2M-Read", problem.read_credits, read, latency.io_read, self.read_full()),
        ];
        all.into_iter().filter(|pool| pool.gb_per_s > 0.0).collect()
    }

    /// Lines per ns that all drives offer, a part of what each does.
    fn offered(&self, part: fn(&Drives) -> f64) -> f64 {
        let drives = self.problem.flows.iter().flat_map(Flow::drives);
        drives.map(|drives| drives.count * drives.offered() * part(drives)).sum()
    }

    pub(super) fn write_full(&self) -> f64 {
        let offered = self.offered(|drives| drives.share);
        let credits = self.problem.write_credits;
        full_share(offered, credits / self.solution.latency.io_write, credits).max(self.port_full(credits))
    }

    pub(super) fn read_full(&self) -> f64 {
        let offered = self.offered(|drives| 1.0 - drives.share);
        let credits = self.problem.read_credits;
        full_share(offered, credits / self.solution.latency.io_read, credits).max(self.port_full(credits))
    }

    /// Lines that wait for their way out of the IIO hold their entries too.
    fn port_full(&self, credits: f64) -> f64 {
        full_share(self.offered(|_| 1.0), self.problem.port, credits)
    }

    fn regime(&self, workloads: &[Workload]) -> Regime {
        let alone = self.base.alone();
        let side = |devices: bool| -> Vec<Party> {
            let mine = |class: &usize| self.is_of_devices(*class) == devices && workloads[*class].gb_per_s > 0.0;
            (0..workloads.len()).filter(mine).map(|class| self.party(class, alone[class])).collect()
        };
        let (cores, devices) = (side(false), side(true));
        let storage = workloads.iter().enumerate().filter(|(class, _)| self.is_of_devices(*class));
        let p2m = P2m {
            full_share: self.write_full().max(self.read_full()),
            gb_per_s: storage.map(|(_, workload)| workload.gb_per_s).sum(),
            offered_gb_per_s: Some((0..workloads.len()).filter_map(|class| offered_gb_per_s(self.server, class)).sum()),
        };
        regime(&Sides { cores, devices, c2m: self.c2m(workloads, &alone), p2m, crowd: self.crowd(workloads) })
    }

    fn is_of_devices(&self, class: usize) -> bool {
        self.server.workloads[class].kind.is_of_devices()
    }

    /// A workload, with what it is predicted to gain without the other side.
    fn party(&self, class: usize, alone: Option<Pace>) -> Party {
        let now = self.base.now[class].gb_per_s;
        let gain = |pace: Pace| Alone::predicted([now, pace.gb_per_s], now);
        Party { name: self.server.workloads[class].name.clone(), alone: alone.map(gain) }
    }

    /// The stream whose latency has grown most over that without devices.
    fn c2m(&self, workloads: &[Workload], alone: &[Option<Pace>]) -> Option<C2m> {
        let cores = (0..workloads.len()).filter(|&class| !self.is_of_devices(class));
        let streams = cores.filter_map(|class| {
            let (latency_ns, isolated_ns) = (workloads[class].latency_ns, alone[class]?.latency_ns);
            Some(C2m { latency_ns, isolated_ns, basis: Basis::Predicted })
        });
        streams.max_by(|a, b| (a.latency_ns / a.isolated_ns).total_cmp(&(b.latency_ns / b.isolated_ns)))
    }

    /// Judges how cores slow each other down, by the stream whose latency has grown most over one of its cores.
    fn crowd(&self, workloads: &[Workload]) -> Crowd {
        let lone = self.base.lone_latencies_ns().into_iter().zip(workloads);
        let told = lone.filter_map(|(lone, found)| Some((found.latency_ns, lone?)));
        let most = told.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
        most.map_or(Crowd::None, |(latency_ns, lone_ns)| Crowd::Known { latency_ns, lone_ns })
    }
}

/// The share of time that a pool of `credits` is full which lets `allowed` lines per ns through when `offered` come.
fn full_share(offered: f64, allowed: f64, credits: f64) -> f64 {
    if offered <= 0.0 {
        return 0.0;
    }
    let excess = (offered / allowed - 1.0) * credits.sqrt() / FULL_WIDTH;
    1.0 / (1.0 + (-excess).exp())
}
