//! Builds maps that are given as address bits of each selector.

use super::{derive, Geometry, Selectors, LINE_BITS};
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, shorten, Dimension};
use hostnet_params::{MapParams, MapTable, Size};

/// Default number of consecutive bytes of one channel, if the number of channels is no power of two.
pub(super) const CHANNEL_BYTES: u64 = 256;

pub(super) fn build(table: &MapTable, geometry: Geometry) -> Result<MapParams, Issue> {
    let channel_bytes = channel_bytes(table, geometry)?;
    derive(parse(table, geometry)?, channel_bytes, geometry)
}

fn channel_bytes(table: &MapTable, geometry: Geometry) -> Result<u64, Issue> {
    const PATHS: [&str; 3] = ["memory.map.channel_bytes", "memory.channels", "memory.map"];
    let most = 1u64 << geometry.channel_address_bits();
    match table.channel_bytes {
        Some(_) if geometry.channels.is_power_of_two() => {
            let message = "has a meaning only when memory.channels is no power of two; channel gives the bits";
            Err(Issue::between(Code::NoEffect, &PATHS, message))
        }
        Some(Size(bytes)) if bytes > most => {
            let shown = |bytes: u64| format(bytes, Dimension::Size);
            let message = format!("{} is more than a channel holds, which is {}", shown(bytes), shown(most));
            Err(Issue::between(Code::BadAddressMap, &PATHS, message))
        }
        given => Ok(given.map_or(CHANNEL_BYTES.min(most), |Size(bytes)| bytes)),
    }
}

fn parse(table: &MapTable, geometry: Geometry) -> Result<Selectors, Issue> {
    let field = |name: &str, texts: &[String], bits: u8, count: &str| -> Result<Vec<u64>, Issue> {
        let path = format!("memory.map.{name}");
        if texts.len() != usize::from(bits) {
            let message = match name {
                "channel" if !geometry.channels.is_power_of_two() => {
                    format!("{count} = {} is no power of two, so that it has no masks", geometry.channels)
                }
                _ => format!("{name} has {} masks; {count} = {} needs {bits}", texts.len(), 1u64 << bits),
            };
            return Err(Issue::between(Code::BadAddressMap, &[&path, count, "memory.map"], message));
        }
        let masks = texts.iter().enumerate();
        masks.map(|(at, text)| parse_mask(text, &format!("{path}[{at}]"), geometry)).collect()
    };
    Ok(Selectors {
        channel: field("channel", &table.channel, geometry.channel_bits(), "memory.channels")?,
        subchannel: field("subchannel", &table.subchannel, geometry.subchannel_bits, "memory.dram.subchannels")?,
        rank: field("rank", &table.rank, geometry.rank_bits, "memory.dram.ranks")?,
        bank_group: field("bank_group", &table.bank_group, geometry.bank_group_bits, "memory.dram.bank_groups")?,
        bank: field("bank", &table.bank, geometry.bank_bits, "memory.dram.banks_per_group")?,
    })
}

fn parse_mask(text: &str, path: &str, geometry: Geometry) -> Result<u64, Issue> {
    let mut mask = 0u64;
    for part in text.split('+') {
        // `parse` would also take a sign.
        let bit = part.trim().parse::<u8>().ok().filter(|_| part.trim().bytes().all(|byte| byte.is_ascii_digit()));
        let Some(bit) = bit else {
            let message = format!("{} is not a sum of address bits such as \"8+13+17\"", shorten(text));
            return Err(Issue::new(Code::MalformedValue, path, message));
        };
        if bit < LINE_BITS || bit >= geometry.address_bits() {
            let message =
                format!("bit {bit} is outside the address bits {LINE_BITS} to {}", geometry.address_bits() - 1);
            return Err(Issue::new(Code::BadAddressMap, path, message));
        }
        if mask & (1 << bit) != 0 {
            return Err(Issue::new(Code::Duplicate, path, format!("bit {bit} stands twice in {}", shorten(text))));
        }
        mask |= 1 << bit;
    }
    Ok(mask)
}
