//! Predicts the steady state of a server from its configuration alone, without events: a fixed point over the credits
//! of its domains, their latencies, and queueing at the CHA slices and the memory controllers.
//!
//! `docs/predict.md` describes the method and its accuracy.

mod access;
mod admission;
mod assumed;
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

pub(crate) use coverage::{are_known, outside};
pub use fit::{Fit, FIT};
pub use outcome::{Domain, Memory, Prediction, Workload, WorkloadPace};

use hostnet_model::params::{ServerParams, StreamParams, Workload as Work, WorkloadKind};
use solve::{Problem, Solution};

/// Predicts the throughput and latency of the workloads of a server. Takes well below a millisecond.
#[must_use]
pub fn predict(server: &ServerParams) -> Prediction {
    predict_with(server, &FIT)
}

/// Like [`predict`], but with other constants than [`FIT`].
#[must_use]
pub fn predict_with(server: &ServerParams, fit: &Fit) -> Prediction {
    PredictedServer::with(server, fit).prediction()
}

/// Predicts only the throughput and latency of each workload, in their order: the cheapest part of [`predict`].
#[must_use]
pub fn paces(server: &ServerParams) -> Vec<WorkloadPace> {
    PredictedServer::new(server).now
}

/// A server with its prediction, which makes predictions of slightly different servers cheaper.
pub struct PredictedServer<'a> {
    /// Predicted throughput and latency of each workload.
    pub now: Vec<WorkloadPace>,
    server: &'a ServerParams,
    walks: traffic::Walks<'a>,
    problem: Problem,
    solution: Solution,
}

impl<'a> PredictedServer<'a> {
    /// Predicts the performance of `server`.
    #[must_use]
    pub fn new(server: &'a ServerParams) -> Self {
        Self::with(server, &FIT)
    }

    fn with(server: &'a ServerParams, fit: &Fit) -> Self {
        let walks = traffic::Walks::new(server.socket());
        let problem = Problem::new(server.socket(), &walks, traffic::flows(server, &walks), fit);
        let solution = problem.solve();
        Self { now: outcome::paces(&problem, &solution), server, walks, problem, solution }
    }

    /// Returns the server.
    #[must_use]
    pub fn server(&self) -> &'a ServerParams {
        self.server
    }

    /// Returns the full prediction of the server.
    #[must_use]
    pub fn prediction(&self) -> Prediction {
        outcome::of(self)
    }

    /// Returns true if rates and waits have settled. If they have not, nothing derived from them can be trusted.
    #[must_use]
    pub fn has_settled(&self) -> bool {
        self.solution.has_settled()
    }

    /// Predicts each workload of a server whose memory has the same address map, or returns `None` if the prediction
    /// does not settle.
    #[must_use]
    pub fn paces(&self, other: &ServerParams) -> Option<Vec<WorkloadPace>> {
        // Flows need walks over the address map, the costly part; most raises leave them as they are.
        let flows = if traffic::are_alike(self.server, other) {
            self.problem.flows.clone()
        } else {
            traffic::flows(other, &self.walks)
        };
        let problem = Problem::new(other.socket(), &self.walks, flows, &self.problem.fit);
        // The raise touches nothing that predictions model.
        if problem == self.problem {
            return Some(self.now.clone());
        }
        let continued = problem.solve_from(&self.solution);
        // Near the mode quotas the backlog may flip between reads and writes forever: start from scratch then.
        let solution = if continued.has_settled() { continued } else { problem.solve() };
        solution.has_settled().then(|| outcome::paces(&problem, &solution))
    }

    /// Predicts each workload without the other side. Returns `None` for each if the server has one side only.
    fn alone(&self) -> Vec<Option<WorkloadPace>> {
        let of_devices = |workload: &Work| workload.kind.is_of_devices();
        let side = |devices| {
            let mut alone = self.server.clone();
            alone.workloads.retain(|workload| of_devices(workload) == devices);
            alone
        };
        let [cores, devices] = [false, true].map(side);
        let workloads = self.server.workloads.iter();
        if cores.workloads.is_empty() || devices.workloads.is_empty() {
            return workloads.map(|_| None).collect();
        }
        let [cores, devices] = [cores, devices].map(|alone| {
            let base = PredictedServer::with(&alone, &self.problem.fit);
            // An unsettled side has no paces, so `next` below gives None for each of its workloads.
            if base.has_settled() {
                base.now
            } else {
                Vec::new()
            }
        });
        let [mut cores, mut devices] = [cores.into_iter(), devices.into_iter()];
        workloads.map(|workload| if of_devices(workload) { devices.next() } else { cores.next() }).collect()
    }

    /// Implements [`lone_latencies_ns`].
    fn lone_latencies_ns(&self) -> Vec<Option<f64>> {
        let server = self.server;
        let cores: usize = server.workloads.iter().map(|workload| workload.kind.cores().len()).sum();
        // A single core has no other core to wait for.
        if !are_known(server) || cores < 2 {
            return vec![None; server.workloads.len()];
        }
        let lone = |workload: &Work| {
            let stream = workload.kind.stream()?;
            let one = StreamParams { cores: stream.cores.first().copied().into_iter().collect(), ..stream.clone() };
            let kind = WorkloadKind::Stream(one);
            let alone = ServerParams { workloads: vec![Work { kind, ..workload.clone() }], ..server.clone() };
            Some(self.paces(&alone)?[0].latency_ns)
        };
        server.workloads.iter().map(lone).collect()
    }
}

/// Predicts each workload of a server, first with all workloads and then without the other side: cores without
/// devices, devices without cores.
///
/// A workload is `None` if predictions were not checked for the server, or if there is no other side.
#[must_use]
pub fn now_and_alone(server: &ServerParams) -> Vec<Option<[WorkloadPace; 2]>> {
    if !are_known(server) || !outside(server).is_empty() {
        return vec![None; server.workloads.len()];
    }
    let base = PredictedServer::new(server);
    if !base.has_settled() {
        return vec![None; server.workloads.len()];
    }
    base.now.iter().zip(base.alone()).map(|(now, alone)| Some([*now, alone?])).collect()
}

/// Predicts the LFB residence of each stream of a server without its devices, in ns, in the order of the workloads.
/// It is `None` for other workloads, and everywhere if predictions do not cover the server.
#[must_use]
pub fn isolated_latencies_ns(server: &ServerParams) -> Vec<Option<f64>> {
    if !are_known(server) {
        return vec![None; server.workloads.len()];
    }
    let is_stream = |kind: &WorkloadKind| matches!(kind, WorkloadKind::Stream(_));
    let mut alone = server.clone();
    alone.workloads.retain(|workload| is_stream(&workload.kind));
    let mut latencies = paces(&alone).into_iter().map(|pace| pace.latency_ns);
    server.workloads.iter().map(|workload| if is_stream(&workload.kind) { latencies.next() } else { None }).collect()
}

/// Predicts the LFB residence of one core of each stream with nothing else on the server, in ns. It is `None` for
/// other workloads, and everywhere if predictions do not cover the server or it uses one core only.
#[must_use]
pub fn lone_latencies_ns(server: &ServerParams) -> Vec<Option<f64>> {
    if are_known(server) {
        PredictedServer::new(server).lone_latencies_ns()
    } else {
        vec![None; server.workloads.len()]
    }
}
