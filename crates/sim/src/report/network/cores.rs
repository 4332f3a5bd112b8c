//! Finds cores that serve the network and are always busy.

use super::class::{machine_of, TrafficClass};
use super::core_time::{register_wait, share_spent, spent_words};
use super::fair_share::{full_place, FullPlace};
use super::hosts::{data_words, memory_load};
use super::limit::{not_known, TrafficLimit, BUS_FULL, FULL};
use crate::report::view::WorldView;
use hostnet_model::core::{Core, EngineKind};
use hostnet_model::dimm::Dimm;
use hostnet_model::os::{CoreTimeKind, CoreTimes, NetStack};
use hostnet_model::params::{FlowParams, Transport};
use hostnet_model::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// Share of its busy time above which a stalled core waits for memory rather than works.
const MOSTLY: f64 = 0.5;
/// Share of its busy time that a core must stall on memory for saturated channels to be a possible limit: the time
/// that a faster core saves would be spent waiting.
const PARTLY: f64 = 0.2;
/// Share of time that network work must wait for other work on its core to be reported.
const SHARED: f64 = 0.01;

/// Use of a core that serves the network, over the window.
#[derive(Clone, Copy)]
pub(super) struct CoreUse<'a> {
    times: &'a CoreTimes,
    /// Share of the window that its network work waited for other work on the core.
    waits: f64,
}

/// Returns the cores that a flow uses at a host at time `now_ps`.
fn cores_of(flow: &FlowParams, host: u16, now_ps: u64) -> impl Iterator<Item = u32> {
    let on_cores = matches!(flow.transport, Transport::Tcp(_) | Transport::Udp(_));
    let now_at = |initiator: bool, first: u32| {
        let mut gone = flow.moves.iter().filter(|one| one.initiator == initiator && one.at_ps < now_ps);
        // Moves are in the order of time, so the last one so far names the current core.
        gone.next_back().map_or(first, |one| one.core)
    };
    let ends = [(flow.from, now_at(true, flow.from_core)), (flow.to, now_at(false, flow.to_core))];
    ends.into_iter().filter(move |(at, _)| on_cores && *at == host).map(|(_, core)| core)
}

/// Returns the use of a core that serves the network. Cores are numbered through the sockets.
fn core_use<'a>(view: &WorldView, machine: &'a Machine, core: u32) -> Option<CoreUse<'a>> {
    let core = machine.each::<Core>().nth(core as usize)?;
    // A core may run other engines beside its network stack, and each has its own wait.
    let (engine, stack) = (0..).zip(core.engines()).find_map(|(engine, of)| Some((engine, NetStack::of(of)?)))?;
    Some(CoreUse { times: stack.times(), waits: core.waited_ps(engine, view.now) as f64 / view.window_ps() })
}

/// Returns the share of the window that a core was busy, or its network work waited for other work.
fn busy_share(view: &WorldView, core: CoreUse) -> f64 {
    // Network work that waits for other work counts as idle, but the core has no time to spare.
    (1.0 - share_spent(view, core.times, CoreTimeKind::Idle) + core.waits).min(1.0)
}

/// Returns the cores of a class at a host that are always busy, with their use.
fn busy_cores_at<'a>(
    view: &WorldView,
    machine: &'a Machine,
    host: u16,
    class: &TrafficClass,
) -> BTreeMap<u32, CoreUse<'a>> {
    let own = class.flows.iter().flat_map(|flow| cores_of(flow, host, class.now_ps));
    let cores = own.filter_map(|core| Some((core, core_use(view, machine, core)?)));
    cores.filter(|&(_, core)| busy_share(view, core) >= FULL).collect()
}

/// Returns true if a flow uses a core of a class at a host that is always busy.
fn runs_on_busy(view: &WorldView, flow: &FlowParams, host: u16, class: &TrafficClass) -> bool {
    let busy = |machine| busy_cores_at(view, machine, host, class);
    let busy = machine_of(view, host).map(busy).unwrap_or_default();
    cores_of(flow, host, class.now_ps).any(|core| busy.contains_key(&core))
}

/// Finds the hosts where cores of a class are always busy.
fn full_places(
    view: &WorldView,
    limit: &'static str,
    hosts: &BTreeSet<u16>,
    class: &TrafficClass,
) -> Option<FullPlace> {
    let busiest = |host| busiest_core(view, limit, host, class);
    full_place(view, hosts, class, busiest, |flow, host| runs_on_busy(view, flow, host, class))
}

/// Names the busiest core of a class at `hosts`, if it is always busy. The limit is not known if the class has less
/// than its share of such cores.
pub(super) fn busy_cores(
    view: &WorldView,
    limit: &'static str,
    hosts: &BTreeSet<u16>,
    class: &TrafficClass,
) -> Option<TrafficLimit> {
    full_places(view, limit, hosts, class).map(FullPlace::limit)
}

/// Names the busiest core of a class at `hosts`, if it is always busy and the class has its share of such cores.
pub(super) fn full_cores(
    view: &WorldView,
    limit: &'static str,
    hosts: &BTreeSet<u16>,
    class: &TrafficClass,
) -> Option<TrafficLimit> {
    full_places(view, limit, hosts, class).and_then(FullPlace::with_share)
}

/// Names the busiest core of a class at a host, if it is always busy.
fn busiest_core(view: &WorldView, limit: &'static str, host: u16, class: &TrafficClass) -> Option<TrafficLimit> {
    let machine = machine_of(view, host)?;
    let cores = busy_cores_at(view, machine, host, class).into_values();
    let busiest = cores.max_by(|&one, &other| busy_share(view, one).total_cmp(&busy_share(view, other)))?;
    let busy = busy_share(view, busiest);
    let share = |spent| share_spent(view, busiest.times, spent);
    let waits = share(CoreTimeKind::Register);
    let name = &view.plan.cluster.hosts[usize::from(host)].name;
    let in_dimm = machine.first::<Dimm>().is_some();
    // Before all else: such a core is busy, yet a faster one would wait as long.
    if waits >= busy * register_wait(in_dimm) {
        let why = format!(
            "a core of {name} waits for {} of its NIC {:.0} % of the time: the way to them is long, or the \
            link is full",
            if in_dimm { "lines" } else { "registers" },
            waits * 100.0
        );
        return Some(TrafficLimit { limit: "not known", place: name.clone(), load: Some(waits), why });
    }
    let mut why = format!("a core of {name} is busy {:.0} % of the time: {}", busy * 100.0, use_words(view, busiest));
    let memory = memory_load(view, usize::from(host), machine).filter(|&load| load >= BUS_FULL);
    if let Some(load) = memory.filter(|_| share(CoreTimeKind::Stalled) >= PARTLY * busy) {
        why += &format!("; {}", data_words(name, load));
        if share(CoreTimeKind::Stalled) < MOSTLY * busy {
            let place = name.clone();
            let unknown = not_known(Some(load.min(1.0)), format!("{why}: a faster core alone may not help"));
            return Some(TrafficLimit { place, ..unknown });
        }
        return Some(TrafficLimit { limit: "memory bandwidth", place: name.clone(), load: Some(load.min(1.0)), why });
    }
    Some(TrafficLimit { limit, place: name.clone(), load: Some(busy), why })
}

/// Describes the use of a core in words.
fn use_words(view: &WorldView, core: CoreUse) -> String {
    let own = spent_words(view, core.times);
    if core.waits < SHARED {
        return own;
    }
    let waits = format!("waits for other work on the core {:.0} %", 100.0 * core.waits);
    [own, waits].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ")
}
