//! The machine: its parts, and the way events find them.

use crate::cha::Cha;
use crate::core::Core;
use crate::iio::Iio;
use crate::link::{Receiver, Sender};
use crate::memory::{Channel, Decoder};
use crate::nvme::Ssd;
use crate::request::{RequestId, Requests};
use hostnet_kernel::{ComponentId, Event, Partition, Scheduler, Time};
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
    pub layout: Layout,
    /// Where lines lie.
    pub decoder: &'a Decoder,
    /// The requests on their way.
    pub requests: &'a mut Requests,
    scheduler: &'a mut Scheduler<Payload>,
}

impl Context<'_> {
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

/// A part of a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Component {
    /// A core.
    Core(Box<Core>),
    /// The caching and home agents.
    Cha(Box<Cha>),
    /// A memory channel.
    Channel(Box<Channel>),
    /// The integrated IO controller.
    Iio(Box<Iio>),
    /// A drive.
    Ssd(Box<Ssd>),
    /// The sending end of a link to another server; ends of links follow the drives.
    Sender(Box<Sender>),
    /// The receiving end of a link from another server.
    Receiver(Box<Receiver>),
}

/// One server: a partition of the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    layout: Layout,
    decoder: Decoder,
    requests: Requests,
    components: Vec<Component>,
}

impl Machine {
    /// Joins `components`, in the order of `layout`.
    ///
    /// # Panics
    /// If their number does not fit the layout.
    #[must_use]
    pub fn new(layout: Layout, decoder: Decoder, components: Vec<Component>, requests_capacity: usize) -> Self {
        assert_eq!(components.len() as u32, layout.end - layout.core, "every component of the layout is there");
        Self { layout, decoder, requests: Requests::with_capacity(requests_capacity), components }
    }

    /// Which component is which.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The parts.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The parts, to start a measuring window in.
    pub fn components_mut(&mut self) -> &mut [Component] {
        &mut self.components
    }

    /// The requests on their way.
    #[must_use]
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Ends all sources of traffic. What is on its way still arrives, so that the machine drains.
    pub fn stop_sources(&mut self) {
        for component in &mut self.components {
            match component {
                Component::Core(core) => core.stop(),
                Component::Ssd(ssd) => ssd.stop(),
                Component::Sender(sender) => sender.stop(),
                _ => {}
            }
        }
    }
}

impl Partition for Machine {
    type Payload = Payload;

    #[inline]
    fn on_event(&mut self, event: Event<Payload>, scheduler: &mut Scheduler<Payload>) {
        let mut context = Context {
            id: event.target,
            layout: self.layout,
            decoder: &self.decoder,
            requests: &mut self.requests,
            scheduler,
        };
        match &mut self.components[(event.target.0 - self.layout.core) as usize] {
            Component::Core(core) => core.on_event(event.payload, &mut context),
            Component::Cha(cha) => cha.on_event(event.payload, &mut context),
            Component::Channel(channel) => channel.on_event(event.payload, &mut context),
            Component::Iio(iio) => iio.on_event(event.payload, &mut context),
            Component::Ssd(ssd) => ssd.on_event(event.payload, &mut context),
            Component::Sender(sender) => sender.on_event(event.payload, &mut context),
            Component::Receiver(receiver) => receiver.on_event(event.payload, &mut context),
        }
    }
}
