//! Address table of a learning switch: the port at which each host was last seen.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// End of the list of entries.
const NONE: u32 = u32::MAX;

/// A known host, linked to the hosts last seen before and after it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct AddressEntry {
    port: u16,
    seen: Time,
    older: u32,
    newer: u32,
}

/// Changes of an address table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressCounts {
    /// Unknown hosts that were added when they were seen.
    pub learned: u64,
    /// Hosts that were removed by ageing.
    pub forgotten: u64,
    /// Hosts that were removed because the table was full when another host was seen.
    pub displaced: u64,
}

/// An address table of limited size. If it is full, a new host displaces the one that was seen least recently.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AddressTable {
    /// Entry of each host by number, up to the highest number seen.
    entries: Vec<Option<AddressEntry>>,
    oldest: u32,
    newest: u32,
    known: u32,
    /// Maximum number of entries.
    table: u32,
    ttl_ps: u64,
    counts: AddressCounts,
}

impl AddressTable {
    /// Creates an empty table of `table` entries (at least 1), each of which expires `ttl_ps` after its host was last
    /// seen.
    #[must_use]
    pub fn new(table: u32, ttl_ps: u64) -> Self {
        let counts = AddressCounts::default();
        Self { entries: Vec::new(), oldest: NONE, newest: NONE, known: 0, table: table.max(1), ttl_ps, counts }
    }

    /// Records that a host is seen at a port. Calls of this and of [`AddressTable::port_of`] must be in order of time.
    pub fn learn(&mut self, host: u16, port: u16, now: Time) {
        // Expired entries first: they must not count as known or make the table full.
        self.forget(now);
        let place = usize::from(host);
        if self.entries.len() <= place {
            self.entries.resize(place + 1, None);
        }
        if self.entries[place].is_some() {
            self.remove(host.into());
        } else {
            // IEEE 802.1D lets any entry be removed; the oldest is assumed (docs/models/ether.md).
            if self.known == self.table {
                self.remove(self.oldest);
                self.counts.displaced += 1;
            }
            self.counts.learned += 1;
        }
        self.entries[place] = Some(AddressEntry { port, seen: now, older: self.newest, newer: NONE });
        self.relink(self.newest, |entry| entry.newer = host.into());
        if self.oldest == NONE {
            self.oldest = host.into();
        }
        self.newest = host.into();
        self.known += 1;
    }

    /// Returns the port of a host, if it is known.
    pub fn port_of(&mut self, host: u16, now: Time) -> Option<u16> {
        self.forget(now);
        self.entries.get(usize::from(host)).copied().flatten().map(|entry| entry.port)
    }

    /// Removes the entries that have expired.
    pub fn forget(&mut self, now: Time) {
        while self.entry(self.oldest).is_some_and(|entry| self.is_over(entry, now)) {
            self.remove(self.oldest);
            self.counts.forgotten += 1;
        }
    }

    fn is_over(&self, entry: &AddressEntry, now: Time) -> bool {
        // An entry is valid for less than the ageing time (docs/models/ether.md, A learning switch).
        now.since(entry.seen) >= self.ttl_ps
    }

    fn entry(&self, host: u32) -> Option<&AddressEntry> {
        self.entries.get(host as usize)?.as_ref()
    }

    fn relink(&mut self, host: u32, change: impl Fn(&mut AddressEntry)) {
        if let Some(Some(entry)) = self.entries.get_mut(host as usize) {
            change(entry);
        }
    }

    fn remove(&mut self, host: u32) {
        let Some(entry) = self.entries.get_mut(host as usize).and_then(Option::take) else { return };
        self.relink(entry.older, |older| older.newer = entry.newer);
        self.relink(entry.newer, |newer| newer.older = entry.older);
        if self.oldest == host {
            self.oldest = entry.newer;
        }
        if self.newest == host {
            self.newest = entry.older;
        }
        self.known -= 1;
    }

    /// Returns the number of hosts known at `now`, and the changes until then. Does not remove expired entries.
    #[must_use]
    pub fn at(&self, now: Time) -> (u32, AddressCounts) {
        // The list is in the order of age, so the expired entries stand at its start.
        let by_age = std::iter::successors(self.entry(self.oldest), |entry| self.entry(entry.newer));
        let over = by_age.take_while(|entry| self.is_over(entry, now)).count();
        (self.known - over as u32, AddressCounts { forgotten: self.counts.forgotten + over as u64, ..self.counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const TTL_PS: u64 = 1000;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn a_host_is_known_until_it_was_not_seen_for_so_long() {
        let mut addresses = AddressTable::new(4, TTL_PS);
        addresses.learn(7, 3, at(50));
        assert_eq!((addresses.port_of(7, at(1049)), addresses.port_of(6, at(1049))), (Some(3), None));
        assert_eq!(addresses.at(at(1050)).0, 0, "looking changes nothing");
        assert_eq!(addresses.at(at(1049)).0, 1);
        assert_eq!(addresses.port_of(7, at(1050)), None);
        addresses.learn(7, 2, at(1060));
        addresses.learn(7, 1, at(2059));
        assert_eq!(addresses.port_of(7, at(3058)), Some(1), "it was seen again, elsewhere");
        let (known, counts) = addresses.at(at(3058));
        assert_eq!((known, counts), (1, AddressCounts { learned: 2, forgotten: 1, displaced: 0 }));
    }

    #[test]
    fn the_oldest_goes_where_there_is_no_room() {
        let mut addresses = AddressTable::new(2, TTL_PS);
        addresses.learn(0, 0, at(1));
        addresses.learn(1, 1, at(2));
        addresses.learn(0, 0, at(3));
        addresses.learn(2, 2, at(4));
        let ports = [0, 1, 2].map(|host| addresses.port_of(host, at(5)));
        assert_eq!(ports, [Some(0), None, Some(2)]);
        assert_eq!(addresses.at(at(5)).1, AddressCounts { learned: 3, forgotten: 0, displaced: 1 });
    }

    proptest! {
        /// Compares with a table that is scanned in full.
        #[test]
        fn a_table_knows_what_a_simple_one_does(
            table in 1_u32..6,
            steps in prop::collection::vec((0_u64..600, 0_u16..8, 0_u16..4, any::<bool>()), 1..80)
        ) {
            let mut addresses = AddressTable::new(table, TTL_PS);
            let mut simple: BTreeMap<u16, (Time, usize, u16)> = BTreeMap::new();
            let mut now = Time::ZERO;
            for (number, (wait, host, port, learns)) in steps.into_iter().enumerate() {
                now += wait;
                simple.retain(|_, entry| now.since(entry.0) < TTL_PS);
                if learns {
                    if simple.len() == table as usize && !simple.contains_key(&host) {
                        let oldest = simple.iter().min_by_key(|(_, entry)| (entry.0, entry.1)).map(|(&host, _)| host);
                        simple.remove(&oldest.expect("it is full"));
                    }
                    simple.insert(host, (now, number, port));
                    addresses.learn(host, port, now);
                } else {
                    prop_assert_eq!(addresses.port_of(host, now), simple.get(&host).map(|entry| entry.2));
                }
                let (known, counts) = addresses.at(now);
                prop_assert_eq!(known as usize, simple.len());
                prop_assert_eq!(counts.learned - counts.forgotten - counts.displaced, u64::from(known));
            }
        }
    }
}
