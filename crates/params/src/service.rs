//! Keys and parameters of services and their load.

use super::patterns::FlowSizesSpec;
use super::values::Time;
use hostnet_kernel::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Service: the arrivals of its requests, and the workers that serve them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    /// Requests per second of each flow, in an open loop: requests do not wait for the answers to earlier ones.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub rate: f64,
    /// Arrival process of the requests; "poisson" when absent.
    #[serde(default)]
    pub arrivals: ArrivalsSpec,
    /// Mean service time of a request at a worker (time); none when absent. At a server it is work of a core at
    /// `core.frequency`.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub time: Time,
    /// Mean service time in cycles of the core of the worker, in place of `time`; only if the workers are on a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub cycles: Option<u64>,
    /// Distribution of the service time; "constant" when absent.
    #[serde(default)]
    pub distribution: DistributionSpec,
    /// With "lognormal": standard deviation of the service time divided by its mean; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 10.0))]
    pub deviation: Option<f64>,
    /// Requests that a host serves at a time, of all flows of the table; the others wait in order of arrival; 1 when
    /// absent. At a server they are divided among the cores that have connections, at least one each.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65536))]
    pub workers: u32,
    /// Storage reads that each request waits for; none when absent. Only if the workers are on a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io: Option<ServiceIoSpec>,
    /// Requests of each flow that arrive as a burst, with bursts at intervals that keep the mean `rate`; 1 when absent.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65536))]
    pub burst: u32,
    /// Time between two requests of a burst (time); all arrive at once when absent.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1 s"))]
    pub spacing: Time,
    /// Time of the first requests of each requesting host, with arrivals = "constant"; one interval after the flow
    /// begins when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseSpec>,
    /// First word of a request, 2 to 16 letters, of which a NIC may inspect the first two; "GET" when absent.
    #[serde(default = "get")]
    #[schemars(length(min = 2, max = 16))]
    pub verb: String,
    /// Distribution of the sizes of requests, in place of `request`, as of `sizes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<FlowSizesSpec>,
    /// Distribution of the sizes of answers, in place of `response`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responses: Option<FlowSizesSpec>,
}

/// Storage reads of a request, one after the other. Equal pieces of work precede, separate and follow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceIoSpec {
    /// Number of reads; equal pieces of work precede, separate and follow them.
    #[schemars(range(min = 1, max = 255))]
    pub reads: u8,
    /// Latency of each read (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub latency: Time,
}

/// Time of the first requests of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PhaseSpec {
    /// The start of the flow, for all hosts.
    Aligned,
    /// A random time within one interval, drawn for each host.
    Random,
}

/// Arrival process of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalsSpec {
    /// Independent arrivals.
    #[default]
    Poisson,
    /// Equal intervals.
    Constant,
}

/// Distribution of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DistributionSpec {
    /// Constant.
    #[default]
    Constant,
    /// Exponential.
    Exponential,
    /// Lognormal.
    Lognormal,
}

fn no_time() -> Time {
    Time(0)
}

fn get() -> String {
    "GET".to_owned()
}

fn one() -> u32 {
    1
}

/// ln 2, in units of 2^-32.
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
    /// Maximum number of outstanding requests of a connection; requests beyond the limit are dropped.
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
        // Constant sizes need no generator.
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
