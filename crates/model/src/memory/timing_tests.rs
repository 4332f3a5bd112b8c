//! Tests of every timing constraint: a command is allowed on the exact clock, and not one clock earlier. First rule by
//! rule, then against a slow implementation of the standards that compares every pair of commands.

use super::timing::{bits, DramTiming};
use crate::params::{DramParams, SameBank, TimingParams};
use proptest::prelude::*;

/// Timing of DDR4-2933Y with 8 Gb x8 devices.
pub(crate) const DDR4_2933: TimingParams = TimingParams {
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
};

pub(crate) fn dram(ranks: u32, bank_groups: u32, banks_per_group: u32, timing: TimingParams) -> DramParams {
    DramParams {
        clock_ps_numerator: 7500,
        clock_ps_denominator: 11,
        subchannels: 1,
        ranks,
        bank_groups,
        banks_per_group,
        rows: 65536,
        lines_per_row: 128,
        accesses_per_line: 1,
        row_bus: false,
        same_bank: SameBank::None,
        postponed_max: 8,
        timing,
    }
}

/// Creates a channel of two ranks of four groups of four banks.
fn channel() -> DramTiming {
    DramTiming::new(&dram(2, 4, 4, DDR4_2933))
}

/// A bank, another bank of its group, a bank of another group, and one of the other rank.
const OWN: usize = 0;
const GROUP: usize = 1;
const RANK: usize = 4;
const OTHER_RANK: usize = 16;

/// Clock of the first command of a test.
const START: u64 = 1000;
/// Clock at which all earlier commands have lost their effect.
const LATER: u64 = START + 500;

/// Creates a channel whose banks have long been open, with a read or a write of [`OWN`] at [`LATER`].
fn after_cas(write: bool) -> DramTiming {
    let mut timing = channel();
    for (index, bank) in [OWN, GROUP, RANK, OTHER_RANK].into_iter().enumerate() {
        timing.activate(START + 100 * index as u64, bank, 0);
    }
    timing.cas(LATER, OWN, write);
    timing
}

/// Returns the clocks from [`LATER`] to the first clock at which `bank` may be read or written.
fn gap(timing: &DramTiming, bank: usize, write: bool) -> u64 {
    timing.earliest_cas(bank, write) - LATER
}

#[test]
fn an_opened_row_is_accessed_after_trcd_and_closed_after_tras() {
    let mut timing = channel();
    timing.activate(START, OWN, 7);
    assert_eq!(timing.open_row(OWN), Some(7));
    assert_eq!(timing.earliest_cas(OWN, false), START + 21, "tRCD");
    assert_eq!(timing.earliest_cas(OWN, true), START + 21, "tRCD");
    assert_eq!(timing.earliest_precharge(OWN), START + 47, "tRAS");
}

#[test]
fn a_bank_is_opened_again_after_trp_and_trc() {
    let mut timing = channel();
    timing.activate(START, OWN, 7);
    timing.precharge(START + 47, OWN);
    assert_eq!(timing.open_row(OWN), None);
    assert_eq!(timing.earliest_act(OWN), START + 68, "tRAS + tRP = tRC");
    let mut timing = channel();
    timing.activate(START, OWN, 7);
    timing.precharge(LATER, OWN);
    assert_eq!(timing.earliest_act(OWN), LATER + 21, "tRP");
    let mut timing = DramTiming::new(&dram(2, 4, 4, TimingParams { rc: 80, ..DDR4_2933 }));
    timing.activate(START, OWN, 7);
    timing.precharge(START + 47, OWN);
    assert_eq!(timing.earliest_act(OWN), START + 80, "tRC beyond tRAS + tRP");
}

#[test]
fn activations_keep_trrd_and_tfaw() {
    let mut timing = channel();
    timing.activate(START, OWN, 0);
    assert_eq!(timing.earliest_act(GROUP), START + 8, "tRRD_L");
    assert_eq!(timing.earliest_act(RANK), START + 4, "tRRD_S");
    assert!(timing.earliest_act(OTHER_RANK) <= START, "ranks are activated apart");
    timing.activate(START + 4, RANK, 0);
    timing.activate(START + 8, 8, 0);
    assert_eq!(timing.earliest_act(12), START + 12, "three activations do not fill the window");
    timing.activate(START + 12, 12, 0);
    assert_eq!(timing.earliest_act(RANK + 1), START + 31, "tFAW");
    timing.activate(START + 31, RANK + 1, 0);
    assert_eq!(timing.earliest_act(8 + 1), START + 4 + 31, "the window moves on");
}

