//! The numbers of the parts of a server.

use hostnet_kernel::ComponentId;
use hostnet_model::params::{ServerParams, SocketParams};
use hostnet_model::Ids;

/// Which number each part of a server has: those of a socket follow those of the socket before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) sockets: Vec<SocketLayout>,
    /// What watches the host; 0 or 1.
    pub(crate) control: u32,
    /// What feeds a server that is loaded to find its rates; 0 or 1.
    pub(crate) feeder: u32,
    /// One past the last part.
    pub(crate) end: u32,
}

/// Which number each part of a socket has: parts of a kind follow one another, and the kinds in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketLayout {
    /// The number of the socket.
    pub(crate) number: u8,
    /// What the server has of a kind on sockets before.
    pub(crate) before: Before,
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
    /// UPI, one for each socket of which there are only cores.
    pub(crate) upi: u32,
    /// The first core of such a socket.
    pub(crate) remote: u32,
    /// One past the last part.
    pub(crate) end: u32,
}

/// How many of a kind the sockets before have: numbers in a workload are those of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) cores: u32,
    pub(crate) drives: u32,
    /// Cores of sockets of which there is nothing else.
    pub(crate) remote: u32,
}

impl Layout {
    /// The numbers of a server with lines, from `first` on.
    pub(crate) fn of(params: &ServerParams, first: u32) -> Self {
        let (mut next, mut before) = (first, Before::default());
        let socket = |(number, params): (u8, &SocketParams)| {
            let layout = SocketLayout::of(params, number, before, next);
            next = layout.end;
            before = before.and(params);
            layout
        };
        let sockets = (0..).zip(&params.sockets).map(socket).collect();
        Self::with(sockets, params, next)
    }

    /// The numbers of a server whose memory has rates: its cores, the memory, the NIC, and what watches it.
    pub(crate) fn of_rates(params: &ServerParams, first: u32) -> Self {
        let socket = SocketLayout::of_rates(params.socket(), first);
        Self::with(vec![socket], params, socket.end)
    }

    /// Whatever is on no socket follows them.
    fn with(sockets: Vec<SocketLayout>, params: &ServerParams, control: u32) -> Self {
        let end = control + u32::from(params.control.is_some());
        Self { sockets, control, feeder: end, end }
    }

    /// The first part.
    pub(crate) fn first(&self) -> u32 {
        self.sockets.first().map_or(self.control, |socket| socket.core)
    }

    /// The socket that the NIC hangs off; the first if there is none. What watches the host looks at this one.
    pub(crate) fn at_nic(&self) -> &SocketLayout {
        self.sockets.iter().find(|socket| socket.nic < socket.upi).unwrap_or(&self.sockets[0])
    }

    pub(crate) fn nic(&self) -> ComponentId {
        ComponentId(self.at_nic().nic)
    }

    /// The core with a number among those of the server.
    pub(crate) fn core(&self, number: u32) -> ComponentId {
        let core = self.sockets.iter().find_map(|socket| Some(socket.cores().get(socket.own_core(number)?)));
        core.expect("workloads name cores that there are")
    }

    /// The socket of a part, if it is one that is simulated.
    pub(crate) fn socket_of(&self, id: u32) -> Option<u8> {
        match self.sockets.iter().find(|socket| (socket.core..socket.end).contains(&id)) {
            Some(socket) => (id < socket.remote).then_some(socket.number),
            None => Some(self.at_nic().number),
        }
    }
}

impl Before {
    /// With those of one more socket.
    fn and(self, socket: &SocketParams) -> Self {
        Self {
            cores: self.cores + socket.core.count,
            drives: self.drives + socket.ssd.count,
            remote: self.remote + remote_cores(socket),
        }
    }
}

fn remote_cores(socket: &SocketParams) -> u32 {
    socket.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32)
}

impl SocketLayout {
    fn of(params: &SocketParams, number: u8, before: Before, first: u32) -> Self {
        let cha = first + params.core.count;
        let channel = cha + 1;
        let iio = channel + params.memory.map.channels * params.memory.dram.subchannels;
        let ssd = iio + 1;
        let nic = ssd + params.ssd.count;
        let upi = nic + u32::from(params.nic.is_some());
        let remote = upi + params.remote.as_ref().map_or(0, |remote| remote.sockets);
        let end = remote + remote_cores(params);
        Self { number, before, core: first, cha, channel, iio, ssd, nic, upi, remote, end }
    }

    fn of_rates(params: &SocketParams, first: u32) -> Self {
        let iio = first + params.core.count;
        let nic = iio + 1;
        let end = nic + u32::from(params.nic.is_some());
        Self {
            number: 0,
            before: Before::default(),
            core: first,
            cha: iio,
            channel: iio,
            iio,
            ssd: nic,
            nic,
            upi: end,
            remote: end,
            end,
        }
    }

    /// The number here of a core of the server, if it is one of this socket.
    pub(crate) fn own_core(&self, number: u32) -> Option<u32> {
        number.checked_sub(self.before.cores).filter(|&own| own < self.cha - self.core)
    }

    /// The same of each of some cores.
    pub(crate) fn own_cores(self, numbers: &[u32]) -> impl Iterator<Item = u32> + '_ {
        numbers.iter().filter_map(move |&number| self.own_core(number))
    }

    /// The same of a core that works with another one, or with a drive, of this socket.
    ///
    /// # Panics
    /// If it is elsewhere.
    pub(crate) fn expect_core(&self, number: u32) -> u32 {
        self.own_core(number).expect("who works together is on one socket")
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
}

fn ids(first: u32, end: u32) -> Ids {
    Ids::new(ComponentId(first), end - first)
}
