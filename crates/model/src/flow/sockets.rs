//! The core of a rank at an endpoint: it copies to and from sockets, and computes, one thing at a time. It reads only
//! while the rank waits: what comes early does not keep it from what it does.

use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};

/// Bytes that a call copies at most.
const CALL_BYTES: u64 = 64 << 10;
const PS_PER_S: u128 = 1_000_000_000_000;

/// Bytes of another rank that are being read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Read {
    from: u32,
    bytes: u64,
    done: Time,
}

/// A message that is being written, a call at a time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Write {
    /// Bytes of the call, and when these are copied.
    bytes: u64,
    copied: Time,
    /// Whether the connection has them.
    posted: bool,
    /// Bytes of the message after the call.
    left: u64,
}

/// The core of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sockets {
    /// What it reads and what it writes per second.
    bytes_per_s: [u64; 2],
    /// When it is done with all that it has begun.
    free: Time,
    /// What it did so far, in ps.
    busy_ps: u64,
    /// When that was since the start of the run.
    busy: Bins,
    /// Bytes that have come and that no call reads yet, by rank, in the order in which the first ones came.
    unread: Vec<(u32, u64)>,
    /// The rank that is received from now, and the bytes that are still to be read for that.
    wanted: (u32, u64),
    reading: Option<Read>,
    write: Option<Write>,
}

impl Sockets {
    /// One that reads and writes so many bytes per second.
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

    /// It does something for so long, when it is done with what it has begun. Returns when that is done.
    pub(super) fn occupy(&mut self, from: Time, ps: u64) -> Time {
        let begins = self.free.max(from);
        self.free = begins + ps;
        self.busy.add(begins.ps(), self.free.ps());
        self.busy_ps += ps;
        self.free
    }

    /// What it did until `now`, in ps.
    pub(super) fn busy_ps(&self, now: Time) -> u64 {
        self.busy_ps - self.free.ps().saturating_sub(now.ps()).min(self.busy_ps)
    }

    /// When it did something since the start of the run.
    pub(super) fn busy(&self) -> &Bins {
        &self.busy
    }

    fn copy(&mut self, now: Time, bytes: u64, bytes_per_s: u64) -> Time {
        let ps = u128::from(bytes) * PS_PER_S / u128::from(bytes_per_s);
        self.occupy(now, u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Bytes have come from another rank.
    pub(super) fn arrive(&mut self, from: u32, bytes: u64) {
        match self.unread.iter_mut().find(|(rank, _)| *rank == from) {
            Some((_, unread)) => *unread += bytes,
            None => self.unread.push((from, bytes)),
        }
    }

    /// From now on it receives so many bytes from a rank, beside those that have been read.
    pub(super) fn want(&mut self, from: u32, bytes: u64) {
        self.wanted = (from, bytes);
    }

    /// Begins to read what has come, if it does not read already: what is wanted first, else what has waited longest.
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
        if *unread == 0 {
            self.unread.remove(at);
        }
        let done = self.copy(now, bytes, self.bytes_per_s[0]);
        self.reading = Some(Read { from, bytes, done });
    }

    /// The rank waits, and may read what has come. When that is read, or when the core is free to read.
    pub(super) fn idle(&mut self, now: Time) -> Option<Time> {
        if self.free <= now {
            self.read(now);
        }
        let free = (!self.unread.is_empty()).then_some(self.free);
        self.reading.map(|read| read.done).into_iter().chain(free).min()
    }

    /// The bytes that have been read by now: from whom, and how many.
    pub(super) fn take_read(&mut self, now: Time) -> Option<(u32, u64)> {
        let Read { from, bytes, .. } = self.reading.take_if(|read| read.done <= now)?;
        if from == self.wanted.0 {
            self.wanted.1 = self.wanted.1.saturating_sub(bytes);
        }
        Some((from, bytes))
    }

    /// Bytes that are not read yet.
    pub(super) fn unread_bytes(&self) -> u64 {
        self.unread.iter().map(|&(_, bytes)| bytes).sum::<u64>() + self.reading.map_or(0, |read| read.bytes)
    }

    /// A message is to be written.
    pub(super) fn begin(&mut self, bytes: u64, now: Time) {
        let call = bytes.min(CALL_BYTES);
        let copied = self.copy(now, call, self.bytes_per_s[1]);
        self.write = Some(Write { bytes: call, copied, posted: false, left: bytes - call });
    }

    /// When the bytes of the call are copied, if they are still to be given to the connection.
    pub(super) fn to_post(&self) -> Option<Time> {
        self.write.filter(|write| !write.posted).map(|write| write.copied)
    }

    /// The bytes that are copied by now and that the connection is given.
    pub(super) fn post(&mut self, now: Time) -> Option<u64> {
        let write = self.write.as_mut().filter(|write| !write.posted && write.copied <= now)?;
        write.posted = true;
        Some(write.bytes)
    }

    /// The connection has written all that it was given. None if it was given nothing; else whether that was all of the
    /// message. If not, the next call begins.
    pub(super) fn written(&mut self, now: Time) -> Option<bool> {
        let write = self.write.filter(|write| write.posted)?;
        self.write = None;
        if write.left > 0 {
            // It reads and writes in turn.
            self.read(now);
            self.begin(write.left, now);
        }
        Some(write.left == 0)
    }
}
