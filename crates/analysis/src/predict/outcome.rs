//! From the fixed point to what reports show.

use super::coverage;
use super::solve::{Problem, Rate, Solution};
use super::storage::Drive;
use super::traffic::{Flow, Storage, Stream};
use crate::binding::{binding, lfb_domain, Binding, CORE, OFFERED_LOAD};
use crate::regime::{regime, Basis, C2m, P2m, Regime};
use hostnet_model::params::{ServerParams, WorkloadKind};

/// Mean error of predicted throughput against the simulator over random servers, and the most of 95 in 100; see `docs/predict.md`.
const ERROR_MEAN: f64 = 0.025;
const ERROR_95: f64 = 0.1;
/// Change of the rates in the last round, as a share, from which a prediction is not to be trusted.
const UNSETTLED: f64 = 0.02;
/// Share of the time of a full IIO buffer that the links behind it are full.
const BEHIND: f64 = 0.97;
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
    /// What binds it.
    pub binding: Binding,
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

pub(super) fn of(server: &ServerParams, problem: &Problem, solution: &Solution) -> Prediction {
    let view = View { server, problem, solution };
    let workloads: Vec<Workload> = (0..solution.rates.len()).map(|class| view.workload(class)).collect();
    let regime = view.regime(&workloads);
    let mut outside = coverage::outside(server);
    if solution.moved > UNSETTLED {
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

/// Lines per ns.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// Reads and writes of cores, kernel work included.
    core: [f64; 2],
    /// Writes and reads of devices.
    io: [f64; 2],
    /// Cores at work.
    cores: f64,
}

struct View<'a> {
    server: &'a ServerParams,
    problem: &'a Problem<'a>,
    solution: &'a Solution,
}

