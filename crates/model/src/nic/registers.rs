//! What cores write to the card, as far as it has a cost, and the receive descriptors that the card reads.

use super::receive::Receive;
use super::Nic;
use crate::link::Endpoint;
use crate::part::{Access, Context};
use hostnet_kernel::ComponentId;

impl Nic {
    /// An access of a core has come by the link of an IIO.
    pub(super) fn on_register(&mut self, access: Access, iio: ComponentId, context: &mut Context) {
        match access {
            Access::Doorbell { id, core } => self.transmit.enqueue(id, core, &self.common, context),
            Access::Tail { queue, count, armed } => {
                self.receive.replenish(queue, count, armed, &mut self.common, context);
            }
            Access::Status { core } => {
                let to_core_ps = self.common.params.attach.map_or(0, |attach| attach.register_ps);
                let number = self.function_at(iio);
                self.functions[number].endpoint.answer(core, to_core_ps, context);
            }
        }
    }

    /// A function sends a read request, for descriptors of a receive queue or for what is to be sent. True when it did.
    pub(super) fn read(&mut self, function: usize, context: &mut Context) -> bool {
        if self.fetch(function, context) {
            return true;
        }
        let endpoint = &mut self.functions[function].endpoint;
        self.transmit.read(function, endpoint, &mut self.common, context)
    }

    fn fetch(&mut self, function: usize, context: &mut Context) -> bool {
        let endpoint = &mut self.functions[function].endpoint;
        let Some(number) = self.receive.to_fetch(function, endpoint) else { return false };
        let queue = &mut self.receive.queues[usize::from(number)];
        let class = queue.class;
        let Some((address, lines)) = queue.begin_fetch() else { return false };
        endpoint.read(self.common.pages.physical(address) / 64, lines, class, context);
        self.transmit.expect(function, number, lines);
        true
    }

    /// Queues have the descriptors that were read for them.
    pub(super) fn take_fetched(&mut self) {
        for queue in self.transmit.fetched.drain(..) {
            self.receive.queues[usize::from(queue)].end_fetch();
        }
    }
}

impl Receive {
    /// The receive queue whose descriptors a function can read now.
    pub(super) fn to_fetch(&self, function: usize, endpoint: &Endpoint) -> Option<u16> {
        let mut queues = (0..).zip(&self.queues).filter(|(_, queue)| queue.function == function);
        let (number, queue) = queues.find(|(_, queue)| queue.wants_descriptors())?;
        endpoint.may_read(queue.lines_to_fetch()).then_some(number)
    }
}
