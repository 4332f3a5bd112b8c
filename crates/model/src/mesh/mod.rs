//! Mesh of a die: the distance from a core, the IIO or a memory controller to a slice, and contention on the way.
//!
//! The delays of the configuration hold for parts at the mean distance of their kinds. A message between two other
//! parts takes as much less or more as they are nearer or farther. Where the nearest parts would get a negative delay,
//! the delays of the others shrink by the shortfall, so that the mean stays. A message takes cycles of the ports on
//! its route: where it enters the mesh, on each link, and where it leaves the mesh. Requests (AD), lines (BL) and
//! acknowledgements (AK) have separate rings, so that no kind blocks another. A message goes along the column first.

mod calendar;
mod ccd_link;
mod counters;
mod route;

pub use ccd_link::{CcdDirection, CcdLinks};
pub use counters::{LegCounters, MeshCounters, MeshLeg};
pub use route::{MeshPort, MeshRing, StopSide};

use crate::line::{Request, RequestKind, Slicing};
use crate::params::{DieParams, SliceHash, Stop};
use calendar::PortCalendar;
use hostnet_kernel::{ComponentId, Time};
use route::{MeshRoute, MeshRoutes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Delay of a message that the CHA hands on without crossing the mesh, in ps.
const HANDED_ON_PS: u64 = 1;
/// Cycles of the past that calendars keep. A channel may report an answer until shortly before it arrives, when its
/// first cycles on the mesh are already over.
const LATE_CYCLES: u64 = 512;

/// Ids of the parts of a socket that use the mesh.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeshWiring {
    /// Number of the socket.
    pub socket: u8,
    /// Hash that assigns lines to the slices of the socket.
    pub hash: SliceHash,
    /// Cores of the socket.
    pub cores: Range<u32>,
    /// CHAs of the socket: one part for all slices.
    pub cha: Range<u32>,
    /// Memory channels of the socket.
    pub channels: Range<u32>,
    /// IIO of the socket.
    pub iio: Range<u32>,
    /// Maximum time until a core learns that its write-back is admitted, in ps. Later, memory may have accepted the
    /// write, and the CHA forgets the request.
    pub admitted_ps: u64,
}

/// Part that uses the mesh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MeshUser {
    Core(u32),
    Cha,
    Channel(u32),
    Iio,
}

/// Mesh of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mesh {
    die: DieParams,
    wiring: MeshWiring,
    /// By kind of part (core, channel, IIO): mean time to a slice, and how much less the shortest route takes, in ps.
    means_ps: [[u64; 2]; 3],
    /// By kind of part and delay: the time to subtract in place of the mean, where the shortest routes would get a
    /// negative delay, in ps.
    kept_ps: BTreeMap<(usize, u64), u64>,
    #[serde(skip)]
    routes: MeshRoutes,
    /// Calendars, by [`MeshPort`].
    calendars: Vec<PortCalendar>,
    counters: MeshCounters,
    ccd_links: Option<CcdLinks>,
}

impl Mesh {
    /// Creates the mesh of a die, for `classes` workloads.
    #[must_use]
    pub fn new(die: &DieParams, wiring: MeshWiring, classes: usize) -> Self {
        let mean = |stops: &[Stop]| [die.mean_ps(stops, &die.slices), die.nearer_ps(stops, &die.slices)];
        Self {
            wiring,
            means_ps: [mean(&die.cores), mean(&die.channels), mean(&die.io)],
            kept_ps: BTreeMap::new(),
            routes: MeshRoutes::new(die),
            calendars: vec![PortCalendar::new(); MeshPort::count(die)],
            counters: MeshCounters::new(MeshPort::count(die), classes),
            ccd_links: die.chiplets.as_ref().map(|own| CcdLinks::new(own, die.cores.len(), classes)),
            die: die.clone(),
        }
    }

    /// Returns the die.
    #[must_use]
    pub fn die(&self) -> &DieParams {
        &self.die
    }

    /// Returns the counters since the last reset.
    #[must_use]
    pub fn counters(&self) -> &MeshCounters {
        &self.counters
    }

    /// Returns the links of the CCDs, if the socket has chiplets.
    #[must_use]
    pub fn ccd_links(&self) -> Option<&CcdLinks> {
        self.ccd_links.as_ref()
    }

