//! Rules that say which part must be present for a key to have an effect.

use super::SocketContext;
use hostnet_model::params::{
    ControlRule, DmaOperation, IdleDrain, Inclusion, MemoryControllerParams, PagePolicy, PcieParams, Refresh,
    SchedulingPolicy, WorkloadKind,
};

/// Keys, and the condition under which they have an effect. A name that ends with a dot stands for a whole table.
type KeyRule = (&'static [&'static str], fn(&SocketContext) -> bool);

const RULES: [KeyRule; 28] = [
    (&["fio."], |place| place.has_storage()),
    (&["pcie.lanes", "ddio.enabled", "ddio.off"], |place| place.has_device()),
    (&DRIVE_KEYS, |place| place.has_storage()),
    // The random number streams of a NIC are numbered after those of the drives, so `ssd.count` matters to a NIC,
    // too.
    (&["ssd.count", "pcie.", "iio.", "ddio.", "cha.io_write_to_mc"], |place| place.has_device() || place.has_nic()),
    (&["iio.relaxed_ordering"], |place| {
        place.has_device() || place.server.nic().is_some_and(|nic| nic.relaxed_ordering)
    }),
    (&["nic.", "stack."], |place| place.server.stack.is_some()),
    (&KERNEL_KEYS, |place| place.cluster_use.has_kernel),
    (&["stack.send"], |place| place.cluster_use.sends),
    (&["stack.segment"], |place| place.cluster_use.has_tcp),
    (&["nic.transmit"], |place| place.cluster_use.sends_acks || place.cluster_use.reads),
    (&["stack.gro", "stack.ack", "nic.lro"], |place| place.cluster_use.receives_tcp),
    (&["stack.copy_ahead"], |place| place.cluster_use.receives || place.copies_from_memory()),
    (&["nic.send_window"], |place| place.cluster_use.reads),
    (&["nic.pcie.mrrs"], |place| place.cluster_use.reads || place.reads_descriptors()),
    (&["pcie.mrrs"], |place| place.cluster_use.reads || place.has_device() || place.reads_descriptors()),
    (&["nic.ncap."], |place| place.server.ncap.is_some()),
    (&["nic.mode", "nic.rings", "nic.scatter", "ssd.mode", "ssd.sockets"], |place| place.server.sockets.len() > 1),
    // A NIC that expires steering entries requests them again.
    (&["nic.steer_delay"], |place| {
        place.cluster_use.moves || place.server.nic().is_some_and(|nic| nic.steer_expiry_ps > 0)
    }),
    (&["stack.generate"], |place| place.cluster_use.generates_packets),
    (&["remote."], |place| place.server.sockets.iter().any(|socket| socket.remote.is_some())),
    (&["upi."], |place| place.server.upi.is_some()),
    // The limit only bounds `refresh_postponed`, which the configuration checks.
    (&["memory.dram.postponed_max"], |_| false),
    (&["core.frequency"], |place| place.counts_cycles()),
    // Buffers of a device that generates DMA stay mapped.
    (&["iommu.invalidate", "iommu.flush"], |place| place.has_storage() || place.has_nic()),
    (&["iommu.flush"], |place| place.socket.iommu.as_ref().is_none_or(|iommu| iommu.flush > 0)),
    (&["dma.read_issue"], |place| place.has_dma(DmaOperation::Read)),
    (&["dma.write_issue"], |place| place.has_dma(DmaOperation::Write)),
    (&["chiplets.write", "core.write_until", "core.write_ack"], |place| place.has_stores()),
];

/// Keys of the kernel's packet processing and of the NIC's delivery to the kernel. RDMA bypasses the kernel.
const KERNEL_KEYS: [&str; 24] = [
    "stack.allocate",
    "stack.budget",
    "stack.cached_user",
    "stack.call",
    "stack.call_size",
    "stack.copy_line",
    "stack.extra_lines",
    "stack.packet",
    "stack.page_lines",
    "stack.poll",
    "stack.segment",
    "stack.wake",
    "stack.zero_copy",
    "nic.coalesce",
    "nic.coalesce_packets",
    "nic.completion",
    "nic.descriptor",
    "nic.event",
    "nic.interrupt",
    "nic.mitt",
    "nic.pool",
    "nic.queues",
    "nic.ring",
    "nic.stride",
];

/// Keys of `[ssd]` other than the number of drives.
const DRIVE_KEYS: [&str; 9] = [
    "ssd.bandwidth",
    "ssd.read_bandwidth",
    "ssd.write_bandwidth",
    "ssd.latency",
    "ssd.queue_depth",
    "ssd.streams",
    "ssd.max_transfer",
    "ssd.mode",
    "ssd.sockets",
];

