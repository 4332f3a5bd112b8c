//! Tests that every map is a bijection and that named maps have their documented layout.

use super::*;
use crate::code::Code;
use hostnet_params::MapTable;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn geometry(bits: [u8; 6]) -> Geometry {
    let [channel_bits, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits] = bits;
    let channels = 1 << channel_bits;
    Geometry { channels, subchannel_bits: 0, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits }
}

fn number(address: u64, masks: &[u64]) -> u64 {
    masks.iter().enumerate().map(|(at, mask)| u64::from((address & mask).count_ones() & 1) << at).sum()
}

/// Returns the channel, subchannel, rank, bank group, bank, row and column of an address, as documented for
/// `MapParams`.
fn place(address: u64, map: &MapParams) -> [u64; 7] {
    let channels = u64::from(map.channels);
    let (channel, address) = match map.channel_bytes {
        0 => (number(address, &map.channel), address),
        bytes => (address / bytes % channels, address / (bytes * channels) * bytes + address % bytes),
    };
    let field = |bits: &[u8]| bits.iter().enumerate().map(|(at, bit)| (address >> bit & 1) << at).sum();
    [
        channel,
        number(address, &map.subchannel),
        number(address, &map.rank),
        number(address, &map.bank_group),
        number(address, &map.bank),
        field(&map.row),
        field(&map.column),
    ]
}

/// Returns the channel, rank, bank group and bank of an address.
fn bank_of(address: u64, map: &MapParams) -> [u64; 4] {
    let [channel, _, rank, group, bank, ..] = place(address, map);
    [channel, rank, group, bank]
}

/// Asserts that no two lines share a location in DRAM and that every location lies inside the geometry.
fn assert_bijective(map: &MapParams, geometry: Geometry) {
    let lines = geometry.capacity() >> LINE_BITS;
    let places: BTreeSet<[u64; 7]> = (0..lines).map(|line| place(line << LINE_BITS, map)).collect();
    assert_eq!(places.len() as u64, lines, "{map:?}");
    let Geometry { channels, subchannel_bits, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits } = geometry;
    let bits = [subchannel_bits, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits];
    let inside = |place: &[u64; 7]| {
        place[0] < u64::from(channels) && place[1..].iter().zip(bits).all(|(&number, bits)| number < 1 << bits)
    };
    assert!(places.iter().all(inside), "{map:?}");
}

fn named(name: &str, geometry: Geometry) -> Result<MapParams, Issue> {
    build(&MapSpec::Named(name.to_string()), geometry)
}

#[test]
fn the_intel_map_of_the_measured_server_has_the_measured_bits() {
    let map = named("intel", geometry([1, 1, 2, 2, 16, 7])).unwrap();
    assert_eq!(map.bank_group[0].trailing_zeros(), 7);
    assert_eq!(map.channel[0].trailing_zeros(), 8);
    assert_eq!(map.bank[0].trailing_zeros(), 10);
    let hashed = [map.rank[0], map.bank_group[1], map.bank[1]];
    assert!(hashed.iter().all(|mask| mask.trailing_zeros() >= 15 && mask.count_ones() >= 3));
    assert_eq!(map.column[..2], [6, 9]);
}

#[test]
fn the_intel_map_keeps_four_banks_of_every_channel_busy() {
    let map = named("intel", geometry([1, 1, 2, 2, 16, 7])).unwrap();
    let start = 0x1_2345 << 14;
    let visited: Vec<[u64; 4]> = (0..256).map(|line| bank_of(start + line * 64, &map)).collect();
    let banks: BTreeSet<[u64; 4]> = visited.iter().copied().collect();
    assert_eq!(banks.len(), 8, "a contiguous run of 16 KiB lies in four banks of two channels");
    assert_eq!(visited.iter().filter(|bank| *bank == banks.first().unwrap()).count(), 32);
}

#[test]
fn streams_in_different_runs_spread_evenly_over_the_banks() {
    let map = named("intel", geometry([1, 1, 2, 2, 16, 7])).unwrap();
    for shift in 15..29 {
        let distinct: BTreeSet<[u64; 4]> = (0..64u64).map(|stream| bank_of(stream << shift, &map)).collect();
        assert!(distinct.len() >= 32, "64 streams 2^{shift} bytes apart lie in {} banks", distinct.len());
    }
}

#[test]
fn plain_maps_follow_their_name() {
    let map = named("RoBaRaCoCh", geometry([1, 1, 1, 1, 3, 2])).unwrap();
    let bits = |masks: &[u64]| masks.iter().map(|mask| mask.trailing_zeros()).collect::<Vec<_>>();
    assert_eq!((bits(&map.channel), map.column.clone()), (vec![6], vec![7, 8]));
    assert_eq!((bits(&map.rank), bits(&map.bank_group), bits(&map.bank)), (vec![9], vec![10], vec![11]));
    assert_eq!(map.row, vec![12, 13, 14]);
}

