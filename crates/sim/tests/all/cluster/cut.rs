//! Tests that networks behave the same in any number of partitions.

use crate::cluster::lab::plan;
use crate::cluster::topologies::any_network;
use crate::common::laws::cases;
use hostnet_config::Plan;
use hostnet_kernel::Time;
use hostnet_model::Packet;
use hostnet_sim::{Epoch, Options, Run, SimulationError};
use proptest::prelude::*;

/// Returns a cluster of four racks, with or without PFC.
fn racks(pauses: bool) -> String {
    let pauses = if pauses { "pfc = { priorities = [0], xoff = \"20 kB\", xon = \"10 kB\" }, " } else { "" };
    format!(
        "[host.e]\nkind = \"endpoint\"\ncount = 16\n\
         [network]\ntopology = \"leaf-spine\"\nleaves = 4\nspines = 2\n\
         switch = {{ {pauses}buffer = \"1 MB\", ecn = \"65 packets\" }}\n\
         [flow.open]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"e\"\nsizes = \"web-search\"\nload = 0.5\n\
         [flow.in]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"e-5\"\npairs = \"incast\"\nbytes = \"40 kB\"\n\
         [run]\nwarmup = \"50 us\"\nduration = \"300 us\"\n"
    )
}

/// Outcome of a run: the hash of its results, its epochs, the packets of a host, and the number of its partitions.
type Found = (String, Vec<Epoch>, Vec<(Time, Packet)>, usize);

fn found(mut run: Run, host: &str) -> Found {
    let mut packets = Vec::new();
    run.record(host).expect("there is such a host");
    let on_packets = |more: &[(Time, Packet)]| {
        packets.extend(
            more.iter().map(|&(time, packet)| (time, Packet { next: hostnet_model::PacketId::NONE, ..packet })),
        );
        true
    };
    assert_eq!(run.run_recorded(|_| true, on_packets), Ok(true));
    let partitions = run.simulation().parts().len();
    (run.report().result_hash, run.epochs().to_vec(), packets, partitions)
}

fn with_threads(plan: &Plan, threads: usize) -> Found {
    found(Run::new(plan, Options { threads, ..Options::default() }), "e-5")
}

#[test]
fn four_racks_find_the_same_in_one_partition_and_in_several() {
    for pauses in [false, true] {
        let plan = plan(&racks(pauses));
        let (hash, epochs, packets, partitions) = with_threads(&plan, 1);
        assert_eq!(partitions, 1);
        assert!(packets.len() > 100 && epochs.len() > 10);
        for threads in 2..=5 {
            let found = with_threads(&plan, threads);
            assert_eq!(found.3, threads, "it is cut");
            assert_eq!((&found.0, &found.1), (&hash, &epochs), "{threads} threads");
            assert!(found.2 == packets, "{threads} threads");
        }
    }
}

/// Returns the plan of a ring of five switches whose pauses deadlock.
pub(crate) fn ring_that_gets_stuck() -> Plan {
    let flow = |from: u32| format!("\"e-{from}\"");
    let list = |shift: u32| (0..5).map(|host| flow((host + shift) % 5)).collect::<Vec<_>>().join(", ");
    let text = format!(
        "[host.e]\nkind = \"endpoint\"\ncount = 5\n[network]\ntopology = \"ring\"\nsize = 5\nrate = \"40 Gbps\"\n\
         core.rate = \"10 Gbps\"\n\
         switch = {{ buffer = \"1 MB\", pfc = {{ priorities = [0], xoff = \"20 kB\", xon = \"10 kB\" }} }}\n\
         [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 1000\nreceive_buffer = \"4 MB\"\n\
         [flow.f]\nkind = \"bulk\"\ntransport = \"t\"\nfrom = [{}]\nto = [{}]\n\
         [run]\nwarmup = \"0 us\"\nduration = \"5 ms\"\n",
        list(0),
        list(2)
    );
    plan(&text)
}

#[test]
fn pauses_that_wait_for_each_other_are_found_across_cuts() {
    let plan = ring_that_gets_stuck();
    let error = |threads: usize| {
        let mut run = Run::new(&plan, Options { threads, ..Options::default() });
        assert_eq!(run.simulation().parts().len(), threads);
        run.run(|_| true).expect_err("it cannot go on")
    };
    let expected = error(1);
    assert!(matches!(expected, SimulationError::Deadlock { .. }));
    assert!((2..=5).all(|threads| error(threads) == expected));
}

/// Returns the outcome of a run that is resumed from checkpoints at `at_ps`, each time on the next number of
/// `threads`, with the packets since the last checkpoint.
fn gone_on(plan: &Plan, threads: &[usize], at_ps: &[u64]) -> Option<Found> {
    let options = |threads, at_ps| Options { threads, checkpoint_at_ps: at_ps, ..Options::default() };
    let mut run = Run::new(plan, options(threads[0], at_ps[0]));
    for (index, &threads) in threads.iter().enumerate().skip(1) {
        assert_eq!(run.run(|_| true), Ok(true));
        let next = options(threads, at_ps.get(index).copied().unwrap_or(0));
        run = Run::resume(plan, next, run.checkpoint()?).expect("it can be read");
    }
    Some(found(run, "e-5"))
}

#[test]
fn a_checkpoint_goes_on_in_any_number_of_partitions() {
    for pauses in [false, true] {
        let plan = plan(&racks(pauses));
        let (hash, epochs, packets, _) = with_threads(&plan, 1);
        for threads in [[1, 4, 2], [3, 1, 5], [4, 5, 1]] {
            let at_ps = [77_777_777, 222_222_222];
            let own = gone_on(&plan, &threads, &at_ps).expect("checkpoints were taken");
            assert_eq!((&own.0, &own.1, own.3), (&hash, &epochs, threads[2]), "{threads:?}");
            assert!(packets.ends_with(&own.2), "{threads:?}");
            let after = packets.iter().filter(|packet| packet.0.ps() > at_ps[1]);
            assert_eq!(own.2.len(), after.count(), "{threads:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn cuts_and_checkpoints_change_nothing(
        text in any_network(),
        threads in prop::array::uniform3(2_usize..6),
        at_ps in 1_u64..250_000_000,
    ) {
        let plan = plan(&text.replace("[run]\n", "[run]\nwarmup = \"40 us\"\nduration = \"200 us\"\n"));
        let (hash, epochs, packets, _) = with_threads(&plan, 1);
        let cut = with_threads(&plan, threads[0]);
        prop_assert_eq!((&cut.0, &cut.1), (&hash, &epochs));
        prop_assert!(cut.2 == packets);
        for threads in [[1, threads[1]], [threads[1], 1], [threads[1], threads[2]]] {
            let Some(own) = gone_on(&plan, &threads, &[at_ps]) else { return Ok(()) };
            let fresh = Run::new(&plan, Options { threads: threads[1], ..Options::default() });
            prop_assert_eq!((&own.0, &own.1), (&hash, &epochs));
            prop_assert_eq!(own.3, fresh.simulation().parts().len());
            prop_assert!(packets.ends_with(&own.2));
            prop_assert_eq!(own.2.len(), packets.iter().filter(|packet| packet.0.ps() > at_ps).count());
        }
    }
}
