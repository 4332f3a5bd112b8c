//! Assigns receive queues of the NIC to the cores of a server.

use super::attach::HostFlowEnd;
use super::Builder;
use hostnet_model::os::MigratedFlow;
use hostnet_model::params::Transport;

/// Returns the receive queue of a core that serves the NIC.
pub(super) fn queue_of(server: &Builder, core: u32) -> u16 {
    let serving = server.network_cores();
    let place = serving.iter().position(|&serving| serving == core).expect("threads run on cores that serve the NIC");
    receive_queue(server, place as u16)
}

/// Returns the receive queue of the core at `place` among those that serve the NIC.
pub(super) fn receive_queue(server: &Builder, place: u16) -> u16 {
    let queues = server.params.stack.as_ref().and_then(|stack| stack.receive_queues);
    // Cores beyond the number of queues share them round robin.
    queues.map_or(place, |queues| place % queues.clamp(1, 1 << 15) as u16)
}

/// Returns true if the number of receive queues is limited, so that cores may share one.
fn has_few_queues(server: &Builder) -> bool {
    server.params.stack.as_ref().is_some_and(|stack| stack.receive_queues.is_some())
}

/// Returns the flows of other cores whose packets may arrive at `core`. These are all flows if the NIC forgets
/// where flows run, if it has fewer queues than cores, or if the stack of the core processes packets that arrived
/// over rings.
pub(super) fn elsewhere(server: &Builder, core: u32) -> Vec<MigratedFlow> {
    let rings = server.params.socket().mcn.as_ref().is_some_and(|mcn| mcn.core == core && !mcn.steer);
    let forgets = rings || server.params.nic().is_some_and(|nic| nic.steer_expiry_ps > 0);
    let own = server.network_cores().iter().position(|&serving| serving == core).map(|place| place as u16);
    // A shared queue is served by the core of the same number, which sees the packets of all sharers.
    let shares = own.is_some_and(|own| receive_queue(server, own) == own) && has_few_queues(server);
    let Some(attachment) = server.attachment.as_ref().filter(|_| forgets || shares) else { return Vec::new() };
    let others = attachment.ends().filter(|end| matches!(end.flow.transport, Transport::Tcp(_) | Transport::Udp(_)));
    let elsewhere = |end: HostFlowEnd| MigratedFlow {
        flow: end.number,
        core: server.layout.core(end.core),
        queue: queue_of(server, end.core),
        class: server.class_of(end.flow),
    };
    others.filter(|end| end.core != core).map(elsewhere).collect()
}