/// Rules for keys of the caches and of features that need caches.
const CACHE_RULES: [KeyRule; 11] = [
    (&["prefetch.stream"], |place| place.socket.cache.is_some() || place.cluster_use.has_kernel),
    (&["prefetch.adjacent", "stack.prefetch_ahead"], has_caches),
    (&["prefetch.credits"], |place| with_cache(place, |cache| cache.prefetch.stream || cache.prefetch.adjacent)),
    (&["prefetch.stream_credits"], |place| place.socket.cache.is_none()),
    (&["prefetch.pages", "prefetch.distance"], |place| with_cache(place, |cache| cache.prefetch.stream)),
    (&["ddio.enabled", "ddio.off"], has_caches),
    (&["ddio.ways", "ddio.write"], writes_to_llc),
    (&["cache.llc.clean_victims", "cache.filter."], |place| {
        with_cache(place, |cache| cache.llc.inclusion != Inclusion::Inclusive)
    }),
    // A write-back that waits for the LLC waits there without caches, too.
    (&["cache.llc.hit"], |place| has_caches(place) || place.socket.cha.evict_ps > 0),
    (&["cache.l2.", "cache.llc.sets", "cache.llc.ways", "cache.llc.replacement", "cache.llc.inclusion"], has_caches),
    (&["core.rob"], |place| place.socket.cache.is_some() || place.cluster_use.runs_cluster_work),
];

/// Keys of `[control]` that only hostCC reads.
const HOSTCC_KEYS: [&str; 8] = [
    "control.target",
    "control.pcie_overhead",
    "control.occupancy",
    "control.occupancy_shift",
    "control.bandwidth_shift",
    "control.occupancy_floor",
    "control.bandwidth_ceiling",
    "control.hold",
];

/// Key of `[pcie]`, and a function that reads its value from a link.
type LinkKey = (&'static str, fn(&PcieParams) -> u64);
/// Keys of `[memory.controller]`, and the policies under which they have an effect.
type ControllerRule = (&'static [&'static str], fn(&MemoryControllerParams) -> bool);
/// Timings of a DRAM, and the refresh modes under which they have an effect.
type RefreshRule = (&'static [&'static str], fn(Refresh) -> bool);

/// Keys of `[pcie]` that a NIC reads if it has no value of its own.
const LINK_KEYS: [LinkKey; 5] = [
    ("pcie.mps", |link| link.mps_bytes.into()),
    ("pcie.mrrs", |link| link.mrrs_bytes.into()),
    ("pcie.latency", |link| link.latency_ps),
    ("pcie.posted_lines", |link| link.posted_lines.into()),
    ("pcie.nonposted_lines", |link| link.nonposted_lines.into()),
];

/// Keys of `[memory.controller]`, and the policies under which they have an effect.
const CONTROLLER_RULES: [ControllerRule; 8] = [
    (&["wpq.entries"], |controller| !controller.shared_queue),
    (&["protect", "row_hold", "row_hits"], |controller| controller.scheduler != SchedulingPolicy::Fcfs),
    (&["idle_close"], |controller| controller.page == PagePolicy::Timeout),
    (&["idle_writes", "idle_flush"], |controller| controller.idle_drain != IdleDrain::Off),
    (&["idle_reads", "idle_hits", "idle_age"], |controller| controller.idle_drain == IdleDrain::Yield),
    // `reads_few` waives the minimum `reads_per_mode`, so it has no effect if that minimum is 0.
    (&["reads_few"], |controller| controller.reads_per_mode > 0),
    (&["refresh_postponed", "refresh_holds_all"], |controller| controller.refresh != Refresh::Off),
    (&["spare_rows"], |controller| controller.spare_writes <= write_entries(controller)),
];

/// Returns the maximum number of queue entries that writes may have.
fn write_entries(controller: &MemoryControllerParams) -> u32 {
    if controller.shared_queue {
        controller.rpq_entries
    } else {
        controller.wpq_entries
    }
}

/// Timings of a refresh, and the refresh modes under which they have an effect.
const REFRESH_RULES: [RefreshRule; 3] = [
    (&["rfc"], |refresh| refresh != Refresh::Off),
    (&["refi"], |refresh| refresh == Refresh::AllBanks),
    (&["rfc_sb", "refi_sb", "refsb_act", "refsb_refsb"], |refresh| refresh == Refresh::SameBank),
];

/// Returns true if a key has no effect on a socket, because its part is absent or idle.
pub(super) fn is_idle(place: &SocketContext, key: &str) -> bool {
    let of_workloads = key.ends_with(".llc_ways") && !has_caches(place);
    let of_dirty_lines = key == "core.dirty_pool" && has_caches(place);
    let lacks = |(keys, holds): &KeyRule| keys.iter().any(|table| covers(table, key)) && !holds(place);
    RULES.iter().chain(&CACHE_RULES).any(lacks)
        || !place.takes_part()
        || of_workloads
        || of_dirty_lines
        || is_idle_control(place, key)
        || is_idle_link(place, key)
        || is_idle_memory(place, key)
}

