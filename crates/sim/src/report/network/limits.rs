//! Finds the limit of each class of traffic, by simple rules from measurements.
//!
//! A class whose flows begin at the rate of a load is limited by that load, if it carries all of it. A job is limited
//! by the activity that takes most of its critical path, if known. Otherwise the first rule that holds decides: a
//! full cable; a full fabric of a switch that learns; a cable that is down or an application that does not read; the
//! host network; busy cores; pauses; a ring without descriptors; marks; losses. If no rule holds, the class waits for
//! answers or for its windows.

use super::class::TrafficClass;
use super::compute_bottleneck::ranks_on_cores;
use super::cores::busy_cores;
use super::dimm::dimm_limit;
use super::faults::{cable_down, deaf_receivers, lossy_path};
use super::flow_paths::FlowPaths;
use super::forwarding_bottleneck::{forwarded_flows, forwarding_limit};
use super::full_cables::full_fabric;
use super::job_bottleneck::JobPath;
use super::jobs::{limit_on_path, waiting_ranks};
use super::limit::{worst_limit, ClassLimit, TrafficLimit};
use super::load::offered_load;
use super::pcie::{before_nics, behind_nics, dropping_nics, full_reads, full_rx_ring, full_send_window};
use super::reverse_path::full_reverse_path;
use super::rings::driver_core;
use super::senders::{congestion_control, marked_senders, paused_senders, waiting_senders, with_drift};
use super::services::{abandoned_requests, busy_workers};
use super::sums::full_resource;
use crate::read::flows::FlowTotals;
use crate::report::table::{Column, Table, TableContent, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_analysis::explain::{ENDED, NOT_MEASURED};
use hostnet_kernel::Time;

/// Rows of the table `limits`: [`ClassLimit`].
struct LimitRows;

impl TableRows for LimitRows {
    type Row<'a> = ClassLimit<'a>;
}

const LIMITS: &[Column<LimitRows>] = &[
    Column::key(Column::text("class", |row| row.class.into())),
    Column::text("limit", |row| row.limit.limit.into()),
    Column::text("place", |row| row.limit.place.as_str().into()),
    Column::number("load", |row| row.limit.load.into()),
    Column::text("why", |row| row.limit.why.as_str().into()),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("limits", LIMITS).with_content(TableContent::Explanations)
}

/// Builds the table, with a row per class.
pub(super) fn limit_table(limits: &[ClassLimit]) -> Table {
    let mut table = Table::of("limits", LIMITS);
    limits.iter().for_each(|row| table.add(LIMITS, row));
    table
}

/// Returns the limit of every class. `flows` are the totals of the flows over the window.
pub(super) fn class_limits<'a>(
    view: &'a WorldView<'a>,
    flows: &[FlowTotals],
    completed: &[Option<Time>],
    paths: &[JobPath],
) -> Vec<ClassLimit<'a>> {
    let cluster = &view.plan.cluster;
    let flow_paths = FlowPaths::new(view);
    let class_of = |own: &[usize]| {
        let ended = own.iter().all(|&flow| completed[flow].is_some());
        TrafficClass::new(view, own, flows, ended, flow_paths.as_ref())
    };
    let numbers = |class| (0..cluster.flows.len()).filter(move |&flow| usize::from(cluster.flows[flow].class) == class);
    let limit = |(index, name): (usize, &'_ String)| {
        let own: Vec<usize> = numbers(index).collect();
        let class = class_of(&own);
        if view.now == view.window_start {
            return class_limit(view, &class);
        }
        let limit = limit_on_path(view, name, paths, || {
            ranks_on_cores(view, name, &class).unwrap_or_else(|| class_limit(view, &class))
        });
        let onward = forwarded_flows(view, &own).filter(|_| limit.load.is_none());
        onward.and_then(|onward| forwarding_limit(&class, || class_limit(view, &class_of(&onward)))).unwrap_or(limit)
    };
    let classes = cluster.classes.iter().enumerate();
    classes
        .map(|(index, name)| ClassLimit { class: name, limit: with_drift(view, index, limit((index, name))) })
        .collect()
}

/// Names the limit of a class by the first rule that holds.
fn class_limit(view: &WorldView, class: &TrafficClass) -> TrafficLimit {
    if view.now == view.window_start {
        let why = "the run was stopped when its warm-up ended".to_owned();
        return TrafficLimit { limit: NOT_MEASURED, place: String::new(), load: None, why };
    }
    // A class that carries its whole load gains nothing from any faster resource.
    if let Some(limit) = offered_load(view, class) {
        return limit;
    }
    if class.ended {
        let why = "all its flows have ended".to_owned();
        return TrafficLimit { limit: ENDED, place: String::new(), load: None, why };
    }
    let [from, to] = &class.hosts;
    // NICs that drop packets take precedence over cables: the excess on a full cable would not get through them
    // anyway.
    let full = dropping_nics(view, class).or_else(|| full_resource(view, class));
    full.or_else(|| full_fabric(view, class))
        .or_else(|| cable_down(view, class))
        .or_else(|| deaf_receivers(view, class))
        // Receivers come before senders: what fills up downstream also holds back what is upstream.
        .or_else(|| behind_nics(view, class))
        .or_else(|| before_nics(view, class))
        .or_else(|| worst_limit(to.union(from).filter_map(|&host| dimm_limit(view, host))))
        .or_else(|| busy_cores(view, "receiver cores", to, class))
        .or_else(|| busy_cores(view, "sender cores", from, class))
        .or_else(|| driver_core(view, class))
        .or_else(|| busy_workers(view, class))
        // Pauses and empty rings follow from a full core or NIC, so these are named first.
        .or_else(|| paused_senders(view, class))
        .or_else(|| worst_limit(to.iter().filter_map(|&host| full_rx_ring(view, host))))
        .or_else(|| marked_senders(view, class))
        // With timeouts, `waiting_senders` names these rather than the losses.
        .or_else(|| if class.totals.timeouts > 0 { None } else { lossy_path(class) })
        .or_else(|| if class.totals.timeouts > 0 { None } else { waiting_ranks(view, class) })
        // Reads in flight and windows fill up behind any other limit, so they count only without one.
        .or_else(|| worst_limit(from.iter().filter_map(|&host| full_reads(view, host))))
        .or_else(|| worst_limit(from.iter().filter_map(|&host| full_send_window(view, host))))
        .or_else(|| congestion_control(view, class))
        .or_else(|| abandoned_requests(view, class))
        .or_else(|| full_reverse_path(view, class))
        .unwrap_or_else(|| waiting_senders(view, class))
}
