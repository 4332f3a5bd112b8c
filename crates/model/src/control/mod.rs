//! Host congestion control: hostCC, or another rule in its place.
//!
//! Two loops run on separate processors. The first reads the register that accumulates the occupancy of the IIO, the
//! second the one that counts insertions into it; each loop starts its next read as soon as one has ended. Two reads
//! and their times give a sample, which is smoothed and passed to the rule. The rule returns a level for the cores
//! that share the memory, and if packets are marked. A level is set by registers (MBA), each of which holds the second
//! loop up until it is written; the highest level is set by a signal that stops the processes.

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
use crate::part::{Context, IioCounter, Part, PartKind, Payload, StartContext};
use counts::ControlRecorder;
use hostnet_kernel::{ComponentId, Rng, Time};
use meter::{MovingAverage, RegisterMeter};
use serde::{Deserialize, Serialize};
use throttle::{LevelStep, LevelSteps};

/// Parts that a host congestion control is connected to.
#[derive(Clone, Debug)]
pub struct ControlWiring {
    /// Cores that the levels throttle.
    pub throttled: Throttled,
    /// Cores that mark packets.
    pub marking: Vec<ComponentId>,
    /// IIO or CHA whose registers are read.
    pub counting: ComponentId,
}

/// Host congestion control.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Control {
    params: ControlParams,
    rng: Rng,
    rule: Rule,
    steps: LevelSteps,
    /// Cores that mark packets.
    marking: Vec<ComponentId>,
    /// IIO or CHA whose registers are read.
    counting: ComponentId,
    /// Meters of occupancy and of bandwidth.
    meters: [RegisterMeter; 2],
    /// Moving averages of occupancy and of bandwidth.
    averages: [MovingAverage; 2],
    signals: Signals,
    recorder: ControlRecorder,
    /// Level that a register is being written for, if one is.
    writing: Option<u8>,
    /// Level to reach, step by step.
    wanted: u8,
    /// True while the second loop waits for a register write.
    waiting: bool,
    stopped: bool,
}

