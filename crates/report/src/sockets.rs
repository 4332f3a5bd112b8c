//! The sockets of a server: the configuration of each, and the parts of the server that belong to it.

use crate::row::{at_path, whole_at, Fields, Row};
use serde_json::Value;
use std::ops::Range;

/// Tables of the configuration that a socket may override.
const TABLES: [&str; 9] = ["core", "cha", "cache", "prefetch", "ddio", "memory", "iio", "pcie", "ssd"];

/// Kinds of parts of which a socket has several.
const NUMBERED: [&str; 3] = ["core", "channel", "ssd"];

/// Kinds of parts of which every socket has exactly one.
const SINGLE: [&str; 2] = ["cha", "iio"];

/// A socket of a server.
#[derive(Clone, Debug)]
pub struct ServerSocket {
    /// Number of the socket.
    pub number: usize,
    /// Configuration of the server with the tables of the socket.
    pub config: Row,
    /// Numbers of the parts of the server that belong to the socket, by kind.
    pub parts: Vec<(&'static str, Range<usize>)>,
}

impl ServerSocket {
    /// Returns the numbers of the parts of a kind.
    #[must_use]
    pub fn parts_of(&self, kind: &str) -> Range<usize> {
        self.parts.iter().find(|(own, _)| *own == kind).map_or(0..0, |(_, numbers)| numbers.clone())
    }

    /// Returns true if a part of the server, as tables name it, belongs to the socket.
    #[must_use]
    pub fn has(&self, part: &str) -> bool {
        let (kind, number) = part.split_once(' ').unwrap_or((part, ""));
        self.parts_of(kind).contains(&number.parse().unwrap_or(0))
    }
}

/// Returns the sockets of a complete configuration; empty if there is only one, or their number is unknown.
#[must_use]
pub fn server_sockets(config: &Row) -> Vec<ServerSocket> {
    let count = whole_at(config, "server.sockets").and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    if count < 2 {
        return Vec::new();
    }
    let drives = sockets_of_drives(config);
    let mut first = [0; NUMBERED.len()];
    let socket = |number| {
        let config = config_of_socket(config, number);
        let mut counts = part_counts(&config);
        if let Some(drives) = &drives {
            counts[2] = drives.iter().filter(|&&socket| socket == number).count();
        }
        let numbered =
            NUMBERED.iter().zip(first).zip(counts).map(|((&kind, start), count)| (kind, start..start + count));
        let single = SINGLE.map(|kind| (kind, number..number + 1));
        let parts: Vec<(&str, Range<usize>)> = numbered.chain(single).collect();
        first = [0, 1, 2].map(|kind: usize| parts[kind].1.end);
        ServerSocket { number, config, parts }
    };
    (0..count).map(socket).collect()
}

/// Returns the configuration with the tables that a socket overrides.
fn config_of_socket(config: &Row, number: usize) -> Row {
    let mut own = config.clone();
    let tables = at_path(config, "socket").and_then(|sockets| sockets.get(number.to_string()));
    for name in TABLES {
        if let Some(table) = tables.and_then(|tables| tables.get(name)) {
            own.insert(name.to_owned(), table.clone());
        }
    }
    own
}

/// Returns the number of cores, of channels with queues of their own, and of drives of a socket.
fn part_counts(config: &Row) -> [usize; 3] {
    let count = |path| whole_at(config, path).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    [count("core.count"), count("memory.channels") * count("memory.dram.subchannels").max(1), count("ssd.count")]
}

/// Returns the socket of each drive; `None` if every socket has the drives of its own table.
fn sockets_of_drives(config: &Row) -> Option<Vec<usize>> {
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    match at_path(config, "ssd.sockets")? {
        Value::Array(sockets) => Some(sockets.iter().filter_map(number).collect()),
        one => Some(vec![number(one)?; config.value("ssd")?.get("count").and_then(number).unwrap_or(0)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::row;
    use serde_json::json;

    fn three_sockets() -> Vec<ServerSocket> {
        server_sockets(&row(json!({
            "server": {"sockets": 3},
            "core": {"count": 8},
            "memory": {"channels": 2, "dram": {"subchannels": 1}},
            "ssd": {"count": 4},
            "socket": {"1": {
                "core": {"count": 0},
                "memory": {"channels": 4, "dram": {"subchannels": 2}},
                "ssd": {"count": 1},
            }},
        })))
    }

    #[test]
    fn every_part_belongs_to_one_socket() {
        let sockets = three_sockets();
        let numbers = |kind: &str| sockets.iter().map(|socket| socket.parts_of(kind)).collect::<Vec<_>>();
        assert_eq!(numbers("core"), [0..8, 8..8, 8..16]);
        assert_eq!(numbers("channel"), [0..2, 2..10, 10..12]);
        assert_eq!(numbers("ssd"), [0..4, 4..5, 5..9]);
        for (part, owner) in [("core 8", 2), ("channel 2", 1), ("ssd 4", 1), ("cha", 0), ("iio 2", 2)] {
            let owners: Vec<usize> =
                sockets.iter().filter(|socket| socket.has(part)).map(|socket| socket.number).collect();
            assert_eq!(owners, [owner], "{part}");
        }
        assert!(!sockets.iter().any(|socket| ["all", "upi 0-1", "core 16"].iter().any(|part| socket.has(part))));
    }

    #[test]
    fn drives_may_be_on_named_sockets() {
        let drives = |sockets: Value| {
            let ssd = json!({"count": 4, "sockets": sockets});
            let sockets = server_sockets(&row(json!({"server": {"sockets": 2}, "ssd": ssd})));
            [sockets[0].parts_of("ssd"), sockets[1].parts_of("ssd")]
        };
        assert_eq!(drives(json!(1)), [0..0, 0..4]);
        assert_eq!(drives(json!([0, 1, 1, 1])), [0..1, 1..4]);
        assert_eq!(drives(Value::Null), [0..4, 4..8]);
    }

    #[test]
    fn one_socket_is_the_server() {
        assert!(server_sockets(&row(json!({"server": {"sockets": 1}}))).is_empty());
        assert!(server_sockets(&Row::new()).is_empty());
    }
}
