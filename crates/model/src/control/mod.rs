//! What watches the host and throttles it: hostCC, or another rule in its place.
//!
//! Two loops run on processors of their own. The first reads the register that adds up the occupancy of the IIO, the
//! second the one that counts what enters it; each begins anew as soon as it has ended. From two reads and their times
//! comes a sample, which is smoothed and shown to the rule. The rule answers with a level for the cores that share the
//! memory, and with whether packets are marked. A level is set by registers (MBA), each of which holds the second loop
//! up until it is written, the highest by a signal that stops the processes.

mod controller;
mod counts;
mod meter;
mod rule;
mod rules;
#[cfg(test)]
mod tests;
mod throttle;

pub use controller::{Actions, CloneController, Controller, Sampled, Signals, Smoothing, Targets, LEVEL_MAX};
pub use counts::{ControlCounts, Regime, CHANGES_MAX};
pub use rule::{ExternalController, Rule};
pub use rules::{Fixed, HostCc, Watch};
pub use throttle::Throttled;

use crate::params::{ControlParams, ControlRule};
use crate::part::{Context, IioCounter, Part, PartKind, Payload, Start};
use counts::Book;
use hostnet_kernel::{ComponentId, Rng, Time};
use meter::{Average, Meter};
use serde::{Deserialize, Serialize};
use throttle::{Step, Steps};

/// What a part that watches a host is connected to.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The cores that levels mean.
    pub throttled: Throttled,
    /// The cores that mark packets.
    pub marking: Vec<ComponentId>,
    /// The IIO, whose registers it reads.
    pub iio: ComponentId,
}

/// What watches a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Control {
    params: ControlParams,
    rng: Rng,
    rule: Rule,
    steps: Steps,
    /// The cores that mark packets, and the part whose registers are read.
    marking: Vec<ComponentId>,
    iio: ComponentId,
    /// Of occupancy and of bandwidth.
    meters: [Meter; 2],
    averages: [Average; 2],
    signals: Signals,
    book: Book,
    /// The level that registers are being written for, and the one to go to after it.
    writing: Option<u8>,
    wanted: u8,
    /// The second loop waits for a register to be written.
    waiting: bool,
    stopped: bool,
}

impl Control {
    /// What watches a host, as `wiring` says.
    #[must_use]
    pub fn new(params: ControlParams, wiring: Wiring, rng: Rng) -> Self {
        let Wiring { throttled, marking, iio } = wiring;
        let signals = Signals {
            now_ps: 0,
            sampled: Sampled::Occupancy,
            occupancy: 0,
            occupancy_smoothed: 0,
            bandwidth: 0,
            bandwidth_smoothed: 0,
            level: 0,
        };
        Self {
            rule: Rule::new(&params.rule),
            steps: Steps::new(throttled, params.mba_ps),
            meters: [Meter::default(); 2],
            averages: [Average::default(); 2],
            book: Book::default(),
            writing: None,
            wanted: 0,
            waiting: false,
            stopped: false,
            signals,
            marking,
            iio,
            params,
            rng,
        }
    }

    /// Lets a controller from outside decide; from a checkpoint it goes on with its state there.
    ///
    /// # Errors
    /// If its state cannot be continued, or the rule of this host is none from outside.
    pub fn attach(&mut self, controller: Box<dyn Controller>) -> Result<(), String> {
        self.rule.attach(controller)
    }

