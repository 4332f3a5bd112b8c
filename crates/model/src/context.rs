//! What parts see of the world: the events, the layout, and a context while they handle an event.

use crate::cache::Caches;
use crate::memory::Decoder;
use crate::request::{RequestId, Requests};
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
    /// To the receiving end of a link between servers: data of `lines` lines.
    Chunk {
        /// Lines.
        lines: u8,
    },
    /// To the sending end of a link between servers: credits of `lines` lines come back.
    LinkCredit {
        /// Lines.
        lines: u8,
    },
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
    /// The caches, if there are any; parts that are there only with caches use [`Context::caches`].
    pub(crate) caches: Option<&'a mut Caches>,
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

    /// A drive.
    #[must_use]
    #[inline]
    pub fn ssd(&self, ssd: u32) -> ComponentId {
        ComponentId(self.layout.ssd + ssd)
    }
}
