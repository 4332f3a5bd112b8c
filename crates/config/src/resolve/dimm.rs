//! `[nic.dimm]`: a NIC in the buffer device of a DIMM.

use super::memory;
use crate::code::Code;
use crate::error::Issue;
use crate::presets;
use crate::units::{format, Dimension};
use hostnet_params::{
    AsyncSpec, AttachSpec, CloneParams, CloneSpec, DimmDriverParams, DimmDriverSpec, DimmParams, DramParams, DramSpec,
    IdleDrain, MapSpec, MemoryParams, NCacheParams, NCacheSpec, NicDimmSpec, NicParams, NicSpec, PageParams, Placement,
    ServerParams, Size, Spec, Time, WorkloadSpec,
};

/// Bytes of a page, the unit of a clone.
const PAGE_BYTES: u64 = 4096;
const LINE_BYTES: u64 = 64;
/// The DRAM of the DIMM (NetDIMM, table 5.1).
const DEVICE: &str = "DDR4_2400";
/// Latency of a command on the channel until it is in the buffer device (assumed: that of a registered buffer), and
/// from there to the memory controllers of the device (assumed: some clocks), in ps.
const COMMAND_PS: u64 = 5_000;
const DEVICE_PS: u64 = 5_000;
/// Number of request ids, of write entries and of entries of the DMA engine (assumed: more than the latency of the
/// device requires).
const ENTRIES: u32 = 64;
/// Maximum number of NIC requests served before one of the host (assumed).
const NIC_TURNS: u32 = 8;
/// The nCache: its size in bytes, its ways, its latency in ps, and prefetched lines (assumed; NetDIMM gives none).
const NCACHE_BYTES: u64 = 64 << 10;
const NCACHE_WAYS: u32 = 8;
const NCACHE_PS: u64 = 2_000;
const PREFETCH: u32 = 4;
/// Times of clones of 4 KiB, in ps: FPM takes 11.6 times less than a copy over the channel (RowClone, MICRO 2013,
/// abstract). That copy takes some 1 us, which is used for GCM, and about half of it for PSM (assumed).
const FPM_PS: u64 = 90_000;
const PSM_PS: u64 = 540_000;
const GCM_PS: u64 = 1_050_000;
/// Sub-arrays of a bank (NetDIMM, 5.4.2).
const SUBARRAYS: u32 = 512;
/// Time of an instruction that flushes or invalidates a line, in ps (assumed: some ten clocks to issue, without the
/// transfer of the line).
const FLUSH_PS: u64 = 4_000;

/// Resolves the DIMM of a NIC that is attached to one, with room for the memory of `card`.
pub(super) fn resolve(nic: &NicSpec, server: &Spec, card: &mut NicParams) -> Result<Option<Box<DimmParams>>, Issue> {
    if nic.attach != Some(AttachSpec::Dimm) {
        return Ok(None);
    }
    let spec = nic.dimm.clone().unwrap_or_default();
    check_server(nic, server)?;
    let channel = channel(&spec, server)?;
    let memory = device(&spec, server)?;
    let clone = clone(&spec.clone.clone().unwrap_or_default(), &memory.dram)?;
    let AsyncSpec { cmd, ids, writes } = spec.asynchronous.clone().unwrap_or_default();
    let DimmDriverSpec { flush, clone: cloned, copy } = spec.driver.clone().unwrap_or_default();
    let dimm = DimmParams {
        channel,
        command_ps: cmd.map_or(COMMAND_PS, |Time(ps)| ps),
        ids: ids.unwrap_or(ENTRIES),
        writes: writes.unwrap_or(ENTRIES),
        dma_lines: spec.dma_lines.unwrap_or(ENTRIES),
        device_ps: spec.controller.map_or(DEVICE_PS, |Time(ps)| ps),
        nic_turns: spec.nic_turns.unwrap_or(NIC_TURNS),
        ncache: ncache(&spec.ncache.clone().unwrap_or_default())?,
        clone,
        driver: DimmDriverParams {
            flush_ps: flush.map_or(FLUSH_PS, |Time(ps)| ps),
            clone: cloned.unwrap_or(true),
            copy: copy.unwrap_or(false),
        },
        memory,
    };
    give_rows(&dimm, card);
    Ok(Some(Box::new(dimm)))
}

