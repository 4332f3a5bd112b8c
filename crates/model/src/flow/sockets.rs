//! Core of a rank at an endpoint: it computes, and copies to and from sockets, one operation at a time. It reads only
//! while the rank waits, so data that arrives early does not delay other work.

use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};

/// Maximum number of bytes that one system call copies.
const CALL_BYTES: u64 = 64 << 10;
const PS_PER_S: u128 = 1_000_000_000_000;

/// A call that reads bytes of another rank.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SocketRead {
    from: u32,
    bytes: u64,
    done: Time,
}

/// A message that is written, one call at a time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SocketWrite {
    /// Bytes of the current call, and the time at which they are copied.
    bytes: u64,
    copied: Time,
    /// True if the connection has the bytes of the call.
    posted: bool,
    /// Bytes of the message after the current call.
    left: u64,
}

/// Core of a rank at an endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SocketCore {
    /// Rates of reading and of writing, in bytes per second.
    bytes_per_s: [u64; 2],
    /// Time at which the core is done with all accepted work.
    free: Time,
    /// Busy time so far, including accepted work, in ps.
    busy_ps: u64,
    /// Busy time since the start of the run, by interval.
    busy: Bins,
    /// Bytes received that no call reads yet, by rank, in the order in which the first ones arrived.
    unread: Vec<(u32, u64)>,
    /// Rank that the current step receives from, and the bytes still to be read for it.
    wanted: (u32, u64),
    reading: Option<SocketRead>,
    write: Option<SocketWrite>,
}

impl SocketCore {
    /// Creates an idle core with these rates of reading and of writing, in bytes per second.
    pub(super) fn new(bytes_per_s: [u64; 2]) -> Self {
        let bytes_per_s = bytes_per_s.map(|rate| rate.max(1));
        Self {
            bytes_per_s,
            free: Time::ZERO,
            busy_ps: 0,
            busy: Bins::default(),
            unread: Vec::new(),
            wanted: (0, 0),
            reading: None,
            write: None,
        }
    }

    /// Occupies the core for `ps` as soon as it is done with accepted work, but not before `from`. Returns the time at
    /// which it is done.
    pub(super) fn occupy(&mut self, from: Time, ps: u64) -> Time {
        let begins = self.free.max(from);
        self.free = begins + ps;
        self.busy.add(begins.ps(), self.free.ps());
        self.busy_ps += ps;
        self.free
    }

    /// Returns the busy time up to `now`, in ps.
    pub(super) fn busy_ps(&self, now: Time) -> u64 {
        self.busy_ps - self.free.ps().saturating_sub(now.ps()).min(self.busy_ps)
    }

    /// Returns the busy time since the start of the run, by interval.
    pub(super) fn busy(&self) -> &Bins {
        &self.busy
    }

    fn copy(&mut self, now: Time, bytes: u64, bytes_per_s: u64) -> Time {
        let ps = u128::from(bytes) * PS_PER_S / u128::from(bytes_per_s);
        self.occupy(now, u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Records bytes received from another rank.
    pub(super) fn arrive(&mut self, from: u32, bytes: u64) {
        match self.unread.iter_mut().find(|(rank, _)| *rank == from) {
            Some((_, unread)) => *unread += bytes,
            None => self.unread.push((from, bytes)),
        }
    }

    /// Sets the rank that is read with priority, and the bytes still to be read from it.
    pub(super) fn prioritize_read(&mut self, from: u32, bytes: u64) {
        self.wanted = (from, bytes);
    }

    /// Begins to read received data, unless a read is in progress: the wanted rank first, otherwise the data that has
    /// waited longest.
    fn read(&mut self, now: Time) {
        if self.reading.is_some() {
            return;
        }
        let (wanted, missing) = self.wanted;
        let wanted = self.unread.iter().position(|&(rank, _)| rank == wanted && missing > 0);
        let most = if wanted.is_some() { missing.min(CALL_BYTES) } else { CALL_BYTES };
        let at = wanted.unwrap_or(0);
        let Some((from, unread)) = self.unread.get_mut(at) else { return };
        let (from, bytes) = (*from, most.min(*unread));
        *unread -= bytes;
        // Removed, so that the order of the list is that of the first bytes that arrived.
        if *unread == 0 {
            self.unread.remove(at);
        }
        let done = self.copy(now, bytes, self.bytes_per_s[0]);
        self.reading = Some(SocketRead { from, bytes, done });
    }

    /// Lets the core read while the rank waits. Returns the time at which the read is done or the core is free to
    /// read.
    pub(super) fn read_while_idle(&mut self, now: Time) -> Option<Time> {
        if self.free <= now {
            self.read(now);
        }
        // With data left, the core looks again when it is free.
        let free = (!self.unread.is_empty()).then_some(self.free);
        self.reading.map(|read| read.done).into_iter().chain(free).min()
    }

    /// Takes the bytes that have been read by now: the rank they are from, and their number.
    pub(super) fn take_read(&mut self, now: Time) -> Option<(u32, u64)> {
        let SocketRead { from, bytes, .. } = self.reading.take_if(|read| read.done <= now)?;
        if from == self.wanted.0 {
            self.wanted.1 = self.wanted.1.saturating_sub(bytes);
        }
        Some((from, bytes))
    }

    /// Returns the bytes that have not been read yet.
    pub(super) fn unread_bytes(&self) -> u64 {
        self.unread.iter().map(|&(_, bytes)| bytes).sum::<u64>() + self.reading.map_or(0, |read| read.bytes)
    }

    /// Begins to write a message.
    pub(super) fn begin(&mut self, bytes: u64, now: Time) {
        // One call copies 64 KiB at most, so that reads can go in between.
        let call = bytes.min(CALL_BYTES);
        let copied = self.copy(now, call, self.bytes_per_s[1]);
        self.write = Some(SocketWrite { bytes: call, copied, posted: false, left: bytes - call });
    }

    /// Returns the time at which the bytes of the call are copied, if the connection does not have them yet.
    pub(super) fn to_post(&self) -> Option<Time> {
        self.write.filter(|write| !write.posted).map(|write| write.copied)
    }

    /// Returns the bytes that have been copied by now and that the connection is given.
    pub(super) fn post(&mut self, now: Time) -> Option<u64> {
        let write = self.write.as_mut().filter(|write| !write.posted && write.copied <= now)?;
        write.posted = true;
        Some(write.bytes)
    }

    /// Records that the connection has written all that it was given. Returns none if it was given nothing; otherwise
    /// true if the message is complete. If it is not, the next call begins.
    pub(super) fn written(&mut self, now: Time) -> Option<bool> {
        let write = self.write.filter(|write| write.posted)?;
        self.write = None;
        if write.left > 0 {
            // Reads and writes alternate.
            self.read(now);
            self.begin(write.left, now);
        }
        Some(write.left == 0)
    }
}
