//! Connections of the NIC under test.

use crate::ether::WireParams;
use crate::nic::{FunctionWiring, NicFlow, NicWiring, QueueMemory, QueueWiring, RdmaEnd};
use crate::params::NicParams;
use hostnet_kernel::ComponentId;

/// IIOs of up to two functions.
pub(super) const IIOS: [ComponentId; 2] = [ComponentId(3), ComponentId(6)];
/// Virtual address at which the memory of the queues begins.
const BASE: u64 = 1 << 20;
/// Extra latency between the core of a queue and a function on another socket, in ps.
const AWAY_PS: u64 = 22_000;

/// Connects queues to two cores alternately. With two functions, queues alternate between them, and the second
/// function is farther from its cores.
pub(super) fn wiring(params: &NicParams, flows: Vec<NicFlow>, rdma: Vec<RdmaEnd>, wire: WireParams) -> NicWiring {
    let functions = 1 + params.functions.len();
    let bytes = params.queue_layout().bytes.next_multiple_of(4096);
    assert!(u64::from(params.queues) * bytes < 1 << 29);
    let queue = |queue: u32| QueueWiring {
        core: ComponentId(queue % 2),
        memory: QueueMemory::at(BASE + u64::from(queue) * bytes, params),
        function: queue as usize % functions,
        far: queue as usize % functions != 0,
        away_ps: u64::from(queue) % functions as u64 * AWAY_PS,
    };
    let function = |&iio: &ComponentId| FunctionWiring { iio, link: 0, pcie: params.pcie.clone() };
    NicWiring {
        functions: IIOS[..functions].iter().map(function).collect(),
        hints: if params.scatter {
            (0..2).map(|node| (node < functions).then_some(node)).collect()
        } else {
            Vec::new()
        },
        queues: (0..params.queues).map(queue).collect(),
        armed: true,
        steers: false,
        flows,
        rdma,
        wire,
        classes: 2,
    }
}

pub(super) fn flows() -> Vec<NicFlow> {
    let flow = |number: u32| NicFlow {
        class: (number % 2) as u8,
        queue: Some((number % 2) as u16),
        core: ComponentId(number % 2),
        mss_bytes: 4044,
    };
    (0..4).map(flow).collect()
}
