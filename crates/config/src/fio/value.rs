//! Parses values in the notation of fio.

use crate::code::Code;
use crate::error::suggestion;
use crate::error::Fault;
use crate::units::shorten;
use hostnet_params::Direction;

const SECTOR: u64 = 512;

const DIRECTIONS: [(&str, Direction); 7] = [
    ("read", Direction::Read),
    ("write", Direction::Write),
    ("randread", Direction::RandRead),
    ("randwrite", Direction::RandWrite),
    ("rw", Direction::Rw),
    ("readwrite", Direction::Rw),
    ("randrw", Direction::RandRw),
];

pub(super) fn direction(value: &str) -> Result<Direction, Fault> {
    if value.contains("trim") {
        return Err(Fault::new(
            Code::NotSupported,
            format!("{} includes trims, which move no data and are not modelled", shorten(value)),
        ));
    }
    let found = DIRECTIONS.iter().find(|(name, _)| *name == value);
    let names = DIRECTIONS.iter().map(|(name, _)| *name);
    found.map(|(_, direction)| *direction).ok_or_else(|| {
        Fault::new(Code::UnknownName, format!("{} is not known; {}", shorten(value), suggestion(value, names)))
    })
}

pub(super) fn count(value: &str, least: u32, most: u32) -> Result<u32, Fault> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        Fault::new(Code::OutOfRange, format!("{} is not a whole number from {least} to {most}", shorten(value)))
    })
}

/// Parses the block sizes of reads and writes, in bytes. An omitted size is `None` and leaves the option unchanged.
///
/// A single size applies to both directions. Of several, the first applies to reads, the second to writes and the
/// third to trims.
pub(super) fn blocks(value: &str) -> Result<[Option<u64>; 2], Fault> {
    per_direction(value, block)
}

/// Like [`blocks`], but for ranges of sizes. A range whose ends differ is refused.
pub(super) fn block_ranges(value: &str) -> Result<[Option<u64>; 2], Fault> {
    per_direction(value, |range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (block(first.trim())?, block(last.trim())?);
        if first == last {
            return Ok(first);
        }
        Err(Fault::new(
            Code::NotSupported,
            format!("{} gives several sizes; the model has a single block size; give bs", shorten(range)),
        ))
    })
}

fn per_direction(value: &str, size: impl Fn(&str) -> Result<u64, Fault>) -> Result<[Option<u64>; 2], Fault> {
    let sizes: Vec<Option<u64>> = value
        .split(',')
        .map(|part| Some(part.trim()).filter(|part| !part.is_empty()).map(&size).transpose())
        .collect::<Result<_, Fault>>()?;
    match sizes[..] {
        [both] => Ok([both, both]),
        // The third size is for trims, which are refused.
        [reads, writes] | [reads, writes, _] => Ok([reads, writes]),
        _ => Err(Fault::new(Code::WrongCount, format!("{} gives more than three sizes", shorten(value)))),
    }
}

fn block(value: &str) -> Result<u64, Fault> {
    const BLOCK_MAX: u64 = 1 << 30;
    let bytes = amount(value)?;
    if bytes == 0 || bytes % SECTOR != 0 {
        return Err(Fault::new(
            Code::NotAMultiple,
            format!("{} is not a multiple of 512 bytes from 512", shorten(value)),
        ));
    }
    if bytes > BLOCK_MAX {
        return Err(Fault::new(Code::OutOfRange, format!("{} is larger than a block of 1 GiB", shorten(value))));
    }
    Ok(bytes)
}

/// Parses the size of a job, in bytes, rounded down to whole sectors of 512 B. `None` if it is a share of the drive.
pub(super) fn job_size(value: &str) -> Result<Option<u64>, Fault> {
    const BYTES_MAX: u64 = 64 << 40;
    if let Some(percent) = value.strip_suffix('%') {
        count(percent.trim(), 1, 100)
            .map_err(|_| Fault::new(Code::OutOfRange, format!("{} is not a share from 1% to 100%", shorten(value))))?;
        // Drives have no capacity in the model, so a share of it gives no size.
        return Ok(None);
    }
    let bytes = amount(value)?;
    if !(SECTOR..=BYTES_MAX).contains(&bytes) {
        return Err(Fault::new(Code::OutOfRange, format!("{} is not from 512 bytes to 64 TiB", shorten(value))));
    }
    // Drives transfer whole sectors.
    Ok(Some(bytes - bytes % SECTOR))
}

