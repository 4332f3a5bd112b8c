//! Packet traces of a network on a chip: one packet per line.

use super::decode;
use super::error::{Fault, TraceError};
use super::fields::fields;
use super::lines::Lines;
use super::parse::{is_empty, missing, number};
use crate::CLOCK_MAX;
use hostnet_files::UserFile;
use std::io::{self, Read};
use std::path::Path;

/// Largest number of flits of a packet in a trace.
pub const PACKET_FLITS_MAX: u16 = 1024;

/// A packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLine {
    /// Cycle in which the packet is offered, not before that of the previous packet; at most [`CLOCK_MAX`].
    pub cycle: u64,
    /// Node that sends the packet.
    pub source: u16,
    /// Node that receives the packet.
    pub destination: u16,
    /// Length in flits, 1 to [`PACKET_FLITS_MAX`].
    pub flits: u16,
    /// Message class, counted from 0; 0 if the line names none.
    pub class: u8,
}

/// The packets of a trace in its order. A line is `cycle source destination flits [class]`, with numbers that are
/// decimal, or hexadecimal with `0x`. Blank lines and everything after a `#` are ignored. After an error the iterator
/// ends.
pub struct PacketTrace {
    file: String,
    lines: Lines,
    nodes: u16,
    classes: u8,
    cycle: u64,
    ended: bool,
}

impl PacketTrace {
    /// Opens a trace, plain or compressed with gzip, xz or zstd, which is recognized by its first bytes and not by
    /// its name. A node or class at or beyond `nodes` or `classes` is an error.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn open(path: impl AsRef<Path>, nodes: u16, classes: u8) -> Result<Self, TraceError> {
        let name = path.as_ref().display().to_string();
        match UserFile::open(path.as_ref()) {
            Ok(file) => Self::from_reader(&name, file, nodes, classes),
            Err(error) => Err(TraceError::new(&name, None, Fault::unreadable(&error))),
        }
    }

    /// Like [`PacketTrace::open`], but reads from any source. `name` is used in messages.
    ///
    /// # Errors
    /// Returns the same errors as [`PacketTrace::open`].
    pub fn from_reader(
        name: &str,
        source: impl Read + Send + 'static,
        nodes: u16,
        classes: u8,
    ) -> Result<Self, TraceError> {
        let lines = decode::decoded(source)
            .map(Lines::new)
            .map_err(|error: io::Error| TraceError::new(name, None, Fault::unreadable(&error)))?;
        Ok(Self { file: name.into(), lines, nodes, classes, cycle: 0, ended: false })
    }

    /// Creates the error for a trace without packets, for callers that need some.
    #[must_use]
    pub fn no_packets_error(&self) -> TraceError {
        TraceError::new(&self.file, None, Fault::rule("holds no packet"))
    }

    /// Creates the error for a trace with more packets than the caller can hold.
    #[must_use]
    pub fn too_long_error(&self, most: usize) -> TraceError {
        let rule = format!("is one packet too many; {most} are read at most, so cut the trace into pieces");
        TraceError::new(&self.file, Some(self.lines.number()), Fault::rule(rule))
    }
}

impl Iterator for PacketTrace {
    type Item = Result<PacketLine, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let bounds = Bounds { nodes: self.nodes, classes: self.classes, cycle: self.cycle };
            let parsed = match self.lines.next() {
                Ok(Some(line)) => bounds.packet(line),
                Ok(None) => break,
                Err(fault) => Err(fault),
            };
            match parsed {
                Ok(None) => {}
                Ok(Some(packet)) => {
                    self.cycle = packet.cycle;
                    return Some(Ok(packet));
                }
                Err(fault) => {
                    self.ended = true;
                    return Some(Err(TraceError::new(&self.file, Some(self.lines.number()), fault)));
                }
            }
        }
        self.ended = true;
        None
    }
}

/// Limits that the next line must obey.
struct Bounds {
    nodes: u16,
    classes: u8,
    /// Cycle of the previous packet.
    cycle: u64,
}

