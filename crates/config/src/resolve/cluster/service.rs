//! `[flow.*]` of kind "service".

use super::super::arithmetic::{exp, ln};
use super::host_names::HostNames;
use super::servers::HostServers;
use super::sizes::FlowSizes;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, shorten, Dimension};
use hostnet_params::{
    ArrivalsSpec, Distribution, DistributionSpec, FirstArrival, FlowSizesSpec, FlowSpec, PhaseSpec, ServiceParams,
    ServiceSpec, Size, Traffic,
};

const PS_PER_S: f64 = 1e12;
/// Longest mean of a drawn time, in ps.
const MEAN_MAX_PS: u64 = 1_000_000_000_000_000;
/// Longest mean work of a core without a storage read, in ps. Ten times as much can be drawn.
const PIECE_MAX_PS: u64 = 400_000_000_000;
/// Maximum number of tables of services if any is at a server: requests between cores identify their service by a
/// byte.
const SERVICES_MAX: usize = 256;
/// Default number of unanswered requests of a flow.
const IN_FLIGHT: u32 = 1024;

/// Returns the traffic of a service. Numbers and seeds are set later, when flows are numbered.
pub(super) fn traffic(path: &str, spec: &mut FlowSpec) -> Result<Traffic, Issue> {
    let Some(service) = &spec.service else {
        let message =
            "missing; give when requests come and how long they take, such as { rate = 1000, time = \"50 us\" }";
        return Err(Issue::new(Code::MissingKey, format!("{path}.service"), message));
    };
    if service.deviation.is_some() && service.distribution != DistributionSpec::Lognormal {
        let at = [format!("{path}.service.deviation"), format!("{path}.service.distribution")];
        let message = "has an effect only with distribution = \"lognormal\"";
        return Err(Issue::between(Code::NoEffect, &[&at[0], &at[1]], message));
    }
    let request = spec.request;
    let request_bytes = bytes(path, ["request", "requests"], request, service.requests.as_ref())?;
    let request_bytes = request_bytes.ok_or_else(|| {
        Issue::new(
            Code::MissingKey,
            format!("{path}.request"),
            "missing; give the bytes of a request such as \"128 B\"",
        )
    })?;
    let response_bytes = bytes(path, ["response", "responses"], spec.response, service.responses.as_ref())?;
    check(path, service)?;
    let interval_ps = ((PS_PER_S / service.rate * f64::from(service.burst)).round() as u64).max(1);
    let verb = service.verb.as_bytes();
    let params = ServiceParams {
        number: 0,
        interval_ps: match service.arrivals {
            ArrivalsSpec::Poisson => Distribution::Exponential(interval_ps.min(MEAN_MAX_PS)),
            ArrivalsSpec::Constant => Distribution::Constant(interval_ps),
        },
        response_bytes: response_bytes.unwrap_or_else(|| request_bytes.clone()),
        request_bytes,
        first: match service.phase {
            None => FirstArrival::Interval,
            Some(PhaseSpec::Aligned) => FirstArrival::At(0),
            Some(PhaseSpec::Random) => FirstArrival::Drawn(interval_ps),
        },
        burst: service.burst,
        spacing_ps: service.spacing.0,
        verb: [verb[0], verb[1]],
        reads: service.io.map_or(0, |io| io.reads),
        read_ps: service.io.map_or(0, |io| io.latency.0),
        time_ps: time(service, service.time.0),
        workers: service.workers,
        in_flight: *spec.in_flight.get_or_insert(IN_FLIGHT),
        seed: 0,
    };
    Ok(Traffic::Service(Box::new(params)))
}

/// Checks that every key has an effect given the others.
fn check(path: &str, service: &ServiceSpec) -> Result<(), Issue> {
    let at = |key: &str| format!("{path}.service.{key}");
    if service.phase.is_some() && service.arrivals != ArrivalsSpec::Constant {
        let message = "has an effect only with arrivals = \"constant\"";
        return Err(Issue::between(Code::NoEffect, &[&at("phase"), &at("arrivals")], message));
    }
    if service.spacing.0 > 0 && service.burst == 1 {
        let message = "has an effect only with burst = 2 or more";
        return Err(Issue::between(Code::NoEffect, &[&at("spacing"), &at("burst")], message));
    }
    let burst_s = service.spacing.0 as f64 / PS_PER_S * f64::from(service.burst - 1);
    if burst_s * service.rate >= f64::from(service.burst) {
        let message = format!("a burst of {} takes longer than the time to the next one at this rate", service.burst);
        return Err(Issue::between(Code::WrongOrder, &[&at("spacing"), &at("rate")], message));
    }
    if service.cycles.is_some() && service.time.0 > 0 {
        let message = "both say what a request takes; give one";
        return Err(Issue::between(Code::ConflictingKeys, &[&at("cycles"), &at("time")], message));
    }
    if service.verb.len() < 2 || !service.verb.is_ascii() {
        let message = format!("{} is no word of two or more ASCII letters, such as \"GET\"", shorten(&service.verb));
        return Err(Issue::new(Code::MalformedValue, at("verb"), message));
    }
    Ok(())
}