    /// Starts a new measurement window.
    pub(crate) fn reset(&mut self) {
        self.counters.reset();
        self.ccd_links.iter_mut().for_each(CcdLinks::reset);
    }

    fn user(&self, id: ComponentId) -> Option<MeshUser> {
        let MeshWiring { cores, cha, channels, iio, .. } = &self.wiring;
        let ComponentId(id) = id;
        if cha.contains(&id) {
            Some(MeshUser::Cha)
        } else if cores.contains(&id) {
            Some(MeshUser::Core(id - cores.start))
        } else if channels.contains(&id) {
            Some(MeshUser::Channel(id - channels.start))
        } else {
            iio.contains(&id).then_some(MeshUser::Iio)
        }
    }

    fn stop(&self, user: MeshUser, request: &Request) -> Stop {
        match user {
            MeshUser::Core(core) => self.die.cores[core as usize],
            MeshUser::Channel(channel) => self.die.channels[channel as usize],
            MeshUser::Iio => self.die.links[usize::from(request.engine)],
            MeshUser::Cha => self.die.slices[usize::from(self.slice(request))],
        }
    }

    /// Returns the slice of this socket that a request is at. For a line of another socket that is not its home slice.
    fn slice(&self, request: &Request) -> u8 {
        if request.socket == self.wiring.socket {
            request.slice
        } else {
            // A line of another socket passes a slice of this one, not its home slice.
            let slices = self.die.slices.len() as u32 / u32::from(self.die.clusters);
            Slicing { slices, hash: self.wiring.hash }.of(request.line)
        }
    }

    /// Sends a message over the mesh and returns its delay, in ps. `delay_ps` is the delay between parts of their
    /// kinds at a mean distance on an idle mesh.
    pub(crate) fn delay_ps(
        &mut self,
        [from, to]: [ComponentId; 2],
        message: MeshMessage,
        request: &Request,
        now: Time,
        delay_ps: u64,
    ) -> u64 {
        let (Some(sender), Some(receiver)) = (self.user(from), self.user(to)) else { return delay_ps };
        // A message that stays at its slice takes no port.
        let is_way = sender != MeshUser::Cha || delay_ps > HANDED_ON_PS;
        let Some(leg) = leg(sender, receiver).filter(|_| is_way) else { return delay_ps };
        // The slice of a channel of chiplets is beside its memory controller.
        if self.ccd_links.is_some() && matches!(leg, MeshLeg::ChaToChannel | MeshLeg::ChannelToCha) {
            return delay_ps;
        }
        let [from, to] = [self.stop(sender, request), self.stop(receiver, request)];
        let cycles = u64::from(self.die.route_cycles(from, to));
        let route_ps = cycles * self.die.cycle_ps;
        // Near parts take 1 ps at least (docs/models/mesh.md, Mean delays are kept).
        let alone_ps = (delay_ps + route_ps).saturating_sub(self.kept_ps(leg, delay_ps)).max(1);
        // The route is the last part of the delay.
        let start = (now + alone_ps).ps().saturating_sub(route_ps) / self.die.cycle_ps;
        // Reports of channels may concern cycles that are over.
        let past = (now.ps() / self.die.cycle_ps).saturating_sub(LATE_CYCLES);
        let route = MeshRoute { from, to, ring: MeshRing::of(message, request.kind) };
        let mut waited = self.carry(route, start, past, request.class);
        if let (Some(links), MeshRing::Line) = (&mut self.ccd_links, route.ring) {
            // Of a leg between a core and a slice, one end is the core.
            let core = core_of(sender).max(core_of(receiver));
            // A write crosses the link of its CCD first, a line that is read at last.
            let reached = if leg == MeshLeg::CoreToCha { start } else { start + cycles + waited };
            waited += links.carry(core, leg, reached, past, request.class);
        }
        self.counters.note(leg, request.class, cycles, waited);
        let delay_ps = alone_ps + waited * self.die.cycle_ps;
        // A later message could find that the CHA has already ended the request.
        if message == MeshMessage::Admission {
            delay_ps.min(self.wiring.admitted_ps)
        } else {
            delay_ps
        }
    }

