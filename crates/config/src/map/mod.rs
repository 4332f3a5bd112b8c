//! Address maps: names, lists of fields and bit masks to a bijection between line addresses and places in DRAM.

mod fields;
mod named;
mod table;
#[cfg(test)]
mod tests;

use crate::code::Code;
use crate::error::Issue;
use crate::spec::MapSpec;
use hostnet_model::params::MapParams;

/// The lowest address bit above the line.
const LINE_BITS: u8 = 6;

/// How many places of each kind there are; all but the channels as powers of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) channels: u32,
    pub(crate) subchannel_bits: u8,
    pub(crate) rank_bits: u8,
    pub(crate) bank_group_bits: u8,
    pub(crate) bank_bits: u8,
    pub(crate) row_bits: u8,
    pub(crate) column_bits: u8,
}

impl Geometry {
    /// Bits of the channel number; none when it is a remainder.
    fn channel_bits(self) -> u8 {
        match self.channels.is_power_of_two() {
            true => self.channels.trailing_zeros() as u8,
            false => 0,
        }
    }

    /// The bit above the highest bit of the address that the masks see.
    fn address_bits(self) -> u8 {
        self.channel_address_bits() + self.channel_bits()
    }

    /// The same within one channel.
    pub(crate) fn channel_address_bits(self) -> u8 {
        let selectors = self.subchannel_bits + self.rank_bits + self.bank_group_bits + self.bank_bits;
        LINE_BITS + selectors + self.row_bits + self.column_bits
    }

    /// Bytes of all channels.
    pub(crate) fn capacity(self) -> u64 {
        u64::from(self.channels) << self.channel_address_bits()
    }

    fn bits(self, field: Field) -> u8 {
        match field {
            Field::Channel => self.channel_bits(),
            Field::Subchannel => self.subchannel_bits,
            Field::Rank => self.rank_bits,
            Field::BankGroup => self.bank_group_bits,
            Field::Bank => self.bank_bits,
            Field::Row => self.row_bits,
            Field::Column => self.column_bits,
        }
    }
}

/// A part of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Channel,
    Subchannel,
    Rank,
    BankGroup,
    Bank,
    Row,
    Column,
}

/// Makes the map. Errors name the field under `memory.map`.
pub(crate) fn build(spec: &MapSpec, geometry: Geometry) -> Result<MapParams, Issue> {
    match spec {
        MapSpec::Named(name) => named::build(name, geometry),
        MapSpec::Table(table) => table::build(table, geometry),
    }
}

/// The masks of every selector bit, lowest first.
#[derive(Clone, Debug, Default)]
struct Selectors {
    channel: Vec<u64>,
    subchannel: Vec<u64>,
    rank: Vec<u64>,
    bank_group: Vec<u64>,
    bank: Vec<u64>,
}

impl Selectors {
    /// The masks of a field; `None` for the row and the column, which are plain bits.
    fn of(&mut self, field: Field) -> Option<&mut Vec<u64>> {
        match field {
            Field::Channel => Some(&mut self.channel),
            Field::Subchannel => Some(&mut self.subchannel),
            Field::Rank => Some(&mut self.rank),
            Field::BankGroup => Some(&mut self.bank_group),
            Field::Bank => Some(&mut self.bank),
            Field::Row | Field::Column => None,
        }
    }

    /// Every mask with the name of its field, in the order in which they claim address bits.
    fn named(&self) -> Vec<(String, u64)> {
        let fields = [
            ("channel", &self.channel),
            ("subchannel", &self.subchannel),
            ("bank_group", &self.bank_group),
            ("bank", &self.bank),
            ("rank", &self.rank),
        ];
        let name = |field: &str, at: usize| format!("memory.map.{field}[{at}]");
        let entries = fields.into_iter().flat_map(|(field, masks)| masks.iter().enumerate().map(move |m| (field, m)));
        entries.map(|(field, (at, &mask))| (name(field, at), mask)).collect()
    }

    /// One address bit per mask that the other bits determine, by elimination over GF(2), looking only at the bits in
    /// `among`. That such bits exist makes the map a bijection.
    fn pivots(&self, among: u64) -> Result<Vec<u8>, Issue> {
        let mut reduced: Vec<(u8, u64)> = Vec::new();
        for (path, mask) in self.named() {
            let fold = |rest, &(pivot, row): &(u8, u64)| if rest >> pivot & 1 == 1 { rest ^ row } else { rest };
            let rest = reduced.iter().fold(mask & among, fold);
            if rest == 0 {
                let message = "is the sum of other masks of the map, so that two lines would lie in one place";
                return Err(Issue::between(Code::BadAddressMap, &[&path, "memory.map"], message));
            }
            reduced.push((rest.trailing_zeros() as u8, rest));
        }
        Ok(reduced.into_iter().map(|(pivot, _)| pivot).collect())
    }
}

/// The map of these selectors; row and column are the address bits that they leave.
fn derive(selectors: Selectors, channel_bytes: u64, geometry: Geometry) -> Result<MapParams, Issue> {
    let claimed = selectors.pivots(u64::MAX)?;
    let mut column: Vec<u8> = (LINE_BITS..geometry.address_bits()).filter(|bit| !claimed.contains(bit)).collect();
    let row = column.split_off(usize::from(geometry.column_bits));
    Ok(params(selectors, column, row, channel_bytes, geometry))
}

fn params(selectors: Selectors, column: Vec<u8>, row: Vec<u8>, channel_bytes: u64, geometry: Geometry) -> MapParams {
    let Selectors { channel, subchannel, rank, bank_group, bank } = selectors;
    let channel_bytes = if geometry.channels.is_power_of_two() { 0 } else { channel_bytes };
    MapParams { channels: geometry.channels, channel, channel_bytes, subchannel, rank, bank_group, bank, column, row }
}