/// Returns true if `table` is `key`, or ends with a dot and contains it.
fn covers(table: &str, key: &str) -> bool {
    table == key || table.ends_with('.') && key.starts_with(table)
}

fn is_idle_control(place: &SocketContext, key: &str) -> bool {
    if !key.starts_with("control.") {
        return false;
    }
    match &place.server.control {
        // The rule "none" took effect: it switched the control off.
        None => place.server.stack.is_none() || key != "control.rule",
        Some(control) => HOSTCC_KEYS.contains(&key) && !matches!(control.rule, ControlRule::HostCc(_)),
    }
}

/// Returns true if a key of `[pcie]` reaches no link: there is no storage, and all links of the NIC have their own
/// value.
fn is_idle_link(place: &SocketContext, key: &str) -> bool {
    let Some((_, value)) = LINK_KEYS.iter().find(|(of_drives, _)| *of_drives == key) else { return false };
    let mut links = place.server.nic_links().map(|(_, link)| link).peekable();
    !place.has_storage() && links.peek().is_some() && links.all(|link| value(link) != value(&place.socket.pcie))
}

/// Returns true if the policies of the memory controller make a key ineffective.
fn is_idle_memory(place: &SocketContext, key: &str) -> bool {
    let controller = &place.socket.memory.controller;
    if let Some(key) = key.strip_prefix("memory.controller.") {
        return CONTROLLER_RULES.iter().any(|(keys, holds)| keys.contains(&key) && !holds(controller));
    }
    let timing = key.strip_prefix("memory.dram.timing.");
    timing
        .is_some_and(|key| REFRESH_RULES.iter().any(|(keys, holds)| keys.contains(&key) && !holds(controller.refresh)))
}

fn has_caches(place: &SocketContext) -> bool {
    place.socket.cache.is_some()
}

fn with_cache(place: &SocketContext, holds: fn(&hostnet_model::params::CacheParams) -> bool) -> bool {
    place.socket.cache.as_ref().is_some_and(holds)
}

/// Returns true if any device writes to the LLC.
fn writes_to_llc(place: &SocketContext) -> bool {
    let of_drives = place.has_storage() && with_cache(place, |cache| cache.ddio.drives.contains(&true));
    of_drives || place.server.nic().is_some_and(|nic| nic.ddio)
}

impl SocketContext<'_> {
    /// Returns true if the server does any work, or has an energy meter or power management, which also cover idle
    /// parts.
    fn takes_part(&self) -> bool {
        let is_metered = self.server.power.is_some() || self.server.energy.is_some();
        let has_own = || self.server.workloads.iter().any(|workload| !matches!(workload.kind, WorkloadKind::Network));
        self.cluster_use.takes_part || is_metered || has_own()
    }

    fn has_storage(&self) -> bool {
        self.server.workloads.iter().any(|workload| workload.kind.fio().is_some())
    }

    fn has_device(&self) -> bool {
        self.server.workloads.iter().any(|workload| workload.kind.has_commands())
    }

    fn has_dma(&self, operation: DmaOperation) -> bool {
        let dma = |kind: &WorkloadKind| kind.dma().is_some_and(|dma| dma.operation == operation);
        self.server.workloads.iter().any(|workload| dma(&workload.kind))
    }

    /// Returns true if cores may write lines back.
    fn has_stores(&self) -> bool {
        let only_loads = |kind: &WorkloadKind| kind.stream().is_some_and(|stream| stream.reads >= 1 << 32);
        !self.server.workloads.iter().all(|workload| only_loads(&workload.kind))
    }

    fn has_nic(&self) -> bool {
        self.server.nic().is_some()
    }

    /// Returns true if copies of the kernel read application data from memory rather than from a cache.
    fn copies_from_memory(&self) -> bool {
        self.server.stack.as_ref().is_some_and(|stack| !stack.cached_user)
    }

    /// Returns true if the NIC reads many receive descriptors at a time.
    fn reads_descriptors(&self) -> bool {
        self.server.nic().is_some_and(|nic| nic.attach.is_some())
    }

    /// Returns true if any work on a core is counted in clock cycles rather than in time.
    fn counts_cycles(&self) -> bool {
        let apps = || self.server.workloads.iter().any(|workload| workload.kind.app().is_some());
        self.server.power.is_some() || self.cluster_use.runs_cluster_work || has_caches(self) && apps()
    }
}
