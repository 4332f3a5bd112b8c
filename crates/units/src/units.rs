//! Converts between text with units such as `"13.5 ns"` and integers in base units, exactly.
//!
//! Decimal prefixes are powers of 1000 (GB, MT/s, Gb/s), binary prefixes powers of 1024 (GiB). Nothing goes through
//! floating point.

mod table;

use crate::code::Code;
use crate::error::{nearest, Fault};
pub use table::list_units;
use table::{Unit, G, GI, K, KI, M, MI, T, TI, UNITS};

/// Physical dimension of a value. The base units are picoseconds, bytes, bytes per second, transfers per second,
/// hertz, microwatts, femtojoules, microvolts, microvolts per microsecond and events per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Durations, in ps.
    Time,
    /// Amounts of data, in bytes.
    Size,
    /// Data rates, in bytes per second.
    Bandwidth,
    /// Symbol rates of buses, in transfers per second.
    TransferRate,
    /// Frequencies, in hertz.
    Frequency,
    /// Power, in microwatts.
    Power,
    /// Energy, in femtojoules.
    Energy,
    /// Voltages, in microvolts.
    Voltage,
    /// Slew rates of voltages, in microvolts per microsecond.
    Slew,
    /// Rates of events, in events per second.
    Rate,
}

impl Dimension {
    /// Returns the name of the dimension in the schema and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Time => "time",
            Dimension::Size => "size",
            Dimension::Bandwidth => "bandwidth",
            Dimension::TransferRate => "transfer rate",
            Dimension::Frequency => "frequency",
            Dimension::Power => "power",
            Dimension::Energy => "energy",
            Dimension::Voltage => "voltage",
            Dimension::Slew => "slew rate",
            Dimension::Rate => "rate",
        }
    }

    /// Returns the name with its article, for messages: "a time", "an energy".
    pub fn one(self) -> String {
        let article = if self == Dimension::Energy { "an" } else { "a" };
        format!("{article} {}", self.name())
    }

    /// Returns example values of this dimension, as a user would write them.
    pub fn examples(self) -> &'static [&'static str] {
        match self {
            Dimension::Time => &["70 ns"],
            Dimension::Size => &["8 MiB"],
            Dimension::Bandwidth => &["46.9 GB/s", "100 Gbps"],
            Dimension::TransferRate => &["3200 MT/s"],
            Dimension::Frequency => &["2.4 GHz"],
            Dimension::Power => &["1.8 W"],
            Dimension::Energy => &["2.8 nJ"],
            Dimension::Voltage => &["1.2 V"],
            Dimension::Slew => &["6.25 mV/us"],
            Dimension::Rate => &["35 k/s"],
        }
    }

    /// Returns the examples in quotes, for messages.
    pub fn shown(self) -> String {
        format!("\"{}\"", self.examples().join("\" or \""))
    }

    /// Returns the dimension with this name, which is the value of `x-quantity` in a schema.
    pub fn from_name(name: &str) -> Option<Self> {
        use Dimension::*;
        let all = [Time, Size, Bandwidth, TransferRate, Frequency, Power, Energy, Voltage, Slew, Rate];
        all.into_iter().find(|dimension| dimension.name() == name)
    }

    fn smallest(self) -> &'static str {
        match self {
            Dimension::Time => "1 ps",
            Dimension::Size => "1 B",
            Dimension::Bandwidth => "1 B/s",
            Dimension::TransferRate => "1 T/s",
            Dimension::Frequency => "1 Hz",
            Dimension::Power => "1 uW",
            Dimension::Energy => "1 fJ",
            Dimension::Voltage => "1 uV",
            Dimension::Slew => "1 uV/us",
            Dimension::Rate => "1 /s",
        }
    }
}

/// Largest number of digits of a number: enough for any value in range, and few enough to rule out an overflow.
const DIGITS_MAX: usize = 20;