impl Control {
    /// Creates a host congestion control that is connected as `wiring` says.
    #[must_use]
    pub fn new(params: ControlParams, wiring: ControlWiring, rng: Rng) -> Self {
        let ControlWiring { throttled, marking, counting } = wiring;
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
            steps: LevelSteps::new(throttled, params.mba_ps),
            meters: [RegisterMeter::default(); 2],
            averages: [MovingAverage::default(); 2],
            recorder: ControlRecorder::default(),
            writing: None,
            wanted: 0,
            waiting: false,
            stopped: false,
            signals,
            marking,
            counting,
            params,
            rng,
        }
    }

    /// Attaches an external controller, which decides from now on. After a checkpoint it continues with its state from
    /// there.
    ///
    /// # Errors
    /// Returns an error if its state cannot be restored, or the rule of this host is not an external one.
    pub fn attach(&mut self, controller: Box<dyn Controller>) -> Result<(), String> {
        self.rule.attach(controller)
    }

    /// Returns the name of the external controller, if the rule is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.params.rule {
            ControlRule::User(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the name of an external controller that has not been attached. Until it is, nothing is done.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.rule.missing()
    }

    /// Checks that the control can be part of a checkpoint.
    ///
    /// # Errors
    /// Returns an error if an external controller does not give its state.
    pub fn check_state(&self) -> Result<(), String> {
        self.rule.check_state()
    }

    /// Returns the rule that the parameters name.
    #[must_use]
    pub fn rule(&self) -> &ControlRule {
        &self.params.rule
    }

    /// Returns the level, 0 to [`LEVEL_MAX`], for which the registers have been written and the signals sent.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.recorder.level
    }

    /// Returns true while packets are marked.
    #[must_use]
    pub fn echo(&self) -> bool {
        self.recorder.echo
    }

    /// Returns the signals as of the last sample.
    #[must_use]
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Returns the counts since the last [`Control::reset`], up to the last [`Control::settle`].
    #[must_use]
    pub fn counts(&self) -> &ControlCounts {
        &self.recorder.counts
    }

    /// Returns the registers that the two loops read.
    fn registers(&self) -> [IioCounter; 2] {
        if self.params.expander.is_some() {
            [IioCounter::ExpanderOccupancy, IioCounter::ExpanderInsertions]
        } else if self.params.sender {
            [IioCounter::ReadOccupancy, IioCounter::ReadInsertions]
        } else {
            [IioCounter::WriteOccupancy, IioCounter::WriteInsertions]
        }
    }

    /// Returns the delay from the start of a read until the register is sampled, in ps; the answer arrives 1 ps later.
    fn read_ps(&mut self) -> u64 {
        // The answer takes 1 ps, so that a read takes the drawn time in all.
        self.rng.around(self.params.read_ps, self.params.read_spread_ps).max(2) - 1
    }

    /// Starts the next read of a loop.
    fn read(&mut self, which: usize, context: &mut Context) {
        if !self.stopped {
            let (delay, counter) = (self.read_ps(), self.registers()[which]);
            context.send(self.counting, delay, Payload::ReadCounter { counter });
        }
    }

    fn on_occupancy(&mut self, value: u64, context: &mut Context) {
        let Some(difference) = self.meters[0].read(context.now(), value) else { return };
        let smoothing = self.rule.controller().smoothing();
        let occupancy = difference.occupancy(self.params.iio_clock_ps.max(1));
        self.recorder.counts.samples[0] += 1;
        // A glitch must neither enter the average nor call the rule.
        if smoothing.discards_occupancy(occupancy) {
            self.recorder.counts.discarded[0] += 1;
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
        self.recorder.counts.samples[1] += 1;
        if smoothing.discards_bandwidth(bandwidth) {
            self.recorder.counts.discarded[1] += 1;
            return;
        }
        self.signals.bandwidth = bandwidth;
        // Averaged in units of 2^-10, so that rounding down loses little (docs/models/control.md, Signals).
        let scaled = bandwidth.saturating_mul(1 << 10);
        self.signals.bandwidth_smoothed = self.averages[1].take(scaled, smoothing.bandwidth_shift) >> 10;
        self.decide(Sampled::Bandwidth, context);
    }

    /// Passes the signals to the rule, and carries its actions out.
    fn decide(&mut self, sampled: Sampled, context: &mut Context) {
        let now = context.now();
        self.signals = Signals { now_ps: now.ps(), sampled, level: self.recorder.level, ..self.signals };
        let Signals { occupancy_smoothed, bandwidth_smoothed, .. } = self.signals;
        let targets = self.rule.controller().targets();
        let regime = targets.map(|targets| Regime::of(targets, occupancy_smoothed, bandwidth_smoothed));
        self.recorder.set_signals(now, [occupancy_smoothed, bandwidth_smoothed], regime);
        let Some(controller) = self.rule.controller_mut() else { return };
        let Actions { level, echo } = controller.on_sample(&self.signals);
        // Cores are notified of changes only.
        if let Some(on) = echo.filter(|&on| self.recorder.set_echo(now, on)) {
            let echo = Payload::Echo { on, outgoing: self.params.sender };
            self.marking.iter().for_each(|&core| context.send(core, 1, echo));
        }
        // A level has no effect while a register is being written.
        if let (Some(level), None) = (level, self.writing) {
            self.wanted = level.min(LEVEL_MAX);
            self.step(context);
        }
    }

    /// Goes to the wanted level, step by step, until a register has to be written.
    fn step(&mut self, context: &mut Context) {
        while self.recorder.level != self.wanted {
            let from = self.recorder.level;
            // One level at a time, because each may need a register write of its own.
            let to = if self.wanted > from { from + 1 } else { from - 1 };
            match self.steps.step_between(from, to) {
                LevelStep::Signal { on } => {
                    let delay = self.params.signal_ps.max(1);
                    self.steps.throttled_cores().for_each(|core| context.send(core, delay, Payload::Halt { on }));
                }
                // A level without a socket of its own takes no register write.
                LevelStep::Write { registers: 0, .. } => {}
                LevelStep::Write { registers, cores, ps } => {
                    // Registers are written one after the other, 22 us each (hostCC, section 4).
                    let delay = (self.params.write_ps * registers).max(1);
                    cores.iter().for_each(|&core| context.send(core, delay, Payload::Throttle { ps }));
                    context.send(context.id, delay, Payload::RegisterWritten);
                    self.recorder.counts.writes += registers;
                    // The level counts when the write has ended; the second loop waits until then.
                    self.writing = Some(to);
                    return;
                }
            }
            self.recorder.set_level(context.now(), to);
        }
    }

    /// Handles the end of a register write: the level is reached, and the second loop continues unless another write
    /// follows.
    fn on_written(&mut self, context: &mut Context) {
        if let Some(level) = self.writing.take() {
            self.recorder.set_level(context.now(), level);
        }
        self.step(context);
        // Not while the next step writes again.
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

    /// Starts the first read of both loops.
    fn start(&mut self, start: &mut StartContext<'_>) {
        for counter in self.registers() {
            start.send(self.counting, self.read_ps(), Payload::ReadCounter { counter });
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
                // The loop that sets levels is blocked by its own write (docs/models/control.md, Cost of a change).
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
        self.recorder.settle(now);
    }

    fn reset(&mut self, now: Time) {
        self.recorder.reset(now);
    }

    /// Stops reading registers.
    fn stop(&mut self) {
        self.stopped = true;
    }
}
