//! `[nic]`, `[stack]` and `[control]`.

use super::attach;
use super::interrupts;
use super::io::link_bytes_per_s;
use super::nic_link::attached_link;
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::units::{format, Dimension};
use hostnet_params::{
    ControlParams, ControlRule, ControlSpec, HostCcParams, LineSize, NicParams, NicSpec, PcieParams, PfcParams,
    PfcSpec, RingsSpec, RuleSpec, SideSpec, Size, Spec, StackParams, StackSpec, Time, Workload,
};

/// Bytes of an Ethernet header, which precedes the IP packet in memory.
const ETHERNET_HEADER_BYTES: u32 = 14;
/// Size of the fragments of receive queues that drivers allocate: half a page.
const FRAGMENT_BYTES: u32 = 2048;
const WITHOUT_CACHES: &str = "DDIO needs caches; set cache.enabled = true, or nic.ddio = false";
const PS_PER_S: u64 = 1_000_000_000_000;

/// Time from a core's request to steer packets to its queue until they arrive there, in ps (assumed: a kernel thread
/// wakes up and writes a table of the NIC).
const STEER_PS: u64 = 20_000_000;

/// Checks that a descriptor, the receive buffer and the send window have room for the largest packet.
fn check_room(spec: &NicSpec, descriptor: u32, mtu_bytes: u32) -> Result<(), Issue> {
    let frame = mtu_bytes + ETHERNET_HEADER_BYTES;
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    if frame > descriptor {
        let message = format!(
            "{} are less than a packet of {mtu_bytes} B with its Ethernet header of {ETHERNET_HEADER_BYTES} B; give \
            more, or a smaller MTU",
            shown(descriptor.into())
        );
        return Err(Issue::new(Code::DoesNotFit, "nic.descriptor", message));
    }
    if spec.buffer.0 < u64::from(frame) {
        let message = format!("{} have no room for a packet of {mtu_bytes} B", shown(spec.buffer.0));
        return Err(Issue::new(Code::DoesNotFit, "nic.buffer", message));
    }
    if spec.send_window.0 < u64::from(mtu_bytes) {
        let message = format!("{} have no room for a packet of {mtu_bytes} B", shown(spec.send_window.0));
        return Err(Issue::new(Code::DoesNotFit, "nic.send_window", message));
    }
    Ok(())
}

/// Resolves a NIC with `queues` receive queues and packets of up to `mtu_bytes`. `pcie` is the link of a drive, whose
/// values apply where the NIC's own are absent.
pub(super) fn nic(
    spec: &NicSpec,
    server: &Spec,
    pcie: &PcieParams,
    queues: u32,
    mtu_bytes: u32,
) -> Result<NicParams, Issue> {
    let frame = mtu_bytes + ETHERNET_HEADER_BYTES;
    let needed = frame.next_multiple_of(FRAGMENT_BYTES);
    let needed = if spec.stride.is_some() { needed.next_power_of_two() } else { needed };
    let descriptor = spec.descriptor.map_or(needed, |Size(bytes)| bytes as u32);
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    check_room(spec, descriptor, mtu_bytes)?;
    let ring_bytes = u64::from(spec.ring) * u64::from(descriptor);
    let pool_bytes = spec.pool.map_or(ring_bytes, |Size(bytes)| bytes);
    if pool_bytes < ring_bytes {
        let message = format!(
            "{} are less than nic.ring = {} descriptors of {} need, which is {}",
            shown(pool_bytes),
            spec.ring,
            shown(descriptor.into()),
            shown(ring_bytes)
        );
        return Err(Issue::between(Code::DoesNotFit, &["nic.pool", "nic.ring", "nic.descriptor"], message));
    }
    if spec.ddio && !server.cache.enabled {
        return Err(Issue::between(Code::RequiresKey, &["nic.ddio", "cache.enabled"], WITHOUT_CACHES));
    }
    let pfc = spec.pfc.as_ref().map(|pfc| pfc_params(pfc, spec.buffer.0, "nic.pfc", "nic.buffer")).transpose()?;
    let (coalesce_ps, coalesce_packets) = interrupts::coalesced(spec)?;
    let pcie = attached_link(spec, link(spec, server, pcie)?);
    Ok(NicParams {
        attach: attach::attach(spec, &pcie)?,
        pcie,
        functions: Vec::new(),
        serves: Vec::new(),
        octo: false,
        buffer_bytes: spec.buffer.0,
        frame_bytes: frame,
        queues,
        ring_entries: spec.ring,
        descriptor_bytes: descriptor,
        stride_bytes: spec.stride.map_or(0, |Size(bytes)| bytes as u32),
        pool_bytes,
        completion_bytes: spec.completion.0 as u32,
        event_bytes: spec.event.map_or(0, |Size(bytes)| bytes as u32),
        receive_ps: spec.receive.0,
        transmit_ps: spec.transmit.0,
        interrupt_ps: spec.interrupt.0,
        coalesce_ps,
        coalesce_packets,
        send_window_bytes: spec.send_window.0 as u32,
        ddio: spec.ddio,
        relaxed_ordering: spec.relaxed_ordering,
        pfc,
        lro: spec.lro,
        scatter: spec.scatter.unwrap_or(false),
        rings_at_device: spec.rings == RingsSpec::Device,
        steer_ps: spec.steer_delay.map_or(STEER_PS, |Time(ps)| ps),
        steer_expiry_ps: spec.steer_expiry.map_or(0, |Time(ps)| ps),
        line_size: LineSize::LINE,
    })
}

