//! Devices of very different kinds, and helpers that build commands.

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::{DramParams, SameBank, TimingParams};

/// DDR4: two ranks of four bank groups, with clocks of 0.682 ns.
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

/// DDR5: two subchannels, REFSB for all bank groups, commands of two clocks, tPPD.
pub(crate) fn ddr5() -> DramParams {
    let base = ddr4();
    DramParams {
        subchannels: 2,
        bank_groups: 8,
        lines_per_row: 64,
        same_bank: SameBank::EveryGroup,
        postponed_max: 4,
        timing: TimingParams {
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
            faw: 33,
            ppd: 2,
            rfc: 708,
            refi: 9360,
            rfc_sb: 312,
            refi_sb: 1170,
            refsb_act: 72,
            refsb_refsb: 80,
            rank_switch: 3,
            read_to_write: 4,
            act_clocks: 2,
            cas_clocks: 2,
        },
        ..base
    }
}

/// HBM: one rank, separate buses for row and column commands, REFSB for one bank, two accesses per line.
pub(crate) fn hbm() -> DramParams {
    let base = ddr4();
    DramParams {
        subchannels: 2,
        ranks: 1,
        rows: 16384,
        lines_per_row: 16,
        accesses_per_line: 2,
        row_bus: true,
        same_bank: SameBank::One,
        timing: TimingParams {
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
        },
        ..base
    }
}

/// DDR3: no bank groups, four ranks, few rules.
pub(crate) fn ddr3() -> DramParams {
    let base = ddr4();
    DramParams {
        ranks: 4,
        bank_groups: 1,
        banks_per_group: 8,
        timing: TimingParams {
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
            ..base.timing
        },
        ..base
    }
}

pub(crate) fn devices() -> [(&'static str, DramParams); 4] {
    [("ddr4", ddr4()), ("ddr5", ddr5()), ("hbm", hbm()), ("ddr3", ddr3())]
}

/// Builds a command for controller 0 at clock 0.
pub(crate) fn command(kind: CommandKind, rank: u8, bank_group: u8, bank: u8) -> CommandRecord {
    CommandRecord { clock: 0, channel: 0, kind, rank, bank_group, bank, row: 0, column: 0 }
}

pub(crate) fn at(clock: u64, record: CommandRecord) -> CommandRecord {
    CommandRecord { clock, ..record }
}
