//! Benchmarks of a dumbbell of DCTCP flows without host networks: packet-hops per second of processor time.
//!
//! The topology is N senders, a switch, a switch, and N receivers, with one endless flow per pair. Each data packet
//! and each acknowledgement crosses three cables.

use crate::sample::{interleaved, Sample, Work};
use crate::server::Clock;
use crate::{peak_bytes, Row, Size};
use hostnet_kernel::{checkpoint, mix, ComponentId, Rng, Simulation, Time};
use hostnet_model::ether::{fabrics, Fabric, FlowEnd, OccupancyStats, TcpFlowEnd};
use hostnet_model::params::{
    CableEnd, CableParams, ClusterParams, CongestionControl, EcnParams, EndpointParams, Fidelity, FlowParams, HostKind,
    HostParams, NetworkFidelity, SwitchParams, TcpParams, Traffic, Transport,
};

/// Payload of a packet of 1500 bytes, in bytes.
const MSS_BYTES: u32 = 1448;
/// Bytes per second in 1 Gbps.
const GBPS: u64 = 125_000_000;
const MS: u64 = 1_000_000_000;
/// All flows start within this time, in ps.
const JITTER_PS: u64 = MS;

/// Parameters of a dumbbell topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dumbbell {
    /// Number of flows.
    pub flows: u16,
    /// Rate of the bottleneck between the switches, in Gbps; the cables of hosts have four times that.
    pub gbps: u64,
    /// Queue length, in packets, at or above which the switches mark packets (ECN).
    pub mark_packets: u32,
    /// Buffer of each switch, in packets.
    pub buffer_packets: u64,
}

impl Dumbbell {
    /// Returns the parameters of the cluster.
    #[must_use]
    pub fn cluster(&self) -> ClusterParams {
        let mut random = Rng::new(1, 1);
        let middle = self.cable([CableEnd::Switch(0), CableEnd::Switch(1)], self.gbps);
        let mut cables = vec![middle];
        let sides = (0..2 * self.flows).map(|host| [CableEnd::Host(host), CableEnd::Switch(host / self.flows)]);
        cables.extend(sides.map(|ends| self.cable(ends, 4 * self.gbps)));
        ClusterParams {
            jobs: Vec::new(),
            hosts: (0..2 * self.flows).map(host).collect(),
            switches: vec![self.switch("left"), self.switch("right")],
            cables,
            flows: (0..self.flows).map(|flow| self.flow(flow, random.below(JITTER_PS))).collect(),
            classes: vec!["bulk".to_owned()],
            seed: 1,
            fidelity: NetworkFidelity::Packet,
        }
    }

    fn switch(&self, name: &str) -> SwitchParams {
        SwitchParams {
            name: name.to_owned(),
            buffer_bytes: self.buffer_packets * 1500,
            alpha: u32::MAX,
            latency_ps: 0,
            ecn: Some(EcnParams::Packets(self.mark_packets)),
            pfc: None,
            learning: None,
            sharers: None,
            energy: None,
        }
    }

    fn cable(&self, ends: [CableEnd; 2], gbps: u64) -> CableParams {
        CableParams {
            ends,
            bytes_per_s: gbps * GBPS,
            framing_bytes: 2,
            frame_min_bytes: 0,
            latency_ps: 10_000_000,
            length: 1,
            down_ps: Vec::new(),
            corrupt: 0,
        }
    }

    fn flow(&self, flow: u16, start_ps: u64) -> FlowParams {
        FlowParams {
            class: 0,
            from: flow,
            to: flow + self.flows,
            from_core: 0,
            to_core: 0,
            transport: Transport::Tcp(dctcp()),
            traffic: Traffic::Bulk { bytes: u64::MAX },
            start_ps,
            deaf_ps: None,
            moves: Vec::new(),
            sendfile: None,
            via: Vec::new(),
            priority: 0,
            mtu_bytes: 1500,
            compress: [false; 2],
        }
    }
}

