//! Tests of the duration of copies against closed forms.

use super::rig::{flows, run_us, socket, stack, world, MSS};
use crate::os::CoreTimeKind;
use crate::params::{StackParams, Traffic};
use hostnet_kernel::Time;

const WINDOW_US: u64 = 4000;

/// Returns the bytes per second that the application of a saturated core reads, and the time of the core by activity,
/// as shares of the window.
fn receive(stack: StackParams, line_ps: u64) -> (f64, impl Fn(CoreTimeKind) -> f64) {
    let mut run = flows(stack, vec![socket(0, Traffic::Bulk { bytes: u64::MAX }, false)]);
    world(&mut run).far.line_ps = line_ps;
    run_us(&mut run, 2000);
    let before = world(&mut run).core.ends.sockets[0].counts.read_bytes;
    world(&mut run).core.reset(Time::from_ps(2_000_000_000));
    run_us(&mut run, 2000 + WINDOW_US);
    let core = &world(&mut run).core;
    let bytes = core.ends.sockets[0].counts.read_bytes - before;
    let end = Time::from_ps((2000 + WINDOW_US) * 1_000_000);
    let times = core.times().clone();
    let share = move |spent| times.spent_ps(spent, end) as f64 / (WINDOW_US as f64 * 1e6);
    (bytes as f64 / (WINDOW_US as f64 * 1e-6), share)
}

#[test]
fn a_line_of_a_copy_takes_its_work_or_its_share_of_the_latency() {
    for (copy_line_ps, ahead, line_ps) in
        [(5_000, 8, 98_000), (20_000, 8, 98_000), (5_000, 4, 398_000), (3_000, 1, 98_000)]
    {
        let free = StackParams { packet_ps: 0, segment_ps: 0, ack_ps: 0, wake_ps: 0, call_ps: 0, ..stack() };
        let (rate, share) = receive(StackParams { copy_line_ps, copy_ahead: ahead, ..free }, line_ps);
        let latency = line_ps + 1000;
        let line = copy_line_ps.max(latency / u64::from(ahead)) as f64;
        let share_of_line = f64::from(MSS) / 64.0 / f64::from((MSS + 66).div_ceil(64) - 1);
        let expected = 64.0 / (line * 1e-12) * share_of_line;
        let wire = f64::from(MSS) / 330e-9;
        let expected = expected.min(wire);
        assert!(
            (rate / expected - 1.0).abs() < 0.05,
            "{copy_line_ps} {ahead} {line_ps}: {rate:.3e}, not {expected:.3e}"
        );
        assert!(share(CoreTimeKind::Stalled) + share(CoreTimeKind::Copy) <= 1.0 + 1e-9);
    }
}

#[test]
fn a_saturated_core_reads_what_its_costs_per_packet_segment_call_and_line_allow() {
    let stack = StackParams { copy_line_ps: 30_000, ..stack() };
    let mut run = flows(stack.clone(), vec![socket(0, Traffic::Bulk { bytes: u64::MAX }, false)]);
    run_us(&mut run, WINDOW_US);
    let core = &world(&mut run).core;
    let counts = core.ends.sockets[0].counts;
    let stalled = core.times().spent_ps(CoreTimeKind::Stalled, Time::from_ps(WINDOW_US * 1_000_000));
    let costs = counts.packets * stack.packet_ps
        + counts.segments * stack.segment_ps
        + counts.acks * stack.ack_ps
        + counts.calls * stack.call_ps
        + core.counts().source_lines * stack.copy_line_ps
        + stalled;
    let window = (WINDOW_US * 1_000_000) as f64;
    assert!((costs as f64 / window - 1.0).abs() < 0.005, "{costs} ps of {window}");
    let bytes_per_line = counts.read_bytes as f64 / core.counts().source_lines as f64;
    assert!(bytes_per_line > 61.0 && bytes_per_line <= 64.0, "{bytes_per_line}");
}

