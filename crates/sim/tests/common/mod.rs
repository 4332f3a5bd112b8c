//! Helpers of the tests: plans from text, and inspection of machines.
#![allow(dead_code, unreachable_pub)]

pub mod laws;
pub mod results;
pub mod scenario;

use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_kernel::{checkpoint, Simulation, Time};
use hostnet_measure::Domain;
use hostnet_model::memory::{Channel, Counters};
use hostnet_model::Machine;
use hostnet_sim::sample::{self, PoolGroup};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Example with six cores that store to memory while four drives are read: the third quadrant of "Understanding the
/// Host Network".
pub const QUADRANT_3: &str = "quadrant3.toml";

/// Returns the plan of a valid TOML text.
pub fn plan(text: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    resolve(&Input { text, format: Format::Toml, file: "test.toml", base_dir: &base_dir, overrides: &overrides })
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the plan of one of the examples.
pub fn example(name: &str, overrides: &[&str]) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    plan(&std::fs::read_to_string(path).expect("an example"), overrides)
}

/// Returns a plan with a stream of loads (`reads` = 1) or stores (`reads` = 0) on some cores of the Cascade Lake
/// server.
pub fn stream(cores: &str, reads: f64, overrides: &[&str]) -> Plan {
    let text = format!(
        "[server]\npreset = \"cascade-lake-6234\"\n\
         [workload.stream]\nkind = \"stream\"\ncores = \"{cores}\"\nreads = {reads:?}\n\
         [run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n"
    );
    plan(&text, overrides)
}

/// Returns a simulated time given in us.
pub fn us(us: u64) -> Time {
    Time::from_ps(us * 1_000_000)
}

/// Returns a hash of the whole state of some machines.
pub fn hash<'a>(machines: impl IntoIterator<Item = &'a Machine>) -> String {
    let mut hasher = Sha256::new();
    for machine in machines {
        hasher.update(checkpoint::write("", machine).expect("a machine can be written"));
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the machine of a simulation of one server, with the statistics of every domain settled now.
pub fn settled(simulation: &mut Simulation<Machine>) -> &Machine {
    let (machine, scheduler) = &mut simulation.parts_mut()[0];
    sample::settle(machine, scheduler.now());
    machine
}

/// Returns the domains of a machine, each with a name for messages and its group.
pub fn domains(machine: &Machine) -> Vec<(String, PoolGroup, &Domain)> {
    let of_group = |group: PoolGroup| {
        let parts = sample::domains(machine, group).into_iter();
        parts.map(move |(part, domain)| (format!("{} of {part}", group.name()), group, domain))
    };
    PoolGroup::ALL.into_iter().flat_map(of_group).collect()
}

/// Returns the credits in use in a group.
pub fn in_use(machine: &Machine, group: PoolGroup) -> u64 {
    sample::domains(machine, group).iter().map(|(_, domain)| u64::from(domain.in_use())).sum()
}

/// Returns the credits that one workload has acquired in a group since the last reset.
pub fn acquired(machine: &Machine, group: PoolGroup, class: usize) -> u64 {
    let parts = sample::domains(machine, group);
    parts.iter().flat_map(|(_, domain)| group.usages(domain, Some(class))).map(|usage| usage.acquired()).sum()
}

/// Returns the counters of each channel.
pub fn counters(machine: &Machine, now: Time) -> Vec<Counters> {
    machine.each().map(|channel: &Channel| channel.controller().counters(now)).collect()
}
