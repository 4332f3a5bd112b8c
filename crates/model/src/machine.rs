//! The machine: its parts, and the way events find them.

use crate::cache::Caches;
use crate::cha::Cha;
use crate::context::{Context, Layout, Payload};
use crate::control::{Control, Controller};
use crate::core::{CachedCore, Core};
use crate::fluid::{FluidMemory, Probe};
use crate::iio::Iio;
use crate::memory::{Channel, Decoder};
use crate::nic::Nic;
use crate::nvme::Ssd;
use crate::os::NetCore;
use crate::packet::{Packet, Packets};
use crate::request::Requests;
use crate::upi::Upi;
use hostnet_kernel::{Event, Partition, Scheduler};
use serde::{Deserialize, Serialize};

/// A part of a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Component {
    /// A core.
    Core(Box<Core>),
    /// A core with caches.
    CachedCore(Box<CachedCore>),
    /// A core with network traffic.
    NetCore(Box<NetCore>),
    /// The caching and home agents.
    Cha(Box<Cha>),
    /// A memory channel.
    Channel(Box<Channel>),
    /// The integrated IO controller.
    Iio(Box<Iio>),
    /// A memory of rates, the IIO in front of it; see [`Machine::fluid`].
    Fluid,
    /// A drive.
    Ssd(Box<Ssd>),
    /// The NIC; it follows the drives.
    Nic(Box<Nic>),
    /// The way to another socket.
    Upi(Box<Upi>),
    /// What watches the host.
    Control(Box<Control>),
    /// What loads a server to find its rates.
    Probe(Box<Probe>),
}

/// One server: a partition of the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    layout: Layout,
    decoder: Decoder,
    requests: Requests,
    packets: Packets,
    caches: Option<Caches>,
    fluid: Option<Box<FluidMemory>>,
    components: Vec<Component>,
}

impl Machine {
    /// Joins `components`, in the order of `layout`.
    ///
    /// # Panics
    /// If their number does not fit the layout.
    #[must_use]
    pub fn new(
        layout: Layout,
        decoder: Decoder,
        caches: Option<Caches>,
        components: Vec<Component>,
        requests_capacity: usize,
    ) -> Self {
        assert_eq!(components.len() as u32, layout.end - layout.core, "every component of the layout is there");
        Self {
            layout,
            decoder,
            requests: Requests::with_capacity(requests_capacity),
            packets: Packets::default(),
            caches,
            fluid: None,
            components,
        }
    }

    /// Gives it a memory of rates, for which [`Component::Fluid`] stands among its parts.
    #[must_use]
    pub fn with_fluid(mut self, memory: FluidMemory) -> Self {
        self.fluid = Some(Box::new(memory));
        self
    }

    /// The memory, if it is one of rates.
    #[must_use]
    pub fn fluid(&self) -> Option<&FluidMemory> {
        self.fluid.as_deref()
    }

    /// The memory, to settle or to start a measuring window in.
    pub fn fluid_mut(&mut self) -> Option<&mut FluidMemory> {
        self.fluid.as_deref_mut()
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

    /// The packets on their way.
    #[must_use]
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// The packets, to record some of them.
    pub fn packets_mut(&mut self) -> &mut Packets {
        &mut self.packets
    }

    /// The caches.
    #[must_use]
    pub fn caches(&self) -> Option<&Caches> {
        self.caches.as_ref()
    }

    /// The caches, to start a measuring window in.
    pub fn caches_mut(&mut self) -> Option<&mut Caches> {
        self.caches.as_mut()
    }

    /// The caches and the parts, to fill the caches before time begins.
    pub fn warming(&mut self) -> (Option<&mut Caches>, &mut [Component]) {
        (self.caches.as_mut(), &mut self.components)
    }

    /// What watches the host, if anything does.
    #[must_use]
    pub fn control(&self) -> Option<&Control> {
        self.components.iter().find_map(|component| match component {
            Component::Control(control) => Some(&**control),
            _ => None,
        })
    }

    /// Lets a controller from outside decide what is done about host congestion; see [`Control::attach`].
    ///
    /// # Errors
    /// If nothing watches the host, its rule is none from outside, or the state of a checkpoint cannot be continued.
    pub fn attach_controller(&mut self, controller: Box<dyn Controller>) -> Result<(), String> {
        let control = self.components.iter_mut().find_map(|component| match component {
            Component::Control(control) => Some(control),
            _ => None,
        });
        control.ok_or("nothing watches this host")?.attach(controller)
    }

    /// Ends all sources of traffic. What is on its way still arrives, so that the machine drains.
    pub fn stop_sources(&mut self) {
        for component in &mut self.components {
            match component {
                Component::Core(core) => core.stop(),
                Component::CachedCore(core) => core.stop(),
                Component::NetCore(core) => core.stop(),
                Component::Ssd(ssd) => ssd.stop(),
                Component::Nic(nic) => nic.stop(),
                Component::Control(control) => control.stop(),
                _ => {}
            }
        }
    }
}

impl Partition for Machine {
    type Payload = Payload;
    type Cargo = Option<Packet>;

