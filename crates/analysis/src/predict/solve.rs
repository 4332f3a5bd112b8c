//! The fixed point: rates that are consistent with the latencies they cause.

use super::admission::Admission;
use super::assumed::RoundValues;
use super::channel::{Channel, Load};
use super::fit::Fit;
use super::rows::{misses, Walks};
use super::search::{max_min_share, root, sort_by_rate, wait_from_share, RateDemand, SearchStart};
use super::storage::{least, Drives};
use super::traffic::{self, Flow, Locality, Storage};
use hostnet_model::params::{AccessPattern, SocketParams, WriteBackEnd};

/// Wait for the CHA below which no search for it is made, in ns.
const ADMISSION_MIN_NS: f64 = 0.2;

/// Relative change in the last round above which a solution is not trusted.
const UNSETTLED: f64 = 0.02;

/// Rates of one workload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rate {
    /// Rate of accesses of one core, per ns.
    pub(super) access: f64,
    /// Rate at which drives write to memory, in lines per ns.
    pub(super) io_write: f64,
    /// Rate at which drives read from memory, in lines per ns.
    pub(super) io_read: f64,
    /// Rate of kernel work, in lines per ns.
    pub(super) kernel: f64,
}

/// Mean residence of a line in each domain and queue, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Latency {
    /// Residence in C2M-Read.
    pub(super) core_read: f64,
    /// Residence in C2M-Write.
    pub(super) core_write: f64,
    /// Residence in P2M-Write.
    pub(super) io_write: f64,
    /// Residence in P2M-Read.
    pub(super) io_read: f64,
    /// Residence of a read in the CHA.
    pub(super) cha_read: f64,
    /// Residence of a write-back of a core in the CHA.
    pub(super) cha_core_write: f64,
    /// Residence of a device write in the CHA.
    pub(super) cha_io_write: f64,
    /// Wait in the read queue of the memory controller, including admission.
    pub(super) read_queue: f64,
    /// Wait in the write queue of the memory controller, including admission.
    pub(super) write_queue: f64,
    /// Wait of cores for admission to the CHA.
    pub(super) core_admission: f64,
    /// Wait of devices for admission to the CHA.
    pub(super) io_admission: f64,
}

/// Fixed delays of a socket, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Delays {
    to_cha: f64,
    from_cha: f64,
    write_ack: f64,
    read_to_mc: f64,
    from_mc: f64,
    core_write_to_mc: f64,
    io_write_to_mc: f64,
    cha_write_ack: f64,
    /// True if a write-back of a core ends when the memory controller accepts it.
    write_to_memory: bool,
    io_write: f64,
    io_read: f64,
}

/// A socket and its workloads in the form that the solver takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    pub(super) flows: Vec<Flow>,
    pub(super) channel: Channel,
    pub(super) controllers: f64,
    pub(super) fit: Fit,
    delays: Delays,
    pub(super) entries: f64,
    /// Lines that the prefetchers of a core keep in flight for its sequential streams, beside its LFB.
    pub(super) prefetches: f64,
    pub(super) refill_ns: f64,
    pub(super) write_credits: f64,
    pub(super) read_credits: f64,
    /// One-way latency of a PCIe link, in ns.
    link_ns: f64,
    /// Posted credits of one link, in lines.
    pub(super) posted: f64,
    /// Non-posted credits of one link, in lines.
    pub(super) nonposted: f64,
    line_ns: f64,
    /// Largest rate in each direction that the IIO sends into the processor, in lines per ns.
    pub(super) port: f64,
    /// Rates in lines per ns at which drives would write to memory, the smallest first.
    offered_writes: Vec<RateDemand>,
    /// Rates in lines per ns at which drives would read from memory, the smallest first.
    offered_reads: Vec<RateDemand>,
    pub(super) slices: f64,
    pub(super) slice_entries: f64,
    sequential: Locality,
}

/// Roots that the searches of the last round found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SearchStarts {
    backlog: SearchStart,
    admission: SearchStart,
}

/// Solution of a [`Problem`].
#[derive(Clone, Debug, Default)]
pub(super) struct Solution {
    pub(super) rates: Vec<Rate>,
    pub(super) latency: Latency,
    pub(super) load: Load,
    pub(super) assumed: RoundValues,
    pub(super) near: SearchStarts,
    /// Largest relative change of a rate or of an assumed value in the last round.
    pub(super) moved: f64,
}

impl Solution {
    pub(super) fn has_settled(&self) -> bool {
        self.moved <= UNSETTLED
    }
}

