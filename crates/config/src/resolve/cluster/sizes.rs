//! Sizes of flows, and their arrival times in an open loop.

use super::super::arithmetic::ln;
use super::size_file::OR_A_FILE;
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::presets;
use crate::units::shorten;
use hostnet_kernel::Rng;
use hostnet_params::{Distribution, FlowSizesSpec, SizePoint};

/// A distribution of sizes: points of a size in bytes and the share of flows that do not exceed it.
pub(super) struct FlowSizes(Vec<(f64, f64)>);

impl FlowSizes {
    /// Creates a distribution in which every flow has the same size.
    pub(super) fn fixed(bytes: u64) -> Self {
        Self(vec![(bytes as f64, 1.0)])
    }

    /// Resolves the distribution of sizes of a table of flows.
    pub(super) fn resolve(spec: &FlowSizesSpec, path: &str) -> Result<Self, Issue> {
        let points = match spec {
            FlowSizesSpec::Points(points) => points.clone(),
            FlowSizesSpec::Named(name) => presets::flow_sizes(name).ok_or_else(|| {
                let hint = suggestion(name, presets::flow_sizes_names());
                Issue::new(
                    Code::UnknownName,
                    path,
                    format!("there is no distribution {}; {hint}; {OR_A_FILE}", shorten(name)),
                )
            })?,
        };
        Self::of_points(&points, path)
    }

    /// Creates the distribution of these points.
    pub(super) fn of_points(points: &[SizePoint], path: &str) -> Result<Self, Issue> {
        let ascending = |pair: &[SizePoint]| pair[0].bytes.0 <= pair[1].bytes.0 && pair[0].share <= pair[1].share;
        if points.last().is_none_or(|last| last.share < 1.0) || !points.windows(2).all(ascending) {
            let message = "sizes and shares rise from point to point, and the last share is 1";
            return Err(Issue::new(Code::BadDistribution, path, message));
        }
        if points[0].bytes.0 == 0 && points[0].share > 0.0 {
            return Err(Issue::new(Code::BadDistribution, path, "only a first point with a share of 0 may have 0 B"));
        }
        Ok(Self(points.iter().map(|point| (point.bytes.0 as f64, point.share)).collect()))
    }

    /// Returns the distribution with integer shares, from which sizes are drawn while a world runs.
    pub(super) fn draw_of(&self) -> Distribution {
        let share = |share: f64| (share * f64::from(u32::MAX)).round() as u32;
        Distribution::Points(self.0.iter().map(|&(bytes, most)| (share(most), (bytes as u64).max(1))).collect())
    }

    /// Returns the smallest and the largest size, in bytes.
    pub(super) fn range(&self) -> (u64, u64) {
        let bytes = |point: Option<&(f64, f64)>| point.map_or(0, |point| point.0 as u64);
        (bytes(self.0.first()), bytes(self.0.last()))
    }

    /// Returns the distribution with `bytes` subtracted from every size. The smallest size must be at least that.
    pub(super) fn without(&self, bytes: u64) -> Self {
        Self(self.0.iter().map(|&(own, share)| (own - bytes as f64, share)).collect())
    }

    /// Returns the mean size of a flow, in bytes.
    pub(super) fn mean(&self) -> f64 {
        let (first, share) = self.0[0];
        let between = self.0.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0);
        share * first + between.sum::<f64>()
    }

    /// Draws the size of a flow, in bytes.
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        let share = unit(rng);
        let above = self.0.iter().position(|&(_, most)| share <= most).unwrap_or(self.0.len() - 1);
        let (bytes, most) = self.0[above];
        let Some(&(least, below)) = above.checked_sub(1).and_then(|at| self.0.get(at)) else { return bytes as u64 };
        // Equal shares are a step of the distribution, which has no slope.
        let part = if most > below { (share - below) / (most - below) } else { 1.0 };
        ((least + part * (bytes - least)).round() as u64).max(1)
    }
}

/// Random arrival times (a Poisson process) with a mean interval in ps.
pub(super) struct Arrivals {
    mean_ps: f64,
    at_ps: f64,
}

impl Arrivals {
    pub(super) fn new(start_ps: u64, mean_ps: f64) -> Self {
        Self { mean_ps, at_ps: start_ps as f64 }
    }

    pub(super) fn next(&mut self, rng: &mut Rng) -> u64 {
        self.at_ps += self.mean_ps * -ln(unit(rng));
        self.at_ps.round() as u64
    }
}

/// Draws a number above 0 and up to 1.
fn unit(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_has_the_mean_and_the_quantiles_of_its_distribution() {
        for (name, mean) in [("web-search", 1.67e6), ("data-mining", 7.45e6)] {
            let sizes = FlowSizes::resolve(&FlowSizesSpec::Named(name.to_string()), "sizes").expect("it is there");
            assert!((sizes.mean() / mean - 1.0).abs() < 0.005, "{name}: {}", sizes.mean());
            let mut rng = Rng::new(1, 2);
            let mut drawn: Vec<u64> = (0..200_000).map(|_| sizes.draw(&mut rng)).collect();
            let found = drawn.iter().map(|&bytes| bytes as f64).sum::<f64>() / drawn.len() as f64;
            assert!((found / sizes.mean() - 1.0).abs() < 0.05, "{name}: {found}");
            drawn.sort_unstable();
            for &(bytes, share) in &sizes.0 {
                let below = drawn.partition_point(|&drawn| drawn as f64 <= bytes) as f64 / drawn.len() as f64;
                assert!((below - share).abs() < 0.005, "{name}: {below} up to {bytes}");
            }
        }
    }

    #[test]
    fn arrivals_are_as_far_apart_as_asked_and_as_random() {
        let (mut rng, mut arrivals) = (Rng::new(3, 4), Arrivals::new(0, 1e6));
        let times: Vec<f64> = (0..100_000).map(|_| arrivals.next(&mut rng) as f64).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.02 && (variance.sqrt() / mean - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
