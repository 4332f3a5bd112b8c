//! Applications of a network core: their turns, and the system calls by which they read and write.

use super::counters::CoreTimeKind;
use super::ends::datagram::DatagramWork;
use super::lines::LineProgress;
use super::power::NO_CONNECTION;
use super::task::{NextWork, Task};
use super::NetStack;
use crate::lfb::Lfb;
use crate::met::Limit;
use crate::part::{Context, Payload};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// System call in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SystemCall {
    socket: u32,
    bytes: u64,
    reads: bool,
    since: Time,
    /// True once the copy of the call has begun.
    copying: bool,
}

impl SystemCall {
    /// Returns true if the call is one of `socket`.
    pub(super) fn is_of(&self, socket: u32) -> bool {
        self.socket == socket
    }
}

impl NetStack {
    /// Chooses the next work of the applications.
    pub(super) fn next_call(&mut self, lfb: &mut Lfb, context: &mut Context) -> NextWork {
        loop {
            if self.current_call.is_some_and(|current_call| current_call.copying) {
                match self.lines.advance(lfb, &mut self.counts, context) {
                    LineProgress::Until(at) => {
                        return NextWork::Work(Task::Copy, at.since(context.now()), CoreTimeKind::Copy);
                    }
                    LineProgress::Waiting => return NextWork::Wait(CoreTimeKind::Stalled),
                    LineProgress::Done => {
                        self.end_call(context);
                        // The data of a call is sent before the next call begins, as in `tcp_sendmsg`.
                        if let Some(work) = self.next_output(context) {
                            return work;
                        }
                    }
                }
            }
            let Some(index) = self.ends.ready.pop_front() else { return NextWork::Nothing };
            let index = index as usize;
            if index < self.ends.sockets.len() && !self.ends.sockets[index].stays() {
                self.ends.sockets[index].ready = false;
                continue;
            }
            if index >= self.ends.sockets.len() {
                match self.ends.next_datagram_work(index, context) {
                    DatagramWork::Nothing => continue,
                    DatagramWork::Generate(packet) => {
                        let task = Task::Output { socket: index as u32, packet };
                        return NextWork::Work(task, self.stack.generate_ps, CoreTimeKind::Send);
                    }
                    DatagramWork::Forward { bytes, work_ps } => {
                        let since = context.now();
                        let socket = index as u32;
                        self.current_call = Some(SystemCall { socket, bytes, reads: true, since, copying: false });
                        return NextWork::Work(Task::Call, work_ps, CoreTimeKind::Call);
                    }
                    DatagramWork::Call { bytes, reads, asleep } => {
                        let since = context.now();
                        self.current_call =
                            Some(SystemCall { socket: index as u32, bytes, reads, since, copying: false });
                        return NextWork::Work(Task::Call, self.call_ps(asleep), CoreTimeKind::Call);
                    }
                }
            }
            if let Some(current_call) = self.next_action(index, context) {
                self.current_call = Some(current_call);
                let socket = &mut self.ends.sockets[index];
                let asleep = std::mem::take(&mut socket.asleep);
                socket.counts.calls += 1;
                socket.counts.wakes += u64::from(asleep);
                return NextWork::Work(Task::Call, self.call_ps(asleep), CoreTimeKind::Call);
            }
            let socket = &mut self.ends.sockets[index];
            socket.ready = false;
            socket.asleep = true;
        }
    }

    /// Returns the work of a system call before its copy, in ps. A sleeping application must be woken up first.
    fn call_ps(&self, asleep: bool) -> u64 {
        if asleep {
            self.stack.wake_ps
        } else {
            self.stack.call_ps
        }
    }

