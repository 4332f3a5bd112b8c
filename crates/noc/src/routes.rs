//! Routing tables, so that routers are independent of the topology.

use crate::{Class, Layout, NocError, Order};
use serde::{Deserialize, Serialize};

/// Largest number of virtual channels of a router, which are bits of a word.
pub(crate) const VCS_MAX: usize = 64;

/// Next hop of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// Output port.
    pub port: u8,
    /// Virtual channels behind the port that the packet may use, as a bit mask.
    pub vcs: u64,
}

/// Packets of a class that are routed in one order of dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) class: u8,
    /// True if the column is traversed first.
    pub(crate) column_first: bool,
    /// Virtual channels between routers, as a bit mask.
    pub(crate) vcs: u64,
}

/// Routing table: the next hop for every group of packets, router and destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routes {
    pub(crate) groups: Vec<Group>,
    /// First group and number of groups of every class.
    pub(crate) of_class: Vec<(u8, u8)>,
    /// Virtual channels of every class, as bit masks.
    pub(crate) class_vcs: Vec<u64>,
    /// Number of virtual channels of a port.
    pub(crate) vcs: usize,
    /// Next hop by group, router and destination, as an index into `distinct_hops`. Few hops differ, so the table stays
    /// small.
    hops: Vec<u16>,
    distinct_hops: Vec<Hop>,
    /// By group, router and terminal as in `hops`: true if a packet of the group may start there. Empty if all may.
    starts: Vec<bool>,
    routers: usize,
    terminals: usize,
}

/// Routing function that the tables are built from. The arguments are the router, the destination terminal (at another
/// router), and true if the column is traversed first. It returns the port, and the part of the packet's virtual
/// channels that the packet may use.
pub type RoutingFunction<'a> = &'a dyn Fn(u16, u16, bool) -> (u8, VcClass);

/// Part of its virtual channels that a packet may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VcClass {
    /// All virtual channels.
    All,
    /// The lower half, such as before a dateline.
    Lower,
    /// The upper half, such as after a dateline.
    Upper,
}

impl Routes {
    /// Builds the tables of the classes from the routing function `next`.
    ///
    /// # Errors
    /// Returns a [`NocError`] if there are too few virtual channels, or more than a router can have.
    pub fn new(layout: &Layout, classes: &[Class], next: RoutingFunction<'_>) -> Result<Self, NocError> {
        let (groups, of_class, class_vcs, vcs) = groups(classes)?;
        let ports = layout.ports_max();
        if vcs * ports > VCS_MAX {
            let rule = format!("{vcs} virtual channels at {ports} ports; ports times channels are {VCS_MAX} at most");
            return Err(NocError::new("vcs", rule));
        }
        let (routers, terminals) = (layout.routers.len(), layout.terminals.len());
        let mut hops = Vec::with_capacity(groups.len() * routers * terminals);
        let mut distinct_hops = Vec::new();
        for group in &groups {
            for router in 0..routers as u16 {
                for (number, terminal) in layout.terminals.iter().enumerate() {
                    let hop = if terminal.at.router == router {
                        // Terminals accept all flits, so that no wait on their channels can be part of a cycle.
                        Hop { port: terminal.at.port, vcs: class_vcs[usize::from(group.class)] }
                    } else {
                        let (port, part) = next(router, number as u16, group.column_first);
                        Hop { port, vcs: vcs_of_part(group.vcs, part)? }
                    };
                    hops.push(kind(&mut distinct_hops, hop));
                }
            }
        }
        // Checked once here, so that walks along routes elsewhere need no bound.
        let starts = Vec::new();
        let routes = Self { groups, of_class, class_vcs, vcs, hops, distinct_hops, starts, routers, terminals };
        routes.check_arrival(layout)?;
        Ok(routes)
    }

    /// Restricts the groups of packets by where they start: `starts` has the arguments of a [`RoutingFunction`]. At
    /// least one group of each class must be allowed for every pair.
    #[must_use]
    pub fn starting(mut self, layout: &Layout, starts: &dyn Fn(u16, u16, bool) -> bool) -> Self {
        let mut allowed = Vec::with_capacity(self.hops.len());
        for group in &self.groups {
            for router in 0..self.routers as u16 {
                let to = layout.terminals.iter().zip(0..);
                allowed.extend(to.map(|(terminal, number)| {
                    terminal.at.router == router || starts(router, number, group.column_first)
                }));
            }
        }
        self.starts = allowed;
        self
    }

