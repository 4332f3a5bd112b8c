//! Tests the rings of DIMMs with processors under any valid configuration, with an external observer.

use crate::cluster::lab::{drain_by, plan};
use crate::cluster::mcn_shadow::Shadow;
use crate::cluster::stats::{datagrams, streams};
use hostnet_kernel::Simulation;
use hostnet_model::mcn::Mcn;
use hostnet_model::params::largest_ring_packet;
use hostnet_model::World;
use hostnet_sim::build::world;
use proptest::prelude::*;

/// Maximum number of events of a drain: more than any case needs.
const EVENTS_MAX: u64 = 20_000_000;
/// Size of the IP and UDP headers, in bytes.
const UDP_BYTES: u32 = 28;

/// Keys of a host with DIMMs.
#[derive(Clone, Debug)]
struct Keys {
    level: u32,
    lines: u32,
    mtu: u32,
    gso: u32,
    tso: bool,
    steer: bool,
    queue: u32,
    poll_us: u32,
    idle_flush_ns: u32,
    dimms: u32,
    channels: &'static str,
    seed: u32,
}

/// Traffic between two machines.
#[derive(Clone, Copy, Debug)]
enum Traffic {
    Bulk { bytes: u32 },
    Ping { bytes: u32 },
    Datagrams { bytes: u32, mbps: u32 },
}

/// Returns the value of a range at `part` 1000ths of the distance from `least` to `most`.
fn within(least: u32, most: u32, part: u32) -> u32 {
    least + ((u64::from(most - least) * u64::from(part)) / 1000) as u32
}

fn keys() -> impl Strategy<Value = Keys> {
    let lines = prop_oneof![11_u32..60, 60_u32..753, Just(16_384_u32)];
    let sizes = (lines, 0_u32..1001, 0_u32..1001, any::<bool>());
    let host = (0_u32..6, any::<bool>(), prop_oneof![1_u32..8, Just(1000)], 1_u32..30, 20_u32..400);
    let slots = (1_u32..5, prop::sample::select(vec!["0", "1", "0-1"]), any::<u32>());
    (sizes, host, slots).prop_map(|((lines, mtu, gso, tso), (level, steer, queue, poll_us, flush), slots)| {
        let most = largest_ring_packet(lines * 64);
        let mtu = within(576, most.min(9000), mtu);
        let (dimms, channels, seed) = slots;
        let gso = within(mtu, most.min(65_535), gso);
        // Polling continues while lost packets await their retransmission, so no packets may be lost then.
        let queue = if level == 0 { 1000 } else { queue };
        Keys { level, lines, mtu, gso, tso, steer, queue, poll_us, idle_flush_ns: flush, dimms, channels, seed }
    })
}

fn traffic() -> impl Strategy<Value = (usize, usize, Traffic)> {
    let kind = prop_oneof![
        (1_u32..150_000).prop_map(|bytes| Traffic::Bulk { bytes }),
        (0_u32..1001).prop_map(|bytes| Traffic::Ping { bytes }),
        (0_u32..1001, 10_u32..4000).prop_map(|(bytes, mbps)| Traffic::Datagrams { bytes, mbps }),
    ];
    (0_usize..5, 0_usize..5, kind)
}

impl Keys {
    fn names(&self) -> Vec<String> {
        let dimm = |dimm| if self.dimms > 1 { format!("d-{dimm}") } else { "d".to_string() };
        std::iter::once("box".to_string()).chain((0..self.dimms).map(dimm)).collect()
    }

    fn text(&self) -> String {
        let Self { level, lines, mtu, gso, tso, steer, queue, poll_us, idle_flush_ns, dimms, channels, seed } = self;
        format!(
            "[host.box]\npreset = \"mcn-host-8\"\nmemory.controller.idle_flush = \"{idle_flush_ns} ns\"\n\
             [host.box.mcn]\nlevel = \"mcn{level}\"\nrings = \"{} B\"\nmtu = \"{mtu} B\"\ngso = \"{gso} B\"\n\
             tso = {tso}\nsteer = {steer}\nqueue = {queue}\npoll = \"{poll_us} us\"\n\
             [host.d]\nkind = \"dimm\"\non = \"box\"\npreset = \"mcn-a57\"\n\
             count = {dimms}\nchannels = \"{channels}\"\n\
             [run]\nseed = {seed}\n",
            lines * 64
        )
    }

    fn flow(&self, index: usize, from: &str, to: &str, traffic: Traffic) -> String {
        let size = |part| within(1, self.mtu - UDP_BYTES, part);
        let of_kind = match traffic {
            Traffic::Bulk { bytes } => format!("kind = \"bulk\"\ntransport = \"cubic\"\nbytes = \"{bytes} B\""),
            Traffic::Ping { bytes } => {
                format!("kind = \"datagram\"\npattern = \"ping\"\nrequest = \"{} B\"", size(bytes))
            }
            Traffic::Datagrams { bytes, mbps } => {
                format!("kind = \"datagram\"\nsize = \"{} B\"\nrate = \"{mbps} Mbps\"", size(bytes))
            }
        };
        format!("[flow.f{index}]\nfrom = \"{from}\"\nto = \"{to}\"\n{of_kind}\n")
    }
}

