//! Arbitration between the reads and writes of each function.

use super::counters::HeadWait;
use super::data_path::DataPath;
use super::function::Function;
use super::writer::WriteStep;
use crate::part::Context;
use hostnet_kernel::ComponentId;

impl DataPath {
    /// Sends one TLP of a function. Writes and reads alternate, and send completions and event queue entries go
    /// before packets.
    fn send(&mut self, number: usize, context: &mut Context) {
        // Reads and writes alternate, so that neither direction starves the other on a full lane.
        if self.functions[number].read_turn && self.read(number, context) {
            self.functions[number].read_turn = false;
            return;
        }
        let Function { endpoint, read_turn, .. } = &mut self.functions[number];
        let common = &mut self.common;
        // Completions go first: they are one line each, and cores wait for them.
        if self.transmit.sent.write(number, endpoint, common, context)
            || self.receive.buffer.write_event(number, endpoint, common, context)
        {
            // A write of any kind was sent, so a read is next.
            *read_turn = true;
            return;
        }
        let next = self.receive.next(number, endpoint, context.packets, common);
        if matches!(next, WriteStep::Write(time) if time <= context.now()) {
            self.receive.write(number, endpoint, common, context);
            *read_turn = true;
        // With `read_turn` set the read was tried above and had nothing to send.
        } else if !*read_turn {
            self.read(number, context);
        }
    }

    /// Schedules the next TLP of each function, and records the resource that the head of the buffer waits for: a
    /// descriptor, if the head of any function waits for one.
    pub(super) fn plan(&mut self, context: &mut Context) {
        let now = context.now();
        let mut waits = HeadWait::None;
        for (number, function) in self.functions.iter_mut().enumerate() {
            let endpoint = &function.endpoint;
            let write = match self.receive.next(number, endpoint, context.packets, &self.common) {
                WriteStep::Write(time) => Some(time),
                WriteStep::HeadWait(wait) => {
                    // A missing descriptor takes precedence, because drops are attributed to it.
                    waits = if waits == HeadWait::None || wait == HeadWait::Descriptor { wait } else { waits };
                    None
                }
            };
            let read = self.transmit.next(number, now, endpoint, context.packets, &self.common);
            let small = self.transmit.sent.may_write(number, endpoint, &self.common)
                || self.receive.buffer.events.may_write(number, endpoint, &self.common);
            let completion = small.then_some(now);
            let fetch = self.receive.buffer.to_fetch(number, endpoint).map(|_| now);
            // The earliest of all: the arbitration decides again at that time.
            if let Some(time) = write.into_iter().chain(read).chain(completion).chain(fetch).min() {
                function.wake_at(time, context);
            }
        }
        // Recorded at every event, so that the counters hold between two events.
        self.common.counters.wait(now, waits);
        let is_held = self.transmit.waits_for_window(&self.common);
        self.common.counters.window_wait.set(now, u64::from(is_held));
    }

    /// Sends the TLPs of all functions that are due. Returns false if none is due.
    pub(super) fn send_due(&mut self, context: &mut Context) -> bool {
        let mut due = false;
        for number in 0..self.functions.len() {
            if self.functions[number].take_due_wake(context.now()) {
                self.send(number, context);
                due = true;
            }
        }
        due
    }

    /// Returns the function whose link leads to an IIO.
    pub(super) fn function_at(&self, iio: ComponentId) -> usize {
        // A function has an IIO to itself, so the sender of an event names the function.
        self.functions.iter().position(|function| function.endpoint.iio() == iio).expect("an IIO of its own answers")
    }
}
