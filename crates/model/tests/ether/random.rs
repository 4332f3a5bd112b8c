//! Tests of random topologies, faults and traffic: no packet is lost without a reason, and equal runs have equal
//! results.

use crate::lab::*;
use hostnet_kernel::checkpoint;
use hostnet_model::params::*;
use proptest::prelude::*;

pub fn tcp() -> TcpParams {
    TcpParams {
        control: CongestionControl::Dctcp { gain: 1 << 12, alpha: 1 << 16 },
        mss_bytes: 1448,
        tso_bytes: 64 << 10,
        initial_window: 10,
        receive_buffer_bytes: 1 << 20,
        send_buffer_bytes: 1 << 20,
        rto_min_ps: 1_000_000_000,
        rto_initial_ps: 2_000_000_000,
        ack_segments: 2,
        ack_delay_ps: 100_000_000,
        sack: true,
        tail_loss_probe: true,
        ecn: true,
    }
}

fn roce() -> RoceParams {
    RoceParams {
        message_bytes: 20_000,
        in_flight: 4,
        mtu_bytes: 1024,
        ack_packets: 4,
        timeout_ps: 500_000_000,
        dcqcn: None,
    }
}

/// Creates hosts around a star, a dumbbell or a ring of switches.
pub fn topology(shape: u8, hosts: usize) -> ClusterParams {
    let mut all = cluster();
    let switches = [1, 2, 4][usize::from(shape)];
    let middle: Vec<CableEnd> = (0..switches).map(|_| switch(&mut all)).collect();
    for index in 0..hosts {
        let end = host(&mut all);
        cable(&mut all, [end, middle[index % switches]], 10);
    }
    let links = [0, 1, 4][usize::from(shape)];
    for link in 0..links {
        cable(&mut all, [middle[link], middle[(link + 1) % switches]], 10);
    }
    all
}

const RPC: Traffic =
    Traffic::Rpc { request_bytes: 3000, response_bytes: 20_000, other: None, in_flight: 2, think_ps: 1000 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn sent_packets_are_received_dropped_or_in_flight(
        shape in 0_u8..3, hosts in 2_usize..6, seed in any::<u64>(),
        buffer in 2_000_u64..60_000, lossless in any::<bool>(),
        pairs in prop::collection::vec((any::<u8>(), any::<u8>(), 0_u8..5, 0_u8..8), 1..6),
        down in 0_u64..3_000_000_000, corrupt in 0_u64..1 << 24,
    ) {
        let mut all = topology(shape, hosts);
        all.seed = seed;
        for switch in &mut all.switches {
            switch.buffer_bytes = buffer;
            switch.alpha = 1 << 16;
            switch.ecn = Some(EcnParams::Bytes(buffer / 4));
            switch.pfc = lossless.then_some(PfcParams { priorities: 0b1010, xoff_bytes: 6000, xon_bytes: 3000 });
        }
        all.cables[0].down_ps = vec![(down, down + 50_000_000)];
        all.cables[1].corrupt = corrupt;
        for (from, to, traffic, priority) in pairs {
            let from = usize::from(from) % hosts;
            let to = (from + 1 + usize::from(to) % (hosts - 1)) % hosts;
            let packets = (0..300).map(|index| (index * 500_000, 64 + (index as u32 * 37) % 1400)).collect();
            let mut flow = replay(from as u16, to as u16, packets);
            if traffic == 1 || traffic == 2 {
                flow.transport = Transport::Tcp(tcp());
                flow.traffic = Traffic::Bulk { bytes: 2_000_000 };
            }
            if traffic == 2 {
                flow.traffic = RPC;
            }
            if traffic > 2 {
                flow.transport = Transport::Roce(roce());
                flow.traffic = Traffic::Bulk { bytes: 1_000_001 };
            }
            if traffic > 3 {
                flow.traffic = Traffic::Read { bytes: 1_000_001 };
            }
            flow.priority = priority;
            all.flows.push(flow);
        }
        let (mut first, mut second) = (simulation(&all), simulation(&all));
        for step in 1..=10 {
            run(&mut first, step * 300_000_000);
            assert_nothing_is_lost(world(&first), all.flows.len());
        }
        run(&mut second, 3_000_000_000);
        let bytes = |simulation| checkpoint::write("x", simulation).expect("a world can be written");
        prop_assert!(bytes(&first) == bytes(&second), "where a run is stopped does not matter");
        for (world, _) in first.parts_mut() {
            world.stop_sources();
        }
        run(&mut first, 20_000_000_000_000);
        let fabric = world(&first);
        if deadlock(fabric).is_empty() {
            prop_assert!(fabric.packets().is_empty(), "what is on its way arrives in the end");
            for end in fabric.endpoints().flat_map(|endpoint| endpoint.ends()) {
                let others = fabric.endpoints().flat_map(|endpoint| endpoint.ends());
                let other = others.into_iter().find(|other| other.flow() == end.flow() && !std::ptr::eq(*other, end));
                if let (Some(here), Some(there)) = (end.memory(), other.and_then(|other| other.memory())) {
                    let (here, there) = (here.counters(), there.counters());
                    let arrived = there.packets_received + there.packets_out_of_order + there.packets_duplicate;
                    let lost: u64 = flow_counts(fabric, all.flows.len())[end.flow() as usize].dropped.iter().sum();
                    let sent = here.packets_sent + here.packets_retransmitted;
                    prop_assert!(arrived <= sent && sent <= arrived + lost, "{:?} to {:?}, {} lost", here, there, lost);
                    prop_assert!(there.bytes_received <= here.bytes_sent);
                }
                if let (Some(here), Some(there)) = (end.stream(), other.and_then(|other| other.stream())) {
                    prop_assert_eq!(here.application().written_bytes(), there.application().received_bytes());
                }
            }
        }
    }
}
