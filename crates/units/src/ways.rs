//! Parses and formats masks of cache ways such as `"0-8"` or `"0x600"`.

use crate::code::Code;
use crate::cores::{format_cores, parse_list};
use crate::error::Fault;
use crate::units::shorten;

/// Highest way that a list may contain. Caches have fewer ways, so that the check against the cache can report how
/// many there are.
pub const WAY_MAX: u32 = 63;

/// Parses ways, given as a list of numbers or as a hexadecimal mask. Bit 0 is way 0. The message of an error does not
/// name the key.
pub fn parse_ways(text: &str) -> Result<u64, Fault> {
    let mask = match text.trim().strip_prefix("0x") {
        Some(digits) => parse_mask(digits).ok_or_else(|| {
            Fault::new(Code::MalformedValue, format!("{} is not a mask such as \"0x600\"", shorten(text)))
        })?,
        None => parse_list(text, "way", WAY_MAX)?.into_iter().fold(0, |mask, way| mask | (1 << way)),
    };
    checked(mask).map_err(|rule| Fault::new(Code::MalformedValue, format!("{} {rule}", shorten(text))))
}

fn parse_mask(digits: &str) -> Option<u64> {
    // `from_str_radix` would also take a sign.
    let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| plain)
}

/// Checks the rules of the hardware for a mask of ways: it has at least one way and is contiguous.
pub fn checked(mask: u64) -> Result<u64, &'static str> {
    if mask == 0 {
        return Err("has no way; at least one is wanted");
    }
    let run = mask >> mask.trailing_zeros();
    // Ones without a gap, plus 1, are a power of two and share no bit with it.
    if run & run.wrapping_add(1) != 0 {
        return Err("is not contiguous; a mask of ways has no gap, such as \"9-10\"");
    }
    Ok(mask)
}

/// Formats a mask as a list that [`parse_ways`] reads.
pub fn format_ways(mask: u64) -> String {
    let ways: Vec<u32> = (0..=WAY_MAX).filter(|way| (mask >> way) & 1 == 1).collect();
    format_cores(&ways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_and_masks_are_read() {
        for (text, mask) in [("9-10", 0x600), ("0x600", 0x600), ("0", 1), ("1,0, 2", 7), ("0-63", u64::MAX)] {
            assert_eq!(parse_ways(text), Ok(mask), "{text}");
        }
    }

    #[test]
    fn what_is_no_mask_is_refused_with_its_rule() {
        let cases = [
            ("0x0", "has no way"),
            ("0x5", "is not contiguous"),
            ("0,2", "is not contiguous"),
            ("3-1", "runs backwards"),
            ("0-2,1", "way 1 stands twice"),
            ("64", "is not a list of ways"),
            ("", "is not a list of ways"),
            ("0x", "is not a mask"),
            ("0x+1", "is not a mask"),
            ("0x1ffffffffffffffff", "is not a mask"),
        ];
        for (text, rule) in cases {
            let message = parse_ways(text).unwrap_err().message;
            assert!(message.contains(rule), "{text}: {message}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn writing_and_reading_give_the_mask_back(first in 0u32..64, count in 1u32..=64) {
            let mask = (u64::MAX >> (64 - count.min(64 - first))) << first;
            prop_assert_eq!(parse_ways(&format_ways(mask)), Ok(mask));
            prop_assert_eq!(parse_ways(&format!("{mask:#x}")), Ok(mask));
        }

        #[test]
        fn a_mask_is_taken_when_its_ways_are_neighbours(mask in any::<u16>()) {
            let mask = u64::from(mask);
            let ways: Vec<u32> = (0..16).filter(|way| (mask >> way) & 1 == 1).collect();
            let neighbours = !ways.is_empty() && ways.windows(2).all(|pair| pair[1] == pair[0] + 1);
            prop_assert_eq!(checked(mask).is_ok(), neighbours);
        }

        #[test]
        fn no_text_is_a_panic(text in any::<String>(), list in "[0-9x,-]{0,12}") {
            let _ = (parse_ways(&text), parse_ways(&list));
        }
    }
}