fn host(index: u16) -> HostParams {
    let kind = HostKind::Endpoint(EndpointParams { latency_ps: 1, queue_packets: 1000, forwarding_ports: 0 });
    HostParams { name: format!("h{index}"), kind, fidelity: Fidelity::Line, compress: None }
}

fn dctcp() -> TcpParams {
    TcpParams {
        control: CongestionControl::Dctcp { gain: 1 << 12, alpha: 1 << 16 },
        mss_bytes: MSS_BYTES,
        tso_bytes: MSS_BYTES,
        initial_window: 10,
        receive_buffer_bytes: 8 << 20,
        send_buffer_bytes: 8 << 20,
        rto_min_ps: 10 * MS,
        rto_initial_ps: 1000 * MS,
        ack_segments: 1,
        ack_delay_ps: MS,
        sack: true,
        tail_loss_probe: false,
        ecn: true,
    }
}

/// A simulation of a dumbbell.
#[derive(Debug)]
pub struct DumbbellRun {
    simulation: Simulation<Fabric>,
    /// State at the begin of the window: bytes that each application had read, and packets marked and sent at the
    /// bottleneck.
    before: (Vec<u64>, [u64; 2]),
    begun: Time,
}

/// Measurements of a dumbbell in a window.
#[derive(Clone, Debug)]
pub struct DumbbellStats {
    /// Goodput of each receiving application, in bytes per second.
    pub goodput: Vec<f64>,
    /// Queue length at the bottleneck, in packets.
    pub queue: OccupancyStats,
    /// Share of the packets over the bottleneck that the bottleneck marked, 0 to 1.
    pub marked: f64,
    /// Number of packets over the bottleneck.
    pub packets: u64,
    /// Packets dropped anywhere since the start of the simulation.
    pub dropped: u64,
}

impl DumbbellStats {
    /// Sums the goodput of all applications, in bytes per second.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.goodput.iter().sum()
    }

    /// Returns Jain's fairness index: 1 if all flows have the same goodput.
    #[must_use]
    pub fn fairness(&self) -> f64 {
        let squares: f64 = self.goodput.iter().map(|rate| rate * rate).sum();
        self.total().powi(2) / (squares * self.goodput.len() as f64)
    }
}

impl DumbbellRun {
    /// Creates the dumbbell at time zero.
    #[must_use]
    pub fn new(dumbbell: &Dumbbell) -> Self {
        let cluster = dumbbell.cluster();
        let built = fabrics(&cluster, ComponentId(0), &vec![None; cluster.hosts.len()], 1, |_| true);
        let simulation = Simulation::new(built.here().collect(), 1);
        Self { simulation, before: (vec![0; usize::from(dumbbell.flows)], [0; 2]), begun: Time::ZERO }
    }

    /// Advances the simulation by `ps` picoseconds.
    pub fn advance(&mut self, ps: u64) {
        let end = self.simulation.progress().time + ps;
        self.simulation.run_until(end, |_| true);
    }

    /// Begins a measurement window.
    pub fn begin_window(&mut self) {
        let (fabric, scheduler) = &mut self.simulation.parts_mut()[0];
        fabric.reset(scheduler.now());
        self.begun = scheduler.now();
        self.before = (received(fabric), bottleneck(fabric));
    }

    /// Returns the measurements of the window so far.
    ///
    /// # Panics
    /// Panics if no time has passed since the window began.
    #[must_use]
    pub fn outcome(&mut self) -> DumbbellStats {
        let (fabric, scheduler) = &mut self.simulation.parts_mut()[0];
        fabric.settle(scheduler.now());
        let seconds = scheduler.now().since(self.begun) as f64 / 1e12;
        assert!(seconds > 0.0, "a window has a length");
        let after = received(fabric);
        let goodput = after.iter().zip(&self.before.0).map(|(after, before)| (after - before) as f64);
        let [marked, sent] = bottleneck(fabric);
        let (marked, packets) = (marked - self.before.1[0], sent - self.before.1[1]);
        let drops = fabric.switches().map(|switch| switch.drops()).chain(fabric.endpoints().map(|end| end.drops()));
        DumbbellStats {
            goodput: goodput.map(|bytes| bytes / seconds).collect(),
            queue: port(fabric).egress().queue_packets().clone(),
            marked: marked as f64 / packets.max(1) as f64,
            packets,
            dropped: drops.map(|drops| drops.total()).sum(),
        }
    }

