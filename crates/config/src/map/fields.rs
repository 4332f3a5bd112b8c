//! Parses maps that are given as a list of fields from the lowest address bit up, with XOR terms: "bg2 co7 ba2 ra1
//! ro16; bg^=ro[1:0]".

use super::{params, Field, Geometry, Selectors, LINE_BITS};
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::units::shorten;
use hostnet_params::MapParams;

const FIELDS: [(&str, Field, &str); 7] = [
    ("ch", Field::Channel, "memory.channels"),
    ("sc", Field::Subchannel, "memory.dram.subchannels"),
    ("bg", Field::BankGroup, "memory.dram.bank_groups"),
    ("ba", Field::Bank, "memory.dram.banks_per_group"),
    ("ra", Field::Rank, "memory.dram.ranks"),
    ("ro", Field::Row, "memory.dram.rows"),
    ("co", Field::Column, "memory.dram.row_size"),
];

/// Returns true if `text` looks like a list of fields.
pub(super) fn is_list(text: &str) -> bool {
    let first = text.split([' ', ';']).next().unwrap_or_default();
    first.get(..2).is_some_and(|name| FIELDS.iter().any(|(known, ..)| *known == name)) || text.contains(';')
}

/// Builds the map of a list of fields.
pub(super) fn build(text: &str, geometry: Geometry) -> Result<MapParams, Issue> {
    let mut parts = text.split(';');
    let pieces = with_channel(pieces(parts.next().unwrap_or_default())?);
    let places = Places::of(&pieces, geometry)?;
    let mut selectors = Selectors::default();
    for (_, field, _) in FIELDS {
        if let Some(masks) = selectors.of(field) {
            *masks = places.bits(field).iter().map(|bit| 1 << bit).collect();
        }
    }
    let own = selectors.named().iter().fold(0, |all, (_, mask)| all | mask);
    for term in parts.filter(|term| !term.trim().is_empty()) {
        apply(term.trim(), &places, &mut selectors)?;
    }
    // Row and column are plain bits, so the map is a bijection if the selectors are invertible in their own bits.
    selectors.pivots(own)?;
    let (column, row) = (places.bits(Field::Column).to_vec(), places.bits(Field::Row).to_vec());
    Ok(params(selectors, column, row, places.channel_bytes, geometry))
}

fn fail<T>(message: String) -> Result<T, Issue> {
    Err(Issue::new(Code::BadAddressMap, "memory.map", message))
}

/// Contiguous bits of one field. Without a width, all remaining bits of the field.
#[derive(Clone, Copy, Debug)]
struct Piece {
    field: Field,
    width: Option<u8>,
}

fn pieces(text: &str) -> Result<Vec<Piece>, Issue> {
    text.split_whitespace()
        .map(|word| {
            let digits = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
            let (name, width) = word.split_at(digits);
            let field = named(name)?;
            match width.parse() {
                Ok(width) => Ok(Piece { field, width: Some(width) }),
                Err(_) if width.is_empty() => Ok(Piece { field, width: None }),
                Err(_) => fail(format!("{} is not a field and its bits such as \"co7\"", shorten(word))),
            }
        })
        .collect()
}

fn named(name: &str) -> Result<Field, Issue> {
    match FIELDS.iter().find(|(known, ..)| *known == name) {
        Some((_, field, _)) => Ok(*field),
        None => {
            let known = FIELDS.map(|(name, ..)| name);
            fail(format!("{} is not a field of an address; {}", shorten(name), suggestion(name, known)))
        }
    }
}

fn name_of(field: Field) -> (&'static str, &'static str) {
    FIELDS.iter().find(|(_, known, _)| *known == field).map_or(("", ""), |(name, _, key)| (name, key))
}

/// Adds the channel and the subchannel if the list omits them: the channel as the lowest field, the subchannel
/// directly below the channel.
fn with_channel(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let place = |pieces: &[Piece], field| pieces.iter().position(|piece| piece.field == field);
    if place(&pieces, Field::Channel).is_none() {
        pieces.insert(0, Piece { field: Field::Channel, width: None });
    }
    if place(&pieces, Field::Subchannel).is_none() {
        let at = place(&pieces, Field::Channel).unwrap_or(0);
        pieces.insert(at, Piece { field: Field::Subchannel, width: None });
    }
    pieces
}

/// Address bits of every field, lowest first.
struct Places {
    bits: Vec<(Field, Vec<u8>)>,
    /// Number of consecutive bytes of one channel.
    channel_bytes: u64,
}

