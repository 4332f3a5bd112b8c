//! Maps that have a name.

use super::{derive, params, Geometry, Selectors, LINE_BITS};
use crate::error::{nearest, Issue};
use crate::units::shorten;
use hostnet_model::params::MapParams;

/// Address bits of the column below the first bit of a hashed selector: 64 lines of a row in one visit.
const COLUMN_LOW_BITS: u8 = 6;

#[derive(Clone, Copy)]
enum Field {
    Channel,
    Rank,
    BankGroup,
    Bank,
}

/// Makes the map named `name`.
pub(super) fn build(name: &str, geometry: Geometry) -> Result<MapParams, Issue> {
    if name == "intel" {
        return derive(intel(geometry), geometry);
    }
    match split_fields(name) {
        Some(fields) => Ok(plain(&fields, geometry)),
        None => Err(unknown(name)),
    }
}

/// The map named "intel", for any geometry. One bank-group bit, the channel, and above one column bit one bank bit
/// lie inside the page, so that a stream keeps two banks of every channel busy and soon moves to the next two; the
/// other selectors follow above 64 lines of each of these banks. Every higher bit is folded into one selector in
/// turn, so that streams and strides spread evenly.
fn intel(geometry: Geometry) -> Selectors {
    let fine = fine_selectors(geometry);
    let coarse = coarse_selectors(geometry, &fine);
    let channels = [Field::Channel].repeat(usize::from(geometry.channel_bits));
    let (first, second) = fine.split_at(fine.len().min(1));
    let low = [first, &channels].concat();
    let column_low = geometry.column_bits.min(COLUMN_LOW_BITS);
    let skipped_start = LINE_BITS + 1 + low.len() as u8 + u8::from(column_low > 1);
    let low_start = LINE_BITS + 1;
    let coarse_start = LINE_BITS + column_low + (low.len() + second.len()) as u8;
    let upper_start = coarse_start + coarse.len() as u8;
    let places: Vec<(Field, u8)> = low
        .into_iter()
        .zip(low_start..)
        .chain(second.iter().copied().zip(skipped_start..))
        .chain(coarse.into_iter().zip(coarse_start..))
        .collect();
    let mut selectors = Selectors::default();
    for (at, &(field, bit)) in places.iter().enumerate() {
        let upper = (upper_start..geometry.address_bits()).skip(at).step_by(places.len());
        selectors.of(field).push(upper.fold(1 << bit, |mask, bit| mask | 1 << bit));
    }
    selectors
}

/// The selectors that change inside the page, besides the channel: two at most.
fn fine_selectors(geometry: Geometry) -> Vec<Field> {
    let groups = usize::from(geometry.bank_group_bits.min(1));
    let banks = usize::from(geometry.bank_bits).min(2 - groups);
    [[Field::BankGroup].repeat(groups), [Field::Bank].repeat(banks)].concat()
}

fn coarse_selectors(geometry: Geometry, fine: &[Field]) -> Vec<Field> {
    let banks = fine.iter().filter(|field| matches!(field, Field::Bank)).count();
    let groups = fine.len() - banks;
    [
        [Field::Rank].repeat(usize::from(geometry.rank_bits)),
        [Field::BankGroup].repeat(usize::from(geometry.bank_group_bits) - groups),
        [Field::Bank].repeat(usize::from(geometry.bank_bits) - banks),
    ]
    .concat()
}

impl Selectors {
    fn of(&mut self, field: Field) -> &mut Vec<u64> {
        match field {
            Field::Channel => &mut self.channel,
            Field::Rank => &mut self.rank,
            Field::BankGroup => &mut self.bank_group,
            Field::Bank => &mut self.bank,
        }
    }
}

/// A map of plain bit fields, given from the highest to the lowest.
fn plain(fields: &[&str], geometry: Geometry) -> MapParams {
    let mut selectors = Selectors::default();
    let (mut column, mut row) = (Vec::new(), Vec::new());
    let mut next = LINE_BITS;
    for field in with_bank_group(fields).into_iter().rev() {
        let width = width(field, geometry);
        let bits = next..next + width;
        next += width;
        let masks = bits.clone().map(|bit| 1u64 << bit).collect();
        match field {
            "Ch" => selectors.channel = masks,
            "Ra" => selectors.rank = masks,
            "Bg" => selectors.bank_group = masks,
            "Ba" => selectors.bank = masks,
            "Co" => column = bits.collect(),
            _ => row = bits.collect(),
        }
    }
    params(selectors, column, row, geometry)
}

/// Without a place of its own the bank group is the lower part of the bank.
fn with_bank_group<'a>(fields: &[&'a str]) -> Vec<&'a str> {
    let apart = fields.contains(&"Bg");
    let expand = |&field: &&'a str| if field == "Ba" && !apart { vec!["Ba", "Bg"] } else { vec![field] };
    fields.iter().flat_map(expand).collect()
}

fn width(field: &str, geometry: Geometry) -> u8 {
    match field {
        "Ch" => geometry.channel_bits,
        "Ra" => geometry.rank_bits,
        "Bg" => geometry.bank_group_bits,
        "Ba" => geometry.bank_bits,
        "Co" => geometry.column_bits,
        _ => geometry.row_bits,
    }
}

/// Cuts "RoBaRaCoCh" into its fields; `None` unless each stands once (the bank group may be left to the bank).
fn split_fields(name: &str) -> Option<Vec<&str>> {
    const FIELDS: [&str; 6] = ["Ro", "Ra", "Ba", "Co", "Ch", "Bg"];
    if !name.is_ascii() || !matches!(name.len(), 10 | 12) {
        return None;
    }
    let fields: Vec<&str> = (0..name.len()).step_by(2).map(|at| &name[at..at + 2]).collect();
    let once = |field: &&str| fields.iter().filter(|other| *other == field).count() == 1;
    let complete = FIELDS[..fields.len()].iter().all(once);
    complete.then_some(fields)
}

fn unknown(name: &str) -> Issue {
    let near = nearest(name, ["intel", "RoBaRaCoCh", "RoRaBgBaCoCh"]);
    let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    let rule =
        "known are \"intel\", orders of the fields Ro, Ra, Bg, Ba, Co, Ch such as \"RoBaRaCoCh\", and tables of masks";
    Issue::new("memory.map", format!("{} is not a known map{near} ({rule})", shorten(name)))
}
