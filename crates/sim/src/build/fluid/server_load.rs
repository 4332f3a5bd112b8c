//! Load under which the rates of a server are measured.

use hostnet_model::fluid::lines_of;

/// Load of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerLoad {
    /// Cores that serve the NIC; the first `copying` of them copy.
    pub(crate) cores: Vec<u32>,
    pub(crate) copying: usize,
    /// Size of a packet, in bytes.
    pub(crate) ip_bytes: u32,
    /// Time between two packets, in 2^-10 ps; with 0 the NIC always has more packets than it can write.
    pub(crate) gap: u64,
    /// Delay that MBA adds to requests of throttled cores, in ps; `hold` is the number of throttled sockets, or the
    /// level of the local socket.
    pub(crate) mba_ps: u64,
    pub(crate) hold: usize,
    /// True if the throttled cores are stopped.
    pub(crate) halted: bool,
}

impl ServerLoad {
    /// Returns the lines of a packet, including its completion.
    pub(super) fn packet_lines(&self) -> u64 {
        u64::from(lines_of(self.ip_bytes)) + 1
    }
}
