//! Simulation of a network alone: synthetic traffic or a trace, warm-up, measurement and report.

use crate::load::{channel_load, ChannelLoad};
use crate::network::Delivery;
use crate::source::{PacketFeed, Source};
use crate::{deadlock, topology, Layout, Network, NocError, Params, Pattern};
use hostnet_measure::Histogram;

/// Lengths of the phases of a run, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Length of the warm-up, in cycles.
    pub warmup: u64,
    /// Length of the measurement, in cycles. Packets offered during the measurement are measured.
    pub measure: u64,
    /// Maximum time after the measurement for all measured packets to arrive, in cycles; traffic continues meanwhile.
    pub drain: u64,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Cycles simulated so far.
    pub cycle: u64,
    /// Cycle at which the measurement ends.
    pub measure_end: u64,
    /// Packets delivered so far.
    pub delivered: u64,
    /// Packets offered and not delivered yet.
    pub in_flight: u64,
}

/// Flits of an output during the measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkCount {
    /// Name of the output and of its far end.
    pub name: String,
    /// Position of the router that the output belongs to, as column and row.
    pub from: (u16, u16),
    /// Position of the router or terminal behind the output, as column and row.
    pub to: (u16, u16),
    /// True if the output leads to a terminal.
    pub to_terminal: bool,
    /// Flits sent.
    pub flits: u64,
    /// Expected flits per cycle on the output when every terminal offers one flit per cycle, for synthetic traffic.
    pub expected_load: Option<f64>,
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Cycles of the measurement so far.
    pub cycles: u64,
    /// Number of terminals.
    pub terminals: u32,
    /// Offered load in flits per terminal and cycle.
    pub offered: f64,
    /// Throughput: flits delivered per terminal and cycle.
    pub accepted: f64,
    /// Throughput of the terminal that received the fewest flits, in flits per cycle.
    pub accepted_least: f64,
    /// Packets offered in the measurement.
    pub packets: u64,
    /// Measured packets that have arrived.
    pub arrived: u64,
    /// Latency of measured packets from their offer to the arrival of the tail flit, in cycles.
    pub latency: Histogram,
    /// Latency of measured packets from the head flit's departure from the terminal, in cycles.
    pub network_latency: Histogram,
    /// Mean number of links between routers on the routes of measured packets.
    pub links_mean: f64,
    /// Mean zero-load latency of measured packets in cycles, with buffers that hold whole packets.
    pub zero_load_mean: f64,
    /// Counts by output.
    pub links: Vec<LinkCount>,
    /// Flits of the whole run, counted once at every router.
    pub flit_hops: u64,
    /// Cycles of the whole run.
    pub all_cycles: u64,
    /// True if all measured packets arrived before the run ended.
    pub drained: bool,
    /// Flits in queues at terminals and in the network at the start and at the end of the measurement. Growth means
    /// that the network is saturated.
    pub backlog: (u64, u64),
}

/// Counters of the measured packets.
#[derive(Clone, Debug, Default)]
struct MeasuredCounters {
    packets: u64,
    offered_flits: u64,
    arrived: u64,
    latency: Histogram,
    network_latency: Histogram,
    links: u64,
    zero_load: u64,
    /// Flits received during the measurement, by terminal.
    flits: Vec<u64>,
    /// Flits by output at the start of the measurement. `after` holds those at its end.
    before: Vec<u64>,
    after: Vec<u64>,
    backlog: (u64, u64),
}

/// Network and its traffic.
pub struct Run {
    layout: Layout,
    network: Network,
    feed: PacketFeed,
    measure: Measure,
    expected: Option<Vec<ChannelLoad>>,
    zero_load_routes: Vec<(u32, u32)>,
    counters: MeasuredCounters,
    delivered: u64,
    offered_flits: u64,
    delivered_flits: u64,
    scratch: Vec<Delivery>,
}

const MEASURED: u64 = 1;

