//! Resolves address maps. A name, a list of fields or a table of masks becomes a bijection between the addresses of
//! lines and their locations in DRAM.

mod fields;
mod named;
mod table;
#[cfg(test)]
mod tests;

use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{MapParams, MapSpec};

/// Lowest address bit above the offset in a line of 64 B.
const LINE_BITS: u8 = 6;

/// Numbers of channels, ranks, banks, rows and columns. All but the number of channels are powers of two and given in
/// bits.
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
    /// Returns the number of bits of the channel number; 0 if the channel is a remainder, as the number of channels
    /// is no power of two.
    fn channel_bits(self) -> u8 {
        match self.channels.is_power_of_two() {
            true => self.channels.trailing_zeros() as u8,
            false => 0,
        }
    }

    /// Returns the number of address bits that masks see, including the offset in a line.
    fn address_bits(self) -> u8 {
        self.channel_address_bits() + self.channel_bits()
    }

    /// Returns the number of address bits within one channel, including the offset in a line.
    pub(crate) fn channel_address_bits(self) -> u8 {
        let selectors = self.subchannel_bits + self.rank_bits + self.bank_group_bits + self.bank_bits;
        LINE_BITS + selectors + self.row_bits + self.column_bits
    }

    /// Returns the capacity of all channels, in bytes.
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

/// Coordinate of a location in DRAM.
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

/// Builds the map of `spec`. Errors name the field under `memory.map`.
pub(crate) fn build(spec: &MapSpec, geometry: Geometry) -> Result<MapParams, Issue> {
    match spec {
        MapSpec::Named(name) => named::build(name, geometry),
        MapSpec::Table(table) => table::build(table, geometry),
    }
}

/// Address masks of every selector bit, lowest bit first. The value of a selector bit is the XOR of the masked
/// address bits.
#[derive(Clone, Debug, Default)]
struct Selectors {
    channel: Vec<u64>,
    subchannel: Vec<u64>,
    rank: Vec<u64>,
    bank_group: Vec<u64>,
    bank: Vec<u64>,
}

impl Selectors {
    /// Returns the masks of a field; `None` for the row and the column, which are plain address bits.
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

    /// Returns every mask with the path of its field, in the order in which masks claim address bits.
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

    /// Returns one pivot bit per mask, found by elimination over GF(2) on the bits in `among`. The other address bits
    /// and the selectors determine the pivots. The map is a bijection if every mask has a pivot; otherwise returns an
    /// error.
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

/// Builds the map of `selectors`. The address bits that the selectors do not claim become the column (lower bits) and
/// the row.
fn derive(selectors: Selectors, channel_bytes: u64, geometry: Geometry) -> Result<MapParams, Issue> {
    let claimed = selectors.pivots(u64::MAX)?;
    let mut column: Vec<u8> = (LINE_BITS..geometry.address_bits()).filter(|bit| !claimed.contains(bit)).collect();
    let row = column.split_off(usize::from(geometry.column_bits));
    Ok(params(selectors, column, row, channel_bytes, geometry))
}

fn params(selectors: Selectors, column: Vec<u8>, row: Vec<u8>, channel_bytes: u64, geometry: Geometry) -> MapParams {
    let Selectors { channel, subchannel, rank, bank_group, bank } = selectors;
    // With a power of two, masks select the channel, and no remainder has a granularity.
    let channel_bytes = if geometry.channels.is_power_of_two() { 0 } else { channel_bytes };
    MapParams { channels: geometry.channels, channel, channel_bytes, subchannel, rank, bank_group, bank, column, row }
}
