//! Flows that send what a capture has.

use crate::error::Issue;
use crate::units::shorten;
use hostnet_traffic::pcap;
use std::path::Path;

/// The packets of a capture: times from its first packet, times `scale`, and bytes of the IP packets.
pub(super) fn packets(path: &str, file: &str, scale: f64, mtu_bytes: u32) -> Result<Vec<(u64, u32)>, Issue> {
    let at = format!("{path}.pcap");
    let packets = pcap::read(Path::new(file)).map_err(|error| Issue::in_file(file, None, &at, error.message()))?;
    if packets.is_empty() {
        return Err(Issue::in_file(file, None, &at, "has no packet"));
    }
    let largest = packets.iter().map(|packet| packet.ip_bytes).max().unwrap_or_default();
    if largest > mtu_bytes {
        let message = format!(
            "{} has a packet of {largest} B, more than the MTU of {mtu_bytes} B; captures of hosts have what their NIC \
             cuts or joins (TSO, GRO): give the flow a larger mtu",
            shorten(file)
        );
        return Err(Issue::between(&[&format!("{path}.mtu"), &at, "network.mtu"], message));
    }
    let scaled = |ps: u64| if scale == 1.0 { ps } else { (ps as f64 * scale).round() as u64 };
    Ok(packets.iter().map(|packet| (scaled(packet.time_ps), packet.ip_bytes)).collect())
}