impl Bounds {
    fn packet(&self, line: &[u8]) -> Result<Option<PacketLine>, Fault> {
        if is_empty(line)? {
            return Ok(None);
        }
        let mut fields = fields(line);
        let mut next = |what: &str| fields.next().ok_or_else(|| missing(line, what));
        let cycle = self.time(next("the cycle")?)?;
        let source = self.node(next("the source")?)?;
        let destination = self.node(next("the destination")?)?;
        let text = next("the flits")?;
        let flits = in_range(text, "a number of flits", 1, u64::from(PACKET_FLITS_MAX))? as u16;
        let class = match fields.next() {
            Some(text) => in_range(text, "a class", 0, u64::from(self.classes) - 1)? as u8,
            None => 0,
        };
        match fields.next() {
            Some(extra) => Err(Fault::value(extra, "is one field too many")),
            None => Ok(Some(PacketLine { cycle, source, destination, flits, class })),
        }
    }

    fn time(&self, text: &[u8]) -> Result<u64, Fault> {
        let cycle = number(text, false, "a cycle")?;
        // Packets are offered in order; equal cycles are allowed.
        if cycle < self.cycle {
            let rule = format!("goes back in time: the cycle of the packet before was {}", self.cycle);
            return Err(Fault::value(text, &rule));
        }
        if cycle > CLOCK_MAX {
            return Err(Fault::value(text, &format!("is too late: the last cycle is {CLOCK_MAX}")));
        }
        Ok(cycle)
    }

    fn node(&self, text: &[u8]) -> Result<u16, Fault> {
        Ok(in_range(text, "a node", 0, u64::from(self.nodes) - 1)? as u16)
    }
}

fn in_range(text: &[u8], what: &str, least: u64, most: u64) -> Result<u64, Fault> {
    let value = number(text, false, what)?;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Fault::value(text, &format!("is not {what}: {least} to {most} are allowed")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Vec<PacketLine>, String> {
        let text = text.as_bytes().to_vec();
        let trace = PacketTrace::from_reader("t", io::Cursor::new(text), 64, 2).map_err(|error| error.to_string())?;
        trace.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_is_a_packet() {
        let packet = |cycle, source, destination, flits, class| PacketLine { cycle, source, destination, flits, class };
        let text = "# cycle source destination flits class\n\n0 0 63 5\r\n0 0x10 1 1 1 # a request\n 7\t2 2 1024";
        assert_eq!(read(text), Ok(vec![packet(0, 0, 63, 5, 0), packet(0, 16, 1, 1, 1), packet(7, 2, 2, 1024, 0)]));
    }

    #[test]
    fn errors_have_their_line_and_rule() {
        let cases = [
            ("5 0 1 1\n4 0 1 1", "t:2: \"4\""),
            ("0 64 1 1", "t:1: \"64\""),
            ("0 1 99 1", "t:1: \"99\""),
            ("0 1 2 0", "t:1: \"0\""),
            ("0 1 2 1025", "\"1025\""),
            ("0 1 2 1 2", "t:1: \"2\""),
            ("\n0 1 2", "t:2: \"0 1 2\""),
            ("0 1 2 3 0 0", "t:1: \"0\""),
            ("x 1 2 3", "t:1: \"x\""),
            ("9007199254740993 1 2 3", "9007199254740992"),
        ];
        for (text, part) in cases {
            let said = read(text).expect_err(text);
            assert!(said.contains(part), "{part:?} is not in {said:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[0-9 x#\n]{0,60}") {
            for bytes in [bytes, text.into_bytes()] {
                if let Ok(trace) = PacketTrace::from_reader("t", io::Cursor::new(bytes), 64, 2) {
                    let packets: Vec<PacketLine> = trace.map_while(Result::ok).collect();
                    prop_assert!(packets.windows(2).all(|pair| pair[0].cycle <= pair[1].cycle));
                    prop_assert!(packets.iter().all(|packet| packet.source < 64 && packet.destination < 64));
                }
            }
        }
    }
}
