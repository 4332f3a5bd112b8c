//! The list of the limits of a server: the name of each, the configuration keys that set it, and how it is raised.

use super::raises::{self, Raise};
use super::RAISE;
use hostnet_model::params::ServerParams;
use serde::{Deserialize, Serialize};

pub use crate::binding::{CCD, CHANNEL, CORE, LFB, OFFERED_LOAD};

/// Factors within this distance of [`RAISE`] are described as a quarter: small counts cannot be raised by exactly
/// that.
const A_QUARTER: f64 = 0.05;

/// A limit of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Name of the limit in answers.
    pub name: &'static str,
    /// Configuration keys that set the limit; raising any one of them raises the limit.
    pub keys: &'static [Key],
    /// Description of the server with the limit raised by a quarter.
    pub raised_by_a_quarter: &'static str,
    raises: &'static [Raise],
}

/// A configuration key that sets a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Key {
    /// Path of the key in the configuration, or in a workload if it is a key of workloads.
    pub path: &'static str,
    /// Description of the key, in words.
    pub what: &'static str,
    /// Method that raises the value of the key.
    pub scale: Scale,
    /// Keys that are raised along with this key, where they are given.
    pub along: &'static [&'static str],
}

/// Method that changes the value of a key to raise its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Raises a count, to the next whole number.
    Count,
    /// Raises an amount per unit of time.
    Rate,
    /// Lowers a cost: a time with its unit, or an amount of work as a number.
    Less,
    /// Multiplies a count by a whole number.
    Whole,
    /// Raises a count, if the factor gives a whole number.
    Exact,
    /// Selects the next faster device of the same standard.
    Grade,
    /// Not raised by hostnet: the key sets the load that the workload offers.
    Asked,
}

impl Key {
    const fn of(path: &'static str, what: &'static str, scale: Scale) -> Self {
        Self { path, what, scale, along: &[] }
    }

    const fn with(self, along: &'static [&'static str]) -> Self {
        Self { along, ..self }
    }

    const fn asked(path: &'static str) -> Self {
        Self::of(path, path, Scale::Asked)
    }
}

impl Limit {
    const fn of(
        name: &'static str,
        keys: &'static [Key],
        raised_by_a_quarter: &'static str,
        raises: &'static [Raise],
    ) -> Self {
        Self { name, keys, raised_by_a_quarter, raises }
    }

    /// Path of the key that answers name.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        self.keys[0].path
    }

    /// Returns the server with this limit multiplied by `factor` on every socket and for every workload.
    #[must_use]
    pub fn raised(&self, server: &ServerParams, factor: f64) -> ServerParams {
        self.raised_by(server, factor).0
    }

    /// Like [`Limit::raised`], but also returns the factor reached: counts are rounded up to whole numbers.
    #[must_use]
    pub fn raised_by(&self, server: &ServerParams, factor: f64) -> (ServerParams, f64) {
        let mut raised = server.clone();
        let factor = raises::greatest(self.raises.iter().map(|raise| raise.apply(&mut raised, factor)));
        (raised, factor)
    }

    /// Describes the server with the limit raised by `factor`.
    #[must_use]
    pub fn in_words(&self, factor: f64) -> String {
        // 3 entries can only become 4: the words then say 33 %.
        if (factor - RAISE).abs() <= A_QUARTER {
            return self.raised_by_a_quarter.to_owned();
        }
        self.raised_by_a_quarter.replace("a quarter", &format!("{:.0} %", 100.0 * (factor - 1.0)))
    }
}

