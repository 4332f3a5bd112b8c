//! Sources of packets: synthetic traffic or a trace.

use crate::traffic::Destinations;
use crate::{Layout, Network, NocError, Traffic};
use hostnet_kernel::Rng;

/// Last cycle of a trace, which leaves room for later cycles in a 64-bit clock.
const CYCLE_MAX: u64 = 1 << 62;
/// Largest number of flits of a packet.
const FLITS_MAX: u16 = 1024;

/// Packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePacket {
    /// Cycle in which the packet is offered, not before that of the previous packet, and at most 2^62.
    pub cycle: u64,
    /// Terminal that sends the packet.
    pub source: u16,
    /// Terminal that receives the packet.
    pub destination: u16,
    /// Length of the packet in flits, 1 to 1024.
    pub flits: u16,
    /// Class of the packet, counted from 0.
    pub class: u8,
}

/// Source of packets for a network alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Synthetic traffic, all of the first class.
    Generated(Traffic),
    /// Recorded packets.
    Trace(Vec<TracePacket>),
}

/// State of the source of a run.
pub(crate) enum PacketFeed {
    /// Bernoulli process per terminal.
    BernoulliTrials { trials: BernoulliTrials, flits: u16, destinations: Destinations, rng: Rng },
    /// Packets of a trace, and the number offered so far.
    Trace { packets: Vec<TracePacket>, offered: usize },
}

/// Bernoulli trials of all terminals in a cycle. One draw gives the first terminal with a success, or none.
pub(crate) struct BernoulliTrials {
    /// Entry n: probability that n + 1 trials in succession fail, in units of 2^-64.
    misses: Vec<u64>,
}

impl BernoulliTrials {
    /// Creates trials that succeed with a probability above 0 and at most 1.
    fn new(probability: f64, count: usize) -> Self {
        // In units of 2^-64 as integers: floats would make draws depend on rounding.
        let miss = (1 << 64) - (probability * 2_f64.powi(64)).round() as u128;
        let all = std::iter::successors(Some(miss), |before| Some((before * miss) >> 64));
        Self { misses: all.take(count).map(|miss| u64::try_from(miss).unwrap_or(u64::MAX)).collect() }
    }

    /// Returns the first terminal from `start` on with a success.
    #[inline]
    fn next(&self, start: usize, rng: &mut Rng) -> Option<usize> {
        let left = self.misses.len() - start;
        if left == 0 {
            return None;
        }
        let draw = rng.next_u64();
        // All terminals that are left miss: the usual case at low rates, decided by one comparison.
        if draw < self.misses[left - 1] {
            return None;
        }
        // `misses` falls with n, so a search by halves finds the first success.
        Some(start + self.misses[..left].partition_point(|miss| draw < *miss))
    }
}

impl PacketFeed {
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
                // The rate counts flits, trials create packets.
                let trials = BernoulliTrials::new(rate / f64::from(*flits), layout.terminals.len());
                Ok(Self::BernoulliTrials { trials, flits: *flits, destinations, rng: Rng::new(*seed, 0x6e6f_6301) })
            }
            Source::Trace(packets) => {
                check(&packets, terminals, classes)?;
                Ok(Self::Trace { packets, offered: 0 })
            }
        }
    }

    /// Offers the packets that are due in this cycle, with a `tag`. Returns the number of packets and of flits.
    pub(crate) fn offer(&mut self, network: &mut Network, tag: u64) -> (u64, u64) {
        let (mut packets, mut flits) = (0, 0);
        let mut tell = |network: &mut Network, one: TracePacket| {
            packets += 1;
            flits += u64::from(one.flits);
            network.offer(one.source, one.destination, one.class, one.flits, tag);
        };
        let cycle = network.cycle();
        match self {
            Self::BernoulliTrials { trials, flits, destinations, rng } => {
                let mut start = 0;
                while let Some(hit) = trials.next(start, rng) {
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

    /// Returns the cycle of the next packet, or the current one if that is random; `None` when there are no more
    /// packets.
    pub(crate) fn next_cycle(&self, now: u64) -> Option<u64> {
        match self {
            Self::BernoulliTrials { .. } => Some(now),
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
        // Checked after the order, so that the first wrong cycle is named.
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
