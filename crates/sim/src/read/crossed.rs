//! What has crossed UPI between the sockets of a server.

use hostnet_model::link::Upi;
use hostnet_model::{Machine, UpiPool};
use serde::{Deserialize, Serialize};

/// Messages that one socket has put on the wire to another since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossed {
    /// The socket that they leave.
    pub from: u8,
    /// The socket that they go to.
    pub to: u8,
    /// Those with a line: data that were asked for, and lines that are written.
    pub lines: u64,
    /// Those without: requests, snoops and answers.
    pub others: u64,
}

impl Crossed {
    fn of(upi: &Upi, from: u8, to: u8) -> Self {
        // What an end asks for leaves it, and so do its answers to the other end.
        let near = usize::from(from > to);
        let sent = |end: usize, pool: UpiPool| {
            upi.credits(end, pool).classes().iter().map(hostnet_measure::Usage::acquired).sum::<u64>()
        };
        Self {
            from,
            to,
            lines: sent(near, UpiPool::WriteBack) + sent(1 - near, UpiPool::Data),
            others: sent(near, UpiPool::Request) + sent(near, UpiPool::Snoop) + sent(1 - near, UpiPool::Answer),
        }
    }
}

/// Each two of some sockets, in the order of the ways between them.
pub(crate) fn pairs(sockets: usize) -> impl Iterator<Item = [u8; 2]> {
    let count = sockets as u8;
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| [one, other]))
}

/// Both directions of every way between the sockets of a server.
pub(crate) fn crossed(machine: &Machine, sockets: usize) -> Vec<Crossed> {
    let ways = pairs(sockets).zip(machine.each::<Upi>());
    let mut all: Vec<Crossed> =
        ways.flat_map(|([one, other], upi)| [Crossed::of(upi, one, other), Crossed::of(upi, other, one)]).collect();
    all.sort_by_key(|way| (way.from, way.to));
    all
}
