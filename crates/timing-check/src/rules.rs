//! The timing rules as a table.
//!
//! A rule says: from an event to a command lie at least so many clocks, when both are in one place. What is no distance
//! between two commands stands elsewhere: the state of the rows in `channel.rs`, refreshes that stay away in
//! `refresh.rs`.

use hostnet_model::memory::CommandKind;
use hostnet_model::params::TimingParams;

use CommandKind::{
    Activate, Precharge, PrechargeAll, Read, ReadPrecharge, Refresh, RefreshSameBank, Write, WritePrecharge,
};

/// What a distance is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// ACT.
    Activate,
    /// RD or RDA.
    Read,
    /// WR or WRA.
    Write,
    /// PRE or PREA, whether or not a row was open.
    Precharge,
    /// A precharge begins in a bank: at PRE or PREA, or some clocks after RDA or WRA.
    Close,
    /// REF.
    Refresh,
    /// REFSB.
    RefreshBanks,
    /// The first clock at which the bus is free of the last command on it.
    BusFree,
}

impl Event {
    pub(crate) const COUNT: usize = 8;
}

/// Where the event must have been for the rule to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// In a bank that the command is for.
    Bank,
    /// In a bank that the command is for, while its row is open. PRE of a closed bank is harmless.
    Row,
    /// In the rank, for other banks than those that one REFSB would refresh together with the command's.
    OtherBanks,
    /// In the bank group.
    Group,
    /// In another bank group of the rank.
    OtherGroups,
    /// In the rank.
    Rank,
    /// In the rank, the last but three.
    RankFourBack,
    /// In another rank.
    OtherRanks,
    /// On the command bus.
    Bus,
}

/// One row of the table.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) from: Event,
    pub(crate) scope: Scope,
    pub(crate) to: &'static [CommandKind],
    pub(crate) clocks: fn(&TimingParams) -> u64,
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

/// Every distance between commands. Of two rules that lack equally many clocks the upper one is reported.
#[rustfmt::skip]
pub(crate) static RULES: &[Rule] = &[
    // Within a bank: JEDEC JESD79-4 and JESD79-5, speed bins and core timing.
    Rule { name: "tRCD",    from: Event::Activate, scope: Scope::Bank, to: COLUMN,     clocks: |t| t.rcd.into() },
    Rule { name: "tRAS",    from: Event::Activate, scope: Scope::Row,  to: PRECHARGES, clocks: |t| t.ras.into() },
    Rule { name: "tRC",     from: Event::Activate, scope: Scope::Bank, to: ACT,        clocks: |t| t.rc.into() },
    Rule { name: "tRP",     from: Event::Close,    scope: Scope::Bank, to: CLOSED,     clocks: |t| t.rp.into() },
    Rule { name: "tRTP",    from: Event::Read,     scope: Scope::Row,  to: PRECHARGES, clocks: |t| t.rtp.into() },
    Rule { name: "tWR",     from: Event::Write,    scope: Scope::Row,  to: PRECHARGES, clocks: write_to_precharge },
    // Activations and precharges of a rank: the same, "activate timing"; tPPD is of JESD79-5.
    Rule { name: "tRRD_L",  from: Event::Activate, scope: Scope::Group,        to: ACT, clocks: |t| t.rrd_l.into() },
    Rule { name: "tRRD_S",  from: Event::Activate, scope: Scope::OtherGroups,  to: ACT, clocks: |t| t.rrd_s.into() },
    Rule { name: "tFAW",    from: Event::Activate, scope: Scope::RankFourBack, to: ACT, clocks: |t| t.faw.into() },
    Rule { name: "tPPD",    from: Event::Precharge, scope: Scope::Rank, to: PRECHARGES, clocks: |t| t.ppd.into() },
    // Column accesses of a rank: the same, CAS to CAS and write to read; read to write as in "read burst followed by
    // write".
    Rule { name: "tCCD_L",    from: Event::Read,  scope: Scope::Group,       to: READS,  clocks: |t| t.ccd_l.into() },
    Rule { name: "tCCD_S",    from: Event::Read,  scope: Scope::OtherGroups, to: READS,  clocks: |t| t.ccd_s.into() },
    Rule { name: "tCCD_L_WR", from: Event::Write, scope: Scope::Group,       to: WRITES, clocks: |t| t.ccd_l_wr.into() },
    Rule { name: "tCCD_S",    from: Event::Write, scope: Scope::OtherGroups, to: WRITES, clocks: |t| t.ccd_s.into() },
    Rule { name: "tWTR_L",    from: Event::Write, scope: Scope::Group,       to: READS,  clocks: |t| written(t) + u64::from(t.wtr_l) },
    Rule { name: "tWTR_S",    from: Event::Write, scope: Scope::OtherGroups, to: READS,  clocks: |t| written(t) + u64::from(t.wtr_s) },
    Rule { name: "tRTW",      from: Event::Read,  scope: Scope::Rank,        to: WRITES, clocks: read_to_write },
    // The data bus between ranks: bursts must not overlap, with a gap where the driver changes.
    Rule { name: "rank switch", from: Event::Read,  scope: Scope::OtherRanks, to: READS,  clocks: |t| sum(&[t.burst, t.rank_switch]) },
    Rule { name: "rank switch", from: Event::Write, scope: Scope::OtherRanks, to: WRITES, clocks: |t| t.burst.into() },
    Rule { name: "rank switch", from: Event::Read,  scope: Scope::OtherRanks, to: WRITES, clocks: read_to_write_elsewhere },
    Rule { name: "rank switch", from: Event::Write, scope: Scope::OtherRanks, to: READS,  clocks: write_to_read_elsewhere },
    // Refresh: JESD79-4 (tRFC); JESD79-5 (tRFCsb, tREFSBRD) and JESD235 (tRFCSB, tRREFD).
    Rule { name: "tRFC",         from: Event::Refresh,      scope: Scope::Rank,       to: ANY,       clocks: |t| t.rfc.into() },
    Rule { name: "tRFCsb",       from: Event::RefreshBanks, scope: Scope::Bank,       to: ANY,       clocks: |t| t.rfc_sb.into() },
    Rule { name: "tREFSB_ACT",   from: Event::RefreshBanks, scope: Scope::OtherBanks, to: ACT,       clocks: |t| t.refsb_act.into() },
    Rule { name: "tREFSB_REFSB", from: Event::RefreshBanks, scope: Scope::Rank,       to: SAME_BANK, clocks: |t| t.refsb_refsb.into() },
    // One command at a time; the event already lies at the end of the command.
    Rule { name: "command bus",  from: Event::BusFree,      scope: Scope::Bus,        to: ANY,       clocks: |_| 0 },
];