#[test]
fn precharges_of_a_rank_keep_tppd() {
    let mut timing = DramTiming::new(&dram(2, 4, 4, TimingParams { ppd: 2, ..DDR4_2933 }));
    for (index, bank) in [OWN, RANK, OTHER_RANK].into_iter().enumerate() {
        timing.activate(START + 10 * index as u64, bank, 0);
    }
    timing.precharge(LATER, OWN);
    assert_eq!(timing.earliest_precharge(RANK), LATER + 2, "tPPD");
    assert!(timing.earliest_precharge(OTHER_RANK) <= LATER, "ranks are precharged apart");
    let banks = timing.banks_of_rank(0);
    assert_eq!(timing.earliest_precharge_all(banks), LATER + 2, "tPPD");
    timing.precharge_all(LATER + 2, banks);
    timing.activate(LATER + 40, OWN, 0);
    assert_eq!(timing.earliest_precharge(OWN), LATER + 40 + 47, "tRAS beyond tPPD");
    assert_eq!(timing.open, 1 << OWN | 1 << OTHER_RANK);
}

#[test]
fn reads_follow_reads() {
    let timing = after_cas(false);
    assert_eq!(gap(&timing, OWN, false), 8, "tCCD_L");
    assert_eq!(gap(&timing, GROUP, false), 8, "tCCD_L");
    assert_eq!(gap(&timing, RANK, false), 4, "tCCD_S");
    assert_eq!(gap(&timing, OTHER_RANK, false), 4 + 2, "burst + rank switch");
}

#[test]
fn writes_follow_writes() {
    let timing = after_cas(true);
    assert_eq!(gap(&timing, OWN, true), 8, "tCCD_L");
    assert_eq!(gap(&timing, GROUP, true), 8, "tCCD_L");
    assert_eq!(gap(&timing, RANK, true), 4, "tCCD_S");
    assert_eq!(gap(&timing, OTHER_RANK, true), 4, "burst: the controller drives the strobe for either rank");
    let mut timing = DramTiming::new(&dram(2, 4, 4, TimingParams { ccd_l_wr: 32, ..DDR4_2933 }));
    [OWN, GROUP].into_iter().for_each(|bank| timing.activate(START + 8 * bank as u64, bank, 0));
    timing.cas(LATER, OWN, true);
    assert_eq!(gap(&timing, GROUP, true), 32, "tCCD_L_WR of DDR5");
    timing.cas(LATER + 100, OWN, false);
    assert_eq!(gap(&timing, GROUP, false), 100 + 8, "tCCD_L for reads");
}

#[test]
fn writes_follow_reads() {
    let timing = after_cas(false);
    for bank in [OWN, GROUP, RANK] {
        assert_eq!(gap(&timing, bank, true), 21 + 4 + 2 - 20, "CL + burst + 2 - CWL");
    }
    assert_eq!(gap(&timing, OTHER_RANK, true), 21 + 4 + 2 - 20, "CL + burst + rank switch - CWL");
}

#[test]
fn reads_follow_writes() {
    let timing = after_cas(true);
    assert_eq!(gap(&timing, OWN, false), 20 + 4 + 11, "CWL + burst + tWTR_L");
    assert_eq!(gap(&timing, GROUP, false), 20 + 4 + 11, "CWL + burst + tWTR_L");
    assert_eq!(gap(&timing, RANK, false), 20 + 4 + 4, "CWL + burst + tWTR_S");
    assert_eq!(gap(&timing, OTHER_RANK, false), 20 + 4 + 2 - 21, "CWL + burst + rank switch - CL");
}

#[test]
fn a_row_is_closed_trtp_after_a_read_and_twr_after_the_data_of_a_write() {
    assert_eq!(after_cas(false).earliest_precharge(OWN), LATER + 11, "tRTP");
    assert_eq!(after_cas(true).earliest_precharge(OWN), LATER + 20 + 4 + 22, "CWL + burst + tWR");
    let mut timing = channel();
    timing.activate(START, OWN, 0);
    timing.cas(START + 21, OWN, false);
    assert_eq!(timing.earliest_precharge(OWN), START + 47, "tRAS beyond tRCD + tRTP");
}

#[test]
fn a_row_that_closes_itself_keeps_trp() {
    let mut timing = channel();
    timing.activate(START, OWN, 0);
    timing.cas(START + 21, OWN, false);
    timing.close(timing.bank_precharge(OWN), OWN);
    assert_eq!(timing.open_row(OWN), None);
    assert_eq!(timing.earliest_act(OWN), START + 47 + 21, "tRAS + tRP after a read");
    let mut timing = after_cas(true);
    timing.close(timing.bank_precharge(OWN), OWN);
    assert_eq!(timing.earliest_act(OWN), LATER + 20 + 4 + 22 + 21, "CWL + burst + tWR + tRP after a write");
}