/// Parses a size in the notation of fio, where k, m, g and t are powers of 1024.
fn amount(value: &str) -> Result<u64, Fault> {
    let wrong = || Fault::new(Code::MalformedValue, format!("{} is not a size such as 4k, 8m or 1g", shorten(value)));
    let split = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let number: u64 = value[..split].parse().map_err(|_| wrong())?;
    let shift = match value[split..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "ki" | "mi" | "gi" | "ti" | "kib" | "mib" | "gib" | "tib" => {
            let advice = "fio reads this suffix as a power of 1000 unless kb_base is set; write 4k, 8m or 1g";
            return Err(Fault::new(Code::MalformedValue, format!("{} is ambiguous: {advice}", shorten(value))));
        }
        _ => return Err(wrong()),
    };
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// Parses a list of names separated by colons.
pub(super) fn names(value: &str, noun: &str) -> Result<Vec<String>, Fault> {
    const NAMES_MAX: usize = 64;
    let names: Vec<String> = value.split(':').map(|name| name.trim().to_string()).collect();
    if names.len() > NAMES_MAX || names.iter().any(String::is_empty) {
        return Err(Fault::new(
            Code::MalformedValue,
            format!("{} is not a list of up to {NAMES_MAX} {noun}", shorten(value)),
        ));
    }
    Ok(names)
}

/// Parses a decimal or hexadecimal mask of cores into their numbers.
pub(super) fn cores_of_mask(value: &str) -> Result<Vec<u32>, Fault> {
    let digits = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X"));
    let mask = digits.map_or_else(|| value.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok());
    match mask.filter(|&mask| mask != 0) {
        Some(mask) => Ok((0..u64::BITS).filter(|core| mask >> core & 1 == 1).collect()),
        None => Err(Fault::new(Code::MalformedValue, format!("{} is not a mask of cores such as 0xf", shorten(value)))),
    }
}

/// Parses a time in the notation of fio, where the default unit is the second. Returns ps, at most 1000 s.
pub(super) fn duration_ps(value: &str) -> Result<u64, Fault> {
    const SECONDS_MAX: u64 = 1000;
    let wrong =
        || Fault::new(Code::MalformedValue, format!("{} is not a time such as 10, 500ms or 20us", shorten(value)));
    let split = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let number: u64 = value[..split].parse().map_err(|_| wrong())?;
    let factor: u64 = match value[split..].trim() {
        "" | "s" | "sec" => 1_000_000_000_000,
        "ms" | "msec" => 1_000_000_000,
        "us" | "usec" => 1_000_000,
        "m" => 60_000_000_000_000,
        "h" => 3_600_000_000_000_000,
        "d" => 86_400_000_000_000_000,
        _ => return Err(wrong()),
    };
    // Longer times need no distinction: run times have no effect, and ramps end at 10 ms.
    Ok(number.saturating_mul(factor).min(SECONDS_MAX * 1_000_000_000_000))
}

/// Returns true if a value switches its option off. An option without a value is on.
pub(super) fn is_off(value: Option<&str>) -> bool {
    let off = |part: &str| {
        let part = part.trim().to_ascii_lowercase();
        let number = part.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
        matches!(part.as_str(), "none" | "false") || !number.is_empty() && number.bytes().all(|digit| digit == b'0')
    };
    // An option with one value per direction, such as `rate_iops=0,0`, is off if all of its values are.
    value.is_some_and(|value| value.split(',').filter(|part| !part.is_empty()).all(off) && !value.is_empty())
}

/// Parses a boolean option. An option without a value is true.
pub(super) fn truth(value: Option<&str>) -> Result<bool, Fault> {
    match value {
        None | Some("1" | "true") => Ok(true),
        Some("0" | "false") => Ok(false),
        Some(value) => Err(Fault::new(Code::MalformedValue, format!("{} is not 0 or 1", shorten(value)))),
    }
}

/// Refuses a value with a variable that fio expands when it starts.
pub(super) fn check_literal(value: &str) -> Result<(), Fault> {
    if value.contains("${") {
        let advice = "variables are not expanded; write the value itself, or expand it with envsubst";
        return Err(Fault::new(
            Code::NotSupported,
            format!("{} refers to an environment variable: {advice}", shorten(value)),
        ));
    }
    match ["$ncpus", "$mb_memory", "$pagesize", "$jobname"].into_iter().find(|word| value.contains(word)) {
        Some(word) => Err(Fault::new(
            Code::NotSupported,
            format!("{} has {word}, which only fio can expand; write the value", shorten(value)),
        )),
        None => Ok(()),
    }
}
