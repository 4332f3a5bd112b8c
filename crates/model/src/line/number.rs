//! Numbers of lines, whose high bits hold the socket and the cluster.

/// Lines of a socket, as a power of two (64 TiB). The bits of a line number above these hold its socket.
pub(super) const SOCKET_BITS: u32 = 40;
pub(super) const LINE_BYTES: u64 = 64;

/// Lines of a cluster of a socket, as a power of two (16 TiB). The bits of a line number above these hold its cluster,
/// below those of the socket.
const CLUSTER_BITS: u32 = 38;

/// Returns the physical address at which the memory of a socket begins.
#[must_use]
pub fn memory_of(socket: u8) -> u64 {
    (u64::from(socket) << SOCKET_BITS) * LINE_BYTES
}

/// Returns the physical address at which the memory of a cluster of a socket begins.
#[must_use]
pub fn memory_of_cluster(socket: u8, cluster: u8) -> u64 {
    memory_of(socket) + (u64::from(cluster) << CLUSTER_BITS) * LINE_BYTES
}

/// Returns the cluster of a line, and the number of the line in the memory of that cluster.
#[inline]
pub(super) fn of_cluster(line: u64) -> (u64, u64) {
    let line = within(line);
    (line >> CLUSTER_BITS, line & ((1 << CLUSTER_BITS) - 1))
}

/// Returns the socket whose memory holds a line.
#[must_use]
#[inline]
pub fn socket_of(line: u64) -> u8 {
    (line >> SOCKET_BITS) as u8
}

/// Returns the number of a line in the memory of its socket.
#[inline]
pub(super) fn within(line: u64) -> u64 {
    line & ((1 << SOCKET_BITS) - 1)
}
