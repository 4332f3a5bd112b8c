//! Tests every rule on very different devices: a command at the least distance passes, one clock earlier the rule is
//! named.

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::{DramParams, SameBank, TimingParams};
use hostnet_timing_check::{rule_names, Checker, Fault};

use crate::common::{at, command, ddr4, ddr5, devices, hbm};
use CommandKind::{
    Activate, Precharge, PrechargeAll, Read, ReadPrecharge, Refresh, RefreshSameBank, Write, WritePrecharge,
};

/// Clocks after which no earlier command matters, short enough to stay within a refresh interval.
const FAR: u64 = 1500;

/// A stream of commands whose last command is tried at its earliest legal clock and one before.
struct Case {
    rule: &'static str,
    stream: Vec<CommandRecord>,
    least: u64,
}

fn case(rule: &'static str, stream: Vec<CommandRecord>, from: u64, clocks: u32) -> Case {
    Case { rule, stream, least: from + u64::from(clocks) }
}

fn act(rank: u8, group: u8, bank: u8) -> CommandRecord {
    command(Activate, rank, group, bank)
}

fn other(kind: CommandKind, record: CommandRecord) -> CommandRecord {
    CommandRecord { kind, ..record }
}

/// Rules within one bank.
fn bank_cases(p: &DramParams) -> Vec<Case> {
    let t = p.timing;
    let a = act(0, 0, 1);
    let open = at(0, a);
    let late = |kind| at(FAR, other(kind, a));
    let write = t.cwl + t.burst + t.wr;
    let next = |kind| other(kind, a);
    let all = command(PrechargeAll, 0, 0, 0);
    let mut cases = Vec::new();
    for kind in [Read, ReadPrecharge, Write, WritePrecharge] {
        cases.push(case("tRCD", vec![open, next(kind)], 0, t.rcd));
    }
    for closing in [other(Precharge, a), all] {
        cases.push(case("tRAS", vec![open, closing], 0, t.ras));
        cases.push(case("tRTP", vec![open, late(Read), closing], FAR, t.rtp));
        cases.push(case("tWR", vec![open, late(Write), closing], FAR, write));
        cases.push(case("tRP", vec![open, at(FAR, closing), a], FAR, t.rp));
        cases.push(case("tRP", vec![open, at(FAR, closing), command(Refresh, 0, 0, 0)], FAR, t.rp));
    }
    // RDA and WRA long after the ACT, and so early that tRAS delays their auto-precharge.
    for next in [a, command(Refresh, 0, 0, 0)] {
        cases.push(case("tRP", vec![open, late(ReadPrecharge), next], FAR, t.rtp + t.rp));
        cases.push(case("tRP", vec![open, late(WritePrecharge), next], FAR, write + t.rp));
        let early = at(t.rcd.into(), other(ReadPrecharge, a));
        assert!(t.rcd + t.rtp < t.ras);
        let lasts = if next.kind == Activate { t.rc.max(t.ras + t.rp) } else { t.ras + t.rp };
        cases.push(Case { rule: "", ..case("tRP", vec![open, early, next], 0, lasts) });
    }
    cases
}

/// Rules between banks of one rank.
fn rank_cases(p: &DramParams) -> Vec<Case> {
    let t = p.timing;
    let write = t.cwl + t.burst;
    let (a, b) = (act(0, 0, 0), act(0, 0, 1));
    let opened = |record| vec![at(0, a), at(FAR / 2, record)];
    let pair = |from: CommandKind, to: CommandKind, record: CommandRecord| {
        [opened(record), vec![at(FAR, other(from, a)), other(to, record)]].concat()
    };
    let turn = (t.cl + t.burst + t.read_to_write).saturating_sub(t.cwl).max(1);
    let mut cases = vec![
        case("tRRD_L", vec![at(0, a), b], 0, t.rrd_l),
        case("tCCD_L", pair(Read, Read, b), FAR, t.ccd_l),
        case("tCCD_L", pair(Read, ReadPrecharge, b), FAR, t.ccd_l),
        case("tCCD_L_WR", pair(Write, Write, b), FAR, t.ccd_l_wr),
        case("tWTR_L", pair(Write, Read, b), FAR, write + t.wtr_l),
        case("tRTW", pair(Read, Write, b), FAR, turn),
    ];
    if p.bank_groups > 1 {
        let c = act(0, 1, 0);
        cases.extend([
            case("tRRD_S", vec![at(0, a), c], 0, t.rrd_s),
            case("tCCD_S", pair(Read, Read, c), FAR, t.ccd_s),
            case("tCCD_S", pair(Write, WritePrecharge, c), FAR, t.ccd_s),
            case("tWTR_S", pair(Write, Read, c), FAR, write + t.wtr_s),
            case("tRTW", pair(ReadPrecharge, Write, c), FAR, turn),
        ]);
    }
    cases.extend(four_activations(p));
    let idle = at(0, command(Precharge, 0, 0, 0));
    if t.ppd > 1 {
        cases.push(case("tPPD", vec![idle, command(Precharge, 0, 1, 0)], 0, t.ppd));
        cases.push(case("tPPD", vec![idle, command(PrechargeAll, 0, 0, 0)], 0, t.ppd));
    }
    cases
}

