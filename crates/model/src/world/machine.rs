//! Machine: the parts of a server, and the dispatch of events to them.

use super::{Component, ComponentKind};
use crate::cache::{Caches, SocketCaches};
use crate::control::{Control, Controller};
use crate::core::{Core, EngineKind};
use crate::fluid::FluidMemory;
use crate::line::{Homes, Packet, Packets, Requests};
use crate::mesh::Mesh;
use crate::part::{load, unload, Context, CopyRates, Notice, Part, PartKind, PartName, Payload, Pool, StartContext};
use crate::power::{Governor, PowerManager};
use crate::tiering::{Tiering, TieringPolicy};
use hostnet_kernel::{ComponentId, Event, Partition, Scheduler, Time};
use serde::{Deserialize, Serialize};

/// Announcements that one event may cause before the list has to grow.
const NOTICES_CAPACITY: usize = 64;

/// Server: a partition of the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Id of the first part.
    pub(super) first: ComponentId,
    pub(super) homes: Homes,
    pub(super) requests: Requests,
    pub(super) packets: Packets,
    /// Caches of each socket, if it has any.
    caches: Vec<Option<Caches>>,
    /// Fluid memory of each socket, if it has one; [`Component::Fluid`] stands for it.
    fluids: Vec<Option<Box<FluidMemory>>>,
    /// Mesh of each socket, if its parts lie on one.
    meshes: Vec<Option<Box<Mesh>>>,
    pub(super) components: Vec<Component>,
    /// Socket of each component; one past the last socket for components that are on none of these.
    component_sockets: Vec<u8>,
    /// Announcements that were made while the last event was handled.
    #[serde(skip)]
    notices: Vec<Notice>,
    /// Names of the components.
    names: Vec<PartName>,
}

impl Machine {
    /// Creates a machine of `components`, which are numbered consecutively from `first` on. Each comes with the number
    /// of its socket, if that is one of the sockets in `caches`; a socket without caches has `None` in `caches`.
    ///
    /// # Panics
    /// Panics if there is no such socket.
    #[must_use]
    pub fn new(
        first: ComponentId,
        homes: Homes,
        caches: Vec<Option<Caches>>,
        components: Vec<(Option<u8>, Component)>,
        requests_capacity: usize,
    ) -> Self {
        let (component_sockets, components): (Vec<Option<u8>>, Vec<Component>) = components.into_iter().unzip();
        // One past the last socket stands for parts on no socket.
        let none = caches.len() as u8;
        assert!(
            component_sockets.iter().flatten().all(|&socket| socket < none),
            "every part is on a socket that there is"
        );
        Self {
            first,
            homes,
            requests: Requests::with_capacity(requests_capacity),
            packets: Packets::default(),
            fluids: caches.iter().map(|_| None).collect(),
            meshes: caches.iter().map(|_| None).collect(),
            caches,
            component_sockets: component_sockets.into_iter().map(|socket| socket.unwrap_or(none)).collect(),
            names: names(&components),
            notices: Vec::with_capacity(NOTICES_CAPACITY),
            components,
        }
    }

    /// Replaces the memory of `socket` by a fluid model, which computes rates instead of simulating requests.
    ///
    /// # Panics
    /// Panics if there is no such socket.
    #[must_use]
    pub fn with_fluid_memory(mut self, socket: usize, memory: FluidMemory) -> Self {
        self.fluids[socket] = Some(Box::new(memory));
        self
    }

    /// Puts the parts of a socket on a mesh.
    ///
    /// # Panics
    /// Panics if there is no such socket.
    #[must_use]
    pub fn with_mesh(mut self, socket: usize, mesh: Mesh) -> Self {
        self.meshes[socket] = Some(Box::new(mesh));
        self
    }

    /// Returns the meshes, each with the number of its socket.
    pub fn meshes(&self) -> impl Iterator<Item = (usize, &Mesh)> {
        self.meshes.iter().enumerate().filter_map(|(socket, mesh)| Some((socket, mesh.as_deref()?)))
    }

    /// Returns the fluid memories.
    pub fn fluids(&self) -> impl Iterator<Item = &FluidMemory> {
        self.fluids.iter().filter_map(Option::as_deref)
    }

    /// Returns the parts.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Returns the parts, to start a measurement window.
    pub fn components_mut(&mut self) -> &mut [Component] {
        &mut self.components
    }

    /// Returns the requests in flight.
    #[must_use]
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Returns the announcements that were made while the last event was handled.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Returns the packets in flight.
    #[must_use]
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// Returns the packets, to record some of them.
    pub fn packets_mut(&mut self) -> &mut Packets {
        &mut self.packets
    }

    /// Returns the caches of the sockets.
    pub fn caches(&self) -> impl Iterator<Item = &Caches> {
        self.caches.iter().filter_map(Option::as_ref)
    }

    /// Returns true if a socket has caches.
    #[must_use]
    pub fn has_caches(&self) -> bool {
        self.caches().next().is_some()
    }