#[test]
fn a_refresh_closes_the_rank_for_trfc() {
    let mut timing = channel();
    timing.activate(START, OTHER_RANK, 0);
    let banks = timing.banks_of_rank(0);
    timing.refresh(LATER, banks, false);
    assert_eq!(timing.open_row(OTHER_RANK), Some(0));
    for bank in [OWN, GROUP, RANK] {
        assert_eq!(timing.earliest_act(bank), LATER + 514, "tRFC");
    }
    assert_eq!(timing.earliest_refresh(banks, false), LATER + 514, "tRFC");
    assert!(timing.earliest_act(OTHER_RANK + 1) < LATER, "the other rank goes on");
}

#[test]
fn a_refresh_waits_for_closing_rows() {
    let mut timing = channel();
    let banks = timing.banks_of_rank(0);
    timing.activate(START, OWN, 0);
    timing.activate(START + 40, RANK, 0);
    assert_eq!(timing.earliest_precharge_all(banks), START + 40 + 47, "tRAS of the last");
    timing.precharge_all(START + 90, banks);
    assert_eq!(timing.open, 0);
    assert_eq!(timing.earliest_refresh(banks, false), START + 90 + 21, "tRP");
    let mut timing = DramTiming::new(&dram(2, 4, 4, TimingParams { rc: 80, ..DDR4_2933 }));
    timing.activate(START, OWN, 0);
    timing.precharge(START + 47, OWN);
    assert_eq!(timing.earliest_refresh(banks, false), START + 80, "tRC is from ACT to ACT or REF");
}

#[test]
fn a_same_bank_refresh_leaves_the_other_banks_usable() {
    let t = TimingParams { rfc_sb: 190, refsb_act: 30, refsb_refsb: 48, ..DDR4_2933 };
    let mut timing = DramTiming::new(&DramParams { same_bank: SameBank::EveryGroup, ..dram(2, 4, 4, t) });
    let (first, second) = (0x1111, 0x2222);
    timing.refresh(LATER, first, true);
    assert_eq!(timing.earliest_act(OWN), LATER + 190, "tRFCsb");
    assert_eq!(timing.earliest_act(RANK), LATER + 190, "tRFCsb");
    assert_eq!(timing.earliest_act(GROUP), LATER + 30, "REFSB to ACT of another bank");
    assert!(timing.earliest_act(OTHER_RANK) <= LATER, "the other rank goes on");
    assert_eq!(timing.earliest_refresh(second, true), LATER + 48, "REFSB to REFSB");
    assert_eq!(timing.earliest_refresh(first, true), LATER + 190, "tRFCsb");
    assert_eq!(timing.earliest_refresh(timing.banks_of_rank(0), false), LATER + 190, "tRFCsb");
    timing.refresh(LATER + 190, timing.banks_of_rank(0), false);
    assert_eq!(timing.earliest_refresh(second, true), LATER + 190 + 514, "tRFC");
}

/// Commands issued so far, in order: clock, command and banks.
type History = Vec<(u64, Command, u64)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Activate,
    Read,
    Write,
    Precharge,
    /// End of a row that was closed by auto-precharge.
    Closed,
    Refresh,
    RefreshSameBank,
}

/// Slow implementation of the standards.
struct Standard {
    dram: DramParams,
    history: History,
}

impl Standard {
    fn group(&self, banks: u64) -> u32 {
        banks.trailing_zeros() / self.dram.banks_per_group
    }

    fn rank(&self, banks: u64) -> u32 {
        self.group(banks) / self.dram.bank_groups
    }