impl Run {
    /// Creates a network with a source of packets. `seed` determines the orders that packets draw at random.
    ///
    /// # Errors
    /// Returns a [`NocError`] if the network cannot be built, if its routes may deadlock, or if the traffic does not
    /// fit.
    pub fn new(params: &Params, source: Source, seed: u64, measure: Measure) -> Result<Self, NocError> {
        let (layout, routes) = topology::build(params)?;
        // Refused before the first cycle: a deadlock in simulation may show late or never.
        if let Some(circle) = deadlock::cycle(&layout, &routes) {
            let circle = deadlock::describe(&layout, &circle);
            return Err(NocError::new("routing", format!("packets may wait for each other in a circle: {circle}")));
        }
        let expected = match &source {
            Source::Generated(traffic) => Some(channel_load(&layout, &routes, &traffic.pattern, 0)?),
            Source::Trace(_) => None,
        };
        let zero_load_routes = zero_load_routes(&layout, &routes, params.router.allocation_cycles());
        let feed = PacketFeed::new(source, &layout, params.classes.len())?;
        let network = Network::new(params.router, &layout, routes, seed);
        let counters = MeasuredCounters { flits: vec![0; layout.terminals.len()], ..MeasuredCounters::default() };
        let scratch = Vec::new();
        let (delivered, offered_flits, delivered_flits) = (0, 0, 0);
        Ok(Self {
            layout,
            network,
            feed,
            measure,
            expected,
            zero_load_routes,
            counters,
            delivered,
            offered_flits,
            delivered_flits,
            scratch,
        })
    }

    /// Returns the largest expected load of an output, per flit that every terminal offers, and the name of the
    /// output; `None` for traces.
    #[must_use]
    pub fn busiest(&self) -> Option<(f64, String)> {
        let most = crate::busiest(self.expected.as_ref()?)?;
        Some((most.load, self.layout.output_name(most.output)))
    }

    /// Computes the load of every output for a pattern on this network; see [`channel_load`].
    ///
    /// # Errors
    /// Returns a [`NocError`] if the pattern does not fit the layout.
    pub fn load_of(&self, pattern: &Pattern) -> Result<Vec<ChannelLoad>, NocError> {
        channel_load(&self.layout, self.network.routes(), pattern, 0)
    }

    /// Simulates some cycles. Returns true if the run is not over.
    pub fn advance(&mut self, cycles: u64) -> bool {
        for _ in 0..cycles {
            if self.done() {
                return false;
            }
            self.cycle();
        }
        !self.done()
    }

    /// Returns true if the measurement is over and either all of its packets have arrived or the drain time has
    /// elapsed.
    #[must_use]
    pub fn done(&self) -> bool {
        let end = self.end();
        let cycle = self.network.cycle();
        // A trace may end before the measurement does.
        if self.feed.next_cycle(cycle).is_none() && self.network.is_idle() {
            return true;
        }
        // Near saturation some packets take very long: the drain time bounds the wait for them.
        cycle >= end && (self.counters.arrived == self.counters.packets || cycle - end >= self.measure.drain)
    }

    fn end(&self) -> u64 {
        self.measure.warmup.saturating_add(self.measure.measure)
    }

    fn cycle(&mut self) {
        let now = self.network.cycle();
        // Before the packets of this cycle are offered, and `after` behind the last one: exactly `measure` cycles.
        if now == self.measure.warmup {
            self.counters.before = self.network.sent().to_vec();
            self.counters.backlog.0 = self.offered_flits - self.delivered_flits;
        }
        let measured = now >= self.measure.warmup && now < self.end();
        // Packets carry the mark, because they may arrive after the measurement has ended.
        let (packets, flits) = self.feed.offer(&mut self.network, u64::from(measured) * MEASURED);
        self.offered_flits += flits;
        if measured {
            self.counters.packets += packets;
            self.counters.offered_flits += flits;
        }
        // Taken and put back for its capacity.
        let mut delivered = std::mem::take(&mut self.scratch);
        self.network.step(&mut delivered);
        for delivery in delivered.drain(..) {
            self.count(&delivery, measured);
        }
        self.scratch = delivered;
        if self.network.cycle() == self.end() {
            self.counters.after = self.network.sent().to_vec();
            self.counters.backlog.1 = self.offered_flits - self.delivered_flits;
        }
        self.skip();
    }

    /// Skips cycles in which nothing happens: the network is empty and no packet is due.
    fn skip(&mut self) {
        let now = self.network.cycle();
        let Some(next) = self.feed.next_cycle(now) else { return };
        let next =
            // The edges of the measurement are not skipped: counters are read there.
            if now < self.measure.warmup { next.min(self.measure.warmup) } else { next.min(self.end().max(now)) };
        if next > now && self.network.is_idle() {
            self.network.skip_to(next);
        }
    }

    fn count(&mut self, delivery: &Delivery, measuring: bool) {
        let packet = &delivery.packet;
        self.delivered += 1;
        self.delivered_flits += u64::from(packet.flits);
        if measuring {
            self.counters.flits[usize::from(packet.destination)] += u64::from(packet.flits);
        }
        if packet.tag == MEASURED {
            let counters = &mut self.counters;
            counters.arrived += 1;
            counters.latency.record(delivery.at - packet.created);
            counters.network_latency.record(delivery.at - packet.entered);
            let way = route_index(&self.layout, packet.group, packet.source, packet.destination);
            let (links, cycles) = self.zero_load_routes[way];
            counters.links += u64::from(links);
            // The tail follows one cycle per flit behind the head.
            counters.zero_load += u64::from(cycles) + u64::from(packet.flits - 1);
        }
    }

