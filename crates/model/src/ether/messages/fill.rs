//! Max-min fair shares of links, by progressive filling: all messages that have no share yet get more alike, until a
//! link of theirs is full or a message has its largest rate.

use super::channel::MessageChannel;
use super::link::{MessageLink, Passage};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Hop of a channel: the link, and the place of the channel among those that pass it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hop {
    pub(super) link: u32,
    pub(super) slot: u32,
}

/// Bound that channels reach as their shares grow: a full link, or the largest rate of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Link(u32),
    Channel(u32),
}

/// Links, channels and the paths of these.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SharedLinks {
    pub(super) links: Vec<MessageLink>,
    pub(super) channels: Vec<MessageChannel>,
    pub(super) hops: Vec<Hop>,
    /// Number of the last computation.
    visit: u32,
}

/// Connected component of links and channels: those that share links, directly or by way of others.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectedLinks {
    pub(super) links: Vec<u32>,
    pub(super) channels: Vec<u32>,
    bounds: BinaryHeap<Reverse<(u64, Bound)>>,
}

impl SharedLinks {
    /// Returns the hops of a channel.
    pub(super) fn path(&self, channel: u32) -> &[Hop] {
        let params = &self.channels[channel as usize].params;
        &self.hops[params.first_hop as usize..(params.first_hop + params.hops) as usize]
    }

    /// Puts a channel on the links of its path. Adds these to `changed`.
    pub(super) fn join(&mut self, channel: u32, changed: &mut Vec<u32>) {
        for hop in self.channels[channel as usize].shared_hops() {
            let Hop { link, slot } = &mut self.hops[hop as usize];
            let passages = &mut self.links[*link as usize].passages;
            *slot = passages.len() as u32;
            passages.push(Passage { channel, hop });
            changed.push(*link);
        }
    }

    /// Takes a channel off the links of its path. Adds these to `changed`.
    pub(super) fn leave(&mut self, channel: u32, changed: &mut Vec<u32>) {
        for hop in self.channels[channel as usize].shared_hops() {
            let Hop { link, slot } = self.hops[hop as usize];
            let passages = &mut self.links[link as usize].passages;
            passages.swap_remove(slot as usize);
            if let Some(moved) = passages.get(slot as usize) {
                self.hops[moved.hop as usize].slot = slot;
            }
            changed.push(link);
        }
    }

    /// Begins a computation: nothing is visited.
    pub(super) fn begin(&mut self) {
        self.visit = self.visit.wrapping_add(1);
    }

    /// Finds the connected component of a link. Returns false if it has been visited.
    pub(super) fn find(&mut self, link: u32, connected: &mut ConnectedLinks) -> bool {
        let ConnectedLinks { links, channels, .. } = connected;
        links.clear();
        channels.clear();
        self.visit_link(link, links);
        let mut next = 0;
        while let Some(&link) = links.get(next) {
            next += 1;
            for at in 0..self.links[link as usize].passages.len() {
                let channel = self.links[link as usize].passages[at].channel;
                let own = &mut self.channels[channel as usize];
                if own.visit == self.visit {
                    continue;
                }
                (own.visit, own.share) = (self.visit, 0);
                channels.push(channel);
                for hop in own.shared_hops() {
                    let link = self.hops[hop as usize].link;
                    self.visit_link(link, links);
                }
            }
        }
        !links.is_empty()
    }

    fn visit_link(&mut self, link: u32, links: &mut Vec<u32>) {
        let own = &mut self.links[link as usize];
        if own.visit != self.visit {
            own.visit = self.visit;
            links.push(link);
        }
    }

    /// Computes the shares of the channels of a connected component.
    pub(super) fn fill(&mut self, connected: &mut ConnectedLinks) {
        if let [channel] = connected.channels[..] {
            let own = &mut self.channels[channel as usize];
            own.share = own.rate_max().min(own.params.slowest);
            return;
        }
        let bounds = &mut connected.bounds;
        bounds.clear();
        for &link in &connected.links {
            let own = &mut self.links[link as usize];
            (own.left, own.open) = (own.capacity, own.passages.len() as u32);
            if own.open > 0 {
                bounds.push(Reverse((own.share(), Bound::Link(link))));
            }
        }
        for &channel in &connected.channels {
            let own = &self.channels[channel as usize];
            if own.fits_queue || own.rate_max() < own.params.slowest {
                bounds.push(Reverse((own.rate_max(), Bound::Channel(channel))));
            }
        }
        while let Some(Reverse((share, bound))) = bounds.pop() {
            match bound {
                Bound::Channel(channel) => self.fix(channel, share),
                Bound::Link(link) => {
                    let own = &self.links[link as usize];
                    // Shares of links only grow, so an outdated bound comes too early and never too late.
                    let now = own.share();
                    if own.open > 0 && now > share {
                        bounds.push(Reverse((now, bound)));
                        continue;
                    }
                    for at in 0..self.links[link as usize].passages.len() {
                        let channel = self.links[link as usize].passages[at].channel;
                        self.fix(channel, share);
                    }
                }
            }
        }
    }

    /// Gives a channel its share, if it has none yet.
    fn fix(&mut self, channel: u32, share: u64) {
        let own = &mut self.channels[channel as usize];
        if own.share > 0 {
            return;
        }
        // A message without any rate would never end.
        own.share = share.max(1);
        for hop in own.shared_hops() {
            let link = &mut self.links[self.hops[hop as usize].link as usize];
            (link.left, link.open) = (link.left.saturating_sub(share), link.open - 1);
        }
    }
}

impl MessageLink {
    /// Returns the share of each message that has none yet, rounded up so that equal shares add up to the whole.
    fn share(&self) -> u64 {
        self.left.div_ceil(u64::from(self.open.max(1)))
    }
}
