//! Every timing edge of DDR4: on the clock allowed, and not one clock earlier; first rule by rule, then against a slow
//! reading of the standard that looks at every pair of commands.

use super::bank::Timing;
use crate::params::{DramParams, SameBank, TimingParams};
use proptest::prelude::*;

/// DDR4-2933Y of 8 Gb x8 devices.
const DDR4_2933: TimingParams = TimingParams {
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

fn dram(ranks: u32, bank_groups: u32, banks_per_group: u32, timing: TimingParams) -> DramParams {
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

/// Two ranks of four groups of four banks.
fn channel() -> Timing {
    Timing::new(&dram(2, 4, 4, DDR4_2933))
}

/// A bank, another of its group, one of another group, and one of the other rank.
const OWN: usize = 0;
const GROUP: usize = 1;
const RANK: usize = 4;
const OTHER_RANK: usize = 16;

/// The clock of the first command of a test.
const START: u64 = 1000;
/// Long enough for everything before to be over.
const LATER: u64 = START + 500;

/// All banks of the test open since long, then a read or a write of [`OWN`] at [`LATER`].
fn after_cas(write: bool) -> Timing {
    let mut timing = channel();
    for (index, bank) in [OWN, GROUP, RANK, OTHER_RANK].into_iter().enumerate() {
        timing.activate(START + 100 * index as u64, bank, 0);
    }
    timing.cas(LATER, OWN, write);
    timing
}

/// Clocks from [`LATER`] to the first at which `bank` may be read or written.
fn gap(timing: &Timing, bank: usize, write: bool) -> u64 {
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
    let mut timing = Timing::new(&dram(2, 4, 4, TimingParams { rc: 80, ..DDR4_2933 }));
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
    assert_eq!(timing.earliest_act(OTHER_RANK), 0, "ranks are activated apart");
    timing.activate(START + 4, RANK, 0);
    timing.activate(START + 8, 8, 0);
    assert_eq!(timing.earliest_act(12), START + 12, "three activations do not fill the window");
    timing.activate(START + 12, 12, 0);
    assert_eq!(timing.earliest_act(RANK + 1), START + 31, "tFAW");
    timing.activate(START + 31, RANK + 1, 0);
    assert_eq!(timing.earliest_act(8 + 1), START + 4 + 31, "the window moves on");
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
fn a_refresh_closes_the_rank_for_trfc() {
    let mut timing = channel();
    timing.activate(START, OWN, 0);
    timing.activate(START, OTHER_RANK, 0);
    assert_eq!(timing.refresh(LATER, 0), 1, "one row was open");
    assert_eq!((timing.open_row(OWN), timing.open_row(OTHER_RANK)), (None, Some(0)));
    for bank in [OWN, GROUP, RANK] {
        assert_eq!(timing.earliest_act(bank), LATER + 514, "tRFC");
    }
    assert!(timing.earliest_act(OTHER_RANK + 1) < LATER, "the other rank goes on");
}

#[test]
fn a_refresh_waits_for_open_and_for_closing_rows() {
    let mut timing = channel();
    timing.activate(START, OWN, 0);
    timing.refresh(START + 10, 0);
    assert_eq!(timing.earliest_act(GROUP), START + 47 + 21 + 514, "tRAS + tRP + tRFC");
    let mut timing = channel();
    timing.activate(START, OWN, 0);
    timing.precharge(START + 60, OWN);
    timing.refresh(START + 61, 0);
    assert_eq!(timing.earliest_act(GROUP), START + 60 + 21 + 514, "tRP + tRFC");
}

#[test]
fn refreshes_are_due_every_trefi_rank_after_rank() {
    let mut timing = channel();
    let half = 11437 / 2;
    assert_eq!(timing.refresh_due(), half);
    assert_eq!((timing.rank_due(half - 1), timing.rank_due(half)), (None, Some(0)));
    timing.refresh(half, 0);
    assert_eq!(timing.refresh_due(), 11437);
    assert_eq!((timing.rank_due(11436), timing.rank_due(11437)), (None, Some(1)));
    timing.refresh(11437 + 40, 1);
    assert_eq!(timing.refresh_due(), half + 11437, "a late refresh does not delay the next");
    timing.refresh(half + 11437, 0);
    assert_eq!(timing.refresh_due(), 2 * 11437);
}

/// What happened, in order: clock, command, and bank (or rank).
type History = Vec<(u64, Command, usize)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Activate,
    Read,
    Write,
    Precharge,
    /// The clock is that of its start, after the rows were closed.
    Refresh,
}

/// A slow reading of the standard.
struct Standard {
    dram: DramParams,
    history: History,
}

impl Standard {
    fn group(&self, bank: usize) -> usize {
        bank / self.dram.banks_per_group as usize
    }

    fn rank(&self, bank: usize) -> usize {
        self.group(bank) / self.dram.bank_groups as usize
    }

    /// Clocks that must lie between two commands, if they have to do with each other.
    fn apart(&self, (command, bank): (Command, usize), (next, target): (Command, usize)) -> Option<u32> {
        use Command::*;
        let t = &self.dram.timing;
        let same_bank = bank == target;
        let same_group = self.group(bank) == self.group(target);
        let same_rank = match command {
            Refresh => bank == self.rank(target),
            _ => self.rank(bank) == self.rank(target),
        };
        Some(match (command, next) {
            (Activate, Activate) if same_bank => t.rc,
            (Activate, Activate) if same_group => t.rrd_l,
            (Activate, Activate) if same_rank => t.rrd_s,
            (Activate, Read | Write) if same_bank => t.rcd,
            (Activate, Precharge) if same_bank => t.ras,
            (Precharge, Activate) if same_bank => t.rp,
            (Refresh, Activate) if same_rank => t.rfc,
            (Read, Precharge) if same_bank => t.rtp,
            (Write, Precharge) if same_bank => t.cwl + t.burst + t.wr,
            (Read, Read) | (Write, Write) if same_group => t.ccd_l,
            (Read, Read) | (Write, Write) if same_rank => t.ccd_s,
            (Read, Read) => t.burst + t.rank_switch,
            (Write, Write) => t.burst,
            (Read, Write) if same_rank => (t.cl + t.burst + t.read_to_write - t.cwl).max(1),
            (Read, Write) => (t.cl + t.burst + t.rank_switch - t.cwl).max(1),
            (Write, Read) if same_group => t.cwl + t.burst + t.wtr_l,
            (Write, Read) if same_rank => t.cwl + t.burst + t.wtr_s,
            (Write, Read) => (t.cwl + t.burst + t.rank_switch).saturating_sub(t.cl).max(t.burst),
            _ => return None,
        })
    }

    /// The first clock at which `command` may go to `bank`.
    fn earliest(&self, command: Command, bank: usize) -> u64 {
        let pairs = self.history.iter().filter_map(|&(clock, earlier, at)| {
            self.apart((earlier, at), (command, bank)).map(|gap| clock + u64::from(gap))
        });
        let of_rank = |&&(_, earlier, at): &&(u64, Command, usize)| {
            earlier == Command::Activate && self.rank(at) == self.rank(bank)
        };
        let fourth = self.history.iter().rev().filter(of_rank).nth(3);
        let window = fourth.filter(|_| command == Command::Activate);
        let window = window.map(|&(clock, ..)| clock + u64::from(self.dram.timing.faw));
        pairs.chain(window).max().unwrap_or(0)
    }

    /// When a refresh that is asked for at `clock` starts: when every row is closed and at rest.
    fn refresh_start(&self, timing: &Timing, clock: u64, rank: usize) -> u64 {
        let banks = (0..self.banks()).filter(|&bank| self.rank(bank) == rank);
        let at_rest = banks.map(|bank| match timing.open_row(bank) {
            Some(_) => self.earliest(Command::Precharge, bank) + u64::from(self.dram.timing.rp),
            None => self.bank_at_rest(bank),
        });
        at_rest.max().unwrap_or(0).max(clock)
    }

    /// When a closed bank could be opened, as far as it alone is concerned.
    fn bank_at_rest(&self, bank: usize) -> u64 {
        let t = &self.dram.timing;
        let own = self.history.iter().filter_map(|&(clock, command, at)| match command {
            Command::Activate if at == bank => Some(clock + u64::from(t.rc)),
            Command::Precharge if at == bank => Some(clock + u64::from(t.rp)),
            Command::Refresh if at == self.rank(bank) => Some(clock + u64::from(t.rfc)),
            _ => None,
        });
        own.max().unwrap_or(0)
    }

    fn banks(&self) -> usize {
        (self.dram.ranks * self.dram.bank_groups * self.dram.banks_per_group) as usize
    }
}

fn timing_params() -> impl Strategy<Value = TimingParams> {
    let bus = (1_u32..6, 4_u32..20, 0_u32..6, 1_u32..20, 1_u32..20, 0_u32..4, 0_u32..4);
    let bank = (10_u32..50, 0_u32..30, 0_u32..25, 0_u32..20);
    let spread = (1_u32..8, 0_u32..8, 1_u32..8, 0_u32..8, 0_u32..10, 0_u32..10, 0_u32..60, 0_u32..200);
    (bus, bank, spread).prop_map(|(bus, bank, spread)| {
        let (burst, cwl, more_cl, rcd, rp, rank_switch, read_to_write) = bus;
        let (ras, more_rc, wr, rtp) = bank;
        let (ccd_s, more_ccd, rrd_s, more_rrd, wtr_s, more_wtr, faw, rfc) = spread;
        TimingParams {
            burst,
            cl: cwl + more_cl,
            cwl,
            rcd,
            rp,
            ras,
            rc: ras + more_rc,
            wr,
            rtp,
            ccd_s,
            ccd_l: ccd_s + more_ccd,
            ccd_l_wr: ccd_s + more_ccd,
            rrd_s,
            rrd_l: rrd_s + more_rrd,
            wtr_s,
            wtr_l: wtr_s + more_wtr,
            faw,
            ppd: 0,
            rfc,
            refi: 1000,
            rfc_sb: 0,
            refi_sb: 0,
            refsb_act: 0,
            refsb_refsb: 0,
            rank_switch,
            read_to_write,
            act_clocks: 1,
            cas_clocks: 1,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_sequence_is_timed_as_the_standard_has_it(
        shape in prop::sample::select(vec![(1, 1, 1), (1, 1, 4), (1, 4, 2), (2, 2, 2), (2, 1, 2), (4, 2, 1)]),
        timing in timing_params(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8, 0_u64..4), 1..80),
    ) {
        let dram = dram(shape.0, shape.1, shape.2, timing);
        let mut channel = Timing::new(&dram);
        let mut standard = Standard { dram, history: Vec::new() };
        let mut now = 0;
        for (index, choice, wait) in steps {
            let bank = index.index(standard.banks());
            let (command, allowed) = match (channel.open_row(bank).is_some(), choice) {
                (_, 7) => (Command::Refresh, now),
                (false, _) => (Command::Activate, channel.earliest_act(bank)),
                (true, 0..=2) => (Command::Read, channel.earliest_cas(bank, false)),
                (true, 3..=5) => (Command::Write, channel.earliest_cas(bank, true)),
                (true, _) => (Command::Precharge, channel.earliest_precharge(bank)),
            };
            if command == Command::Refresh {
                let rank = standard.rank(bank);
                let start = standard.refresh_start(&channel, now, rank);
                channel.refresh(now, rank);
                standard.history.push((start, command, rank));
                continue;
            }
            prop_assert_eq!(allowed, standard.earliest(command, bank), "{:?} of bank {} after {:?}", command, bank, standard.history);
            now = allowed.max(now) + wait;
            match command {
                Command::Activate => channel.activate(now, bank, 0),
                Command::Precharge => channel.precharge(now, bank),
                _ => channel.cas(now, bank, command == Command::Write),
            }
            standard.history.push((now, command, bank));
        }
    }
}
