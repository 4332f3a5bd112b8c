//! NVMe drives as DMA sources and sinks.
//!
//! A drive holds commands and serves a few of them at a time, TLP by TLP, round robin. The number of commands served
//! together sets the row locality of its traffic. A drive is paced by its own bandwidth and by its link.

mod command;
mod job;
mod ports;
mod unmapping;
mod written;

use crate::line::Pages;
use crate::params::SsdParams;
use crate::part::{self, Context, Part, PartKind, Payload, Pool, StartContext, TlpTag};
use command::Command;
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
pub use job::{DriveJob, DriveService};
pub use ports::DrivePortWiring;
use ports::DrivePorts;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
pub use written::WrittenLine;

const PAGE_BYTES: u64 = 4096;
/// Number of requests with unacknowledged kernel work at which a drive waits.
const KERNEL_WINDOW_REQUESTS: u64 = 4;

/// Drive with its jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ssd {
    /// Number among the drives of the server.
    number: u8,
    params: SsdParams,
    ports: DrivePorts,
    pages: Pages,
    rng: Rng,
    jobs: Vec<DriveJob>,
    /// By job: commands that the job begins with and has not started yet.
    initial: Vec<u32>,
    /// Commands with TLPs to send.
    open: VecDeque<Command>,
    /// Commands that have sent all read requests and wait for data.
    draining: VecDeque<Command>,
    turn: usize,
    next_send: Time,
    send_pending: bool,
    page_bytes: u64,
    kernel_pages: u32,
    extra_owed: u64,
    services: Vec<DriveService>,
    /// With an IOMMU, the time that a core needs per request to invalidate translations, in ps.
    unmap_ps: Option<u32>,
    stopped: bool,
}

/// Ports of a drive, and its number.
#[derive(Clone, Debug)]
pub struct DriveWiring {
    /// Ports: the one on the drive's own socket, then those on other sockets if there are any.
    pub ports: Vec<DrivePortWiring>,
    /// Number among the drives of the server.
    pub number: u8,
}

impl Ssd {
    /// Creates a drive with the jobs that use it. `params` holds the drive's share of any rate cap.
    #[must_use]
    pub fn new(
        wiring: DriveWiring,
        params: SsdParams,
        pages: Pages,
        rng: Rng,
        jobs: Vec<DriveJob>,
        classes: usize,
    ) -> Self {
        Self {
            ports: DrivePorts::new(wiring.ports, classes),
            number: wiring.number,
            open: VecDeque::with_capacity(params.queue_depth as usize),
            draining: VecDeque::with_capacity(params.queue_depth as usize),
            turn: 0,
            next_send: Time::ZERO,
            send_pending: false,
            page_bytes: 0,
            kernel_pages: 0,
            extra_owed: 0,
            services: vec![DriveService::default(); classes],
            unmap_ps: None,
            stopped: false,
            params,
            pages,
            rng,
            initial: jobs.iter().map(|job| job.params.io_depth).collect(),
            jobs,
        }
    }

    /// Returns the number of the drive's link at the IIO of a socket, if it has one there.
    #[must_use]
    pub fn link(&self, socket: u8) -> Option<u8> {
        self.ports.link(socket)
    }

    /// Returns the service that each workload got from the drive.
    #[must_use]
    pub fn services(&self) -> &[DriveService] {
        &self.services
    }

    /// Returns the domains, to settle or reset them.
    pub fn domains_mut(&mut self) -> impl Iterator<Item = &mut Domain> {
        self.ports.domains_mut()
    }

    fn on_submit(&mut self, index: u16, context: &mut Context) {
        if self.stopped {
            return;
        }
        // A drive holds at most its queue depth; further commands of a job wait.
        if self.open.len() + self.draining.len() >= self.params.queue_depth as usize {
            self.jobs[usize::from(index)].waiting += 1;
            return;
        }
        self.start(index, context);
    }

    /// Starts a command of a job in the drive.
    fn start(&mut self, index: u16, context: &mut Context) {
        let to_come = &mut self.initial[usize::from(index)];
        let initial = *to_come > 0;
        *to_come = to_come.saturating_sub(1);
        let job = &mut self.jobs[usize::from(index)];
        let block = job.params.block_bytes;
        // Pure reads and pure writes draw no random number.
        let read = job.params.reads >= 1 << 32 || (job.params.reads > 0 && self.rng.chance(job.params.reads));
        let address = job.base + job.slot * block;
        // Each command in flight has a buffer of its own, round robin.
        job.slot = (job.slot + 1) % u64::from(job.params.io_depth);
        self.open.push_back(Command {
            job: index,
            read,
            address,
            left_bytes: block,
            unfinished_bytes: block,
            submitted: context.now(),
            initial,
        });
        self.kick(context);
    }

    /// Schedules a `Send` event, if there are open commands and none is pending.
    fn kick(&mut self, context: &mut Context) {
        // One event at a time: it sends one TLP and schedules the next.
        if !self.send_pending && !self.open.is_empty() {
            self.send_pending = true;
            let delay = if self.next_send > context.now() { self.next_send.since(context.now()) } else { 1 };
            context.send(context.id, delay, Payload::Send);
        }
    }

