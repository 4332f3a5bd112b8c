//! What parts send each other.

use super::power::PowerEvent;
use super::serving::Chore;
use super::tags::{Access, IioCounter, Slot, Tag, UpiPool};
use crate::line::{PacketId, RequestId};
use hostnet_kernel::{ComponentId, Event};
use serde::{Deserialize, Serialize};

/// What events carry. At most 16 bytes, so that an event is 40.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Payload {
    /// To a core: one of its LFB entries may be allocated again.
    Refill,
    /// To a core: the kernel has work for `pages` pages of IO of workload `class`.
    KernelWork {
        /// Pages of 4 KiB.
        pages: u32,
        /// The workload.
        class: u8,
        /// The drive that moved the data.
        ssd: u8,
    },
    /// To a core or the IIO: the data of a read.
    Data(RequestId),
    /// To a core: the CHA admitted its write-back.
    Admitted(RequestId),
    /// To a core: the CHA admitted its write-back and the LLC has taken the line, so that the request is over.
    Taken(RequestId),
    /// To a core with caches: it begins, or the time of its next access has come.
    Step,
    /// To a core with caches: a request of a client is there, or a reply of a server.
    Message {
        /// The workload.
        class: u8,
    },
    /// To a core: a block of storage data is there to be read.
    Block {
        /// Virtual address of its first line / 64.
        line: u64,
        /// Lines.
        lines: u32,
        /// The job of the drive.
        job: u16,
        /// The drive.
        ssd: u8,
    },
    /// To a device: a core has read the block of a command.
    Consumed {
        /// The job's number at this device.
        job: u16,
    },
    /// To the CHA: a request arrives. To a channel, which is told of it when it sets out, too.
    Arrive(RequestId),
    /// To the CHA: the memory controller accepted a write.
    Accepted(RequestId),
    /// To the CHA: the channel has sent the last beat of a read.
    Read(RequestId),
    /// To the IIO, or to the CHA over UPI: a write was accepted by memory, or what needs no data is done.
    Acknowledged(RequestId),
    /// To a channel: it is time to do what is due.
    Wake,
    /// To the IIO: a write TLP of a device arrives.
    WriteTlp {
        /// First physical line.
        line: u64,
        /// Lines.
        lines: u8,
        /// The workload.
        class: u8,
        /// The device's link.
        link: u8,
        /// What the device wants to be told by when its last line can be seen, or [`Tag::NONE`].
        tag: Tag,
    },
    /// To the IIO: a read request TLP of a device arrives.
    ReadTlp {
        /// First physical line.
        line: u64,
        /// Lines.
        lines: u8,
        /// The workload.
        class: u8,
        /// The device's link.
        link: u8,
    },
    /// To a device: look for a TLP to send.
    Send,
    /// To a device: lines of posted credit come back.
    PostedCredit {
        /// Lines.
        lines: u8,
    },
    /// To a device: the lines of a write TLP can be seen by everybody.
    Seen {
        /// What the device knows the TLP by.
        tag: Tag,
    },
    /// To a device: a completion with the data of `lines` lines.
    Completion {
        /// Lines.
        lines: u8,
        /// The workload.
        class: u8,
    },
    /// To a device: a command of a job may start.
    Submit {
        /// The job's number at this device.
        job: u16,
    },
    /// To a device: the kernel keeps up with work that the device caused.
    KernelReady {
        /// Pages of 4 KiB.
        pages: u32,
    },
    /// To a NIC, switch or endpoint: the last bit of a packet has come in by `port`.
    Packet {
        /// The packet.
        id: PacketId,
        /// The port of the receiver.
        port: u16,
    },
    /// To a NIC, switch or endpoint: its own `port` may send the next packet.
    PortReady {
        /// The port.
        port: u16,
    },
    /// To a switch that learns: all packets of a moment have come.
    Forward,
    /// To a switch that learns: a packet has come through its fabric to `port`.
    Crossed {
        /// The port.
        port: u16,
    },
    /// To a NIC, switch or endpoint: the peer of `port` asks for a pause of a priority (PFC), or for its end.
    Pause {
        /// The port of the receiver.
        port: u16,
        /// The priority.
        priority: u8,
        /// Whether it begins.
        on: bool,
    },
    /// To a part with transports: a timer of one of them has come, if `generation` is still its.
    Timer {
        /// The part's own number of the connection.
        connection: u32,
        /// Counts the times that the timer was set.
        generation: u32,
    },
    /// To a part with transports or applications: a flow begins, or its application goes on.
    Begin {
        /// The part's own number of the connection.
        connection: u32,
    },
    /// From a core to its NIC: a packet, or a segment to be cut, is to be sent; it lies at the packet's line in memory.
    /// From one core to another: it is to go by the queue of that one.
    Transmit(PacketId),
    /// From the NIC to a core: a packet has come and its completion can be seen.
    Received(PacketId),
    /// From the NIC to a core: an interrupt of a receive queue. From the NIC to itself: the moderation of a queue's
    /// interrupts ends.
    Interrupt {
        /// The queue.
        queue: u16,
    },
    /// From a core to the NIC: descriptors are back in the ring, and perhaps interrupts are wanted again.
    Replenished {
        /// The queue.
        queue: u16,
        /// Descriptors.
        count: u16,
        /// Whether the queue may interrupt.
        armed: bool,
    },
    /// From the NIC to a core: bytes of a connection have left, so that more may be handed down.
    Sent {
        /// The flow.
        flow: u32,
        /// Bytes of data.
        bytes: u32,
    },
    /// To a core: the thread of a connection is to go to another core.
    Move {
        /// The core's own number of the connection.
        connection: u32,
    },
    /// Told to a core: the thread of a flow comes from another core.
    Hop {
        /// The flow.
        flow: u32,
        /// The core that it comes from.
        from: ComponentId,
    },
    /// From one core to another: a packet of a flow that has gone there.
    Backlog(PacketId),
    /// From one core to another: bytes of a connection that has gone there have left.
    Left {
        /// The flow.
        flow: u32,
        /// Bytes of data.
        bytes: u32,
    },
    /// From a core to the NIC: packets of a flow are to come in by another queue. From the NIC to itself: from now on
    /// they do.
    Steer {
        /// The flow.
        flow: u32,
        /// The queue.
        queue: u16,
    },
    /// To the IIO: a core accesses a register of the device at a link. To the device: so it does.
    Register {
        /// The device's link.
        link: u8,
        /// The access.
        access: Access,
    },
    /// To a core: the value of the register that it reads.
    RegisterValue,
    /// To the IIO: a counter is to be read.
    ReadCounter {
        /// Which one.
        counter: IioCounter,
    },
    /// From the IIO: the value of a counter.
    Counter {
        /// Which one.
        counter: IioCounter,
        /// Its value.
        value: u64,
    },
    /// To a core: every request of its own waits so long before it leaves (MBA).
    Throttle {
        /// In ps.
        ps: u32,
    },
    /// To a core: its process is stopped, or goes on.
    Halt {
        /// Whether it is stopped.
        on: bool,
    },
    /// To a UPI: a credit is back.
    UpiCredit {
        /// Of which pool.
        pool: UpiPool,
        /// The end whose requests the pool is for.
        end: u8,
    },
    /// To the channel of a DIMM with a NIC, which is told of it: it wants a slot. From there: the slot has passed.
    Slot {
        /// The request.
        id: RequestId,
        /// What the slot carries.
        slot: Slot,
    },
    /// From a core to a DIMM with a NIC: rows are to be cloned.
    Clone {
        /// The first row, counted from the first of the DIMM.
        from: u32,
        /// The first row of the copy.
        to: u32,
        /// The packet that it is for.
        packet: PacketId,
        /// Bytes from the beginning of the first row, in lines.
        lines: u16,
        /// Whether the packet has come in, and the core is to be told.
        received: bool,
    },
    /// From a DIMM with a NIC to a core: the rows of a packet that came in are cloned. To itself: so they are.
    Cloned(PacketId),
    /// To what watches the host: the write of a register has ended.
    RegisterWritten,
    /// To a core with transports: packets are to be marked, or not any more.
    Echo {
        /// Whether they are.
        on: bool,
        /// Whether those that go out are meant, and not those that come in.
        outgoing: bool,
    },
    /// From a core to itself: what it executed for its rank is done, or the rank begins.
    Worked,
    /// From a core to itself, or to the NIC: its rank sends bytes by a flow.
    Post {
        /// The flow.
        flow: u32,
        /// Bytes.
        bytes: u64,
    },
    /// To a core, from itself or the NIC: bytes for its rank have come by a flow and been read.
    Came {
        /// The flow.
        flow: u32,
        /// Bytes.
        bytes: u64,
    },
    /// To a core, from itself or the NIC: all that its rank sends by a flow has been written.
    Written {
        /// The flow.
        flow: u32,
    },
    /// From one core to another: a rank has put a message into the memory that both share.
    Delivered {
        /// The rank that it is from.
        rank: u32,
        /// Bytes.
        bytes: u64,
    },
    /// To the interfaces of a memory channel network: a buffer device has a line that was written past the caches.
    Issued(RequestId),
    /// From the interfaces to a core: it may write a message.
    RingWrite {
        /// The packet.
        id: PacketId,
        /// The interface.
        port: u16,
        /// The line of the ring that the message begins at.
        line: u16,
    },
    /// From the interfaces to a core: the device has all lines of the message that it writes.
    RingFenced {
        /// The interface.
        port: u16,
    },
    /// From a core to the interfaces: so long it waited for that.
    RingWaited {
        /// The interface.
        port: u16,
        /// In ps.
        ps: u32,
    },
    /// From the interfaces to the core of the driver: it is to look for messages, by the signal that it heard.
    RingPoll(u16),
    /// From the core of the driver to the interfaces: it has read the poll word of this one.
    RingLooked(u16),
    /// From the core of the driver to the interfaces: it has read all poll words.
    RingPolled,
    /// From the interfaces to the core of the driver: it is to read a message.
    RingRead {
        /// The packet.
        id: PacketId,
        /// The interface.
        port: u16,
        /// The line of the ring that the message begins at.
        line: u16,
    },
    /// From the core of the driver to the interfaces: it has read a message.
    RingDone {
        /// The interface.
        port: u16,
        /// Lines of the message.
        lines: u16,
    },
    /// From the interfaces to a core: a packet has left the driver.
    RingSent {
        /// The flow.
        flow: u32,
        /// Bytes of data.
        bytes: u32,
    },
    /// From the interfaces of one machine to those of another: lines of a ring have been read.
    RingFreed {
        /// The interface of the receiver.
        port: u16,
        /// Lines.
        lines: u16,
    },
    /// From one core to another: a packet has been read out of a ring.
    RingReceived(PacketId),
    /// From one core to another: it is to do a piece of work. From a core to itself: storage has answered.
    Chore {
        /// The work.
        chore: Chore,
        /// Whether storage has answered.
        read: bool,
    },
    /// From one core to another: a request that came to it, by its place there, has been served.
    Served(u32),
    /// From one core to another: it has nothing to do from now on, or something.
    Idle {
        /// The core, by its place among those that serve the NIC.
        core: u16,
        /// Whether it has nothing to do.
        idle: bool,
    },
    /// Between cores, NIC and power management.
    Power(PowerEvent),
}

const _: () = assert!(std::mem::size_of::<Event<Payload>>() <= 40);