    /// The name of the controller from outside, if the rule is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.params.rule {
            ControlRule::User(name) => Some(name),
            _ => None,
        }
    }

    /// The name of a controller from outside that has not been attached; until it is, nothing is done.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.rule.missing()
    }

    /// Whether it can be part of a checkpoint.
    ///
    /// # Errors
    /// If a controller from outside does not give its state.
    pub fn check_state(&self) -> Result<(), String> {
        self.rule.check_state()
    }

    /// The rule that the parameters name.
    #[must_use]
    pub fn rule(&self) -> &ControlRule {
        &self.params.rule
    }

    /// The level, 0 to [`LEVEL_MAX`]: what registers have been written for, and signals sent.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.book.level
    }

    /// Whether packets are being marked.
    #[must_use]
    pub fn echo(&self) -> bool {
        self.book.echo
    }

    /// The signals as of the last sample.
    #[must_use]
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// What has happened since the last [`Control::reset`], up to the last [`Control::settle`].
    #[must_use]
    pub fn counts(&self) -> &ControlCounts {
        &self.book.counts
    }

    /// The registers of the two loops.
    fn registers(&self) -> [IioCounter; 2] {
        if self.params.sender {
            [IioCounter::ReadOccupancy, IioCounter::ReadInsertions]
        } else {
            [IioCounter::WriteOccupancy, IioCounter::WriteInsertions]
        }
    }

    /// From the begin of a read to the moment whose value it tells; the answer comes 1 ps later.
    fn read_ps(&mut self) -> u64 {
        self.rng.around(self.params.read_ps, self.params.read_spread_ps).max(2) - 1
    }

    /// Reads the register of a loop again.
    fn read(&mut self, which: usize, context: &mut Context) {
        if !self.stopped {
            let (delay, counter) = (self.read_ps(), self.registers()[which]);
            context.send(self.iio, delay, Payload::ReadCounter { counter });
        }
    }

    fn on_occupancy(&mut self, value: u64, context: &mut Context) {
        let Some(difference) = self.meters[0].read(context.now(), value) else { return };
        let smoothing = self.rule.controller().smoothing();
        let occupancy = difference.occupancy(self.params.iio_clock_ps.max(1));
        self.book.counts.samples[0] += 1;
        if smoothing.discards_occupancy(occupancy) {
            self.book.counts.discarded[0] += 1;
            return;
        }
        self.signals.occupancy = occupancy;
        self.signals.occupancy_smoothed = self.averages[0].take(occupancy, smoothing.occupancy_shift);
        self.decide(Sampled::Occupancy, context);
    }

    fn on_insertions(&mut self, value: u64, context: &mut Context) {
        let Some(difference) = self.meters[1].read(context.now(), value) else { return };
        let smoothing = self.rule.controller().smoothing();
        let bandwidth = difference.bandwidth();
        self.book.counts.samples[1] += 1;
        if smoothing.discards_bandwidth(bandwidth) {
            self.book.counts.discarded[1] += 1;
            return;
        }
        self.signals.bandwidth = bandwidth;
        let scaled = bandwidth.saturating_mul(1 << 10);
        self.signals.bandwidth_smoothed = self.averages[1].take(scaled, smoothing.bandwidth_shift) >> 10;
        self.decide(Sampled::Bandwidth, context);
    }

    /// Shows the signals to the rule, and does what it says.
    fn decide(&mut self, sampled: Sampled, context: &mut Context) {
        let now = context.now();
        self.signals = Signals { now_ps: now.ps(), sampled, level: self.book.level, ..self.signals };
        let Signals { occupancy_smoothed, bandwidth_smoothed, .. } = self.signals;
        let targets = self.rule.controller().targets();
        let regime = targets.map(|targets| Regime::of(targets, occupancy_smoothed, bandwidth_smoothed));
        self.book.set_signals(now, [occupancy_smoothed, bandwidth_smoothed], regime);
        let Some(controller) = self.rule.controller_mut() else { return };
        let Actions { level, echo } = controller.on_sample(&self.signals);
        if let Some(on) = echo.filter(|&on| self.book.set_echo(now, on)) {
            let echo = Payload::Echo { on, outgoing: self.params.sender };
            self.marking.iter().for_each(|&core| context.send(core, 1, echo));
        }
        if let (Some(level), None) = (level, self.writing) {
            self.wanted = level.min(LEVEL_MAX);
            self.step(context);
        }
    }

    /// Goes to the wanted level, step by step, until a register has to be written.
    fn step(&mut self, context: &mut Context) {
        while self.book.level != self.wanted {
            let from = self.book.level;
            let to = if self.wanted > from { from + 1 } else { from - 1 };
            match self.steps.between(from, to) {
                Step::Signal { on } => {
                    let delay = self.params.signal_ps.max(1);
                    self.steps.all().for_each(|core| context.send(core, delay, Payload::Halt { on }));
                }
                Step::Write { registers: 0, .. } => {}
                Step::Write { registers, cores, ps } => {
                    let delay = (self.params.write_ps * registers).max(1);
                    cores.iter().for_each(|&core| context.send(core, delay, Payload::Throttle { ps }));
                    context.send(context.id, delay, Payload::RegisterWritten);
                    self.book.counts.writes += registers;
                    self.writing = Some(to);
                    return;
                }
            }
            self.book.set_level(context.now(), to);
        }
    }

    /// A register is written: the level is reached, and the second loop goes on if it is the last.
    fn on_written(&mut self, context: &mut Context) {
        if let Some(level) = self.writing.take() {
            self.book.set_level(context.now(), level);
        }
        self.step(context);
        if self.waiting && self.writing.is_none() {
            self.waiting = false;
            self.read(1, context);
        }
    }
}

impl Part for Control {
    fn kind(&self) -> PartKind {
        PartKind::Control
    }

    /// Both loops read their registers.
    fn start(&mut self, start: &mut Start<'_>) {
        for counter in self.registers() {
            start.send(self.iio, self.read_ps(), Payload::ReadCounter { counter });
        }
    }

    fn on_event(&mut self, payload: Payload, _source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Counter { counter, value } if counter == self.registers()[0] => {
                self.on_occupancy(value, context);
                self.read(0, context);
            }
            Payload::Counter { value, .. } => {
                self.on_insertions(value, context);
                self.waiting = self.writing.is_some();
                if !self.waiting {
                    self.read(1, context);
                }
            }
            Payload::RegisterWritten => self.on_written(context),
            other => unreachable!("what watches the host was sent {other:?}"),
        }
    }

    fn settle(&mut self, now: Time) {
        self.book.settle(now);
    }

    fn reset(&mut self, now: Time) {
        self.book.reset(now);
    }

    /// Reads no more registers.
    fn stop(&mut self) {
        self.stopped = true;
    }
}
