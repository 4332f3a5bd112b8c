//! Finds parts of a preset that become the bottleneck by construction when the user scales up others.
//!
//! By Little's law, the throughput of a pool of entries is at most its number of entries divided by their unloaded
//! latency.

use super::checked::untouched;
use super::io::{drives_bytes_per_s, WORTH_SAYING};
use super::Resolved;
use crate::error::Issue;
use hostnet_params::{MemoryParams, SocketParams};
use std::path::Path;

const LINE_BYTES: f64 = 64.0;
const PS_PER_S: f64 = 1e12;
/// Largest `cha.slices` and `memory.channels`.
const SLICES_MAX: u64 = 256;
const CHANNELS_MAX: u64 = 64;
/// Maximum number of DDR5 channels of a socket. A larger number counts subchannels.
const DDR5_CHANNELS_MAX: u32 = 12;

/// Returns notes about a server that scales up some parts of its preset but not others.
pub(super) fn notes(now: &Resolved, preset: Option<&str>, base_dir: &Path) -> Result<Vec<String>, Issue> {
    let Some(name) = preset else { return Ok(Vec::new()) };
    let before = untouched(name, base_dir)?;
    let before = before.server.socket();
    let mut notes: Vec<String> = Vec::new();
    for (number, socket) in now.server.sockets.iter().enumerate() {
        let own = now.spec.socket.contains_key(&number.to_string());
        let path = if own { format!("socket.{number}.") } else { String::new() };
        let pair = Pair { name, before, now: socket };
        let found = [pair.slices(), pair.channels(), pair.write_credits(), pair.read_credits(), pair.subchannels()];
        for note in found.into_iter().flatten().map(|note| format!("{path}{note}")) {
            // Sockets without tables of their own are alike, so they share a note.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(notes)
}

/// A socket of the preset and the same socket of the configuration.
struct Pair<'a> {
    name: &'a str,
    before: &'a SocketParams,
    now: &'a SocketParams,
}

impl Pair<'_> {
    fn has_more_cores(&self) -> bool {
        self.now.core.count > self.before.core.count
    }

    fn slices(&self) -> Option<String> {
        let (cha, memory) = (&self.now.cha, memory_bytes_per_s(&self.now.memory));
        let kept = (cha.slices, cha.tor_entries) == (self.before.cha.slices, self.before.cha.tor_entries);
        let has_more_memory = memory > WORTH_SAYING * memory_bytes_per_s(&self.before.memory);
        let (cores, most) = (cores_bytes_per_s(self.now), tor_bytes_per_s(self.now));
        // More cores keep the number of slices per core. More memory must be reachable by the existing cores.
        let asked = if self.has_more_cores() { cores } else { cores.min(memory) };
        if !kept || asked <= WORTH_SAYING * most || !(self.has_more_cores() || has_more_memory) {
            return None;
        }
        let (who, fits) = if self.has_more_cores() {
            (
                format!("{} cores could demand", self.now.core.count),
                self.for_each_core("cha.slices", cha.slices, SLICES_MAX),
            )
        } else {
            let fits = (f64::from(cha.slices) * asked / most).ceil();
            (String::from("from this memory the cores could draw"), format!("cha.slices = {fits} would fit"))
        };
        Some(format!(
            "cha.slices: {who} {:.0} GB/s, but {} slices of {} TOR entries allow only {:.0} GB/s without load; {fits}",
            asked / 1e9,
            cha.slices,
            cha.tor_entries,
            most / 1e9
        ))
    }

    fn channels(&self) -> Option<String> {
        let [before, now] = [self.before, self.now].map(|socket| memory_bytes_per_s(&socket.memory));
        let asked = cores_bytes_per_s(self.now);
        if !self.has_more_cores() || before != now || asked <= WORTH_SAYING * now {
            return None;
        }
        let channels = self.now.memory.map.channels;
        Some(format!(
            "memory.channels: {} cores could demand {:.0} GB/s, but {channels} channels carry only {:.0} GB/s; {}",
            self.now.core.count,
            asked / 1e9,
            now / 1e9,
            self.for_each_core("memory.channels", channels, CHANNELS_MAX)
        ))
    }

    /// Returns a setting with as many of a resource per core as before, or with the maximum.
    fn for_each_core(&self, key: &str, count: u32, most: u64) -> String {
        let cores = [self.before, self.now].map(|socket| u64::from(socket.core.count.max(1)));
        let fits = (u64::from(count) * cores[1]).div_ceil(cores[0]).min(most);
        format!("{key} = {fits} would fit, as many per core as in {}", self.name)
    }

    fn write_credits(&self) -> Option<String> {
        let (before, now) = (self.before.iio.write_credits, self.now.iio.write_credits);
        let offered = [self.before, self.now].map(|socket| drives_bytes_per_s(socket, socket.ssd.read_bytes_per_s));
        self.credits("iio.write_credits", "read", (before, now), offered, held_for_write_ps)
    }

    fn read_credits(&self) -> Option<String> {
        let (before, now) = (self.before.iio.read_credits, self.now.iio.read_credits);
        let offered = [self.before, self.now].map(|socket| drives_bytes_per_s(socket, socket.ssd.write_bytes_per_s));
        self.credits("iio.read_credits", "written", (before, now), offered, held_for_read_ps)
    }

    fn credits(
        &self,
        key: &str,
        done: &str,
        (before, now): (u32, u32),
        offered: [f64; 2],
        held_ps: impl Fn(&SocketParams) -> f64,
    ) -> Option<String> {
        let most = f64::from(now) * LINE_BYTES * PS_PER_S / held_ps(self.now);
        if before != now || offered[1] <= WORTH_SAYING * offered[0] || offered[1] <= WORTH_SAYING * most {
            return None;
        }
        let fits = (f64::from(now) * offered[1] / most).ceil();
        Some(format!(
            "{key}: {} drives could be {done} at {:.1} GB/s, but {now} credits allow only {:.1} GB/s without load; \
             {key} = {fits} would fit",
            self.now.ssd.count,
            offered[1] / 1e9,
            most / 1e9
        ))
    }

    fn subchannels(&self) -> Option<String> {
        let (dram, channels) = (&self.now.memory.dram, self.now.memory.map.channels);
        // HBM has two subchannels, too, but a row bus of its own, and the limit is that of DDR5.
        let is_ddr5 = dram.subchannels == 2 && !dram.row_bus;
        let kept = channels == self.before.memory.map.channels;
        (is_ddr5 && !kept && channels > DDR5_CHANNELS_MAX).then(|| {
            format!(
                "memory.channels: {channels} channels of two subchannels each carry {:.0} GB/s, but sockets have at \
                 most {DDR5_CHANNELS_MAX} of DDR5; memory.channels = {} would fit, if {channels} counts subchannels",
                memory_bytes_per_s(&self.now.memory) / 1e9,
                channels.div_ceil(2)
            )
        })
    }
}

