//! Finds limits of a NIC, and of the kernel's network stack, that were not reached.

use crate::read::sample::PoolGroup;
use crate::report::view::ServerView;
use hostnet_model::met::{Limit, ReachedLimits};
use hostnet_model::nic::{DropReason, Nic};
use hostnet_model::os::NetStack;
use hostnet_model::params::NicParams;

/// Page size, in bytes. No read of a NIC crosses a page boundary.
const PAGE_BYTES: u32 = 4096;
/// Line size, in bytes.
const LINE_BYTES: u32 = 64;

/// Returns true if a key sets a limit of a NIC or of the network stack that nothing reached.
pub(super) fn never_met(view: &ServerView, key: &str) -> bool {
    let (Some(params), Some(_)) = (view.server.nic(), &view.server.stack) else { return false };
    match key {
        "nic.buffer" => dropped(view) + pauses(view) == 0,
        // Switched off, LRO has taken effect: packets were not merged.
        "nic.lro" => params.lro && joined(view) == 0,
        "nic.steer_expiry" => nics(view).all(|nic| nic.counters().expired == 0),
        "nic.send_window" => !met(view).has(Limit::SendWindow),
        "nic.coalesce_packets" => !met(view).has(Limit::CoalescePackets),
        "stack.gro" => !met(view).has(Limit::JoinedBytes),
        "stack.call_size" => !met(view).has(Limit::CallBytes),
        "stack.budget" => stacks(view).all(|stack| stack.counts().polls_full == 0),
        "stack.ack" => acks(view) == 0,
        "nic.pcie.mrrs" | "pcie.mrrs" => cuts_nothing(view, params),
        "iio.read_return" | "iio.read_to_cha" | "nic.pcie.nonposted_lines" => {
            !super::uses_domain(view, PoolGroup::P2mRead)
        }
        _ => key.starts_with("nic.pfc") && dropped(view) + pauses(view) == 0,
    }
}

fn nics<'a>(view: &'a ServerView) -> impl Iterator<Item = &'a Nic> {
    view.machine.each::<Nic>()
}

fn stacks<'a>(view: &'a ServerView) -> impl Iterator<Item = &'a NetStack> {
    view.machine.engines::<NetStack>()
}

/// Returns the packets dropped since the start of the run because the buffer was full or no descriptor was free.
fn dropped(view: &ServerView) -> u64 {
    let reasons = [DropReason::BufferFull, DropReason::NoDescriptor];
    let flows = nics(view).flat_map(|nic| nic.flows());
    flows.map(|flow| reasons.iter().map(|&reason| flow.dropped(reason).packets).sum::<u64>()).sum()
}

/// Returns the pauses that the NIC requested from its peer.
fn pauses(view: &ServerView) -> u64 {
    nics(view).map(|nic| nic.counters().pauses_sent).sum()
}

/// Returns the packets that the NIC merged into others (LRO).
fn joined(view: &ServerView) -> u64 {
    nics(view).flat_map(|nic| nic.flows()).map(|flow| flow.joined.packets).sum()
}

/// Returns the acknowledgements without data that the kernel sent.
fn acks(view: &ServerView) -> u64 {
    let connections = stacks(view).flat_map(NetStack::sockets).map(|(_, _, connection, _)| connection);
    connections.map(|connection| connection.counters().acks_sent).sum()
}

/// Returns the limits that were reached at the NIC and in the network stacks of the cores.
fn met(view: &ServerView) -> ReachedLimits {
    nics(view).map(|nic| nic.counters().met).chain(stacks(view).map(|stack| stack.counts().met)).collect()
}

/// Returns true if every read of the NIC fits into one PCIe request, and no other device reads over these links.
fn cuts_nothing(view: &ServerView, params: &NicParams) -> bool {
    // A packet may use its first and its last line only in part.
    let of_packet = (params.frame_bytes + 2 * LINE_BYTES).min(PAGE_BYTES);
    // A card with its own registers (`nic.attach`) reads many descriptors at a time.
    let largest = if params.attach.is_some() { PAGE_BYTES } else { of_packet };
    let has_storage = view.server.workloads.iter().any(|workload| workload.kind.fio().is_some());
    !has_storage && view.server.nic_links().all(|(_, link)| link.mrrs_bytes >= largest)
}
