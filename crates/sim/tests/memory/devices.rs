//! Devices like those of each standard, and random ones that a standard could have.

use hostnet_model::params::{DramParams, SameBank, TimingParams};
use proptest::prelude::*;

/// DDR3-1600: no bank groups.
pub(crate) fn ddr3() -> DramParams {
    let timing = TimingParams {
        burst: 4,
        cl: 11,
        cwl: 8,
        rcd: 11,
        rp: 11,
        ras: 28,
        rc: 39,
        wr: 12,
        rtp: 6,
        ccd_s: 4,
        ccd_l: 4,
        ccd_l_wr: 4,
        rrd_s: 5,
        rrd_l: 5,
        wtr_s: 6,
        wtr_l: 6,
        faw: 24,
        rfc: 128,
        refi: 6240,
        ..ddr4().timing
    };
    DramParams {
        clock_ps_numerator: 1250,
        clock_ps_denominator: 1,
        bank_groups: 1,
        banks_per_group: 8,
        timing,
        ..ddr4()
    }
}

/// DDR4-2933: four bank groups.
pub(crate) fn ddr4() -> DramParams {
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

/// DDR5-4800: two subchannels, commands of two clocks, refresh of a bank in every group.
pub(crate) fn ddr5() -> DramParams {
    let timing = TimingParams {
        burst: 8,
        cl: 40,
        cwl: 38,
        rcd: 39,
        rp: 39,
        ras: 77,
        rc: 116,
        wr: 72,
        rtp: 18,
        ccd_s: 8,
        ccd_l: 12,
        ccd_l_wr: 48,
        rrd_s: 8,
        rrd_l: 12,
        wtr_s: 6,
        wtr_l: 24,
        faw: 32,
        ppd: 2,
        rfc: 708,
        refi: 9360,
        rfc_sb: 312,
        refi_sb: 2340,
        refsb_act: 72,
        refsb_refsb: 72,
        rank_switch: 3,
        read_to_write: 4,
        act_clocks: 2,
        cas_clocks: 2,
    };
    DramParams {
        clock_ps_numerator: 1250,
        clock_ps_denominator: 3,
        subchannels: 2,
        bank_groups: 8,
        lines_per_row: 64,
        same_bank: SameBank::EveryGroup,
        postponed_max: 4,
        timing,
        ..ddr4()
    }
}

/// HBM2E: two pseudo-channels, a bus for row commands, two accesses for a line, refresh of one bank.
pub(crate) fn hbm2e() -> DramParams {
    let timing = TimingParams {
        burst: 2,
        cl: 25,
        cwl: 8,
        rcd: 17,
        rp: 17,
        ras: 40,
        rc: 57,
        wr: 19,
        rtp: 6,
        ccd_s: 2,
        ccd_l: 4,
        ccd_l_wr: 4,
        rrd_s: 5,
        rrd_l: 7,
        wtr_s: 4,
        wtr_l: 10,
        faw: 26,
        ppd: 0,
        rfc: 420,
        refi: 4680,
        rfc_sb: 240,
        refi_sb: 292,
        refsb_act: 10,
        refsb_refsb: 11,
        rank_switch: 1,
        read_to_write: 3,
        act_clocks: 1,
        cas_clocks: 1,
    };
    DramParams {
        clock_ps_numerator: 2500,
        clock_ps_denominator: 3,
        subchannels: 2,
        ranks: 1,
        rows: 16384,
        lines_per_row: 16,
        accesses_per_line: 2,
        row_bus: true,
        same_bank: SameBank::One,
        timing,
        ..ddr4()
    }
}

/// One of every standard.
pub(crate) fn devices() -> [DramParams; 4] {
    [ddr3(), ddr4(), ddr5(), hbm2e()]
}

/// Sets of banks that one REFSB refreshes, per rank.
pub(crate) fn sets(dram: &DramParams) -> u32 {
    match dram.same_bank {
        SameBank::None => 1,
        SameBank::EveryGroup => dram.banks_per_group,
        SameBank::One => dram.bank_groups * dram.banks_per_group,
    }
}

/// Any device: those of the standards, or a random one.
pub(crate) fn any_device() -> impl Strategy<Value = DramParams> {
    prop_oneof![1 => prop::sample::select(devices().to_vec()), 1 => random_device()]
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

/// Refresh intervals that leave time for work, however the rows have to be closed.
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
