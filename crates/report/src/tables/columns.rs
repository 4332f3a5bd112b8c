//! Columns of the tables of a server, described once for the screen and for the page of a run.

use serde::Serialize;
use Format::{Busy, Count, Domain, Exact, Interval, Large, Microseconds, Number, Of, Seconds, Share, Text};

/// Content of a column. The screen and the page each show it in their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Text.
    Text,
    /// Domain with its place; on the page, also the domain whose credits it shares.
    Domain,
    /// Number; on the page with its confidence interval, if it has one.
    Number,
    /// Number with its confidence interval.
    Interval,
    /// Number with its confidence interval and with thousands separators.
    Large,
    /// Whole number.
    Count,
    /// Number with two digits after the decimal point on the screen.
    Exact,
    /// Share, in percent.
    Share,
    /// Share of time; on the page with a bar.
    Busy,
    /// Time in ns, shown in µs.
    Microseconds,
    /// Time in s.
    Seconds,
    /// Number beside its maximum, which is in the column `whole`; on the page, credits in use have a bar.
    Of,
}

impl Format {
    /// Returns true for text. Other columns are aligned to the right.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Domain)
    }
}

/// A column: the key of its values, and its headings on the screen and on the page; `None` where it is not shown.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Column {
    pub(crate) key: &'static str,
    pub(crate) format: Format,
    pub(crate) screen: Option<&'static str>,
    pub(crate) page: Option<&'static str>,
    /// Key of the half-width of the confidence interval.
    pub(crate) ci95: Option<&'static str>,
    /// Key of the maximum.
    pub(crate) whole: Option<&'static str>,
    /// Columns of the file that a copy of the page has; those of the value and its interval if `None`.
    #[serde(skip)]
    pub(crate) copied: Option<&'static [&'static str]>,
    /// Class of the text on the page, which lets it wrap.
    #[serde(skip)]
    pub(crate) style: Option<&'static str>,
    /// Text on the screen where there is none.
    pub(crate) missing: &'static str,
    /// True if the page omits the column in print.
    #[serde(skip)]
    pub(crate) is_minor: bool,
    /// Definition of a column that the result table does not have.
    pub(crate) about: Option<&'static str>,
}

impl Column {
    /// Creates a column that is shown nowhere yet.
    pub(crate) const fn new(key: &'static str, format: Format) -> Self {
        Self {
            key,
            format,
            screen: None,
            page: None,
            ci95: None,
            whole: None,
            copied: None,
            style: None,
            missing: "",
            is_minor: false,
            about: None,
        }
    }

    const fn heads(self, screen: &'static str, page: &'static str) -> Self {
        self.on_screen(screen).on_page(page)
    }

    const fn on_screen(mut self, heading: &'static str) -> Self {
        self.screen = Some(heading);
        self
    }

    pub(crate) const fn on_page(mut self, heading: &'static str) -> Self {
        self.page = Some(heading);
        self
    }

    const fn ci95(mut self, key: &'static str) -> Self {
        self.ci95 = Some(key);
        self
    }

    const fn whole(mut self, key: &'static str) -> Self {
        self.whole = Some(key);
        self
    }

    const fn copied(mut self, keys: &'static [&'static str]) -> Self {
        self.copied = Some(keys);
        self
    }

    pub(crate) const fn style(mut self, class: &'static str) -> Self {
        self.style = Some(class);
        self
    }

    const fn missing(mut self, text: &'static str) -> Self {
        self.missing = text;
        self
    }

    const fn minor(mut self) -> Self {
        self.is_minor = true;
        self
    }

    const fn about(mut self, definition: &'static str) -> Self {
        self.about = Some(definition);
        self
    }
}

/// Columns of workloads.
pub(crate) const WORKLOADS: &[Column] = &[
    Column::new("workload", Text).heads("workload", "Workload").style("name"),
    Column::new("throughput_gb_per_s", Interval).heads("GB/s", "Throughput GB/s").ci95("throughput_ci95"),
    Column::new("read_gb_per_s", Number).heads("DRAM read", "DRAM read GB/s"),
    Column::new("write_gb_per_s", Number).heads("write", "DRAM write GB/s"),
    Column::new("latency_mean_ns", Interval).heads("latency ns", "Latency ns").ci95("latency_ci95"),
    Column::new("latency_p50_ns", Number).heads("P50", "P50 ns"),
    Column::new("latency_p99_ns", Number).heads("P99", "P99 ns"),
    Column::new("lines", Number).on_page("Lines").minor(),
    Column::new("limited_by", Text).heads("limited by", "Limited by").missing("-"),
];

