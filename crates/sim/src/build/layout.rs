//! Numbers the parts of a server.

use super::parts::{PartBuilder, WITH_LINES, WITH_RATES};
use crate::read::crossed::socket_pairs;
use hostnet_kernel::ComponentId;
use hostnet_model::params::{ServerParams, SocketParams};
use hostnet_model::{PartIds, PartKind};

/// Component ids of the parts of a server. Those of a socket follow those of the socket before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) sockets: Vec<SocketLayout>,
    /// UPI links between described sockets: from the first socket to the second, the third and so on, then from the
    /// second.
    pub(crate) upis: PartIds,
    /// Id of the host congestion control; equal to the next field if there is none.
    pub(crate) control: u32,
    /// Id of the migration of pages, if there is one.
    pub(crate) tiering: u32,
    /// Id of the power manager; equal to the next field if there is none.
    pub(crate) power: u32,
    /// Id of the feeder, which loads a server to measure its rates; equal to `end` if there is none.
    pub(crate) feeder: u32,
    /// One past the id of the last part.
    pub(crate) end: u32,
}

/// Component ids of the parts of a socket. Parts of one kind are consecutive, and kinds are in the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketLayout {
    /// Number of the socket.
    pub(crate) number: u8,
    /// Number of parts of each kind on the sockets before, as workloads count cores and drives through all sockets.
    before: [u32; PartKind::COUNT],
    kinds: [PartIds; PartKind::COUNT],
    all: PartIds,
}

impl Layout {
    /// Numbers the parts of a server with lines, starting at `first`.
    pub(crate) fn of(params: &ServerParams, first: u32) -> Self {
        let (mut next, mut before) = (first, [0; PartKind::COUNT]);
        let socket = |(number, params): (u8, &SocketParams)| {
            let layout = SocketLayout::new(params, WITH_LINES, number, before, next);
            next = layout.all.end().0;
            before.iter_mut().zip(layout.kinds).for_each(|(before, kind)| *before += kind.len());
            layout
        };
        let sockets = (0..).zip(&params.sockets).map(socket).collect();
        Self::with(sockets, params, next)
    }

    /// Numbers the parts of a server with a fluid memory, starting at `first`.
    pub(crate) fn of_fluid(params: &ServerParams, first: u32) -> Self {
        let socket = SocketLayout::new(params.socket(), WITH_RATES, 0, [0; PartKind::COUNT], first);
        Self::with(vec![socket], params, socket.all.end().0)
    }

    /// Adds the parts that belong to no socket, numbered after those of the sockets.
    fn with(sockets: Vec<SocketLayout>, params: &ServerParams, next: u32) -> Self {
        let count = sockets.len() as u32;
        let socket_pairs = if params.upi.is_some() { count * (count - 1) / 2 } else { 0 };
        let upis = PartIds::new(ComponentId(next), socket_pairs);
        let control = upis.end().0;
        let tiering = control + u32::from(params.control.is_some());
        let power = tiering + u32::from(params.tiering().is_some());
        let end = power + u32::from(params.power.is_some());
        // The feeder has no id here; `loaded_server` adds one behind all other parts.
        Self { sockets, upis, control, tiering, power, feeder: end, end }
    }

    /// Returns each pair of described sockets, in the order of the UPI links between them.
    pub(crate) fn socket_pairs(&self) -> Vec<[u8; 2]> {
        socket_pairs(if self.upis.is_empty() { 0 } else { self.sockets.len() }).collect()
    }

    /// Returns the id of the first part.
    pub(crate) fn first(&self) -> u32 {
        self.sockets[0].all.first().0
    }

    /// Returns the socket that the NIC is attached to, or the first if there is no NIC. Host congestion control
    /// observes this socket.
    pub(crate) fn nic_socket(&self) -> &SocketLayout {
        self.sockets.iter().find(|socket| !socket.of(PartKind::Nic).is_empty()).unwrap_or(&self.sockets[0])
    }

    pub(crate) fn nic(&self) -> ComponentId {
        self.nic_socket().of(PartKind::Nic).first()
    }

    /// Returns the core with a number among the cores of the server.
    pub(crate) fn core(&self, number: u32) -> ComponentId {
        let core = self.sockets.iter().find_map(|socket| Some(socket.cores().get(socket.own_core(number)?)));
        core.expect("workloads name cores that there are")
    }

    /// Returns the socket of a core with a number among the cores of the server.
    pub(crate) fn socket_of_core(&self, number: u32) -> u8 {
        let socket = self.sockets.iter().find(|socket| socket.own_core(number).is_some());
        socket.expect("workloads name cores that there are").number
    }

