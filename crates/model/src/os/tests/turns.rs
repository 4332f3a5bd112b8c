//! Tests of turns and sleep: which user of a core goes first, and which applications sleep.

use super::rig::*;
use crate::line::Ecn;
use crate::os::CoreTimeKind;
use crate::params::{StackParams, Traffic};
use hostnet_kernel::Time;

const ENDLESS: Traffic = Traffic::Bulk { bytes: u64::MAX };

#[test]
fn a_softirq_that_uses_up_its_budget_leaves_as_much_time_to_the_applications() {
    let stack = StackParams { packet_ps: 3 * US, gro_bytes: 0, segment_ps: 0, ack_ps: 0, ..stack() };
    let stack = StackParams { copy_line_ps: 60_000, call_ps: 0, budget: 4, ..stack };
    let mut run = flows(stack, vec![socket(0, ENDLESS, false)]);
    run_us(&mut run, 20_000);
    let end = Time::from_ps(20_000 * US);
    let core = &world(&mut run).core;
    let (softirq, copy) =
        (core.times().spent_ps(CoreTimeKind::Softirq, end), core.times().spent_ps(CoreTimeKind::Copy, end));
    assert!(core.counts().polls_full > 100);
    let ratio = softirq as f64 / copy as f64;
    assert!((0.7..1.3).contains(&ratio), "softirq {softirq}, copy {copy}");
}

#[test]
fn an_interrupt_is_handled_before_the_rest_of_a_copy() {
    let stack = StackParams { copy_line_ps: 1_000_000, call_bytes: 1 << 20, ..stack() };
    let mut run = rig(net_core(stack, vec![socket(0, ENDLESS, false)]), vec![None]);
    inject_packets(&mut run, 10 * US, &[(data(0, 4044), Ecn::Capable)]);
    inject_packets(&mut run, 30 * US, &[(data(4044, 4044), Ecn::Capable)]);
    run_us(&mut run, 33);
    let socket = &world(&mut run).core.ends.sockets[0];
    assert_eq!((socket.counts.delivered, socket.counts.read_bytes), (2, 0), "the copy of 64 us is under way");
    run_us(&mut run, 200);
    assert_eq!(world(&mut run).core.ends.sockets[0].counts.read_bytes, 8088);
}

#[test]
fn an_application_that_slept_pays_for_waking_up() {
    let mut run = rig(net_core(stack(), vec![socket(0, ENDLESS, false)]), vec![None]);
    for turn in 0..3 {
        inject_packets(&mut run, (10 + 100 * turn) * US, &[(data(turn * 1000, 1000), Ecn::Capable)]);
    }
    run_us(&mut run, 1000);
    let core = &world(&mut run).core;
    let counts = core.ends.sockets[0].counts;
    assert_eq!((counts.calls, counts.wakes, counts.read_bytes), (3, 3, 3000));
    let calls = core.times().spent_ps(CoreTimeKind::Call, Time::from_ps(1000 * US));
    assert_eq!(calls, 3 * stack().wake_ps);
}

#[test]
fn an_application_with_more_to_read_goes_on_without_sleeping() {
    let stack = StackParams { call_bytes: 1000, ..stack() };
    let mut run = rig(net_core(stack.clone(), vec![socket(0, ENDLESS, false)]), vec![None]);
    inject_packets(&mut run, 10 * US, &[(data(0, 4000), Ecn::Capable)]);
    run_us(&mut run, 1000);
    let core = &world(&mut run).core;
    let counts = core.ends.sockets[0].counts;
    assert_eq!((counts.calls, counts.wakes, counts.read_bytes), (4, 1, 4000));
    assert_eq!(core.times().spent_ps(CoreTimeKind::Call, Time::from_ps(1000 * US)), stack.wake_ps + 3 * stack.call_ps);
}

#[test]
fn a_deaf_application_closes_the_window_and_opens_it_again() {
    let mut deaf = socket(0, ENDLESS, false);
    deaf.deaf_ps = Some((1000 * US, 50_000 * US));
    let buffer = deaf.tcp.receive_buffer_bytes;
    let mut run = flows(stack(), vec![deaf]);
    run_us(&mut run, 10_000);
    let read = world(&mut run).core.ends.sockets[0].counts.read_bytes;
    run_us(&mut run, 49_000);
    let socket = &world(&mut run).core.ends.sockets[0];
    assert_eq!(socket.counts.read_bytes, read, "it reads nothing");
    assert!(socket.connection.readable() <= buffer && socket.connection.readable() > buffer / 2);
    run_us(&mut run, 100_000);
    assert!(world(&mut run).core.ends.sockets[0].counts.read_bytes > read + 10 * buffer);
}

