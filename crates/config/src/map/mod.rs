//! Address maps: names and bit masks to a bijection between line addresses and places in DRAM.

mod named;

use crate::error::Issue;
use crate::spec::{MapSpec, MapTable};
use crate::units::shorten;
use hostnet_model::params::MapParams;

/// The lowest address bit above the line.
const LINE_BITS: u8 = 6;

/// How many places of each kind there are, as powers of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) channel_bits: u8,
    pub(crate) rank_bits: u8,
    pub(crate) bank_group_bits: u8,
    pub(crate) bank_bits: u8,
    pub(crate) row_bits: u8,
    pub(crate) column_bits: u8,
}

impl Geometry {
    /// The bit above the highest address bit.
    pub(crate) fn address_bits(self) -> u8 {
        LINE_BITS + self.selector_bits() + self.row_bits + self.column_bits
    }

    fn selector_bits(self) -> u8 {
        self.channel_bits + self.rank_bits + self.bank_group_bits + self.bank_bits
    }
}

/// Makes the map. Errors name the field under `memory.map`.
pub(crate) fn build(spec: &MapSpec, geometry: Geometry) -> Result<MapParams, Issue> {
    match spec {
        MapSpec::Named(name) => named::build(name, geometry),
        MapSpec::Table(table) => derive(Selectors::parse(table, geometry)?, geometry),
    }
}

/// The masks of every selector bit, lowest first.
#[derive(Clone, Debug, Default)]
struct Selectors {
    channel: Vec<u64>,
    rank: Vec<u64>,
    bank_group: Vec<u64>,
    bank: Vec<u64>,
}

impl Selectors {
    fn parse(table: &MapTable, geometry: Geometry) -> Result<Self, Issue> {
        let field = |name: &str, texts: &[String], bits: u8, count: &str| -> Result<Vec<u64>, Issue> {
            let path = format!("memory.map.{name}");
            if texts.len() != usize::from(bits) {
                let message = format!("{name} has {} masks; {count} = {} needs {bits}", texts.len(), 1u64 << bits);
                return Err(Issue::between(&[&path, count, "memory.map"], message));
            }
            let masks = texts.iter().enumerate();
            masks.map(|(at, text)| parse_mask(text, &format!("{path}[{at}]"), geometry)).collect()
        };
        Ok(Selectors {
            channel: field("channel", &table.channel, geometry.channel_bits, "memory.channels")?,
            rank: field("rank", &table.rank, geometry.rank_bits, "memory.dram.ranks")?,
            bank_group: field("bank_group", &table.bank_group, geometry.bank_group_bits, "memory.dram.bank_groups")?,
            bank: field("bank", &table.bank, geometry.bank_bits, "memory.dram.banks_per_group")?,
        })
    }

    /// Every mask with the name of its field, in the order in which they claim address bits.
    fn named(&self) -> Vec<(String, u64)> {
        let fields =
            [("channel", &self.channel), ("bank_group", &self.bank_group), ("bank", &self.bank), ("rank", &self.rank)];
        let name = |field: &str, at: usize| format!("memory.map.{field}[{at}]");
        let entries = fields.into_iter().flat_map(|(field, masks)| masks.iter().enumerate().map(move |m| (field, m)));
        entries.map(|(field, (at, &mask))| (name(field, at), mask)).collect()
    }
}

fn parse_mask(text: &str, path: &str, geometry: Geometry) -> Result<u64, Issue> {
    let mut mask = 0u64;
    for part in text.split('+') {
        let bit = part.trim().parse::<u8>().ok().filter(|_| part.trim().bytes().all(|byte| byte.is_ascii_digit()));
        let Some(bit) = bit else {
            return Err(Issue::new(
                path,
                format!("{} is not a sum of address bits such as \"8+13+17\"", shorten(text)),
            ));
        };
        if bit < LINE_BITS || bit >= geometry.address_bits() {
            let message =
                format!("bit {bit} is outside the address bits {LINE_BITS} to {}", geometry.address_bits() - 1);
            return Err(Issue::new(path, message));
        }
        if mask & (1 << bit) != 0 {
            return Err(Issue::new(path, format!("bit {bit} stands twice in {}", shorten(text))));
        }
        mask |= 1 << bit;
    }
    Ok(mask)
}

