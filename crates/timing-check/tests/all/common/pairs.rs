//! Slow reference model of the rules: compares every command with every earlier command.

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::{DramParams, SameBank};

use CommandKind::*;

fn is_read(a: &CommandRecord) -> bool {
    matches!(a.kind, Read | ReadPrecharge)
}

fn is_write(a: &CommandRecord) -> bool {
    matches!(a.kind, Write | WritePrecharge)
}

fn is_column(a: &CommandRecord) -> bool {
    is_read(a) || is_write(a)
}

fn is_precharge(a: &CommandRecord) -> bool {
    matches!(a.kind, Precharge | PrechargeAll)
}

/// Returns true if the command affects a bank of its rank.
pub(crate) fn concerns(p: &DramParams, a: &CommandRecord, group: u8, bank: u8) -> bool {
    match a.kind {
        PrechargeAll | Refresh => true,
        RefreshSameBank if p.same_bank == SameBank::EveryGroup => a.bank == bank,
        _ => (a.bank_group, a.bank) == (group, bank),
    }
}

pub(crate) fn banks(p: &DramParams) -> Vec<(u8, u8)> {
    let groups = 0..p.bank_groups as u8;
    groups.flat_map(|group| (0..p.banks_per_group as u8).map(move |bank| (group, bank))).collect()
}

/// Returns the ACT that opened the bank's row, if a row is open after `past`.
pub(crate) fn open(p: &DramParams, past: &[CommandRecord], rank: u8, (group, bank): (u8, u8)) -> Option<CommandRecord> {
    let mine = past.iter().rev().filter(|a| a.rank == rank && concerns(p, a, group, bank));
    let last =
        mine.into_iter().find(|a| is_precharge(a) || matches!(a.kind, Activate | ReadPrecharge | WritePrecharge))?;
    (last.kind == Activate).then_some(*last)
}

/// Returns true if the rows are in the state that the command needs.
pub(crate) fn rows_fit(p: &DramParams, past: &[CommandRecord], b: &CommandRecord) -> bool {
    let mine: Vec<_> = banks(p).into_iter().filter(|&(group, bank)| concerns(p, b, group, bank)).collect();
    let opened = mine.iter().filter(|&&bank| open(p, past, b.rank, bank).is_some()).count();
    match b.kind {
        Activate | Refresh | RefreshSameBank => opened == 0,
        Precharge | PrechargeAll => true,
        _ => opened == 1,
    }
}

/// Returns the first clock at which the command keeps its distance from all earlier commands.
pub(crate) fn earliest(p: &DramParams, past: &[CommandRecord], b: &CommandRecord) -> u64 {
    let pairs = past.iter().enumerate().map(|(i, a)| a.clock + distance(p, &past[..i], a, past, b));
    let acts: Vec<_> = past.iter().filter(|a| a.rank == b.rank && a.kind == Activate).collect();
    let faw =
        if b.kind == Activate && acts.len() >= 4 { acts[acts.len() - 4].clock + u64::from(p.timing.faw) } else { 0 };
    pairs.max().unwrap_or(0).max(faw)
}

/// Returns the least number of clocks from `a`, issued after `before`, to `b`, issued after `past`.
fn distance(
    p: &DramParams,
    before: &[CommandRecord],
    a: &CommandRecord,
    past: &[CommandRecord],
    b: &CommandRecord,
) -> u64 {
    let t = p.timing;
    let mut least: Vec<i64> = vec![0];
    let mut need = |clocks: u32| least.push(clocks.into());
    if !p.row_bus || is_column(a) == is_column(b) {
        need(match a.kind {
            Activate => t.act_clocks,
            _ if is_column(a) => t.cas_clocks,
            _ => 1,
        });
    }
    if a.rank == b.rank {
        if a.kind == Refresh {
            need(t.rfc);
        }
        let same_group = a.bank_group == b.bank_group;
        match (a.kind, b.kind) {
            (Activate, Activate) => need(if same_group { t.rrd_l } else { t.rrd_s }),
            (RefreshSameBank, RefreshSameBank) => need(t.refsb_refsb),
            (RefreshSameBank, Activate) if !concerns(p, a, b.bank_group, b.bank) => need(t.refsb_act),
            _ if is_precharge(a) && is_precharge(b) => need(t.ppd),
            _ if is_read(a) && is_read(b) => need(if same_group { t.ccd_l } else { t.ccd_s }),
            _ if is_write(a) && is_write(b) => need(if same_group { t.ccd_l_wr } else { t.ccd_s }),
            _ if is_write(a) && is_read(b) => need(t.cwl + t.burst + if same_group { t.wtr_l } else { t.wtr_s }),
            _ if is_read(a) && is_write(b) => need((t.cl + t.burst + t.read_to_write).saturating_sub(t.cwl).max(1)),
            _ => {}
        }
        for (group, bank) in banks(p) {
            if concerns(p, a, group, bank) && concerns(p, b, group, bank) {
                in_bank(p, before, a, past, b, (group, bank)).into_iter().for_each(&mut need);
            }
        }
    } else if is_column(a) && is_column(b) {
        need(match (is_read(a), is_read(b)) {
            (true, true) => t.burst + t.rank_switch,
            (false, false) => t.burst,
            (true, false) => (t.cl + t.burst + t.rank_switch).saturating_sub(t.cwl).max(1),
            (false, true) => t.burst.max((t.cwl + t.burst + t.rank_switch).saturating_sub(t.cl)),
        });
    }
    least.into_iter().max().unwrap_or(0) as u64
}

fn in_bank(
    p: &DramParams,
    before: &[CommandRecord],
    a: &CommandRecord,
    past: &[CommandRecord],
    b: &CommandRecord,
    bank: (u8, u8),
) -> Vec<u32> {
    let t = p.timing;
    let recover = if is_write(a) { t.cwl + t.burst + t.wr } else { t.rtp };
    let ready = matches!(b.kind, Activate | Refresh | RefreshSameBank);
    match a.kind {
        RefreshSameBank => vec![t.rfc_sb],
        Activate if b.kind == Activate => vec![t.rc],
        Activate if is_column(b) => vec![t.rcd],
        Activate if is_precharge(b) && open(p, past, b.rank, bank).is_some() => vec![t.ras],
        Read | Write if is_precharge(b) && open(p, past, b.rank, bank).is_some() => vec![recover],
        ReadPrecharge | WritePrecharge if is_precharge(b) && open(p, past, b.rank, bank).is_some() => vec![recover],
        Precharge | PrechargeAll if ready => vec![t.rp],
        ReadPrecharge | WritePrecharge if ready => {
            let act = open(p, before, a.rank, bank).map_or(0, |act| act.clock + u64::from(t.ras));
            vec![recover.max(act.saturating_sub(a.clock) as u32) + t.rp]
        }
        _ => vec![],
    }
}