/// Checks that a server has no key that is incompatible with a NIC in a DIMM.
fn check_server(nic: &NicSpec, server: &Spec) -> Result<(), Issue> {
    let remote = server.workload.values().any(WorkloadSpec::is_remote);
    let interleaved = server.workload.iter().find(|(_, workload)| workload.memory() == Some("interleave"));
    let path = interleaved.map(|(name, _)| format!("workload.{name}.memory")).unwrap_or_default();
    let others = [
        ("server.sockets", server.server.sockets.unwrap_or(1) > 1, "is for servers of one socket"),
        ("noc", server.noc.is_some(), "has no place on a die"),
        ("remote", remote, "is not reached over UPI"),
        ("expander", server.expander.is_some(), "is the one node without cores that a server may have"),
        ("nic.descriptor", nic.descriptor.is_some(), "has a row of DRAM for each packet"),
        (&path, !path.is_empty(), "is a region of one channel, which is not interleaved"),
    ];
    if let Some((path, _, why)) = others.into_iter().find(|(_, given, _)| *given) {
        let message = format!("a NIC in a DIMM {why}; drop one of them");
        return Err(Issue::between(Code::NotSupported, &[path, "nic.attach"], message));
    }
    Ok(())
}

/// Returns the channel of the DIMM.
fn channel(spec: &NicDimmSpec, server: &Spec) -> Result<u32, Issue> {
    let channel = spec.channel.unwrap_or(0);
    let channels = server.memory.channels * server.memory.dram.subchannels;
    if channel < channels {
        return Ok(channel);
    }
    let message = format!("channel {channel} does not exist; there are 0 to {}", channels - 1);
    Err(Issue::between(Code::DoesNotExist, &["nic.dimm.channel", "memory.channels"], message))
}

/// Returns the memory of the DIMM. Consecutive lines are mapped to a row, then to the banks, then to the ranks.
fn device(spec: &NicDimmSpec, server: &Spec) -> Result<MemoryParams, Issue> {
    let within = |issue: Issue| Issue::new(issue.code, "nic.dimm.device", issue.message);
    let device = presets::device(spec.device.as_deref().unwrap_or(DEVICE)).map_err(within)?;
    let dram: DramSpec = serde_json::from_value(device).map_err(super::plan_error)?;
    let map = MapSpec::Named("RoRaBgBaCoCh".to_owned());
    if dram.subchannels > 1 {
        let message = "its buffer device has one channel, and this device has several";
        return Err(Issue::new(Code::NotSupported, "nic.dimm.device", message));
    }
    let mut system = memory::system(1, &dram, &server.memory.controller, &map).map_err(within)?;
    let row = u64::from(system.dram.lines_per_row) * LINE_BYTES;
    if row < PAGE_BYTES {
        let message = format!("a row of {} holds no page of 4 KiB, and clones copy rows", format(row, Dimension::Size));
        return Err(Issue::new(Code::DoesNotFit, "nic.dimm.device", message));
    }
    // Clones take what DRAM has, so that writes do not wait for others (assumed).
    system.controller.idle_drain = IdleDrain::Yield;
    system.controller.idle_writes = 1;
    let run_bytes = server.memory.run.0.max(server.memory.page.0);
    Ok(MemoryParams {
        pages: PageParams { run_bytes, memory_bytes: system.capacity },
        dram: system.dram,
        controller: system.controller,
        map: system.map,
    })
}

fn clone(spec: &CloneSpec, dram: &DramParams) -> Result<CloneParams, Issue> {
    // A clone within a sub-array needs two of its rows, the source and the destination (RowClone, MICRO 2013).
    let subarrays = spec.subarrays.unwrap_or(SUBARRAYS.min(dram.rows / 2).max(1));
    if subarrays > dram.rows / 2 {
        let message = format!("a bank has {} rows: at most {} sub-arrays of two rows", dram.rows, dram.rows / 2);
        return Err(Issue::between(Code::OutOfRange, &["nic.dimm.clone.subarrays", "nic.dimm.device"], message));
    }
    let ps = |given: Option<Time>, otherwise: u64| given.map_or(otherwise, |Time(ps)| ps);
    let (fpm_ps, psm_ps, gcm_ps) = (ps(spec.fpm, FPM_PS), ps(spec.psm, PSM_PS), ps(spec.gcm, GCM_PS));
    Ok(CloneParams { fpm_ps, psm_ps, gcm_ps, subarrays })
}

