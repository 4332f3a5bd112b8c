//! Power management of a server: samples the load of the cores, decides on frequencies, and performs the transitions.
//!
//! Cores report their load. Cores that do not report count as always busy if work is assigned to them, and else as
//! always idle.

use super::governor::{Governor, GovernorSlot};
use super::ncap::{driver_orders, InterruptCause};
use super::{core_power_uw, CoreActivity, CoreMeter, Dvfs, DvfsChange, Load, Look};
use crate::params::{GovernorParams, IdleGovernorParams, NcapParams, PowerDomain, PowerParams};
use crate::part::{Context, Part, PartKind, Payload, PowerEvent, StartContext};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Latency between the manager and a core, in ps (assumed: one core stores a line and another reads it).
const TO_CORE_PS: u64 = 100_000;

/// Core of a frequency domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManagedCore {
    /// Core that reports its load.
    Reporting(ComponentId),
    /// Core that is always busy and is only notified of its clock.
    AlwaysBusy(ComponentId),
    /// Core without work.
    AlwaysIdle,
}

/// Frequency domain: cores that share one clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FrequencyDomain {
    cores: Vec<ManagedCore>,
    dvfs: Dvfs,
    governor_slot: GovernorSlot,
    /// Loads reported since the last request.
    loads: Vec<Option<Load>>,
    /// Time until which the governor must not decide.
    held_until: Time,
    /// Meters of the cores that do not report.
    meters: Vec<CoreMeter>,
    /// P-states of the window, each with its start time. At most [`CHANGES_MAX`].
    history: Vec<(Time, u16)>,
}

/// Limit of the frequency changes recorded in a window.
const CHANGES_MAX: usize = 100_000;

/// Power management of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PowerManager {
    params: PowerParams,
    ncap: Option<NcapParams>,
    /// NIC that is notified of the frequency of the first domain, if any.
    nic: Option<ComponentId>,
    domains: Vec<FrequencyDomain>,
    looked_at: Time,
    look_at: Time,
    /// True while load reports are outstanding.
    asked: bool,
    /// Time of the pending `Wake` event for a transition, by domain.
    wakes: Vec<Option<Time>>,
    announced: [u64; 2],
    stopped: bool,
}

