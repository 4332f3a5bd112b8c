//! Generates requests: address patterns, a share of writes, and Poisson arrivals.
//!
//! Addresses, directions and arrivals come from separate splitmix64 generators, so that they are independent: the
//! addresses at a load of 30 % are those at 60 %.

use crate::{Request, CLOCK_MAX};
use std::fmt;
use std::str::FromStr;

/// Largest number of streams of one pattern.
pub const STREAMS_MAX: u8 = 64;
/// Distance between streams in lines: 1 GiB.
const SPACING_LINES: u64 = 1 << 24;
/// Additional distance that spreads streams over the banks: 32 KiB, four bank groups with rows of 8 KiB.
const STAGGER_LINES: u64 = 512;
/// A share of 1 in units of 2^-53, the resolution of a uniform double.
const SHARE_ONE: f64 = (1u64 << 53) as f64;

/// Address pattern of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Uniformly random lines.
    Random,
    /// Ascending streams, served round robin.
    Streams {
        /// Number of streams, 1 to [`STREAMS_MAX`].
        count: u8,
        /// True if streams are exactly 1 GiB apart, so that they collide in one bank; else they are 1 GiB and 32 KiB
        /// apart.
        colliding: bool,
    },
}

impl FromStr for Pattern {
    type Err = TrafficError;

    /// Parses `rand` or `random`, `seq` or `sequential`, `strN` and `cstrN`.
    fn from_str(text: &str) -> Result<Self, TrafficError> {
        let streams = |count: &str, colliding| {
            let digits = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
            // `parse` accepts a sign, so digits are checked separately.
            let count = count.parse().ok().filter(|count| digits && (1..=STREAMS_MAX).contains(count));
            count.map(|count| Self::Streams { count, colliding })
        };
        let pattern = match text {
            "rand" | "random" => Some(Self::Random),
            "seq" | "sequential" => Some(Self::Streams { count: 1, colliding: false }),
            _ => match (text.strip_prefix("str"), text.strip_prefix("cstr")) {
                (Some(count), _) => streams(count, false),
                (_, Some(count)) => streams(count, true),
                _ => None,
            },
        };
        pattern.ok_or_else(|| {
            let short: String = text.chars().take(40).collect();
            let known = format!("known are seq, rand, strN and cstrN with N from 1 to {STREAMS_MAX}");
            TrafficError(format!("{short:?} is no pattern: {known}"))
        })
    }
}

/// Description of generated requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// Address pattern.
    pub pattern: Pattern,
    /// Probability that a request is a write, 0 to 1, independent for every request.
    pub write_share: f64,
    /// Mean number of DRAM clocks between arrivals, above 0: clocks per line at peak, divided by the load. `None`
    /// saturates.
    pub mean_gap_clocks: Option<f64>,
    /// Size of the memory in lines, at least 1: addresses are taken modulo this.
    pub capacity_lines: u64,
    /// Number of requests.
    pub requests: u64,
    /// Seed; equal seeds give equal requests.
    pub seed: u64,
}

impl Traffic {
    /// Returns the requests in the order of their arrival.
    ///
    /// # Errors
    /// Fails if a field is out of range.
    pub fn generate(&self) -> Result<Synthetic, TrafficError> {
        self.check()?;
        let (streams, random, stagger) = match self.pattern {
            Pattern::Random => (1, true, 0),
            Pattern::Streams { count, colliding } => (count, false, if colliding { 0 } else { STAGGER_LINES }),
        };
        // Three seeds per run, so that runs of neighbouring seeds share no generator (docs/traffic.md).
        let first_seed = self.seed.wrapping_mul(3);
        let mut requests = Synthetic {
            addresses: SplitMix(first_seed.wrapping_add(1)),
            directions: SplitMix(first_seed.wrapping_add(2)),
            arrivals: SplitMix(first_seed.wrapping_add(3)),
            random,
            streams,
            stride_lines: SPACING_LINES + stagger,
            capacity_lines: self.capacity_lines,
            // Rounded up: draw < ceil(share x 2^53) holds exactly where draw / 2^53 < share does.
            write_below: (self.write_share * SHARE_ONE).ceil() as u64,
            mean_gap_clocks: self.mean_gap_clocks,
            time_clocks: 0.0,
            next_clock: 0,
            stream: 0,
            step: 0,
            left: self.requests,
        };
        requests.next_clock = requests.draw_clock();
        Ok(requests)
    }

