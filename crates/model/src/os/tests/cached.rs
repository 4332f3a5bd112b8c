//! Tests of a network core with caches: lines that the NIC has put into the LLC are not read from memory.

use super::rig::{core_params, flows, run_us, socket, stack, world, Run, MSS};
use crate::cache::Caches;
use crate::cha::{Cha, ChaWiring};
use crate::line::LineRing;
use crate::params::{
    CacheParams, ChaParams, CleanVictims, DdioParams, IioParams, Inclusion, L2Params, LlcParams, PrefetchParams,
    Replacement, SliceHash, StackParams, Traffic,
};
use crate::part::PartIds;
use hostnet_kernel::ComponentId;

fn cache_params(inclusion: Inclusion) -> CacheParams {
    let replacement = Replacement::Lru;
    let llc = LlcParams {
        sets: 1024,
        ways: 11,
        replacement,
        inclusion,
        clean_victims: CleanVictims::Foreseen,
        hit_ps: 18_000,
        filter_sets: 2048,
        filter_ways: 12,
    };
    CacheParams {
        l2: L2Params { sets: 1024, ways: 16, replacement, hit_ps: 5_000 },
        llc,
        prefetch: PrefetchParams { stream: false, adjacent: false, credits: 0, pages: 0, distance_lines: 0 },
        masks: vec![u32::MAX; 2],
        ddio: DdioParams { drives: Vec::new(), ways: 0xff, write_ps: 1000 },
    }
}

fn cha(cache: &CacheParams) -> Cha {
    let params = ChaParams {
        slices: 4,
        tor_entries: 32,
        tor_write_entries: 24,
        tor_expander_entries: None,
        hash: SliceHash::Even,
        read_to_mc_ps: 1000,
        from_mc_ps: 1000,
        core_write_to_mc_ps: 1000,
        io_write_to_mc_ps: 1000,
        write_ack_ps: 1000,
        evict_ps: 0,
    };
    let iio = IioParams {
        write_credits: 1,
        read_credits: 1,
        write_to_cha_ps: 1,
        write_ack_ps: 1,
        read_to_cha_ps: 1,
        read_return_ps: 1,
        line_ps: 1,
        line_spread_ps: 0,
        relaxed_ordering: true,
    };
    let wiring = ChaWiring {
        cores: PartIds::new(ComponentId(0), 1),
        channels: PartIds::new(ComponentId(3), 1),
        upis: PartIds::default(),
        expander: None,
    };
    Cha::new(0, params, wiring, &core_params(), &iio, Some(cache), 2)
}

/// Runs a flow of `packets` full packets to the application of a core with caches.
fn received(stack: StackParams, inclusion: Inclusion, ddio: bool, packets: u64) -> Run {
    let params = cache_params(inclusion);
    let bytes = u64::from(MSS) * packets;
    let mut small = socket(0, Traffic::Bulk { bytes }, false);
    small.tcp.receive_buffer_bytes = 1 << 17;
    let mut run = flows(stack, vec![small]);
    let rig = world(&mut run);
    rig.caches = Some(Caches::new(&params, 1, 4, 2, 1));
    rig.cha = Some(cha(&params));
    rig.far.ddio = ddio;
    run_us(&mut run, 20_000);
    assert_eq!(world(&mut run).core.ends.sockets[0].counts.read_bytes, bytes);
    assert!(world(&mut run).requests.is_empty() && world(&mut run).lfb.held.in_use() == 0);
    run
}

#[test]
fn lines_that_the_nic_put_into_the_llc_are_not_read_from_memory() {
    for inclusion in [Inclusion::Inclusive, Inclusion::Victim] {
        for ddio in [true, false] {
            let mut run = received(stack(), inclusion, ddio, 1000);
            let rig = world(&mut run);
            let (packets, source) = (rig.core.counts().packets, rig.core.counts().source_lines);
            // The descriptor of each acknowledgement is new to the caches; a packet has a completion and a header.
            let descriptors = rig.core.ends.sockets[0].counts.acks;
            assert!(packets > 50 && descriptors > 10 && descriptors < 1024);
            let written = if ddio { 0 } else { source + 2 * packets };
            assert_eq!(rig.far.reads, written + descriptors, "{inclusion:?} {ddio}");
            assert_eq!(rig.core.counts().extra_lines, 2 * packets + descriptors);
            assert_eq!(rig.core.counts().source_hits, 0, "the NIC's lines are not in the L2");
        }
    }
}

