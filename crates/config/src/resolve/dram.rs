//! `[memory.dram]`: organisation and timing of a device, and the constraints between them.

use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{DramParams, DramSpec, SameBank, SameBankSpec, TimingParams, TimingSpec, TransferRate};

const LINE_BYTES: u64 = 64;
/// Maximum number of banks of a subchannel.
const BANKS_MAX: u32 = 64;

pub(super) fn resolve(spec: &DramSpec) -> Result<DramParams, Issue> {
    let banks = spec.ranks * spec.bank_groups * spec.banks_per_group;
    if banks > BANKS_MAX {
        let keys = ["memory.dram.ranks", "memory.dram.bank_groups", "memory.dram.banks_per_group", "memory.dram"];
        let message =
            format!("ranks x bank_groups x banks_per_group = {banks}; a subchannel has at most {BANKS_MAX} banks");
        return Err(Issue::between(Code::TooMany, &keys, message));
    }
    check_same_bank(spec)?;
    check_timing(&spec.timing)?;
    let (clock_ps_numerator, clock_ps_denominator) = clock(spec.data_rate);
    Ok(DramParams {
        clock_ps_numerator,
        clock_ps_denominator,
        subchannels: spec.subchannels,
        ranks: spec.ranks,
        bank_groups: spec.bank_groups,
        banks_per_group: spec.banks_per_group,
        rows: spec.rows,
        lines_per_row: (spec.row_size.0 / LINE_BYTES) as u32,
        accesses_per_line: spec.accesses_per_line,
        row_bus: spec.row_bus,
        same_bank: match spec.same_bank {
            SameBankSpec::None => SameBank::None,
            SameBankSpec::EveryGroup => SameBank::EveryGroup,
            SameBankSpec::OneBank => SameBank::One,
        },
        postponed_max: spec.postponed_max,
        timing: timing(&spec.timing),
    })
}

/// Returns the length of a clock in ps as a fraction. Speed grades are multiples of 400/3 MT/s with a rounded name:
/// 2933 stands for 8800/3.
fn clock(TransferRate(rate): TransferRate) -> (u64, u64) {
    const STEP: u64 = 400_000_000;
    const ROUNDING: u64 = 2_000_000;
    let steps = (3 * rate + STEP / 2) / STEP;
    let (numerator, denominator) = match (steps * STEP).abs_diff(3 * rate) {
        // Two transfers per clock: 2e12 ps / (steps * 400e6 / 3) = 15000 / steps.
        0..=ROUNDING => (15_000, steps),
        _ => (2_000_000_000_000, rate),
    };
    let divisor = greatest_common_divisor(numerator, denominator);
    (numerator / divisor, denominator / divisor)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// A sum of timings that bounds another one: its description and its value.
type Bound<'a> = (&'a str, u32);

/// Checks that the timings are possible, such as a row cycle that is not shorter than its parts.
fn check_timing(t: &TimingSpec) -> Result<(), Issue> {
    let ccd_l_wr = t.ccd_l_wr.unwrap_or(t.ccd_l);
    let at_least: [(Bound, &[&str], Bound); 9] = [
        (("rc", t.rc), &["ras", "rp"], ("ras + rp", t.ras + t.rp)),
        (("ras", t.ras), &["rcd"], ("rcd", t.rcd)),
        (("ccd_s", t.ccd_s), &["burst"], ("burst", t.burst)),
        (("ccd_l", t.ccd_l), &["ccd_s"], ("ccd_s", t.ccd_s)),
        (("ccd_l_wr", ccd_l_wr), &["ccd_l"], ("ccd_l", t.ccd_l)),
        (("rrd_l", t.rrd_l), &["rrd_s"], ("rrd_s", t.rrd_s)),
        (("wtr_l", t.wtr_l), &["wtr_s"], ("wtr_s", t.wtr_s)),
        // 0 turns a limit off, so that it bounds nothing.
        (("faw", if t.faw == 0 { u32::MAX } else { t.faw }), &["rrd_s"], ("rrd_s", t.rrd_s)),
        (("rfc", if t.rfc == 0 { u32::MAX } else { t.rfc }), &["rfc_sb"], ("rfc_sb", t.rfc_sb)),
    ];
    let at_most: [(Bound, &[&str], Bound); 4] = [
        // Read to write takes cl + burst - cwl clocks at least, which must not be negative.
        (("cwl", t.cwl), &["cl", "burst"], ("cl + burst", t.cl + t.burst)),
        (("rfc", t.rfc), &["refi"], ("half of refi", t.refi / 2)),
        (("rfc_sb", t.rfc_sb), &["refi_sb"], ("refi_sb", t.refi_sb)),
        (("refsb_refsb", t.refsb_refsb), &["refi_sb"], ("refi_sb", t.refi_sb)),
    ];
    let too_short = at_least.iter().find(|((_, value), _, (_, bound))| value < bound);
    if let Some(((name, value), other, (rule, bound))) = too_short {
        return Err(between(name, other, format!("{name} = {value} must be at least {rule} = {bound}")));
    }
    let too_long = at_most.iter().find(|((_, value), _, (_, bound))| value > bound);
    if let Some(((name, value), other, (rule, bound))) = too_long {
        return Err(between(name, other, format!("{name} = {value} must not exceed {rule} = {bound}")));
    }
    Ok(())
}