impl Problem {
    pub(super) fn new(socket: &SocketParams, walks: &traffic::Walks, flows: Vec<Flow>, fit: &Fit) -> Self {
        let ns = |ps: u64| ps as f64 / 1000.0;
        let (core, cha, iio) = (&socket.core, &socket.cha, &socket.iio);
        let drives = || flows.iter().flat_map(Flow::drives);
        let asked = |pick: fn(&Drives) -> f64| {
            sort_by_rate(
                drives().map(|drives| RateDemand { count: drives.count, rate: drives.offered() * pick(drives) }),
            )
        };
        Self {
            channel: Channel::new(socket),
            controllers: f64::from(socket.memory.map.channels * socket.memory.dram.subchannels),
            fit: *fit,
            delays: Delays {
                to_cha: ns(core.to_cha_ps),
                from_cha: ns(core.from_cha_ps),
                write_ack: ns(core.write_ack_ps),
                read_to_mc: ns(cha.read_to_mc_ps),
                from_mc: ns(cha.from_mc_ps),
                core_write_to_mc: ns(cha.core_write_to_mc_ps + cha.evict_ps),
                io_write_to_mc: ns(cha.io_write_to_mc_ps),
                cha_write_ack: ns(cha.write_ack_ps),
                write_to_memory: core.write_until == WriteBackEnd::Acceptance,
                io_write: ns(iio.write_to_cha_ps + iio.write_ack_ps),
                io_read: ns(iio.read_to_cha_ps + iio.read_return_ps),
            },
            entries: f64::from(core.lfb_entries),
            prefetches: f64::from(core.stream_prefetches),
            refill_ns: ns(core.refill_ps),
            write_credits: f64::from(iio.write_credits),
            read_credits: f64::from(iio.read_credits),
            link_ns: ns(socket.pcie.latency_ps),
            posted: f64::from(socket.pcie.posted_lines),
            nonposted: f64::from(socket.pcie.nonposted_lines),
            line_ns: ns(iio.line_ps),
            // An IIO without a pause between lines has a line time of 0: 1e-3 ns keeps the rate finite.
            port: 1.0 / ns(iio.line_ps).max(1e-3),
            offered_writes: asked(|drives| drives.share),
            offered_reads: asked(|drives| 1.0 - drives.share),
            slices: f64::from(cha.slices),
            slice_entries: f64::from(cha.tor_entries),
            sequential: walks.of(AccessPattern::Sequential, 1 << 30),
            flows,
        }
    }

    /// Finds rates and latencies for given rows and modes: the backlog at the controllers must match their
    /// utilisation, and the wait for the CHA must match its occupancy.
    pub(super) fn balance(&self, assumed: &RoundValues, near: &mut SearchStarts, rates: &mut [Rate]) -> Latency {
        let mut latency = Latency::default();
        root(&mut near.backlog, |share| {
            let backlog = wait_from_share(share);
            latency = self.admit(assumed, backlog, &mut near.admission, rates);
            let load = self.load(rates, assumed);
            self.channel.state(&load, assumed.forced, &self.fit).busy - Channel::utilisation(backlog)
        });
        latency
    }

    /// Computes the latencies under a backlog, including the wait for the CHA that they cause.
    fn admit(&self, assumed: &RoundValues, backlog: f64, near: &mut SearchStart, rates: &mut [Rate]) -> Latency {
        let mut latency = self.latency(assumed, backlog, Admission::default());
        self.rates(&latency, rates);
        let free = self.admission(rates, &latency);
        if free.mean < ADMISSION_MIN_NS {
            return latency;
        }
        let mut search = |sides: Admission| {
            root(near, |share| {
                let mean = wait_from_share(share);
                latency = self.latency(assumed, backlog, Admission { mean, ..sides });
                self.rates(&latency, rates);
                // A saturated CHA has an infinite wait; 1e9 and the quotient keep the function between -1 and 1.
                let caused = self.admission(rates, &latency).mean.min(1e9);
                (caused - mean) / (caused + mean + 1.0)
            })
        };
        // If the lesser side needs more entries than its turns provide, both sides wait equally.
        if !search(assumed.admission) {
            search(Admission { io_share: 0.5, ..assumed.admission });
        }
        latency
    }