fn link(spec: &NicSpec, server: &Spec, drives: &PcieParams) -> Result<PcieParams, Issue> {
    let own = &spec.pcie;
    let size = |own: Option<Size>, theirs: u32| own.map_or(theirs, |Size(bytes)| bytes as u32);
    let generation = own.generation.unwrap_or(server.pcie.generation);
    let link = PcieParams {
        bytes_per_s: link_bytes_per_s(generation, own.lanes),
        mps_bytes: size(own.mps, drives.mps_bytes),
        mrrs_bytes: size(own.mrrs, drives.mrrs_bytes),
        latency_ps: own.latency.map_or(drives.latency_ps, |latency| latency.0),
        posted_lines: own.posted_lines.unwrap_or(drives.posted_lines),
        nonposted_lines: own.nonposted_lines.unwrap_or(drives.nonposted_lines),
        ..drives.clone()
    };
    let short = [
        ("posted_lines", link.posted_lines, "mps", link.mps_bytes),
        ("nonposted_lines", link.nonposted_lines, "mrrs", link.mrrs_bytes),
    ];
    match short.into_iter().find(|(_, lines, _, bytes)| *lines < bytes / 64) {
        Some((key, lines, size, bytes)) => {
            let message = format!("{lines} lines are less than nic.pcie.{size}, which is {} lines", bytes / 64);
            Err(Issue::between(Code::DoesNotFit, &[&format!("nic.pcie.{key}"), &format!("nic.pcie.{size}")], message))
        }
        None => Ok(link),
    }
}

/// Resolves flow control of a buffer of `buffer_bytes`, a size given at `buffer_path`.
pub(super) fn pfc_params(spec: &PfcSpec, buffer_bytes: u64, path: &str, buffer_path: &str) -> Result<PfcParams, Issue> {
    let (xoff, xon) = (format!("{path}.xoff"), format!("{path}.xon"));
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    if spec.xoff.0 > buffer_bytes {
        let message = format!(
            "{} are more than the buffer of {}: no pause would come in time",
            shown(spec.xoff.0),
            shown(buffer_bytes)
        );
        return Err(Issue::between(Code::DoesNotFit, &[&xoff, buffer_path], message));
    }
    if spec.xon > spec.xoff {
        let message = format!("{} are more than xoff = {}", shown(spec.xon.0), shown(spec.xoff.0));
        return Err(Issue::between(Code::WrongOrder, &[&xon, &xoff], message));
    }
    let priorities = spec.priorities.iter().fold(0, |mask, priority| mask | 1 << priority);
    Ok(PfcParams { priorities, xoff_bytes: spec.xoff.0, xon_bytes: spec.xon.0 })
}

/// Resolves the costs of network processing on cores; `cores` are those with a receive queue. With `ddio`, data that
/// the NIC wrote and the kernel's metadata are in the caches. `prefetched` is true if prefetchers are on.
pub(super) fn stack(spec: &StackSpec, cores: Vec<u32>, ddio: bool, prefetched: bool) -> StackParams {
    let [extra_lines, page_lines] = if ddio { [0.0; 2] } else { [spec.extra_lines, spec.page_lines] };
    StackParams {
        cores,
        packet_ps: spec.packet.0,
        segment_ps: spec.segment.0,
        ack_ps: spec.ack.0,
        send_ps: spec.send.0,
        // Without copies no buffer of the receiver has to be allocated.
        allocate_ps: spec.allocate.filter(|_| !spec.zero_copy).map_or(0, |Time(ps)| ps),
        generate_ps: spec.generate.0,
        copy_line_ps: spec.copy_line.0,
        wake_ps: spec.wake.0,
        call_ps: spec.call.0,
        call_bytes: spec.call_size.0 as u32,
        budget: spec.budget,
        gro_bytes: spec.gro.0 as u32,
        poll: spec.poll,
        zero_copy: spec.zero_copy,
        extra_lines: (extra_lines * 65536.0).round() as u64,
        page_lines: (page_lines * 65536.0).round() as u64,
        prefetched,
        prefetch_ahead: spec.prefetch_ahead.unwrap_or(0),
        prefetch_pairs: spec.prefetch_ahead.is_some(),
        copy_ahead: spec.copy_ahead,
        cached_user: spec.cached_user,
        receive_queues: None,
        line_size: LineSize::LINE,
    }
}

