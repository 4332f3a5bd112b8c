//! Device that generates DMA, as a programmable NIC does for a benchmark.
//!
//! Each workload keeps a number of commands in flight. The device sends their TLPs in the order of the commands, and
//! a command that reads memory ends when its data has arrived.

use crate::line::Pages;
use crate::link::PcieEndpoint;
use crate::nvme::DriveService;
use crate::params::{DmaLoadParams, DmaOperation, DmaParams, DmaPattern, PcieParams};
use crate::part::{self, Context, Part, PartKind, Payload, Pool, StartContext, TlpTag};
use hostnet_kernel::{ComponentId, Rng, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Time between the first commands of a workload, in ps, so that the start is no burst.
const START_PS: u64 = 10_000;

/// Load of a workload on the device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DmaLoad {
    /// Parameters of the load.
    pub params: DmaLoadParams,
    /// Workload.
    pub class: u8,
    /// Virtual address of the window.
    pub base: u64,
    /// Commands started so far.
    pub started: u64,
}

impl DmaLoad {
    /// Returns the virtual address of the next command.
    fn next(&mut self, rng: &mut Rng) -> u64 {
        let places = self.params.window_bytes / self.params.size_bytes;
        let place = match self.params.pattern {
            DmaPattern::Random => rng.below(places),
            DmaPattern::Sequential => self.started % places,
        };
        self.started += 1;
        self.base + place * self.params.size_bytes
    }
}

/// Command in the device.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DmaCommand {
    load: u16,
    operation: DmaOperation,
    address: u64,
    /// Bytes that no TLP has been sent for yet.
    left_bytes: u64,
    /// Bytes of a read whose data has not arrived yet.
    missing_bytes: u64,
    submitted: Time,
    /// True for the commands that a workload begins with.
    initial: bool,
}

/// Connection of the device.
#[derive(Clone, Debug)]
pub struct DmaWiring {
    /// IIO of its socket.
    pub iio: ComponentId,
    /// Number of its link at that IIO.
    pub link: u8,
    /// Parameters of the link.
    pub pcie: PcieParams,
}

/// Device with the loads of all workloads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dma {
    params: DmaParams,
    endpoint: PcieEndpoint,
    pages: Pages,
    rng: Rng,
    loads: Vec<DmaLoad>,
    /// Commands with TLPs to send.
    open: VecDeque<DmaCommand>,
    /// Commands that have sent all read requests and wait for data.
    draining: VecDeque<DmaCommand>,
    /// Time at which the next command may send its first TLP.
    next_issue: Time,
    /// Time at which all data that has arrived is in the memory of the device.
    stored: Time,
    send_pending: bool,
    services: Vec<DriveService>,
    stopped: bool,
}

impl Dma {
    /// Creates a device with the loads of `classes` workloads.
    #[must_use]
    pub fn new(
        wiring: DmaWiring,
        params: DmaParams,
        pages: Pages,
        rng: Rng,
        loads: Vec<DmaLoad>,
        classes: usize,
    ) -> Self {
        let commands = loads.iter().map(|load| load.params.outstanding as usize).sum();
        Self {
            endpoint: PcieEndpoint::new(wiring.iio, wiring.link, wiring.pcie, classes),
            open: VecDeque::with_capacity(commands),
            draining: VecDeque::with_capacity(commands),
            next_issue: Time::ZERO,
            stored: Time::ZERO,
            send_pending: false,
            services: vec![DriveService::default(); classes],
            stopped: false,
            params,
            pages,
            rng,
            loads,
        }
    }

    /// Returns the service that each workload got from the device.
    #[must_use]
    pub fn services(&self) -> &[DriveService] {
        &self.services
    }