/// Columns of storage I/O.
pub(crate) const REQUESTS: &[Column] = &[
    Column::new("workload", Text).heads("storage I/O", "I/O requests").style("name"),
    Column::new("app_gb_per_s", Number).heads("GB/s", "Rate GB/s"),
    Column::new("io_completed", Count).heads("completed", "Completed"),
    Column::new("io_latency_mean_ns", Microseconds).heads("latency µs", "Mean latency µs"),
    Column::new("io_latency_p50_ns", Microseconds).heads("P50", "P50 µs"),
    Column::new("io_latency_p99_ns", Microseconds).heads("P99", "P99 µs"),
];

/// Columns of applications.
pub(crate) const APPLICATIONS: &[Column] = &[
    Column::new("workload", Text).heads("application", "Applications").style("name"),
    Column::new("operations_per_s", Large).heads("operations/s", "Operations per s").ci95("operations_ci95"),
    Column::new("operations", Count).on_page("Completed"),
    Column::new("operation_latency_mean_ns", Microseconds).heads("latency µs", "Mean latency µs"),
    Column::new("operation_latency_p50_ns", Microseconds).heads("P50", "P50 µs"),
    Column::new("operation_latency_p99_ns", Microseconds).heads("P99", "P99 µs"),
    Column::new("execution_time_s", Seconds).heads("execution time", "Execution time s"),
];

/// Columns of the caches.
pub(crate) const CACHES: &[Column] = &[
    Column::new("workload", Text).heads("caches", "Caches").style("name"),
    Column::new("l2_miss_ratio", Share).heads("L2 misses", "L2 misses"),
    Column::new("prefetched_share", Share)
        .heads("prefetched", "Prefetched")
        .copied(&[])
        .about("lines that prefetchers brought into an L2 / core accesses that looked up an L2"),
    Column::new("used_share", Share)
        .heads("used", "Used")
        .copied(&[])
        .about("share of the prefetched lines that an access used"),
    Column::new("llc_miss_ratio", Share).heads("LLC misses", "LLC misses"),
    Column::new("held_mib", Of)
        .heads("in the LLC, MiB", "In the LLC MiB")
        .whole("llc_mib")
        .copied(&["llc_mib_core", "llc_mib_io"])
        .about("lines of cores and devices in the LLC, out of its size"),
    Column::new("l2_lookups", Number).on_page("L2 lookups"),
    Column::new("prefetch_filled", Number).on_page("Prefetched lines"),
    Column::new("prefetch_used", Number).on_page("Of them used"),
    Column::new("llc_lookups", Number).on_page("LLC lookups").minor(),
    Column::new("core_evictions", Number).on_page("Dirty evictions").minor(),
    Column::new("back_invalidations", Number).on_page("Lost by cores").minor(),
];

/// Columns of device writes to the LLC.
pub(crate) const DDIO: &[Column] = &[
    Column::new("workload", Text).heads("DDIO", "DDIO").style("name"),
    Column::new("written", Count)
        .heads("lines written", "Lines written")
        .copied(&[])
        .about("lines that devices wrote to the LLC: updates and allocations"),
    Column::new("ddio_hit_ratio", Share).heads("hits", "Hits"),
    Column::new("ddio_leak_ratio", Share).heads("leaks", "Leaks"),
    Column::new("llc_mib_io", Of).heads("in the LLC, MiB", "In the LLC MiB").whole("ddio_mib"),
    Column::new("read_hit_share", Share)
        .heads("reads that hit", "Reads that hit")
        .copied(&[])
        .about("share of the device reads that hit in a cache"),
    Column::new("ddio_updates", Number).on_page("Updates"),
    Column::new("ddio_allocations", Number).on_page("Allocations"),
    Column::new("ddio_leaks", Number).on_page("Leaked lines"),
    Column::new("ddio_evictions", Number).on_page("Evicted lines"),
    Column::new("io_reads", Number).on_page("Reads").minor(),
    Column::new("io_read_hits", Number).on_page("Hits of reads").minor(),
];

/// Columns of the LLC of each of several sockets.
pub(crate) const LLC: &[Column] = &[
    Column::new("name", Text).heads("LLC", "LLC").copied(&["socket"]).about("socket of the LLC"),
    Column::new("core_mib", Number)
        .heads("of cores, MiB", "Of cores MiB")
        .about("lines in the LLC that cores put there or read"),
    Column::new("io_mib", Number)
        .heads("of devices", "Of devices MiB")
        .about("lines in the LLC that devices wrote and no core has read"),
    Column::new("mib", Number).heads("of", "Of MiB").about("size of the LLC"),
    Column::new("miss_ratio", Share)
        .heads("misses", "Misses")
        .copied(&["lookups", "misses"])
        .about("share of the reads of cores that missed the LLC of this socket"),
];

