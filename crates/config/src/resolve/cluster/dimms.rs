//! DIMMs with processors: their slots, and their effect on flows.

use super::super::Resolved;
use super::host_names::HostNames;
use super::servers::HostServers;
use super::table;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, shorten, Dimension};
use hostnet_params::{
    largest_ring_packet, ClusterSpec, Fidelity, FlowParams, FlowSpec, HostKindSpec, McnInterface, McnKeys, McnParams,
    McnWake, Size, TimeLimit, Traffic, Transport,
};

/// Bytes of the headers of IP and TCP with time stamps.
const HEADER_BYTES: u32 = 52;

/// The slot of a DIMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Number of the host that has the slot.
    pub(super) on: usize,
    /// Memory channel of the slot.
    pub(super) channel: u32,
}

/// The slots of all hosts that are DIMMs.
#[derive(Clone, Debug, Default)]
pub(super) struct Dimms {
    /// Slot of each host that is a DIMM, by host.
    slots: Vec<Option<Slot>>,
    /// Keys of the memory channel network of each host, by host; `None` without DIMMs in its slots.
    keys: Vec<Option<McnKeys>>,
}

impl Dimms {
    /// Finds the slots of the DIMMs of a cluster.
    pub(super) fn resolve(spec: &ClusterSpec, hosts: &HostNames, servers: &HostServers) -> Result<Self, Issue> {
        let count = hosts.count();
        let mut all = Self { slots: vec![None; count], keys: vec![None; count] };
        for group in hosts.tables() {
            let own = &spec.host[&group.name];
            if own.kind != HostKindSpec::Dimm {
                continue;
            }
            let path = table("host", &group.name);
            let on = host_of(spec, hosts, &group.name)?;
            let channels = channels_of(spec, hosts, servers, &group.name, on)?;
            // A host with DIMMs is alone in its table (`host_of`), so both have one name.
            let keys = spec.host[hosts.name(on)].mcn.clone().unwrap_or_default().keys();
            all.keys[on] = Some(keys);
            for (at, host) in group.members.clone().enumerate() {
                let channel = channels[at % channels.len()];
                all.slots[host] = Some(Slot { on, channel });
                // DIMMs of other tables may have slots in this channel, too.
                let used = all.slots.iter().flatten().filter(|slot| slot.on == on && slot.channel == channel).count();
                if used > keys.slots as usize {
                    let host = table("host", hosts.name(on));
                    let message = format!("channel {channel} has {} slots: give others, or fewer DIMMs", keys.slots);
                    let paths = [format!("{path}.channels"), format!("{path}.count"), format!("{host}.mcn.slots")];
                    return Err(Issue::between(Code::TooFewSlots, &paths.each_ref().map(String::as_str), message));
                }
            }
        }
        all.check_hosts(spec, hosts, servers)?;
        Ok(all)
    }

    /// Checks the hosts with DIMMs, and that other hosts have no keys of DIMMs.
    fn check_hosts(&self, spec: &ClusterSpec, hosts: &HostNames, servers: &HostServers) -> Result<(), Issue> {
        for at in 0..hosts.count() {
            let path = hosts.table_path(at);
            let own = &spec.host[&hosts.table_of(at).name];
            match (&self.keys[at], &own.mcn) {
                (None, Some(_)) => {
                    let message = "no DIMM is in its slots: give one, such as kind = \"dimm\", on = \"NAME\"";
                    return Err(Issue::new(Code::NoEffect, format!("{path}.mcn"), message));
                }
                (Some(keys), own) => {
                    check_keys(&path, keys)?;
                    check_core(servers.of_host(at), &path, own.as_ref().and_then(|mcn| mcn.core))?;
                }
                (None, None) => {}
            }
            if self.keys[at].is_some() || self.slots[at].is_some() {
                if let Some(resolved) = servers.of_host(at) {
                    check_mcn(&path, resolved, own.fidelity, self.slots[at].is_some())?;
                }
            }
        }
        Ok(())
    }

    /// Returns the slot of a host that is a DIMM, otherwise `None`.
    pub(super) fn slot(&self, host: usize) -> Option<Slot> {
        self.slots.get(host).copied().flatten()
    }