#[test]
fn dependent_masks_are_refused_by_name() {
    let masks = |list: &[&str]| list.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    let table = MapTable {
        channel: masks(&["6+9"]),
        bank_group: masks(&["7"]),
        bank: masks(&["6+7+9"]),
        ..MapTable::default()
    };
    let issue = build(&MapSpec::Table(table), geometry([1, 0, 1, 1, 2, 1])).unwrap_err();
    assert_eq!((issue.code, issue.paths[0].as_str()), (Code::BadAddressMap, "memory.map.bank[0]"));
}

/// Returns the reference geometry: per channel two ranks, four bank groups of four banks, and 65536 rows of 128
/// lines.
fn reference(channels: u32) -> Geometry {
    Geometry { channels, ..geometry([0, 1, 2, 2, 16, 7]) }
}

fn plain_bits(masks: &[u64]) -> Vec<u32> {
    assert!(masks.iter().all(|mask| mask.count_ones() == 1));
    masks.iter().map(|mask| mask.trailing_zeros()).collect()
}

#[test]
fn the_reference_maps_are_their_lists() {
    for (letter, list) in [
        ("A", "bg2 co7 ba2 ra1 ro16"),
        ("B", "co7 bg2 ba2 ra1 ro16"),
        ("C", "bg2 co7 ba2 ra1 ro16; bg^=ro[1:0]; ba^=ro[3:2]; ra^=ro[4]"),
    ] {
        assert_eq!(named(letter, reference(1)), named(list, reference(1)), "{letter}");
    }
    let a = named("A", reference(1)).unwrap();
    assert_eq!((plain_bits(&a.bank_group), a.column), (vec![6, 7], (8..15).collect()));
    assert_eq!((plain_bits(&a.bank), plain_bits(&a.rank), a.row), (vec![15, 16], vec![17], (18..34).collect()));
    let c = named("C", reference(1)).unwrap();
    assert_eq!(c.bank_group, [1 << 6 | 1 << 18, 1 << 7 | 1 << 19]);
    assert_eq!((c.bank, c.rank), (vec![1 << 15 | 1 << 20, 1 << 16 | 1 << 21], vec![1 << 17 | 1 << 22]));
}

#[test]
fn split_fields_are_numbered_from_their_first_piece() {
    let map = named("co3 ch1 bg2 co4 ba ra ro", reference(2)).unwrap();
    assert_eq!(map.column, [6, 7, 8, 12, 13, 14, 15]);
    assert_eq!((plain_bits(&map.channel), plain_bits(&map.bank_group)), (vec![9], vec![10, 11]));
    assert_eq!(named("co3 ch bg co ba ra ro", reference(2)), named("co3 ch1 bg2 co ba2 ra1 ro16", reference(2)));
}

#[test]
fn channel_and_subchannel_without_a_place_are_the_lowest() {
    let geometry = Geometry { subchannel_bits: 1, ..reference(4) };
    let map = named("bg2 co7 ba2 ra1 ro16", geometry).unwrap();
    assert_eq!((plain_bits(&map.subchannel), plain_bits(&map.channel)), (vec![6], vec![7, 8]));
    let map = named("bg2 ch co7 ba2 ra1 ro16", geometry).unwrap();
    assert_eq!((plain_bits(&map.subchannel), plain_bits(&map.channel)), (vec![8], vec![9, 10]));
    let map = named("RoBaRaCoChBgSc", geometry).unwrap();
    assert_eq!((plain_bits(&map.subchannel), plain_bits(&map.channel)), (vec![6], vec![9, 10]));
}

#[test]
fn six_channels_take_turns_at_the_place_of_the_channel() {
    for (name, bytes) in [("intel", 256), ("RoBaRaCoCh", 64), ("co2 ch bg co ba ra ro", 256), ("A", 64)] {
        let map = named(name, reference(6)).unwrap();
        assert_eq!((map.channels, map.channel_bytes), (6, bytes), "{name}");
        assert_eq!(map.channel, [0; 0]);
        let turns: Vec<u64> = (0..12).map(|turn| place(turn * bytes, &map)[0]).collect();
        assert_eq!(turns, [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5], "{name}");
        let last = place(reference(6).capacity() - 64, &map);
        assert_eq!((last[0], last[5], last[6]), (5, 65535, 127), "{name}");
    }
}

#[test]
fn tables_say_how_channels_that_are_no_power_of_two_take_turns() {
    let masks = |list: &[&str]| list.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    let table = |channel_bytes: Option<u64>, channel: &[&str]| {
        let channel_bytes = channel_bytes.map(hostnet_params::Size);
        let table = MapTable { channel: masks(channel), channel_bytes, rank: masks(&["9"]), ..MapTable::default() };
        MapSpec::Table(table)
    };
    let three = Geometry { channels: 3, ..geometry([0, 1, 0, 0, 3, 2]) };
    assert_eq!(build(&table(None, &[]), three).unwrap().channel_bytes, 256);
    let most = 64 << 6;
    assert_bijective(&build(&table(Some(most), &[]), three).unwrap(), three);
    let says = |spec: &MapSpec, geometry, code: Code, path: &str| {
        let issue = build(spec, geometry).unwrap_err();
        assert_eq!((issue.code, issue.paths[0].as_str()), (code, path), "{}", issue.message);
    };
    says(&table(Some(2 * most), &[]), three, Code::BadAddressMap, "memory.map.channel_bytes");
    says(&table(None, &["8"]), three, Code::BadAddressMap, "memory.map.channel");
    says(&table(Some(256), &["8"]), geometry([1, 1, 0, 0, 3, 2]), Code::NoEffect, "memory.map.channel_bytes");
}

