//! The timing rules as a table.
//!
//! A rule demands a least number of clocks between an event and a command in the same place. Rules that are no
//! distance between two commands are elsewhere: the state of the rows in `channel.rs`, missing refreshes in
//! `refresh.rs`.

use hostnet_model::memory::CommandKind;
use hostnet_params::TimingParams;

use CommandKind::{
    Activate, Precharge, PrechargeAll, Read, ReadPrecharge, Refresh, RefreshSameBank, Write, WritePrecharge,
};

/// Event from which a distance is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An ACT.
    Activate,
    /// An RD or RDA.
    Read,
    /// A WR or WRA.
    Write,
    /// A PRE or PREA, even if no row was open.
    Precharge,
    /// Begin of a precharge in a bank: at a PRE or PREA, or some clocks after an RDA or WRA.
    Close,
    /// A REF.
    Refresh,
    /// A REFSB.
    RefreshBanks,
    /// First clock at which the bus is free after the last command on it.
    BusFree,
}

impl Event {
    pub(crate) const COUNT: usize = 8;
}

/// Place of the event, relative to that of the command, for which a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// In a bank that the command addresses.
    Bank,
    /// In a bank that the command addresses, while its row is open. A PRE of a closed bank is harmless.
    Row,
    /// In the rank, in a bank that one REFSB would not refresh together with the command's bank.
    OtherBanks,
    /// In the same bank group.
    Group,
    /// In another bank group of the rank.
    OtherGroups,
    /// In the same rank.
    Rank,
    /// In the same rank, the fourth last event.
    RankFourBack,
    /// In another rank.
    OtherRanks,
    /// On the same command bus.
    Bus,
}

/// One rule of the table.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) from: Event,
    pub(crate) scope: Scope,
    pub(crate) to: &'static [CommandKind],
    pub(crate) clocks: fn(&TimingParams) -> u64,
}

const fn rule(
    name: &'static str,
    from: Event,
    scope: Scope,
    to: &'static [CommandKind],
    clocks: fn(&TimingParams) -> u64,
) -> Rule {
    Rule { name, from, scope, to, clocks }
}

const ANY: &[CommandKind] =
    &[Activate, Read, ReadPrecharge, Write, WritePrecharge, Precharge, PrechargeAll, Refresh, RefreshSameBank];
const ACT: &[CommandKind] = &[Activate];
const READS: &[CommandKind] = &[Read, ReadPrecharge];
const WRITES: &[CommandKind] = &[Write, WritePrecharge];
const COLUMN: &[CommandKind] = &[Read, ReadPrecharge, Write, WritePrecharge];
const PRECHARGES: &[CommandKind] = &[Precharge, PrechargeAll];
const CLOSED: &[CommandKind] = &[Activate, Refresh, RefreshSameBank];
const SAME_BANK: &[CommandKind] = &[RefreshSameBank];

/// All distances between commands. Of two rules that are short by equally many clocks the upper one is reported.
#[rustfmt::skip]
pub(crate) static RULES: &[Rule] = &[
    // Within a bank: JEDEC JESD79-4 and JESD79-5, speed bins and core timing.
    rule("tRCD",    Event::Activate, Scope::Bank, COLUMN,     |t| t.rcd.into()),
    rule("tRAS",    Event::Activate, Scope::Row,  PRECHARGES, |t| t.ras.into()),
    rule("tRC",     Event::Activate, Scope::Bank, ACT,        |t| t.rc.into()),
    rule("tRP",     Event::Close,    Scope::Bank, CLOSED,     |t| t.rp.into()),
    rule("tRTP",    Event::Read,     Scope::Row,  PRECHARGES, |t| t.rtp.into()),
    rule("tWR",     Event::Write,    Scope::Row,  PRECHARGES, write_to_precharge),
    // Activations and precharges of a rank: JESD79-4 and JESD79-5, "activate timing"; tPPD is from JESD79-5.
    rule("tRRD_L",  Event::Activate, Scope::Group,        ACT, |t| t.rrd_l.into()),
    rule("tRRD_S",  Event::Activate, Scope::OtherGroups,  ACT, |t| t.rrd_s.into()),
    rule("tFAW",    Event::Activate, Scope::RankFourBack, ACT, |t| t.faw.into()),
    rule("tPPD",    Event::Precharge, Scope::Rank, PRECHARGES, |t| t.ppd.into()),
    // Column accesses of a rank: JESD79-4 and JESD79-5, CAS to CAS and write to read; read to write as in "read burst
    // followed by write".
    rule("tCCD_L",    Event::Read,  Scope::Group,       READS,  |t| t.ccd_l.into()),
    rule("tCCD_S",    Event::Read,  Scope::OtherGroups, READS,  |t| t.ccd_s.into()),
    rule("tCCD_L_WR", Event::Write, Scope::Group,       WRITES, |t| t.ccd_l_wr.into()),
    rule("tCCD_S",    Event::Write, Scope::OtherGroups, WRITES, |t| t.ccd_s.into()),
    rule("tWTR_L",    Event::Write, Scope::Group,       READS,  |t| written(t) + u64::from(t.wtr_l)),
    rule("tWTR_S",    Event::Write, Scope::OtherGroups, READS,  |t| written(t) + u64::from(t.wtr_s)),
    rule("tRTW",      Event::Read,  Scope::Rank,        WRITES, read_to_write),
    // The data bus between ranks: bursts must not overlap, with a gap where the driver changes.
    rule("rank switch", Event::Read,  Scope::OtherRanks, READS,  |t| sum(&[t.burst, t.rank_switch])),
    rule("rank switch", Event::Write, Scope::OtherRanks, WRITES, |t| t.burst.into()),
    rule("rank switch", Event::Read,  Scope::OtherRanks, WRITES, read_to_write_elsewhere),
    rule("rank switch", Event::Write, Scope::OtherRanks, READS,  write_to_read_elsewhere),
    // Refresh: JESD79-4 (tRFC); JESD79-5 (tRFCsb, tREFSBRD) and JESD235 (tRFCSB, tRREFD).
    rule("tRFC",         Event::Refresh,      Scope::Rank,       ANY,       |t| t.rfc.into()),
    rule("tRFCsb",       Event::RefreshBanks, Scope::Bank,       ANY,       |t| t.rfc_sb.into()),
    rule("tREFSB_ACT",   Event::RefreshBanks, Scope::OtherBanks, ACT,       |t| t.refsb_act.into()),
    rule("tREFSB_REFSB", Event::RefreshBanks, Scope::Rank,       SAME_BANK, |t| t.refsb_refsb.into()),
    // One command at a time. The event lies at the end of the command, so the distance is 0.
    rule("command bus",  Event::BusFree,      Scope::Bus,        ANY,       |_| 0),
];

