//! Lists the ends of flows and the servers of a world, at whichever partition they are.

use hostnet_kernel::Simulation;
use hostnet_model::ether::Network;
use hostnet_model::flow::{Application, Datagrams};
use hostnet_model::nic::Nic;
use hostnet_model::os::NetStack;
use hostnet_model::transport::roce::RoceConnection;
use hostnet_model::transport::tcp::TcpConnection;
use hostnet_model::Machine;
use hostnet_model::World;

/// Returns the ends of TCP flows in a partition: flow, host, connection, application.
pub(crate) fn ends(world: &World) -> Vec<(u32, u16, &TcpConnection, &Application)> {
    match world {
        World::Server(machine) => {
            let sockets = machine.engines::<NetStack>().flat_map(NetStack::sockets);
            sockets
                .map(|(params, _, connection, application)| (params.flow, params.host, connection, application))
                .collect()
        }
        World::Fabric(fabric) => {
            let ends = fabric.endpoints().flat_map(|endpoint| endpoint.ends());
            ends.filter_map(|end| {
                let stream = end.stream()?;
                Some((end.flow(), end.host(), stream.connection(), stream.application()))
            })
            .collect()
        }
        World::Remote => Vec::new(),
    }
}

/// Returns the ends of RoCE flows in a partition: flow, host, connection.
pub(crate) fn rdma_ends(world: &World) -> Vec<(u32, u16, &RoceConnection)> {
    match world {
        World::Server(machine) => {
            machine.each::<Nic>().flat_map(Nic::rdma).map(|end| (end.flow, end.hosts[0], &end.connection)).collect()
        }
        World::Fabric(fabric) => {
            let ends = fabric.endpoints().flat_map(|endpoint| endpoint.ends());
            ends.filter_map(|end| Some((end.flow(), end.host(), end.memory()?))).collect()
        }
        World::Remote => Vec::new(),
    }
}

/// Returns the ends of UDP flows in a partition: flow, host, application, and the number of datagrams dropped because
/// the socket buffer was full.
pub(crate) fn datagram_ends(world: &World) -> Vec<(u32, u16, &Datagrams, u64)> {
    match world {
        World::Server(machine) => {
            let ends = machine.engines::<NetStack>().flat_map(NetStack::datagrams);
            ends.map(|(params, counts, application)| (params.flow, params.host, application, counts.dropped)).collect()
        }
        World::Fabric(fabric) => {
            let ends = fabric.endpoints().flat_map(|endpoint| endpoint.ends());
            ends.filter_map(|end| Some((end.flow(), end.host(), end.datagrams()?, 0))).collect()
        }
        World::Remote => Vec::new(),
    }
}

/// Returns the servers that this process simulates, with their numbers, in the order of the partitions.
pub(crate) fn machines(simulation: &Simulation<World>) -> impl Iterator<Item = (usize, &Machine)> {
    // Servers are the first partitions.
    simulation.worlds().enumerate().filter_map(|(number, world)| match world {
        World::Server(machine) => Some((number, &**machine)),
        World::Fabric(_) | World::Remote => None,
    })
}

/// Returns the server with this number, if this process simulates it.
pub(crate) fn machine(simulation: &Simulation<World>, number: usize) -> Option<&Machine> {
    machines(simulation).find(|machine| machine.0 == number).map(|machine| machine.1)
}

/// Returns the network between the servers, as far as this process simulates it.
pub(crate) fn network(simulation: &Simulation<World>) -> Network<'_> {
    Network::of(simulation.worlds().filter_map(|world| match world {
        World::Server(_) | World::Remote => None,
        World::Fabric(fabric) => Some(&**fabric),
    }))
}