    /// Returns the next system call of an application, if there is one. After a read, writes are considered first.
    fn next_action(&mut self, index: usize, context: &mut Context) -> Option<SystemCall> {
        let now = context.now();
        let most = u64::from(self.stack.call_bytes.max(1));
        let socket = &mut self.ends.sockets[index];
        let readable = if socket.is_deaf(now) { 0 } else { socket.connection.readable() };
        if readable > most {
            self.counts.met.set(Limit::CallBytes);
        }
        let readable = readable.min(most);
        let call = |bytes, reads| Some(SystemCall { socket: index as u32, bytes, reads, since: now, copying: false });
        // A response is written before the next request is read.
        if readable > 0 && !socket.write_next {
            return call(readable, true);
        }
        socket.write_next = false;
        let room = socket.room();
        let action = socket.application.poll(now, 0, room.min(most));
        if action.write == most && room > most {
            self.counts.met.set(Limit::CallBytes);
        }
        // All room used: the application would have written more.
        socket.blocked = action.write == room;
        if socket.blocked {
            socket.connection.wait_for_room();
        }
        if let Some(at) = action.wake_at.filter(|&at| at > now && socket.wake_at.is_none_or(|pending| at < pending)) {
            socket.wake_at = Some(at);
            context.send(context.id, at.since(now), Payload::Begin { connection: index as u32 });
            self.execution.note_timer(now, at, NO_CONNECTION);
        }
        if action.write > 0 {
            return call(action.write, false);
        }
        if readable > 0 {
            return call(readable, true);
        }
        None
    }

    /// Begins the copy of the current system call.
    pub(super) fn begin_copy(&mut self, context: &Context) {
        let Some(current_call) = &mut self.current_call else { return };
        current_call.copying = true;
        let SystemCall { socket: index, reads, .. } = *current_call;
        if index as usize >= self.ends.sockets.len() {
            let dimm = self.driver.dimm.as_deref();
            let Self { ends, lines, stack, .. } = self;
            return ends.begin_datagram_copy(index as usize, reads, lines, stack, dimm, context);
        }
        let socket = &mut self.ends.sockets[current_call.socket as usize];
        let class = socket.params.class;
        if current_call.reads {
            self.lines.begin_read(class);
            socket.take(current_call.bytes, self.stack.line_size, |line, lines| self.lines.source(line, lines));
            if let Some((line, lines)) = socket.rest(self.stack.line_size) {
                self.lines.name_lines_after_source(line, lines);
            }
        } else {
            let to = socket.line(socket.counts.written_bytes);
            let copied = if socket.params.file.is_some() { 0 } else { current_call.bytes };
            let lines = self.stack.line_size.shrink(copied).div_ceil(64);
            self.lines.begin_write(class, lines, to, context);
        }
    }

    /// Ends the current system call, whose copy is done. The application goes to the end of the queue.
    fn end_call(&mut self, context: &mut Context) {
        let Some(SystemCall { socket: index, bytes, reads, since, .. }) = self.current_call.take() else { return };
        let now = context.now();
        self.times.waited(self.lines.take_waited());
        if index as usize >= self.ends.sockets.len() {
            return self.ends.end_datagram_call(index as usize, reads, self.driver.dimm.as_deref_mut(), now);
        }
        let socket = &mut self.ends.sockets[index as usize];
        if reads {
            // Data of a call that began before the application went deaf is still read.
            let at = if socket.is_deaf(now) { since } else { now };
            let _ = socket.application.poll(at, bytes, 0);
            socket.connection.read(now, bytes);
            socket.counts.read_bytes += bytes;
            socket.write_next = true;
            let (flow, bytes) = (socket.params.flow, socket.application.take_arrived());
            if bytes > 0 {
                // The rank is an engine of the same core; events keep the two apart.
                context.send(context.id, 1, Payload::Came { flow, bytes });
            }
            let busy = self.is_busy();
            let Self { services, ends, .. } = self;
            services.iter_mut().for_each(|services| services.take_requests(index as usize, ends, busy, context));
        } else {
            socket.connection.write(bytes);
            socket.counts.written_bytes += bytes;
            if socket.application.is_written() {
                context.send(context.id, 1, Payload::Written { flow: socket.params.flow });
            }
        }
        self.ends.ready.push_back(index);
        self.ends.queue_output(index as usize);
    }
}
