//! Finds the cores that serve the network and are busy all the time.

use super::limits::{Class, Limit, FULL};
use super::spent::register_wait;
use super::working::{data_words, not_known, BUS_FULL};
use crate::report::view::WorldView;
use hostnet_model::core::{Core, Runs};
use hostnet_model::dimm::Dimm;
use hostnet_model::os::{CoreTimes, NetStack, Spent};
use hostnet_model::params::{FlowParams, Transport};
use hostnet_model::Machine;
use std::collections::BTreeMap;

/// A core waits for memory, and does not work, when that is this share of its busy time.
const MOSTLY: f64 = 0.5;

/// Returns the cores that a flow runs on at a host at a time.
fn cores_of(flow: &FlowParams, host: u16, now_ps: u64) -> impl Iterator<Item = u32> {
    let on_cores = matches!(flow.transport, Transport::Tcp(_) | Transport::Udp(_));
    let now_at = |initiator: bool, first: u32| {
        let mut gone = flow.moves.iter().filter(|one| one.initiator == initiator && one.at_ps < now_ps);
        gone.next_back().map_or(first, |one| one.core)
    };
    let ends = [(flow.from, now_at(true, flow.from_core)), (flow.to, now_at(false, flow.to_core))];
    ends.into_iter().filter(move |(at, _)| on_cores && *at == host).map(|(_, core)| core)
}

impl WorldView<'_> {
    /// Returns where the time went of the network work of a core; cores are numbered through the sockets.
    fn times_of<'a>(&self, machine: &'a Machine, core: u32) -> Option<&'a CoreTimes> {
        let core = machine.each::<Core>().nth(core as usize)?;
        core.engines().iter().find_map(NetStack::of).map(NetStack::times)
    }

    /// Returns the cores of a class at a host that are busy all the time, each with where its time went.
    fn busy_of<'a>(&self, machine: &'a Machine, host: u16, class: &Class) -> BTreeMap<u32, &'a CoreTimes> {
        let own = class.flows.iter().flat_map(|flow| cores_of(flow, host, class.now_ps));
        let times = own.filter_map(|core| Some((core, self.times_of(machine, core)?)));
        times.filter(|(_, times)| 1.0 - self.spent(times, Spent::Idle) >= FULL).collect()
    }

    /// Says why the busy cores of a class at a host may not hold it back.
    fn beyond_core_share(&self, host: u16, class: &Class) -> Option<String> {
        let busy = self.busy_of(self.machine(host)?, host, class);
        self.beyond_fair_share(class, |_, flow| cores_of(flow, host, class.now_ps).any(|core| busy.contains_key(&core)))
    }

    /// Names the busiest core of a class at a host, if it is busy all the time; it is not known whether that holds back
    /// a class with less than its share of the core.
    pub(super) fn busy_cores(&self, limit: &'static str, host: u16, class: &Class) -> Option<Limit> {
        let found = self.busiest_core(limit, host, class)?;
        let elsewhere = self.beyond_core_share(host, class).filter(|_| found.limit == limit);
        Some(match elsewhere {
            None => found,
            Some(elsewhere) => {
                not_known(found.load, format!("{}; but {elsewhere}: it may be held back elsewhere", found.why))
            }
        })
    }

    /// Names the busiest core of a class at a host, if it is busy all the time and the class has its share of it.
    pub(super) fn full_core(&self, limit: &'static str, host: u16, class: &Class) -> Option<Limit> {
        self.busiest_core(limit, host, class).filter(|_| self.beyond_core_share(host, class).is_none())
    }

    /// Names the busiest core of a class at a host, if it is busy all the time.
    fn busiest_core(&self, limit: &'static str, host: u16, class: &Class) -> Option<Limit> {
        let machine = self.machine(host)?;
        let share = |times: &CoreTimes, spent| self.spent(times, spent);
        let busy = self.busy_of(machine, host, class).into_values();
        let busiest = busy.min_by(|a, b| share(a, Spent::Idle).total_cmp(&share(b, Spent::Idle)))?;
        let busy = 1.0 - share(busiest, Spent::Idle);
        let waits = share(busiest, Spent::Register);
        let name = &self.plan.cluster.hosts[usize::from(host)].name;
        let in_dimm = machine.first::<Dimm>().is_some();
        if waits >= busy * register_wait(in_dimm) {
            let why = format!(
                "a core of {name} waits for {} of its NIC {:.0} % of the time: the way to them is long, or the \
                link is full",
                if in_dimm { "lines" } else { "registers" },
                waits * 100.0
            );
            return Some(Limit { limit: "not known", place: name.clone(), load: Some(waits), why });
        }
        let mut why =
            format!("a core of {name} is busy {:.0} % of the time: {}", busy * 100.0, self.spent_words(busiest));
        let memory = self.memory_load(usize::from(host), machine).filter(|&load| load >= BUS_FULL);
        if let Some(load) = memory.filter(|_| share(busiest, Spent::Stalled) >= MOSTLY * busy) {
            why += &format!("; {}", data_words(name, load));
            return Some(Limit { limit: "memory bandwidth", place: name.clone(), load: Some(load.min(1.0)), why });
        }
        Some(Limit { limit, place: name.clone(), load: Some(busy), why })
    }
}