    /// Returns the minimum distance of two commands in clocks, if a rule relates them.
    fn apart(&self, (command, banks): (Command, u64), (next, target): (Command, u64)) -> Option<u32> {
        use Command::*;
        let t = &self.dram.timing;
        let same_bank = banks & target != 0;
        let same_group = self.group(banks) == self.group(target);
        let same_rank = self.rank(banks) == self.rank(target);
        Some(match (command, next) {
            (Activate, Activate | Refresh | RefreshSameBank) if same_bank => t.rc,
            (Activate, Activate) if same_group => t.rrd_l,
            (Activate, Activate) if same_rank => t.rrd_s,
            (Activate, Read | Write) if same_bank => t.rcd,
            (Activate, Precharge) if same_bank => t.ras,
            (Precharge | Closed, Activate | Refresh | RefreshSameBank) if same_bank => t.rp,
            (Precharge, Precharge) if same_rank => t.ppd,
            (Refresh, Activate | Refresh | RefreshSameBank) if same_rank => t.rfc,
            (RefreshSameBank, Activate | Refresh | RefreshSameBank) if same_bank => t.rfc_sb,
            (RefreshSameBank, RefreshSameBank) if same_rank => t.refsb_refsb,
            (RefreshSameBank, Activate) if same_rank => t.refsb_act,
            (Read, Precharge) if same_bank => t.rtp,
            (Write, Precharge) if same_bank => t.cwl + t.burst + t.wr,
            (Read, Read) if same_group => t.ccd_l,
            (Write, Write) if same_group => t.ccd_l_wr,
            (Read, Read) | (Write, Write) if same_rank => t.ccd_s,
            (Read, Read) => t.burst + t.rank_switch,
            (Write, Write) => t.burst,
            (Read, Write) if same_rank => (t.cl + t.burst + t.read_to_write).saturating_sub(t.cwl).max(1),
            (Read, Write) => (t.cl + t.burst + t.rank_switch).saturating_sub(t.cwl).max(1),
            (Write, Read) if same_group => t.cwl + t.burst + t.wtr_l,
            (Write, Read) if same_rank => t.cwl + t.burst + t.wtr_s,
            (Write, Read) => (t.cwl + t.burst + t.rank_switch).saturating_sub(t.cl).max(t.burst),
            _ => return None,
        })
    }

    /// Returns the first clock at which `command` may be issued to `banks`.
    fn earliest(&self, command: Command, banks: u64) -> u64 {
        let pairs = self.history.iter().filter_map(|&(clock, earlier, at)| {
            self.apart((earlier, at), (command, banks)).map(|gap| clock + u64::from(gap))
        });
        let of_rank = |&&(_, earlier, at): &&(u64, Command, u64)| {
            earlier == Command::Activate && self.rank(at) == self.rank(banks)
        };
        let fourth = self.history.iter().rev().filter(of_rank).nth(3);
        let window = fourth.filter(|_| command == Command::Activate);
        let window = window.map(|&(clock, ..)| clock + u64::from(self.dram.timing.faw));
        pairs.chain(window).max().unwrap_or(0)
    }

    /// Returns the earliest clock at which the open row of a bank may be closed, considering only the commands to the
    /// bank.
    fn row_end(&self, bank: u64) -> u64 {
        let own = self.history.iter().filter(|(.., banks)| *banks == bank).filter_map(|&(clock, earlier, _)| {
            let gap = self.apart((earlier, bank), (Command::Precharge, bank)).filter(|_| earlier != Command::Precharge);
            gap.map(|gap| clock + u64::from(gap))
        });
        own.max().unwrap_or(0)
    }

    fn banks(&self) -> usize {
        (self.dram.ranks * self.dram.bank_groups * self.dram.banks_per_group) as usize
    }

    /// Returns the banks that are refreshed together with `bank`.
    fn set(&self, bank: usize) -> u64 {
        let (groups, in_group) = (self.dram.bank_groups as usize, self.dram.banks_per_group as usize);
        if self.dram.same_bank == SameBank::One {
            return 1 << bank;
        }
        let first = bank / (groups * in_group) * groups * in_group + bank % in_group;
        (0..groups).fold(0, |all, group| all | 1 << (first + group * in_group))
    }
}

fn timing_params() -> impl Strategy<Value = TimingParams> {
    let bus = (1_u32..6, 4_u32..20, 1_u32..26, 1_u32..20, 1_u32..20, 0_u32..4, 0_u32..4);
    // Rows stay open for longer than the distance of activations in a group, as in every device.
    let bank = (14_u32..50, 0_u32..30, 0_u32..25, 0_u32..20);
    let spread = (1_u32..8, 0_u32..8, 1_u32..8, 0_u32..8, 0_u32..10, 0_u32..10, 0_u32..60);
    let refresh = (0_u32..200, 30_u32..100, 0_u32..30, 0_u32..30, 0_u32..6, 0_u32..30);
    (bus, bank, spread, refresh).prop_map(|(bus, bank, spread, refresh)| {
        let (burst, cwl, cl, rcd, rp, rank_switch, read_to_write) = bus;
        let (ras, more_rc, wr, rtp) = bank;
        let (ccd_s, more_ccd, rrd_s, more_rrd, wtr_s, more_wtr, faw) = spread;
        let (rfc, rfc_sb, refsb_act, refsb_refsb, ppd, more_ccd_wr) = refresh;
        TimingParams {
            burst,
            cl,
            cwl,
            rcd,
            rp,
            ras,
            rc: ras + more_rc,
            wr,
            rtp,
            ccd_s,
            ccd_l: ccd_s + more_ccd,
            ccd_l_wr: ccd_s + more_ccd + more_ccd_wr,
            rrd_s,
            rrd_l: rrd_s + more_rrd,
            wtr_s,
            wtr_l: wtr_s + more_wtr,
            faw,
            ppd,
            rfc,
            refi: 1000,
            rfc_sb,
            refi_sb: 100,
            refsb_act,
            refsb_refsb,
            rank_switch,
            read_to_write,
            act_clocks: 1,
            cas_clocks: 1,
        }
    })
}

