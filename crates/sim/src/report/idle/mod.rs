//! Finds the keys of the user that cannot have changed the result, and those that did not come into play.
//!
//! A key of a server, or of what is around it ([`network`]), is without effect where what it belongs to takes no part
//! ([`rules`], known from the configuration alone). A limit or a rule that nothing came to in the measuring window
//! ([`limits`]) is told apart from that: it may have acted before.

mod around;
mod limits;
pub(crate) mod network;
mod nic;
pub(crate) mod predicted;
mod rules;
mod transports;

pub(crate) use around::Around;

use crate::read::sample::{domains, Group};
use crate::report::view::ServerView;
use hostnet_config::GivenKey;
use hostnet_model::params::{ServerParams, SocketParams};
use std::collections::BTreeMap;

/// A socket of a server, and what decides whether a key has an effect there.
struct Place<'a> {
    server: &'a ServerParams,
    socket: &'a SocketParams,
    around: Around,
}

/// Paths of keys that were given of a server.
pub(crate) struct Idle {
    /// These cannot have changed the result, whatever their values.
    pub(crate) no_effect: Vec<String>,
    /// Nothing in the window came to the limits or rules of these.
    pub(crate) never_met: Vec<String>,
}

impl Idle {
    /// Finds them after a run.
    pub(crate) fn of(view: &ServerView) -> Self {
        let is_unused = |given: &&GivenKey| is_unused(view.server, view.around, given);
        let (unused, others): (Vec<&GivenKey>, Vec<&GivenKey>) = view.given.iter().partition(is_unused);
        let paths = |keys: Vec<&GivenKey>| keys.into_iter().map(|given| given.path.clone()).collect();
        let not_met = others.into_iter().filter(|given| limits::never_met(view, &given.key)).collect();
        Idle { no_effect: paths(unused), never_met: paths(not_met) }
    }
}

/// Returns true if a key has no effect at any of the sockets that it speaks of.
fn is_unused(server: &ServerParams, around: Around, given: &GivenKey) -> bool {
    let sockets = server.sockets.iter().enumerate();
    let mut own = sockets.filter(|(number, _)| given.socket.is_none_or(|socket| socket == *number)).peekable();
    own.peek().is_some() && own.all(|(_, socket)| rules::is_idle(&Place { server, socket, around }, &given.key))
}

/// Joins what is known of the hosts of a cluster: a key of several hosts is in a list if it is at all of them.
#[derive(Default)]
pub(crate) struct OfHosts {
    /// The first value of a path is true if it has had no effect at any host so far, the second if that is so or its
    /// limit was not met.
    keys: BTreeMap<String, [bool; 2]>,
}

impl OfHosts {
    /// Adds what was given of a host, and what became of it there.
    pub(crate) fn add(&mut self, view: &ServerView) {
        let Idle { no_effect, never_met } = Idle::of(view);
        for GivenKey { path, .. } in &view.given {
            let here = [no_effect.contains(path), never_met.contains(path) || no_effect.contains(path)];
            let all = self.keys.entry(path.clone()).or_insert([true; 2]);
            *all = [all[0] && here[0], all[1] && here[1]];
        }
    }

    /// Returns the keys that are so at every host that has them.
    pub(crate) fn all(self) -> Idle {
        let paths = |wanted: [bool; 2]| {
            let found = self.keys.iter().filter(|(_, is)| **is == wanted);
            found.map(|(path, _)| path.clone()).collect()
        };
        Idle { no_effect: paths([true, true]), never_met: paths([false, true]) }
    }
}

/// Returns true if any credit of these pools was taken in the window.
pub(super) fn used(view: &ServerView, group: Group) -> bool {
    domains(view.machine, group).iter().any(|(_, domain)| domain.area_ps() > 0)
}
