//! What limits a workload, and which of the user's parameters had no influence.

use crate::sample::{domains, Group};
use crate::view::View;
use hostnet_measure::Domain;
use hostnet_model::params::WorkloadKind;

/// Share of its credits in use from which a domain is called exhausted.
const EXHAUSTED: f64 = 0.85;

/// What limits a workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// The domain, or `offered load`.
    pub(crate) domain: &'static str,
    /// A sentence for people.
    pub(crate) text: String,
}

/// What limits workload `class`: the domain of its own whose credits are used up, and what the workload gets from it.
pub(crate) fn of(view: &View, class: usize) -> Limit {
    let name = &view.plan.server.workloads[class].name;
    let stream = matches!(view.plan.server.workloads[class].kind, WorkloadKind::Stream(_));
    let candidates: &[Group] =
        if stream { &[Group::Lfb] } else { &[Group::P2mWrite, Group::P2mRead, Group::Posted, Group::NonPosted] };
    let used = candidates.iter().filter_map(|&group| usage(view, group, class));
    let Some(most) = used.max_by(|a, b| a.share.total_cmp(&b.share)) else {
        return Limit { domain: "offered load", text: format!("{name} moved nothing") };
    };
    let latency_ns = view.line_latency(class).mean().unwrap_or(0.0) / 1000.0;
    if most.share < EXHAUSTED {
        let text = format!(
            "{name} is limited by what it offers: {:.1} of {} {} credits in use, {latency_ns:.0} ns per line",
            most.in_use,
            most.capacity,
            most.group.name(),
        );
        return Limit { domain: "offered load", text };
    }
    let domain = if stream { longer_phase(view, class) } else { most.group.name() };
    let text = format!(
        "{name} is limited by {domain}: {:.1} of {} credits in use, {latency_ns:.0} ns each; throughput = credits x 64 B / latency",
        most.in_use, most.capacity,
    );
    Limit { domain, text }
}

/// The domain in which the LFB entries of a stream spend most of their time.
fn longer_phase(view: &View, class: usize) -> &'static str {
    let area = |group| usage(view, group, class).map_or(0.0, |usage| usage.in_use);
    if area(Group::C2mWrite) > area(Group::C2mRead) {
        Group::C2mWrite.name()
    } else {
        Group::C2mRead.name()
    }
}

struct Used {
    group: Group,
    in_use: f64,
    capacity: u32,
    share: f64,
}

/// Credits in use of the domains of a group that the workload uses.
fn usage(view: &View, group: Group, class: usize) -> Option<Used> {
    let parts = domains(view.machine, group);
    let mine: Vec<&Domain> =
        parts.iter().map(|(_, domain)| *domain).filter(|domain| domain.classes()[class].area_ps() > 0).collect();
    let window_ps = view.now.since(view.window_start) as f64;
    let capacity: u32 = mine.iter().map(|domain| domain.capacity()).sum();
    let area: u64 = mine.iter().map(|domain| domain.area_ps()).sum();
    (capacity > 0 && window_ps > 0.0).then(|| {
        let in_use = area as f64 / window_ps;
        Used { group, in_use, capacity, share: in_use / f64::from(capacity) }
    })
}

/// The parameters that the user gave and that cannot have changed the result.
pub(crate) fn without_influence(view: &View) -> Vec<String> {
    view.plan.given.iter().filter(|path| is_idle(view, path)).cloned().collect()
}

fn is_idle(view: &View, path: &str) -> bool {
    let workloads = &view.plan.server.workloads;
    let storage = workloads.iter().any(|workload| matches!(workload.kind, WorkloadKind::Fio(_)));
    let of_storage = ["ssd.", "pcie.", "iio.", "fio."].iter().any(|table| path.starts_with(table));
    if of_storage && !storage {
        return true;
    }
    match path {
        "iio.write_credits" => !ran_out(view, Group::P2mWrite),
        "iio.read_credits" => !ran_out(view, Group::P2mRead),
        "memory.controller.rpq.entries" => !ran_out(view, Group::Rpq),
        "memory.controller.wpq.entries" => !ran_out(view, Group::Wpq),
        "core.lfb.entries" => !ran_out(view, Group::Lfb),
        "pcie.posted_lines" => !ran_out(view, Group::Posted),
        "pcie.nonposted_lines" => !ran_out(view, Group::NonPosted),
        "pcie.mps" | "pcie.write_overhead" => !used(view, Group::P2mWrite) && !used(view, Group::P2mRead),
        "pcie.mrrs" | "pcie.read_overhead" | "pcie.completion_overhead" => !used(view, Group::P2mRead),
        _ => false,
    }
}

fn ran_out(view: &View, group: Group) -> bool {
    domains(view.machine, group).iter().any(|(_, domain)| domain.in_use_max() == domain.capacity())
}

fn used(view: &View, group: Group) -> bool {
    domains(view.machine, group).iter().any(|(_, domain)| domain.area_ps() > 0)
}