    fn latency(&self, assumed: &RoundValues, backlog: f64, admission: Admission) -> Latency {
        let (d, state) = (&self.delays, &assumed.state);
        let service = self.channel.line_ns;
        let write_share = state.write_share(&self.fit);
        // The quotas of the modes decide which side the backlog consists of (docs/predict.md, Modes).
        let read_backlog = (1.0 - write_share) * backlog;
        let read_queue = state.read_wait_ns + self.fit.queue * service * read_backlog;
        let write_queue = self.fit.write_queue * service * write_share * backlog;
        let cha_read = d.read_to_mc + read_queue + self.channel.data_ns + d.from_mc;
        let cha_core_write = d.core_write_to_mc + write_queue + d.cha_write_ack;
        let cha_io_write = d.io_write_to_mc + write_queue + d.cha_write_ack;
        Latency {
            core_read: d.to_cha + admission.core() + cha_read + d.from_cha,
            // C2M-Write ends at admission to the CHA, without a wait for the write queue, or at the memory controller.
            core_write: d.to_cha
                + admission.core()
                + d.write_ack
                + if d.write_to_memory { cha_core_write } else { 0.0 },
            io_write: d.io_write + assumed.port_ns + admission.io() + cha_io_write,
            io_read: d.io_read + assumed.port_ns + admission.io() + cha_read,
            cha_read,
            cha_core_write,
            cha_io_write,
            read_queue,
            write_queue,
            core_admission: admission.core(),
            io_admission: admission.io(),
        }
    }

    fn rates(&self, latency: &Latency, rates: &mut [Rate]) {
        let write = (self.write_credits / latency.io_write).min(self.port);
        let read = (self.read_credits / latency.io_read).min(self.port);
        let host = Host {
            write,
            read,
            write_level: max_min_share(write, &self.offered_writes),
            read_level: max_min_share(read, &self.offered_reads),
        };
        for (rate, flow) in rates.iter_mut().zip(&self.flows) {
            *rate = match flow {
                Flow::Stream(stream) => Rate { access: self.access(stream, latency), ..Rate::default() },
                Flow::Storage(storage) => self.moved(storage, latency, &host),
            };
        }
        // Each workload was given the level of the host by itself; together they may exceed it, so all are scaled back.
        let sum = |pick: fn(&Rate) -> f64| rates.iter().map(pick).sum::<f64>();
        let (writes, reads) = (sum(|rate| rate.io_write).max(write), sum(|rate| rate.io_read).max(read));
        for rate in rates {
            rate.io_write *= write / writes;
            rate.io_read *= read / reads;
        }
    }

    /// Rates of the drives of a workload, if the host accepts and supplies the rates in `host`.
    fn moved(&self, storage: &Storage, latency: &Latency, host: &Host) -> Rate {
        let (posted, nonposted) = self.link(latency);
        let (io_write, io_read) = storage.drives.iter().fold((0.0, 0.0), |sum, drives| {
            let alone = drives.rate(host.write.min(posted), host.read.min(nonposted));
            // A drive that reads and writes moves both in proportion, so the tighter direction holds back the other.
            let shared = (host.write_level / drives.share).min(host.read_level / (1.0 - drives.share));
            let rate = drives.count * alone.min(shared);
            (sum.0 + rate * drives.share, sum.1 + rate * (1.0 - drives.share))
        });
        let both = io_write + io_read;
        let cycle = latency.core_read + (1.0 - storage.kernel_loads) * latency.core_write + self.refill_ns;
        // Drives wait for the kernel's work on their requests (docs/models/nvme.md): its cores may be slower.
        let kernel = storage.cores * self.entries / cycle / storage.kernel.max(1e-9);
        let pace = least(both, kernel) / both;
        Rate { access: 0.0, io_write: io_write * pace, io_read: io_read * pace, kernel: both * pace * storage.kernel }
    }

    /// Rates of writes and of reads that the credits of one link allow, in lines per ns.
    pub(super) fn link(&self, latency: &Latency) -> (f64, f64) {
        // A posted credit is back after a round trip on the link, a non-posted one after the read of memory as well.
        let way = 2.0 * self.link_ns;
        (self.posted / way.max(1e-3), self.nonposted / (way + latency.io_read))
    }

    /// Computes the wait for a TOR entry of a slice, as a queue with one server per entry.
    fn admission(&self, rates: &[Rate], latency: &Latency) -> Admission {
        let (mut lines, mut io, mut held) = (0.0, 0.0, 0.0);
        for (rate, flow) in rates.iter().zip(&self.flows) {
            let (reads, writes) = self.of_cores(flow, rate);
            lines += reads + writes;
            io += rate.io_write + rate.io_read;
            held += (reads + rate.io_read) * latency.cha_read;
            held += writes * latency.cha_core_write + rate.io_write * latency.cha_io_write;
        }
        lines += io;
        if lines <= 0.0 {
            return Admission::default();
        }
        let utilisation = held / self.slices / self.slice_entries;
        let mean = if utilisation >= 1.0 {
            f64::INFINITY
        } else {
            // Sakasegawa's approximation of the wait in an M/M/c queue.
            let waits = utilisation.powf((2.0 * (self.slice_entries + 1.0)).sqrt() - 1.0);
            self.fit.slices * held / lines / self.slice_entries * waits / (1.0 - utilisation)
        };
        Admission { mean, io_share: io / lines, turn_ns: self.slices / lines }
    }

