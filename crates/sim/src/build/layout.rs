//! The numbers of the parts of a server.

use hostnet_kernel::ComponentId;
use hostnet_model::params::ServerParams;
use hostnet_model::Ids;

/// The number of the socket that is simulated; of others there are only the ways to it and the cores that use them.
const SOCKET: u8 = 0;

/// Which number each part of a server has: parts of a kind follow one another, and the kinds in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The socket of the parts, but for cores of other sockets.
    pub(crate) socket: u8,
    /// The first core.
    pub(crate) core: u32,
    pub(crate) cha: u32,
    /// The first channel.
    pub(crate) channel: u32,
    pub(crate) iio: u32,
    /// The first drive.
    pub(crate) ssd: u32,
    /// The NIC; as many follow the drives as there are, 0 or 1.
    pub(crate) nic: u32,
    /// UPI, one for each other socket.
    pub(crate) upi: u32,
    /// The first core of another socket.
    pub(crate) remote: u32,
    /// What watches the host; 0 or 1.
    pub(crate) control: u32,
    /// What feeds a server that is loaded to find its rates; 0 or 1.
    pub(crate) feeder: u32,
    /// One past the last part.
    pub(crate) end: u32,
}

impl Layout {
    /// The numbers of a server with lines, from `first` on.
    pub(crate) fn of(params: &ServerParams, first: u32) -> Self {
        let cha = first + params.core.count;
        let channel = cha + 1;
        let iio = channel + params.memory.map.channels * params.memory.dram.subchannels;
        let ssd = iio + 1;
        let nic = ssd + params.ssd.count;
        let upi = nic + u32::from(params.nic.is_some());
        let remote = upi + params.remote.as_ref().map_or(0, |remote| remote.sockets);
        let control = remote + params.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32);
        let end = control + u32::from(params.control.is_some());
        Self { socket: SOCKET, core: first, cha, channel, iio, ssd, nic, upi, remote, control, feeder: end, end }
    }

    /// The numbers of a server whose memory has rates: its cores, the memory, the NIC, and what watches it.
    pub(crate) fn of_rates(params: &ServerParams, first: u32) -> Self {
        let iio = first + params.core.count;
        let nic = iio + 1;
        let control = nic + u32::from(params.nic.is_some());
        let end = control + u32::from(params.control.is_some());
        Self {
            socket: SOCKET,
            core: first,
            cha: iio,
            channel: iio,
            iio,
            ssd: nic,
            nic,
            upi: control,
            remote: control,
            control,
            feeder: end,
            end,
        }
    }

    /// The socket of a part, if it is the one that is simulated.
    pub(crate) fn socket_of(&self, id: u32) -> Option<u8> {
        let elsewhere = (self.remote..self.control).contains(&id);
        (!elsewhere).then_some(self.socket)
    }

    pub(crate) fn cores(&self) -> Ids {
        ids(self.core, self.cha)
    }

    pub(crate) fn channels(&self) -> Ids {
        ids(self.channel, self.iio)
    }

    pub(crate) fn drives(&self) -> Ids {
        ids(self.ssd, self.nic)
    }

    pub(crate) fn upis(&self) -> Ids {
        ids(self.upi, self.remote)
    }

    /// The devices at the links of the IIO: the drives and the NIC.
    pub(crate) fn devices(&self) -> Ids {
        ids(self.ssd, self.upi)
    }

    pub(crate) fn cha(&self) -> ComponentId {
        ComponentId(self.cha)
    }

    pub(crate) fn iio(&self) -> ComponentId {
        ComponentId(self.iio)
    }

    pub(crate) fn nic(&self) -> ComponentId {
        ComponentId(self.nic)
    }
}

fn ids(first: u32, end: u32) -> Ids {
    Ids::new(ComponentId(first), end - first)
}