impl PowerManager {
    /// Creates the power management of cores in their frequency domains, with the NIC if NCAP is used.
    #[must_use]
    pub fn new(params: &PowerParams, ncap: Option<(&NcapParams, ComponentId)>, domains: Vec<Vec<ManagedCore>>) -> Self {
        let at = params.pstates.len() - 1;
        let domain = |cores: Vec<ManagedCore>| FrequencyDomain {
            loads: vec![None; cores.len()],
            meters: cores.iter().map(|core| meter(params, *core, at)).collect(),
            cores,
            dvfs: Dvfs::new(params, at),
            governor_slot: GovernorSlot::new(&params.governor),
            held_until: Time::ZERO,
            history: vec![(Time::ZERO, at as u16)],
        };
        let domains: Vec<FrequencyDomain> = domains.into_iter().map(domain).collect();
        Self {
            params: params.clone(),
            ncap: ncap.map(|(ncap, _)| ncap.clone()),
            nic: ncap.map(|(_, nic)| nic),
            wakes: vec![None; domains.len()],
            domains,
            looked_at: Time::ZERO,
            look_at: Time::ZERO,
            asked: false,
            announced: [0; 2],
            stopped: false,
        }
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> &PowerParams {
        &self.params
    }

    /// Returns, by domain, the number of frequency changes since the start of the run, and the P-states of the window
    /// with their start times.
    pub fn domains(&self) -> impl Iterator<Item = (u64, &[(Time, u16)])> {
        self.domains.iter().map(|domain| (domain.dvfs.changes(), domain.history.as_slice()))
    }

    /// Returns the meters of the cores that do not report, each with the index of the core in the server.
    pub fn meters(&self) -> impl Iterator<Item = (usize, &CoreMeter)> {
        let cores = self.domains.iter().flat_map(|domain| domain.cores.iter().zip(&domain.meters)).enumerate();
        let own = cores.filter(|(_, (core, _))| !matches!(core, ManagedCore::Reporting(_)));
        own.map(|(place, (_, meter))| (place, meter))
    }

    /// Returns the number of bursts and of ends of bursts that NCAP has announced since the start of the run.
    #[must_use]
    pub fn announced(&self) -> [u64; 2] {
        self.announced
    }

    /// Attaches a copy of a user-defined governor to each frequency domain. See [`GovernorSlot`].
    ///
    /// # Errors
    /// Returns an error if the governor cannot continue from the state of a checkpoint, or if the parameters do not
    /// name a user-defined governor.
    pub fn attach(&mut self, governor: &dyn Governor) -> Result<(), String> {
        self.domains.iter_mut().try_for_each(|domain| domain.governor_slot.attach(governor.clone_box()))
    }

    /// Returns the name of the user-defined governor, if the parameters name one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.params.governor {
            GovernorParams::User(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the name of a user-defined governor that has not been attached.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.domains.first()?.governor_slot.missing()
    }

    /// Checks that the governors can be part of a checkpoint.
    ///
    /// # Errors
    /// Returns an error if a user-defined governor does not give its state.
    pub fn check_state(&self) -> Result<(), String> {
        self.domains.iter().try_for_each(|domain| domain.governor_slot.check_state())
    }

    fn on_wake(&mut self, context: &mut Context) {
        for number in 0..self.domains.len() {
            self.wakes[number] = self.wakes[number].filter(|&at| at > context.now());
            self.apply_changes(number, context);
        }
        // Not while reports are outstanding: a second request would mix two samples.
        if self.look_at <= context.now() && !self.asked {
            self.request_loads(context);
        }
    }

    /// Requests load reports from the cores.
    fn request_loads(&mut self, context: &mut Context) {
        self.asked = true;
        let mut telling = false;
        for domain in &mut self.domains {
            for (core, load) in domain.cores.iter().zip(&mut domain.loads) {
                *load = None;
                if let ManagedCore::Reporting(id) = *core {
                    telling = true;
                    context.send(id, TO_CORE_PS, Payload::Power(PowerEvent::Look));
                }
            }
        }
        // Without reporting cores the decision need not wait.
        if !telling {
            self.decide(context);
        }
    }

    /// Records the load report of a core. Once all reports have arrived, lets the governors decide.
    fn on_load(&mut self, source: ComponentId, load: Load, context: &mut Context) {
        for domain in &mut self.domains {
            if let Some(place) = domain.cores.iter().position(|core| *core == ManagedCore::Reporting(source)) {
                domain.loads[place] = Some(load);
            }
        }
        let missing = |domain: &FrequencyDomain| {
            domain
                .cores
                .iter()
                .zip(&domain.loads)
                .any(|(core, load)| matches!(core, ManagedCore::Reporting(_)) && load.is_none())
        };
        // The governors of all domains see the same sample.
        if self.asked && !self.domains.iter().any(missing) {
            self.decide(context);
        }
    }

    fn decide(&mut self, context: &mut Context) {
        let now = context.now();
        let window_ps = now.since(self.looked_at);
        for number in 0..self.domains.len() {
            let domain = &mut self.domains[number];
            // NCAP holds the governor for a period, so that it does not undo the frequency of a burst.
            if now < domain.held_until {
                continue;
            }
            let loads: Vec<Load> = domain
                .cores
                .iter()
                .zip(&domain.loads)
                .map(|(core, load)| match core {
                    ManagedCore::Reporting(_) => load.unwrap_or_default(),
                    ManagedCore::AlwaysBusy(_) => Load { busy_ps: window_ps, waiting_ps: 0, util: 1024 },
                    ManagedCore::AlwaysIdle => Load::default(),
                })
                .collect();
            let look = Look {
                now_ps: now.ps(),
                window_ps,
                domain: number,
                // The frequency that was requested last, even if its transition is still under way.
                at: domain.dvfs.target(),
                loads: &loads,
                pstates: &self.params.pstates,
            };
            let target = domain.governor_slot.decide(&look);
            domain.dvfs.request_pstate(now, target);
            if let (Some(ManagedCore::Reporting(core)), true) = (domain.cores.first(), self.params.costs()) {
                // The cost falls on the first core of the domain (docs/models/power.md, The cost of a sample).
                let work = PowerEvent::Work((self.params.governor_ps / 1000) as u32);
                context.send(*core, TO_CORE_PS, Payload::Power(work));
            }
            self.apply_changes(number, context);
        }
        self.looked_at = now;
        self.asked = false;
        self.schedule_sample(context);
    }

    fn schedule_sample(&mut self, context: &mut Context) {
        if !self.params.governor.samples() || self.stopped {
            self.look_at = Time::MAX;
            return;
        }
        // From the last sample's time and not from now, so that the period does not drift.
        self.look_at += self.params.period_ps.max(1);
        let delay = self.look_at.ps().saturating_sub(context.now().ps()).max(1);
        context.send(context.id, delay, Payload::Power(PowerEvent::Wake));
    }

    /// Applies the changes of a domain that are due, and schedules the next.
    fn apply_changes(&mut self, number: usize, context: &mut Context) {
        let now = context.now();
        let domain = &mut self.domains[number];
        while let Some(change) = domain.dvfs.advance(now) {
            let event = match change {
                DvfsChange::Voltage(at) => PowerEvent::Voltage(at as u16),
                DvfsChange::Halt { ps } => PowerEvent::Halt(u32::try_from(ps).unwrap_or(u32::MAX)),
                DvfsChange::Frequency(at) => {
                    // Bounded, so that a run of any length keeps its memory.
                    if domain.history.len() < CHANGES_MAX {
                        domain.history.push((now, at as u16));
                    }
                    let told = PowerEvent::Frequency(at as u16);
                    // The card knows one frequency: that of the first domain.
                    if let Some(nic) = self.nic.filter(|_| number == 0) {
                        context.send(nic, TO_CORE_PS, Payload::Power(told));
                    }
                    told
                }
            };
            let (frequency, voltage) = (domain.dvfs.frequency_p_state(), domain.dvfs.voltage_p_state());
            for (core, meter) in domain.cores.iter().zip(&mut domain.meters) {
                if let (ManagedCore::AlwaysBusy(id), PowerEvent::Halt(_) | PowerEvent::Frequency(_)) = (*core, event) {
                    // These cores have no voltage of their own to account: the manager meters them.
                    context.send(id, 1, Payload::Power(event));
                }
                match *core {
                    ManagedCore::Reporting(id) => context.send(id, 1, Payload::Power(event)),
                    ManagedCore::AlwaysBusy(_) | ManagedCore::AlwaysIdle => {
                        meter.clock(now, frequency);
                        meter.turn(
                            now,
                            meter.activity(),
                            core_power_uw(&self.params, frequency, voltage, meter.activity()),
                        );
                    }
                }
            }
        }
        // Only an earlier change needs a new event.
        if let Some(at) = domain.dvfs.next_at().filter(|at| self.wakes[number].is_none_or(|set| *at < set)) {
            self.wakes[number] = Some(at);
            context.send(context.id, at.since(now).max(1), Payload::Power(PowerEvent::Wake));
        }
    }

    /// Handles a burst, or the end of a burst, that NCAP announces.
    fn on_announced(&mut self, source: ComponentId, high: bool, context: &mut Context) {
        let Some(ncap) = &self.ncap else { return };
        let (steps, now) = (ncap.steps, context.now());
        self.announced[usize::from(!high)] += 1;
        // With a frequency domain per core, a burst applies to all domains.
        let number = match self.params.domain {
            PowerDomain::Chip => self.domain_of(source),
            PowerDomain::Core => None,
        };
        let all = number.map_or(0..self.domains.len(), |number| number..number + 1);
        for number in all {
            let domain = &mut self.domains[number];
            let cause = InterruptCause { rx: true, high, low: !high };
            let driver_orders = driver_orders(cause, domain.dvfs.target(), &self.params.pstates, steps);
            if driver_orders.hold {
                domain.held_until = now + self.params.period_ps;
            }
            if let Some(at) = driver_orders.frequency {
                domain.dvfs.request_pstate(now, at);
            }
            if let Some(sleep) = driver_orders.sleep {
                for core in &domain.cores {
                    if let ManagedCore::Reporting(id) = *core {
                        context.send(id, TO_CORE_PS, Payload::Power(PowerEvent::Sleep(sleep)));
                    }
                }
            }
            self.apply_changes(number, context);
        }
    }

    fn domain_of(&self, core: ComponentId) -> Option<usize> {
        self.domains.iter().position(|domain| domain.cores.contains(&ManagedCore::Reporting(core)))
    }
}

/// Creates the meter of a core that does not report.
fn meter(params: &PowerParams, core: ManagedCore, at: usize) -> CoreMeter {
    // A core without work would sleep in the deepest state, unless nothing sleeps.
    let deepest = params.cstates.len().checked_sub(1).filter(|_| params.idle != IdleGovernorParams::Poll);
    let activity = match (core, deepest) {
        (ManagedCore::AlwaysBusy(_), _) => CoreActivity::Running,
        (_, Some(deepest)) => CoreActivity::Asleep(deepest),
        (_, None) => CoreActivity::Polling,
    };
    let mut meter = CoreMeter::new(params, Time::ZERO, at, 0);
    meter.turn(Time::ZERO, activity, core_power_uw(params, at, at, activity));
    meter
}

impl Part for PowerManager {
    fn kind(&self) -> PartKind {
        PartKind::Power
    }

    fn start(&mut self, start: &mut StartContext<'_>) {
        start.wake(1, Payload::Power(PowerEvent::Wake));
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Power(PowerEvent::Wake) => self.on_wake(context),
            Payload::Power(PowerEvent::Load { busy_ns, waiting_ns, util }) => {
                let [busy_ps, waiting_ps] = [busy_ns, waiting_ns].map(|ns| u64::from(ns) * 1000);
                let load = Load { busy_ps, waiting_ps, util: u64::from(util) };
                self.on_load(source, load, context);
            }
            Payload::Power(PowerEvent::Announced { high }) => self.on_announced(source, high, context),
            _ => {}
        }
    }

    fn settle(&mut self, now: Time) {
        self.domains.iter_mut().flat_map(|domain| &mut domain.meters).for_each(|meter| meter.settle(now));
    }

    fn reset(&mut self, now: Time) {
        for domain in &mut self.domains {
            domain.meters.iter_mut().for_each(|meter| meter.reset(now));
            // The window begins with the frequency in effect.
            domain.history = vec![(now, domain.dvfs.frequency_p_state() as u16)];
        }
    }

    fn stop(&mut self) {
        self.stopped = true;
    }
}