    /// Returns the socket of a part, if that socket is simulated.
    pub(crate) fn socket_of(&self, id: ComponentId) -> Option<u8> {
        match self.sockets.iter().find(|socket| socket.all.contains(id)) {
            // Cores of sockets that are not described belong to no simulated socket, though numbered within one.
            Some(socket) => (!socket.of(PartKind::Remote).contains(id)).then_some(socket.number),
            None if self.upis.contains(id) => None,
            // Control and power management belong to no socket; they use that of the NIC.
            None => Some(self.nic_socket().number),
        }
    }
}

impl SocketLayout {
    fn new(
        params: &SocketParams,
        list: &[PartBuilder],
        number: u8,
        before: [u32; PartKind::COUNT],
        first: u32,
    ) -> Self {
        let all = PartIds::new(ComponentId(first), list.iter().map(|of| (of.count)(params)).sum());
        let mut kinds = [PartIds::new(all.end(), 0); PartKind::COUNT];
        let mut next = all.first();
        for of in list {
            let ids = PartIds::new(next, (of.count)(params));
            next = ids.end();
            kinds[of.kind as usize] = ids;
        }
        Self { number, before, kinds, all }
    }

    /// Returns the ids of all parts of the socket.
    pub(crate) fn all(&self) -> PartIds {
        self.all
    }

    /// Returns the ids of the parts of one kind.
    pub(crate) fn of(&self, kind: PartKind) -> PartIds {
        self.kinds[kind as usize]
    }

    /// Returns the number of parts of one kind on the sockets before.
    pub(crate) fn before(&self, kind: PartKind) -> u32 {
        self.before[kind as usize]
    }

    /// Returns the number on this socket of a core of the server, if the core is on this socket.
    pub(crate) fn own_core(&self, number: u32) -> Option<u32> {
        number.checked_sub(self.before(PartKind::Core)).filter(|&own| own < self.cores().len())
    }

    /// Returns the numbers on this socket of those of `numbers` that are on this socket.
    pub(crate) fn own_cores(self, numbers: &[u32]) -> impl Iterator<Item = u32> + '_ {
        numbers.iter().filter_map(move |&number| self.own_core(number))
    }

    /// Returns the number on this socket of a core that works with another core, or with a drive, of this socket.
    ///
    /// # Panics
    /// Panics if the core is on another socket.
    pub(crate) fn expect_core(&self, number: u32) -> u32 {
        self.own_core(number).expect("who works together is on one socket")
    }

    pub(crate) fn cores(&self) -> PartIds {
        self.of(PartKind::Core)
    }

    /// Returns the component that requests go to: the CHA, or the fluid memory if there is no CHA.
    pub(crate) fn home(&self) -> ComponentId {
        let cha = self.of(PartKind::Cha);
        if cha.is_empty() {
            self.iio()
        } else {
            cha.first()
        }
    }

    pub(crate) fn iio(&self) -> ComponentId {
        self.of(PartKind::Iio).first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_config::{resolve, Format, Input};
    use std::path::Path;

    fn server() -> ServerParams {
        let text = "[server]\npreset = \"cascade-lake-6234\"\n[workload.stream]\nkind = \"stream\"\ncores = \"0\"\n";
        let input = Input { text, format: Format::Toml, file: "a.toml", base_dir: Path::new("."), overrides: &[] };
        let plan = resolve(&input).expect("a server");
        let server = plan.server().expect("a server");
        ServerParams { sockets: vec![server.socket().clone(); 2], ..server.clone() }
    }

    #[test]
    fn parts_follow_one_another_as_they_are_listed() {
        let layout = Layout::of(&server(), 7);
        let listed = layout.sockets.iter().flat_map(|socket| WITH_LINES.iter().map(|of| socket.of(of.kind)));
        let numbers: Vec<u32> = listed.flat_map(PartIds::iter).map(|id| id.0).collect();
        assert_eq!(numbers, (7..layout.end).collect::<Vec<u32>>());
        let [first, second] = [0, 1].map(|socket: usize| &layout.sockets[socket]);
        assert_eq!(second.before(PartKind::Core), first.cores().len());
        assert_eq!(second.own_core(first.cores().len()), Some(0));
        assert_eq!(layout.socket_of(second.home()), Some(1));
        assert!(first.of(PartKind::Nic).is_empty());
    }

    #[test]
    fn a_fluid_memory_is_the_target_of_requests() {
        let layout = Layout::of_fluid(&server(), 7);
        let socket = &layout.sockets[0];
        assert_eq!(socket.home(), socket.iio());
        assert_eq!(socket.iio(), socket.cores().end());
        assert!(socket.of(PartKind::Channel).is_empty());
    }
}
