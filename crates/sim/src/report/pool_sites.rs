//! Locates the pools of a server: in a socket, or on a link between two.

use crate::read::crossed::socket_pairs;
use crate::read::sample::{DomainTotals, PoolGroup};
use crate::report::view::ServerView;
use hostnet_measure::Domain;
use hostnet_model::params::SocketParams;
use hostnet_model::{PartKind, PartName};

/// Pools of one group at one place of the machine: in a socket, or in one direction between two.
pub(crate) struct PoolSite<'a> {
    /// `socket 0`, or `upi 0-1` for what the first socket requests from the second.
    pub(crate) name: String,
    /// Socket that has the pools; `None` between sockets.
    pub(crate) socket: Option<usize>,
    pub(crate) pools: Vec<&'a Domain>,
}

/// Domain groups of the UPI links.
pub(crate) const UPI_GROUPS: [PoolGroup; 5] =
    [PoolGroup::UpiRequest, PoolGroup::UpiWriteBack, PoolGroup::UpiData, PoolGroup::UpiAnswer, PoolGroup::UpiSnoop];

impl PoolSite<'_> {
    /// Returns true if any workload used the pools.
    pub(crate) fn is_used(&self) -> bool {
        self.pools.iter().flat_map(|pool| pool.classes()).any(|usage| usage.acquired() > 0 || usage.in_use() > 0)
    }

    /// Drops the pools that workload `class` did not use.
    pub(crate) fn used_by(mut self, class: usize) -> Self {
        self.pools.retain(|pool| pool.classes()[class].area_ps() > 0);
        self
    }

    /// Sums a statistic of the pools.
    pub(crate) fn sum(&self, pick: impl Fn(&Domain) -> u64) -> f64 {
        self.pools.iter().map(|pool| pick(pool)).sum::<u64>() as f64
    }

    /// Averages a statistic over the pools.
    pub(crate) fn mean(&self, pick: impl Fn(&Domain) -> u64) -> f64 {
        self.sum(pick) / self.pools.len() as f64
    }

    /// Sums the usage of the pools by a workload.
    pub(crate) fn totals(&self, group: PoolGroup, class: usize) -> DomainTotals {
        let mut totals = DomainTotals::default();
        self.pools.iter().flat_map(|pool| group.usages(pool, Some(class))).for_each(|usage| totals.add(usage));
        totals
    }
}

/// Groups the pools of a group by place: one entry per socket, and one per direction between two sockets.
pub(crate) fn find_pool_sites<'a>(view: &'a ServerView, group: PoolGroup) -> Vec<PoolSite<'a>> {
    let mut pool_sites: Vec<PoolSite> = Vec::new();
    let mut upi_directions = name_upi_directions(view).into_iter();
    view.machine.pools(|part, pool| {
        if pool.group != group {
            return;
        }
        let socket = socket_of(view, part);
        let name = match socket {
            Some(socket) => format!("socket {socket}"),
            None if part.kind == PartKind::Upi => upi_directions.next().unwrap_or_else(|| part.to_string()),
            None => "other sockets".to_owned(),
        };
        match pool_sites.iter_mut().find(|place| place.name == name) {
            Some(place) => place.pools.push(pool.domain),
            None => pool_sites.push(PoolSite { name, socket, pools: vec![pool.domain] }),
        }
    });
    pool_sites
}

/// Names the directions of every UPI link, in the order of its pools: `upi 0-1`, then `upi 1-0`.
pub(crate) fn name_upi_directions(view: &ServerView) -> Vec<String> {
    if view.server.upi.is_none() {
        return Vec::new();
    }
    let ends = socket_pairs(view.server.sockets.len()).flat_map(|[one, other]| [[one, other], [other, one]]);
    ends.map(|[asks, asked]| format!("{} {asks}-{asked}", PartKind::Upi.name())).collect()
}

/// Returns the socket of a part, or `None` for UPI links and for cores of sockets that the configuration does not
/// describe.
fn socket_of(view: &ServerView, part: PartName) -> Option<usize> {
    let count: fn(&SocketParams) -> u32 = match part.kind {
        PartKind::Core => |socket| socket.core.count,
        PartKind::Channel => |socket| socket.memory.map.channels * socket.memory.dram.subchannels,
        PartKind::Ssd => |socket| socket.ssd.count,
        PartKind::Upi | PartKind::Remote => return None,
        _ => |_| 1,
    };
    let mut first = 0;
    for (number, socket) in view.server.sockets.iter().enumerate() {
        first += count(socket);
        if part.number < first {
            return Some(number);
        }
    }
    Some(0)
}