/// Parses `text` as a value of `dimension`, in its base unit. The message of an error does not name the key.
pub fn parse(text: &str, dimension: Dimension) -> Result<u64, Fault> {
    let shown = shorten(text);
    let text = text.trim();
    // Signs and separators belong to the number, so that an error names the number and not the unit.
    let split = text.find(|c: char| !(c.is_ascii_digit() || "+-._,".contains(c))).unwrap_or(text.len());
    let (number, rest) = text.split_at(split);
    let (exponent, unit_name) = split_exponent(rest);
    let wanted = || format!("{} such as {} is wanted", dimension.one(), dimension.shown());
    if number.is_empty() {
        return Err(Fault::new(Code::BadUnit, format!("{shown} does not start with a number; {}", wanted())));
    }
    let number = Decimal::parse(number)
        .map(|number| number.times_ten_to(exponent))
        .map_err(|Fault { code, message }| Fault::new(code, format!("{shown} {message}; {}", wanted())))?;
    if unit_name.is_empty() {
        return Err(Fault::new(Code::BadUnit, format!("{shown} has no unit; {}", wanted())));
    }
    let bad_unit = |reason| Fault::new(Code::BadUnit, format!("{shown} {reason}; {}", wanted()));
    let unit = find_unit(unit_name, dimension).map_err(bad_unit)?;
    let fault = |reason| match reason {
        Scale::TooFine => (Code::NotAMultiple, format!("{shown} is not a whole multiple of {}", dimension.smallest())),
        Scale::TooLarge => (Code::OutOfRange, format!("{shown} is too large")),
    };
    number.scale(unit).map_err(fault).map_err(|(code, message)| Fault::new(code, message))
}

/// Returns the exponent of scientific notation (0 if there is none) and the unit that follows.
fn split_exponent(text: &str) -> (i32, &str) {
    let written = || {
        let digits = text.strip_prefix(['e', 'E'])?;
        let signed = digits.strip_prefix(['+', '-']).unwrap_or(digits);
        let end = signed.find(|c: char| !c.is_ascii_digit()).unwrap_or(signed.len());
        let (exponent, unit) = digits.split_at(digits.len() - signed.len() + end);
        // An exponent too large to parse is out of range in any unit, so it is replaced by a bound that is, too.
        let bound = if exponent.starts_with('-') { i32::MIN / 2 } else { i32::MAX / 2 };
        (end > 0).then(|| (exponent.parse().unwrap_or(bound), unit))
    };
    let (exponent, unit) = written().unwrap_or((0, text));
    (exponent, unit.trim())
}

/// Returns `text` in quotes for messages, truncated to 60 characters.
pub fn shorten(text: &str) -> String {
    const LENGTH_MAX: usize = 60;
    if text.chars().count() <= LENGTH_MAX {
        return format!("{text:?}");
    }
    format!("{:?}...", text.chars().take(LENGTH_MAX).collect::<String>())
}

fn find_unit(name: &str, dimension: Dimension) -> Result<&'static Unit, String> {
    if let Some(unit) = UNITS.iter().find(|unit| unit.name == name) {
        if unit.dimension == dimension {
            return Ok(unit);
        }
        return Err(format!("is {}", unit.dimension.one()));
    }
    let known = UNITS.iter().filter(|unit| unit.dimension == dimension).map(|unit| unit.name);
    if let ("k" | "K" | "m" | "M" | "g" | "G" | "t" | "T", Dimension::Size) = (name, dimension) {
        let prefix = name.to_uppercase();
        return Err(format!(
            "has the unknown unit {name:?} (did you mean \"{prefix}iB\", as fio does, or \"{prefix}B\"?)"
        ));
    }
    match nearest(name, known) {
        Some(near) => Err(format!("has the unknown unit {} (did you mean \"{near}\"?)", shorten(name))),
        None => Err(format!("has the unknown unit {}", shorten(name))),
    }
}

struct Decimal {
    digits: u128,
    /// Number of digits after the decimal point; negative if the value is `digits` times a power of ten.
    decimals: i32,
}

enum Scale {
    TooFine,
    TooLarge,
}

