//! Migration of threads between cores.

use super::{Component, ComponentKind, Machine};
use crate::core::Core;
use crate::os::NetStack;
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Scheduler};

impl Machine {
    /// Moves the thread of a flow from one core to another.
    pub(super) fn hand_over(
        &mut self,
        flow: u32,
        from: ComponentId,
        to: ComponentId,
        scheduler: &mut Scheduler<Payload>,
    ) {
        let index = |core: ComponentId| (core.0 - self.first.0) as usize;
        let (giver, taker) = (index(from), index(to));
        let migrating_socket =
            stack_of(&mut self.components[giver]).and_then(|stack| stack.release_socket(flow, from, &self.packets));
        let mut notices = Vec::new();
        let (homes, requests, packets) = (&self.homes, &mut self.requests, &mut self.packets);
        let mut context = Context::detached(to, homes, requests, packets, &mut notices, scheduler);
        if let (Some(migrating_socket), Some(stack)) = (migrating_socket, stack_of(&mut self.components[taker])) {
            stack.take(migrating_socket, &mut context);
        }
    }
}

/// Returns the network stack of a core.
fn stack_of(component: &mut Component) -> Option<&mut NetStack> {
    Core::of_mut(component).and_then(Core::stack_mut)
}