    /// Returns the simulated network in its current state.
    #[must_use]
    pub fn fabric(&self) -> &Fabric {
        &self.simulation.parts()[0].0
    }

    /// Returns a hash of the complete state of the simulation.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let bytes = checkpoint::write("dumbbell", &self.simulation).expect("a world can be written");
        bytes
            .chunks(8)
            .fold(0, |hash, chunk| chunk.iter().fold(mix(hash), |hash, &byte| hash.rotate_left(8) ^ u64::from(byte)))
    }
}

/// Returns the port of the bottleneck.
fn port(fabric: &Fabric) -> &hostnet_model::ether::SwitchPort {
    &fabric.switches().next().expect("a dumbbell has switches").ports()[0]
}

fn bottleneck(fabric: &Fabric) -> [u64; 2] {
    [port(fabric).marked_packets(), port(fabric).egress().sent_packets()]
}

/// Returns the bytes that each receiving application has read.
fn received(fabric: &Fabric) -> Vec<u64> {
    // The second half of the hosts receives.
    let receiving = fabric.endpoints().flat_map(|endpoint| endpoint.ends()).skip(fabric.endpoints().count() / 2);
    receiving.filter_map(FlowEnd::stream).map(|stream: &TcpFlowEnd| stream.application().received_bytes()).collect()
}

/// Benchmarks few and many flows at 10 Gbps, and two flows at 100 Gbps.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let case = |flows, gbps| Dumbbell { flows, gbps, mark_packets: 65, buffer_packets: 4096 };
    let ms = |full: u64| if size == Size::Quick { 2 } else { full };
    vec![
        row(size, "dumbbell, 2 flows, 10 Gbps", &case(2, 10), ms(1000)),
        row(size, "dumbbell, 1024 flows, 10 Gbps", &case(if size == Size::Quick { 32 } else { 1024 }, 10), ms(1000)),
        row(size, "dumbbell, 2 flows, 100 Gbps", &case(2, 100), ms(100)),
    ]
}

fn row(size: Size, name: &str, dumbbell: &Dumbbell, ms: u64) -> Row {
    let repetitions = if size == Size::Quick { 1 } else { 3 };
    // Runs are deterministic, so one more run counts the packets of all.
    let packets = measure(dumbbell, ms).1;
    let sample = interleaved(repetitions, &[&|| measure(dumbbell, ms).0]).typical(0);
    Row {
        benchmark: format!("{name}: {packets} data packets"),
        events_per_s: sample.events as f64 / sample.seconds,
        lines_per_s: None,
        events_per_line: None,
        pending_max: sample.pending_max,
        memory_max_bytes: peak_bytes(),
        times_reference: None,
        hash: format!("{:016x}", sample.hash),
    }
}

/// Runs a dumbbell for `ms` milliseconds, in data packets over the bottleneck.
pub(crate) fn count(dumbbell: &Dumbbell, ms: u64) -> Work {
    let (sample, packets) = measure(dumbbell, ms);
    Work { units: packets, hash: sample.hash }
}

/// Measures one run, in seconds of processor time where the system counts that, and the data packets that crossed the
/// bottleneck.
fn measure(dumbbell: &Dumbbell, ms: u64) -> (Sample, u64) {
    let mut running = DumbbellRun::new(dumbbell);
    let clock = Clock::start();
    running.advance(ms * MS);
    let seconds = clock.seconds();
    let pending_max = running.simulation.parts()[0].1.pending_max() as u64;
    let events = running.simulation.progress().events;
    (Sample { seconds, events, pending_max, hash: running.hash() }, bottleneck(running.fabric())[1])
}