impl View<'_> {
    fn workload(&self, class: usize) -> Workload {
        let (rate, flow) = (&self.solution.rates[class], &self.problem.flows[class]);
        let (reads, writes) = self.problem.of_cores(flow, rate);
        let latency = &self.solution.latency;
        let io = rate.io_write + rate.io_read;
        let (lines, latency_ns, binding) = match flow {
            Flow::Stream(stream) => {
                let held = latency.core_read + (1.0 - stream.loads) * latency.core_write;
                (reads + writes, held, self.stream_binding(stream, rate))
            }
            Flow::Storage(storage) => {
                let held = if io > 0.0 {
                    (rate.io_write * latency.io_write + rate.io_read * latency.io_read) / io
                } else {
                    0.0
                };
                (io, held, self.storage_binding(storage, rate))
            }
        };
        Workload {
            gb_per_s: 64.0 * lines,
            read_gb_per_s: 64.0 * (reads + rate.io_read),
            write_gb_per_s: 64.0 * (writes + rate.io_write),
            latency_ns,
            binding,
        }
    }

    fn stream_binding(&self, stream: &Stream, rate: &Rate) -> Binding {
        let latency = &self.solution.latency;
        let (read, write) = (latency.core_read, (1.0 - stream.loads) * latency.core_write);
        let full = self.lfb_full(rate.access * (read + write));
        let paced = stream.paced && rate.access * stream.gap_ns >= 0.9;
        binding(&[(lfb_domain(read, write), full)], if paced { OFFERED_LOAD } else { CORE })
    }

    /// If entries of a core came and went by themselves, all would be in use as often as each of them is, together; as they come
    /// and go in bunches, it is as if they were fewer.
    fn lfb_full(&self, in_use: f64) -> f64 {
        (in_use / self.problem.entries).clamp(0.0, 1.0).powf(BUNCHES * self.problem.entries)
    }

    fn storage_binding(&self, storage: &Storage, rate: &Rate) -> Binding {
        let mut candidates = Vec::new();
        let latency = &self.solution.latency;
        let (posted, nonposted) = self.problem.link(latency);
        let most = |pace: fn(&Drive) -> f64| storage.drives.iter().map(pace).fold(0.0, f64::max);
        if rate.io_write > 0.0 {
            let full = self.write_full();
            let link =
                full_share(most(|drive| drive.writing.min(drive.offered() / drive.share)), posted, self.problem.posted);
            candidates.extend([("P2M-Write", full), ("PCIe posted", link.max(BEHIND * full))]);
        }
        if rate.io_read > 0.0 {
            let full = self.read_full();
            let link = full_share(
                most(|drive| drive.reading.min(drive.offered() / (1.0 - drive.share))),
                nonposted,
                self.problem.nonposted,
            );
            candidates.extend([("P2M-Read", full), ("PCIe non-posted", link.max(BEHIND * full))]);
        }
        binding(&candidates, OFFERED_LOAD)
    }

    fn drives(&self) -> impl Iterator<Item = &Drive> {
        self.problem.flows.iter().flat_map(|flow| match flow {
            Flow::Storage(storage) => storage.drives.as_slice(),
            Flow::Stream(_) => &[],
        })
    }

    fn write_full(&self) -> f64 {
        let offered = self.drives().map(|drive| drive.offered() * drive.share).sum();
        let credits = self.problem.write_credits;
        full_share(offered, credits / self.solution.latency.io_write, credits).max(self.port_full(credits))
    }

    fn read_full(&self) -> f64 {
        let offered = self.drives().map(|drive| drive.offered() * (1.0 - drive.share)).sum();
        let credits = self.problem.read_credits;
        full_share(offered, credits / self.solution.latency.io_read, credits).max(self.port_full(credits))
    }

    /// Lines that wait for their way out of the IIO hold their entries too.
    fn port_full(&self, credits: f64) -> f64 {
        full_share(self.drives().map(Drive::offered).sum(), self.problem.port, credits)
    }

    fn regime(&self, workloads: &[Workload]) -> Regime {
        let kinds = self.server.workloads.iter().map(|workload| &workload.kind);
        let storage = kinds.zip(workloads).filter(|(kind, _)| matches!(kind, WorkloadKind::Fio(_)));
        let gb_per_s: f64 = storage.map(|(_, workload)| workload.gb_per_s).sum();
        let p2m = (gb_per_s > 0.0).then(|| P2m {
            full_share: self.write_full().max(self.read_full()),
            gb_per_s,
            offered_gb_per_s: Some(self.drives().map(Drive::offered).sum::<f64>() * 64.0),
        });
        regime(self.c2m(workloads, p2m.is_some()), p2m)
    }

    /// The stream whose latency has grown most over that without devices, which it has already if there are none.
    fn c2m(&self, workloads: &[Workload], devices: bool) -> Option<C2m> {
        let alone = if devices { super::isolated_latencies_ns(self.server) } else { self.latencies_ns(workloads) };
        let streams = alone.iter().zip(workloads).filter_map(|(alone, workload)| {
            alone.map(|isolated_ns| C2m { latency_ns: workload.latency_ns, isolated_ns, basis: Basis::Predicted })
        });
        streams.max_by(|a, b| (a.latency_ns / a.isolated_ns).total_cmp(&(b.latency_ns / b.isolated_ns)))
    }

    /// The latency of each stream.
    fn latencies_ns(&self, workloads: &[Workload]) -> Vec<Option<f64>> {
        let is_stream = |flow: &Flow| matches!(flow, Flow::Stream(_));
        let pairs = workloads.iter().zip(self.problem.flows);
        pairs.map(|(workload, flow)| is_stream(flow).then_some(workload.latency_ns)).collect()
    }

    fn memory(&self) -> Memory {
        let (load, state) = (&self.solution.load, &self.solution.state);
        let (channel, controllers) = (&self.problem.channel, self.problem.controllers);
        let latency = &self.solution.latency;
        Memory {
            read_gb_per_s: 64.0 * controllers * load.reads,
            write_gb_per_s: 64.0 * controllers * load.writes,
            row_miss_ratio: load.read_misses,
            write_row_miss_ratio: load.write_misses,
            controllers: controllers as u32,
            rpq: (load.reads * latency.read_queue).min(channel.read_entries),
            wpq: channel.write_queue(load.writes, latency.write_queue, self.solution.forced),
            write_mode_share: (state.modes * state.mode_ns).min(1.0),
            bus_busy_share: ((load.reads + load.writes) * channel.line_ns).min(1.0),
        }
    }

    /// The domains of all workloads together and, if there are several, of each.
    fn domains(&self) -> Vec<Domain> {
        let classes = self.solution.rates.len();
        let alone = (classes > 1).then_some(0..classes).into_iter().flatten().map(Some);
        let of_each: Vec<Vec<Domain>> = alone.map(|class| self.domains_of(class)).collect();
        let mut domains = Vec::new();
        for whole in self.domains_of(None) {
            let name = whole.name;
            domains.push(whole);
            domains.extend(of_each.iter().flatten().filter(|domain| domain.name == name).cloned());
        }
        domains
    }

    fn domains_of(&self, class: Option<usize>) -> Vec<Domain> {
        let traffic = self.traffic(class);
        let (latency, memory, problem) = (&self.solution.latency, self.memory(), self.problem);
        let all = self.traffic(None);
        let entries = all.cores * problem.entries;
        let tor = problem.slices * problem.slice_entries;
        let Traffic { core: [core_reads, core_writes], io: [io_writes, io_reads], .. } = traffic;
        let (reads, writes) = (core_reads + io_reads, core_writes + io_writes);
        let read_held = reads * latency.cha_read;
        let write_held = core_writes * latency.cha_core_write + io_writes * latency.cha_io_write;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let rpq = problem.controllers * memory.rpq * share(reads, all.core[0] + all.io[1]);
        let wpq = problem.controllers * memory.wpq * share(writes, all.core[1] + all.io[0]);
        let queues = |entries: f64| problem.controllers * entries;
        let lfb = core_reads * latency.core_read + core_writes * latency.core_write;
        let whole = |full: Option<f64>| if class.is_none() { full } else { None };
        let rows = [
            ("C2M-Read", entries, core_reads * latency.core_read, core_reads, None),
            ("C2M-Write", entries, core_writes * latency.core_write, core_writes, None),
            (
                "P2M-Write",
                problem.write_credits,
                io_writes * latency.io_write,
                io_writes,
                whole(Some(self.write_full())),
            ),
            ("P2M-Read", problem.read_credits, io_reads * latency.io_read, io_reads, whole(Some(self.read_full()))),
            ("LFB", entries, lfb, core_reads, whole(self.lfb_full_mean())),
            ("CHA TOR", tor, read_held + write_held, reads + writes, None),
            ("CHA->DRAM read", tor, read_held, reads, None),
            ("CHA->MC write", tor, write_held, writes, None),
            ("RPQ", queues(problem.channel.read_entries), rpq, reads, None),
            ("WPQ", queues(problem.channel.write_entries), wpq, writes, None),
        ];
        let used = rows.into_iter().filter(|row| row.3 > 0.0);
        used.map(|(name, capacity, in_use, lines, full_share)| Domain {
            name,
            workload: class,
            capacity,
            in_use: in_use.min(capacity),
            latency_ns: in_use / lines,
            gb_per_s: 64.0 * lines,
            full_share,
        })
        .collect()
    }

    /// What one workload, or all of them, send.
    fn traffic(&self, class: Option<usize>) -> Traffic {
        let mut traffic = Traffic::default();
        for (index, (rate, flow)) in self.solution.rates.iter().zip(self.problem.flows).enumerate() {
            if class.is_some_and(|class| class != index) {
                continue;
            }
            let (reads, writes) = self.problem.of_cores(flow, rate);
            traffic.core = [traffic.core[0] + reads, traffic.core[1] + writes];
            traffic.io = [traffic.io[0] + rate.io_write, traffic.io[1] + rate.io_read];
            traffic.cores += match flow {
                Flow::Stream(stream) => stream.cores,
                Flow::Storage(storage) => storage.cores,
            };
        }
        traffic
    }

    /// Mean over the cores that something runs on.
    fn lfb_full_mean(&self) -> Option<f64> {
        let latency = &self.solution.latency;
        let (mut cores, mut full) = (0.0, 0.0);
        for (rate, flow) in self.solution.rates.iter().zip(self.problem.flows) {
            let (count, in_use) = match flow {
                Flow::Stream(stream) => {
                    let held = latency.core_read + (1.0 - stream.loads) * latency.core_write;
                    (stream.cores, rate.access * held)
                }
                Flow::Storage(storage) => (storage.cores, rate.kernel * latency.core_read / storage.cores),
            };
            cores += count;
            full += count * self.lfb_full(in_use);
        }
        (cores > 0.0).then(|| full / cores)
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
