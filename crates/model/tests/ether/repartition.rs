//! Tests of joining and cutting fabrics: they continue as if nothing had happened.

use crate::lab::*;
use crate::random::{tcp, topology};
use hostnet_kernel::{checkpoint, ComponentId, Event, Scheduler, Simulation, Time};
use hostnet_model::ether::{fabrics, join_fabrics, repartition, Fabric};
use hostnet_model::params::*;
use hostnet_model::{Packet, PacketId, Payload};
use proptest::prelude::*;
use std::ops::Range;

/// Window of the partitions, in ps: less than any packet takes from node to node.
const WINDOW_PS: u64 = 1_000_000;

/// Returns the ranges of nodes between consecutive cuts.
fn ranges(nodes: usize, cuts: &[usize]) -> Vec<Range<usize>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % nodes).chain([0, nodes]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// State that the future depends on. Packets are in slots that depend only on the present state.
#[derive(Debug, PartialEq)]
struct State {
    nodes: Vec<u8>,
    waiting: Vec<Packet>,
    handled: u64,
    pending: Vec<(Event<Payload>, Option<Packet>)>,
    sequences: Vec<u64>,
}

fn state(parts: Vec<(Fabric, Scheduler<Payload>)>, nodes: usize) -> State {
    let apart = repartition(parts, &[0..1, 1..nodes]);
    let (fabric, scheduler) = join_fabrics(apart);
    let (_, handled, pending, sequences) = scheduler.state();
    let on_the_way = |payload| match payload {
        Payload::Packet { id, .. } => Some(nowhere(*fabric.packets().get(id))),
        _ => None,
    };
    State {
        nodes: checkpoint::write("", &fabric.nodes()).expect("nodes can be written"),
        waiting: (0..fabric.nodes().len()).flat_map(|node| fabric.waiting_at(node)).copied().collect(),
        handled,
        pending: pending.into_iter().map(|event| (event, on_the_way(event.payload))).collect(),
        sequences: sequences.to_vec(),
    }
}

/// Returns a packet without its position in a list.
fn nowhere(packet: Packet) -> Packet {
    Packet { next: PacketId::NONE, ..packet }
}

fn recorded(simulation: &mut Simulation<Fabric>) -> Vec<(Time, Packet)> {
    let parts = simulation.parts_mut().iter_mut();
    let seen = parts.flat_map(|(fabric, _)| fabric.packets_mut().take_recorded());
    seen.map(|(time, packet)| (time, nowhere(packet))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn cuts_that_move_change_nothing(
        shape in 0_u8..3, hosts in 2_usize..6, lossless in any::<bool>(),
        pairs in prop::collection::vec((any::<u8>(), any::<u8>(), 0_u8..3, 0_u8..8), 1..6),
        cuts in prop::collection::vec(prop::collection::vec(any::<usize>(), 0..4), 10),
        threads in 1_usize..3,
    ) {
        let mut all = topology(shape, hosts);
        for switch in &mut all.switches {
            switch.buffer_bytes = 40_000;
            switch.pfc = lossless.then_some(PfcParams { priorities: 0b1010, xoff_bytes: 6000, xon_bytes: 3000 });
        }
        for (from, to, traffic, priority) in pairs {
            let from = usize::from(from) % hosts;
            let to = (from + 1 + usize::from(to) % (hosts - 1)) % hosts;
            let packets = (0..300).map(|index| (index * 500_000, 64 + (index as u32 * 37) % 1400)).collect();
            let mut flow = replay(from as u16, to as u16, packets);
            if traffic > 0 {
                flow.transport = Transport::Tcp(tcp());
                flow.traffic = Traffic::Bulk { bytes: 2_000_000 };
            }
            flow.priority = priority;
            all.flows.push(flow);
        }
        let nodes = all.switches.len() + hosts;
        let mut straight = simulation(&all);
        let built = fabrics(&all, ComponentId(10), &vec![None; hosts], 1, |_| true);
        let mut parts: Vec<_> = built.here().collect();
        let host = ComponentId(10 + all.switches.len() as u32);
        straight.parts_mut()[0].0.packets_mut().record(host);
        parts[0].0.packets_mut().record(host);
        let mut packets = Vec::new();
        for (step, cuts) in (1..).zip(cuts) {
            let until_ps = step * 97_000_001;
            run(&mut straight, until_ps);
            let mut cut = Simulation::new(repartition(parts, &ranges(nodes, &cuts)), WINDOW_PS);
            cut.run_until_parallel(Time::from_ps(until_ps), threads);
            if step % 3 == 0 {
                packets.extend(recorded(&mut cut));
            }
            parts = cut.into_parts();
        }
        let mut cut = Simulation::new(parts, WINDOW_PS);
        packets.extend(recorded(&mut cut));
        prop_assert!(recorded(&mut straight) == packets);
        prop_assert_eq!(state(straight.into_parts(), nodes), state(cut.into_parts(), nodes));
    }
}
