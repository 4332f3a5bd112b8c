//! Parameters of services: requests in an open loop, and the workers that serve them.

use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// ln 2 in units of 2^-32.
const LN_2: u128 = 2_977_044_472;

/// Distribution of random numbers. Integer arithmetic only, because the samples decide the order of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Distribution {
    /// Constant value.
    Constant(u64),
    /// Exponential distribution with the given mean, at most 10^15.
    Exponential(u64),
    /// Points of a cumulative distribution: share of samples (in units of 2^-32) and the largest value among them.
    /// Both rise from point to point, and the last share is `u32::MAX`. Values between two points are uniformly
    /// distributed.
    Points(Vec<(u32, u64)>),
}

impl Distribution {
    /// Draws a sample.
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

/// Maps a uniform 64-bit number u to an exponential one: -ln(u / 2^64) times the mean.
fn exponential(mean: u64, uniform: u64) -> u64 {
    // Zero has no logarithm.
    let uniform = uniform | 1;
    let zeros = uniform.leading_zeros();
    // The binary logarithm is found bit by bit: squaring a number in 1..2 gives 2 or more if and only if the bit is
    // set.
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

/// Returns the quantile of a distribution at `share`, in units of 2^-32.
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

/// Time of the first request of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FirstArrival {
    /// One interval between requests after the start of the flow.
    Interval,
    /// The given time after the start of the flow, in ps.
    At(u64),
    /// A random time per host, up to the given time after the start of the flow, in ps.
    Drawn(u64),
}

impl FirstArrival {
    /// Draws a random first arrival for a host; `service` is the number of the table of flows. Other values are
    /// unchanged.
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

/// Service over a connection: requests in an open loop, and the workers that serve them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceParams {
    /// Number of the service; all connections to a host with the same number share its workers.
    pub number: u32,
    /// Time between two requests, in ps.
    pub interval_ps: Distribution,
    /// Bytes of a request.
    pub request_bytes: Distribution,
    /// Bytes of an answer.
    pub response_bytes: Distribution,
    /// Time of the first request.
    pub first: FirstArrival,
    /// Requests per burst, at least 1; `interval_ps` is then the time between bursts.
    pub burst: u32,
    /// Time between two requests of a burst, in ps; 0 = all requests of a burst arrive at once.
    pub spacing_ps: u64,
    /// First two bytes of a request, by which a NIC may recognise it.
    pub verb: [u8; 2],
    /// Storage reads that a request waits for, one after the other; only if the workers are on a server.
    pub reads: u8,
    /// Time of each of those reads, in ps.
    pub read_ps: u64,
    /// Time that a worker takes for a request, in ps.
    pub time_ps: Distribution,
    /// Requests that a host serves at a time.
    pub workers: u32,
    /// Outstanding requests of a connection at most; requests beyond the limit are dropped.
    pub in_flight: u32,
    /// Seed of the random numbers of both ends.
    pub seed: u64,
}

/// Properties of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestParams {
    /// Bytes of the request, at least 1.
    pub request_bytes: u64,
    /// Bytes of the answer, at least 1.
    pub response_bytes: u64,
    /// Service time of a worker, in ps.
    pub time_ps: u64,
}

impl ServiceParams {
    /// Returns the properties of request number `number` of the connection; both ends compute the same.
    #[must_use]
    pub fn request(&self, number: u64) -> RequestParams {
        let all = [&self.request_bytes, &self.response_bytes, &self.time_ps];
        let mut rng = all.iter().any(|draw| !draw.is_constant()).then(|| Rng::new(self.seed, number));
        let [request, response, time_ps] = all.map(|draw| match (&mut rng, draw) {
            (Some(rng), draw) => draw.next(rng),
            (None, Distribution::Constant(value)) => *value,
            (None, _) => 0,
        });
        RequestParams { request_bytes: request.max(1), response_bytes: response.max(1), time_ps }
    }

    /// Returns the random number generator of the arrival times.
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
        let (draw, mut rng) = (Distribution::Exponential(1_000_000), Rng::new(5, 6));
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