    /// Returns true if any host is a DIMM.
    pub(super) fn any(&self) -> bool {
        self.slots.iter().any(Option::is_some)
    }

    /// Returns the host that has the slot of a DIMM, or the host itself if it is no DIMM.
    pub(super) fn around(&self, host: usize) -> usize {
        self.slot(host).map_or(host, |slot| slot.on)
    }

    /// Returns the keys of the rings between two hosts, or `None` if their packets use no rings.
    fn between(&self, from: usize, to: usize) -> Option<&McnKeys> {
        let ends = [from, to];
        // A DIMM reaches everything through the rings of its host, so one end in a DIMM is enough.
        let on = ends.into_iter().find_map(|host| Some(self.slot(host)?.on))?;
        self.keys[on].as_ref()
    }

    /// Returns the MTU of flows between pairs of hosts if all pairs communicate over rings only and agree on the MTU.
    pub(super) fn mtu(&self, pairs: &[(usize, usize)]) -> Option<Size> {
        let inside = |&(from, to): &(usize, usize)| {
            let keys = self.between(from, to)?;
            // Between machines packets cross cables, too, and have the MTU of the network.
            (self.around(from) == self.around(to)).then_some(keys.mtu_bytes)
        };
        let mut all = pairs.iter().map(inside);
        let first = all.next()??;
        all.all(|mtu| mtu == Some(first)).then_some(Size(first.into()))
    }

    /// Adapts flows to the rings that they use: a segment is one packet, or as much as a ring holds.
    pub(super) fn fit(
        &self,
        flows: &mut [FlowParams],
        classes: &[String],
        spec: &ClusterSpec,
        hosts: &HostNames,
    ) -> Result<(), Issue> {
        for flow in flows {
            let ends = [flow.from, flow.to].map(usize::from);
            let Some(keys) = self.between(ends[0], ends[1]).copied() else { continue };
            let path = path_of(spec, &classes[usize::from(flow.class)]);
            let host = table("host", hosts.name(self.around(ends[0])));
            let refused = |key: &str, message: String| {
                Err(Issue::between(Code::NotSupported, &[&format!("{path}.{key}"), "host"], message))
            };
            if flow.mtu_bytes > keys.mtu_bytes {
                let shown = |bytes: u32| format(bytes.into(), Dimension::Size);
                let message = format!(
                    "packets of {} are more than the {} of a ring (mcn.mtu)",
                    shown(flow.mtu_bytes),
                    shown(keys.mtu_bytes)
                );
                return Err(Issue::between(
                    Code::DoesNotFit,
                    &[&format!("{path}.mtu"), &format!("{host}.mcn.mtu")],
                    message,
                ));
            }
            match &mut flow.transport {
                Transport::Tcp(tcp) => {
                    let most = keys.gso_bytes - HEADER_BYTES;
                    let whole = tcp.tso_bytes.min(most) / tcp.mss_bytes * tcp.mss_bytes;
                    tcp.tso_bytes = if keys.tso { whole.max(tcp.mss_bytes) } else { tcp.mss_bytes };
                }
                Transport::Udp(_) if !matches!(flow.traffic, Traffic::Generate { .. }) => {}
                Transport::Roce(_) if matches!(flow.traffic, Traffic::Messages(_)) => {
                    return refused("transport", "rings carry TCP, such as \"dctcp\", and no RoCE".to_string());
                }
                _ => return refused("kind", "rings carry TCP and datagrams of applications".to_string()),
            }
            let Size(of_network) = spec.network.mtu;
            if self.around(ends[0]) != self.around(ends[1]) && u64::from(flow.mtu_bytes) > of_network {
                let shown = |bytes: u64| format(bytes, Dimension::Size);
                let message = format!(
                    "packets of {} go on by cables, where network.mtu is {}",
                    shown(flow.mtu_bytes.into()),
                    shown(of_network)
                );
                return Err(Issue::between(Code::DoesNotFit, &[&format!("{path}.mtu"), "network.mtu"], message));
            }
            if !flow.moves.is_empty() {
                return refused("move", "threads of flows over rings stay where they are".to_string());
            }
        }
        Ok(())
    }