    /// Rates of reads and of writes that the cores of a workload send, in lines per ns.
    pub(super) fn of_cores(&self, flow: &Flow, rate: &Rate) -> (f64, f64) {
        match flow {
            Flow::Stream(stream) => {
                let reads = rate.access * stream.cores;
                (reads, reads * (1.0 - stream.loads))
            }
            Flow::Storage(storage) => (rate.kernel, rate.kernel * (1.0 - storage.kernel_loads)),
        }
    }

    pub(super) fn load(&self, rates: &[Rate], assumed: &RoundValues) -> Load {
        let (mut reads, mut writes) = (0.0, 0.0);
        for (rate, flow) in rates.iter().zip(&self.flows) {
            let (read, written) = self.of_cores(flow, rate);
            reads += read + rate.io_read;
            // Drives write lines elsewhere, too (docs/models/fio.md, The cost of IO beyond its data).
            writes += written + rate.io_write * (1.0 + flow.extra());
        }
        Load { reads: reads / self.controllers, writes: writes / self.controllers, ..assumed.load }
    }

    /// Derives rows, modes and queues from the rates of a round.
    pub(super) fn settle(&self, old: &RoundValues, rates: &[Rate], latency: &Latency) -> RoundValues {
        let mut load = self.load(rates, old);
        let forced = self.channel.state(&load, old.forced, &self.fit).busy.min(1.0).powf(self.fit.forced);
        // Little's law; the rest of the reads waits upstream of the queue, where the scheduler does not see it.
        let waiting = (load.reads * latency.read_queue).min(self.channel.read_entries);
        let modes = if load.reads > 0.0 { old.state.modes / load.reads } else { 0.0 };
        let queues = self.channel.queues(waiting, forced, modes);
        (load.read_misses, load.write_misses) = misses(&self.walks(rates), &queues, &self.fit);
        let sum = |pick: fn(&Rate) -> f64| rates.iter().map(pick).sum::<f64>();
        // The IIO sends lines in both directions independently, so the busier one decides.
        let io = sum(|rate| rate.io_write).max(sum(|rate| rate.io_read));
        let port = (io * self.line_ns).min(0.95);
        // The term with `port` is the mean wait in an M/D/1 queue; 0.95 keeps it finite.
        let port_ns = self.line_ns * (1.5 + port / (1.0 - port) / 2.0);
        RoundValues {
            load,
            state: self.channel.state(&load, forced, &self.fit),
            forced,
            port_ns: if io > 0.0 { port_ns } else { 0.0 },
            admission: self.admission(rates, latency),
        }
    }

    /// Returns the walks at one controller.
    fn walks(&self, rates: &[Rate]) -> Vec<Walks> {
        let mut walks = Vec::with_capacity(4 * rates.len());
        let mut add = |count: f64, rate: f64, writes: bool, locality: Locality| {
            if rate > 0.0 {
                walks.push(Walks { count, rate: rate / count / self.controllers, writes, locality });
            }
        };
        for (rate, flow) in rates.iter().zip(&self.flows) {
            let (reads, written) = self.of_cores(flow, rate);
            let (count, locality) = match flow {
                Flow::Stream(stream) => (stream.cores, stream.locality),
                Flow::Storage(storage) => (storage.cores, self.sequential),
            };
            add(count, reads, false, locality);
            // Write-backs spread over about twice the banks of loads, set by hand (docs/predict.md).
            add(count, written, true, Locality { burst: 1.0, banks: 2.0 * locality.banks, ..locality });
            if let Flow::Storage(storage) = flow {
                let drives = storage.drives.iter().map(|drives| drives.count).sum();
                add(drives, rate.io_read, false, self.sequential);
                add(drives, rate.io_write * (1.0 + storage.extra), true, self.sequential);
            }
        }
        walks
    }
}

/// Rates that the host accepts from drives and supplies to them, in lines per ns.
#[derive(Clone, Copy, Debug)]
struct Host {
    /// Largest rate of writes to memory by all drives together.
    write: f64,
    /// Largest rate of reads from memory by all drives together.
    read: f64,
    /// Fair share of `write` for a drive that offers more.
    write_level: f64,
    /// Fair share of `read` for a drive that offers more.
    read_level: f64,
}
