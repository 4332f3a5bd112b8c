//! The columns of the tables of a cluster.

use crate::report::caches::CACHES;
use crate::report::channels::CHANNELS;
use crate::report::DOMAINS;
use crate::table::Kind;

type Column = (&'static str, Kind);

const COUNTS: [Column; 17] = [
    ("sent_packets", Kind::Integer),
    ("retransmitted_packets", Kind::Integer),
    ("nic_received", Kind::Integer),
    ("nic_dropped_full", Kind::Integer),
    ("nic_dropped_ring", Kind::Integer),
    ("nic_dropped_other", Kind::Integer),
    ("nic_drop_percent", Kind::Number),
    ("fabric_dropped", Kind::Integer),
    ("marked_segments", Kind::Integer),
    ("marked_by_host", Kind::Integer),
    ("timeouts", Kind::Integer),
    ("probes", Kind::Integer),
    ("host_sent", Kind::Integer),
    ("host_received", Kind::Integer),
    ("out_of_order", Kind::Integer),
    ("duplicates", Kind::Integer),
    ("notifications", Kind::Integer),
];

pub(super) const CLASSES: &[Column] =
    &join::<3, 17, 20>([("class", Kind::Text), ("goodput_gbps", Kind::Number), ("goodput_ci95", Kind::Number)], COUNTS);

pub(super) const FLOWS: &[Column] = &join::<8, 17, 25>(
    [
        ("flow", Kind::Integer),
        ("class", Kind::Text),
        ("from", Kind::Text),
        ("to", Kind::Text),
        ("goodput_gbps", Kind::Number),
        ("received_bytes", Kind::Integer),
        ("returned_bytes", Kind::Integer),
        ("completion_us", Kind::Number),
    ],
    COUNTS,
);

pub(super) const LATENCIES: &[Column] = &[
    ("class", Kind::Text),
    ("count", Kind::Integer),
    ("mean_us", Kind::Number),
    ("p50_us", Kind::Number),
    ("p90_us", Kind::Number),
    ("p99_us", Kind::Number),
    ("p99_9_us", Kind::Number),
    ("p99_99_us", Kind::Number),
    ("max_us", Kind::Number),
];

pub(super) const HOSTS: &[Column] = &[
    ("host", Kind::Text),
    ("iio_write_occupancy", Kind::Number),
    ("iio_write_latency_ns", Kind::Number),
    ("iio_write_gbps", Kind::Number),
    ("iio_read_occupancy", Kind::Number),
    ("iio_read_latency_ns", Kind::Number),
    ("iio_read_gbps", Kind::Number),
    ("nic_received", Kind::Integer),
    ("nic_dropped", Kind::Integer),
    ("nic_drop_percent", Kind::Number),
    ("nic_buffer_mean_bytes", Kind::Number),
    ("nic_buffer_max_bytes", Kind::Integer),
    ("nic_buffered_p99_us", Kind::Number),
    ("nic_credit_wait_share", Kind::Number),
    ("nic_descriptor_wait_share", Kind::Number),
    ("nic_pauses_sent", Kind::Integer),
    ("core_softirq_share", Kind::Number),
    ("core_call_share", Kind::Number),
    ("core_copy_share", Kind::Number),
    ("core_stalled_share", Kind::Number),
    ("core_send_share", Kind::Number),
];

pub(super) const CONTROL: &[Column] = &[
    ("host", Kind::Text),
    ("rule", Kind::Text),
    ("occupancy_mean_lines", Kind::Number),
    ("bandwidth_mean_gbps", Kind::Number),
    ("level_end", Kind::Integer),
    ("level_0_share", Kind::Number),
    ("level_1_share", Kind::Number),
    ("level_2_share", Kind::Number),
    ("level_3_share", Kind::Number),
    ("level_4_share", Kind::Number),
    ("regime_1_share", Kind::Number),
    ("regime_2_share", Kind::Number),
    ("regime_3_share", Kind::Number),
    ("regime_4_share", Kind::Number),
    ("echo_share", Kind::Number),
    ("level_changes", Kind::Integer),
    ("level_3_4_switches", Kind::Integer),
    ("register_writes", Kind::Integer),
    ("occupancy_samples", Kind::Integer),
    ("occupancy_discarded", Kind::Integer),
    ("bandwidth_samples", Kind::Integer),
    ("bandwidth_discarded", Kind::Integer),
];

pub(super) const MEMORY: &[Column] = &[
    ("host", Kind::Text),
    ("workload", Kind::Text),
    ("read_gb_per_s", Kind::Number),
    ("write_gb_per_s", Kind::Number),
    ("gb_per_s", Kind::Number),
];

pub(super) const QUEUES: &[Column] = &[
    ("place", Kind::Text),
    ("port", Kind::Integer),
    ("to", Kind::Text),
    ("rate_gbps", Kind::Number),
    ("sent_packets", Kind::Integer),
    ("sent_gbps", Kind::Number),
    ("marked_packets", Kind::Integer),
    ("queue_mean_packets", Kind::Number),
    ("queue_sd_packets", Kind::Number),
    ("queue_min_packets", Kind::Integer),
    ("queue_max_packets", Kind::Integer),
    ("queue_mean_bytes", Kind::Number),
    ("queue_max_bytes", Kind::Integer),
    ("pauses_asked", Kind::Integer),
    ("paused_share", Kind::Number),
];

pub(super) const LIMITS: &[Column] =
    &[("class", Kind::Text), ("limit", Kind::Text), ("place", Kind::Text), ("load", Kind::Number), ("why", Kind::Text)];

pub(super) const SERIES: &[Column] = &[
    ("time_us", Kind::Number),
    ("host", Kind::Text),
    ("iio_write_occupancy", Kind::Number),
    ("iio_write_gbps", Kind::Number),
    ("nic_buffer_bytes", Kind::Integer),
    ("nic_received", Kind::Integer),
    ("nic_dropped", Kind::Integer),
    ("goodput_gbps", Kind::Number),
    ("level", Kind::Integer),
    ("occupancy_smoothed_lines", Kind::Number),
    ("bandwidth_smoothed_gbps", Kind::Number),
];

/// The domains of servers, after the name of the host.
pub(super) static HOST_DOMAINS: [Column; DOMAINS.len() + 1] = with_host(DOMAINS);

/// The channels of servers, after the name of the host.
pub(super) static HOST_CHANNELS: [Column; CHANNELS.len() + 1] = with_host(CHANNELS);

/// The caches of servers, after the name of the host.
pub(super) static HOST_CACHES: [Column; CACHES.len() + 1] = with_host(CACHES);

const fn with_host<const N: usize>(own: &[Column]) -> [Column; N] {
    let mut all = [("host", Kind::Text); N];
    let mut index = 1;
    while index < N {
        all[index] = own[index - 1];
        index += 1;
    }
    all
}

const fn join<const A: usize, const B: usize, const N: usize>(first: [Column; A], second: [Column; B]) -> [Column; N] {
    let mut all = [("", Kind::Text); N];
    let mut index = 0;
    while index < N {
        all[index] = if index < A { first[index] } else { second[index - A] };
        index += 1;
    }
    all
}