impl Decimal {
    fn parse(text: &str) -> Result<Self, Fault> {
        let text = text.strip_prefix('+').unwrap_or(text);
        if text.starts_with('-') {
            return Err(Fault::new(Code::OutOfRange, "is negative"));
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let all: String = [whole, fraction].concat();
        if whole.is_empty() || text.ends_with('.') || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Fault::new(Code::BadUnit, "does not start with a decimal number"));
        }
        let fraction = fraction.trim_end_matches('0');
        let digits = [whole.trim_start_matches('0'), fraction].concat();
        if digits.len() > DIGITS_MAX || fraction.len() > DIGITS_MAX {
            return Err(Fault::new(Code::OutOfRange, "has too many digits"));
        }
        Ok(Decimal { digits: digits.parse().unwrap_or(0), decimals: fraction.len() as i32 })
    }

    fn times_ten_to(self, exponent: i32) -> Self {
        Decimal { decimals: self.decimals.saturating_sub(exponent), ..self }
    }

    fn scale(&self, unit: &Unit) -> Result<u64, Scale> {
        if self.digits == 0 {
            return Ok(0);
        }
        let power = |exponent: i32| 10u128.checked_pow(exponent.max(0).unsigned_abs());
        let factor = power(self.decimals.saturating_neg()).ok_or(Scale::TooLarge)?;
        let product =
            self.digits.checked_mul(u128::from(unit.numerator)).and_then(|product| product.checked_mul(factor));
        let product = product.ok_or(Scale::TooLarge)?;
        let divisor = power(self.decimals).and_then(|power| power.checked_mul(u128::from(unit.denominator)));
        let divisor = divisor.ok_or(Scale::TooFine)?;
        if product % divisor != 0 {
            return Err(Scale::TooFine);
        }
        u64::try_from(product / divisor).map_err(|_| Scale::TooLarge)
    }
}

/// Formats a value in the unit that a person would choose. [`parse`] returns exactly this value for the result.
pub fn format(value: u64, dimension: Dimension) -> String {
    if dimension == Dimension::Size {
        return format_size(value);
    }
    let steps: &[&str] = match dimension {
        Dimension::Time => &["ps", "ns", "us", "ms", "s"],
        Dimension::Size | Dimension::Bandwidth => &["B/s", "kB/s", "MB/s", "GB/s", "TB/s"],
        Dimension::TransferRate => &["T/s", "kT/s", "MT/s"],
        Dimension::Frequency => &["Hz", "kHz", "MHz", "GHz"],
        Dimension::Power => &["uW", "mW", "W", "kW"],
        Dimension::Energy => &["fJ", "pJ", "nJ", "uJ", "mJ", "J"],
        Dimension::Voltage => &["uV", "mV", "V"],
        Dimension::Slew => &["uV/us", "mV/us", "V/us"],
        Dimension::Rate => &["/s", "k/s", "M/s", "G/s"],
    };
    let mut step = 0;
    let mut factor = 1u64;
    while step + 1 < steps.len() && value / factor >= 1000 {
        step += 1;
        factor *= 1000;
    }
    format!("{} {}", decimal(value, factor), steps[step])
}

fn decimal(value: u64, factor: u64) -> String {
    let width = factor.ilog10() as usize;
    let fraction = format!("{:0width$}", value % factor);
    match fraction.trim_end_matches('0') {
        "" => format!("{}", value / factor),
        rest => format!("{}.{rest}", value / factor),
    }
}