#[test]
fn wrong_lists_are_explained() {
    let cases = [
        ("bg2 co6 ba2 ra1 ro16", "memory.dram.row_size"),
        ("bg2 co8 ba2 ra1 ro16", "memory.dram.row_size"),
        ("co7 ba2 ra1 ro16", "memory.dram.bank_groups"),
        ("bg co ba ra ro; bg^=ro[2:0]", "2 bits"),
        ("bg co ba ra ro; bg^=ro[16]", "\"ro[16]\""),
        ("bg co ba ra ro; bg^=ro[0:1]", "\"ro[0:1]\""),
        ("bg co ba ra ro; ro[0]^=bg[0]", "\"ro[0]^=bg[0]\""),
        ("bg co ba ra ro; bg=ro", "\"bg=ro\""),
        ("bg co ba ra ro; bg^=bg", ""),
        ("bg co ba ra ro; bg^=ba; ba^=bg", ""),
        ("bg co bk ra ro", "\"bk\""),
        ("bg co7x ba ra ro", "\"co7x\""),
        ("bg co300 ba ra ro", "\"co300\""),
        ("bg ch2 co ba ra ro", "memory.channels"),
    ];
    for (list, part) in cases {
        let issue = named(list, reference(2)).unwrap_err();
        assert!(issue.code == Code::BadAddressMap && issue.message.contains(part), "{list}: {}", issue.message);
    }
    for list in ["bg ch1 co ba ra ro", "bg ch co ch ba ra ro"] {
        let issue = named(list, reference(6)).unwrap_err();
        assert!(issue.code == Code::BadAddressMap && issue.message.contains("\"ch\""), "{list}: {}", issue.message);
    }
}

fn small() -> impl Strategy<Value = Geometry> {
    let channels = prop::sample::select(vec![1u32, 2, 3, 4, 6]);
    (channels, 0u8..2, 0u8..2, 0u8..3, 0u8..3, 1u8..4, 1u8..7).prop_map(
        |(channels, subchannel_bits, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits)| Geometry {
            channels,
            subchannel_bits,
            rank_bits,
            bank_group_bits,
            bank_bits,
            row_bits,
            column_bits,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn named_maps_are_bijections(geometry in small(), name in prop::sample::select(vec![
        "intel", "RoBaRaCoCh", "ChRaBaRoCo", "RoRaBgBaCoCh", "CoChRoBgBaRa", "RoScBaRaCoCh", "A", "B", "C",
        "co1 bg ch co ra ba ro", "ro1 sc co ba ch ra bg ro; sc^=ro[0]", "bg ba co1 ra ro; ra^=ra",
    ])) {
        match named(name, geometry) {
            Ok(map) => assert_bijective(&map, geometry),
            Err(issue) => prop_assert!(name.contains('^'), "{name}: {}", issue.message),
        }
    }

    #[test]
    fn no_list_is_a_panic(
        fields in "((ch|sc|bg|ba|ra|ro|co)[0-9]{0,2} ){1,7}",
        terms in "(; ?(bg|ba|ro)(\\[[0-9]:?[0-9]?\\])?\\^=(ro|co)(\\[[0-9]\\])?){0,3}",
    ) {
        let list = fields + &terms;
        let geometry = Geometry { channels: 2, ..geometry([1, 1, 1, 1, 3, 2]) };
        if let Ok(map) = named(&list, geometry) {
            assert_bijective(&map, geometry);
        }
    }

    #[test]
    fn tables_of_masks_are_bijections_or_refused(masks in prop::collection::vec(1u64..1 << 9, 4)) {
        let geometry = geometry([1, 1, 1, 1, 3, 2]);
        let text = |mask: u64| {
            let bits = (0..9).filter(|bit| mask >> bit & 1 == 1).map(|bit| (bit + 6).to_string());
            vec![bits.collect::<Vec<_>>().join("+")]
        };
        let table = MapTable {
            channel: text(masks[0]),
            rank: text(masks[1]),
            bank_group: text(masks[2]),
            bank: text(masks[3]),
            ..MapTable::default()
        };
        let independent = (1..16u32).all(|subset| {
            masks.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1).fold(0, |sum, (_, mask)| sum ^ mask) != 0
        });
        match build(&MapSpec::Table(table), geometry) {
            Ok(map) => {
                prop_assert!(independent);
                assert_bijective(&map, geometry);
            }
            Err(_) => prop_assert!(!independent),
        }
    }
}