/// Every limit of a server.
pub const LIMITS: [Limit; 33] = [
    Limit::of(
        LFB,
        &[Key::of("core.lfb.entries", "LFB entries per core", Scale::Count)],
        "a quarter more LFB entries",
        &[Raise::Socket(raises::more_lfb_entries)],
    ),
    Limit::of(
        CORE,
        &[Key::of("core.lfb.refill", "refill time of LFB entries", Scale::Less).with(&["core.issue"])],
        "cores a quarter faster",
        &[Raise::Socket(raises::faster_cores)],
    ),
    // Only applications depend on the clock, and predictions do not cover applications: there is nothing to raise
    // here.
    Limit::of(CORE, &[Key::of("core.frequency", "clock of the cores", Scale::Rate)], "a clock a quarter faster", &[]),
    Limit::of(
        CORE,
        &[Key::of("fio.kernel_lines_per_page", "kernel work per page", Scale::Less)],
        "kernel work a quarter faster",
        &[Raise::Workload(raises::less_kernel_work)],
    ),
    // A quarter more accesses per second: 1 / 1.25 = 0.8 of the gap.
    Limit::of(OFFERED_LOAD, &[Key::asked("gap")], "a gap a fifth shorter", &[Raise::Workload(raises::shorter_gap)]),
    Limit::of(
        OFFERED_LOAD,
        &[Key::of("ssd.read_bandwidth", "bandwidth of a drive", Scale::Rate).with(&["ssd.write_bandwidth"])],
        "drives a quarter faster",
        &[Raise::Socket(raises::faster_drives)],
    ),
    Limit::of(
        OFFERED_LOAD,
        &[Key::asked("rate")],
        "a rate cap a quarter higher",
        &[Raise::Workload(raises::higher_cap)],
    ),
    Limit::of(
        OFFERED_LOAD,
        &[Key::asked("iodepth")],
        "a quarter more commands in flight",
        &[Raise::Socket(raises::longer_queues), Raise::Workload(raises::deeper_jobs)],
    ),
    Limit::of(
        "PCIe link",
        &[Key::of("pcie.lanes", "PCIe lanes", Scale::Whole)],
        "PCIe links a quarter faster",
        &[Raise::Socket(raises::wider_links)],
    ),
    Limit::of(
        "IOMMU walk",
        &[
            Key::of("iommu.iotlb.entries", "IOTLB entries", Scale::Whole),
            Key::of("iommu.walks", "page walks in flight", Scale::Count),
        ],
        "a quarter more page walks in flight",
        &[Raise::Socket(raises::more_walks)],
    ),
    Limit::of(
        "P2M-Write",
        &[Key::of("iio.write_credits", "IIO write credits", Scale::Count)],
        "a quarter more IIO write credits",
        &[Raise::Socket(raises::more_write_credits)],
    ),
    Limit::of(
        "P2M-Read",
        &[Key::of("iio.read_credits", "IIO read credits", Scale::Count)],
        "a quarter more IIO read credits",
        &[Raise::Socket(raises::more_read_credits)],
    ),
    Limit::of(
        "IIO line",
        &[Key::of("iio.line", "pace of the IIO", Scale::Less)],
        "an IIO a quarter faster",
        &[Raise::Socket(raises::faster_iio)],
    ),
    Limit::of(
        "PCIe posted",
        &[Key::of("pcie.posted_lines", "PCIe posted credits", Scale::Count)],
        "a quarter more posted credits",
        &[Raise::Socket(raises::more_posted)],
    ),
    Limit::of(
        "PCIe non-posted",
        &[Key::of("pcie.nonposted_lines", "PCIe non-posted credits", Scale::Count)],
        "a quarter more non-posted credits",
        &[Raise::Socket(raises::more_nonposted)],
    ),
    Limit::of(
        "CHA TOR",
        &[Key::of("cha.tor.entries", "TOR entries per CHA slice", Scale::Count).with(&["cha.tor.write_entries"])],
        "a quarter more TOR entries",
        &[Raise::Socket(raises::more_tor_entries)],
    ),
    Limit::of(
        "L2 prefetch",
        &[Key::of("prefetch.credits", "prefetches in flight per core", Scale::Count)],
        "a quarter more prefetches in flight",
        &[Raise::Socket(raises::more_prefetches)],
    ),
    // Without caches the streams of a core have credits of their own.
    Limit::of(
        "L2 prefetch",
        &[Key::of("prefetch.stream_credits", "prefetches in flight per core", Scale::Count)],
        "a quarter more prefetches in flight",
        &[Raise::Socket(raises::more_stream_prefetches)],
    ),
    Limit::of(
        "CHA->UPI",
        &[Key::of("upi.tor_entries", "TOR entries for other sockets", Scale::Count)],
        "a quarter more TOR entries for other sockets",
        &[Raise::Server(raises::more_remote_tor_entries)],
    ),
    Limit::of(
        "CHA->CXL",
        &[Key::of("cha.tor.expander_entries", "TOR entries for lines behind a link", Scale::Count)],
        "a quarter more TOR entries for lines behind a link",
        &[Raise::Socket(raises::more_expander_tor_entries)],
    ),
    Limit::of(
        "UPI request",
        &[
            Key::of("upi.link.request_credits", "UPI request credits", Scale::Count),
            Key::of("remote.upi.request_credits", "UPI request credits", Scale::Count),
        ],
        "a quarter more UPI request credits",
        &[Raise::Upi(raises::more_upi_requests)],
    ),
    Limit::of(
        "UPI data",
        &[
            Key::of("upi.link.data_credits", "UPI data credits", Scale::Count),
            Key::of("remote.upi.data_credits", "UPI data credits", Scale::Count),
        ],
        "a quarter more UPI data credits",
        &[Raise::Upi(raises::more_upi_data)],
    ),
    Limit::of(
        "UPI link",
        &[
            Key::of("upi.link.bandwidth", "bandwidth of a UPI link", Scale::Rate),
            Key::of("remote.upi.bandwidth", "bandwidth of UPI", Scale::Rate),
        ],
        "UPI a quarter faster",
        &[Raise::Upi(raises::faster_upi)],
    ),
    Limit::of(
        "CXL read",
        &[Key::of("expander.read_credits", "CXL read credits", Scale::Count)],
        "a quarter more CXL read credits",
        &[Raise::Socket(raises::more_expander_reads)],
    ),
    Limit::of(
        "CXL write",
        &[Key::of("expander.write_credits", "CXL write credits", Scale::Count)],
        "a quarter more CXL write credits",
        &[Raise::Socket(raises::more_expander_writes)],
    ),
    Limit::of(
        "CXL link",
        &[Key::of("expander.lanes", "lanes of the CXL link", Scale::Whole)],
        "a CXL link a quarter faster",
        &[Raise::Socket(raises::faster_expander_link)],
    ),
    Limit::of(
        "CXL DRAM",
        &[Key::of("expander.channels", "channels of the expander", Scale::Exact)],
        "channels of the expander a quarter faster",
        &[Raise::Socket(raises::faster_expander_bus)],
    ),
    Limit::of(
        "mesh",
        &[Key::of("noc.clock", "clock of the mesh", Scale::Rate)],
        "a mesh a quarter faster",
        &[Raise::Socket(raises::faster_mesh)],
    ),
    Limit::of(
        CCD,
        &[Key::of("chiplets.entries", "lines in flight per CCD", Scale::Count)],
        "a quarter more lines in flight per CCD",
        &[Raise::Socket(raises::more_ccd_entries)],
    ),
    Limit::of(
        "CCD link",
        &[Key::of("chiplets.fclk", "clock of the data fabric", Scale::Rate)],
        "a data fabric a quarter faster",
        &[Raise::Socket(raises::faster_fabric)],
    ),
    Limit::of(
        "RPQ",
        &[Key::of("memory.controller.rpq.entries", "RPQ entries", Scale::Count)
            .with(&["memory.controller.rpq.full_threshold"])],
        "a quarter more RPQ entries",
        &[Raise::Socket(raises::longer_rpq)],
    ),
    Limit::of(
        "WPQ",
        &[Key::of("memory.controller.wpq.entries", "WPQ entries", Scale::Count).with(&[
            "memory.controller.wpq.full_threshold",
            "memory.controller.write_high",
            "memory.controller.write_low",
        ])],
        "a quarter more WPQ entries",
        &[Raise::Socket(raises::longer_wpq)],
    ),
    Limit::of(
        CHANNEL,
        &[
            Key::of("memory.device", "DRAM speed grade", Scale::Grade),
            Key::of("memory.channels", "memory channels", Scale::Exact),
        ],
        "memory channels a quarter faster",
        &[Raise::Socket(raises::faster_bus)],
    ),
];

/// Limits that may be equally tight, so that raising one of them alone has no effect.
pub const TOGETHER: [Limit; 1] = [Limit::of(
    OFFERED_LOAD,
    &[Key::asked("ssd.read_bandwidth, pcie.lanes, rate and iodepth")],
    "all limits of the drives higher",
    &[
        Raise::Socket(raises::faster_drives),
        Raise::Socket(raises::wider_links),
        Raise::Socket(raises::longer_queues),
        Raise::Workload(raises::higher_cap),
        Raise::Workload(raises::deeper_jobs),
    ],
)];