impl Places {
    fn of(pieces: &[Piece], geometry: Geometry) -> Result<Self, Issue> {
        let mut places = Places { bits: FIELDS.map(|(_, field, _)| (field, Vec::new())).to_vec(), channel_bytes: 0 };
        let mut next = LINE_BITS;
        for (at, piece) in pieces.iter().enumerate() {
            if piece.field == Field::Channel {
                places.check_channel(piece, &pieces[..at], geometry)?;
                places.channel_bytes = 1 << next;
            }
            let left = geometry.bits(piece.field).saturating_sub(places.bits(piece.field).len() as u8);
            let width = piece.width.unwrap_or(left);
            if width > left {
                return Err(wrong_width(
                    piece.field,
                    places.bits(piece.field).len() as u32 + u32::from(width),
                    geometry,
                ));
            }
            let bits = places.bits.iter_mut().find(|(field, _)| *field == piece.field);
            bits.into_iter().for_each(|(_, bits)| bits.extend(next..next + width));
            next += width;
        }
        for (field, bits) in &places.bits {
            if bits.len() != usize::from(geometry.bits(*field)) {
                return Err(wrong_width(*field, bits.len() as u32, geometry));
            }
        }
        Ok(places)
    }

    /// Checks the width of the channel field. If the number of channels is no power of two, the channel number is a
    /// remainder, so the field must appear once and without a width.
    fn check_channel(&self, piece: &Piece, before: &[Piece], geometry: Geometry) -> Result<(), Issue> {
        let again = before.iter().any(|other| other.field == Field::Channel);
        if geometry.channels.is_power_of_two() || (piece.width.is_none() && !again) {
            return Ok(());
        }
        let rule = "is no power of two, so that \"ch\" stands once and without a width";
        let message = format!("memory.channels = {} {rule}", geometry.channels);
        Err(Issue::between(Code::BadAddressMap, &["memory.map", "memory.channels"], message))
    }

    fn bits(&self, field: Field) -> &[u8] {
        self.bits.iter().find(|(known, _)| *known == field).map_or(&[], |(_, bits)| bits)
    }

    /// Returns the field, the lowest index and the address bits of a slice such as "ro[3:1]", "ro[3]" or "ro".
    fn slice(&self, text: &str) -> Result<(Field, usize, &[u8]), Issue> {
        let (name, range) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((name, range)) => (name.trim(), Some(range)),
            None => (text, None),
        };
        let field = named(name)?;
        let bits = self.bits(field);
        let Some(range) = range else {
            return Ok((field, 0, bits));
        };
        let number = |text: &str| text.trim().parse::<u8>().ok().map(usize::from);
        let (high, low) = range.split_once(':').unwrap_or((range, range));
        let (Some(high), Some(low)) = (number(high), number(low)) else {
            return fail(format!("{} is not a field and its bits such as \"ro[3:1]\"", shorten(text)));
        };
        match bits.get(low..high + 1).filter(|slice| !slice.is_empty()) {
            Some(slice) => Ok((field, low, slice)),
            None => fail(format!("{} does not exist; {name} has {} bits, from 0", shorten(text), bits.len())),
        }
    }
}

fn wrong_width(field: Field, width: u32, geometry: Geometry) -> Issue {
    let (name, key) = name_of(field);
    let message = format!("{name} has {width} bits in the list; {key} makes them {}", geometry.bits(field));
    Issue::between(Code::BadAddressMap, &["memory.map", key, "memory.dram", "memory.device"], message)
}

/// Applies an XOR term: adds the address bits of one field to the masks of another.
fn apply(term: &str, places: &Places, selectors: &mut Selectors) -> Result<(), Issue> {
    let Some((target, source)) = term.split_once("^=") else {
        return fail(format!("{} is not an XOR term such as \"bg^=ro[1:0]\"", shorten(term)));
    };
    let (field, low, bits) = places.slice(target.trim())?;
    let (_, _, sources) = places.slice(source.trim())?;
    if bits.len() != sources.len() {
        let count = format!("{} bits on the left and {} on the right", bits.len(), sources.len());
        return fail(format!("{} has {count} of \"^=\"", shorten(term)));
    }
    let Some(masks) = selectors.of(field) else {
        return fail(format!("{} changes the row or the column; XOR terms change the others", shorten(term)));
    };
    masks[low..].iter_mut().zip(sources).for_each(|(mask, bit)| *mask ^= 1 << bit);
    Ok(())
}
