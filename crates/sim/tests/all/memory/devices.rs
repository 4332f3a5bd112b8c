//! The devices of `specs/dram`, and random ones that a standard could have.

use hostnet_config::{memory_plan, Format, Input};
use hostnet_model::params::{DramParams, SameBank, TimingParams};
use proptest::prelude::*;
use std::path::Path;

/// Returns a device of `specs/dram`.
fn device(name: &str) -> DramParams {
    let text = format!("[memory]\ndevice = \"{name}\"\n");
    let input =
        Input { text: &text, format: Format::Toml, file: "device.toml", base_dir: Path::new("."), overrides: &[] };
    memory_plan(&input).unwrap_or_else(|error| panic!("{error}")).dram
}

/// Returns a device with four bank groups and refreshes of whole ranks only.
pub(crate) fn ddr4() -> DramParams {
    device("DDR4_2933")
}

/// Returns a device with two subchannels, commands of two clocks, and a refresh of one bank in every group.
pub(crate) fn ddr5() -> DramParams {
    device("DDR5_4800")
}

/// Returns a device with two pseudo-channels, a separate bus for row commands, two accesses per line, and a refresh
/// of one bank.
pub(crate) fn hbm2e() -> DramParams {
    device("HBM2E")
}

/// Returns every device of `specs/dram`.
pub(crate) fn devices() -> Vec<DramParams> {
    hostnet_config::devices().iter().map(|name| device(name)).collect()
}

/// Returns the number of bank sets per rank, each of which one REFSB refreshes.
pub(crate) fn sets(dram: &DramParams) -> u32 {
    match dram.same_bank {
        SameBank::None => 1,
        SameBank::EveryGroup => dram.banks_per_group,
        SameBank::One => dram.bank_groups * dram.banks_per_group,
    }
}

/// Generates a device: one of the standards, or a random one.
pub(crate) fn any_device() -> impl Strategy<Value = DramParams> {
    prop_oneof![1 => prop::sample::select(devices()), 1 => random_device()]
}

fn random_device() -> impl Strategy<Value = DramParams> {
    let same_bank = prop::sample::select(vec![SameBank::None, SameBank::EveryGroup, SameBank::One]);
    let shape = (0_u32..3, 0_u32..4, 0_u32..3, any::<bool>(), 1_u32..4, same_bank, 2_u32..9);
    (shape, timings(), 3_u32..10).prop_map(|(shape, timing, slack)| {
        let (ranks, groups, banks, row_bus, accesses_per_line, same_bank, postponed_max) = shape;
        let organised = DramParams {
            ranks: 1 << ranks,
            bank_groups: 1 << groups,
            banks_per_group: 1 << banks.min(6 - ranks - groups),
            rows: 8,
            lines_per_row: 16,
            accesses_per_line,
            row_bus,
            same_bank,
            postponed_max,
            timing,
            ..ddr4()
        };
        with_intervals(organised, slack)
    })
}

/// Sets refresh intervals that leave time for other work, however rows must be closed.
fn with_intervals(mut dram: DramParams, slack: u32) -> DramParams {
    let t = &mut dram.timing;
    let closing = t.rc + t.cwl + t.burst + t.wr + t.rp + 40;
    t.refi_sb = slack * dram.ranks * closing.max(t.refsb_refsb).max(t.refsb_act);
    t.refi = slack * dram.ranks * (closing + t.rfc);
    let sets = sets(&dram);
    let t = &mut dram.timing;
    t.refi = t.refi.max(t.refi_sb * sets);
    t.refi_sb = t.refi / sets;
    dram
}

fn timings() -> impl Strategy<Value = TimingParams> {
    let bus = (1_u32..9, 4_u32..45, 4_u32..45, 3_u32..40, 3_u32..40, 0_u32..5, 0_u32..5);
    let bank = (1_u32..40, 0_u32..10, 1_u32..70, 1_u32..20, 0_u32..4, 1_u32..4, 1_u32..4);
    let spread = (0_u32..4, 0_u32..8, 0_u32..30, 1_u32..8, 0_u32..8, 1_u32..10, 0_u32..20, 0_u32..60);
    let refresh = (20_u32..400, 20_u32..200, 0_u32..20, 0_u32..20);
    (bus, bank, spread, refresh).prop_map(|(bus, bank, spread, refresh)| {
        let (burst, cl, cwl, rcd, rp, rank_switch, read_to_write) = bus;
        let (more_ras, more_rc, wr, rtp, ppd, act_clocks, cas_clocks) = bank;
        let (more_ccd, ccd_l, ccd_l_wr, rrd_s, rrd_l, wtr_s, wtr_l, faw) = spread;
        let (rfc, rfc_sb, refsb_act, refsb_refsb) = refresh;
        let ras = rcd + more_ras;
        let ccd_s = burst + more_ccd;
        TimingParams {
            burst,
            cl,
            cwl,
            rcd,
            rp,
            ras,
            rc: ras + rp + more_rc,
            wr,
            rtp,
            ccd_s,
            ccd_l: ccd_s + ccd_l,
            ccd_l_wr: ccd_s + ccd_l + ccd_l_wr,
            rrd_s,
            rrd_l: rrd_s + rrd_l,
            wtr_s,
            wtr_l: wtr_s + wtr_l,
            faw,
            ppd,
            rfc,
            refi: 0,
            rfc_sb,
            refi_sb: 0,
            refsb_act,
            refsb_refsb,
            rank_switch,
            read_to_write,
            act_clocks,
            cas_clocks,
        }
    })
}