/// Columns of domains.
pub(crate) const DOMAINS: &[Column] = &[
    Column::new("domain", Domain).heads("domain", "Domain").copied(&["domain", "shares_capacity_with"]),
    Column::new("in_use_mean", Of)
        .heads("credits in use", "Credits in use")
        .whole("capacity")
        .copied(&["in_use_mean", "in_use_ci95"]),
    Column::new("capacity", Number).on_page("Capacity"),
    Column::new("latency_mean_ns", Interval).heads("latency ns", "Latency ns").ci95("latency_ci95"),
    Column::new("latency_p50_ns", Number).on_page("P50 ns").minor(),
    Column::new("latency_p99_ns", Number).heads("P99", "P99 ns"),
    Column::new("throughput_gb_per_s", Number).heads("GB/s", "Throughput GB/s"),
    Column::new("full_share", Share).heads("full", "Full"),
    Column::new("in_use_max", Number).on_page("Most in use").minor(),
    Column::new("over_threshold_share", Share).on_page("Over threshold").minor(),
    Column::new("lines", Number).on_page("Lines").minor(),
    Column::new("shares_capacity_with", Text).on_screen("shares credits with"),
];

/// Columns of memory channels.
pub(crate) const CHANNELS: &[Column] = &[
    Column::new("name", Text)
        .heads("channel", "Channel")
        .copied(&["socket", "channel"])
        .about("memory channel, or all of them together"),
    Column::new("read_gb_per_s", Number).heads("read GB/s", "Read GB/s"),
    Column::new("write_gb_per_s", Number).heads("write", "Write GB/s"),
    Column::new("bus_busy_share", Busy).heads("bus", "Bus busy"),
    Column::new("row_miss_ratio", Number).heads("ACTs/read", "ACTs per read").ci95("row_miss_ci95"),
    Column::new("row_conflict_ratio", Number).on_page("Conflicts per read"),
    Column::new("write_row_miss_ratio", Number).on_page("ACTs per write").minor(),
    Column::new("rpq_mean", Number).heads("RPQ", "RPQ"),
    Column::new("wpq_mean", Number).heads("WPQ", "WPQ"),
    Column::new("rpq_full_share", Share).on_page("RPQ full").minor(),
    Column::new("wpq_full_share", Share).on_page("WPQ full"),
    Column::new("write_mode_share", Share).heads("write mode", "Write mode"),
    Column::new("mode_switches", Number).on_page("Mode switches").minor(),
    Column::new("c2m_gb_per_s", Number).on_page("C2M GB/s").minor(),
    Column::new("p2m_gb_per_s", Number).on_page("P2M GB/s").minor(),
    Column::new("bank_load_1_5_share", Share).on_page("Bank load over 1.5").minor(),
    Column::new("bank_load_2_share", Share).on_page("Bank load over 2").minor(),
    Column::new("activations", Number).on_page("Activations").minor(),
    Column::new("precharges", Number).on_page("Precharges").minor(),
    Column::new("refreshes", Number).on_page("Refreshes").minor(),
    Column::new("sources", Text).heads("by source, GB/s", "Traffic, GB/s").style("sources"),
];

/// Columns of UPI traffic.
pub(crate) const LINKS: &[Column] = &[
    Column::new("direction", Text)
        .heads("UPI", "Direction")
        .copied(&["from", "to"])
        .about("sending and receiving socket"),
    Column::new("busy_share", Busy).heads("busy", "Busy"),
    Column::new("gb_per_s", Number).heads("on the wire GB/s", "On the wire GB/s"),
    Column::new("line_gb_per_s", Number).heads("lines GB/s", "Lines GB/s"),
    Column::new("lines", Number).on_page("Lines"),
    Column::new("messages", Number).on_page("Messages"),
];

/// Columns of messages on a mesh.
pub(crate) const MESH: &[Column] = &[
    Column::new("whose", Text).on_screen("mesh").about("workload whose messages cross the mesh"),
    Column::new("workload", Text).on_page("Workload"),
    Column::new("leg", Text).heads("leg", "Leg"),
    Column::new("socket", Text).on_page("Socket"),
    Column::new("messages", Number).on_page("Messages"),
    Column::new("way_ns", Exact).heads("way ns", "Way ns"),
    Column::new("mean_way_ns", Exact).heads("mean of the die", "Mean way of the die ns"),
    Column::new("waited_ns", Exact).heads("lost to others ns", "Lost to others ns"),
];

/// Columns of pages that migrate.
pub(crate) const TIERING: &[Column] = &[
    Column::new("workload", Text).heads("migration", "Workload"),
    Column::new("pages", Number).heads("pages", "Pages"),
    Column::new("local_pages_end", Number).heads("local", "Local at the end"),
    Column::new("moved_to_local", Number).heads("moved to local", "Moved to local memory"),
    Column::new("moved_behind_link", Number).heads("behind link", "Moved behind the link"),
    Column::new("refused", Number).heads("refused", "Refused"),
    Column::new("decisions", Number).on_page("Decisions"),
    Column::new("local_samples", Number).on_page("Samples of local memory"),
    Column::new("link_samples", Number).on_page("Samples behind the link"),
    Column::new("local_latency_ns", Number).heads("local ns", "Local ns"),
    Column::new("link_latency_ns", Number).heads("link ns", "Behind the link ns"),
];
