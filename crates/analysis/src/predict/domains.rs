//! Derives the domains and queues of a prediction.

use super::outcome::{Domain, Memory, PredictionView};
use super::traffic::Flow;

/// Rates in lines per ns.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// Reads and writes of cores, kernel work included.
    core: [f64; 2],
    /// Writes and reads of devices.
    io: [f64; 2],
    /// Number of busy cores.
    cores: f64,
    /// Reads of prefetchers, and the write-backs that follow them.
    prefetched: [f64; 2],
    /// Number of cores with prefetched streams.
    prefetched_cores: f64,
}

impl PredictionView<'_> {
    /// Returns the prediction of the memory channels.
    pub(super) fn memory(&self) -> Memory {
        let (load, state) = (&self.solution.load, &self.solution.assumed.state);
        let (channel, controllers) = (&self.problem.channel, self.problem.controllers);
        let latency = &self.solution.latency;
        Memory {
            read_gb_per_s: 64.0 * controllers * load.reads,
            write_gb_per_s: 64.0 * controllers * load.writes,
            row_miss_ratio: load.read_misses,
            write_row_miss_ratio: load.write_misses,
            controllers: controllers as u32,
            rpq: (load.reads * latency.read_queue).min(channel.read_entries),
            wpq: channel.write_queue(load.writes, latency.write_queue, self.solution.assumed.forced),
            write_mode_share: (state.modes * state.mode_ns).min(1.0),
            bus_busy_share: ((load.reads + load.writes) * channel.line_ns).min(1.0),
        }
    }

    /// Returns the domains of all workloads together and, if there are several workloads, of each.
    pub(super) fn domains(&self) -> Vec<Domain> {
        let classes = self.solution.rates.len();
        // The rows of a single workload would repeat those of all.
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
        let prefetches = all.prefetched_cores * problem.prefetches;
        let tor = problem.slices * problem.slice_entries;
        let Traffic { core: [core_reads, core_writes], io: [io_writes, io_reads], .. } = traffic;
        let (reads, writes) = (core_reads + io_reads, core_writes + io_writes);
        let read_held = reads * latency.cha_read;
        let write_held = core_writes * latency.cha_core_write + io_writes * latency.cha_io_write;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        // The queues are shared: a workload holds as much of them as it sends of the lines.
        let rpq = problem.controllers * memory.rpq * share(reads, all.core[0] + all.io[1]);
        let wpq = problem.controllers * memory.wpq * share(writes, all.core[1] + all.io[0]);
        let queues = |entries: f64| problem.controllers * entries;
        let held = |[reads, writes]: [f64; 2]| reads * latency.core_read + writes * latency.core_write;
        let [ahead, ahead_writes] = traffic.prefetched;
        let lfb = held([core_reads - ahead, core_writes - ahead_writes]);
        // Fullness is that of a pool as a whole, not of one workload's part of it.
        let whole = |full: Option<f64>| if class.is_none() { full } else { None };
        let rows = [
            ("C2M-Read", entries + prefetches, core_reads * latency.core_read, core_reads, None),
            ("C2M-Write", entries + prefetches, core_writes * latency.core_write, core_writes, None),
            (
                "P2M-Write",
                problem.write_credits,
                io_writes * latency.io_write,
                io_writes,
                whole(Some(self.write_full())),
            ),
            ("P2M-Read", problem.read_credits, io_reads * latency.io_read, io_reads, whole(Some(self.read_full()))),
            // A store keeps its entry for the write-back, so entries are counted by reads alone.
            ("LFB", entries, lfb, core_reads - ahead, whole(self.lfb_full_mean())),
            ("L2 prefetch", prefetches, held(traffic.prefetched), ahead, None),
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
            // The closed forms know no capacity and may exceed it near saturation.
            in_use: in_use.min(capacity),
            latency_ns: in_use / lines,
            gb_per_s: 64.0 * lines,
            full_share,
        })
        .collect()
    }

    /// Sums the rates of one workload, or of all of them.
    fn traffic(&self, class: Option<usize>) -> Traffic {
        let mut traffic = Traffic::default();
        for (index, (rate, flow)) in self.solution.rates.iter().zip(&self.problem.flows).enumerate() {
            if class.is_some_and(|class| class != index) {
                continue;
            }
            let (reads, writes) = self.problem.of_cores(flow, rate);
            traffic.core = [traffic.core[0] + reads, traffic.core[1] + writes];
            traffic.io = [traffic.io[0] + rate.io_write, traffic.io[1] + rate.io_read];
            match flow {
                Flow::Stream(stream) => {
                    let ahead = stream.cores * self.problem.prefetched(stream, rate, &self.solution.latency);
                    let [reads, writes] = traffic.prefetched;
                    traffic.prefetched = [reads + ahead, writes + ahead * (1.0 - stream.loads)];
                    traffic.prefetched_cores += if stream.prefetched { stream.cores } else { 0.0 };
                    traffic.cores += stream.cores;
                }
                Flow::Storage(storage) => traffic.cores += storage.cores,
            }
        }
        traffic
    }

    /// Share of time that the LFB is full, averaged over the busy cores.
    fn lfb_full_mean(&self) -> Option<f64> {
        let latency = &self.solution.latency;
        let (mut cores, mut full) = (0.0, 0.0);
        for (rate, flow) in self.solution.rates.iter().zip(&self.problem.flows) {
            let (count, in_use) = match flow {
                Flow::Stream(stream) => {
                    let held = latency.core_read + (1.0 - stream.loads) * latency.core_write;
                    let ahead = self.problem.prefetched(stream, rate, latency);
                    (stream.cores, (rate.access - ahead) * held)
                }
                Flow::Storage(storage) => (storage.cores, rate.kernel * latency.core_read / storage.cores),
            };
            cores += count;
            full += count * self.lfb_full(in_use);
        }
        (cores > 0.0).then(|| full / cores)
    }
}