/// Finds one address bit per selector that the others determine, by elimination over GF(2); row and column are the
/// remaining bits. That such bits exist makes the map a bijection.
fn derive(selectors: Selectors, geometry: Geometry) -> Result<MapParams, Issue> {
    let mut reduced: Vec<(u8, u64)> = Vec::new();
    for (path, mask) in selectors.named() {
        let rest =
            reduced.iter().fold(mask, |rest, &(pivot, row)| if rest >> pivot & 1 == 1 { rest ^ row } else { rest });
        if rest == 0 {
            let message = "is the sum of other masks of the map, so that two lines would lie in one place";
            return Err(Issue::between(&[&path, "memory.map"], message));
        }
        reduced.push((rest.trailing_zeros() as u8, rest));
    }
    let claimed = |bit: &u8| reduced.iter().any(|(pivot, _)| pivot == bit);
    let mut column: Vec<u8> = (LINE_BITS..geometry.address_bits()).filter(|bit| !claimed(bit)).collect();
    let row = column.split_off(usize::from(geometry.column_bits));
    Ok(params(selectors, column, row, geometry))
}

fn params(selectors: Selectors, column: Vec<u8>, row: Vec<u8>, geometry: Geometry) -> MapParams {
    MapParams {
        channels: 1 << geometry.channel_bits,
        channel: selectors.channel,
        channel_bytes: 0,
        subchannel: vec![],
        rank: selectors.rank,
        bank_group: selectors.bank_group,
        bank: selectors.bank,
        column,
        row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn geometry(bits: [u8; 6]) -> Geometry {
        let [channel_bits, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits] = bits;
        Geometry { channel_bits, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits }
    }

    fn number(address: u64, masks: &[u64]) -> u64 {
        masks.iter().enumerate().map(|(at, mask)| u64::from((address & mask).count_ones() & 1) << at).sum()
    }

    fn place(address: u64, map: &MapParams) -> [u64; 6] {
        let field = |bits: &[u8]| bits.iter().enumerate().map(|(at, bit)| (address >> bit & 1) << at).sum();
        [
            number(address, &map.channel),
            number(address, &map.rank),
            number(address, &map.bank_group),
            number(address, &map.bank),
            field(&map.row),
            field(&map.column),
        ]
    }

    /// Every line has a place of its own, and every place lies inside the geometry.
    fn assert_bijective(map: &MapParams, geometry: Geometry) {
        let lines = 1u64 << (geometry.address_bits() - LINE_BITS);
        let places: BTreeSet<[u64; 6]> = (0..lines).map(|line| place(line << LINE_BITS, map)).collect();
        assert_eq!(places.len() as u64, lines, "{map:?}");
        let Geometry { channel_bits, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits } = geometry;
        let bits = [channel_bits, rank_bits, bank_group_bits, bank_bits, row_bits, column_bits];
        let inside = |place: &[u64; 6]| place.iter().zip(bits).all(|(&number, bits)| number < 1 << bits);
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
        let visited: Vec<[u64; 6]> = (0..256).map(|line| place(start + line * 64, &map)).collect();
        let banks: BTreeSet<[u64; 4]> = visited.iter().map(|p| [p[0], p[1], p[2], p[3]]).collect();
        assert_eq!(banks.len(), 8, "a contiguous run of 16 KiB lies in four banks of two channels");
        let share = visited.iter().filter(|p| [p[0], p[1], p[2], p[3]] == *banks.first().unwrap()).count();
        assert_eq!(share, 32);
    }

    #[test]
    fn streams_in_different_runs_spread_evenly_over_the_banks() {
        let map = named("intel", geometry([1, 1, 2, 2, 16, 7])).unwrap();
        for shift in 15..29 {
            let banks = (0..64u64).map(|stream| place(stream << shift, &map)).map(|p| [p[0], p[1], p[2], p[3]]);
            let distinct: BTreeSet<[u64; 4]> = banks.collect();
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
        let table =
            MapTable { channel: masks(&["6+9"]), rank: vec![], bank_group: masks(&["7"]), bank: masks(&["6+7+9"]) };
        let issue = build(&MapSpec::Table(table), geometry([1, 0, 1, 1, 2, 1])).unwrap_err();
        assert_eq!(issue.paths[0], "memory.map.bank[0]");
        assert!(issue.message.contains("sum of other masks"), "{}", issue.message);
    }

    fn small() -> impl Strategy<Value = Geometry> {
        (0u8..3, 0u8..2, 0u8..3, 0u8..3, 1u8..4, 1u8..8)
            .prop_map(|(channel, rank, group, bank, row, column)| geometry([channel, rank, group, bank, row, column]))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn named_maps_are_bijections(geometry in small(), name in prop::sample::select(vec![
            "intel", "RoBaRaCoCh", "ChRaBaRoCo", "RoRaBgBaCoCh", "CoChRoBgBaRa",
        ])) {
            assert_bijective(&named(name, geometry).unwrap(), geometry);
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
}
