use hostnet_model::params::*;
use hostnet_sim::memory::*;
use hostnet_traffic::*;
use std::time::Instant;
fn dram() -> DramParams {
    DramParams {
        clock_ps_numerator: 7500,
        clock_ps_denominator: 11,
        subchannels: 1,
        ranks: 2,
        bank_groups: 4,
        banks_per_group: 4,
        rows: 65536,
        lines_per_row: 128,
        accesses_per_line: 1,
        row_bus: false,
        same_bank: SameBank::None,
        postponed_max: 8,
        timing: TimingParams {
            burst: 4,
            cl: 21,
            cwl: 20,
            rcd: 21,
            rp: 21,
            ras: 47,
            rc: 68,
            wr: 22,
            rtp: 11,
            ccd_s: 4,
            ccd_l: 8,
            ccd_l_wr: 8,
            rrd_s: 4,
            rrd_l: 8,
            wtr_s: 4,
            wtr_l: 11,
            faw: 31,
            ppd: 0,
            rfc: 514,
            refi: 11437,
            rfc_sb: 0,
            refi_sb: 0,
            refsb_act: 0,
            refsb_refsb: 0,
            rank_switch: 2,
            read_to_write: 2,
            act_clocks: 1,
            cas_clocks: 1,
        },
    }
}
fn ctrl(n: u32, protect: Protect) -> ControllerParams {
    ControllerParams {
        rpq_entries: n,
        wpq_entries: n,
        wpq_full_threshold: n,
        rpq_full_threshold: n,
        shared_queue: false,
        entry_until: EntryUntil::Activation,
        scheduler: Scheduler::OldestReady,
        protect,
        row_hold: u32::MAX,
        row_hits: 0,
        write_high: (n as f64 * 0.8) as u32 + 1,
        write_low: (n as f64 * 0.2 - 1e-9) as u32,
        reads_per_mode: 0,
        reads_few: 0,
        writes_per_mode: u32::MAX,
        idle_drain: IdleDrain::Mode,
        idle_writes: 1,
        idle_reads: 0,
        spare_writes: u32::MAX,
        spare_rows: false,
        page: PagePolicy::Open,
        idle_close: 0,
        write_auto_precharge: false,
        refresh: Refresh::AllBanks,
        refresh_postponed: 0,
        refresh_holds_all: true,
        forwarding: true,
        merging: true,
    }
}
fn map(m: &str) -> MapParams {
    let bit = |b: u32| 1u64 << (b + 6);
    let (bg, col, ba, ra, ro) = if m == "B" { (7, 0, 9, 11, 12) } else { (0, 2, 9, 11, 12) };
    let mut mp = MapParams {
        channels: 1,
        channel: vec![],
        channel_bytes: 0,
        subchannel: vec![],
        rank: vec![bit(ra)],
        bank_group: vec![bit(bg), bit(bg + 1)],
        bank: vec![bit(ba), bit(ba + 1)],
        column: (col..col + 7).map(|b| b as u8 + 6).collect(),
        row: (ro..ro + 16).map(|b| b as u8 + 6).collect(),
    };
    if m == "C" {
        mp.bank_group[0] |= bit(12);
        mp.bank_group[1] |= bit(13);
        mp.bank[0] |= bit(14);
        mp.bank[1] |= bit(15);
        mp.rank[0] |= bit(16);
    }
    mp
}
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.split(' ').collect();
    f[13].parse::<f64>().unwrap() / 100.0
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    // variant pattern map reads wfrac load outstanding requests
    let n: u32 = a[1].split('q').last().unwrap().parse().unwrap();
    let protect = if a[1].starts_with("rowhit") { Protect::OlderHits } else { Protect::Nothing };
    let load: f64 = a[5].parse().unwrap();
    let requests: u64 = a[7].parse().unwrap();
    let traffic = Traffic {
        pattern: a[2].parse().ok().unwrap(),
        write_share: a[4].parse().unwrap(),
        mean_gap_clocks: (load > 0.0).then_some(4.0 / load),
        capacity_lines: 1 << 28,
        requests,
        seed: 1,
    };
    let source = traffic.generate().ok().unwrap().map(Ok::<_, TraceError>);
    let mut c = ctrl(n, protect);
    if a.len() > 8 {
        for w in &a[8..] {
            match w.as_str() {
                "hold0" => c.refresh_holds_all = false,
                "col" => c.scheduler = Scheduler::ColumnFirst,
                "until" => c.entry_until = EntryUntil::Column,
                "all" => c.protect = Protect::AllHits,
                _ => panic!(),
            }
        }
    }
    let mut run = MemoryRun::new(
        MemoryParts {
            dram: dram(),
            controller: c,
            map: map(&a[3]),
            sources: 64,
            outstanding: a[6].parse().unwrap(),
            warm_up: requests / 10,
            record: false,
        },
        source,
    )
    .ok()
    .unwrap();
    let (t, c0) = (Instant::now(), cpu());
    run.advance(u64::MAX / 2, |_| ()).ok().unwrap();
    let (wall, c1) = (t.elapsed().as_secs_f64(), cpu());
    let tally = run.tally();
    let ck = 7.5 / 11.0;
    let k = run.controllers()[0].counters(hostnet_kernel::Time::ZERO + u64::MAX / 2);
    let served = (k.reads.iter().sum::<u64>() + k.writes.iter().sum::<u64>()) as f64;
    let act = (k.read_activations + k.write_activations) as f64 / served;
    let l = &tally.from_acceptance;
    let v = &tally.from_arrival;
    println!(
        "{:.4},{:.2},{:.2},{:.2},{:.2},{:.2},{:.5},{},{:.0},{:.0}",
        (tally.accepted - 1) as f64 * 64.0 / ((tally.last - tally.first) as f64 * ck),
        l.mean().unwrap_or(0.) * ck,
        l.quantile(0.5).unwrap_or(0.) * ck,
        l.quantile(0.99).unwrap_or(0.) * ck,
        v.mean().unwrap_or(0.) * ck,
        v.quantile(0.99).unwrap_or(0.) * ck,
        act,
        k.refreshes,
        requests as f64 / wall / 1e3,
        requests as f64 / (c1 - c0).max(0.01) / 1e3
    );
}