/// Resolves the control of a server alone, which watches the lines behind a CXL link; `None` if it is off or watches
/// something else.
pub(super) fn control_of_expander(spec: &Spec, workloads: &[Workload]) -> Result<Option<ControlParams>, Issue> {
    let Some(control) = spec.control.as_ref().filter(|control| control.side == SideSpec::Expander) else {
        return Ok(None);
    };
    if spec.expander.is_none() {
        let message = "side = \"expander\" needs [expander]: it watches the lines behind a CXL link";
        return Err(Issue::between(Code::RequiresKey, &["control.side", "expander"], message));
    }
    let Some(names) = control.workloads.as_ref().filter(|names| !names.is_empty()) else {
        let message = "missing; side = \"expander\" needs the names of the workloads that are throttled";
        return Err(Issue::new(Code::MissingKey, "control.workloads", message));
    };
    let class = |name: &String| {
        let known = workloads.iter().map(|workload| workload.name.as_str());
        workloads.iter().position(|workload| workload.name == *name).map(|class| class as u8).ok_or_else(|| {
            let message = format!("{name:?} is no workload; {}", suggestion(name, known));
            Issue::new(Code::UnknownName, "control.workloads", message)
        })
    };
    if let Some((_, twice)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        return Err(Issue::new(Code::Duplicate, "control.workloads", format!("{twice:?} is there twice")));
    }
    let classes = names.iter().map(class).collect::<Result<_, _>>()?;
    Ok(control_params(control)?.map(|params| ControlParams { expander: Some(classes), ..params }))
}

/// Resolves the host congestion control of a host of a cluster; `None` if it is off.
pub(super) fn control(spec: &ControlSpec) -> Result<Option<ControlParams>, Issue> {
    if spec.side == SideSpec::Expander {
        let message = "\"expander\" is for a server alone; a host of a cluster has \"receiver\" or \"sender\"";
        return Err(Issue::new(Code::NotSupported, "control.side", message));
    }
    control_params(spec)
}

fn control_params(spec: &ControlSpec) -> Result<Option<ControlParams>, Issue> {
    check_rule(spec)?;
    let hostcc = |local, echo| ControlRule::HostCc(hostcc(spec, local, echo));
    let rule = match spec.rule {
        RuleSpec::None => return Ok(None),
        RuleSpec::Watch => ControlRule::Watch,
        RuleSpec::Hostcc => hostcc(true, true),
        RuleSpec::EchoOnly => hostcc(false, true),
        RuleSpec::LocalOnly => hostcc(true, false),
        RuleSpec::Fixed => ControlRule::Fixed(spec.level.unwrap_or_default()),
        RuleSpec::User => ControlRule::User(spec.name.clone().unwrap_or_else(|| "user".to_owned())),
    };
    Ok(Some(ControlParams {
        rule,
        read_ps: spec.read.0,
        read_spread_ps: spec.read.spread_ps(spec.read_jitter),
        write_ps: spec.write.0,
        signal_ps: spec.signal.0,
        iio_clock_ps: PS_PER_S.div_ceil(spec.iio_clock.0),
        mba_ps: spec.mba.0,
        sender: spec.side == SideSpec::Sender,
        expander: None,
    }))
}

/// Checks that a fixed level is given if needed, and that no rule has the key of another.
fn check_rule(spec: &ControlSpec) -> Result<(), Issue> {
    if spec.rule == RuleSpec::Fixed && spec.level.is_none() {
        let message = "missing; rule = \"fixed\" needs a level from 0 to 4";
        return Err(Issue::new(Code::MissingKey, "control.level", message));
    }
    if spec.workloads.is_some() && spec.side != SideSpec::Expander {
        let message = "has an effect only with side = \"expander\"";
        return Err(Issue::new(Code::NoEffect, "control.workloads", message));
    }
    let keys = [
        (RuleSpec::Fixed, "fixed", "level", spec.level.is_some()),
        (RuleSpec::User, "user", "name", spec.name.is_some()),
    ];
    for (rule, word, key, given) in keys {
        let path = format!("control.{key}");
        if spec.rule != rule && given {
            return Err(Issue::new(Code::NoEffect, path, format!("has an effect only with rule = \"{word}\"")));
        }
    }
    Ok(())
}

fn hostcc(spec: &ControlSpec, local: bool, echo: bool) -> HostCcParams {
    HostCcParams {
        occupancy: (spec.occupancy * 1024.0).round() as u64,
        // The signal includes the overhead of PCIe, and the target does not.
        target_bytes_per_s: (spec.target.0 as f64 * (1.0 + spec.pcie_overhead)).round() as u64,
        occupancy_shift: spec.occupancy_shift,
        bandwidth_shift: spec.bandwidth_shift,
        hold_ps: spec.hold.0,
        local,
        echo,
        occupancy_floor: spec.occupancy_floor.into(),
        bandwidth_ceiling: spec.bandwidth_ceiling.0,
    }
}

/// Returns the cores of the stack's core list, or `of_flows` without a list.
pub(super) fn queue_cores(spec: &StackSpec, of_flows: Vec<u32>) -> Vec<u32> {
    spec.cores.as_ref().map_or(of_flows, |cores| cores.0.clone())
}