/// Five ACTs on a device whose tFAW is long enough to bind.
fn four_activations(p: &DramParams) -> Option<Case> {
    let step = u64::from(p.timing.rrd_l.max(p.timing.act_clocks));
    let banks: Vec<_> = (0..p.banks_per_group.min(4) as u8).map(|bank| act(0, 0, bank)).collect();
    let fifth = if p.bank_groups > 1 { act(0, 1, 0) } else { act(0, 0, 4) };
    let stream: Vec<_> = banks.iter().zip(0..).map(|(bank, i)| at(i * step, *bank)).chain([fifth]).collect();
    let binds = u64::from(p.timing.faw) > 3 * step + u64::from(p.timing.rrd_l);
    binds.then(|| case("tFAW", stream, 0, p.timing.faw))
}

/// Rules between ranks.
fn switch_cases(p: &DramParams) -> Vec<Case> {
    if p.ranks == 1 {
        return Vec::new();
    }
    let t = p.timing;
    let (a, b) = (act(0, 0, 0), act(1, 0, 0));
    let pair = |from, to| vec![at(0, a), at(FAR / 2, b), at(FAR, other(from, a)), other(to, b)];
    let to_write = (t.cl + t.burst + t.rank_switch).saturating_sub(t.cwl).max(1);
    let to_read = t.burst.max((t.cwl + t.burst + t.rank_switch).saturating_sub(t.cl));
    vec![
        case("rank switch", pair(Read, Read), FAR, t.burst + t.rank_switch),
        case("rank switch", pair(Write, Write), FAR, t.burst),
        case("rank switch", pair(Read, Write), FAR, to_write),
        case("rank switch", pair(Write, Read), FAR, to_read),
    ]
}

fn refresh_cases(p: &DramParams) -> Vec<Case> {
    let t = p.timing;
    let refresh = at(0, command(Refresh, 0, 0, 0));
    let mut cases: Vec<_> = [Activate, Precharge, PrechargeAll, Refresh]
        .map(|kind| case("tRFC", vec![refresh, command(kind, 0, 0, 0)], 0, t.rfc))
        .into();
    if p.same_bank == SameBank::None {
        return cases;
    }
    let one = at(0, command(RefreshSameBank, 0, 0, 1));
    let open = at(0, act(0, 0, 1));
    cases.extend([
        case("tRFC", vec![refresh, one], 0, t.rfc),
        case("tRFCsb", vec![one, command(Refresh, 0, 0, 0)], 0, t.rfc_sb),
        case("tRFCsb", vec![one, act(0, 0, 1)], 0, t.rfc_sb),
        case("tRFCsb", vec![one, command(Precharge, 0, 0, 1)], 0, t.rfc_sb),
        case("tRFCsb", vec![one, one], 0, t.rfc_sb),
        case("tREFSB_ACT", vec![one, act(0, 1, 0)], 0, t.refsb_act),
        case("tREFSB_REFSB", vec![one, command(RefreshSameBank, 0, 0, 0)], 0, t.refsb_refsb),
        case("tRP", vec![open, at(FAR, command(Precharge, 0, 0, 1)), one], FAR, t.rp),
        case("tRP", vec![open, at(FAR, command(ReadPrecharge, 0, 0, 1)), one], FAR, t.rtp + t.rp),
    ]);
    match p.same_bank {
        SameBank::EveryGroup => cases.push(case("tRFCsb", vec![one, act(0, 1, 1)], 0, t.rfc_sb)),
        _ => cases.push(case("tREFSB_ACT", vec![one, act(0, 1, 1)], 0, t.refsb_act)),
    }
    cases
}

fn bus_cases(p: &DramParams) -> Vec<Case> {
    let t = p.timing;
    let idle = |group| command(Precharge, 0, group, 0);
    let last = p.bank_groups as u8 - 1;
    let mut cases = vec![case("command bus", vec![at(0, act(0, 0, 1)), idle(last)], 0, t.act_clocks)];
    if p.ranks > 1 {
        cases.push(case("command bus", vec![at(0, command(Refresh, 0, 0, 0)), act(1, 0, 0)], 0, 1));
    }
    let read = at(FAR, command(Read, 0, 0, 1));
    if !p.row_bus {
        cases.push(case("command bus", vec![at(0, act(0, 0, 1)), read, idle(0)], FAR, t.cas_clocks));
    }
    cases
}