#[test]
fn an_entry_of_the_event_queue_is_read_at_every_interrupt() {
    let extra = |events: bool| {
        let params = cache_params(Inclusion::Inclusive);
        let mut run = flows(stack(), vec![socket(0, Traffic::Bulk { bytes: u64::from(MSS) * 300 }, false)]);
        let rig = world(&mut run);
        rig.caches = Some(Caches::new(&params, 1, 4, 2, 1));
        rig.cha = Some(cha(&params));
        rig.core.driver.rings.events = events.then(|| LineRing::new(1 << 28, 1 << 12));
        run_us(&mut run, 20_000);
        let core = &world(&mut run).core;
        let (counts, acks) = (core.counts(), core.ends.sockets[0].counts.acks);
        (counts.extra_lines - 2 * counts.packets - acks, counts.interrupts)
    };
    assert_eq!(extra(false).0, 0);
    let (lines, interrupts) = extra(true);
    assert!(interrupts > 1, "{interrupts}");
    assert_eq!(lines, interrupts);
}

#[test]
fn prefetchers_fetch_completion_pairs_and_lines_after_a_read() {
    let used = |prefetch_ahead: u32, prefetch_pairs: bool| {
        // Reads end in the middle of packets.
        let stack = StackParams { prefetch_ahead, prefetch_pairs, call_bytes: 4000, ..stack() };
        let mut run = received(stack, Inclusion::Inclusive, false, 1000);
        let rig = world(&mut run);
        let prefetch = rig.core.lines.prefetch();
        assert!(prefetch.is_none_or(|prefetch| prefetch.in_use() == 0), "every credit is back");
        let counts = &rig.caches.as_ref().expect("they are there").counts().classes()[0];
        assert!(counts.prefetch_used <= counts.prefetch_filled);
        (counts.prefetch_used, rig.core.counts().source_hits)
    };
    assert_eq!(used(0, true), (0, 0), "they do not help");
    let (lines, hits) = used(28, false);
    assert!(lines > 0 && hits > 0, "what follows a read");
    let (all, _) = used(28, true);
    assert!(all > lines, "completions, too: {all} lines, not {lines}");
}

#[test]
fn stores_to_a_buffer_of_the_user_leave_the_caches_as_dirty_lines() {
    let stack = StackParams { cached_user: false, ..stack() };
    let mut run = received(stack, Inclusion::Victim, false, 4000);
    let rig = world(&mut run);
    let stored = rig.core.counts().destination_lines;
    assert_eq!(stored, rig.core.counts().source_lines);
    let kept = 1024 * 16 + 4 * 1024 * 11;
    assert!(rig.far.writes <= stored && rig.far.writes + kept >= stored);
    assert!(rig.far.writes > stored / 2);
}

#[test]
fn sent_data_is_dirty_in_the_caches_and_its_completions_are_read() {
    let params = cache_params(Inclusion::Victim);
    let bytes = 100 * u64::from(MSS);
    let mut run = flows(stack(), vec![socket(0, Traffic::Bulk { bytes }, true)]);
    let rig = world(&mut run);
    rig.caches = Some(Caches::new(&params, 1, 4, 2, 1));
    rig.cha = Some(cha(&params));
    run_us(&mut run, 20_000);
    let rig = world(&mut run);
    let counts = rig.core.ends.sockets[0].counts;
    assert_eq!(counts.written_bytes, bytes);
    let lines = rig.core.counts().destination_lines;
    assert!(lines >= bytes / 64 && lines <= bytes / 64 + counts.calls, "{lines} lines of {bytes} bytes");
    assert_eq!(rig.core.counts().extra_lines, 2 * rig.core.counts().packets + 2 * counts.sent);
    let caches = rig.caches.as_ref().expect("they are there");
    let first = rig.core.ends.output.buffer(0).line(0);
    let pages = super::rig::pages();
    let dirty = (first..first + bytes / 64).filter(|line| caches.has_dirty(pages.physical(line * 64) / 64));
    assert_eq!(dirty.count() as u64, bytes / 64);
    assert!(rig.requests.is_empty() && rig.lfb.held.in_use() == 0);
}
