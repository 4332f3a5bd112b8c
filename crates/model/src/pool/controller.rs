//! Controller of a pool, which decides on shared pages that no switch decides on, one message at a time.

use super::directory::{Directory, Order};
use super::PoolPort;
use crate::line::PoolMessage;
use crate::params::PageControllerParams;
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Number of the controller's timer. Requests and pages have lower ones.
pub(super) const TIMER: u32 = u32::MAX;

/// State of the controller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Controller {
    message_ps: u64,
    pub(super) directory: Directory,
    /// Messages with their senders, oldest first. The first one is being processed.
    waiting: VecDeque<(u16, PoolMessage)>,
}

impl Controller {
    pub(super) fn new(params: &PageControllerParams) -> Self {
        let PageControllerParams { regions, message_ps } = params;
        Self { message_ps: *message_ps, directory: Directory::new(regions.clone()), waiting: VecDeque::new() }
    }
}

impl PoolPort {
    /// Queues a message about a page.
    pub(super) fn on_page_message(&mut self, from: u16, message: PoolMessage, context: &mut Context) {
        let controller = self.controller.as_mut().expect("only the controller is asked");
        controller.waiting.push_back((from, message));
        // Another message is being processed; it starts the next when it is done.
        if controller.waiting.len() == 1 {
            self.process_next(context);
        }
    }

    fn process_next(&mut self, context: &mut Context) {
        let delay_ps = self.controller.as_ref().map_or(1, |controller| controller.message_ps);
        context.send(context.id, delay_ps, Payload::Timer { connection: TIMER, generation: 0 });
    }

    /// Decides on the oldest message, and sends the orders that follow.
    pub(super) fn decide(&mut self, context: &mut Context) {
        let controller = self.controller.as_mut().expect("only the controller decides");
        let (from, message) = controller.waiting.pop_front().expect("it looked at one");
        let more = !controller.waiting.is_empty();
        let mut orders: Vec<Order> = Vec::new();
        controller.directory.on_message(from, &message, &mut orders);
        for (to, message) in orders {
            self.send(message, to, self.params.latency_ps, context);
        }
        if more {
            self.process_next(context);
        }
    }
}