fn ncache(spec: &NCacheSpec) -> Result<NCacheParams, Issue> {
    let bytes = spec.size.map_or(NCACHE_BYTES, |Size(bytes)| bytes);
    let ways = spec.ways.unwrap_or(NCACHE_WAYS);
    let sets = bytes / LINE_BYTES / u64::from(ways);
    if bytes > 0 && (sets == 0 || !bytes.is_power_of_two()) {
        let message = format!(
            "{} are no power of two of lines for {ways} ways; \"{}\" would be one",
            format(bytes, Dimension::Size),
            format((u64::from(ways) * LINE_BYTES).max(bytes.next_power_of_two()), Dimension::Size)
        );
        return Err(Issue::between(Code::NotAMultiple, &["nic.dimm.ncache.size", "nic.dimm.ncache.ways"], message));
    }
    Ok(NCacheParams {
        sets: sets as u32,
        ways,
        hit_ps: spec.hit.map_or(NCACHE_PS, |Time(ps)| ps),
        prefetch: spec.prefetch.unwrap_or(PREFETCH),
        header: spec.header.unwrap_or(true),
    })
}

/// Gives each received packet its own rows of the DIMM.
fn give_rows(dimm: &DimmParams, card: &mut NicParams) {
    let row = dimm.memory.dram.lines_per_row * LINE_BYTES as u32;
    // One packet per descriptor and whole rows, as a clone copies rows.
    card.stride_bytes = 0;
    card.descriptor_bytes = card.frame_bytes.next_multiple_of(row);
    let ring = u64::from(card.ring_entries) * u64::from(card.descriptor_bytes);
    card.pool_bytes = card.pool_bytes.max(ring).next_multiple_of(card.descriptor_bytes.into());
}

/// Returns the number of DIMM rows that the driver of each core allocates: one of each sub-array.
fn rows_of_driver(dimm: &DimmParams) -> u64 {
    let dram = &dimm.memory.dram;
    u64::from(dram.ranks * dram.bank_groups * dram.banks_per_group) * u64::from(dimm.clone.subarrays)
}

/// Checks that the rings and buffers of a NIC in a DIMM fit the DIMM's memory, and that no flow needs an unsupported
/// feature.
pub(super) fn check(server: &ServerParams, rdma_ends: usize, files: usize, needed: u128) -> Result<(), Issue> {
    let Some(dimm) = &server.socket().dimm else { return Ok(()) };
    if rdma_ends + files > 0 {
        let what = if files > 0 { "sendfile" } else { "RDMA" };
        let message = format!("{what} has no driver that flushes or clones; a NIC in a DIMM has none of it");
        return Err(Issue::between(Code::NotSupported, &["nic.attach", "flow"], message));
    }
    let queues = server.nic().map_or(0, |nic| u64::from(nic.queues));
    let row = u64::from(dimm.memory.dram.lines_per_row) * LINE_BYTES;
    let handed_out = u128::from(queues) * u128::from(rows_of_driver(dimm) * row);
    let (need, have) = (needed + handed_out, u128::from(dimm.memory.pages.memory_bytes));
    if need > have {
        let shown = |bytes: u128| format(u64::try_from(bytes).unwrap_or(u64::MAX), Dimension::Size);
        let message = format!("the rings and buffers of {queues} cores need {} of {}", shown(need), shown(have));
        return Err(Issue::between(Code::OutOfMemorySpace, &["nic.dimm.device", "nic.ring"], message));
    }
    if server.workloads.iter().any(|workload| workload.memory == Placement::Interleaved) {
        let message = "a NIC in a DIMM is a region of one channel, which is not interleaved";
        return Err(Issue::new(Code::NotSupported, "nic.attach", message));
    }
    Ok(())
}