    /// Sends the next TLP, if credits allow one.
    fn send(&mut self, context: &mut Context) {
        // With four requests unacknowledged by the kernel the drive waits (docs/models/nvme.md).
        if u64::from(self.kernel_pages) * PAGE_BYTES >= KERNEL_WINDOW_REQUESTS * self.params.max_transfer_bytes {
            return;
        }
        // Few commands at a time, which sets the row locality (docs/models/nvme.md, Streams).
        let served = self.open.len().min(self.params.streams as usize);
        let next =
            (0..served).map(|step| (self.turn + step) % served).find(|&index| self.may_send(index, context.now()));
        let Some(index) = next else { return self.wait_for_lane(served, context) };
        self.turn = index + 1;
        if self.open[index].read {
            self.send_write(index, context);
        } else {
            self.send_read(index, context);
        }
        if self.open[index].left_bytes == 0 {
            // The next command moves up to this index.
            self.turn = index;
            self.retire(index, context);
        }
        self.kick(context);
    }

    /// Returns the port by which the next TLP of a command goes.
    fn port(&self, command: &Command) -> usize {
        self.ports.to(|| self.pages.physical(command.address) / 64)
    }

    fn may_send(&self, index: usize, now: Time) -> bool {
        let command = &self.open[index];
        self.ports.endpoint(self.port(command)).free_at() <= now && self.has_credits(command)
    }

    fn has_credits(&self, command: &Command) -> bool {
        let (pcie, endpoint) = (self.ports.pcie(), self.ports.endpoint(self.port(command)));
        if command.read {
            // Asked for the largest TLP, because lines beyond the data go in TLPs of that size.
            endpoint.may_write(pcie.mps_bytes)
        } else {
            endpoint.may_read(pcie.mrrs_bytes / 64)
        }
    }

    /// Waits if none of the `served` commands may send: those with credits wait until the lane of their port is free.
    fn wait_for_lane(&mut self, served: usize, context: &mut Context) {
        let ready = self.open.iter().take(served).filter(|command| self.has_credits(command));
        let free = ready.map(|command| self.ports.endpoint(self.port(command)).free_at()).min();
        if let Some(free) = free {
            // Without credits nothing is scheduled: their return starts the drive again.
            self.next_send = free;
            self.kick(context);
        }
    }

    /// Retires a command whose TLPs are all sent: a write to memory is done, a read of memory waits for its data.
    fn retire(&mut self, index: usize, context: &mut Context) {
        if let Some(command) = self.open.remove(index) {
            if command.read {
                self.finish(&command, context);
            } else {
                self.draining.push_back(command);
            }
        }
    }

    fn finish(&mut self, command: &Command, context: &mut Context) {
        let class = self.jobs[usize::from(command.job)].class;
        let latency = context.now().since(command.submitted) + self.params.latency_ps;
        self.services[usize::from(class)].count(latency, command.initial);
        self.unmap(command, context);
        self.hand_over(command, context);
        let count = self.jobs.len();
        let after = usize::from(command.job) + 1;
        let next = (after..after + count).map(|job| job % count).find(|&job| self.jobs[job].waiting > 0);
        if let Some(job) = next {
            self.jobs[job].waiting -= 1;
            self.start(job as u16, context);
        }
    }

    /// Notifies the part that waits for the end of a command: the core that reads the data, if one does, which then
    /// notifies the job; otherwise the job.
    fn hand_over(&self, command: &Command, context: &mut Context) {
        let job = &self.jobs[usize::from(command.job)];
        if job.consume && command.read {
            let lines = (job.params.block_bytes / 64) as u32;
            // The address is past the end of the block by now.
            let line = command.address / 64 - u64::from(lines);
            let block = Payload::Block { line, lines, job: command.job, ssd: self.number };
            context.send(job.core, self.ports.pcie().latency_ps.max(1), block);
        } else {
            let wait = self.ports.pcie().latency_ps + self.params.latency_ps;
            context.send(context.id, wait.max(1), Payload::Submit { job: command.job });
        }
    }

    /// Sends a write TLP: data, or lines beyond the data once enough of them are due.
    fn send_write(&mut self, index: usize, context: &mut Context) {
        let tlp_lines = u64::from(self.ports.pcie().mps_bytes / 64);
        let now = context.now();
        let command = self.open[index];
        let job = &mut self.jobs[usize::from(command.job)];
        let class = job.class;
        let port = self.ports.to(|| self.pages.physical(command.address) / 64);
        let extra = self.extra_owed >= tlp_lines << 16;
        let (line, lines) = if extra {
            self.extra_owed -= tlp_lines << 16;
            let line = job.extra.next(&self.pages, &mut self.rng);
            (line / tlp_lines * tlp_lines, tlp_lines)
        } else {
            let lines = tlp_lines.min(command.left_bytes.div_ceil(64));
            (self.pages.physical(command.address) / 64, lines)
        };
        let bytes = lines * 64;
        self.ports.endpoint_mut(port).write(line, bytes as u32, class, TlpTag::NONE, context);
        // Lines beyond the data do not come from the drive's media, so its bandwidth does not pace them.
        let paced = if extra { 0 } else { bytes * 1_000_000_000_000 / self.params.read_bytes_per_s };
        self.next_send = (now + paced).max(self.ports.free_at());
        if !extra {
            self.advance(index, bytes, context);
            self.services[usize::from(class)].bytes += bytes;
        }
    }

