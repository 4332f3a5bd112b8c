//! `[flow.*]` of kind "datagram".

use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{DatagramPatternSpec, FlowSpec, Size, Time, Traffic, Transport, UdpParams, UDP_HEADER_BYTES};

/// Default socket buffer of Linux (net.core.rmem_default and wmem_default).
const BUFFER: Size = Size(212_992);
/// Default timeout: some thousand round trips of a current network.
const TIMEOUT: Time = Time(10_000_000_000);

/// Returns UDP as the transport, with the given buffer.
pub(super) fn transport(path: &str, spec: &mut FlowSpec) -> Result<Transport, Issue> {
    if spec.transport.is_some() {
        let at = format!("{path}.transport");
        let message = "has no effect: datagrams go over UDP";
        return Err(Issue::between(Code::NoEffect, &[&at, &format!("{path}.kind")], message));
    }
    let Size(buffer_bytes) = *spec.buffer.get_or_insert(BUFFER);
    Ok(Transport::Udp(UdpParams { buffer_bytes }))
}

/// Returns the traffic that the applications generate.
pub(super) fn traffic(path: &str, spec: &mut FlowSpec) -> Result<Traffic, Issue> {
    let pattern = *spec.pattern.get_or_insert_with(DatagramPatternSpec::default);
    check_keys(path, pattern, spec)?;
    let mtu_bytes = spec.mtu.map_or(0, |Size(bytes)| bytes);
    let fits = |key: &str, size: Size| fits(path, key, size, mtu_bytes);
    let lacks = |key: &str, what: &str| {
        Issue::new(
            Code::MissingKey,
            format!("{path}.{key}"),
            format!("missing; give the bytes of {what} such as \"64 B\""),
        )
    };
    match pattern {
        DatagramPatternSpec::Ping => {
            let request = spec.request.ok_or_else(|| lacks("request", "a request"))?;
            let response = *spec.response.get_or_insert(request);
            Ok(Traffic::Ping {
                request_bytes: fits("request", request)?,
                response_bytes: fits("response", response)?,
                think_ps: spec.think.get_or_insert(Time(0)).0,
                timeout_ps: spec.timeout.get_or_insert(TIMEOUT).0,
            })
        }
        DatagramPatternSpec::Open | DatagramPatternSpec::Generate => {
            let bytes = fits("size", spec.size.ok_or_else(|| lacks("size", "a datagram"))?)?;
            Ok(match pattern {
                DatagramPatternSpec::Generate => Traffic::Generate { bytes },
                _ => Traffic::Datagrams { bytes, bytes_per_s: spec.rate.map(|rate| rate.0) },
            })
        }
    }
}

/// Checks that a datagram fits the MTU, as datagrams are not fragmented.
fn fits(path: &str, key: &str, Size(bytes): Size, mtu_bytes: u64) -> Result<u32, Issue> {
    if bytes + u64::from(UDP_HEADER_BYTES) <= mtu_bytes {
        return Ok(bytes as u32);
    }
    let message = format!(
        "{} with headers of {UDP_HEADER_BYTES} B are more than the MTU of {mtu_bytes} B, and datagrams are not \
         fragmented",
        format(bytes, Dimension::Size)
    );
    Err(Issue::between(Code::DoesNotFit, &[&format!("{path}.{key}"), &format!("{path}.mtu"), "network.mtu"], message))
}

/// Checks that every key belongs to the pattern.
fn check_keys(path: &str, pattern: DatagramPatternSpec, spec: &FlowSpec) -> Result<(), Issue> {
    use DatagramPatternSpec::{Generate, Open, Ping};
    let keys: [(&str, bool, &[DatagramPatternSpec], &str); 6] = [
        (
            "size",
            spec.size.is_some(),
            &[Open, Generate],
            "\"open\" and \"generate\"; a ping has `request` and `response`",
        ),
        ("rate", spec.rate.is_some(), &[Open], "\"open\""),
        ("timeout", spec.timeout.is_some(), &[Ping], "\"ping\""),
        ("request", spec.request.is_some(), &[Ping], "\"ping\"; datagrams that nobody answers have `size`"),
        ("response", spec.response.is_some(), &[Ping], "\"ping\""),
        ("think", spec.think.is_some(), &[Ping], "\"ping\""),
    ];
    match keys.into_iter().find(|(_, given, patterns, _)| *given && !patterns.contains(&pattern)) {
        Some((key, _, _, patterns)) => {
            let message = format!("has an effect only with pattern = {patterns}");
            Err(Issue::between(Code::NoEffect, &[&format!("{path}.{key}"), &format!("{path}.pattern")], message))
        }
        None => Ok(()),
    }
}
