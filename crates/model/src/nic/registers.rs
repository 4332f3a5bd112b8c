//! Register accesses of cores that have a cost, and receive descriptors that the NIC fetches.

use super::data_path::DataPath;
use super::receive_buffer::ReceiveBuffer;
use crate::link::PcieEndpoint;
use crate::part::{Context, RegisterAccess};
use hostnet_kernel::ComponentId;

impl DataPath {
    /// Handles a register access of a core that has arrived over the link of `iio`.
    pub(super) fn on_register(&mut self, access: RegisterAccess, iio: ComponentId, context: &mut Context) {
        match access {
            RegisterAccess::Doorbell { id, core } => self.transmit.enqueue(id, core, &self.common, context),
            RegisterAccess::Tail { queue, count, armed } => {
                self.receive.buffer.replenish(queue, count, armed, &mut self.common, context);
            }
            RegisterAccess::Status { core } => {
                let to_core_ps = self.common.params.attach.map_or(0, |attach| attach.register_ps);
                // The answer goes back over the link that the read came by.
                let number = self.function_at(iio);
                self.functions[number].endpoint.answer(core, to_core_ps, context);
            }
        }
    }

    /// Sends a read request of a function, for receive descriptors or for data to send. Returns true if a request was
    /// sent.
    pub(super) fn read(&mut self, function: usize, context: &mut Context) -> bool {
        // Descriptors first: without them received packets block the buffer.
        if self.fetch(function, context) {
            return true;
        }
        let endpoint = &mut self.functions[function].endpoint;
        self.transmit.read(function, endpoint, &mut self.common, context)
    }

    fn fetch(&mut self, function: usize, context: &mut Context) -> bool {
        let endpoint = &mut self.functions[function].endpoint;
        let Some(number) = self.receive.buffer.to_fetch(function, endpoint) else { return false };
        let queue = &mut self.receive.buffer.queues[usize::from(number)];
        let class = queue.class;
        let Some((address, lines)) = queue.begin_fetch() else { return false };
        endpoint.read(self.common.pages.physical(address) / 64, lines, class, context);
        self.transmit.expect(function, number, lines);
        true
    }

    /// Hands fetched descriptors to the receive queues that they were fetched for.
    pub(super) fn take_fetched(&mut self) {
        for queue in self.transmit.fetched.drain(..) {
            self.receive.buffer.queues[usize::from(queue)].end_fetch();
        }
    }
}

impl ReceiveBuffer {
    /// Returns a receive queue of the function that needs descriptors, if the credits for reading them are available.
    pub(super) fn to_fetch(&self, function: usize, endpoint: &PcieEndpoint) -> Option<u16> {
        let mut queues = (0..).zip(&self.queues).filter(|(_, queue)| queue.function == function);
        let (number, queue) = queues.find(|(_, queue)| queue.needs_descriptors())?;
        // All lines or none, as one request.
        endpoint.may_read(queue.lines_to_fetch()).then_some(number)
    }
}