    /// Returns the caches and the parts, to fill the caches before the simulation starts.
    pub fn warm_up_parts(&mut self) -> (&mut [Option<Caches>], &mut [Component]) {
        (&mut self.caches, &mut self.components)
    }

    /// Returns the parts of a kind, in the order of their numbers.
    pub fn each<T: ComponentKind + 'static>(&self) -> impl Iterator<Item = &T> {
        self.components.iter().filter_map(T::of)
    }

    /// Returns the first part of a kind.
    #[must_use]
    pub fn first<T: ComponentKind + 'static>(&self) -> Option<&T> {
        self.each().next()
    }

    /// Returns the engines of a kind on all cores.
    pub fn engines<T: EngineKind + 'static>(&self) -> impl Iterator<Item = &T> {
        self.each().flat_map(|core: &Core| core.engines().iter().filter_map(T::of))
    }

    /// Returns the part at an index, counted from 0.
    ///
    /// # Panics
    /// Panics if there is none.
    #[must_use]
    pub fn part(&self, index: usize) -> &dyn Part {
        let fluid = || Some(&**self.fluids.get(usize::from(self.component_sockets[index]))?.as_ref()? as &dyn Part);
        self.components[index].part().or_else(fluid).expect("the memory is there that has a place")
    }

    /// Returns the part at an index, counted from 0, to change it.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn part_mut(&mut self, index: usize) -> &mut dyn Part {
        let Self { fluids, component_sockets, components, .. } = self;
        let memory = fluids.get_mut(usize::from(component_sockets[index]));
        let fluid = || Some(&mut **memory?.as_mut()? as &mut dyn Part);
        components[index].part_mut().or_else(fluid).expect("the memory is there that has a place")
    }

    /// Returns the parts, each with its name.
    pub fn parts(&self) -> impl Iterator<Item = (PartName, &dyn Part)> {
        (0..).zip(&self.names).map(|(index, &name)| (name, self.part(index)))
    }

    fn each_part_mut(&mut self, mut action: impl FnMut(&mut dyn Part)) {
        (0..self.components.len()).for_each(|index| action(self.part_mut(index)));
    }

    /// Visits every pool, with the name of its part.
    pub fn pools<'a>(&'a self, mut visit: impl FnMut(PartName, Pool<'a>)) {
        for (name, part) in self.parts() {
            part.pools(&mut |pool| visit(name, pool));
        }
    }

    /// Returns the name of a part, or nothing if it is not in this machine.
    #[must_use]
    pub fn name(&self, id: ComponentId) -> Option<PartName> {
        self.names.get(id.0.checked_sub(self.first.0)? as usize).copied()
    }

    /// Returns the id of the first part.
    #[must_use]
    pub fn first_id(&self) -> ComponentId {
        self.first
    }

    /// Returns the id of the first part of a kind.
    #[must_use]
    pub fn id(&self, kind: PartKind) -> Option<ComponentId> {
        let index = self.names.iter().position(|name| name.kind == kind)?;
        Some(ComponentId(self.first.0 + index as u32))
    }

    /// Returns the host congestion control, if there is one.
    #[must_use]
    pub fn control(&self) -> Option<&Control> {
        self.first()
    }

    /// Attaches an external controller to the host congestion control; see [`Control::attach`].
    ///
    /// # Errors
    /// Returns an error if the host has no congestion control, its rule is not an external one, or the state
    /// of a checkpoint cannot be restored.
    pub fn attach_controller(&mut self, controller: Box<dyn Controller>) -> Result<(), String> {
        let control = self.components.iter_mut().find_map(Control::of_mut);
        control.ok_or("nothing watches this host")?.attach(controller)
    }

    /// Attaches the policy of the migration of pages; see [`Tiering::attach`].
    ///
    /// # Errors
    /// Returns an error if no pages migrate, or the state of a checkpoint cannot be restored.
    pub fn attach_policy(&mut self, policy: Box<dyn TieringPolicy>) -> Result<(), String> {
        let tiering = self.components.iter_mut().find_map(Tiering::of_mut);
        tiering.ok_or("no pages migrate")?.attach(policy)
    }

    /// Attaches an external governor of frequencies; see [`PowerManager::attach`].
    ///
    /// # Errors
    /// Returns an error if the cores have only one frequency, their governor is not an external one, or the
    /// state of a checkpoint cannot be restored.
    pub fn attach_governor(&mut self, governor: &dyn Governor) -> Result<(), String> {
        let power = self.components.iter_mut().find_map(PowerManager::of_mut);
        power.ok_or("the cores of this host have one frequency")?.attach(governor)
    }

    /// Sends the first events of every part.
    pub fn start(&mut self, scheduler: &mut Scheduler<Payload>) {
        for index in 0..self.components.len() {
            let id = ComponentId(self.first.0 + index as u32);
            self.part_mut(index).start(&mut StartContext { id, index: index as u64, scheduler });
        }
    }

    /// Brings all statistics up to `now`, so that areas and means refer to that time.
    pub fn settle(&mut self, now: Time) {
        self.each_part_mut(|part| part.settle(now));
    }

    /// Starts a new measurement window at `now`.
    pub fn reset(&mut self, now: Time) {
        self.each_part_mut(|part| part.reset(now));
        // Caches and meshes are no parts, so the machine resets them.
        self.caches.iter_mut().flatten().for_each(Caches::reset_counts);
        self.meshes.iter_mut().flatten().for_each(|mesh| mesh.reset());
    }

    /// Makes parts record the changes of their pools that happen between their events, or stops that.
    pub fn watch(&mut self, on: bool) {
        self.each_part_mut(|part| part.watch(on));
    }

    /// Ends all sources of traffic. What is in flight still arrives, so that the machine drains.
    pub fn stop_sources(&mut self) {
        self.each_part_mut(|part| part.stop());
    }
}

