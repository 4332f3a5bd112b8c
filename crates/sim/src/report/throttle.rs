//! Computes how much time the host control takes from a workload by throttling its cores.

use super::network::rule_name;
use super::view::ServerView;
use hostnet_analysis::explain::{Pool, Throttling};
use hostnet_model::control::LEVEL_MAX;
use hostnet_model::core::{Core, EngineKind};
use hostnet_model::os::NetStack;

/// Cores of a workload that the host control throttles.
enum ThrottledCores {
    /// Cores on other sockets: for each, the level at or above which MBA delays its requests in full.
    Sockets(Vec<u8>),
    /// Number of cores on the socket of the NIC. MBA delays them by a third more with each level.
    Local(usize),
}

impl ThrottledCores {
    /// Returns the delay that a level adds to a request, in ps, averaged over the cores.
    fn added_ps(&self, level: u8, mba_ps: u64) -> f64 {
        match self {
            Self::Sockets(from) => {
                let slowed = from.iter().filter(|&&from| level >= from).count();
                mba_ps as f64 * slowed as f64 / from.len() as f64
            }
            // The highest level stops the cores, so the delay reaches its maximum one level below.
            Self::Local(_) => mba_ps as f64 * f64::from(level) / f64::from(LEVEL_MAX - 1),
        }
    }

    fn cores(&self) -> usize {
        match self {
            Self::Sockets(from) => from.len(),
            Self::Local(cores) => *cores,
        }
    }
}

/// Returns the share of time that the host control takes from a workload, or `None` if it reaches none of its cores.
/// `lfb` is the LFB pool of these cores. A delayed request costs time only as far as a core has requests in flight.
pub(super) fn throttling(view: &ServerView, class: usize, lfb: Option<&Pool>) -> Option<Throttling> {
    let control = view.machine.control()?;
    let params = view.server.control.as_ref()?;
    let throttled_cores = throttled_cores(view, class).filter(|throttled_cores| throttled_cores.cores() > 0)?;
    let share = |level: u8| control.counts().levels_ps[usize::from(level)] as f64 / view.window_ps();
    let stopped = share(LEVEL_MAX);
    let runs = 1.0 - stopped;
    let added = |level: u8| share(level) * throttled_cores.added_ps(level, params.mba_ps);
    // Delays act only while the cores run, so stops are taken out of the time.
    let added_ps = if runs > 0.0 { (0..LEVEL_MAX).map(added).sum::<f64>() / runs } else { 0.0 };
    let waits = lfb.and_then(|lfb| {
        let each = lfb.in_use / runs.max(f64::MIN_POSITIVE) / throttled_cores.cores() as f64;
        Some((added_ps / 1000.0 / lfb.latency_ns?).min(1.0) * each.min(1.0))
    });
    // Shares below 0.5 % would be printed as 0 %.
    let levels = (1..=LEVEL_MAX).map(|level| (level, 100.0 * share(level))).filter(|&(_, percent)| percent >= 0.5);
    let levels: Vec<String> =
        levels.map(|(level, percent)| format!("{percent:.0} % of the time at level {level}")).collect();
    let rule = rule_name(control.rule());
    let why = format!("the control of its host ({rule}) throttles its cores {}", levels.join(", "));
    Some(Throttling { lost: stopped + runs * waits.unwrap_or(0.0), why })
}

/// Returns the cores of a workload that the host control throttles, as [`build`](crate::build) wires them; `None` for
/// devices.
fn throttled_cores(view: &ServerView, class: usize) -> Option<ThrottledCores> {
    let at = view.server.sockets.iter().position(|socket| socket.nic.is_some())?;
    if let Some(remote) = view.server.sockets[at].remote.as_ref().filter(|remote| remote.sockets > 0) {
        let own = remote.cores.iter().filter(|core| usize::from(core.class) == class);
        return Some(ThrottledCores::Sockets(own.map(|core| first_level(core.socket as usize)).collect()));
    }
    let of_all: Vec<usize> = (0..view.server.workloads.len()).flat_map(|class| sockets_of(view, class)).collect();
    let own = sockets_of(view, class);
    if of_all.iter().all(|&socket| socket == at) {
        return Some(ThrottledCores::Local(own.len()));
    }
    // Sockets are counted without that of the NIC, as control lists them.
    let others = own.into_iter().filter(|&socket| socket != at);
    Some(ThrottledCores::Sockets(others.map(|socket| first_level(socket - usize::from(socket > at))).collect()))
}

/// Returns the level at or above which cores of another socket are throttled: level 1 for the first such socket, 2 for
/// the second and 3 for the others.
fn first_level(socket: usize) -> u8 {
    u8::try_from(socket + 1).unwrap_or(LEVEL_MAX).min(LEVEL_MAX - 1)
}

/// Returns the socket of each core of a workload that serves no network traffic.
fn sockets_of(view: &ServerView, class: usize) -> Vec<usize> {
    let cores: Vec<&Core> = view.machine.each().collect();
    let serves = |core: &Core| core.engines().iter().any(|engine| NetStack::of(engine).is_some());
    let own = view.server.workloads[class].kind.cores().iter();
    let free = own.filter(|&&core| !cores.get(core as usize).is_some_and(|core| serves(core)));
    free.map(|&core| socket_of(view, core)).collect()
}

/// Returns the socket of a core. Cores are numbered through the sockets.
fn socket_of(view: &ServerView, core: u32) -> usize {
    let mut first = 0;
    let holds = |count: u32| {
        first += count;
        core < first
    };
    view.server.sockets.iter().map(|socket| socket.core.count).position(holds).unwrap_or(0)
}
