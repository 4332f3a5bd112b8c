//! Parses and formats lists of numbers such as `"0,2,4-5"`, for cores, channels, drives and nodes.

use crate::code::Code;
use crate::error::Fault;
use crate::units::shorten;

/// Highest core number that a list may contain.
pub const CORE_MAX: u32 = 1023;

/// Parses a list of cores. The result is ascending. The message of an error does not name the key.
pub fn parse_cores(text: &str) -> Result<Vec<u32>, Fault> {
    parse_list(text, "core", CORE_MAX)
}

/// Parses a list of numbers up to `most` as [`parse_cores`] does. Messages call each number a `noun`.
pub fn parse_list(text: &str, noun: &str, most: u32) -> Result<Vec<u32>, Fault> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Some(first), Some(last)) = (parse_number(first, most), parse_number(last, most)) else {
            let message = format!("{} is not a list of {noun}s such as \"0-3\" or \"0,2,4-5\"", shorten(text));
            return Err(Fault::new(Code::MalformedValue, message));
        };
        if first > last {
            let message = format!("the range {first}-{last} in {} runs backwards", shorten(text));
            return Err(Fault::new(Code::WrongOrder, message));
        }
        for number in first..=last {
            if numbers.contains(&number) {
                let message = format!("{noun} {number} stands twice in {}", shorten(text));
                return Err(Fault::new(Code::Duplicate, message));
            }
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn parse_number(text: &str, most: u32) -> Option<u32> {
    let text = text.trim();
    // `parse` would also take a sign.
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&number| plain && number <= most)
}

/// Formats an ascending list of cores, with ranges.
pub fn format_cores(cores: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &core in cores {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == core => *last = core,
            _ => ranges.push((core, core)),
        }
    }
    let range = |(first, last)| if first == last { format!("{first}") } else { format!("{first}-{last}") };
    ranges.into_iter().map(range).collect::<Vec<_>>().join(",")
}

/// Returns a note about the listed cores that run no `who` (for example "job"). `None` if all cores are used. `path`
/// is the key that lists the cores.
pub fn idle_note(path: &str, listed: &[u32], used: impl Fn(u32) -> bool, who: &str) -> Option<String> {
    let idle: Vec<u32> = listed.iter().copied().filter(|&core| !used(core)).collect();
    let noun = if idle.len() == 1 { "core" } else { "cores" };
    (!idle.is_empty()).then(|| format!("{path}: no {who} is on {noun} {}", format_cores(&idle)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(parse_cores("0-3"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(parse_cores("4-5, 0,2"), Ok(vec![0, 2, 4, 5]));
        for text in ["", "-", "1-", "-1", "a", "3-1", "0,0", "0-2,1", "1024", "0-4294967296", "+1", "1;2"] {
            assert!(parse_cores(text).is_err(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn writing_and_reading_give_the_list_back(cores in prop::collection::btree_set(0u32..=CORE_MAX, 1..64)) {
            let cores: Vec<u32> = cores.into_iter().collect();
            prop_assert_eq!(parse_cores(&format_cores(&cores)), Ok(cores));
        }
    }
}
