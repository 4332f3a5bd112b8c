//! Where packets come from: a description or a trace.

use crate::traffic::Destinations;
use crate::{Layout, Network, NocError, Traffic};
use hostnet_kernel::Rng;

/// The last cycle of a trace; what comes after it still has room in a clock of 64 bits.
const CYCLE_MAX: u64 = 1 << 62;
/// The most flits of a packet.
const FLITS_MAX: u16 = 1024;

/// A packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePacket {
    /// When it is offered, not before the one before it, and not after cycle 2^62.
    pub cycle: u64,
    /// The terminal that sends it.
    pub source: u16,
    /// The terminal that gets it.
    pub destination: u16,
    /// Its length, 1 to 1024.
    pub flits: u16,
    /// Its class, 0 for the first.
    pub class: u8,
}

/// Packets for the network alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// By a description; all of the first class.
    Generated(Traffic),
    /// One by one.
    Trace(Vec<TracePacket>),
}

/// The source of a run.
pub(crate) enum Feed {
    /// Dice for every terminal in every cycle.
    Dice { dice: Dice, flits: u16, destinations: Destinations, rng: Rng },
    /// The packets, and how many were offered.
    Trace { packets: Vec<TracePacket>, offered: usize },
}

/// As many dice as there are terminals. One draw says which is the first that hits, or that none does.
pub(crate) struct Dice {
    /// By terminals: in how many of 2^64 cases none of so many dice hits, of one and more.
    misses: Vec<u64>,
}

impl Dice {
    /// Dice that hit with a probability above 0 and at most 1.
    fn new(probability: f64, count: usize) -> Self {
        let miss = (1 << 64) - (probability * 2_f64.powi(64)).round() as u128;
        let all = std::iter::successors(Some(miss), |before| Some((before * miss) >> 64));
        Self { misses: all.take(count).map(|miss| u64::try_from(miss).unwrap_or(u64::MAX)).collect() }
    }

    /// The first die from `start` on that hits.
    #[inline]
    fn next(&self, start: usize, rng: &mut Rng) -> Option<usize> {
        let left = self.misses.len() - start;
        if left == 0 {
            return None;
        }
        let draw = rng.next_u64();
        if draw < self.misses[left - 1] {
            return None;
        }
        Some(start + self.misses[..left].partition_point(|miss| draw < *miss))
    }
}

impl Feed {
    pub(crate) fn new(source: Source, layout: &Layout, classes: usize) -> Result<Self, NocError> {
        let terminals = layout.terminals.len() as u16;
        match source {
            Source::Generated(traffic) => {
                let Traffic { pattern, rate, packet_flits: flits, seed } = &traffic;
                if !(*rate > 0.0 && *rate <= 1.0) {
                    let rule = format!("{rate} is out of range; a terminal sends above 0 and at most 1 flit per cycle");
                    return Err(NocError::new("rate", rule));
                }
                flits_in_range(*flits)?;
                let destinations = Destinations::new(pattern, layout)?;
                let dice = Dice::new(rate / f64::from(*flits), layout.terminals.len());
                Ok(Self::Dice { dice, flits: *flits, destinations, rng: Rng::new(*seed, 0x6e6f_6301) })
            }
            Source::Trace(packets) => {
                check(&packets, terminals, classes)?;
                Ok(Self::Trace { packets, offered: 0 })
            }
        }
    }

    /// Offers what is due in this cycle, `tag`ged. Returns packets and flits.
    pub(crate) fn offer(&mut self, network: &mut Network, tag: u64) -> (u64, u64) {
        let (mut packets, mut flits) = (0, 0);
        let mut tell = |network: &mut Network, one: TracePacket| {
            packets += 1;
            flits += u64::from(one.flits);
            network.offer(one.source, one.destination, one.class, one.flits, tag);
        };
        let cycle = network.cycle();
        match self {
            Self::Dice { dice, flits, destinations, rng } => {
                let mut start = 0;
                while let Some(hit) = dice.next(start, rng) {
                    let source = hit as u16;
                    let destination = destinations.draw(source, rng);
                    tell(network, TracePacket { cycle, source, destination, flits: *flits, class: 0 });
                    start = hit + 1;
                }
            }
            Self::Trace { packets, offered } => {
                while let Some(packet) = packets.get(*offered).filter(|packet| packet.cycle <= cycle) {
                    tell(network, *packet);
                    *offered += 1;
                }
            }
        }
        (packets, flits)
    }

    /// When the next packet comes, if that is known; none when there will be no more.
    pub(crate) fn next_cycle(&self, now: u64) -> Option<u64> {
        match self {
            Self::Dice { .. } => Some(now),
            Self::Trace { packets, offered } => packets.get(*offered).map(|packet| packet.cycle.max(now)),
        }
    }
}

fn flits_in_range(flits: u16) -> Result<(), NocError> {
    if (1..=FLITS_MAX).contains(&flits) {
        return Ok(());
    }
    Err(NocError::new("packet_flits", format!("{flits} is out of range; 1 to {FLITS_MAX} are allowed")))
}

fn check(packets: &[TracePacket], terminals: u16, classes: usize) -> Result<(), NocError> {
    let mut before = 0;
    for (number, packet) in packets.iter().enumerate() {
        let wrong = |message: String| Err(NocError::new("trace", format!("packet {}: {message}", number + 1)));
        let TracePacket { cycle, source, destination, flits, class } = *packet;
        if cycle < before {
            return wrong(format!("cycle {cycle} lies before the cycle {before} of the packet before it"));
        }
        if cycle > CYCLE_MAX {
            return wrong(format!("cycle {cycle} is out of range; 0 to {CYCLE_MAX} are allowed"));
        }
        before = cycle;
        for terminal in [source, destination] {
            if terminal >= terminals {
                return wrong(format!("{terminal} is no terminal; they are 0 to {}", terminals - 1));
            }
        }
        if !(1..=FLITS_MAX).contains(&flits) {
            return wrong(format!("{flits} flits are out of range; 1 to {FLITS_MAX} are allowed"));
        }
        if usize::from(class) >= classes {
            return wrong(format!("class {class} does not exist; they are 0 to {}", classes - 1));
        }
    }
    Ok(())
}
