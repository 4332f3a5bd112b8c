//! Builds maps that are given by a name.

use super::table::CHANNEL_BYTES;
use super::{derive, fields, Field, Geometry, Selectors, LINE_BITS};
use crate::code::Code;
use crate::error::{nearest, Issue};
use crate::units::shorten;
use hostnet_params::MapParams;

/// Number of column bits below the first hashed selector: 6 bits are 64 lines of a row in one visit.
const COLUMN_LOW_BITS: u8 = 6;

/// Reference maps of memory simulators, by letter, as lists of fields. "C" is "A" with row bits folded in.
const REFERENCE: [(&str, &str); 3] = [("A", "bg co ba ra ro"), ("B", "co bg ba ra ro"), ("C", "bg co ba ra ro")];

/// Builds the map that `name` names or lists.
pub(super) fn build(name: &str, geometry: Geometry) -> Result<MapParams, Issue> {
    if name == "intel" {
        let channel_bytes = CHANNEL_BYTES.min(1 << geometry.channel_address_bits());
        return derive(intel(geometry), channel_bytes, geometry);
    }
    if let Some((letter, list)) = REFERENCE.iter().find(|(letter, _)| *letter == name) {
        let folded = if *letter == "C" { row_terms(geometry) } else { String::new() };
        return fields::build(&format!("{list}{folded}"), geometry);
    }
    match split_fields(name) {
        Some(fields) => fields::build(&in_order(&fields), geometry),
        None if fields::is_list(name) => fields::build(name, geometry),
        None => Err(unknown(name)),
    }
}

/// Returns the XOR terms that fold the lowest row bits into bank group, bank and rank, until the row bits run out.
fn row_terms(geometry: Geometry) -> String {
    let targets = [("bg", geometry.bank_group_bits), ("ba", geometry.bank_bits), ("ra", geometry.rank_bits)];
    let bits = targets.into_iter().flat_map(|(name, bits)| (0..bits).map(move |bit| (name, bit)));
    bits.zip(0..geometry.row_bits).map(|((name, bit), row)| format!("; {name}[{bit}]^=ro[{row}]")).collect()
}

/// Returns the selectors of the map "intel" for any geometry. One bank-group bit, the channel, the subchannel and,
/// above one column bit, one bank bit lie inside the page. A stream therefore keeps two banks of every channel busy
/// and soon moves to the next two. The other selectors follow above 64 lines of each of these banks. The higher bits
/// are folded into the selectors round robin, so that streams and strides spread evenly.
fn intel(geometry: Geometry) -> Selectors {
    let fine = fine_selectors(geometry);
    let coarse = coarse_selectors(geometry, &fine);
    let channels = [Field::Channel].repeat(usize::from(geometry.channel_bits()));
    let subchannels = [Field::Subchannel].repeat(usize::from(geometry.subchannel_bits));
    let (first, second) = fine.split_at(fine.len().min(1));
    let low = [first, &channels, &subchannels].concat();
    let column_low = geometry.column_bits.min(COLUMN_LOW_BITS);
    // Bit 6 is a column bit; a second one separates the first selectors from the rest of `fine`.
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
        if let Some(masks) = selectors.of(field) {
            masks.push(upper.fold(1 << bit, |mask, bit| mask | 1 << bit));
        }
    }
    selectors
}

/// Returns the selectors besides the channel that change inside the page: two at most.
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

/// Converts an order of whole fields from highest to lowest into a list from the lowest. If the order omits the bank
/// group, it becomes the lower part of the bank. The parser of the list likewise adds an omitted subchannel or
/// channel.
fn in_order(fields: &[&str]) -> String {
    let apart = fields.contains(&"Bg");
    let lower = |field: &&str| if *field == "Ba" && !apart { "bg ba".to_string() } else { field.to_lowercase() };
    fields.iter().rev().map(lower).collect::<Vec<_>>().join(" ")
}

/// Splits "RoBaRaCoCh" into its fields. `None` unless each field appears once (bank group and subchannel are
/// optional).
fn split_fields(name: &str) -> Option<Vec<&str>> {
    const FIELDS: [&str; 7] = ["Ro", "Ra", "Ba", "Co", "Ch", "Bg", "Sc"];
    const NEEDED: usize = 5;
    if !name.is_ascii() || !matches!(name.len(), 10 | 12 | 14) {
        return None;
    }
    let fields: Vec<&str> = (0..name.len()).step_by(2).map(|at| &name[at..at + 2]).collect();
    let count = |field: &str| fields.iter().filter(|other| **other == field).count();
    let known = fields.iter().all(|field| FIELDS.contains(field) && count(field) == 1);
    let complete = FIELDS[..NEEDED].iter().all(|field| count(field) == 1);
    (known && complete).then_some(fields)
}

fn unknown(name: &str) -> Issue {
    let near = nearest(name, ["intel", "RoBaRaCoCh", "RoRaBgBaCoCh"]);
    let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    let rule = "known are \"intel\", \"A\", \"B\", \"C\", orders of the fields Ro, Ra, Bg, Ba, Co, Ch, Sc such as \
                \"RoBaRaCoCh\", lists of fields from the lowest such as \"bg2 co7 ba2 ra1 ro16\", and tables of masks";
    Issue::new(Code::UnknownName, "memory.map", format!("{} is not a known map{near} ({rule})", shorten(name)))
}