/// Converts the work of requests from cycles to time if necessary, and checks the servers. There are `before` earlier
/// tables of services.
pub(super) fn place(
    path: &str,
    spec: &FlowSpec,
    pairs: &[(usize, usize)],
    hosts: &HostNames,
    servers: &HostServers,
    before: usize,
    traffic: &mut Traffic,
) -> Result<(), Issue> {
    let (Traffic::Service(params), Some(service)) = (traffic, &spec.service) else { return Ok(()) };
    let at = |key: &str| format!("{path}.service.{key}");
    let mut clock = None;
    for &(_, to) in pairs {
        let name = shorten(hosts.name(to));
        let Some(own) = servers.of_host(to).map(|resolved| resolved.spec.core.frequency.0) else {
            let of_servers = [("cycles", service.cycles.is_some()), ("io", service.io.is_some())];
            if let Some((key, _)) = of_servers.into_iter().find(|(_, given)| *given) {
                let message = format!("{name} is an endpoint, which has no cores; it has an effect only on a server");
                return Err(Issue::between(Code::WrongHostKind, &[&at(key), &format!("{path}.to")], message));
            }
            continue;
        };
        if service.cycles.is_some() && *clock.get_or_insert(own) != own {
            let message = format!("the cores of {name} have another frequency than those before it; give time");
            return Err(Issue::between(Code::MustAgree, &[&at("cycles"), &format!("{path}.to")], message));
        }
    }
    let on_server = pairs.iter().any(|&(_, to)| servers.is_server(to));
    if on_server && before >= SERVICES_MAX {
        let message = format!("more than {SERVICES_MAX} tables of services, and this one is at a server");
        return Err(Issue::new(Code::TooMany, path, message));
    }
    let mean_ps = match (service.cycles, clock) {
        (Some(cycles), Some(hz)) => (cycles as f64 * PS_PER_S / hz as f64).round() as u64,
        _ => service.time.0,
    };
    params.time_ps = time(service, mean_ps);
    // Each read suspends the work, which divides it into `reads + 1` pieces.
    let piece_ps = mean_ps / (u64::from(params.reads) + 1);
    if on_server && piece_ps > PIECE_MAX_PS {
        let [found, most] = [piece_ps, PIECE_MAX_PS].map(|ps| format(ps, Dimension::Time));
        let message = format!("a core of a server would work for {found} without a read of storage; at most {most}");
        return Err(Issue::new(
            Code::OutOfRange,
            at(if service.cycles.is_some() { "cycles" } else { "time" }),
            message,
        ));
    }
    Ok(())
}

/// Returns the bytes of requests or answers, from the one of two keys that gives them.
fn bytes(
    path: &str,
    keys: [&str; 2],
    one: Option<Size>,
    many: Option<&FlowSizesSpec>,
) -> Result<Option<Distribution>, Issue> {
    let [at, table] = [format!("{path}.{}", keys[0]), format!("{path}.service.{}", keys[1])];
    match (one, many) {
        (Some(_), Some(_)) => Err(Issue::between(
            Code::ConflictingKeys,
            &[&at, &table],
            "all have the same size, or different ones; give one",
        )),
        (Some(Size(bytes)), None) => Ok(Some(Distribution::Constant(bytes))),
        (None, Some(sizes)) => Ok(Some(FlowSizes::resolve(sizes, &table)?.draw_of())),
        (None, None) => Ok(None),
    }
}

fn time(service: &ServiceSpec, mean_ps: u64) -> Distribution {
    match service.distribution {
        _ if mean_ps == 0 => Distribution::Constant(0),
        DistributionSpec::Constant => Distribution::Constant(mean_ps),
        DistributionSpec::Exponential => Distribution::Exponential(mean_ps),
        DistributionSpec::Lognormal => lognormal(mean_ps as f64, service.deviation.unwrap_or(1.0)),
    }
}

/// Returns the points of a lognormal distribution with a mean and a coefficient of variation. The distribution is
/// linear between points, and the values are scaled so that the mean is exact.
fn lognormal(mean: f64, deviation: f64) -> Distribution {
    const STEPS: i32 = 400;
    const WIDTH: f64 = 6.0;
    // `ln` takes numbers up to 1 only: ln(1 + d^2) = -ln(1 / (1 + d^2)).
    let variance = -ln(1.0 / (1.0 + deviation * deviation));
    let sigma = variance.sqrt();
    let step = WIDTH / f64::from(STEPS);
    let mut share = 0.0;
    let mut points = vec![(0.0, exp(-sigma * WIDTH))];
    for at in 1 - STEPS..=STEPS {
        let z = f64::from(at) * step;
        // Integral of the density over a step, by Simpson's rule.
        share += (density(z - step) + 4.0 * density(z - step / 2.0) + density(z)) * step / 6.0;
        points.push((share, exp(sigma * z)));
    }
    let whole = share;
    let between = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) / whole * (pair[0].1 + pair[1].1) / 2.0;
    // Scaled to the exact mean, which cutting off the tails has changed.
    let scale = mean / points.windows(2).map(between).sum::<f64>();
    let integer = |&(share, value): &(f64, f64)| {
        ((share / whole * f64::from(u32::MAX)).round() as u32, (value * scale).round() as u64)
    };
    Distribution::Points(points.iter().map(integer).collect())
}

/// Returns the density of the standard normal distribution.
fn density(z: f64) -> f64 {
    exp(-z * z / 2.0) / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_kernel::Rng;

    #[test]
    fn lognormal_times_have_their_mean_deviation_and_median() {
        for deviation in [0.2, 1.0, 2.0] {
            let (draw, mut rng) = (lognormal(1e9, deviation), Rng::new(1, 1));
            let mut all: Vec<f64> = (0..400_000).map(|_| draw.next(&mut rng) as f64).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let found = (all.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / all.len() as f64).sqrt() / mean;
            all.sort_unstable_by(f64::total_cmp);
            let median = 1e9 / (1.0 + deviation * deviation).sqrt();
            assert!((mean / 1e9 - 1.0).abs() < 0.01, "{mean}");
            assert!((found / deviation - 1.0).abs() < 0.06, "{found} for {deviation}");
            assert!((all[all.len() / 2] / median - 1.0).abs() < 0.01, "{} for {median}", all[all.len() / 2]);
        }
    }
}
