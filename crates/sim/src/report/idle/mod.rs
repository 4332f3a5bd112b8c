//! Finds keys set by the user that had no effect on the results, and keys whose limits were not reached.
//!
//! A key has no effect if its part is idle. For servers, this follows from the configuration alone ([`rules`]); keys of
//! the network around them are checked in [`network`]. A limit that nothing reached in the measurement window
//! ([`limits`]) is reported separately, because it may have acted during the warm-up.

mod cluster_use;
mod limits;
pub(crate) mod network;
mod nic;
pub(crate) mod predicted;
mod rules;
mod transports;

pub(crate) use cluster_use::ClusterUse;

use crate::read::sample::{domains, PoolGroup};
use crate::report::view::ServerView;
use hostnet_config::GivenKey;
use hostnet_model::params::{ServerParams, SocketParams};
use std::collections::BTreeMap;

/// Socket of a server, with everything that decides if a key has an effect on the socket.
struct SocketContext<'a> {
    server: &'a ServerParams,
    socket: &'a SocketParams,
    cluster_use: ClusterUse,
}

/// Paths of keys that the user set.
pub(crate) struct IdleKeys {
    /// Keys that cannot have changed the result, whatever their values.
    pub(crate) no_effect: Vec<String>,
    /// Keys of limits and rules that did not come into play in the window.
    pub(crate) never_met: Vec<String>,
}

impl IdleKeys {
    /// Finds such keys of a server after a run.
    pub(crate) fn of(view: &ServerView) -> Self {
        let is_unused = |given: &&GivenKey| is_unused(view.server, view.cluster_use, given);
        let (unused, others): (Vec<&GivenKey>, Vec<&GivenKey>) = view.given.iter().partition(is_unused);
        let paths = |keys: Vec<&GivenKey>| keys.into_iter().map(|given| given.path.clone()).collect();
        let not_met = others.into_iter().filter(|given| limits::never_met(view, &given.key)).collect();
        IdleKeys { no_effect: paths(unused), never_met: paths(not_met) }
    }
}

/// Returns true if a key has no effect on any socket that it applies to.
fn is_unused(server: &ServerParams, cluster_use: ClusterUse, given: &GivenKey) -> bool {
    let sockets = server.sockets.iter().enumerate();
    let mut own = sockets.filter(|(number, _)| given.socket.is_none_or(|socket| socket == *number)).peekable();
    own.peek().is_some()
        && own.all(|(_, socket)| rules::is_idle(&SocketContext { server, socket, cluster_use }, &given.key))
}

/// Merges the idle keys of several hosts: a key is listed only if it is idle on every host that has it.
#[derive(Default)]
pub(crate) struct ClusterIdleKeys {
    /// For each path: if the key had no effect on any host so far, and if it had none or its limit was not reached.
    keys: BTreeMap<String, [bool; 2]>,
}

impl ClusterIdleKeys {
    /// Adds the keys of a host.
    pub(crate) fn add(&mut self, view: &ServerView) {
        let IdleKeys { no_effect, never_met } = IdleKeys::of(view);
        for GivenKey { path, .. } in &view.given {
            // A key without effect on one host may be a limit that another never reached: then it is never met.
            let here = [no_effect.contains(path), never_met.contains(path) || no_effect.contains(path)];
            let all = self.keys.entry(path.clone()).or_insert([true; 2]);
            *all = [all[0] && here[0], all[1] && here[1]];
        }
    }

    /// Returns the keys that are idle on every host that has them.
    pub(crate) fn all(self) -> IdleKeys {
        let paths = |wanted: [bool; 2]| {
            let found = self.keys.iter().filter(|(_, is)| **is == wanted);
            found.map(|(path, _)| path.clone()).collect()
        };
        IdleKeys { no_effect: paths([true, true]), never_met: paths([false, true]) }
    }
}

/// Returns true if any credit of a domain group was in use in the window.
pub(super) fn uses_domain(view: &ServerView, group: PoolGroup) -> bool {
    domains(view.machine, group).iter().any(|(_, domain)| domain.area_ps() > 0)
}
