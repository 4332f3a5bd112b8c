//! `[expander]`: memory behind a CXL link.

use super::die::has_several_nodes;
use super::io::link_bytes_per_s;
use super::memory;
use super::nic_link::{FLIT_BYTES, SLOT_BYTES};
use crate::code::Code;
use crate::error::Issue;
use crate::presets;
use crate::units::{format, Dimension};
use hostnet_params::{
    DramSpec, ExpanderParams, ExpanderSpec, Fidelity, MapSpec, MemoryParams, MemorySize, PageParams, Placement,
    ServerParams, Size, Spec, WorkloadSpec,
};

/// Bytes of a line, which follow a slot in a message with data (CXL 2.0 specification, 4.2).
const LINE_BYTES: u32 = 64;

/// Resolves the memory behind a CXL link, if the server has any.
pub(super) fn resolve(spec: &Spec) -> Result<Option<Box<ExpanderParams>>, Issue> {
    check_share(spec)?;
    let Some(expander) = &spec.expander else { return Ok(None) };
    let others = [
        ("server.sockets", spec.server.sockets.unwrap_or(1) > 1, "is for servers of one socket"),
        ("noc", spec.noc.is_some(), "has no place on a die"),
        ("chiplets.nps", has_several_nodes(spec), "needs a socket that is one NUMA node (chiplets.nps = 1)"),
        ("remote", spec.workload.values().any(WorkloadSpec::is_remote), "is not reached over UPI"),
    ];
    if let Some((path, _, why)) = others.into_iter().find(|(_, given, _)| *given) {
        return Err(Issue::between(
            Code::NotSupported,
            &["expander", path],
            format!("[expander] {why}; drop [expander], or {path}"),
        ));
    }
    let device =
        presets::device(&expander.device).map_err(|issue| Issue::new(issue.code, "expander.device", issue.message))?;
    let dram: DramSpec = serde_json::from_value(device).map_err(super::plan_error)?;
    let within = |issue: Issue| Issue::new(issue.code, "expander.device", issue.message);
    let map = MapSpec::Named("intel".to_owned());
    let system = memory::system(expander.channels, &dram, &spec.memory.controller, &map).map_err(within)?;
    let run_bytes = spec.memory.run.0.max(spec.memory.page.0);
    let memory = MemoryParams {
        pages: PageParams { run_bytes, memory_bytes: memory_bytes(expander, system.capacity, run_bytes)? },
        dram: system.dram,
        controller: system.controller,
        map: system.map,
    };
    let wires = link_bytes_per_s(expander.generation, expander.lanes);
    Ok(Some(Box::new(ExpanderParams {
        // A flit of 68 B carries four slots of 16 B; the rest is protocol id and CRC (CXL 2.0 specification, 4.2).
        bytes_per_s: wires * u64::from(4 * SLOT_BYTES) / u64::from(FLIT_BYTES),
        latency_ps: expander.latency.0,
        request_bytes: SLOT_BYTES,
        data_bytes: SLOT_BYTES + LINE_BYTES,
        read_credits: expander.read_credits,
        write_credits: expander.write_credits,
        device_ps: expander.controller.0,
        memory,
    })))
}

/// Checks that a share of the TOR entries is one of some, and has lines to hold.
fn check_share(spec: &Spec) -> Result<(), Issue> {
    const KEY: &str = "cha.tor.expander_entries";
    let Some(share) = spec.cha.tor.expander_entries else { return Ok(()) };
    if spec.expander.is_none() {
        let message = format!("needs [expander]: it is the share of lines behind a CXL link; add it, or drop {KEY}");
        return Err(Issue::between(Code::RequiresKey, &[KEY, "expander"], message));
    }
    let entries = spec.cha.tor.entries;
    if share > entries {
        let message = format!("{share} is more than the {entries} entries of a slice");
        return Err(Issue::between(Code::WrongOrder, &[KEY, "cha.tor.entries"], message));
    }
    Ok(())
}

fn memory_bytes(spec: &ExpanderSpec, capacity: u64, run_bytes: u64) -> Result<u64, Issue> {
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    let bytes = match spec.size {
        MemorySize::All => capacity,
        MemorySize::Bytes(Size(bytes)) => bytes,
    };
    if bytes > capacity {
        let message = format!("{} is more than its channels hold, which is {}", shown(bytes), shown(capacity));
        return Err(Issue::between(Code::OutOfMemorySpace, &["expander.size", "expander.channels"], message));
    }
    if bytes % run_bytes != 0 {
        let message = format!("{} is not a multiple of a run of {}", shown(bytes), shown(run_bytes));
        return Err(Issue::between(Code::NotAMultiple, &["expander.size", "memory.run"], message));
    }
    Ok(bytes)
}

/// Checks that a server with memory behind a CXL link is simulated line by line.
pub(super) fn check_lines(server: &ServerParams, fidelity: Fidelity, key: &str) -> Result<(), Issue> {
    if server.socket().expander.is_none() || fidelity == Fidelity::Line {
        return Ok(());
    }
    let message = "needs fidelity = \"line\": memory behind a link has no rates";
    Err(Issue::between(Code::NeedsLineFidelity, &[key, "expander"], message))
}

/// Returns the bytes of the memory behind a CXL link if buffers of a workload may be in it, otherwise `None`.
pub(super) fn least_of(server: &ServerParams) -> Option<u64> {
    let expander = server.socket().expander.as_ref()?;
    let used = |place: Placement| matches!(place, Placement::Socket(1) | Placement::Interleaved);
    let any = server.workloads.iter().any(|workload| used(workload.memory)) || server.tiering().is_some();
    any.then_some(expander.memory.pages.memory_bytes)
}