fn cases(p: &DramParams) -> Vec<Case> {
    [bank_cases(p), rank_cases(p), switch_cases(p), refresh_cases(p), bus_cases(p)].into_iter().flatten().collect()
}

/// The devices, and variants in which rules bind that other rules usually hide.
fn variants() -> Vec<(&'static str, DramParams)> {
    let with = |base: DramParams, timing: TimingParams| DramParams { timing, ..base };
    let wide = with(ddr4(), TimingParams { faw: 60, rc: 80, ppd: 3, act_clocks: 3, cas_clocks: 2, ..ddr4().timing });
    let windowed = with(ddr5(), TimingParams { faw: 90, rc: 150, ..ddr5().timing });
    let stacked = with(hbm(), TimingParams { faw: 40, rc: 70, act_clocks: 2, ..hbm().timing });
    devices().into_iter().chain([("ddr4 wide", wide), ("ddr5 windowed", windowed), ("hbm stacked", stacked)]).collect()
}

#[test]
fn on_the_clock_is_allowed_and_one_clock_earlier_is_refused() {
    for (name, p) in variants() {
        for Case { rule, stream, least } in cases(&p) {
            let (last, before) = stream.split_last().expect("a stream has commands");
            let mut checker = Checker::new(&p);
            for record in before {
                assert_eq!(checker.check(record), Ok(()), "{name}, {rule}");
            }
            assert_eq!(checker.clone().check(&at(least, *last)), Ok(()), "{name}, {rule}");
            let violation = checker.check(&at(least - 1, *last)).expect_err(rule);
            assert_eq!((violation.fault, violation.off_by_clocks), (Fault::TooEarly, 1), "{name}, {rule}: {violation}");
            assert_eq!(violation.needed, violation.have + 1, "{name}, {rule}");
            assert_eq!(violation.second, at(least - 1, *last));
            assert!(before.contains(&violation.first), "{name}, {rule}");
            assert!(rule.is_empty() || violation.rule == rule, "{name}, {rule}: {violation}");
        }
    }
}

#[test]
fn acts_of_one_bank_keep_trc() {
    let mut p = ddr4();
    p.timing.rc = 90;
    let stream = [at(0, act(0, 0, 0)), at(47, command(Precharge, 0, 0, 0))];
    let mut checker = Checker::new(&p);
    stream.iter().for_each(|record| assert_eq!(checker.check(record), Ok(())));
    assert_eq!(checker.clone().check(&at(90, act(0, 0, 0))), Ok(()));
    assert_eq!(checker.check(&at(89, act(0, 0, 0))).unwrap_err().rule, "tRC");
}

#[test]
fn every_distance_has_a_case() {
    let tried: Vec<_> = variants().iter().flat_map(|(_, p)| cases(p)).map(|case| case.rule).collect();
    let elsewhere = ["organisation", "clock order", "row state", "tRC", "tREFI", "tREFIsb"];
    for rule in rule_names() {
        assert!(tried.contains(&rule) || elsewhere.contains(&rule), "{rule}");
    }
}

#[test]
fn a_row_bus_leaves_the_column_bus_free() {
    let stream = [at(0, act(0, 0, 0)), at(FAR, command(Read, 0, 0, 0)), at(FAR, act(0, 1, 0))];
    let mut checker = Checker::new(&hbm());
    stream.iter().for_each(|record| assert_eq!(checker.check(record), Ok(())));
    let mut checker = Checker::new(&ddr4());
    stream[..2].iter().for_each(|record| assert_eq!(checker.check(record), Ok(())));
    assert_eq!(checker.check(&stream[2]).unwrap_err().rule, "command bus");
}

#[test]
fn of_several_rules_the_one_that_lacks_most_is_told() {
    let mut checker = Checker::new(&ddr4());
    let stream = [at(0, act(0, 0, 0)), at(FAR, command(Write, 0, 0, 0)), at(FAR + 1, command(Precharge, 0, 0, 0))];
    stream.iter().for_each(|record| _ = checker.check(record));
    let record = at(FAR + 2, act(0, 0, 0));
    let mut all = Vec::new();
    checker.clone().check_all(&record, &mut |violation| all.push(violation.rule));
    assert_eq!(all, ["tRP"]);
    let mut all = Vec::new();
    let close = at(FAR + 1, command(PrechargeAll, 0, 0, 0));
    let mut checker = Checker::new(&ddr4());
    stream[..2].iter().for_each(|record| assert_eq!(checker.check(record), Ok(())));
    assert_eq!(checker.check(&at(FAR + 1, command(Read, 0, 0, 0))).unwrap_err().rule, "tWTR_L");
    checker.clone().check_all(&close, &mut |violation| all.push(violation.rule));
    assert_eq!(all, ["tRTP", "tWR", "command bus"]);
    assert_eq!(checker.check(&close).unwrap_err().rule, "tWR");
}
