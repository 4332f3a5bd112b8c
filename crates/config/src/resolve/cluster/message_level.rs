//! `network.fidelity = "flow"`: what a network that carries messages whole can simulate.

use super::table;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{
    AlgorithmSpec, CableSpec, ClusterSpec, HostKindSpec, NetworkFidelity, SwitchKindSpec, SwitchSpec,
};

const KEY: &str = "network.fidelity";

/// Returns the level of detail of the network of a cluster.
///
/// # Errors
/// Returns an error for the first thing that needs packets, if the network carries messages whole.
pub(super) fn resolve(spec: &ClusterSpec) -> Result<NetworkFidelity, Issue> {
    let fidelity = spec.network.fidelity.unwrap_or_default();
    if fidelity.is_packet() {
        return Ok(fidelity);
    }
    if spec.job.is_empty() {
        let message = "\"flow\" needs jobs of ranks, whose messages it carries; give one, such as [job.train]";
        return Err(Issue::new(Code::RequiresKey, KEY, message));
    }
    let packets = needs_packets(spec);
    match packets.into_iter().next() {
        Some((path, what)) => {
            let message = format!("{what} needs packets, and \"flow\" has messages only; give \"packet\"");
            Err(Issue::between(Code::NotSupported, &[&path, KEY], message))
        }
        None => check_hosts(spec).map(|()| fidelity),
    }
}

/// Lists the keys of a configuration that have no meaning without packets, and what each stands for.
fn needs_packets(spec: &ClusterSpec) -> Vec<(String, &'static str)> {
    let flows = spec.flow.keys().map(|name| (table("flow", name), "a flow beside the jobs"));
    let jobs = spec.job.iter().flat_map(|(name, job)| {
        let path = table("job", name);
        let sums = job.algorithm == Some(AlgorithmSpec::InNetwork);
        [
            sums.then(|| (format!("{path}.algorithm"), "adding vectors in switches")),
            (job.compress == Some(true)).then(|| (format!("{path}.compress"), "compression")),
        ]
    });
    let cables = spec.cable.iter().flat_map(|(name, cable)| faults(&table("cable", name), cable));
    let bottleneck = spec
        .network
        .bottleneck
        .as_ref()
        .into_iter()
        .flat_map(|cable| faults_of("network.bottleneck", !cable.down.is_empty(), cable.corrupt > 0.0));
    let switches = spec.switch.iter().map(|(name, switch)| (table("switch", name), switch));
    let switches = switches.chain([("network.switch".to_owned(), &spec.network.switch)]);
    let switches = switches.flat_map(|(path, switch)| learns(&path, switch));
    flows.chain(jobs.flatten()).chain(cables).chain(bottleneck).chain(switches).collect()
}

fn faults(path: &str, cable: &CableSpec) -> impl Iterator<Item = (String, &'static str)> {
    faults_of(path, !cable.down.is_empty(), cable.corrupt > 0.0)
}

fn faults_of(path: &str, is_down: bool, corrupts: bool) -> impl Iterator<Item = (String, &'static str)> {
    let down = is_down.then(|| (format!("{path}.down"), "an outage"));
    down.into_iter().chain(corrupts.then(|| (format!("{path}.corrupt"), "damage of packets")))
}

fn learns(path: &str, switch: &SwitchSpec) -> Option<(String, &'static str)> {
    (switch.kind == Some(SwitchKindSpec::Learning)).then(|| (format!("{path}.kind"), "learning from packets"))
}

/// Checks that all hosts are endpoints.
fn check_hosts(spec: &ClusterSpec) -> Result<(), Issue> {
    match spec.host.iter().find(|(_, host)| host.kind != HostKindSpec::Endpoint) {
        Some((name, _)) => {
            let message =
                "is a server, whose NIC and cores handle packets; \"flow\" needs hosts of kind = \"endpoint\"";
            Err(Issue::between(Code::WrongHostKind, &[&table("host", name), KEY], message))
        }
        None => Ok(()),
    }
}

/// Returns a note about what the network cannot know, if it carries messages whole.
pub(super) fn note(fidelity: NetworkFidelity) -> Option<String> {
    (!fidelity.is_packet()).then(|| {
        format!(
            "{KEY}: with \"flow\", messages share cables max-min fairly and at once; queues, marks, pauses (PFC), \
             losses and timeouts, and what they would cost, are not known"
        )
    })
}
