//! Flows that replay a capture.

use crate::code::Code;
use crate::error::Issue;
use crate::units::shorten;
use hostnet_params::{FlowKindSpec, FlowSpec};
use hostnet_traffic::pcap::{self, CapturedPacket, PACKETS_MAX};
use std::path::Path;

/// The largest MTU that a flow may have.
const MTU_MAX: u32 = 65535;

/// Packets of a capture that a flow sends.
#[derive(Default)]
pub(super) struct Replayed {
    /// Time from the first packet, multiplied by the scale, in ps, and bytes of the IP packet.
    pub(super) packets: Vec<(u64, u32)>,
    /// Note about packets that were segmented.
    pub(super) note: Option<String>,
}

/// Reads the capture of a flow of kind "replay"; flows of other kinds have none.
pub(super) fn read(path: &str, spec: &mut FlowSpec, mtu_bytes: u32) -> Result<Replayed, Issue> {
    if spec.kind != FlowKindSpec::Replay {
        return Ok(Replayed::default());
    }
    let at = format!("{path}.pcap");
    let scale = *spec.scale.get_or_insert(1.0);
    let Some(file) = spec.pcap.as_ref() else {
        return Err(Issue::new(Code::MissingKey, at, "missing; give a capture such as \"trace.pcap\""));
    };
    let captured = pcap::read(Path::new(file))
        .map_err(|error| Issue::in_file(Code::of_file(Path::new(file)), file, None, &at, error.message()))?;
    if captured.is_empty() {
        return Err(Issue::in_file(Code::NothingToDo, file, None, &at, "has no packet"));
    }
    let whole = captured.iter().filter(|packet| packet.ip_bytes > mtu_bytes && !can_be_cut(packet, mtu_bytes));
    if let Some(largest) = whole.map(|packet| packet.ip_bytes).max() {
        let message = too_large(file, largest, mtu_bytes);
        return Err(Issue::between(Code::DoesNotFit, &[&format!("{path}.mtu"), &at, "network.mtu"], message));
    }
    let mut packets = Vec::with_capacity(captured.len());
    let mut cut = 0;
    for packet in &captured {
        // Without a scale, times stay exact: `f64` has 53 bits only.
        let time_ps = if scale == 1.0 { packet.time_ps } else { (packet.time_ps as f64 * scale).round() as u64 };
        let before = packets.len();
        packets.extend(segments(packet, mtu_bytes).map(|bytes| (time_ps, bytes)));
        cut += usize::from(packets.len() > before + 1);
        if packets.len() > PACKETS_MAX {
            let message = format!("more than {PACKETS_MAX} packets after segmentation to the MTU of {mtu_bytes} B");
            return Err(Issue::in_file(Code::TooMany, file, None, &at, message));
        }
    }
    let note = (cut > 0).then(|| {
        format!(
            "{at}: {cut} TCP packets above the MTU of {mtu_bytes} B are sent as {} segments, as by a NIC with TSO",
            packets.len() + cut - captured.len()
        )
    });
    Ok(Replayed { packets, note })
}

/// Returns true if a NIC would segment a packet to the MTU: it is TCP, and the MTU has room for data after its headers.
fn can_be_cut(packet: &CapturedPacket, mtu_bytes: u32) -> bool {
    packet.tcp_headers.is_some_and(|headers| u32::from(headers) < mtu_bytes.min(packet.ip_bytes))
}

/// Returns the sizes in bytes of the packets that a captured packet becomes on the wire: segments with their own
/// headers, each as large as the MTU except the last.
fn segments(packet: &CapturedPacket, mtu_bytes: u32) -> impl Iterator<Item = u32> {
    let headers = packet.tcp_headers.filter(|_| packet.ip_bytes > mtu_bytes).map_or(0, u32::from);
    let data = packet.ip_bytes - headers;
    let most = mtu_bytes - headers;
    (0..data.div_ceil(most).max(1)).map(move |at| headers + most.min(data - at * most))
}

fn too_large(file: &str, largest: u32, mtu_bytes: u32) -> String {
    let advice = if largest <= MTU_MAX {
        "give the flow a larger mtu"
    } else {
        "no MTU is that large; remove it from the capture"
    };
    format!(
        "{} has a packet of {largest} B, above the MTU of {mtu_bytes} B; only TCP packets are segmented, and it is not \
         known to be one: {advice}",
        shorten(file)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn segments_have_all_data_and_headers_of_their_own(
            ip_bytes in 61u32..400_000,
            mtu in 128u32..=MTU_MAX,
            headers in 40u16..=60,
        ) {
            let packet = CapturedPacket { time_ps: 0, ip_bytes, tcp_headers: Some(headers) };
            let headers = u32::from(headers);
            let parts: Vec<u32> = segments(&packet, mtu).collect();
            let data: u32 = parts.iter().map(|part| part - headers).sum();
            prop_assert_eq!(data, ip_bytes - headers);
            prop_assert!(parts.iter().all(|&part| part <= mtu && part > headers));
            prop_assert!(parts[..parts.len() - 1].iter().all(|&part| part == mtu));
            let fewest = if ip_bytes <= mtu { 1 } else { (ip_bytes - headers).div_ceil(mtu - headers) };
            prop_assert_eq!(parts.len() as u32, fewest);
        }
    }
}
