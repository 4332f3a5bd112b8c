//! Messages that parts exchange.

use super::chore::Chore;
use super::message_event::MessageEvent;
use super::power::PowerEvent;
use super::ring::RingEvent;
use super::tags::{IioCounter, RegisterAccess, Slot, TlpTag, UpiPool};
use crate::line::{PacketId, RequestId};
use hostnet_kernel::{ComponentId, Event};
use serde::{Deserialize, Serialize};

/// Content of an event: a message to a part. The documentation of each variant names the receiver first. At most 16
/// bytes, so that an event has 40.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Payload {
    /// To a core: one of its LFB entries may be allocated again.
    Refill,
    /// To a core: the kernel has work for `pages` pages of IO of workload `class`.
    KernelWork {
        /// Number of pages of 4 KiB.
        pages: u32,
        /// Workload of the IO.
        class: u8,
        /// Drive that moved the data.
        ssd: u8,
        /// Time for which the core does nothing but invalidate translations, in ps.
        unmap_ps: u32,
    },
    /// To a core or the IIO: the data of a read.
    Data(RequestId),
    /// To a core: the CHA has admitted its write-back.
    Admitted(RequestId),
    /// To a core: the CHA has admitted its write-back and the LLC has taken the line, so that the request is complete.
    Taken(RequestId),
    /// To a core or a load generator, from itself: it begins, or its next step is due.
    Step,
    /// To a core with caches: a request of a client has arrived, or the reply of a server.
    Message {
        /// Workload that receives the message.
        class: u8,
    },
    /// To a core: a block of storage data has arrived and can be read.
    Block {
        /// First virtual line (address / 64).
        line: u64,
        /// Number of lines.
        lines: u32,
        /// Number of the job at the drive.
        job: u16,
        /// Drive that read the block.
        ssd: u8,
    },
    /// To a device: a core has read the block of a command.
    Consumed {
        /// Number of the job at the device.
        job: u16,
    },
    /// To the CHA: a request arrives. To a channel, in an advance notice: a request arrives at the time of the notice.
    Arrive(RequestId),
    /// To the CHA: the memory controller has accepted a write.
    Accepted(RequestId),
    /// To the CHA: the channel has sent the last beat of a read.
    Read(RequestId),
    /// To the requester of a write, or to the CHA over UPI: memory has accepted the write, or a request that needs no
    /// data is complete.
    Acknowledged(RequestId),
    /// To a channel, from itself: work is due.
    Wake,
    /// To the IIO: a write TLP of a device arrives.
    WriteTlp {
        /// First physical line.
        line: u64,
        /// Number of lines.
        lines: u8,
        /// Workload of the write.
        class: u8,
        /// Link of the device.
        link: u8,
        /// Identifier in the [`Payload::Seen`] that the device receives once the last line is globally visible, or
        /// `TlpTag::NONE` for none.
        tag: TlpTag,
    },
    /// To the IIO: a read request TLP of a device arrives.
    ReadTlp {
        /// First physical line.
        line: u64,
        /// Number of lines.
        lines: u8,
        /// Workload of the read.
        class: u8,
        /// Link of the device.
        link: u8,
    },
    /// To the IIO: the kernel unmaps a buffer, which devices may not access any more.
    Unmap {
        /// First virtual line.
        line: u64,
        /// Number of lines.
        lines: u32,
    },
    /// To the IIO, from itself: a device has received the translation of a page (ATS).
    Translated {
        /// Virtual page.
        page: u64,
        /// Link of the device.
        link: u8,
    },
    /// To a device, from itself: it may have a TLP to send.
    Send,
    /// To a device: posted credits return.
    PostedCredit {
        /// Credits, in lines.
        lines: u8,
    },
    /// To a device: all lines of a write TLP are globally visible.
    Seen {
        /// Identifier that the device gave the TLP.
        tag: TlpTag,
    },
    /// To a device: a completion with the data of `lines` lines.
    Completion {
        /// Number of lines.
        lines: u8,
        /// Workload of the read.
        class: u8,
    },
    /// To a device: a command of a job may start.
    Submit {
        /// Number of the job at the device.
        job: u16,
    },
    /// To a drive: a core has accepted the kernel work for these pages, which leave the backlog of the drive.
    KernelReady {
        /// Number of pages of 4 KiB.
        pages: u32,
    },
    /// To a NIC, switch or endpoint: the last bit of a packet has arrived by `port`.
    Packet {
        /// Id of the packet.
        id: PacketId,
        /// Port of the receiver.
        port: u16,
    },
    /// To a NIC, switch or endpoint, from itself: its `port` may send the next packet.
    PortReady {
        /// Port that is free.
        port: u16,
    },
    /// To a learning switch, from itself: all packets of the previous picosecond have arrived and can be forwarded.
    Forward,
    /// To a learning switch, from itself: a packet has crossed its fabric to `port`.
    Crossed {
        /// Port that the packet leaves by.
        port: u16,
    },
    /// To a NIC, switch or endpoint: the peer of `port` pauses a priority (PFC), or resumes it.
    Pause {
        /// Port of the receiver.
        port: u16,
        /// Priority, 0 to 7.
        priority: u8,
        /// True if the pause begins, false if it ends.
        on: bool,
    },
    /// To a part with transports, from itself: the timer of a connection is due. It is ignored if the timer has been
    /// set anew since, that is if `generation` is out of date.
    Timer {
        /// Number of the connection at the part.
        connection: u32,
        /// Number of times that the timer had been set.
        generation: u32,
    },
    /// To a part with transports or applications: a flow begins, or its application continues.
    Begin {
        /// Number of the connection at the part.
        connection: u32,
    },
    /// To the NIC, from a core: a packet, or a segment to be cut, is ready to send; its data is at the line of the
    /// packet. To a core, from another: a packet must be sent by the queue of the receiving core.
    Transmit(PacketId),
    /// To a core, from the NIC: a packet has arrived and its completion is visible.
    Received(PacketId),
    /// To a core, from the NIC: a receive queue interrupts. To the NIC, from itself: the interrupt moderation of a
    /// queue ends.
    Interrupt {
        /// Receive queue.
        queue: u16,
    },
    /// To the NIC, from a core: descriptors have been returned to the ring of a receive queue.
    Replenished {
        /// Receive queue.
        queue: u16,
        /// Number of descriptors.
        count: u16,
        /// True if the queue may interrupt again.
        armed: bool,
    },
    /// To a core, from the NIC: bytes of a flow have left the NIC, so that more may be handed to it.
    Sent {
        /// Flow of the bytes.
        flow: u32,
        /// Bytes of data.
        bytes: u32,
    },
    /// To a core, from itself: it is time for the thread of a connection to migrate.
    Move {
        /// Number of the connection at the core.
        connection: u32,
    },
    /// To a core, in an advance notice: the thread of a flow migrates here.
    Hop {
        /// Flow of the thread.
        flow: u32,
        /// Core that the thread leaves.
        from: ComponentId,
    },
    /// To a core, from another: a packet of a flow that has migrated to the receiving core.
    Backlog(PacketId),
    /// To a core, from another: bytes of a flow that has migrated to the receiving core have left the NIC.
    Left {
        /// Flow of the bytes.
        flow: u32,
        /// Bytes of data.
        bytes: u32,
    },
    /// To the NIC, from a core: packets of a flow must be steered to another receive queue. To the NIC, from itself:
    /// the new steering takes effect.
    Steer {
        /// Flow to steer.
        flow: u32,
        /// Receive queue that the packets of the flow go to.
        queue: u16,
    },
    /// To the IIO: a core accesses a register of the device at a link. To the device: the access arrives.
    Register {
        /// Link of the device.
        link: u8,
        /// Operation on the register.
        access: RegisterAccess,
    },
    /// To a core: the value of the register that it reads.
    RegisterValue,
    /// To the IIO or the CHA: a read of one of its counters.
    ReadCounter {
        /// Counter to read.
        counter: IioCounter,
    },
    /// From the IIO or the CHA: the value of a counter.
    Counter {
        /// Counter that was read.
        counter: IioCounter,
        /// Value of the counter.
        value: u64,
    },
    /// To a core or a fluid memory: requests of cores are delayed before they depart (MBA).
    Throttle {
        /// Delay, in ps.
        ps: u32,
    },
    /// To a core or a fluid memory: the process of a core is stopped, or continues.
    Halt {
        /// True if the process is stopped.
        on: bool,
    },
    /// To a UPI link: a credit has returned.
    UpiCredit {
        /// Pool of the credit.
        pool: UpiPool,
        /// End of the link whose requests the pool is for, 0 or 1.
        end: u8,
    },
    /// To the channel of a DIMM that contains a NIC, in an advance notice: the DIMM requests a slot. To the DIMM: the
    /// slot has passed.
    Slot {
        /// Request that the slot serves.
        id: RequestId,
        /// Content of the slot.
        slot: Slot,
    },
    /// To a DIMM that contains a NIC, from a core: rows must be cloned.
    Clone {
        /// First row to clone, counted from the first row of the DIMM.
        from: u32,
        /// First row of the clone.
        to: u32,
        /// Packet that the rows hold.
        packet: PacketId,
        /// Lines from the start of the first row to the end of the packet.
        lines: u16,
        /// True if the packet was received, so that the core must be notified of the end of the clone.
        received: bool,
    },
    /// To a core, from a DIMM that contains a NIC: the rows of a received packet are cloned. To the DIMM, from itself:
    /// a clone ends.
    Cloned(PacketId),
    /// To the host congestion control: the write of a register has ended.
    RegisterWritten,
    /// To a core with transports: the host begins or stops to mark packets.
    Echo {
        /// True if packets are marked from now on.
        on: bool,
        /// True for packets that the core sends, false for those that it receives.
        outgoing: bool,
    },
    /// To a core, from itself: the work that it executed for its rank is done, or the rank begins.
    Worked,
    /// To a core, from itself, or to the NIC: the rank of the core sends bytes by a flow.
    Post {
        /// Flow that carries the bytes.
        flow: u32,
        /// Bytes of data.
        bytes: u64,
    },
    /// To a core, from itself or the NIC: bytes for its rank have arrived by a flow and been read.
    Came {
        /// Flow that carried the bytes.
        flow: u32,
        /// Bytes of data.
        bytes: u64,
    },
    /// To a core, from itself or the NIC: all bytes that its rank sends by a flow have been written.
    Written {
        /// Flow that carries the bytes.
        flow: u32,
    },
    /// To a core, from another: a rank has put a message into the memory that both cores share.
    Delivered {
        /// Rank that sent the message.
        rank: u32,
        /// Bytes of the message.
        bytes: u64,
    },
    /// To an endpoint, from another: a rank has sent the message with this number, in this repetition of its program,
    /// by a flow. It comes no later than the first packet of the message, and costs nothing.
    #[allow(missing_docs)]
    Announced { flow: u32, repetition: u32, message: u32 },
    /// To the interfaces of a memory channel network: a buffer device has received a line that was written past the
    /// caches.
    Issued(RequestId),
    /// Between cores and the interfaces of a memory channel network.
    Ring(RingEvent),
    /// Between endpoints and a network that carries messages whole: a flow or channel, and bytes (see the event).
    Whole(MessageEvent, u32, u64),
    /// To a core, from another: a piece of work for a request. To a core, from itself: storage has answered.
    Chore {
        /// The piece of work.
        chore: Chore,
        /// True if storage has answered.
        read: bool,
    },
    /// To a core, from another: the request in this slot of the receiving core has been served.
    Served(u32),
    /// To a core, from another: the sending core has become idle or busy.
    Idle {
        /// Index of the sending core among those that serve the NIC.
        core: u16,
        /// True if the sending core has become idle.
        idle: bool,
    },
    /// Between cores, NIC and power management.
    Power(PowerEvent),
    /// To the migration of pages, from a core: a sampled access has ended.
    Sampled {
        /// Physical line.
        line: u64,
        /// Time from the LFB entry to the data, in ns.
        latency_ns: u32,
    },
    /// To a core, from the migration of pages: the translation of a page must be invalidated.
    UnmapPage {
        /// Number of the page.
        page: u32,
        /// Part that waits for the invalidation.
        tiering: ComponentId,
    },
    /// To the migration of pages, from a core: the translation is invalidated.
    PageUnmapped {
        /// Number of the page.
        page: u32,
    },
    /// To a core, from the migration of pages: one end of the next copy of a page.
    CopyPage {
        /// First physical line.
        line: u64,
        /// True if the page is copied to there, false if from there.
        to: bool,
    },
    /// To the migration of pages, from a core: the page is copied.
    PageCopied,
    /// To a core, from the migration of pages: a page is mapped at its new place.
    MapPage {
        /// Number of the page.
        page: u32,
        /// First physical line.
        line: u64,
    },
}

const _: () = assert!(std::mem::size_of::<Event<Payload>>() <= 40);
