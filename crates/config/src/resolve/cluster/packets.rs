//! `[flow.*]` of kind "packets".

use super::size_file::OR_A_FILE;
use super::sizes::FlowSizes;
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::presets;
use crate::units::{format, shorten, Dimension};
use hostnet_params::{
    ArrivalsSpec, Bandwidth, Distribution, FlowSizesSpec, FlowSpec, PacketsParams, Size, Traffic, UDP_HEADER_BYTES,
};

/// Bytes of the Ethernet header, which packet sizes include.
const ETHERNET_BYTES: u64 = 14;
/// Bytes of a packet beside its data.
const HEADERS_BYTES: u64 = ETHERNET_BYTES + UDP_HEADER_BYTES as u64;
/// Longest mean of a drawn time, in ps.
const MEAN_MAX_PS: f64 = 1e15;

/// Replaces the name of a distribution by its points.
pub(super) fn name_sizes(path: &str, spec: &mut FlowSpec) -> Result<(), Issue> {
    let Some(FlowSizesSpec::Named(name)) = spec.sizes.as_ref().filter(|_| spec.is_packets()) else { return Ok(()) };
    let points = presets::packet_sizes(name).ok_or_else(|| {
        let hint = suggestion(name, presets::packet_sizes_names());
        let message = format!("there is no distribution of packets {}; {hint}; {OR_A_FILE}", shorten(name));
        Issue::new(Code::UnknownName, format!("{path}.sizes"), message)
    })?;
    spec.sizes = Some(FlowSizesSpec::Points(points));
    Ok(())
}

/// Returns the traffic of the sender. Seeds are set later, when flows are numbered.
pub(super) fn traffic(path: &str, spec: &mut FlowSpec) -> Result<Traffic, Issue> {
    let at = format!("{path}.sizes");
    let Some(FlowSizesSpec::Points(points)) = &spec.sizes else {
        let message = "missing; give a distribution such as \"database\", points of one or a file of them";
        return Err(Issue::new(Code::MissingKey, at, message));
    };
    let sizes = FlowSizes::of_points(points, &at)?;
    let (least, most) = sizes.range();
    let mtu = spec.mtu.map_or(0, |Size(bytes)| bytes);
    if least <= HEADERS_BYTES {
        let message = format!("a packet has headers of {HEADERS_BYTES} B and at least 1 B of data; {least} B are less");
        return Err(Issue::new(Code::OutOfRange, at, message));
    }
    if most > mtu + ETHERNET_BYTES {
        let message = format!(
            "packets of {} are more than the MTU of {mtu} B and a header of {ETHERNET_BYTES} B",
            format(most, Dimension::Size)
        );
        return Err(Issue::between(Code::DoesNotFit, &[&at, &format!("{path}.mtu"), "network.mtu"], message));
    }
    let interval_ps = match (spec.rate, spec.arrivals) {
        (None, Some(_)) => {
            let at = [format!("{path}.arrivals"), format!("{path}.rate")];
            return Err(Issue::between(Code::NoEffect, &[&at[0], &at[1]], "has an effect only with rate"));
        }
        (None, None) => None,
        (Some(rate), arrivals) => Some(interval(rate, arrivals, sizes.mean())),
    };
    if spec.rate.is_some() {
        spec.arrivals.get_or_insert(ArrivalsSpec::Poisson);
    }
    let bytes = sizes.without(HEADERS_BYTES).draw_of();
    Ok(Traffic::Packets(Box::new(PacketsParams::Drawn { bytes, interval_ps, seed: 0 })))
}

fn interval(Bandwidth(bytes_per_s): Bandwidth, arrivals: Option<ArrivalsSpec>, mean_bytes: f64) -> Distribution {
    // An interval of 0 ps would send without end at one time.
    let mean_ps = (mean_bytes * 1e12 / bytes_per_s as f64).round().clamp(1.0, MEAN_MAX_PS) as u64;
    match arrivals {
        None | Some(ArrivalsSpec::Poisson) => Distribution::Exponential(mean_ps),
        Some(ArrivalsSpec::Constant) => Distribution::Constant(mean_ps),
    }
}

/// Returns the packets of a capture as datagrams, for a host that forwards them. A packet without room for headers
/// has 1 B of data.
pub(super) fn given(packets: &[(u64, u32)]) -> Traffic {
    let data = |&(at, ip_bytes): &(u64, u32)| (at, ip_bytes.saturating_sub(UDP_HEADER_BYTES).max(1));
    Traffic::Packets(Box::new(PacketsParams::Given(packets.iter().map(data).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_kernel::Rng;
    use hostnet_params::SizePoint;

    /// Returns the cumulative share of a distribution at a size.
    fn share(points: &[SizePoint], bytes: f64) -> f64 {
        let above = points.iter().position(|point| point.bytes.0 as f64 > bytes);
        match above {
            None => 1.0,
            Some(0) => 0.0,
            Some(at) => {
                let (low, high) = (&points[at - 1], &points[at]);
                let (from, to) = (low.bytes.0 as f64, high.bytes.0 as f64);
                low.share + (high.share - low.share) * (bytes - from) / (to - from)
            }
        }
    }

    #[test]
    fn packets_follow_their_distribution_within_the_bound_of_kolmogorov() {
        const COUNT: usize = 100_000;
        for name in presets::packet_sizes_names() {
            let points = presets::packet_sizes(name).expect("it is there");
            let draw = FlowSizes::of_points(&points, "sizes").expect("it rises").without(HEADERS_BYTES).draw_of();
            let mut rng = Rng::new(7, 8);
            let mut drawn: Vec<u64> = (0..COUNT).map(|_| draw.next(&mut rng) + HEADERS_BYTES).collect();
            drawn.sort_unstable();
            assert!(drawn[0] >= 64 && drawn[COUNT - 1] <= 1514, "{name}");
            // Sizes are rounded down to whole bytes, so the share of a size includes all values below the next size.
            let farthest = (64..1514).map(|bytes| {
                let below = drawn.partition_point(|&drawn| drawn <= bytes) as f64 / COUNT as f64;
                (below - share(&points, bytes as f64 + 1.0).min(share(&points, bytes as f64 + 0.999_999))).abs()
            });
            let farthest = farthest.fold(0.0, f64::max);
            assert!(farthest < 1.63 / (COUNT as f64).sqrt(), "{name}: {farthest}");
        }
    }

    #[test]
    fn stated_shares_hold() {
        let of = |name: &str| presets::packet_sizes(name).expect("it is there");
        assert!((share(&of("webserver"), 300.0) - 0.9).abs() < 1e-9);
        assert!((share(&of("hadoop"), 100.0) - 0.41).abs() < 1e-9);
        assert!((1.0 - share(&of("hadoop"), 1513.999) - 0.52).abs() < 1e-4);
    }
}