fn format_size(value: u64) -> String {
    const BINARY: [(&str, u64); 4] = [("TiB", TI), ("GiB", GI), ("MiB", MI), ("KiB", KI)];
    const DECIMAL: [(&str, u64); 4] = [("TB", T), ("GB", G), ("MB", M), ("kB", K)];
    let divides = |(_, factor): &&(&str, u64)| value != 0 && value % factor == 0;
    let shortest = BINARY.iter().chain(&DECIMAL).filter(divides).min_by_key(|(_, factor)| value / factor);
    match shortest {
        Some((name, factor)) => format!("{} {name}", value / factor),
        None => format!("{value} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Dimension; 10] = [
        Dimension::Time,
        Dimension::Size,
        Dimension::Bandwidth,
        Dimension::TransferRate,
        Dimension::Frequency,
        Dimension::Power,
        Dimension::Energy,
        Dimension::Voltage,
        Dimension::Slew,
        Dimension::Rate,
    ];

    #[test]
    fn scientific_notation_is_read() {
        let time = |text: &str| parse(text, Dimension::Time);
        assert_eq!(time("1e3 ns"), Ok(1_000_000));
        assert_eq!([time("2.5e-3 us"), time("2.5E+0ns")], [Ok(2500), Ok(2500)]);
        assert_eq!(parse("1e11 B/s", Dimension::Bandwidth), Ok(100_000_000_000));
        assert_eq!([time("0e99 s"), time("0e-99 s")], [Ok(0), Ok(0)]);
        let (large, fine) = (Code::OutOfRange, Code::NotAMultiple);
        for (text, rule) in [("1e30 s", large), ("1e99999999999 s", large), ("1e-30 s", fine)] {
            let Fault { code, message } = time(text).expect_err("out of range");
            assert!(code == rule && message.contains(text), "{code}: {message}");
        }
        assert!(time("1e s").is_err_and(|fault| fault.code == Code::BadUnit));
    }

    #[test]
    fn every_unit_is_exact() {
        let cases = [
            ("13.5 ns", Dimension::Time, 13_500),
            ("0.3ns", Dimension::Time, 300),
            ("20 us", Dimension::Time, 20_000_000),
            ("20 µs", Dimension::Time, 20_000_000),
            ("1000 s", Dimension::Time, 1_000_000_000_000_000),
            ("8 MiB", Dimension::Size, 8 << 20),
            ("1.5 KiB", Dimension::Size, 1536),
            ("256 B", Dimension::Size, 256),
            ("1 GB", Dimension::Size, 1_000_000_000),
            ("46.9 GB/s", Dimension::Bandwidth, 46_900_000_000),
            ("100 Gbps", Dimension::Bandwidth, 12_500_000_000),
            ("100 Gb/s", Dimension::Bandwidth, 12_500_000_000),
            ("1 GiB/s", Dimension::Bandwidth, 1 << 30),
            ("3200 MT/s", Dimension::TransferRate, 3_200_000_000),
            ("8 GT/s", Dimension::TransferRate, 8_000_000_000),
            ("2933 MHz", Dimension::Frequency, 2_933_000_000),
            ("1.8 W", Dimension::Power, 1_800_000),
            ("2.83 nJ", Dimension::Energy, 2_830_000),
            ("0.65 V", Dimension::Voltage, 650_000),
            ("6.25 mV/us", Dimension::Slew, 6_250),
            ("35 k/s", Dimension::Rate, 35_000),
            ("7 /s", Dimension::Rate, 7),
            ("+007.250 ns", Dimension::Time, 7_250),
        ];
        for (text, dimension, value) in cases {
            assert_eq!(parse(text, dimension), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused_with_an_example() {
        let broken = [
            "", " ", "ns", "1", "1.5", "1 ns 2", "1e3", ".5 ns", "5. ns", "1,5 ns", "1_000 ns", "--1 ns", "1..2 ns",
            "0x1 ns",
        ];
        for text in broken {
            let message = parse(text, Dimension::Time).unwrap_err().message;
            assert!(message.contains("70 ns"), "{text}: {message}");
        }
        let message = parse("4k", Dimension::Size).unwrap_err().message;
        assert!(message.contains("\"KiB\"") && message.contains("\"KB\""), "{message}");
        let Fault { code, message } = parse("100 gbs", Dimension::Bandwidth).unwrap_err();
        assert!(code == Code::BadUnit && message.contains("\"100 Gbps\""), "{message}");
        for text in ["1 b/s", "0.1 B/s", "123456789012345678901 GB/s"] {
            assert!(parse(text, Dimension::Bandwidth).is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_written_in_the_unit_a_person_would_choose() {
        let cases = [
            (13_500, Dimension::Time, "13.5 ns"),
            (0, Dimension::Time, "0 ps"),
            (3_400_000, Dimension::Time, "3.4 us"),
            (8 << 20, Dimension::Size, "8 MiB"),
            (1_000_000_000, Dimension::Size, "1 GB"),
            (16_000_000, Dimension::Size, "16 MB"),
            (1_024_000, Dimension::Size, "1000 KiB"),
            (0, Dimension::Size, "0 B"),
            (3_465_000_000, Dimension::Bandwidth, "3.465 GB/s"),
            (2_933_000_000, Dimension::TransferRate, "2933 MT/s"),
        ];
        for (value, dimension, text) in cases {
            assert_eq!(format(value, dimension), text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn writing_and_reading_give_the_value_back(value in any::<u64>(), shift in 0u32..64, which in 0..ALL.len()) {
            let value = value >> shift;
            prop_assert_eq!(parse(&format(value, ALL[which]), ALL[which]), Ok(value));
        }

        #[test]
        fn round_values_come_back_too(factor in 0u64..100_000, exponent in 0u32..13, which in 0..ALL.len()) {
            let value = factor * 10u64.pow(exponent);
            prop_assert_eq!(parse(&format(value, ALL[which]), ALL[which]), Ok(value));
        }

        #[test]
        fn no_text_is_a_panic(text in any::<String>(), tail in "[0-9.]{0,30} ?[a-zA-Z/]{0,6}", which in 0..ALL.len()) {
            let _ = parse(&text, ALL[which]);
            let _ = parse(&tail, ALL[which]);
        }
    }
}
