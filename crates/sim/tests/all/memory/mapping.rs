//! Tests address maps: every line has its own place, and the place is where the map says.

use crate::memory::closed_form::fields;
use crate::memory::devices::{ddr4, ddr5, hbm2e};
use hostnet_model::memory::{Decoder, DramAddress};
use hostnet_model::params::{DramParams, MapParams, SameBank};
use proptest::prelude::*;

/// Returns a device with few lines: 2 subchannels, 2 ranks, 2 groups of 4 banks, 8 rows of 16 lines.
fn small() -> DramParams {
    DramParams {
        subchannels: 2,
        ranks: 2,
        bank_groups: 2,
        banks_per_group: 4,
        rows: 8,
        lines_per_row: 16,
        same_bank: SameBank::None,
        ..ddr4()
    }
}

/// Lines of a channel of this device.
const LINES: u64 = 1 << (1 + 1 + 1 + 2 + 3 + 4);

/// Generates maps with fields over shuffled bits, and rows mixed into banks, groups, ranks and subchannels.
fn any_map() -> impl Strategy<Value = MapParams> {
    let places = (Just((6_u8..18).collect::<Vec<_>>()).prop_shuffle(), prop::collection::vec(0_u64..8, 5));
    let channels = prop::sample::select(vec![1_u32, 2, 3, 4, 5, 6, 12]);
    (places, channels, 0_u32..7).prop_map(|((bits, mixes), channels, turn)| {
        let (column, rest) = bits.split_at(4);
        let (row, rest) = rest.split_at(3);
        let mixed = |index: usize| {
            let rows = row.iter().enumerate().filter(|(bit, _)| mixes[index] >> bit & 1 == 1);
            rows.fold(1_u64 << rest[index], |mask, (_, &bit)| mask | 1 << bit)
        };
        let turns = !channels.is_power_of_two();
        let selectors = if turns { 0 } else { channels.trailing_zeros() };
        MapParams {
            channels,
            channel: (0..selectors).map(|bit| 1 << (18 + bit) | 1 << row[bit as usize]).collect(),
            channel_bytes: if turns { 64 << turn } else { 0 },
            subchannel: vec![mixed(0)],
            rank: vec![mixed(1)],
            bank_group: vec![mixed(2)],
            bank: vec![mixed(3), mixed(4)],
            column: column.to_vec(),
            row: row.to_vec(),
        }
    })
}

/// Returns the number of a place, which the device must have.
fn number(dram: &DramParams, controllers: u64, place: DramAddress) -> usize {
    let banks = u64::from(dram.ranks * dram.bank_groups * dram.banks_per_group);
    assert!(u64::from(place.channel) < controllers && u64::from(place.bank) < banks);
    assert!(place.row < dram.rows && u32::from(place.column) < dram.lines_per_row);
    let bank = u64::from(place.channel) * banks + u64::from(place.bank);
    let row = bank * u64::from(dram.rows) + u64::from(place.row);
    (row * u64::from(dram.lines_per_row) + u64::from(place.column)) as usize
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn every_line_has_a_place_of_its_own(map in any_map()) {
        let dram = small();
        let decoder = Decoder::new(&map, &dram);
        prop_assert_eq!(decoder.controllers(), u64::from(map.channels * 2));
        let lines = LINES * u64::from(map.channels);
        let mut taken = vec![false; lines as usize];
        for line in 0..lines {
            let place = decoder.place(line);
            let number = number(&dram, decoder.controllers(), place);
            prop_assert!(!taken[number], "line {} lies at {:?}, which is taken", line, place);
            taken[number] = true;
        }
    }

    #[test]
    fn fields_lie_where_the_map_says(map in any_map(), line in 0..LINES) {
        let decoder = Decoder::new(&map, &small());
        let channels = u64::from(map.channels);
        // Line of the whole memory for a line of one channel, and the lines that a channel has in one turn.
        let (outer, turn) = match map.channel_bytes / 64 {
            0 => (line, 0),
            lines => (line / lines * lines * channels + line % lines, lines),
        };
        let place = decoder.place(outer);
        let address = line * 64;
        let parity = |mask: u64| u32::from((address & mask).count_ones() % 2 == 1);
        let number = |bits: &[u64]| (0..).zip(bits).map(|(at, &mask)| parity(mask) << at).sum::<u32>();
        let plain = |bits: &[u8]| number(&bits.iter().map(|&bit| 1 << bit).collect::<Vec<_>>());
        prop_assert_eq!(u32::from(place.column), plain(&map.column));
        prop_assert_eq!(place.row, plain(&map.row));
        let bank = number(&map.rank) << 3 | number(&map.bank_group) << 2 | number(&map.bank);
        prop_assert_eq!(u32::from(place.bank), bank);
        prop_assert_eq!(u32::from(place.channel), number(&map.channel) << 1 | number(&map.subchannel));
        if turn > 0 {
            let next = decoder.place(outer + turn);
            let same = DramAddress { channel: next.channel - 2, ..next };
            prop_assert_eq!(same, place, "the next channel has the next turn");
        }
    }
}

#[test]
fn consecutive_lines_go_where_they_should() {
    for (dram, channels) in [(ddr4(), 1), (ddr5(), 6), (hbm2e(), 4), (ddr5(), 2)] {
        let decoder = Decoder::new(&fields(&dram, channels), &dram);
        let turns = u64::from(channels * dram.subchannels);
        let mut seen: Vec<u8> = (0..turns).map(|line| decoder.place(line).channel).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..turns as u8).collect::<Vec<_>>(), "all controllers have one of the first lines");
        let next = decoder.place(turns);
        let group = dram.banks_per_group * (dram.bank_groups - 1).min(1);
        assert_eq!((next.row, u32::from(next.bank)), (0, group), "then comes the next bank group");
        let column = decoder.place(turns * u64::from(dram.bank_groups));
        assert_eq!((column.row, column.bank, column.column), (0, 0, 1), "then the next column");
    }
}