    /// Returns the progress of the run.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            cycle: self.network.cycle(),
            measure_end: self.end(),
            delivered: self.delivered,
            in_flight: self.network.in_flight() as u64,
        }
    }

    /// Returns the results so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let counters = &self.counters;
        // A run may be reported before, during or after its measurement.
        let cycles = self.network.cycle().clamp(self.measure.warmup, self.end()) - self.measure.warmup;
        let terminals = self.layout.terminals.len();
        let per = |flits: u64, terminals: usize| {
            if cycles == 0 {
                0.0
            } else {
                flits as f64 / (cycles as f64 * terminals as f64)
            }
        };
        let mean = |sum: u64| if counters.arrived == 0 { 0.0 } else { sum as f64 / counters.arrived as f64 };
        Report {
            cycles,
            terminals: terminals as u32,
            offered: per(counters.offered_flits, terminals),
            accepted: per(counters.flits.iter().sum(), terminals),
            accepted_least: per(counters.flits.iter().copied().min().unwrap_or(0), 1),
            packets: counters.packets,
            arrived: counters.arrived,
            latency: counters.latency.clone(),
            network_latency: counters.network_latency.clone(),
            links_mean: mean(counters.links),
            zero_load_mean: mean(counters.zero_load),
            links: self.links(),
            flit_hops: self.network.flit_hops(),
            all_cycles: self.network.cycle(),
            drained: self.done() && counters.arrived == counters.packets,
            backlog: counters.backlog,
        }
    }

    fn links(&self) -> Vec<LinkCount> {
        let ports = self.network.ports();
        let sent = self.network.sent();
        // Before the measurement both are the present counts, so that their difference is 0.
        let before = if self.counters.before.is_empty() { sent } else { &self.counters.before };
        let now = if self.counters.after.is_empty() { sent } else { &self.counters.after };
        let downstream = self.layout.downstream();
        let place = |router: u16| {
            let place = self.layout.routers[usize::from(router)];
            (place.column, place.row)
        };
        let used = now
            .iter()
            .enumerate()
            .filter(|(output, _)| output % ports < usize::from(self.layout.ports[output / ports]));
        used.map(|(output, flits)| {
            let port = crate::Port { router: (output / ports) as u16, port: (output % ports) as u8 };
            let expected = self
                .expected
                .as_ref()
                .map(|loads| loads.iter().find(|load| load.output == port).map_or(0.0, |load| load.load));
            LinkCount {
                name: self.layout.output_name(port),
                from: place(port.router),
                to: place(downstream[output].unwrap_or(port.router)),
                to_terminal: downstream[output].is_none(),
                flits: flits - before[output],
                expected_load: expected,
            }
        })
        .collect()
    }
}

fn route_index(layout: &Layout, group: u8, source: u16, destination: u16) -> usize {
    let terminals = layout.terminals.len();
    (usize::from(group) * terminals + usize::from(source)) * terminals + usize::from(destination)
}

/// Computes, for every group, source and destination, the links between routers and the zero-load latency of a packet
/// of one flit in cycles, with `allocation` extra cycles at every router.
fn zero_load_routes(layout: &Layout, routes: &crate::Routes, allocation: u32) -> Vec<(u32, u32)> {
    let ports = layout.ports_max();
    let mut cycles = vec![(0_u32, None); layout.routers.len() * ports];
    for channel in &layout.channels {
        let output = usize::from(channel.from.router) * ports + usize::from(channel.from.port);
        cycles[output] = (channel.cycles, Some(channel.to.router));
    }
    let mut zero_load_routes = Vec::with_capacity(usize::from(routes.groups()) * layout.terminals.len().pow(2));
    for group in 0..routes.groups() {
        for source in &layout.terminals {
            for (number, terminal) in layout.terminals.iter().enumerate() {
                // Allocation takes its cycles at every router, of which there are links + 1.
                let (mut links, mut all) = (0, source.in_cycles + allocation + terminal.out_cycles);
                let mut at = usize::from(source.at.router);
                while let (one, Some(next)) =
                    cycles[at * ports + usize::from(routes.hop(group, at, number as u16).port)]
                {
                    links += 1;
                    all += allocation + one;
                    at = usize::from(next);
                }
                zero_load_routes.push((links, all));
            }
        }
    }
    zero_load_routes
}