    /// Iterates over the physical lines that the LLC holds when the run begins, each with its workload.
    pub fn warm_lines(&self) -> impl Iterator<Item = (u64, u8)> + '_ {
        let lines = |load: &DmaLoad| (load.base..load.base + load.params.window_bytes).step_by(64);
        let warm = self.loads.iter().filter(|load| load.params.warm);
        warm.flat_map(move |load| lines(load).map(|address| (self.pages.physical(address) / 64, load.class)))
    }

    /// Adds a command of a load.
    fn on_submit(&mut self, load: u16, context: &mut Context) {
        if self.stopped {
            return;
        }
        let own = &mut self.loads[usize::from(load)];
        let initial = own.started < u64::from(own.params.outstanding);
        let bytes = own.params.size_bytes;
        self.open.push_back(DmaCommand {
            load,
            operation: own.params.operation,
            address: own.next(&mut self.rng),
            left_bytes: bytes,
            missing_bytes: bytes,
            submitted: context.now(),
            initial,
        });
        self.kick(context);
    }

    /// Schedules a `Send` event, if there are open commands and none is pending.
    fn kick(&mut self, context: &mut Context) {
        let Some(first) = self.open.front().filter(|_| !self.send_pending) else { return };
        let at =
            if self.begins(first) { self.next_issue.max(self.endpoint.free_at()) } else { self.endpoint.free_at() };
        self.send_pending = true;
        context.send(context.id, at.max(context.now()).since(context.now()).max(1), Payload::Send);
    }

    /// Returns true if no TLP of a command has been sent yet.
    fn begins(&self, command: &DmaCommand) -> bool {
        command.left_bytes == self.loads[usize::from(command.load)].params.size_bytes
    }

    /// Sends the next TLP of the first command, if credits allow one.
    fn send(&mut self, context: &mut Context) {
        let Some(&command) = self.open.front() else { return };
        let DmaCommand { load, operation, address, left_bytes, .. } = command;
        let class = self.loads[usize::from(load)].class;
        let line = self.pages.physical(address) / 64;
        let (bytes, issue_ps) = match operation {
            DmaOperation::Read => {
                let bytes = self.endpoint.read_bytes(address, left_bytes as u32);
                // Without credits nothing is scheduled: their return starts the device again.
                if !self.endpoint.may_read(bytes / 64) {
                    return;
                }
                self.endpoint.read(line, bytes / 64, class, context);
                (bytes, self.params.read_issue_ps)
            }
            DmaOperation::Write => {
                let bytes = self.endpoint.write_bytes(address, left_bytes as u32);
                if !self.endpoint.may_write(bytes) {
                    return;
                }
                self.endpoint.write(line, bytes, class, TlpTag::NONE, context);
                self.services[usize::from(class)].bytes += u64::from(bytes);
                (bytes, self.params.write_issue_ps)
            }
        };
        if self.begins(&command) {
            self.next_issue = context.now() + issue_ps;
        }
        self.advance(u64::from(bytes), context);
        self.kick(context);
    }

    /// Advances the first command by `bytes`. A write is done when all is sent, a read when all data has arrived.
    fn advance(&mut self, bytes: u64, context: &mut Context) {
        let Some(command) = self.open.front_mut() else { return };
        command.address += bytes;
        command.left_bytes -= bytes;
        if command.left_bytes > 0 {
            return;
        }
        let Some(command) = self.open.pop_front() else { return };
        match command.operation {
            DmaOperation::Read => self.draining.push_back(command),
            DmaOperation::Write => self.finish(&command, context),
        }
    }

    /// Ends a command, whose load continues with the next one.
    fn finish(&mut self, command: &DmaCommand, context: &mut Context) {
        let DmaLoad { params, class, .. } = &self.loads[usize::from(command.load)];
        let now = context.now();
        let moved_ps = params.size_bytes * 1_000_000_000_000 / self.params.bytes_per_s;
        // The data of reads goes into the memory of the device one command after the other; that of writes has left.
        let start = if command.operation == DmaOperation::Read { self.stored.max(now) } else { now };
        let moved = start + moved_ps;
        if command.operation == DmaOperation::Read {
            self.stored = moved;
        }
        let in_device_ps = moved.since(now) + self.params.latency_ps;
        let latency_ps = now.since(command.submitted) + in_device_ps;
        self.services[usize::from(*class)].count(latency_ps, command.initial);
        context.send(context.id, in_device_ps.max(1), Payload::Submit { job: command.load });
    }

    /// Counts the data of a completion for the oldest reads, as data arrives in order but for what memory reorders.
    fn on_completion(&mut self, lines: u8, class: u8, context: &mut Context) {
        self.endpoint.completed(context.now(), lines);
        let mut bytes = u64::from(lines) * 64;
        self.services[usize::from(class)].bytes += bytes;
        let reads = self.draining.iter_mut().chain(&mut self.open);
        for command in reads.filter(|command| command.operation == DmaOperation::Read) {
            let part = bytes.min(command.missing_bytes - command.left_bytes);
            command.missing_bytes -= part;
            bytes -= part;
        }
        while self.draining.front().is_some_and(|command| command.missing_bytes == 0) {
            if let Some(done) = self.draining.pop_front() {
                self.finish(&done, context);
            }
        }
        self.kick(context);
    }
}

impl Part for Dma {
    fn kind(&self) -> PartKind {
        PartKind::Dma
    }

    /// Submits as many commands of every load as the load keeps in flight, one after the other.
    fn start(&mut self, start: &mut StartContext<'_>) {
        for (load, own) in (0..).zip(&self.loads) {
            for command in 0..u64::from(own.params.outstanding) {
                start.wake(1 + command * START_PS, Payload::Submit { job: load });
            }
        }
    }

    fn on_event(&mut self, payload: Payload, _: ComponentId, context: &mut Context) {
        match payload {
            Payload::Submit { job } => self.on_submit(job, context),
            Payload::Send => {
                self.send_pending = false;
                self.send(context);
            }
            Payload::PostedCredit { lines } => {
                self.endpoint.credited(context.now(), lines);
                self.kick(context);
            }
            Payload::Completion { lines, class } => self.on_completion(lines, class, context),
            other => unreachable!("a device that generates DMA was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.endpoint.pools(visit);
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.endpoint.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.endpoint.domains_mut(), now);
        self.services.iter_mut().for_each(DriveService::reset);
    }

    /// Accepts no more commands, and drops the open ones with the data that they have not begun to move.
    fn stop(&mut self) {
        self.stopped = true;
        self.open.clear();
    }
}
