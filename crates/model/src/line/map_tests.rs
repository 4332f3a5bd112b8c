use super::{memory_of_cluster, Decoder, DramAddress};
use crate::memory::timing_tests::{dram, DDR4_2933};
use crate::params::MapParams;
use std::collections::BTreeSet;

/// Returns the decoder of a channel of one bank, with the address bits that number its rows.
pub(crate) fn one_bank(row: &[u8]) -> Decoder {
    let map = MapParams {
        channels: 1,
        channel: Vec::new(),
        channel_bytes: 0,
        subchannel: Vec::new(),
        rank: Vec::new(),
        bank_group: Vec::new(),
        bank: Vec::new(),
        column: Vec::new(),
        row: row.to_vec(),
    };
    Decoder::new(&map, &dram(1, 1, 1, DDR4_2933))
}

/// Returns the map of some channels of two banks each.
fn map(channels: u32, channel: &[u64], channel_bytes: u64) -> MapParams {
    MapParams {
        channels,
        channel: channel.to_vec(),
        channel_bytes,
        subchannel: Vec::new(),
        rank: Vec::new(),
        bank_group: Vec::new(),
        bank: vec![1 << 9 | 1 << 12],
        column: vec![6, 7],
        row: vec![10, 11, 12, 13],
    }
}

#[test]
fn a_cluster_has_its_channels_and_every_place_once() {
    let maps = [(map(4, &[1 << 8 | 1 << 11, 1 << 14 | 1 << 12], 0), 2), (map(4, &[1 << 8, 1 << 14], 0), 4)];
    let turn = |channels, bytes, row: &[u8]| MapParams { row: row.to_vec(), ..map(channels, &[], bytes) };
    let turns = [(turn(6, 256, &[8, 10, 11, 12, 13]), 2), (turn(4, 128, &[8, 10, 11, 12, 13]), 4)];
    for (map, clusters) in maps.into_iter().chain(turns) {
        let decoder = Decoder::new(&map, &dram(1, 1, 2, DDR4_2933)).with_clusters(&map, clusters);
        let each = map.channels / clusters;
        let lines = 1 << (map.column.len() + map.row.len() + map.bank.len());
        for cluster in 0..clusters {
            let base = memory_of_cluster(0, cluster as u8) / 64;
            let place = |line| decoder.place(base + line);
            let places: Vec<DramAddress> = (0..lines * u64::from(each)).map(place).collect();
            let own = cluster * each..(cluster + 1) * each;
            assert!(places.iter().all(|place| own.contains(&u32::from(place.channel))), "{map:?}, {cluster}");
            let distinct: BTreeSet<_> =
                places.iter().map(|place| (place.channel, place.bank, place.row, place.column)).collect();
            assert_eq!(distinct.len(), places.len(), "{map:?}, {cluster}: two lines at one place");
        }
    }
}
