//! What parts see of the world: the events, the layout, and a context while they handle an event.

use crate::cache::Caches;
use crate::fluid::FluidMemory;
use crate::memory::Decoder;
use crate::packet::{PacketId, Packets};
use crate::request::{RequestId, Requests};
use crate::upi::UpiPool;
use hostnet_kernel::{ComponentId, Event, Scheduler, Time};
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
    Message,
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
    /// To the CHA or a channel: a request arrives.
    Arrive(RequestId),
    /// To the CHA: the memory controller accepted a write.
    Accepted(RequestId),
    /// To the CHA: the channel has sent the last beat of a read.
    Read(RequestId),
    /// To the IIO: a write was accepted by memory.
    Acknowledged(RequestId),
    /// To a channel: it is time for what was planned for `clock`, if that is still the plan.
    Wake {
        /// The channel's clock.
        clock: u64,
    },
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
    },
    /// To what watches the host: the write of a register has ended.
    RegisterWritten,
    /// To a core with transports: packets are to be marked, or not any more.
    Echo {
        /// Whether they are.
        on: bool,
        /// Whether those that go out are meant, and not those that come in.
        outgoing: bool,
    },
}

/// What the IIO counts for ever, as its registers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IioCounter {
    /// Entries of the write buffer in use, added up every clock of the IIO.
    WriteOccupancy,
    /// Lines inserted into the write buffer.
    WriteInsertions,
    /// Entries of the read buffer in use, added up every clock of the IIO.
    ReadOccupancy,
    /// Lines inserted into the read buffer.
    ReadInsertions,
}

const _: () = assert!(std::mem::size_of::<Event<Payload>>() <= 40);

/// Which component is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The first core.
    pub core: u32,
    /// The CHA.
    pub cha: u32,
    /// The first channel.
    pub channel: u32,
    /// The IIO.
    pub iio: u32,
    /// The first drive.
    pub ssd: u32,
    /// The NIC; as many follow the drives as there are, 0 or 1.
    pub nic: u32,
    /// UPI, one for each other socket.
    pub upi: u32,
    /// The first core of another socket.
    pub remote: u32,
    /// What watches the host; 0 or 1.
    pub control: u32,
    /// What feeds a server that is loaded to find its rates; 0 or 1.
    pub feeder: u32,
    /// Slices of the CHA.
    pub slices: u32,
    /// One past the last component.
    pub end: u32,
}

/// What a part sees of the world while it handles an event.
pub struct Context<'a> {
    /// The part itself.
    pub id: ComponentId,
    /// Which component is which.
    pub layout: &'a Layout,
    /// Where lines lie.
    pub decoder: &'a Decoder,
    /// The requests on their way.
    pub requests: &'a mut Requests,
    /// The packets in this partition.
    pub packets: &'a mut Packets,
    /// The caches, if there are any; parts that are there only with caches use [`Context::caches`].
    pub(crate) caches: Option<&'a mut Caches>,
    /// The memory, if it has rates instead of lines.
    pub(crate) fluid: Option<&'a mut FluidMemory>,
    /// The clock and the way to send; parts use [`Context::now`] and [`Context::send`].
    pub(crate) scheduler: &'a mut Scheduler<Payload>,
}

impl Context<'_> {
    /// The time.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.scheduler.now()
    }

    /// Sends `payload` to `target`, `delay_ps` from now.
    #[inline(always)]
    pub fn send(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        self.scheduler.send(self.id, target, delay_ps, payload);
    }

    /// The caches, for a part that cannot be without.
    #[inline]
    pub(crate) fn caches(&mut self) -> &mut Caches {
        self.caches.as_deref_mut().expect("the machine has caches")
    }

    /// The CHA.
    #[must_use]
    #[inline]
    pub fn cha(&self) -> ComponentId {
        ComponentId(self.layout.cha)
    }

    /// The IIO.
    #[must_use]
    #[inline]
    pub fn iio(&self) -> ComponentId {
        ComponentId(self.layout.iio)
    }

    /// A channel.
    #[must_use]
    #[inline]
    pub fn channel(&self, channel: u8) -> ComponentId {
        ComponentId(self.layout.channel + u32::from(channel))
    }

    /// A core.
    #[must_use]
    #[inline]
    pub fn core(&self, core: u32) -> ComponentId {
        ComponentId(self.layout.core + core)
    }

    /// What parts of a network see of the world.
    #[inline]
    pub fn net(&mut self) -> NetContext<'_> {
        NetContext { id: self.id, packets: self.packets, scheduler: self.scheduler }
    }

    /// Whether a component is the UPI to another socket.
    #[must_use]
    #[inline]
    pub fn is_upi(&self, component: ComponentId) -> bool {
        component.0 >= self.layout.upi && component.0 < self.layout.remote
    }

    /// The NIC.
    #[must_use]
    #[inline]
    pub fn nic(&self) -> ComponentId {
        ComponentId(self.layout.nic)
    }

    /// A drive, or the device whose PCIe link follows those of the drives.
    #[must_use]
    #[inline]
    pub fn ssd(&self, ssd: u32) -> ComponentId {
        ComponentId(self.layout.ssd + ssd)
    }
}

/// What a part of a network sees of the world while it handles an event.
pub struct NetContext<'a> {
    /// The part itself.
    pub id: ComponentId,
    /// The packets in this partition.
    pub packets: &'a mut Packets,
    /// The clock and the way to send.
    pub(crate) scheduler: &'a mut Scheduler<Payload>,
}

impl NetContext<'_> {
    /// The time.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.scheduler.now()
    }

    /// Sends `payload` to `target`, `delay_ps` from now.
    #[inline]
    pub fn send(&mut self, target: ComponentId, delay_ps: u64, payload: Payload) {
        self.scheduler.send(self.id, target, delay_ps, payload);
    }
}