    fn check(&self) -> Result<(), TrafficError> {
        if let Pattern::Streams { count, .. } = self.pattern {
            if !(1..=STREAMS_MAX).contains(&count) {
                return Err(TrafficError(format!("{count} streams: must be 1 to {STREAMS_MAX}")));
            }
        }
        // NaN is in no range, so it is refused as well.
        if !(0.0..=1.0).contains(&self.write_share) {
            return Err(TrafficError(format!("a share of writes of {}: must be 0 to 1", self.write_share)));
        }
        if self.capacity_lines == 0 {
            return Err(TrafficError("a memory of 0 lines: must have at least one".into()));
        }
        match self.mean_gap_clocks {
            Some(gap) if !(gap.is_finite() && gap > 0.0) => {
                Err(TrafficError(format!("a mean gap of {gap} clocks: must be above 0 and finite")))
            }
            _ => Ok(()),
        }
    }
}

/// The requests of a [`Traffic`], generated one at a time.
#[derive(Clone, Debug)]
pub struct Synthetic {
    addresses: SplitMix,
    directions: SplitMix,
    arrivals: SplitMix,
    random: bool,
    streams: u8,
    stride_lines: u64,
    capacity_lines: u64,
    /// A draw of 53 bits below this is a write. Integers give the same decision as doubles, because the scale is a
    /// power of two.
    write_below: u64,
    mean_gap_clocks: Option<f64>,
    time_clocks: f64,
    /// Clock of the next request, drawn ahead: a logarithm is slow, and the consumer of a request waits for its
    /// clock.
    next_clock: u64,
    /// Stream that is served next.
    stream: u8,
    /// Number of lines that every stream has already requested.
    step: u64,
    left: u64,
}

impl Synthetic {
    #[inline]
    fn next_line(&mut self) -> (u64, u8) {
        if self.random {
            let draw = self.addresses.next();
            return (self.wrap(draw), 0);
        }
        let stream = self.stream;
        let line = self.wrap((u64::from(stream) * self.stride_lines).wrapping_add(self.step));
        self.stream += 1;
        if self.stream == self.streams {
            self.stream = 0;
            self.step = self.step.wrapping_add(1);
        }
        (line, stream)
    }

    #[inline]
    fn wrap(&self, line: u64) -> u64 {
        // The usual case; a division takes tens of cycles.
        if self.capacity_lines.is_power_of_two() {
            line & (self.capacity_lines - 1)
        } else {
            line % self.capacity_lines
        }
    }

    /// Draws the clock of the next arrival, with exponential gaps. The sum keeps its fraction, so that truncation to
    /// a clock does not shift the mean.
    #[inline]
    fn draw_clock(&mut self) -> u64 {
        let Some(mean) = self.mean_gap_clocks else { return 0 };
        // 0 to below 1, so 1 - u is never 0 and the logarithm is finite; libm gives the same on every machine.
        let uniform = self.arrivals.next_53() as f64 / SHARE_ONE;
        self.time_clocks += -libm::log(1.0 - uniform) * mean;
        (self.time_clocks as i64 as u64).min(CLOCK_MAX)
    }
}

impl Iterator for Synthetic {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        let (line, source) = self.next_line();
        // Without writes nothing is drawn; their generator is separate, so addresses do not change by that.
        let write = self.write_below > 0 && self.directions.next_53() < self.write_below;
        // The clock of this request was drawn with the one before.
        let clock = self.next_clock;
        self.next_clock = self.draw_clock();
        Some(Request { clock, line, write, source })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

/// Error in a description of traffic: the value and the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficError(String);

impl fmt::Display for TrafficError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TrafficError {}

/// The splitmix64 generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[derive(Clone, Debug)]
struct SplitMix(u64);

impl SplitMix {
    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// Returns a uniform number below 2^53.
    #[inline]
    fn next_53(&mut self) -> u64 {
        self.next() >> 11
    }
}