    /// Returns the time on the mesh that the delay of a leg already includes, in ps.
    fn kept_ps(&mut self, leg: MeshLeg, delay_ps: u64) -> u64 {
        let partner = leg.partner();
        let [mean_ps, nearer_ps] = self.means_ps[partner];
        // A channel reports an answer when only a part of its delay is left. The configuration ensures that the whole
        // delay is long enough.
        if delay_ps > nearer_ps || leg == MeshLeg::ChannelToCha {
            return mean_ps;
        }
        let Self { die, kept_ps, .. } = self;
        let stops = [&die.cores, &die.channels, &die.io][partner];
        // Computed once per kind of parts and delay, because it takes the mean over all pairs.
        *kept_ps.entry((partner, delay_ps)).or_insert_with(|| die.kept_ps(stops, &die.slices, delay_ps))
    }

    /// Takes cycles of all ports on a route that begins at cycle `start`. Returns the cycles lost to other messages.
    /// Cycles before `past` are over.
    fn carry(&mut self, route: MeshRoute, start: u64, past: u64, class: u8) -> u64 {
        // A line takes 64 B / `link` cycles of each port, other messages one (docs/models/mesh.md).
        let is_line = route.ring == MeshRing::Line;
        let count = if is_line { self.die.line_cycles } else { 1 };
        // The quadrants of an IO die are joined by links of their own width.
        let hop = self.die.chiplets.as_ref().filter(|_| is_line).map_or(count, |own| own.hop_cycles);
        let mut waited = 0;
        let Self { die, routes, calendars, counters, .. } = self;
        // Routes are not part of a checkpoint and are computed anew.
        if routes.is_empty() {
            *routes = MeshRoutes::new(die);
        }
        for (port, after) in routes.ports(die, route) {
            let count = if port.is_link() { hop } else { count };
            // A delay at one port shifts all later ones.
            let late = calendars[port.index()].take(start + after + waited, count, past);
            counters.take(port, class, count, late);
            waited += late;
        }
        waited
    }
}

/// Returns the number of a core, or 0 for another part.
fn core_of(user: MeshUser) -> u32 {
    match user {
        MeshUser::Core(core) => core,
        _ => 0,
    }
}

/// Returns the leg between two parts, if it is on the mesh.
fn leg(from: MeshUser, to: MeshUser) -> Option<MeshLeg> {
    match (from, to) {
        (MeshUser::Core(_), MeshUser::Cha) => Some(MeshLeg::CoreToCha),
        (MeshUser::Cha, MeshUser::Core(_)) => Some(MeshLeg::ChaToCore),
        (MeshUser::Channel(_), MeshUser::Cha) => Some(MeshLeg::ChannelToCha),
        (MeshUser::Cha, MeshUser::Channel(_)) => Some(MeshLeg::ChaToChannel),
        (MeshUser::Iio, MeshUser::Cha) => Some(MeshLeg::IioToCha),
        (MeshUser::Cha, MeshUser::Iio) => Some(MeshLeg::ChaToIio),
        _ => None,
    }
}

/// Kind of a message about a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MeshMessage {
    /// Request for a line, or a write with its line.
    Request,
    /// Data of the line.
    Data,
    /// Admission of a core's write-back.
    Admission,
    /// Completion without data.
    Acknowledgement,
}

impl MeshRing {
    /// Returns the ring that carries a message.
    fn of(message: MeshMessage, kind: RequestKind) -> Self {
        let is_line = match kind {
            RequestKind::CoreWrite
            | RequestKind::CorePost
            | RequestKind::CoreClean
            | RequestKind::Evict
            | RequestKind::Directory
            | RequestKind::IoWrite
            | RequestKind::IoPut => true,
            RequestKind::Flush | RequestKind::FlushDoorbell | RequestKind::FlushTail => true,
            RequestKind::CoreRead
            | RequestKind::CoreFetch
            | RequestKind::CoreDrop
            | RequestKind::IoRead
            | RequestKind::IoOwn
            | RequestKind::Snoop
            | RequestKind::Speculate => false,
        };
        match message {
            MeshMessage::Data => Self::Line,
            MeshMessage::Request if is_line => Self::Line,
            MeshMessage::Request => Self::Request,
            MeshMessage::Admission | MeshMessage::Acknowledgement => Self::Acknowledgement,
        }
    }
}
