//! What flows did: the tables of classes, flows and latencies.

use super::View;
use crate::cluster::ends::{ends, rdma_ends};
use crate::cluster::read::{FlowTotals, Totals};
use crate::cluster::tables::{CLASSES, FLOWS, LATENCIES};
use crate::table::{Cell, Table};
use crate::view;
use hostnet_kernel::Time;
use hostnet_measure::batch::estimate;
use hostnet_measure::Histogram;

/// Percentiles of the table of latencies.
const PERCENTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

impl View<'_> {
    pub(super) fn classes(&self, flows: &[FlowTotals]) -> Table {
        let mut table = Table::new("classes", CLASSES);
        let cluster = &self.plan.cluster;
        for (class, name) in cluster.classes.iter().enumerate() {
            let own = flows.iter().zip(&cluster.flows).filter(|(_, flow)| usize::from(flow.class) == class);
            let sum = own.fold(FlowTotals::default(), |sum, (totals, _)| sum.plus(totals));
            let goodput = self.gbps(sum.received_bytes.iter().sum());
            let mut row = vec![name.as_str().into(), goodput.into(), self.goodput_ci95(class).into()];
            row.extend(counts(&sum));
            table.push(row);
        }
        table
    }

    fn goodput_ci95(&self, class: usize) -> Option<f64> {
        let cluster = &self.plan.cluster;
        let mut last = self.before.received(cluster, class);
        let batch = |totals: &Totals| {
            let now = totals.received(cluster, class);
            (now - std::mem::replace(&mut last, now)) as f64
        };
        let bytes: Vec<f64> = self.batches.iter().map(batch).collect();
        let found = estimate(&bytes, view::CONFIDENCE_GROUPS);
        let batch_ps = self.window_ps() / self.batches.len().max(1) as f64;
        let half_width = found.half_width * 8000.0 / batch_ps;
        half_width.is_finite().then_some(half_width)
    }

    pub(super) fn flows(&self, flows: &[FlowTotals]) -> Table {
        let mut table = Table::new("flows", FLOWS);
        let cluster = &self.plan.cluster;
        let mut completed = vec![None; flows.len()];
        for (flow, _, _, application) in self.simulation.worlds().flat_map(ends) {
            if let Some(at) = application.completed_at() {
                completed[flow as usize] = Some(at);
            }
        }
        for (flow, _, connection) in self.simulation.worlds().flat_map(rdma_ends) {
            if let Some(at) = connection.completed_at() {
                completed[flow as usize] = Some(at);
            }
        }
        for (index, (totals, flow)) in flows.iter().zip(&cluster.flows).enumerate() {
            let name = |host: u16| Cell::from(cluster.hosts[usize::from(host)].name.as_str());
            let fct = completed[index].map(|at: Time| (at.ps().saturating_sub(flow.start_ps)) as f64 / 1e6);
            let mut row = vec![
                (index as u64).into(),
                self.class_name(flow.class).into(),
                name(flow.from),
                name(flow.to),
                self.gbps(totals.received_bytes.iter().sum()).into(),
                totals.received_bytes[0].into(),
                totals.received_bytes[1].into(),
                fct.into(),
            ];
            row.extend(counts(totals));
            table.push(row);
        }
        table
    }

    pub(super) fn latencies(&self) -> Table {
        let mut table = Table::new("latencies", LATENCIES);
        let cluster = &self.plan.cluster;
        for (class, name) in cluster.classes.iter().enumerate() {
            let mut latency = Histogram::default();
            for (flow, _, _, application) in self.simulation.worlds().flat_map(ends) {
                if usize::from(cluster.flows[flow as usize].class) == class {
                    latency.merge(application.latency());
                }
            }
            for (flow, _, connection) in self.simulation.worlds().flat_map(rdma_ends) {
                if let Some(own) =
                    connection.latency().filter(|_| usize::from(cluster.flows[flow as usize].class) == class)
                {
                    latency.merge(own);
                }
            }
            if latency.count() == 0 {
                continue;
            }
            let us = |ps: Option<f64>| Cell::from(ps.map(|ps| ps / 1e6));
            let mut row = vec![name.as_str().into(), latency.count().into(), us(latency.mean())];
            row.extend(PERCENTILES.map(|share| us(latency.quantile(share))));
            row.push(us(latency.quantile(1.0)));
            table.push(row);
        }
        table
    }
}

/// The columns that classes and flows have in common.
fn counts(totals: &FlowTotals) -> Vec<Cell> {
    let share = |part: u64, whole: u64| (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
    vec![
        totals.sent_packets.into(),
        totals.retransmitted_packets.into(),
        totals.nic_received.into(),
        totals.nic_full.into(),
        totals.nic_ring.into(),
        totals.nic_other.into(),
        share(totals.nic_dropped(), totals.nic_received).into(),
        totals.fabric_dropped.into(),
        totals.marked_segments.into(),
        totals.marked_by_host.into(),
        totals.timeouts.into(),
        totals.probes.into(),
        totals.host_sent.into(),
        totals.host_received.into(),
        totals.out_of_order.into(),
        totals.duplicates.into(),
        totals.notifications.into(),
    ]
}
