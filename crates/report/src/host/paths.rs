//! The paths of the four domains through a host.

use std::borrow::Cow;

/// Pool of lines that wait for another socket.
pub(crate) const CROSSING: &str = "CHA->UPI";

/// Pool of the CHA.
pub(crate) const CHA_TOR: &str = "CHA TOR";

/// Last hop of lines that are read from memory: its banks.
pub(crate) const DRAM: &str = "DRAM";

/// The path of one of the four domains.
#[derive(Clone, Debug)]
pub(crate) struct DomainPath {
    /// Name of the domain.
    pub domain: &'static str,
    /// Letter that selects colour and mark.
    pub kind: char,
    /// Pool of the domain's credits.
    pub pool: &'static str,
    /// Pools that its lines pass; `DRAM` stands for the banks.
    pub hops: Cow<'static, [&'static str]>,
    /// Description.
    pub words: &'static str,
}

impl DomainPath {
    /// Returns the number of the domain in the picture and beside it.
    #[must_use]
    pub(crate) fn digit(&self) -> u8 {
        self.kind as u8 - b'a' + 1
    }

    /// Returns the path without `left_out`, and across UPI if lines cross to another socket.
    #[must_use]
    pub(crate) fn on_socket(&self, left_out: &[&str], crosses: bool) -> Self {
        let mut hops: Vec<&str> = self.hops.iter().copied().filter(|hop| !left_out.contains(hop)).collect();
        if crosses {
            let behind = hops.iter().position(|&hop| hop == CHA_TOR).map_or(hops.len(), |index| index + 1);
            hops.insert(behind, CROSSING);
        }
        Self { hops: hops.into(), ..self.clone() }
    }
}

/// All domains.
pub(crate) const DOMAIN_PATHS: [DomainPath; 4] = [
    DomainPath {
        domain: "C2M-Read",
        kind: 'a',
        pool: "LFB",
        hops: Cow::Borrowed(&["LFB", CHA_TOR, "RPQ", DRAM]),
        words: "Cores read lines: from the line fill buffer through CHA and read queue to DRAM, and back with the \
                data.",
    },
    DomainPath {
        domain: "C2M-Write",
        kind: 'b',
        pool: "LFB",
        hops: Cow::Borrowed(&["LFB", CHA_TOR]),
        words: "Cores write lines back: from the line fill buffer until the CHA has admitted the line.",
    },
    DomainPath {
        domain: "P2M-Write",
        kind: 'c',
        pool: "P2M-Write",
        hops: Cow::Borrowed(&["P2M-Write", CHA_TOR, "WPQ"]),
        words: "Drives write memory (storage reads): from the IIO through the CHA until the write queue has taken the \
                line.",
    },
    DomainPath {
        domain: "P2M-Read",
        kind: 'd',
        pool: "P2M-Read",
        hops: Cow::Borrowed(&["P2M-Read", CHA_TOR, "RPQ", DRAM]),
        words: "Drives read memory (storage writes): from the IIO through CHA and read queue to DRAM, and back with \
                the data.",
    },
];

/// Returns the colour of a pool: that of its domain if it belongs to cores or devices, else `n`.
#[must_use]
pub(crate) fn kind_of_pool(name: &str) -> char {
    match name {
        "C2M-Read" | "LFB" => 'a',
        "C2M-Write" => 'b',
        "P2M-Write" | "PCIe posted" => 'c',
        "P2M-Read" | "PCIe non-posted" => 'd',
        _ => 'n',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_crosses_behind_the_cha() {
        let path = DOMAIN_PATHS[0].on_socket(&["RPQ", DRAM], true);
        assert_eq!(*path.hops, ["LFB", CHA_TOR, CROSSING]);
        assert_eq!(*DOMAIN_PATHS[0].on_socket(&[], false).hops, *DOMAIN_PATHS[0].hops);
    }

    #[test]
    fn digits_count_the_domains() {
        assert_eq!(DOMAIN_PATHS.map(|path| path.digit()), [1, 2, 3, 4]);
        assert_eq!(DOMAIN_PATHS.map(|path| kind_of_pool(path.domain)), ['a', 'b', 'c', 'd']);
    }
}