/// Returns the demand of the cores with all LFB entries at the latency of idle memory, in bytes per second.
fn cores_bytes_per_s(socket: &SocketParams) -> f64 {
    let core = &socket.core;
    let held_ps = (core.refill_ps + core.to_cha_ps + core.from_cha_ps) as f64 + held_in_cha_ps(socket);
    let lines_per_ps = (f64::from(core.lines_in_flight()) / held_ps).min(1.0 / core.issue_ps.max(1) as f64);
    f64::from(core.count) * lines_per_ps * LINE_BYTES * PS_PER_S
}

/// Returns the rate that the entries of the CHA allow, in bytes per second.
fn tor_bytes_per_s(socket: &SocketParams) -> f64 {
    let entries = f64::from(socket.cha.slices) * f64::from(socket.cha.tor_entries);
    entries * LINE_BYTES * PS_PER_S / held_in_cha_ps(socket)
}

/// Returns the rate of the data buses, in bytes per second.
fn memory_bytes_per_s(memory: &MemoryParams) -> f64 {
    let dram = &memory.dram;
    let line_ps = clock_ps(memory) * f64::from(dram.timing.burst * dram.accesses_per_line);
    f64::from(memory.map.channels * dram.subchannels) * LINE_BYTES * PS_PER_S / line_ps
}

fn clock_ps(memory: &MemoryParams) -> f64 {
    memory.dram.clock_ps_numerator as f64 / memory.dram.clock_ps_denominator as f64
}

/// Returns the time for which a read that is a row hit holds an entry of the CHA without load.
fn held_in_cha_ps(socket: &SocketParams) -> f64 {
    let dram = &socket.memory.dram;
    let clocks = f64::from(dram.timing.cl + dram.timing.burst * dram.accesses_per_line);
    (socket.cha.read_to_mc_ps + socket.cha.from_mc_ps) as f64 + clocks * clock_ps(&socket.memory)
}

/// Returns the time for which a write of a device holds a credit of the IIO without load.
pub(super) fn held_for_write_ps(socket: &SocketParams) -> f64 {
    let (iio, cha) = (&socket.iio, &socket.cha);
    (iio.write_to_cha_ps + cha.io_write_to_mc_ps + cha.write_ack_ps + iio.write_ack_ps) as f64
}

/// Returns the time for which a read of a device holds a credit of the IIO without load.
pub(super) fn held_for_read_ps(socket: &SocketParams) -> f64 {
    (socket.iio.read_to_cha_ps + socket.iio.read_return_ps) as f64 + held_in_cha_ps(socket)
}