#[test]
fn requests_are_answered_one_after_the_other() {
    let rpc = Traffic::Rpc { request_bytes: 4096, response_bytes: 200, other: None, in_flight: 1, think_ps: 0 };
    let stack = StackParams { call_ps: 0, ..stack() };
    for initiator in [false, true] {
        let mut run = flows(stack.clone(), vec![socket(0, rpc.clone(), initiator)]);
        run_us(&mut run, 5000);
        let rig = world(&mut run);
        let far = rig.far.peers[0].as_ref().expect("a flow has two ends");
        let caller = if initiator { &rig.core.ends.sockets[0].application } else { &far.application };
        let latency = caller.latency().expect("it calls");
        assert!(latency.count() > 50, "{}", latency.count());
        // The wire in one direction (the other takes no time), a wake-up, and the first packet and segment at the
        // core.
        let least = (5 * US + stack.wake_ps + stack.packet_ps + stack.segment_ps) as f64;
        assert!(
            latency.quantile(0.0).is_some_and(|least_seen| least_seen >= least * 0.98),
            "{:?}",
            latency.quantile(0.0)
        );
        assert!(latency.mean().is_some_and(|mean| mean < 2.0 * least), "{:?}", latency.mean());
    }
}

#[test]
fn a_stopped_core_drains() {
    let rpc =
        Traffic::Rpc { request_bytes: 40_000, response_bytes: 9000, other: None, in_flight: 4, think_ps: 10 * US };
    let sockets =
        vec![socket(0, ENDLESS, true), socket(1, rpc.clone(), true), socket(2, rpc, false), socket(3, ENDLESS, false)];
    let stack = StackParams { cached_user: false, extra_lines: 3 << 16, ..stack() };
    let mut run = flows(stack, sockets);
    run_us(&mut run, 3000);
    assert!(world(&mut run)
        .core
        .ends
        .sockets
        .iter()
        .all(|socket| socket.counts.packets > 0 && socket.counts.calls > 0));
    world(&mut run).core.stop();
    world(&mut run).far.peers.iter_mut().flatten().for_each(|peer| peer.application.stop());
    run_us(&mut run, 3_000_000);
    let rig = world(&mut run);
    assert!(rig.packets.is_empty() && rig.requests.is_empty());
    for (socket, peer) in rig.core.ends.sockets.iter().zip(rig.far.peers.iter().flatten()) {
        assert_eq!(socket.application.written_bytes(), peer.application.received_bytes());
        assert_eq!(peer.application.written_bytes(), socket.counts.read_bytes);
        assert_eq!((socket.connection.unacknowledged(), socket.connection.readable()), (0, 0));
    }
}

#[test]
fn equal_seeds_give_equal_runs_and_a_restored_copy_continues_equally() {
    let build = || {
        let mut run = flows(
            StackParams { extra_lines: 2 << 16, ..stack() },
            vec![socket(0, ENDLESS, false), socket(1, ENDLESS, true)],
        );
        run_us(&mut run, 1000);
        run
    };
    let (mut one, mut two) = (build(), build());
    let shown = |run: &mut Run| serde_json::to_string(world(run)).expect("a rig can be written");
    assert_eq!(shown(&mut one), shown(&mut two));
    let written = shown(&mut one);
    *world(&mut two) = serde_json::from_str(&written).expect("and read");
    run_us(&mut one, 2000);
    run_us(&mut two, 2000);
    assert_eq!(shown(&mut one), shown(&mut two));
}

#[test]
fn the_nic_holds_no_more_than_its_limit() {
    let mut run = flows(stack(), vec![socket(0, ENDLESS, true)]);
    let most = 3 * u64::from(tcp().tso_bytes);
    for us in (0..3000).step_by(10) {
        run_us(&mut run, us);
        let socket = &world(&mut run).core.ends.sockets[0];
        let in_a_millisecond = socket.connection.cwnd_bytes() * 1000 * US / socket.connection.srtt_ps().max(1);
        assert!(socket.in_nic <= most.max(in_a_millisecond + most / 3));
    }
    assert!(world(&mut run).core.ends.sockets[0].counts.sent_bytes > 1 << 22);
}

#[test]
fn an_application_fills_the_send_buffer_before_it_sleeps() {
    let mut run = flows(stack(), vec![socket(0, ENDLESS, true)]);
    // No acknowledgements arrive, so that written data stays in the buffer.
    world(&mut run).far.peers[0] = None;
    run_us(&mut run, 3000);
    let socket = &world(&mut run).core.ends.sockets[0];
    assert_eq!(socket.connection.unacknowledged(), tcp().send_buffer_bytes);
    assert!(socket.blocked && socket.asleep);
}
