//! Controller of a pool, which decides on shared pages that no switch decides on, one message at a time.

use super::directory::{Directory, Order};
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

    /// Queues a message about a page.
    pub(super) fn enqueue(&mut self, from: u16, message: PoolMessage, context: &mut Context) {
        self.waiting.push_back((from, message));
        // Another message is being processed; it starts the next when it is done.
        if self.waiting.len() == 1 {
            self.process_next(context);
        }
    }

    /// Schedules the decision on the oldest message.
    fn process_next(&self, context: &mut Context) {
        context.send(context.id, self.message_ps, Payload::Timer { connection: TIMER, generation: 0 });
    }

    /// Decides on the oldest message. Returns the orders that follow, after which [`Controller::go_on`] is called.
    pub(super) fn decide(&mut self) -> Vec<Order> {
        let (from, message) = self.waiting.pop_front().expect("it looked at one");
        let mut orders = Vec::new();
        self.directory.on_message(from, &message, &mut orders);
        orders
    }

    /// Continues with the next message, if one waits.
    pub(super) fn go_on(&self, context: &mut Context) {
        if !self.waiting.is_empty() {
            self.process_next(context);
        }
    }
}