    /// Returns the interfaces and costs of a server on its memory channel network, or `None` if the server is on
    /// none.
    pub(super) fn params(&self, host: usize, resolved: &Resolved, core: Option<u32>) -> Option<McnParams> {
        let on = self.around(host);
        let keys = self.keys[on].as_ref()?;
        let inside: Vec<(usize, Slot)> =
            self.slots.iter().enumerate().filter_map(|(at, slot)| Some((at, (*slot)?))).collect();
        let inside = inside.into_iter().filter(|(_, slot)| slot.on == on);
        let on_dimm = host != on;
        let interfaces = if on_dimm {
            let number = inside.map(|(at, _)| at).position(|at| at == host)?;
            vec![McnInterface { host: on as u16, port: number as u16, channel: 0 }]
        } else {
            inside.map(|(at, slot)| McnInterface { host: at as u16, port: 0, channel: slot.channel }).collect()
        };
        // ALERT_N is for the host; the processor of a DIMM is always interrupted.
        let alert = keys.alert || on_dimm;
        let wake = if alert { McnWake::Interrupt(keys.interrupt_ps) } else { McnWake::Timer(keys.poll_ps) };
        let server = &resolved.server;
        let cores = &server.socket().core;
        let ps = |clocks: u32| (f64::from(clocks) * 1e12 / resolved.spec.core.frequency.0 as f64).round() as u64;
        Some(McnParams {
            interfaces,
            on_dimm,
            ring_bytes: [keys.ring_bytes; 2],
            cross_ps: keys.cross_ps,
            // A read goes to the SRAM and back.
            sram_ps: 2 * keys.cross_ps,
            sram_bytes_per_s: keys.bytes_per_s,
            wake,
            poll_ps: keys.poll_work_ps,
            fence: keys.fence,
            fence_ps: (server.socket().cha.write_ack_ps + cores.write_ack_ps).max(1),
            copy_line_ps: ps(keys.copy_clocks),
            checksum_line_ps: if keys.checksum { ps(keys.checksum_clocks) } else { 0 },
            drop_line_ps: ps(keys.drop_clocks),
            queue_packets: keys.queue_packets,
            core: core.unwrap_or(cores.count - 1),
            steer: keys.steer,
            dma_lines: keys.dma_lines,
        })
    }
}

/// Returns the path of the table of the flows of a class.
fn path_of(spec: &ClusterSpec, class: &str) -> String {
    let of_class = |(name, flow): &(&String, &FlowSpec)| flow.class.as_deref().unwrap_or(name) == class;
    let job = || if spec.job.contains_key(class) { table("job", class) } else { "flow".to_string() };
    spec.flow.iter().find(of_class).map_or_else(job, |(name, _)| table("flow", name))
}

/// Checks the keys of a host for its rings.
fn check_keys(path: &str, keys: &McnKeys) -> Result<(), Issue> {
    let shown = |bytes: u32| format(bytes.into(), Dimension::Size);
    if keys.ring_bytes % 64 != 0 {
        return Err(Issue::new(Code::NotAMultiple, format!("{path}.mcn.rings"), "is not a multiple of a line of 64 B"));
    }
    let dma = keys.dma_lines.is_some();
    if dma && !keys.alert {
        let message = "engines hear of messages by ALERT_N: give alert = true, or dma = false";
        return Err(Issue::between(
            Code::RequiresKey,
            &[&format!("{path}.mcn.dma"), &format!("{path}.mcn.alert")],
            message,
        ));
    }
    if dma && keys.checksum {
        let message = "engines compute no checksums: give checksum = false, or dma = false";
        return Err(Issue::between(
            Code::ConflictingKeys,
            &[&format!("{path}.mcn.dma"), &format!("{path}.mcn.checksum")],
            message,
        ));
    }
    let most = largest_ring_packet(keys.ring_bytes);
    for (key, bytes) in [("mtu", keys.mtu_bytes), ("gso", keys.gso_bytes)] {
        if bytes > most {
            let message = format!(
                "a packet of {} does not fit into a ring of {}, which holds one of {}",
                shown(bytes),
                shown(keys.ring_bytes),
                shown(most)
            );
            return Err(Issue::between(
                Code::DoesNotFit,
                &[&format!("{path}.mcn.{key}"), &format!("{path}.mcn.rings")],
                message,
            ));
        }
    }
    Ok(())
}

