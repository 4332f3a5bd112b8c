//! A line's way through a domain.

use crate::read::sample::Group;
use crate::watch::events::Part;
use hostnet_model::memory::Place;

/// A stretch of the way through a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// From the core or the IIO to the CHA.
    ToCha,
    /// Waiting for an entry of the TOR.
    WaitForTor,
    /// Holding an entry of the TOR.
    Tor,
    /// From the CHA back to the core or the IIO: data, or the word that a write is accepted.
    Back,
    /// From the CHA to the memory controller.
    ToMc,
    /// A read waits for its RD command: in the RPQ, or for an entry of it.
    Rpq,
    /// From the RD command to the last beat of its data.
    Dram,
    /// A read finds its line among the queued writes.
    Forwarded,
    /// A write waits for an entry of the WPQ.
    WaitForWpq,
    /// From the memory controller back to the CHA.
    FromMc,
}

impl Hop {
    /// Every hop.
    pub const ALL: [Self; 10] = [
        Self::ToCha,
        Self::WaitForTor,
        Self::Tor,
        Self::Back,
        Self::ToMc,
        Self::Rpq,
        Self::Dram,
        Self::Forwarded,
        Self::WaitForWpq,
        Self::FromMc,
    ];

    /// Its name in traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToCha => "to CHA",
            Self::WaitForTor => "wait for TOR",
            Self::Tor => "CHA TOR",
            Self::Back => "from CHA",
            Self::ToMc => "to MC",
            Self::Rpq => "RPQ",
            Self::Dram => "DRAM",
            Self::Forwarded => "forwarded from WPQ",
            Self::WaitForWpq => "wait for WPQ",
            Self::FromMc => "from MC",
        }
    }
}

/// A credit of a domain, held by one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The number of the line: the same in all domains that it crosses on one way.
    pub line: u64,
    /// The domain.
    pub group: Group,
    /// The part whose credit it is.
    pub part: Part,
    /// The workload.
    pub class: u8,
    /// Where the line lies.
    pub place: Place,
    /// When the credit was taken, in ps.
    pub start_ps: u64,
    /// When it came back.
    pub end_ps: u64,
    /// The hops, each with its end; the first begins with the crossing, the others where the one before ends. None of a
    /// crossing that began before the trace.
    pub hops: [Option<(Hop, u64)>; 4],
}

impl Crossing {
    /// The hops with their begin and end in ps, without those that took no time.
    pub fn hops(&self) -> impl Iterator<Item = (Hop, u64, u64)> + '_ {
        let mut start_ps = self.start_ps;
        self.hops.iter().flatten().filter_map(move |&(hop, end_ps)| {
            let begin_ps = std::mem::replace(&mut start_ps, end_ps);
            (end_ps > begin_ps).then_some((hop, begin_ps, end_ps))
        })
    }
}
