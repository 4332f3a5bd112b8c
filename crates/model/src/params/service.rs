//! Requests that come in an open loop, and who serves them.

use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// ln 2 in units of 2^-32.
const LN_2: u128 = 2_977_044_472;

/// What a number is drawn from. Integers only: what is drawn decides the order of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Draw {
    /// Always this.
    Constant(u64),
    /// An exponential distribution with this mean, at most 10^15.
    Exponential(u64),
    /// Points of a distribution: what share (in units of 2^-32) has at most so much; both rise from point to point, and
    /// the last share is `u32::MAX`. Between two points all is equally likely.
    Points(Vec<(u32, u64)>),
}

impl Draw {
    /// A number.
    #[must_use]
    pub fn next(&self, rng: &mut Rng) -> u64 {
        match self {
            Self::Constant(value) => *value,
            Self::Exponential(mean) => exponential(*mean, rng.next_u64()),
            Self::Points(points) => quantile(points, (rng.next_u64() >> 32) as u32),
        }
    }

    fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }
}

/// The number of an exponential distribution that belongs to a uniform one: -ln of that, times the mean.
fn exponential(mean: u64, uniform: u64) -> u64 {
    let uniform = uniform | 1;
    let zeros = uniform.leading_zeros();
    // The logarithm to base 2 bit by bit: a number in 1..2 is squared, and a result of 2 or more is a bit that is set.
    let mut mantissa = u128::from(uniform << zeros);
    let mut fraction = 0_u64;
    for bit in (0..32).rev() {
        mantissa = (mantissa * mantissa) >> 63;
        if mantissa >> 64 != 0 {
            mantissa >>= 1;
            fraction |= 1 << bit;
        }
    }
    let halvings = ((u64::from(zeros) + 1) << 32) - fraction;
    ((u128::from(mean) * u128::from(halvings) * LN_2) >> 64) as u64
}

/// What of a distribution has at most this share below it.
fn quantile(points: &[(u32, u64)], share: u32) -> u64 {
    let above = points.partition_point(|&(most, _)| most < share);
    let Some(&(most, value)) = points.get(above).or(points.last()) else { return 0 };
    let Some(&(least, from)) = above.checked_sub(1).and_then(|at| points.get(at)) else { return value };
    if most <= least {
        return value;
    }
    let part = u128::from(value - from) * u128::from(share - least) / u128::from(most - least);
    from + part as u64
}

/// When the first request of a flow comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum First {
    /// The time between two after the flow begins.
    Interval,
    /// So long after the flow begins, in ps.
    At(u64),
    /// At a time of its own of each host, up to so long after the flow begins, in ps.
    Drawn(u64),
}

impl First {
    /// Drawn for a host that is known by its number, and a table of flows by its own.
    #[must_use]
    pub fn of_host(self, seed: u64, service: u32, host: u16) -> Self {
        match self {
            Self::Drawn(span_ps) => {
                let mut rng = Rng::new(seed, u64::from(service) << 16 | u64::from(host));
                Self::At(rng.next_u64() % span_ps.max(1))
            }
            known => known,
        }
    }
}

/// Requests over a connection that come in an open loop, and the workers that serve them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceParams {
    /// The service: its workers at a host are shared by all connections that have this number.
    pub number: u32,
    /// Time between two requests, in ps.
    pub interval_ps: Draw,
    /// Bytes of a request.
    pub request_bytes: Draw,
    /// Bytes of an answer.
    pub response_bytes: Draw,
    /// When the first comes.
    pub first: First,
    /// Requests of a burst, at least 1; the time between two is that between bursts.
    pub burst: u32,
    /// From one request of a burst to the next, in ps; 0: they come at a time.
    pub spacing_ps: u64,
    /// First two bytes of a request, by which a NIC may know it.
    pub verb: [u8; 2],
    /// Reads of storage that a request waits for, one after the other; only where the workers are on a server.
    pub reads: u8,
    /// What each of them takes, in ps.
    pub read_ps: u64,
    /// Time that a worker takes for a request, in ps.
    pub time_ps: Draw,
    /// Requests that are served at a time at a host.
    pub workers: u32,
    /// Requests of a connection without an answer at most; those beyond them are given up.
    pub in_flight: u32,
    /// What the numbers of both ends are drawn from.
    pub seed: u64,
}

/// What a request is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestParams {
    /// Its bytes, at least 1.
    pub request_bytes: u64,
    /// Bytes of its answer, at least 1.
    pub response_bytes: u64,
    /// Time that a worker takes for it, in ps.
    pub time_ps: u64,
}

impl ServiceParams {
    /// What request number `number` of the connection is like; both ends know.
    #[must_use]
    pub fn request(&self, number: u64) -> RequestParams {
        let all = [&self.request_bytes, &self.response_bytes, &self.time_ps];
        let mut rng = all.iter().any(|draw| !draw.is_constant()).then(|| Rng::new(self.seed, number));
        let [request, response, time_ps] = all.map(|draw| match (&mut rng, draw) {
            (Some(rng), draw) => draw.next(rng),
            (None, Draw::Constant(value)) => *value,
            (None, _) => 0,
        });
        RequestParams { request_bytes: request.max(1), response_bytes: response.max(1), time_ps }
    }

    /// What the times of its requests are drawn from.
    #[must_use]
    pub fn arrivals(&self) -> Rng {
        Rng::new(!self.seed, u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponential_number_is_the_logarithm_of_a_uniform_one() {
        for uniform in [1_u64, 3, 1 << 20, 1 << 63, u64::MAX / 3, u64::MAX - 8, u64::MAX] {
            let wanted = -((uniform | 1) as f64 / 2_f64.powi(64)).ln() * 1e12;
            let found = exponential(1_000_000_000_000, uniform) as f64;
            assert!((found - wanted).abs() < 1e3 + wanted * 1e-8, "{uniform}: {found} for {wanted}");
        }
    }

    #[test]
    fn exponential_numbers_have_their_mean_and_deviation() {
        let (draw, mut rng) = (Draw::Exponential(1_000_000), Rng::new(5, 6));
        let all: Vec<f64> = (0..200_000).map(|_| draw.next(&mut rng) as f64).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let deviation = (all.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
        assert!((mean / 1e6 - 1.0).abs() < 0.01 && (deviation / mean - 1.0).abs() < 0.01, "{mean} {deviation}");
    }

    #[test]
    fn points_are_met_and_what_is_between_them_is_even() {
        let points = [(u32::MAX / 4, 100), (u32::MAX / 2, 100), (u32::MAX, 300)];
        assert_eq!(quantile(&points, 0), 100);
        assert_eq!(quantile(&points, u32::MAX / 4), 100);
        assert_eq!(quantile(&points, u32::MAX / 2), 100);
        assert_eq!(quantile(&points, u32::MAX / 4 * 3 + 1), 199);
        assert_eq!(quantile(&points, u32::MAX), 300);
        assert_eq!(quantile(&[], 7), 0);
    }
}