/// Returns the host that has the slots of the DIMMs of a table.
fn host_of(spec: &ClusterSpec, hosts: &HostNames, name: &str) -> Result<usize, Issue> {
    let path = format!("{}.on", table("host", name));
    let Some(on) = &spec.host[name].on else {
        let message = "missing; give the host in whose slots it is, such as on = \"box\"";
        return Err(Issue::new(Code::MissingKey, path, message));
    };
    let found = hosts.find(on, &path)?;
    let at = found.start;
    let of_host = hosts.table_of(at);
    let kind = spec.host[&of_host.name].kind;
    let (is, rule) = match kind {
        HostKindSpec::Dimm => ("a DIMM itself", "DIMMs are in slots of a server"),
        HostKindSpec::Endpoint => ("an endpoint", "DIMMs are in slots of a server"),
        HostKindSpec::Server if found.len() > 1 || of_host.members.len() > 1 => {
            ("one of several hosts", "give each host with DIMMs a table of its own")
        }
        HostKindSpec::Server => return Ok(at),
    };
    Err(Issue::new(Code::WrongHostKind, path, format!("{} is {is}; {rule}", shorten(on))))
}

/// Returns the channels of the DIMMs of a table, assigned round robin.
fn channels_of(
    spec: &ClusterSpec,
    hosts: &HostNames,
    servers: &HostServers,
    name: &str,
    on: usize,
) -> Result<Vec<u32>, Issue> {
    let path = format!("{}.channels", table("host", name));
    let count = servers.of_host(on).map_or(0, |resolved| resolved.server.socket().memory.map.channels);
    let channels = spec.host[name].channels.as_ref().map_or_else(|| (0..count).collect(), |list| list.0.clone());
    match channels.iter().find(|&&channel| channel >= count) {
        Some(channel) => {
            let host = table("host", hosts.name(on));
            let message = format!(
                "channel {channel} does not exist at {host}; its memory.channels = {count} means channels 0 to {}",
                count - 1
            );
            Err(Issue::between(Code::DoesNotExist, &[&path, &format!("{host}.memory.channels")], message))
        }
        None => Ok(channels),
    }
}

/// Checks that a host has the core on which its driver reads rings.
fn check_core(resolved: Option<&Resolved>, path: &str, core: Option<u32>) -> Result<(), Issue> {
    let count = resolved.map_or(0, |resolved| resolved.server.socket().core.count);
    let Some(core) = core.filter(|&core| core >= count) else { return Ok(()) };
    let rule = format!("core {core} does not exist; core.count = {count} means cores 0 to {}", count - 1);
    Err(Issue::between(Code::DoesNotExist, &[&format!("{path}.mcn.core"), &format!("{path}.core.count")], rule))
}

/// Checks that a machine can be on a memory channel network.
fn check_mcn(path: &str, resolved: &Resolved, fidelity: Option<Fidelity>, on_dimm: bool) -> Result<(), Issue> {
    let spec = &resolved.spec;
    let idle = matches!(spec.memory.controller.idle_flush, TimeLimit::Off);
    let rules = [
        (
            Code::NeedsLineFidelity,
            "fidelity",
            fidelity.is_some_and(|own| own != Fidelity::Line),
            "rings are lines: leave it out, or give \"line\"",
        ),
        (
            Code::NotSupported,
            "sockets",
            resolved.server.sockets.len() > 1,
            "rings are those of a machine of one socket",
        ),
        (Code::NotSupported, "noc", spec.noc.is_some(), "rings have no place on a die"),
        (Code::NotSupported, "expander", spec.expander.is_some(), "a machine with rings has no memory behind a link"),
        (Code::RequiresKey, "cache.enabled", resolved.server.socket().cache.is_none(), "rings need caches: give true"),
        (
            Code::RequiresKey,
            "memory.controller.idle_flush",
            idle && !on_dimm,
            "a lone pointer would wait for ever: give a time, such as \"50 ns\"",
        ),
        (Code::NotSupported, "nic", on_dimm && spec.nic.is_some(), "a DIMM has no NIC: its host has"),
    ];
    match rules.into_iter().find(|(_, _, broken, _)| *broken) {
        Some((code, key, _, rule)) => Err(Issue::between(code, &[&format!("{path}.{key}"), path], rule)),
        None => Ok(()),
    }
}