/// Name of the rule for banks that wait too long after a REF, or after the first command.
pub(crate) const STARVED: &str = "tREFI";
/// Name of the rule for banks that wait too long after a REFSB.
pub(crate) const STARVED_SAME_BANK: &str = "tREFIsb";
/// Name of the rule against ACT or refresh of an open bank, and against RD or WR of a closed one.
pub(crate) const ROW_STATE: &str = "row state";
/// Name of the rule against a clock below that of the previous command.
pub(crate) const CLOCK_ORDER: &str = "clock order";
/// Name of the rule against numbers that the device does not have.
pub(crate) const ORGANISATION: &str = "organisation";

/// Returns the names of all rules, each once, in the order in which they are checked.
pub fn rule_names() -> Vec<&'static str> {
    let mut names = vec![ORGANISATION, CLOCK_ORDER, ROW_STATE];
    names.extend(RULES.iter().map(|rule| rule.name));
    names.extend([STARVED, STARVED_SAME_BANK]);
    let mut once = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

/// Clocks from an RDA or WRA to its auto-precharge, unless tRAS delays that.
pub(crate) fn auto_precharge(timing: &TimingParams, write: bool) -> u64 {
    match write {
        true => write_to_precharge(timing),
        false => timing.rtp.into(),
    }
}

/// Number of clocks for which a command occupies its bus.
pub(crate) fn bus_clocks(timing: &TimingParams, kind: CommandKind) -> u64 {
    match kind {
        // ACT and the column commands of DDR5, and ACT of HBM, take two clocks (specs/dram).
        Activate => timing.act_clocks.into(),
        Read | ReadPrecharge | Write | WritePrecharge => timing.cas_clocks.into(),
        Precharge | PrechargeAll | Refresh | RefreshSameBank => 1,
    }
}

fn sum(clocks: &[u32]) -> u64 {
    clocks.iter().map(|&clocks| u64::from(clocks)).sum()
}

/// Clocks from a WR to the end of its data.
fn written(t: &TimingParams) -> u64 {
    sum(&[t.cwl, t.burst])
}

fn write_to_precharge(t: &TimingParams) -> u64 {
    sum(&[t.cwl, t.burst, t.wr])
}

fn read_to_write(t: &TimingParams) -> u64 {
    // Data of the write begins CWL after its command, so the command may come by so much earlier.
    less(sum(&[t.cl, t.burst, t.read_to_write]), t.cwl)
}

fn read_to_write_elsewhere(t: &TimingParams) -> u64 {
    less(sum(&[t.cl, t.burst, t.rank_switch]), t.cwl)
}

fn write_to_read_elsewhere(t: &TimingParams) -> u64 {
    // At least a burst: data of two ranks may not overlap however long CL is.
    less(sum(&[t.cwl, t.burst, t.rank_switch]), t.cl).max(t.burst.into())
}

/// Difference of latencies, at least 1: commands are at least a clock apart.
fn less(clocks: u64, latency: u32) -> u64 {
    clocks.saturating_sub(latency.into()).max(1)
}