#[test]
fn the_times_of_a_core_add_up_to_the_window() {
    let (_, share) = receive(stack(), 98_000);
    let all = [
        CoreTimeKind::Idle,
        CoreTimeKind::Softirq,
        CoreTimeKind::Call,
        CoreTimeKind::Copy,
        CoreTimeKind::Stalled,
        CoreTimeKind::Send,
    ];
    let sum: f64 = all.into_iter().map(share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn a_copy_reads_every_line_of_the_data_once() {
    let bytes = u64::from(MSS) * 1000;
    let mut run = flows(stack(), vec![socket(0, Traffic::Bulk { bytes }, false)]);
    run_us(&mut run, 4000);
    let rig = world(&mut run);
    assert_eq!(rig.core.ends.sockets[0].counts.read_bytes, bytes);
    let lines = u64::from((66 + MSS).div_ceil(64) - 1);
    assert_eq!(rig.core.counts().source_lines, 1000 * lines);
    assert_eq!((rig.far.reads, rig.far.writes), (1000 * lines, 0));
}

#[test]
fn a_user_buffer_in_memory_is_read_and_written_as_well() {
    let bytes = u64::from(MSS) * 100;
    let stack = StackParams { cached_user: false, ..stack() };
    let mut run = flows(stack, vec![socket(0, Traffic::Bulk { bytes }, false)]);
    run_us(&mut run, 4000);
    let rig = world(&mut run);
    let lines = rig.core.counts().source_lines;
    assert_eq!(rig.core.counts().destination_lines, lines);
    assert_eq!((rig.far.reads, rig.far.writes), (2 * lines, lines));
    assert!(rig.requests.is_empty() && rig.lfb.held.in_use() == 0 && rig.lfb.write.in_use() == 0);
}

#[test]
fn headers_and_completions_are_read_beside_the_payload() {
    let bytes = u64::from(MSS) * 1000;
    let stack = StackParams { extra_lines: 5 << 15, ..stack() };
    let mut run = flows(stack, vec![socket(0, Traffic::Bulk { bytes }, false)]);
    run_us(&mut run, 8000);
    let rig = world(&mut run);
    let packets = rig.core.counts().packets;
    assert_eq!(rig.core.counts().extra_lines, packets * 5 / 2);
    assert_eq!(rig.far.reads, rig.core.counts().source_lines + packets * 5 / 2);
    assert_eq!(rig.far.writes, 0);
}

/// Returns the softirq time per packet of a core that accesses lines of the kernel as `stack` says, in ps.
fn softirq_of_a_packet(stack: &StackParams) -> f64 {
    let mut run = flows(stack.clone(), vec![socket(0, Traffic::Bulk { bytes: u64::MAX }, false)]);
    run_us(&mut run, WINDOW_US);
    let core = &world(&mut run).core;
    let counts = core.ends.sockets[0].counts;
    let spent = core.times().spent_ps(CoreTimeKind::Softirq, Time::from_ps(WINDOW_US * 1_000_000));
    let work = counts.segments * stack.segment_ps + counts.acks * stack.ack_ps;
    (spent - work) as f64 / counts.packets as f64
}

#[test]
fn without_prefetchers_the_softirq_waits_for_one_line_of_the_kernel_after_the_other() {
    let lines = |prefetched| StackParams { extra_lines: 3 << 16, page_lines: 4 << 16, prefetched, ..stack() };
    // Each line goes to the far memory and back, and beside the copy some wait for an entry of the LFB as well.
    let stored = 4.0 * f64::from(MSS + 52) / 4096.0;
    let latency = 99_000.0;
    let waited = softirq_of_a_packet(&lines(false)) - stack().packet_ps as f64;
    assert!((waited / ((3.0 + stored) * latency) - 1.0).abs() < 0.2, "{waited} ps");
    let beside = softirq_of_a_packet(&lines(true)) - stack().packet_ps as f64;
    assert!(beside.abs() < 0.1 * latency, "{beside} ps");
}

#[test]
fn page_metadata_of_the_kernel_is_read_and_written() {
    let bytes = u64::from(MSS) * 1000;
    let stack = StackParams { page_lines: 3 << 16, prefetched: false, ..stack() };
    let mut run = flows(stack, vec![socket(0, Traffic::Bulk { bytes }, false)]);
    run_us(&mut run, 8000);
    let rig = world(&mut run);
    let stored = rig.core.counts().extra_lines;
    let expected = 3.0 * (bytes + 1000 * 52) as f64 / 4096.0;
    assert!((stored as f64 / expected - 1.0).abs() < 0.01, "{stored} lines, not {expected}");
    assert_eq!(rig.far.reads, rig.core.counts().source_lines + stored);
    assert_eq!(rig.far.writes, stored);
}
