//! Generates controllers and their traffic.

use crate::memory::devices::any_device;
use hostnet_model::memory::DramAddress;
use hostnet_model::params::{
    DramParams, EntryRelease, IdleDrain, MemoryControllerParams, PagePolicy, Refresh, RowProtection, SameBank,
    SchedulingPolicy,
};
use proptest::prelude::*;

/// A request of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// Clock at which the request is offered first.
    pub(crate) clock: u64,
    pub(crate) place: DramAddress,
    pub(crate) read: bool,
}

/// A controller and its requests.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) dram: DramParams,
    pub(crate) params: MemoryControllerParams,
    /// Requests in the order in which they are offered. A refused request blocks all later ones.
    pub(crate) requests: Vec<Request>,
    /// True if a refused request is admitted as soon as an entry becomes free, before the next command is chosen.
    pub(crate) at_once: bool,
}

/// Returns a plain controller: first-ready, open rows, separate queues of 32 entries, no refresh. Writes are issued
/// as soon as there are no reads.
pub(crate) fn plain() -> MemoryControllerParams {
    MemoryControllerParams {
        rpq_entries: 32,
        wpq_entries: 32,
        wpq_full_threshold: 32,
        rpq_full_threshold: 32,
        shared_queue: false,
        entry_until: EntryRelease::Column,
        scheduler: SchedulingPolicy::ColumnFirst,
        protect: RowProtection::OlderHits,
        row_hold: u32::MAX,
        row_hits: 0,
        write_high: 26,
        write_low: 6,
        reads_per_mode: 0,
        reads_few: 0,
        writes_per_mode: u32::MAX,
        idle_drain: IdleDrain::Mode,
        idle_writes: 1,
        idle_reads: 0,
        idle_hits: 4096,
        idle_age: u32::MAX,
        idle_flush: u32::MAX,
        spare_writes: u32::MAX,
        spare_rows: false,
        spare_clocks: 1,
        page: PagePolicy::Open,
        idle_close: 0,
        write_auto_precharge: false,
        refresh: Refresh::Off,
        refresh_postponed: 0,
        refresh_holds_all: false,
        forwarding: true,
        merging: true,
    }
}

/// Returns a read or write of a line.
pub(crate) fn request(clock: u64, read: bool, bank: u8, row: u32, column: u16) -> Request {
    Request { clock, place: DramAddress { channel: 0, bank, column, row }, read }
}

fn any_of<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> impl Strategy<Value = T> {
    prop::sample::select(values.to_vec())
}

fn entries() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1), 1_u32..8, 1_u32..=128]
}

/// Generates any valid controller of a device.
fn any_params(dram: &DramParams) -> impl Strategy<Value = MemoryControllerParams> {
    let queues = (entries(), entries(), any::<bool>(), any_of(&[EntryRelease::Column, EntryRelease::Activation]));
    let order = (
        any_of(&[SchedulingPolicy::ColumnFirst, SchedulingPolicy::OldestReady, SchedulingPolicy::Fcfs]),
        any_of(&[RowProtection::Nothing, RowProtection::OlderHits, RowProtection::AllHits]),
        any_of(&[u32::MAX, u32::MAX, 0, 1, 40, 300]),
        any_of(&[0_u32, 0, 1, 2, 5]),
    );
    let drain = (any::<u32>(), any::<u32>(), 0_u32..20, 0_u32..6, prop_oneof![Just(u32::MAX), 1_u32..20]);
    let idle = (
        any_of(&[IdleDrain::Off, IdleDrain::Yield, IdleDrain::Mode]),
        prop_oneof![3 => Just(1_u32), 1 => 1_u32..5],
        0_u32..4,
        any_of(&[u32::MAX, 1, 3, 10]),
        any::<bool>(),
        any_of(&[4096, 0, 2]),
        any_of(&[u32::MAX, 0, 7, 60]),
        any_of(&[u32::MAX, u32::MAX, 0, 1, 9, 500]),
    );
    let page = (any_of(&[PagePolicy::Open, PagePolicy::Closed, PagePolicy::Timeout]), 0_u32..150, any::<bool>());
    let kinds = if dram.same_bank == SameBank::None {
        vec![Refresh::Off, Refresh::AllBanks, Refresh::AllBanks]
    } else {
        vec![Refresh::Off, Refresh::AllBanks, Refresh::SameBank, Refresh::SameBank]
    };
    let refresh = (prop::sample::select(kinds), 0..dram.postponed_max, any::<bool>());
    let snoop = (any::<bool>(), any::<bool>());
    (queues, order, drain, idle, page, refresh, snoop).prop_map(
        |(queues, order, drain, idle, page, refresh, (forwarding, merging))| {
            let (rpq_entries, wpq_entries, shared_queue, entry_until) = queues;
            let write_entries = if shared_queue { rpq_entries } else { wpq_entries };
            let write_high = 1 + drain.0 % write_entries;
            MemoryControllerParams {
                rpq_entries,
                wpq_entries,
                wpq_full_threshold: write_entries,
                rpq_full_threshold: rpq_entries,
                shared_queue,
                entry_until,
                scheduler: order.0,
                protect: order.1,
                row_hold: order.2,
                row_hits: order.3,
                write_high,
                write_low: drain.1 % write_high,
                reads_per_mode: drain.2,
                reads_few: drain.3,
                writes_per_mode: drain.4,
                idle_drain: idle.0,
                idle_writes: idle.1,
                idle_reads: idle.2,
                idle_hits: idle.5,
                idle_age: idle.6,
                idle_flush: if idle.0 == IdleDrain::Off { u32::MAX } else { idle.7 },
                spare_writes: idle.3,
                spare_rows: idle.4,
                spare_clocks: 1,
                page: page.0,
                idle_close: page.1,
                write_auto_precharge: page.2,
                refresh: refresh.0,
                refresh_postponed: refresh.1,
                refresh_holds_all: refresh.2,
                forwarding,
                merging,
            }
        },
    )
}

/// Generates traffic that concentrates on few banks and rows, in bursts and with pauses.
fn any_requests(dram: &DramParams) -> impl Strategy<Value = Vec<Request>> {
    let banks = dram.ranks * dram.bank_groups * dram.banks_per_group;
    let columns = dram.lines_per_row as u16;
    let gap = prop_oneof![12 => 0_u64..3, 4 => 0_u64..40, 1 => 0_u64..2000];
    let one = (gap, any::<u8>(), 0_u32..4, any::<u16>(), any::<u8>());
    let spread = (any_of(&[1_u32, 3, 64]), any_of(&[1_u16, 3, 128]), 0_u8..=255, 1_u32..=4);
    (prop::collection::vec(one, 1..160), spread).prop_map(move |(draws, (few_banks, few_columns, reads, rows))| {
        let mut clock = 0;
        let spread_banks = few_banks.min(banks);
        let stride = banks / spread_banks;
        let request = |(gap, bank, row, column, direction): (u64, u8, u32, u16, u8)| {
            clock += gap;
            let bank = (u32::from(bank) % spread_banks * stride) as u8;
            request(clock, direction <= reads, bank, row % rows, column % few_columns.min(columns))
        };
        draws.into_iter().map(request).collect()
    })
}

/// Generates any valid case.
pub(crate) fn any_case() -> impl Strategy<Value = Case> {
    any_device().prop_flat_map(|dram| {
        let parts = (any_params(&dram), any_requests(&dram), any::<bool>());
        parts.prop_map(move |(params, requests, at_once)| Case { dram: dram.clone(), params, requests, at_once })
    })
}