/// Banks that have waited too long since a REF, or since the first command.
pub(crate) const STARVED: &str = "tREFI";
/// Banks that have waited too long since a REFSB.
pub(crate) const STARVED_SAME_BANK: &str = "tREFIsb";
/// ACT or a refresh of an open bank; RD or WR of a closed one.
pub(crate) const ROW_STATE: &str = "row state";
/// A clock below that of the command before.
pub(crate) const CLOCK_ORDER: &str = "clock order";
/// A number that the device does not have.
pub(crate) const ORGANISATION: &str = "organisation";

/// The names of all rules, each once, in the order in which they are checked.
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

/// RDA or WRA to the precharge that it begins by itself; tRAS may hold that up.
pub(crate) fn auto_precharge(timing: &TimingParams, write: bool) -> u64 {
    match write {
        true => write_to_precharge(timing),
        false => timing.rtp.into(),
    }
}

/// Clocks that a command occupies its bus.
pub(crate) fn bus_clocks(timing: &TimingParams, kind: CommandKind) -> u64 {
    match kind {
        Activate => timing.act_clocks.into(),
        Read | ReadPrecharge | Write | WritePrecharge => timing.cas_clocks.into(),
        Precharge | PrechargeAll | Refresh | RefreshSameBank => 1,
    }
}

fn sum(clocks: &[u32]) -> u64 {
    clocks.iter().map(|&clocks| u64::from(clocks)).sum()
}

/// WR to the end of its data.
fn written(t: &TimingParams) -> u64 {
    sum(&[t.cwl, t.burst])
}

fn write_to_precharge(t: &TimingParams) -> u64 {
    sum(&[t.cwl, t.burst, t.wr])
}

fn read_to_write(t: &TimingParams) -> u64 {
    less(sum(&[t.cl, t.burst, t.read_to_write]), t.cwl)
}

fn read_to_write_elsewhere(t: &TimingParams) -> u64 {
    less(sum(&[t.cl, t.burst, t.rank_switch]), t.cwl)
}

fn write_to_read_elsewhere(t: &TimingParams) -> u64 {
    less(sum(&[t.cwl, t.burst, t.rank_switch]), t.cl).max(t.burst.into())
}

/// A difference of latencies; commands are at least a clock apart.
fn less(clocks: u64, latency: u32) -> u64 {
    clocks.saturating_sub(latency.into()).max(1)
}
