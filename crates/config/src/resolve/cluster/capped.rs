//! Finds hosts whose cables carry more than their servers can process, by construction.

use super::super::io::{above_the_iio, link_bytes_per_s, WORTH_SAYING};
use super::super::scaling::{held_for_read_ps, held_for_write_ps};
use hostnet_params::{CableEnd, ClusterParams, HostKind, PcieParams, ServerParams, SocketParams};

const LINE_BYTES: f64 = 64.0;
const PS_PER_S: f64 = 1e12;

/// Returns the notes about them; `given` are the keys that the user wrote.
pub(super) fn notes(cluster: &ClusterParams, given: &[String]) -> Vec<String> {
    let fastest = fastest_cables(cluster);
    let mut notes = Vec::new();
    for (at, host) in cluster.hosts.iter().enumerate() {
        let HostKind::Server(server) = &host.kind else { continue };
        let Some(socket) = server.sockets.iter().find(|socket| socket.nic.is_some()) else { continue };
        let offered = fastest[at] as f64;
        let carries = format!("its cable carries {:.1} GB/s, but", offered / 1e9);
        let path = format!("host.{}", host.name);
        let line = above_the_iio(socket, offered).map(|most| format!("{path}.iio.line: {carries} the IIO only {most}"));
        let link = narrow_link(server, offered).map(|most| format!("{path}.nic.pcie: {carries} {most}"));
        let pools = pools(server, socket).into_iter().filter_map(|pool| {
            let key = pool.key;
            // A user who set the key, for any host, chose its size.
            let chosen = given.iter().any(|given| given.starts_with("host.") && given.ends_with(key));
            let most = pool.is_small_for(offered).filter(|_| !chosen)?;
            Some(format!("{path}.{key}: {carries} {most}"))
        });
        notes.extend(line.into_iter().chain(link).chain(pools));
    }
    notes
}

/// Returns the rate of the fastest cable of each host, in bytes per second.
fn fastest_cables(cluster: &ClusterParams) -> Vec<u64> {
    let mut fastest = vec![0; cluster.hosts.len()];
    for cable in &cluster.cables {
        for end in cable.ends {
            if let CableEnd::Host(host) = end {
                fastest[usize::from(host)] = cable.bytes_per_s.max(fastest[usize::from(host)]);
            }
        }
    }
    fastest
}

/// Returns the data rate of a link with TLPs of maximum size, in bytes per second.
fn data_bytes_per_s(pcie: &PcieParams) -> f64 {
    let tlp = f64::from(pcie.mps_bytes) / f64::from(pcie.mps_bytes + pcie.write_overhead_bytes);
    pcie.bytes_per_s as f64 * tlp * (1.0 - f64::from(pcie.dllp_share) / 65536.0)
}

/// Returns a note with a sufficient link if the rate of the NIC's PCIe links is below the offered one.
fn narrow_link(server: &ServerParams, offered: f64) -> Option<String> {
    let links: Vec<&PcieParams> = server.nic_links().map(|(_, link)| link).collect();
    let most: f64 = links.iter().copied().map(data_bytes_per_s).sum();
    if links.is_empty() || offered <= WORTH_SAYING * most {
        return None;
    }
    let wanted = links[0].bytes_per_s as f64 * offered / most;
    let (generation, lanes) = wider(links[0].bytes_per_s, wanted)?;
    Some(format!(
        "its PCIe link only {:.1} GB/s in each direction; generation = {generation} with lanes = {lanes} would fit",
        most / 1e9
    ))
}

/// Returns generation and width of a PCIe link with the given rate: the first generation that suffices at the current
/// width, otherwise at full width. Returns `None` for a link that is not PCIe, such as an on-die link.
fn wider(bytes_per_s: u64, wanted: f64) -> Option<(u32, u32)> {
    const WIDTHS: [u32; 5] = [16, 8, 4, 2, 1];
    let is_its = |&lanes: &u32| (1..=6).any(|generation| link_bytes_per_s(generation, lanes) == bytes_per_s);
    let own = WIDTHS.into_iter().find(is_its)?;
    let fits = |(generation, lanes): &(u32, u32)| link_bytes_per_s(*generation, *lanes) as f64 >= wanted;
    // A link of the same width is the smaller change, so it is tried in all generations first.
    [own, 16].into_iter().flat_map(|lanes| (1..=6).map(move |generation| (generation, lanes))).find(fits)
}

/// A pool of lines on the path between a NIC and memory.
struct LinePool {
    key: &'static str,
    what: &'static str,
    /// Lines of one pool, and the number of pools: each link has its own.
    lines: u32,
    pools: u32,
    /// Time for which a line is held without load, in ps.
    held_ps: f64,
}

impl LinePool {
    /// Returns a note with the sufficient number of lines if the pool's rate without load is below the offered one.
    fn is_small_for(&self, offered: f64) -> Option<String> {
        let Self { key, what, lines, pools, held_ps } = self;
        let most = f64::from(lines * pools) * LINE_BYTES * PS_PER_S / held_ps;
        (offered > WORTH_SAYING * most).then(|| {
            let fits = (f64::from(*lines) * offered / most).ceil();
            format!("{lines} {what} allow only {:.1} GB/s without load; {key} = {fits} would fit", most / 1e9)
        })
    }
}

/// Returns the pools that hold lines of a NIC's data: those of the IIO at the NIC's socket, and those of its PCIe
/// links.
fn pools(server: &ServerParams, socket: &SocketParams) -> Vec<LinePool> {
    let (write_ps, read_ps) = (held_for_write_ps(socket), held_for_read_ps(socket));
    let of_iio = [
        ("iio.write_credits", socket.iio.write_credits, write_ps),
        ("iio.read_credits", socket.iio.read_credits, read_ps),
    ];
    let of_iio = of_iio.map(|(key, lines, held_ps)| LinePool { key, what: "credits", lines, pools: 1, held_ps });
    let links: Vec<&PcieParams> = server.nic_links().map(|(_, link)| link).collect();
    let of_links = links.first().into_iter().flat_map(|link| {
        // A credit is held while the TLP is sent, crosses the link, and the credit returns.
        let way_ps = 2.0 * link.latency_ps as f64;
        let tlp_ps = f64::from(link.mps_bytes + link.write_overhead_bytes) / link.bytes_per_s as f64 * PS_PER_S;
        [
            ("nic.pcie.posted_lines", "posted lines", link.posted_lines, way_ps + tlp_ps),
            ("nic.pcie.nonposted_lines", "lines that reads ask for", link.nonposted_lines, way_ps + read_ps + tlp_ps),
        ]
    });
    let count = links.len() as u32;
    let of_links = of_links.map(|(key, what, lines, held_ps)| LinePool { key, what, lines, pools: count, held_ps });
    of_iio.into_iter().chain(of_links).collect()
}
