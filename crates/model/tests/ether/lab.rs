//! Clusters of endpoints for tests, and checks that hold for all of them.

use hostnet_kernel::{ComponentId, Simulation, Time};
use hostnet_model::ether::{fabrics, DropReason, Fabric, Network, PausedPort};
use hostnet_model::params::{
    AddressLearningParams, CableEnd, CableParams, ClusterParams, EndpointParams, Fidelity, FlowParams, HostKind,
    HostParams, NetworkFidelity, SwitchParams, Traffic, Transport,
};

pub const GBPS: u64 = 125_000_000;

pub fn cluster() -> ClusterParams {
    ClusterParams {
        hosts: Vec::new(),
        switches: Vec::new(),
        cables: Vec::new(),
        jobs: Vec::new(),
        flows: Vec::new(),
        classes: vec!["all".to_owned()],
        seed: 1,
        fidelity: NetworkFidelity::Packet,
    }
}

pub fn host(cluster: &mut ClusterParams) -> CableEnd {
    let kind = HostKind::Endpoint(EndpointParams { latency_ps: 1, queue_packets: 1000, forwarding_ports: 0 });
    let name = format!("h{}", cluster.hosts.len());
    cluster.hosts.push(HostParams { name, kind, fidelity: Fidelity::Line, compress: None });
    CableEnd::Host(cluster.hosts.len() as u16 - 1)
}

pub fn switch(cluster: &mut ClusterParams) -> CableEnd {
    let name = format!("s{}", cluster.switches.len());
    let (buffer_bytes, alpha, latency_ps) = (16 << 20, u32::MAX, 0);
    let nothing = SwitchParams {
        name,
        buffer_bytes,
        alpha,
        latency_ps,
        ecn: None,
        pfc: None,
        learning: None,
        sharers: None,
        energy: None,
    };
    cluster.switches.push(nothing);
    CableEnd::Switch(cluster.switches.len() as u16 - 1)
}

pub const LEARNING: AddressLearningParams = AddressLearningParams {
    table: 4096,
    ttl_ps: 10_000_000_000,
    fabric_bytes_per_s: 10 * GBPS,
    delay_ps: 0,
    jitter_ps: 0,
};

/// Makes all switches learn addresses.
pub fn learn(cluster: &mut ClusterParams, params: AddressLearningParams) {
    cluster.switches.iter_mut().for_each(|switch| switch.learning = Some(params));
}

pub fn cable(cluster: &mut ClusterParams, ends: [CableEnd; 2], gbps: u64) -> &mut CableParams {
    cluster.cables.push(CableParams {
        ends,
        bytes_per_s: gbps * GBPS,
        framing_bytes: 38,
        frame_min_bytes: 84,
        latency_ps: 1_000_000,
        length: 1,
        down_ps: Vec::new(),
        corrupt: 0,
    });
    cluster.cables.last_mut().expect("one was added")
}

pub fn replay(from: u16, to: u16, packets: Vec<(u64, u32)>) -> FlowParams {
    FlowParams {
        class: 0,
        from,
        to,
        from_core: 0,
        to_core: 0,
        transport: Transport::Raw,
        traffic: Traffic::Replay { packets },
        start_ps: 0,
        deaf_ps: None,
        moves: Vec::new(),
        sendfile: None,
        via: Vec::new(),
        priority: 0,
        mtu_bytes: 1500,
        compress: [false; 2],
    }
}

/// Creates a number of hosts at one switch.
pub fn star(hosts: usize, gbps: u64) -> ClusterParams {
    let mut cluster = cluster();
    let middle = switch(&mut cluster);
    for _ in 0..hosts {
        let end = host(&mut cluster);
        cable(&mut cluster, [end, middle], gbps);
    }
    cluster
}

pub fn simulation(cluster: &ClusterParams) -> Simulation<Fabric> {
    let built = fabrics(cluster, ComponentId(10), &vec![None; cluster.hosts.len()], 1, |_| true);
    assert_eq!(built.window_ps, None, "there is one partition");
    Simulation::new(built.here().collect(), 1)
}

pub fn run(simulation: &mut Simulation<Fabric>, until_ps: u64) {
    simulation.run_until(Time::from_ps(until_ps), |_| true);
}

pub fn world(simulation: &Simulation<Fabric>) -> &Fabric {
    simulation.worlds().next().expect("there is one partition")
}

/// Returns a cycle of paused ports, if there is one.
pub fn deadlock(fabric: &Fabric) -> Vec<PausedPort> {
    Network::of([fabric]).deadlock()
}

/// Packets of a flow, by their fate.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FlowCounts {
    pub sent: u64,
    pub received: u64,
    /// Packets dropped, by reason; the last are copies.
    pub dropped: [u64; 5],
    pub copied: u64,
}

pub fn flow_counts(fabric: &Fabric, flows: usize) -> Vec<FlowCounts> {
    let mut flow_counts = vec![FlowCounts::default(); flows];
    for end in fabric.endpoints().flat_map(|endpoint| endpoint.ends()) {
        flow_counts[end.flow() as usize].sent += end.sent_packets();
        flow_counts[end.flow() as usize].received += end.received_packets();
    }
    let drops = fabric.switches().map(|switch| switch.drops()).chain(fabric.endpoints().map(|end| end.drops()));
    for (flow, reason, packets) in drops.flat_map(|drops| drops.flows()) {
        flow_counts[flow as usize].dropped[reason as usize] += packets;
    }
    for (flow, packets) in fabric.learning_switches().flat_map(|(_, switch)| switch.copied()) {
        flow_counts[flow as usize].copied += packets;
    }
    flow_counts
}

/// Checks, flow by flow, that packets that were sent are received, dropped for a reason or in flight, and that copies
/// are dropped or in flight.
pub fn assert_nothing_is_lost(fabric: &Fabric, flows: usize) -> Vec<FlowCounts> {
    let mut on_the_way = vec![[0; 2]; flows];
    fabric.packets().iter().for_each(|packet| on_the_way[packet.flow as usize][usize::from(packet.copy)] += 1);
    let flow_counts = flow_counts(fabric, flows);
    for (flow, (flow_counts, [own, copies])) in flow_counts.iter().zip(on_the_way).enumerate() {
        let dropped: u64 = flow_counts.dropped[..4].iter().sum();
        assert_eq!(flow_counts.sent, flow_counts.received + dropped + own, "flow {flow}: {flow_counts:?}");
        assert_eq!(flow_counts.copied, flow_counts.dropped[4] + copies, "flow {flow}: {flow_counts:?}");
    }
    flow_counts
}

pub fn dropped(fabric: &Fabric, reason: DropReason) -> u64 {
    let drops = fabric.switches().map(|switch| switch.drops()).chain(fabric.endpoints().map(|end| end.drops()));
    drops.map(|drops| drops.packets(reason)).sum()
}