    /// Rejects routes on which a packet would never arrive.
    fn check_arrival(&self, layout: &Layout) -> Result<(), NocError> {
        let ports = layout.ports_max();
        let downstream = layout.downstream();
        for group in 0..self.groups() {
            for terminal in 0..self.terminals as u16 {
                let mut known = vec![false; self.routers];
                for start in 0..self.routers {
                    let (mut at, mut way) = (start, Vec::new());
                    // Routers on a route that arrives are known to arrive: each is visited once per terminal.
                    while !known[at] {
                        // More steps than routers: one was visited twice, and the next hop depends on the router alone.
                        if way.len() > self.routers {
                            let from = layout.name(start as u16);
                            return Err(NocError::new("routes", format!("{from} never reaches terminal {terminal}")));
                        }
                        way.push(at);
                        match downstream[at * ports + usize::from(self.hop(group, at, terminal).port)] {
                            Some(next) => at = usize::from(next),
                            None => break,
                        }
                    }
                    way.into_iter().for_each(|router| known[router] = true);
                }
            }
        }
        Ok(())
    }

    /// Returns the next hop of a packet of `group` at `router` to `terminal`.
    #[inline]
    #[must_use]
    pub fn hop(&self, group: u8, router: usize, terminal: u16) -> Hop {
        self.distinct_hops[usize::from(self.hops[self.index(group, router, terminal)])]
    }

    #[inline]
    fn index(&self, group: u8, router: usize, terminal: u16) -> usize {
        (usize::from(group) * self.routers + router) * self.terminals + usize::from(terminal)
    }

    /// Returns the groups that a packet of a class from `router` to `terminal` is drawn from, all equally likely.
    pub(crate) fn groups_of(&self, class: u8, router: usize, terminal: u16) -> impl Iterator<Item = u8> + Clone + '_ {
        let (first, count) = self.of_class[usize::from(class)];
        (first..first + count).filter(move |&group| self.may_start(group, router, terminal))
    }

    /// Returns true if a packet of `group` may start at `router` to `terminal`.
    pub(crate) fn may_start(&self, group: u8, router: usize, terminal: u16) -> bool {
        self.starts.is_empty() || self.starts[self.index(group, router, terminal)]
    }

    /// Returns the number of groups: two for each class that draws its order at random or runs on a ring, and one for
    /// each other class.
    #[must_use]
    pub fn groups(&self) -> u8 {
        self.groups.len() as u8
    }
}

/// Returns the index of a hop in the list of distinct hops. A port has at most three per group, so an index fits.
fn kind(distinct_hops: &mut Vec<Hop>, hop: Hop) -> u16 {
    let known = distinct_hops.iter().position(|kind| *kind == hop);
    known.unwrap_or_else(|| {
        distinct_hops.push(hop);
        distinct_hops.len() - 1
    }) as u16
}

type Groups = (Vec<Group>, Vec<(u8, u8)>, Vec<u64>, usize);

fn groups(classes: &[Class]) -> Result<Groups, NocError> {
    if classes.is_empty() {
        return Err(NocError::new("classes", "none; a network carries at least one"));
    }
    let (mut groups, mut of_class, mut class_vcs, mut vcs) = (Vec::new(), Vec::new(), Vec::new(), 0_usize);
    for (class, Class { name, order, vcs: own }) in classes.iter().enumerate() {
        let own = usize::from(*own);
        // The two orders of O1TURN may not share a channel, or turns of both would close cycles (Seo and others, 2005).
        let least = if *order == Order::O1Turn { 2 } else { 1 };
        if own < least {
            let rule = format!("{own} of class {name}; its routing needs at least {least}");
            return Err(NocError::new("vcs", rule));
        }
        if vcs + own > VCS_MAX {
            return Err(NocError::new("vcs", format!("{}; {VCS_MAX} are allowed at most", vcs + own)));
        }
        let all = bits(own) << vcs;
        let class = class as u8;
        of_class.push((groups.len() as u8, least as u8));
        if *order == Order::O1Turn {
            // Of an odd number the second order gets one more.
            let half = bits(own / 2) << vcs;
            groups.push(Group { class, column_first: false, vcs: half });
            groups.push(Group { class, column_first: true, vcs: all & !half });
        } else {
            groups.push(Group { class, column_first: *order == Order::Yx, vcs: all });
        }
        class_vcs.push(all);
        vcs += own;
    }
    Ok((groups, of_class, class_vcs, vcs))
}

fn vcs_of_part(vcs: u64, part: VcClass) -> Result<u64, NocError> {
    let half = vcs.count_ones() / 2;
    let lower = bits(half as usize) << vcs.trailing_zeros();
    match part {
        VcClass::All => Ok(vcs),
        _ if half == 0 => {
            let rule = "1 for a class and order; halves need at least 2";
            Err(NocError::new("vcs", rule))
        }
        VcClass::Lower => Ok(lower),
        VcClass::Upper => Ok(vcs & !lower),
    }
}

/// Returns a word with the lowest `count` bits set.
pub(crate) fn bits(count: usize) -> u64 {
    // A shift by the width of the word would overflow.
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}

#[cfg(test)]
impl Routes {
    /// Lets both orders of dimensions use the same virtual channels, which is wrong on purpose.
    pub(crate) fn share_channels_of_orders(&mut self) {
        for hop in &mut self.distinct_hops {
            hop.vcs = self.class_vcs[0];
        }
    }
}