impl Machine {
    /// Passes the announcements on to their parts.
    #[inline]
    fn deliver_notices(&mut self, scheduler: &mut Scheduler<Payload>) {
        let mut index = 0;
        // By index, because handling a notice may add others.
        while let Some(&Notice { target, at, payload }) = self.notices.get(index) {
            index += 1;
            let component = &mut self.components[(target.0 - self.first.0) as usize];
            let (homes, requests, packets) = (&self.homes, &mut self.requests, &mut self.packets);
            let mut context = Context::detached(target, homes, requests, packets, &mut self.notices, scheduler);
            match (payload, component) {
                (Payload::Arrive(id), Component::Channel(channel)) => channel.expect(id, at, &mut context),
                (Payload::Slot { id, slot }, Component::Channel(channel)) => {
                    channel.reserve(id, slot, at, &mut context)
                }
                (Payload::Hop { flow, from }, Component::Core(_)) => self.hand_over(flow, from, target, scheduler),
                _ => unreachable!("component {} was told {payload:?}", target.0),
            }
        }
    }
}

/// Returns the names of parts; each kind is numbered by itself.
fn names(components: &[Component]) -> Vec<PartName> {
    let mut names: Vec<PartName> = Vec::with_capacity(components.len());
    for component in components {
        // A fluid memory stands for the IIO in front of it.
        let kind = component.part().map_or(PartKind::Iio, Part::kind);
        let number = names.iter().filter(|name| name.kind == kind).count() as u32;
        names.push(PartName { kind, number });
    }
    names
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
        let index = (event.target.0 - self.first.0) as usize;
        let place = usize::from(self.component_sockets[index]);
        let fluid = self.fluids.get_mut(place).and_then(Option::as_deref_mut);
        let mesh = self.meshes.get_mut(place).and_then(Option::as_deref_mut);
        // Only now, so that observers can read the notices of the last event.
        self.notices.clear();
        let mut context = Context {
            id: event.target,
            homes: &self.homes,
            requests: &mut self.requests,
            packets: &mut self.packets,
            caches: SocketCaches::new(&mut self.caches, place),
            fluid: fluid.map(|memory| memory as &mut dyn CopyRates),
            mesh,
            notices: &mut self.notices,
            scheduler,
        };
        let component = &mut self.components[index];
        // The events of every line are dispatched in one step: a branch that the processor mispredicts costs as much
        // as handling the event.
        match (event.payload, component) {
            (Payload::Refill, Component::Core(core)) => core.on_refill(&mut context),
            (Payload::Data(id), Component::Core(core)) => core.on_data(id, &mut context),
            (Payload::Admitted(id), Component::Core(core)) => core.on_admitted(id, &mut context),
            (Payload::Arrive(id), Component::Cha(cha)) => cha.on_arrival(id, &mut context),
            (Payload::Read(id), Component::Cha(cha)) => cha.on_read(id, &mut context),
            (Payload::Accepted(id), Component::Cha(cha)) => cha.on_accepted(id, &mut context),
            (payload, Component::Core(core)) => core.on_event(payload, source, &mut context),
            (Payload::Wake, Component::Channel(channel)) => channel.on_wake(&mut context),
            (Payload::Data(id), Component::Iio(iio)) => iio.on_data(id, &mut context),
            (Payload::Acknowledged(id), Component::Iio(iio)) => iio.on_acknowledged(id, &mut context),
            (Payload::WriteTlp { line, lines, class, link, tag }, Component::Iio(iio)) => {
                iio.on_write_tlp(line, lines, class, link, tag, &mut context);
            }
            (Payload::ReadTlp { line, lines, class, link }, Component::Iio(iio)) => {
                iio.on_read_tlp(line, lines, class, link, &mut context);
            }
            (payload, component) => match component.part_mut() {
                Some(part) => part.on_event(payload, source, &mut context),
                None => {
                    if let Some(memory) = context.fluid.take() {
                        memory.on_event(payload, source, &mut context);
                    }
                }
            },
        }
        // After the event, when the sender no longer borrows the parts.
        if !self.notices.is_empty() {
            self.deliver_notices(scheduler);
        }
    }
}
