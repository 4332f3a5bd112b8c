//! Messages that have crossed UPI between the sockets of a server.

use hostnet_model::link::Upi;
use hostnet_model::{Machine, UpiPool};
use serde::{Deserialize, Serialize};

/// Messages that one socket has sent to another over UPI since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpiTraffic {
    /// Socket that sends the messages.
    pub from: u8,
    /// Socket that the messages go to.
    pub to: u8,
    /// Messages with a line: data of reads, and write-backs.
    pub lines: u64,
    /// Messages without a line: requests, snoops and answers.
    pub others: u64,
}

impl UpiTraffic {
    fn of(upi: &Upi, from: u8, to: u8) -> Self {
        // Credits of data and answers belong to the end that made the request, those of the other pools to the
        // sender.
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

/// Returns each pair of sockets, in the order of the UPI links between them.
pub(crate) fn socket_pairs(sockets: usize) -> impl Iterator<Item = [u8; 2]> {
    let count = sockets as u8;
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| [one, other]))
}

/// Returns the traffic in both directions of every UPI link of a server, by sender and receiver.
pub(crate) fn crossed(machine: &Machine, sockets: usize) -> Vec<UpiTraffic> {
    let ways = socket_pairs(sockets).zip(machine.each::<Upi>());
    let mut all: Vec<UpiTraffic> = ways
        .flat_map(|([one, other], upi)| [UpiTraffic::of(upi, one, other), UpiTraffic::of(upi, other, one)])
        .collect();
    // UPI links come by pair, but tables are read by sender.
    all.sort_by_key(|way| (way.from, way.to));
    all
}