    fn send_read(&mut self, index: usize, context: &mut Context) {
        let now = context.now();
        let command = self.open[index];
        let lines = u64::from(self.ports.pcie().mrrs_bytes / 64).min(command.left_bytes.div_ceil(64));
        let class = self.jobs[usize::from(command.job)].class;
        let line = self.pages.physical(command.address) / 64;
        let port = self.ports.to(|| line);
        self.ports.endpoint_mut(port).read(line, lines as u32, class, context);
        let bytes = lines * 64;
        let paced = bytes * 1_000_000_000_000 / self.params.write_bytes_per_s;
        self.next_send = (now + paced).max(self.ports.free_at());
        self.advance(index, bytes, context);
    }

    /// Advances a command by `bytes`, and hands the pages of finished NVMe requests to the kernel: a command longer
    /// than the largest transfer of the drive is several requests to its driver.
    fn advance(&mut self, index: usize, bytes: u64, context: &mut Context) {
        let command = &mut self.open[index];
        command.address += bytes;
        command.left_bytes = command.left_bytes.saturating_sub(bytes);
        let job = &self.jobs[usize::from(command.job)];
        self.page_bytes += bytes;
        // A request of the driver has at most the largest transfer.
        if self.page_bytes >= self.params.max_transfer_bytes.min(job.params.block_bytes) {
            let pages = self.page_bytes.div_ceil(PAGE_BYTES) as u32;
            self.page_bytes = 0;
            // Only reads of the drive write memory beyond their data (docs/models/fio.md).
            if command.read {
                self.extra_owed += u64::from(pages) * job.dma_lines_per_page;
            }
            self.kernel_pages += pages;
            let unmap_ps = self.unmap_ps.unwrap_or(0);
            let work = Payload::KernelWork { pages, class: job.class, ssd: self.number, unmap_ps };
            context.send(job.core, 1, work);
        }
    }

    fn on_posted_credit(&mut self, lines: u8, iio: ComponentId, context: &mut Context) {
        self.ports.from(iio).credited(context.now(), lines);
        self.kick(context);
    }

    /// Counts received data for the oldest commands that wait for any. Completions of a drive arrive in order except
    /// for what memory reorders, and no byte is lost.
    fn count_received(&mut self, mut bytes: u64) {
        for command in self.draining.iter_mut().chain(&mut self.open).filter(|command| !command.read) {
            if bytes == 0 {
                return;
            }
            let part = bytes.min(command.unfinished_bytes);
            command.unfinished_bytes -= part;
            bytes -= part;
        }
    }

    fn on_completion(&mut self, lines: u8, class: u8, iio: ComponentId, context: &mut Context) {
        self.ports.from(iio).completed(context.now(), lines);
        let bytes = u64::from(lines) * 64;
        self.services[usize::from(class)].bytes += bytes;
        self.count_received(bytes);
        while self.draining.front().is_some_and(|command| command.unfinished_bytes == 0) {
            if let Some(command) = self.draining.pop_front() {
                self.finish(&command, context);
            }
        }
        self.kick(context);
    }
}

impl Part for Ssd {
    fn kind(&self) -> PartKind {
        PartKind::Ssd
    }

    /// Submits as many commands of every job as the job keeps in flight, one after the other.
    fn start(&mut self, start: &mut StartContext<'_>) {
        for (job, own) in (0..).zip(&self.jobs) {
            for command in 0..own.params.io_depth {
                // Commands 500 ns apart and drives 17 ns apart, so that the start is no burst.
                let delay_ps = 1 + u64::from(command) * 500_000 + start.index * 17_389;
                start.wake(delay_ps, Payload::Submit { job });
            }
        }
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Submit { job } => self.on_submit(job, context),
            Payload::Send => {
                self.send_pending = false;
                self.send(context);
            }
            Payload::PostedCredit { lines } => self.on_posted_credit(lines, source, context),
            Payload::Completion { lines, class } => self.on_completion(lines, class, source, context),
            Payload::Consumed { job } => {
                context.send(context.id, self.params.latency_ps.max(1), Payload::Submit { job });
            }
            Payload::KernelReady { pages } => {
                self.kernel_pages -= pages;
                self.kick(context);
            }
            other => unreachable!("a drive was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.ports.pools(visit);
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.domains_mut(), now);
        self.services.iter_mut().for_each(DriveService::reset);
    }

    /// Accepts no more commands, and drops the open ones with the data that they have not begun to move.
    fn stop(&mut self) {
        self.stopped = true;
        self.open.clear();
        self.jobs.iter_mut().for_each(|job| job.waiting = 0);
    }
}
