//! A reducer: sums the vectors of a job in a switch, packet by packet, as soon as every input has a packet. It is a
//! pure state machine: requests come out, completed work goes in.

use crate::params::ReducerParams;
use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};

const PS_PER_S: u128 = 1_000_000_000_000;

/// An input of a reducer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Input {
    /// End of the flow that the input arrives by, and that the sum returns by.
    end: u32,
    /// Bytes that have arrived and have not been added.
    waiting: u64,
}

/// Request of a reducer to its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReducerRequest {
    /// Call [`Reducer::next`] again at this time. Returned once per sum.
    Wake(Time),
    /// Send these bytes towards the root of the tree.
    Up(u64),
    /// Send these bytes to every input.
    Down(u64),
    /// Nothing until data arrives.
    Nothing,
}

/// Engine of a switch. It adds one packet of a sum after the other, for all jobs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SumEngine {
    free_at: Time,
    /// Busy time since the start of the run, including accepted work.
    busy: Bins,
}

impl SumEngine {
    /// Occupies the engine for `ps` as soon as it is done with accepted work. Returns the time at which it is done.
    fn work(&mut self, now: Time, ps: u64) -> Time {
        // One packet of a sum after the other, for all jobs of the switch.
        let begins = self.free_at.max(now);
        self.free_at = begins + ps;
        self.busy.add(begins.ps(), self.free_at.ps());
        self.free_at
    }

    /// Returns the busy time since the start of the run.
    #[must_use]
    pub fn busy(&self) -> &Bins {
        &self.busy
    }
}

/// A reducer of a job. Its inputs are the members below it in the tree; its output is the reducer above.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reducer {
    job: u32,
    number: u32,
    bytes_per_s: u64,
    /// Payload of a packet: maximum number of bytes that are added at a time.
    packet_bytes: u64,
    /// End of the flow to the switch above; none at the root.
    output: Option<u32>,
    /// Inputs in the order of their ends.
    inputs: Vec<Input>,
    /// Number of inputs without waiting bytes.
    lacking: usize,
    /// Sum in progress: completion time and bytes.
    adding: Option<(Time, u64)>,
    /// Bytes of sums that have arrived from above and must be sent down.
    down: u64,
    /// Bytes summed, and busy time of the engine for these sums in ps, since the last reset.
    summed_bytes: u64,
    busy_ps: u64,
}

impl Reducer {
    /// Creates reducer number `number` of job number `job`. `end` returns the end of the flow to a rank, or to another
    /// reducer, by its number.
    #[must_use]
    pub fn new(job: u32, number: u32, params: &ReducerParams, end: impl Fn(u32) -> Option<u32>) -> Self {
        let mut inputs: Vec<Input> =
            params.inputs.iter().filter_map(|&from| Some(Input { end: end(from)?, waiting: 0 })).collect();
        // Sorted for the binary search in `arrive`.
        inputs.sort_unstable_by_key(|input| input.end);
        Self {
            job,
            number,
            bytes_per_s: params.bytes_per_s.max(1),
            packet_bytes: u64::from(params.packet_bytes.max(1)),
            output: params.output.and_then(&end),
            lacking: inputs.len(),
            inputs,
            adding: None,
            down: 0,
            summed_bytes: 0,
            busy_ps: 0,
        }
    }

    /// Records bytes that have arrived by an end of a flow.
    pub fn arrive(&mut self, end: u32, bytes: u64) {
        if self.output == Some(end) {
            self.down += bytes;
        } else if let Ok(at) = self.inputs.binary_search_by_key(&end, |input| input.end) {
            let input = &mut self.inputs[at];
            // Counted as they change, because a sum begins when no input lacks data.
            self.lacking -= usize::from(input.waiting == 0 && bytes > 0);
            input.waiting += bytes;
        }
    }

    /// Returns the next request of the reducer, using the engine of its switch. The caller repeats the call until it
    /// is [`ReducerRequest::Nothing`] or [`ReducerRequest::Wake`].
    pub fn next(&mut self, engine: &mut SumEngine, now: Time) -> ReducerRequest {
        // Sums from above first: they need no engine.
        if self.down > 0 {
            return ReducerRequest::Down(std::mem::take(&mut self.down));
        }
        if let Some((done, bytes)) = self.adding {
            // The wake-up for this time has been requested already.
            if done > now {
                return ReducerRequest::Nothing;
            }
            self.adding = None;
            self.summed_bytes += bytes;
            return if self.output.is_some() { ReducerRequest::Up(bytes) } else { ReducerRequest::Down(bytes) };
        }
        // No inputs lack data if there are none.
        if self.lacking > 0 || self.inputs.is_empty() {
            return ReducerRequest::Nothing;
        }
        // As much as every input has, a packet at most.
        let bytes = self.inputs.iter().map(|input| input.waiting).fold(self.packet_bytes, u64::min);
        self.inputs.iter_mut().for_each(|input| input.waiting -= bytes);
        self.lacking = self.inputs.iter().filter(|input| input.waiting == 0).count();
        let ps = self.adding_ps(bytes);
        let done = engine.work(now, ps);
        self.busy_ps += ps;
        self.adding = Some((done, bytes));
        ReducerRequest::Wake(done)
    }