fn between(name: &str, others: &[&str], message: String) -> Issue {
    let mut paths: Vec<String> = [&[name], others].concat().iter().map(|n| format!("memory.dram.timing.{n}")).collect();
    paths.push("memory.dram.timing".to_string());
    Issue { code: Code::WrongOrder, paths, message, elsewhere: None }
}

/// Checks that the timings of REFSB are given if and only if the device has REFSB.
fn check_same_bank(spec: &DramSpec) -> Result<(), Issue> {
    let t = &spec.timing;
    let word = match spec.same_bank {
        SameBankSpec::None => "none",
        SameBankSpec::EveryGroup => "every-group",
        SameBankSpec::OneBank => "one-bank",
    };
    let given =
        [("rfc_sb", t.rfc_sb), ("refi_sb", t.refi_sb), ("refsb_act", t.refsb_act), ("refsb_refsb", t.refsb_refsb)];
    let fail = |code: Code, name: &str, message: String| {
        let paths = [format!("memory.dram.timing.{name}"), "memory.dram.same_bank".to_string()];
        Err(Issue::between(code, &[&paths[0], &paths[1], "memory.dram"], message))
    };
    if spec.same_bank == SameBankSpec::None {
        return match given.iter().find(|(_, value)| *value > 0) {
            Some((name, value)) => {
                fail(Code::NoEffect, name, format!("{name} = {value} has no meaning with same_bank = \"none\""))
            }
            None => Ok(()),
        };
    }
    match given[..2].iter().find(|(_, value)| *value == 0) {
        Some((name, _)) => {
            fail(Code::MissingKey, name, format!("{name} = 0 or absent; same_bank = \"{word}\" needs it"))
        }
        None => Ok(()),
    }
}

fn timing(spec: &TimingSpec) -> TimingParams {
    let TimingSpec { burst, cl, cwl, rcd, rp, ras, rc, wr, rtp, ccd_s, ccd_l, ccd_l_wr, rrd_s, rrd_l, .. } = *spec;
    let TimingSpec { wtr_s, wtr_l, faw, ppd, rfc, refi, rfc_sb, refi_sb, refsb_act, refsb_refsb, .. } = *spec;
    let TimingSpec { rank_switch, read_to_write, act_clocks, cas_clocks, .. } = *spec;
    TimingParams {
        burst,
        cl,
        cwl,
        rcd,
        rp,
        ras,
        rc,
        wr,
        rtp,
        ccd_s,
        ccd_l,
        ccd_l_wr: ccd_l_wr.unwrap_or(ccd_l),
        rrd_s,
        rrd_l,
        wtr_s,
        wtr_l,
        faw,
        ppd,
        rfc,
        refi,
        rfc_sb,
        refi_sb,
        refsb_act,
        refsb_refsb,
        rank_switch,
        read_to_write,
        act_clocks,
        cas_clocks,
    }
}
