//! Predicts what a server does from its configuration alone, without events: a fixed point over the credits of its
//! domains, their latencies, and queueing at the slices of the CHA and at the memory controllers.
//!
//! How it works, where it is right and where it is not: `docs/predict.md`.

mod admission;
mod channel;
mod coverage;
mod domains;
mod fit;
mod outcome;
mod rounds;
mod rows;
mod search;
mod solve;
mod storage;
mod traffic;

pub(crate) use coverage::outside;
pub use fit::{Fit, FIT};
pub use outcome::{Domain, Memory, Pace, Prediction, Workload};

use crate::limits;
use hostnet_model::params::{ServerParams, StreamParams, Workload as Work, WorkloadKind};
use solve::Problem;

/// Predicts what the workloads of a server get. Takes well below a millisecond.
#[must_use]
pub fn predict(server: &ServerParams) -> Prediction {
    predict_with(server, &FIT)
}

/// Predicts with other numbers than [`FIT`].
#[must_use]
pub fn predict_with(server: &ServerParams, fit: &Fit) -> Prediction {
    let walks = traffic::Walks::new(server.socket());
    let flows = traffic::flows(server, &walks);
    let problem = Problem::new(server.socket(), &walks, &flows, fit);
    outcome::of(server, &problem, &problem.solve())
}

/// What each workload of a server gets, in their order: of what [`predict`] says the part that takes least.
#[must_use]
pub fn paces(server: &ServerParams) -> Vec<Pace> {
    Base::new(server).now
}

/// A server that was predicted, to predict others that differ a little: that takes less.
pub struct Base<'a> {
    /// What each workload gets.
    pub now: Vec<Pace>,
    walks: traffic::Walks<'a>,
    slow: rounds::Slow,
}

impl<'a> Base<'a> {
    /// Predicts a server.
    #[must_use]
    pub fn new(server: &'a ServerParams) -> Self {
        let walks = traffic::Walks::new(server.socket());
        let (now, slow) = paces_from(server, &walks, rounds::Slow::default());
        Self { now, walks, slow }
    }

    /// What each workload gets on a server whose memory has the same places, with the same workloads in the same order.
    #[must_use]
    pub fn paces(&self, other: &ServerParams) -> Vec<Pace> {
        paces_from(other, &self.walks, self.slow).0
    }
}

fn paces_from(server: &ServerParams, walks: &traffic::Walks, start: rounds::Slow) -> (Vec<Pace>, rounds::Slow) {
    let flows = traffic::flows(server, walks);
    let problem = Problem::new(server.socket(), walks, &flows, &FIT);
    let solution = problem.solve_from(start);
    (outcome::paces(&problem, &solution), solution.slow)
}

/// The latency of the LFB entries of the streams of a server when its devices are silent, in ns, in the order of the
/// workloads; nothing for other workloads.
#[must_use]
pub fn isolated_latencies_ns(server: &ServerParams) -> Vec<Option<f64>> {
    let is_stream = |kind: &WorkloadKind| matches!(kind, WorkloadKind::Stream(_));
    let mut alone = server.clone();
    alone.workloads.retain(|workload| is_stream(&workload.kind));
    let mut latencies = paces(&alone).into_iter().map(|pace| pace.latency_ns);
    server.workloads.iter().map(|workload| if is_stream(&workload.kind) { latencies.next() } else { None }).collect()
}

/// The same with one core of each stream and nothing else on the server. Nothing where predictions do not cover it,
/// or there is one core only.
#[must_use]
pub fn lone_latencies_ns(server: &ServerParams) -> Vec<Option<f64>> {
    let cores: usize = server.workloads.iter().map(|workload| workload.kind.cores().len()).sum();
    if !limits::are_known(server) || cores < 2 {
        return vec![None; server.workloads.len()];
    }
    let base = Base::new(server);
    let lone = |workload: &Work| {
        let stream = workload.kind.stream()?;
        let one = StreamParams { cores: stream.cores.first().copied().into_iter().collect(), ..stream.clone() };
        let kind = WorkloadKind::Stream(one);
        let alone = ServerParams { workloads: vec![Work { kind, ..workload.clone() }], ..server.clone() };
        Some(base.paces(&alone)[0].latency_ns)
    };
    server.workloads.iter().map(lone).collect()
}