/// Returns the datagrams of all flows that no application read, and the packets that interfaces dropped.
fn lost(simulation: &Simulation<World>) -> [u64; 2] {
    let ends = datagrams(simulation);
    let lost: u64 = ends.iter().map(|end| end.application.counts().sent).sum::<u64>()
        - ends
            .iter()
            .map(|end| end.application.counts().received + end.counts.map_or(0, |own| own.dropped))
            .sum::<u64>();
    let mcn = crate::cluster::lab::servers(simulation).into_iter().flat_map(|machine| machine.each::<Mcn>());
    [lost, mcn.flat_map(Mcn::counts).map(|(_, counts)| counts.dropped).sum()]
}

proptest! {
    #![proptest_config(crate::common::laws::cases(12))]

    /// Pointers cover whole messages, no line is read before that or overwritten before it was read, the statistics
    /// account for every packet at any time, and all packets are gone at the end.
    #[test]
    fn rings_hold_what_the_books_say_until_they_are_empty(
        keys in keys(),
        flows in prop::collection::vec(traffic(), 1..5),
        steps in prop::collection::vec(1_u64..12_000_000, 4..24),
    ) {
        let names = keys.names();
        let (mut text, mut bulk) = (keys.text(), false);
        let pairs = flows.iter().map(|(from, to, traffic)| (from % names.len(), to % names.len(), *traffic));
        for (index, (from, to, traffic)) in pairs.filter(|(from, to, _)| from != to).enumerate() {
            text += &keys.flow(index, &names[from], &names[to], traffic);
            bulk |= matches!(traffic, Traffic::Bulk { .. });
        }
        prop_assume!(text.contains("[flow"));
        let plan = plan(&text);
        let mut simulation = world(&plan.cluster);
        let mut shadow = Shadow::new(&plan.cluster, &simulation);
        for step in steps {
            let until = simulation.progress().time + step;
            simulation.run_until_observed(until, &mut shadow, |_| true);
            shadow.check(&simulation);
        }
        let most = simulation.progress().events + EVENTS_MAX;
        drain_by(&mut simulation, |simulation, until| {
            let reached = simulation.run_until_observed(until, &mut shadow, |progress| progress.events < most);
            assert!(reached, "something is stuck: events without end");
        });
        shadow.check_empty(&simulation);
        let ends = streams(&simulation);
        let received: u64 = ends.iter().map(|end| end.application.received_bytes()).sum();
        prop_assert_eq!(received, ends.iter().map(|end| end.application.written_bytes()).sum::<u64>());
        let [lost, dropped] = lost(&simulation);
        prop_assert!(lost == dropped || bulk && lost < dropped, "{} datagrams of {} packets", lost, dropped);
    }
}

/// Returns the number of times that the host has read the poll words of two DIMMs, of which only the first sends.
fn looked(level: u32, channels: &str) -> Vec<u64> {
    let text = format!(
        "[host.box]\npreset = \"mcn-host-8\"\nmcn.level = \"mcn{level}\"\n[host.d]\nkind = \"dimm\"\non = \"box\"\n\
         preset = \"mcn-a57\"\ncount = 2\nchannels = \"{channels}\"\n\
         [flow.f]\nkind = \"datagram\"\nfrom = \"d-0\"\nto = \"box\"\nsize = \"1 kB\"\nrate = \"1 Gbps\"\n"
    );
    let plan = plan(&text);
    let mut simulation = world(&plan.cluster);
    let mut shadow = Shadow::new(&plan.cluster, &simulation);
    simulation.run_until_observed(crate::common::us(200), &mut shadow, |_| true);
    shadow.looked(0)
}

#[test]
fn an_alert_is_that_of_a_channel_and_all_dimms_there_are_looked_at() {
    let [apart, together, timer, engines] = [(1, "0-1"), (1, "1"), (0, "0-1"), (5, "0-1")].map(|(level, channels)| {
        let [first, second] = looked(level, channels)[..] else { panic!("two DIMMs") };
        [first, second]
    });
    assert!(apart[0] > 10 && apart[1] == 0, "{apart:?}");
    assert!(together[0] > 10 && together[0].abs_diff(together[1]) <= 1, "{together:?}");
    assert!(timer[0] > 10 && timer[0].abs_diff(timer[1]) <= 1, "{timer:?}");
    assert_eq!(engines, [0, 0], "engines hear of messages at once");
}