    fn unload(&mut self, payload: &Payload) -> Option<Packet> {
        unload(&mut self.packets, payload)
    }

    fn load(&mut self, payload: &mut Payload, cargo: Option<Packet>) {
        load(&mut self.packets, payload, cargo);
    }

    #[inline]
    fn on_event(&mut self, event: Event<Payload>, scheduler: &mut Scheduler<Payload>) {
        let source = event.source;
        let mut context = Context {
            id: event.target,
            layout: &self.layout,
            decoder: &self.decoder,
            requests: &mut self.requests,
            packets: &mut self.packets,
            caches: self.caches.as_mut(),
            fluid: self.fluid.as_deref_mut(),
            scheduler,
        };
        let component = &mut self.components[(event.target.0 - self.layout.core) as usize];
        // What every line goes through is told apart in one step: each jump that a processor cannot foresee costs as
        // much as handling the event.
        match (event.payload, component) {
            (Payload::Refill, Component::Core(core)) => core.on_refill(&mut context),
            (Payload::Data(id), Component::Core(core)) => core.on_data(id, &mut context),
            (Payload::Admitted(id), Component::Core(core)) => core.on_admitted(id, &mut context),
            (Payload::Arrive(id), Component::Cha(cha)) => cha.on_arrival(id, &mut context),
            (Payload::Read(id), Component::Cha(cha)) => cha.on_read(id, &mut context),
            (Payload::Accepted(id), Component::Cha(cha)) => cha.on_accepted(id, &mut context),
            (Payload::KernelWork { pages, class, ssd }, Component::Core(core)) => {
                core.on_kernel_work(pages, class, ssd, &mut context);
            }
            (payload, Component::CachedCore(core)) => core.on_event(payload, &mut context),
            (payload, Component::NetCore(core)) => core.on_event(payload, &mut context),
            (payload, Component::Channel(channel)) => channel.on_event(payload, &mut context),
            (Payload::Data(id), Component::Iio(iio)) => iio.on_data(id, &mut context),
            (Payload::Acknowledged(id), Component::Iio(iio)) => iio.on_acknowledged(id, &mut context),
            (Payload::WriteTlp { line, lines, class, link }, Component::Iio(iio)) => {
                iio.on_write_tlp(line, lines, class, link, &mut context);
            }
            (Payload::ReadTlp { line, lines, class, link }, Component::Iio(iio)) => {
                iio.on_read_tlp(line, lines, class, link, &mut context);
            }
            (payload, Component::Ssd(ssd)) => ssd.on_event(payload, &mut context),
            (payload, Component::Nic(nic)) => nic.on_event(payload, &mut context),
            (payload, Component::Upi(upi)) => upi.on_event(payload, &mut context),
            (payload, Component::Control(control)) => control.on_event(payload, &mut context),
            (Payload::Taken(id), Component::Core(core)) => core.on_taken(id, &mut context),
            (Payload::Throttle { ps }, Component::Core(core)) => core.on_throttle(ps),
            (Payload::Halt { on }, Component::Core(core)) => core.on_halt(on, &mut context),
            (Payload::ReadCounter { counter }, Component::Iio(iio)) => {
                iio.on_read_counter(counter, source, &mut context)
            }
            (payload, Component::Fluid) => {
                if let Some(memory) = context.fluid.take() {
                    memory.on_event(payload, source, &mut context);
                }
            }
            (payload, Component::Probe(probe)) => probe.on_event(payload, &mut context),
            (payload, Component::Core(_) | Component::Cha(_) | Component::Iio(_)) => {
                unreachable!("component {} was sent {payload:?}", context.id.0)
            }
        }
    }
}

/// Takes the packet that an event on its way to another partition names out of the store of this one.
pub(crate) fn unload(packets: &mut Packets, payload: &Payload) -> Option<Packet> {
    match *payload {
        Payload::Packet { id, .. } => Some(packets.remove(id)),
        _ => None,
    }
}

/// Puts the packet that came with an event into the store of this partition.
pub(crate) fn load(packets: &mut Packets, payload: &mut Payload, cargo: Option<Packet>) {
    if let (Payload::Packet { id, .. }, Some(packet)) = (payload, cargo) {
        *id = packets.insert(packet);
    }
}