    /// Returns the end of the flow towards the root, unless this is the root.
    #[must_use]
    pub fn output(&self) -> Option<u32> {
        self.output
    }

    /// Returns the end of the flow of an input.
    #[must_use]
    pub fn input(&self, number: usize) -> Option<u32> {
        self.inputs.get(number).map(|input| input.end)
    }

    /// Returns the number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Returns the number of the job, and the number of the reducer, counted after the ranks.
    #[must_use]
    pub fn number(&self) -> (u32, u32) {
        (self.job, self.number)
    }

    /// Returns the bytes summed since the last reset.
    #[must_use]
    pub fn summed_bytes(&self) -> u64 {
        self.summed_bytes
    }

    /// Returns the time up to `now` that the engine worked for this reducer since the last reset, in ps.
    #[must_use]
    pub fn busy_ps(&self, now: Time) -> u64 {
        self.busy_ps.saturating_sub(self.left_ps(now))
    }

    /// Returns the bytes of vectors that have arrived and are not summed, and of sums that are not sent on.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        let adding = self.adding.map_or(0, |(_, bytes)| bytes);
        self.inputs.iter().map(|input| input.waiting).sum::<u64>() + adding + self.down
    }

    /// Begins a new measurement window.
    pub fn reset(&mut self, now: Time) {
        self.busy_ps = self.left_ps(now);
        self.summed_bytes = 0;
    }

    /// Returns the time that adding `bytes` takes, in ps.
    fn adding_ps(&self, bytes: u64) -> u64 {
        // Rounded up, so that a sum takes at least 1 ps.
        let ps = (u128::from(bytes) * PS_PER_S).div_ceil(u128::from(self.bytes_per_s));
        // Half, so that adding it to a time does not overflow.
        u64::try_from(ps).unwrap_or(u64::MAX / 2)
    }

    /// Returns the time that the sum in progress still takes, in ps, without the engine's work for others before it.
    fn left_ps(&self, now: Time) -> u64 {
        // The engine may still work for others, whose time is not that of this reducer.
        self.adding.map_or(0, |(done, bytes)| done.ps().saturating_sub(now.ps()).min(self.adding_ps(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reducer(output: Option<u32>) -> Reducer {
        let params = ReducerParams {
            host: 9,
            switch: 0,
            bytes_per_s: 1_000_000_000,
            packet_bytes: 1000,
            output,
            inputs: vec![0, 1],
        };
        Reducer::new(3, 2, &params, |number| Some(10 + number))
    }

    fn at(ns: u64) -> Time {
        Time::from_ps(ns * 1000)
    }

    #[test]
    fn what_has_come_of_every_input_is_added_packet_by_packet() {
        let (mut root, mut engine) = (reducer(None), SumEngine::default());
        root.arrive(10, 1500);
        assert_eq!(root.next(&mut engine, at(5)), ReducerRequest::Nothing, "the other input has nothing");
        root.arrive(11, 2500);
        assert_eq!(root.next(&mut engine, at(10)), ReducerRequest::Wake(at(1010)));
        assert_eq!(root.next(&mut engine, at(500)), ReducerRequest::Nothing, "it was told already");
        assert_eq!(root.busy_ps(at(500)), 490_000);
        assert_eq!(root.next(&mut engine, at(1010)), ReducerRequest::Down(1000));
        assert_eq!(root.next(&mut engine, at(1010)), ReducerRequest::Wake(at(1510)), "the rest is half a packet");
        root.reset(at(1210));
        assert_eq!(root.next(&mut engine, at(1510)), ReducerRequest::Down(500));
        assert_eq!(root.next(&mut engine, at(1510)), ReducerRequest::Nothing);
        assert_eq!((root.busy_ps(at(2000)), root.summed_bytes(), root.waiting_bytes()), (300_000, 500, 1000));
    }

    #[test]
    fn a_switch_below_the_root_sends_up_and_hands_down() {
        let (mut leaf, mut engine) = (reducer(Some(7)), SumEngine::default());
        leaf.arrive(17, 4000);
        assert_eq!(leaf.next(&mut engine, at(1)), ReducerRequest::Down(4000), "what comes from above takes no time");
        leaf.arrive(10, 200);
        leaf.arrive(11, 200);
        assert_eq!(leaf.next(&mut engine, at(1)), ReducerRequest::Wake(at(201)));
        assert_eq!(leaf.next(&mut engine, at(201)), ReducerRequest::Up(200));
    }

    #[test]
    fn jobs_share_the_engine_of_their_switch() {
        let (mut one, mut other, mut engine) = (reducer(None), reducer(None), SumEngine::default());
        for reducer in [&mut one, &mut other] {
            reducer.arrive(10, 1000);
            reducer.arrive(11, 1000);
        }
        assert_eq!(one.next(&mut engine, at(0)), ReducerRequest::Wake(at(1000)));
        assert_eq!(other.next(&mut engine, at(0)), ReducerRequest::Wake(at(2000)));
    }
}