/// Generates ranks, bank groups, banks per group and the kind of same-bank refresh, as in DDR3, DDR4, DDR5 and HBM.
fn shapes() -> impl Strategy<Value = (u32, u32, u32, SameBank)> {
    prop::sample::select(vec![
        (1, 1, 1, SameBank::None),
        (4, 1, 2, SameBank::None),
        (1, 4, 2, SameBank::None),
        (2, 2, 2, SameBank::EveryGroup),
        (1, 4, 4, SameBank::EveryGroup),
        (1, 4, 2, SameBank::One),
        (2, 1, 2, SameBank::One),
    ])
}

/// Returns the command drawn for a bank if the state of the bank allows it, else the command that is needed first, and
/// the banks of the command.
fn fitting(timing: &DramTiming, standard: &Standard, bank: usize, choice: u8) -> (Command, u64) {
    let rank = timing.banks_of_rank(timing.rank_of(bank));
    let set = standard.set(bank);
    let open = timing.open & 1 << bank != 0;
    match choice {
        9 if timing.open & rank == 0 => (Command::Refresh, rank),
        9 => (Command::Precharge, timing.open & rank),
        8 if standard.dram.same_bank != SameBank::None && timing.open & set == 0 => (Command::RefreshSameBank, set),
        0..=2 | 8 if open => (Command::Read, 1 << bank),
        3..=5 if open => (Command::Write, 1 << bank),
        _ if open => (Command::Precharge, 1 << bank),
        _ => (Command::Activate, 1 << bank),
    }
}

fn earliest(timing: &DramTiming, command: Command, banks: u64) -> u64 {
    let bank = banks.trailing_zeros() as usize;
    match command {
        Command::Activate => timing.earliest_act(bank),
        Command::Read | Command::Write => timing.earliest_cas(bank, command == Command::Write),
        Command::Precharge => timing.earliest_precharge_all(banks),
        Command::Refresh | Command::RefreshSameBank => {
            timing.earliest_refresh(banks, command == Command::RefreshSameBank)
        }
        Command::Closed => unreachable!("nobody commands it"),
    }
}

fn issue(timing: &mut DramTiming, clock: u64, command: Command, banks: u64) {
    let bank = banks.trailing_zeros() as usize;
    match command {
        Command::Activate => timing.activate(clock, bank, 0),
        Command::Precharge if banks.count_ones() > 1 => timing.precharge_all(clock, banks),
        Command::Precharge => timing.precharge(clock, bank),
        Command::Read | Command::Write => timing.cas(clock, bank, command == Command::Write),
        Command::Refresh | Command::RefreshSameBank => {
            timing.refresh(clock, banks, command == Command::RefreshSameBank);
        }
        Command::Closed => unreachable!("nobody commands it"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_sequence_is_timed_as_in_the_standards(
        shape in shapes(),
        timing in timing_params(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..10, any::<bool>(), 0_u64..4), 1..80),
    ) {
        let (ranks, groups, in_group, same_bank) = shape;
        let dram = DramParams { same_bank, ..dram(ranks, groups, in_group, timing) };
        let mut timing = DramTiming::new(&dram);
        let mut standard = Standard { dram, history: Vec::new() };
        let mut now = 0;
        for (index, choice, closes, wait) in steps {
            let bank = index.index(standard.banks());
            let (command, banks) = fitting(&timing, &standard, bank, choice);
            let allowed = earliest(&timing, command, banks).max(now);
            prop_assert_eq!(
                allowed, standard.earliest(command, banks).max(now),
                "{:?} of banks {:#x} after {:?}", command, banks, standard.history
            );
            now = allowed + wait;
            issue(&mut timing, now, command, banks);
            standard.history.extend(
                bits(banks).filter(|_| command == Command::Precharge).map(|bank| (now, command, 1 << bank))
            );
            if command != Command::Precharge {
                standard.history.push((now, command, banks));
            }
            if closes && matches!(command, Command::Read | Command::Write) {
                let end = standard.row_end(banks);
                timing.close(timing.bank_precharge(bank), bank);
                standard.history.push((end, Command::Closed, banks));
            }
        }
    }
}
