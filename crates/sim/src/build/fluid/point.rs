//! Rates of one point of a table: a load at its maximum rate, and at shares of it.

use super::fill::has_ddio;
use super::load::{mean, MeasuredRates};
use super::server_load::ServerLoad;
use hostnet_model::params::{FluidPoint, FluidRow, ServerParams, FLUID_SHARES};

/// Share of the maximum rate that is measured first, as the gaps of the other shares follow from it.
pub(super) const FULL: usize = FLUID_SHARES.len() - 1;

/// Duration and number of measurements.
#[derive(Clone, Copy, Debug)]
struct MeasuringSpan {
    /// Duration before and during a measurement, in ps.
    ps: [u64; 2],
    /// Number of runs, each with another seed.
    moments: u64,
}

/// Durations of the measurements with devices below their maximum rate (`SOME`) and at it (`ALL`). Under full load
/// the interleaving of lines in the banks takes long to reach its steady state.
const SOME: MeasuringSpan = MeasuringSpan { ps: [30_000_000, 70_000_000], moments: 1 };
const ALL: MeasuringSpan = MeasuringSpan { ps: [80_000_000, 120_000_000], moments: 2 };
/// Durations of the measurements with DDIO, where one number of copying cores stands for all.
const SOME_CACHED: MeasuringSpan = MeasuringSpan { moments: 2, ..SOME };
const ALL_CACHED: MeasuringSpan = MeasuringSpan { ps: [80_000_000, 320_000_000], moments: 4 };

/// One simulation of a loaded server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Index of the load among `FLUID_SHARES`.
    pub(super) share: usize,
    /// Number of the simulation, which has a seed of its own. The interleaving of lines of different sources in the
    /// banks changes slowly, and each seed gives another one.
    pub(super) moment: u64,
}

impl Sample {
    fn span(self, server: &ServerParams) -> MeasuringSpan {
        match (has_ddio(server.socket()), self.share == FULL) {
            (false, false) => SOME,
            (false, true) => ALL,
            (true, false) => SOME_CACHED,
            (true, true) => ALL_CACHED,
        }
    }

    /// Returns the durations before and during the measurement, in ps.
    pub(super) fn span_ps(self, server: &ServerParams) -> [u64; 2] {
        self.span(server).ps
    }

    /// Returns the seed of the simulation.
    pub(super) fn seed(self, server: &ServerParams) -> u64 {
        server.seed.wrapping_add(self.moment)
    }

    /// Returns the samples of one share.
    pub(super) fn of_share(share: usize, server: &ServerParams) -> impl DoubleEndedIterator<Item = Self> {
        let moments = Self { share, moment: 0 }.span(server).moments;
        (0..moments).map(move |moment| Self { share, moment })
    }
}

/// Samples of a point, as far as they are measured.
#[derive(Debug)]
pub(super) struct PointSamples([Vec<Option<MeasuredRates>>; FLUID_SHARES.len()]);

impl PointSamples {
    /// Makes room for the samples of a point.
    pub(super) fn new(server: &ServerParams) -> Self {
        Self(std::array::from_fn(|share| Sample::of_share(share, server).map(|_| None).collect()))
    }

    /// Adds a sample.
    pub(super) fn add(&mut self, sample: Sample, rates: MeasuredRates) {
        self.0[sample.share][sample.moment as usize] = Some(rates);
    }

    /// Returns the mean rates of a share, or `None` while a sample is missing.
    pub(super) fn of_share(&self, share: usize) -> Option<MeasuredRates> {
        let all: Option<Vec<&MeasuredRates>> = self.0[share].iter().map(Option::as_ref).collect();
        all.map(|all| mean(&all))
    }

    /// Returns the time between two packets of `load` at a share, in 2^-10 ps, once the maximum rate is known.
    pub(super) fn gap(&self, load: &ServerLoad, share: usize) -> u64 {
        let Some(most) = self.of_share(FULL).filter(|_| share != FULL) else { return 0 };
        // The factor 16 is the unit of `FLUID_SHARES`; the shift by 10 gives gaps in 2^-10 ps.
        let per_packet = (u128::from(load.packet_lines()) * 64 * 1_000_000_000_000 * 16) << 10;
        (per_packet / (u128::from(most.drain_bytes_per_s.max(1)) * u128::from(FLUID_SHARES[share]))) as u64
    }

    /// Returns the point, or `None` while a sample is missing.
    pub(super) fn point(&self, server: &ServerParams) -> Option<FluidPoint> {
        let measured: Vec<MeasuredRates> =
            (0..self.0.len()).map(|share| self.of_share(share)).collect::<Option<_>>()?;
        let row =
            |pick: &dyn Fn(&MeasuredRates) -> u64| -> FluidRow { std::array::from_fn(|share| pick(&measured[share])) };
        Some(FluidPoint {
            drain_bytes_per_s: measured[FULL].drain_bytes_per_s,
            write_ps: row(&|measured| measured.write_ps),
            read_ps: row(&|measured| measured.read_ps),
            copy_ps: row(&|measured| measured.copy_ps),
            workloads: (0..server.workloads.len())
                .map(|class| [0, 1].map(|way: usize| row(&|measured| measured.workloads[class][way])))
                .collect(),
            missed: has_ddio(server.socket()).then(|| [0, 1].map(|way: usize| row(&|measured| measured.missed[way]))),
        })
    }
}
