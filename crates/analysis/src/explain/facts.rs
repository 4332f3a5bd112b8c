//! The facts about a workload from which its performance is explained.

use crate::binding::{binding, LFB, NOT_KNOWN, OFFERED_LOAD};
use crate::evidence::{limiting, Stage};
use crate::explain::behind_link::BehindLink;
use crate::explain::on_mesh::OnMesh;
use crate::explain::outside::OutsideLimit;
use crate::explain::{unloaded, Cached};
use crate::limits::Limits;
use crate::offered::LINKS;
use crate::pool::Pool;
use crate::regime::{Basis, IsolatedGain};
use hostnet_model::params::SocketParams;
use serde::{Deserialize, Serialize};

/// Share of the offered load at or above which storage counts as getting all of it: the rest is noise.
const ALL_OF_IT: f64 = 0.98;

/// Stage that limits storage if it gets all that its links can carry.
const PCIE_LINK: &str = "PCIe link";

/// Kind of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Loads and stores of cores.
    Stream,
    /// Storage IO.
    Fio,
}

/// Latency of a stream when the cores run in isolation, without devices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Isolated {
    /// Mean latency, in ns.
    pub ns: f64,
    /// Source of the latency.
    pub basis: Basis,
}

/// Facts about one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// Name of the workload.
    pub workload: String,
    /// Kind of the workload.
    pub kind: Kind,
    /// Throughput of the workload's lines in its domains, in GB/s.
    pub gb_per_s: f64,
    /// Data rate of the workload's application, in GB/s; only for storage.
    pub app_gb_per_s: Option<f64>,
    /// Data rate of the workload's application if nothing in the host held it back, in GB/s; only for storage.
    pub offered_gb_per_s: Option<f64>,
    /// Bounds of the offered load, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered_by: Vec<String>,
    /// Share of stores in the workload's accesses, 0 to 1; only for streams.
    pub store_share: f64,
    /// Latency if the workload's cores ran alone, if known; only for streams.
    pub isolated: Option<Isolated>,
    /// Gain without the devices, or for a workload of devices without the cores, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<IsolatedGain>,
    /// Predicted latency of one of its cores alone in ns, if known; only for streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lone_ns: Option<f64>,
    /// True if some lines of the workload, or snoops that these lines wait for, cross to other sockets: the time of the
    /// crossings is not counted separately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crosses: bool,
    /// Unloaded round-trip latency from the CHA to the memory behind a link, in ns, averaged over the lines that the
    /// workload waits for.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub link_ns: f64,
    /// Unloaded latency of the path to local memory that the lines behind the link save, in ns, on the same average.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub saved_ns: f64,
    /// Unloaded latency that the path to other sockets and back adds, in ns, averaged over the lines that the workload
    /// waits for.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub hop_ns: f64,
    /// Delay of the workload's lines on the mesh, if the mesh delays any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<OnMesh>,
    /// Pools on the workload's path, each at the place where the pool is fullest.
    pub pools: Vec<Pool>,
    /// Limit of the workload if nothing on its path limits it.
    #[serde(skip)]
    pub otherwise: String,
    /// Stages on the workload's path, with their loads; empty if a prediction covers the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Bottlenecks of the workload: the limits that improve it when raised, or `not known`. If predictions do not
    /// cover the server or are far off, the bottleneck stage on its path.
    pub binding: Vec<String>,
    /// Limits that improve the workload when raised, with their gains; `None` if predictions do not cover the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Share of time that the fullest of the limiting domains, or else of those on the path, is full; 0 to 1.
    pub full_share: f64,
    /// True if shares of time are estimated from mean occupancies.
    pub estimated: bool,
    /// Effect of the caches on the workload, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Cached>,
    /// Limit outside of the workload's path in the server, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideLimit>,
    /// Share of the time of its cores that the throttle of a host control takes, 0 to 1.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub throttled_share: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_nothing(ns: &f64) -> bool {
    *ns == 0.0
}

impl WorkloadFacts {
    /// Creates the facts of a workload that moves `gb_per_s` through `pools` and is bound by one of them, or by
    /// `otherwise`.
    ///
    /// Pools whose domain has none of the usual names are not candidates for the limit.
    #[must_use]
    pub fn new(workload: &str, kind: Kind, gb_per_s: f64, pools: Vec<Pool>, otherwise: &'static str) -> Self {
        let candidates: Vec<(&'static str, f64)> =
            pools.iter().filter_map(|pool| Some((known_domain(&pool.domain)?, pool.full_share))).collect();
        let bound = binding(&candidates, otherwise);
        Self {
            workload: workload.to_owned(),
            kind,
            gb_per_s,
            app_gb_per_s: None,
            offered_gb_per_s: None,
            offered_by: Vec::new(),
            store_share: 0.0,
            isolated: None,
            alone: None,
            lone_ns: None,
            crosses: false,
            link_ns: 0.0,
            saved_ns: 0.0,
            hop_ns: 0.0,
            mesh: None,
            pools,
            otherwise: otherwise.to_owned(),
            stages: Vec::new(),
            binding: bound.domains.iter().map(ToString::to_string).collect(),
            limits: None,
            full_share: bound.full_share,
            estimated: false,
            cached: None,
            outside: None,
            throttled_share: 0.0,
        }
    }

    /// Adds the predicted limits, with their gains capped by the load that storage offers.
    #[must_use]
    pub fn with_limits(mut self, limits: Option<Limits>) -> Self {
        let Some(mut limits) = limits else { return self };
        // The LFB of a stream is named after the domain that holds its entries longer (docs/domains.md).
        let held = self.pools.first().filter(|_| self.kind == Kind::Stream).map(|pool| pool.domain.clone());
        for gain in limits.gains.iter_mut().filter(|gain| gain.limit == LFB) {
            gain.limit = held.clone().unwrap_or_else(|| LFB.to_owned());
        }
        // A workload that moved nothing has no relative gain: `cap_gains` divides by `moved`.
        if let Some(moved) = self.app_gb_per_s.filter(|moved| *moved > 0.0) {
            limits.cap_gains(moved);
        }
        // Gains that may be wrong stay in `limits` as evidence but name no limit.
        if limits.covered && !self.doubts(&limits) {
            self.binding = limits.names();
        }
        self.limits = Some(limits);
        self.full_share = self.main_pool().map_or(0.0, |pool| pool.full_share);
        self
    }

    /// Marks the facts as those of a workload with lines that cross to other sockets: a full local pool may only be
    /// waiting for a remote one.
    #[must_use]
    pub fn crossing(self) -> Self {
        // Predictions cover one socket only, so the predicted gain without the other side does not hold here.
        Self { crosses: true, alone: None, ..self }
    }

    /// Adds the stages on its path. Unless a prediction names a limit, the limit is then the stage that holds the
    /// workload back, or `otherwise` if there is none.
    #[must_use]
    pub fn with_stages(mut self, stages: Vec<Stage>) -> Self {
        // A full stage is weaker evidence than a mesh link, the path behind a link or a prediction, so those stand.
        let is_told = self.mesh_limit().is_some() || self.is_named_behind_link() || self.is_predicted();
        if is_told || stages.is_empty() {
            return self;
        }
        // Links that carry all traffic of their drives are nearly full, yet wider links would not help.
        let of_links = self.offered_by.is_empty() || self.offered_by == [LINKS];
        let stages: Vec<Stage> = stages.into_iter().filter(|stage| of_links || stage.limit != PCIE_LINK).collect();
        let limit = if !self.gets_what_it_offers() {
            limiting(&stages).map_or_else(|| self.otherwise.clone(), |stage| stage.limit.clone())
        } else if self.offered_by == [LINKS] {
            PCIE_LINK.to_owned()
        } else {
            OFFERED_LOAD.to_owned()
        };
        self.binding = vec![limit];
        self.stages = stages;
        self.full_share = self.main_pool().map_or(0.0, |pool| pool.full_share);
        self
    }

    /// Returns true if predictions show the raises that help the workload.
    pub(super) fn is_predicted(&self) -> bool {
        !self.crosses && self.limits.as_ref().is_some_and(|limits| limits.covered && !self.doubts(limits))
    }

    /// Returns true if the limit was named from the utilization of the path behind a link.
    pub(super) fn is_named_behind_link(&self) -> bool {
        self.link_ns > 0.0 && self.stages.is_empty() && self.binding != [NOT_KNOWN]
    }

    /// Returns the stage that names the limit, if the limit comes from a stage.
    pub(super) fn limiting(&self) -> Option<&Stage> {
        limiting(&self.stages).filter(|stage| self.binding == [stage.limit.as_str()])
    }

    /// Adds the path behind a link to the facts of a workload of which some lines lie there, on a server of `socket`.
    #[must_use]
    pub fn behind_link(self, socket: &SocketParams, way: &BehindLink) -> Self {
        // Predictions lack the link: `crossing` drops the gain without the other side, and the limits go here.
        let far = Self { link_ns: way.ns, saved_ns: way.saved_ns, limits: None, ..self.crossing() };
        let added_ns = far.added_by_link_ns();
        let isolated = far.isolated.map(|alone| Isolated { ns: alone.ns + added_ns, ..alone });
        let lone_ns = far.lone_ns.map(|alone| alone + added_ns);
        // An LFB entry can be allocated again only `core.refill` after its line has left it.
        let ns = added_ns + socket.core.refill_ps as f64 / 1000.0;
        let again_ns = |lfb: &Pool| unloaded_ns(socket, far.kind, &lfb.domain, far.store_share) + ns;
        let lfb = far.pools.first().filter(|_| far.kind == Kind::Stream).map(|lfb| (lfb, again_ns(lfb)));
        let limit = way.limit(lfb).unwrap_or_else(|| NOT_KNOWN.to_owned());
        Self { isolated, lone_ns, binding: vec![limit], ..far }
    }

    /// Returns the latency that memory behind a link or on another socket adds without load, in ns. It is negative if
    /// that memory is faster than the local one.
    pub(super) fn added_by_link_ns(&self) -> f64 {
        self.link_ns - self.saved_ns + self.hop_ns
    }

    /// Adds the delay of lines on a mesh, which predictions do not cover. If the delay is significant, predicted
    /// limits are dropped and the mesh is named as the limit where one of its links is full.
    #[must_use]
    pub fn on_mesh(mut self, mesh: Option<OnMesh>) -> Self {
        let latency_ns = self.main_pool().and_then(|pool| pool.latency_ns);
        if let Some(mesh) = mesh.as_ref().filter(|mesh| mesh.counts(latency_ns)) {
            // Predictions have no mesh, so their gains would be those of a server without this delay.
            (self.limits, self.alone) = (None, None);
            if mesh.limits(latency_ns) && !self.crosses {
                self.binding = vec![mesh.limit().to_owned()];
            }
        }
        self.mesh = mesh;
        self
    }

    /// Returns the delay on the mesh if the mesh is the limit.
    pub(super) fn mesh_limit(&self) -> Option<&OnMesh> {
        self.mesh.as_ref().filter(|mesh| self.binding == [mesh.limit()])
    }

    /// Returns true if the predicted limits may be wrong, because the prediction is far from the measurement.
    fn doubts(&self, limits: &Limits) -> bool {
        let of_cores = self.pools.first().filter(|_| self.kind == Kind::Stream);
        limits.are_doubtful(self.gb_per_s, of_cores.and_then(|pool| pool.latency_ns))
    }

    /// Returns true if the workload is storage that gets all the load it offers.
    fn gets_what_it_offers(&self) -> bool {
        self.offered_gb_per_s.zip(self.app_gb_per_s).is_some_and(|(offered, moved)| moved >= ALL_OF_IT * offered)
    }

    /// Returns true if the workload gets all the load it offers and that is named as its limit.
    fn is_limited_by_its_offer(&self) -> bool {
        let named = self.binding == [OFFERED_LOAD] || self.binding == [PCIE_LINK] && self.offered_by == [LINKS];
        named && self.gets_what_it_offers()
    }

    /// Returns the reason why the named limit may be wrong; `None` if it comes from a prediction near the measurement
    /// or is certain for another reason.
    pub(super) fn doubt(&self) -> Option<String> {
        // In order of precedence: limits outside of the path and certain ones stand before doubts about predictions.
        match &self.limits {
            _ if self.outside.is_some() => None,
            _ if self.throttled_share > 0.0 => {
                let lost = 100.0 * self.throttled_share;
                Some(format!("not known for sure: the throttle of its host takes {lost:.0} % of its time"))
            }
            _ if self.is_limited_by_its_offer() => None,
            _ if self.mesh_limit().is_some_and(OnMesh::is_of_some_lines) => {
                Some("not known for sure: some of its lines do not pass that link".to_owned())
            }
            _ if self.mesh_limit().is_some() || self.link_ns > 0.0 && self.stages.is_empty() => None,
            _ if self.link_ns > 0.0 => {
                Some("not known for sure: predictions do not cover lines behind a link".to_owned())
            }
            _ if self.crosses => Some("not known for sure: predictions do not cover lines of other sockets".to_owned()),
            None => Some("not known for sure: predictions do not cover this server".to_owned()),
            Some(limits) if !limits.covered => {
                Some("not known for sure: predictions were not checked on such a server".to_owned())
            }
            Some(limits) if self.doubts(limits) => {
                Some(format!("not known for sure: the prediction is {:.3} GB/s", limits.predicted_gb_per_s))
            }
            Some(_) => None,
        }
    }

    /// Returns true if the named limit may be wrong.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.doubt().is_some()
    }

    /// Returns the pool that limits the workload, or the fullest pool on its path.
    #[must_use]
    pub fn main_pool(&self) -> Option<&Pool> {
        let bound = self.pools.iter().find(|pool| self.binding.first() == Some(&pool.domain));
        let share = |pool: &Pool| pool.in_use / pool.credits.max(1.0);
        // Several pools may never be full: the mean occupancy then decides.
        let fuller = |a: &&Pool, b: &&Pool| a.full_share.total_cmp(&b.full_share).then(share(a).total_cmp(&share(b)));
        bound.or_else(|| self.pools.iter().max_by(fuller))
    }

    /// Returns true if the workload held a credit or accessed a cache.
    pub(super) fn has_traffic(&self) -> bool {
        !self.pools.is_empty() || self.looked()
    }

    /// Returns true if the workload accessed a cache.
    pub(super) fn looked(&self) -> bool {
        self.cached.is_some_and(|cached| cached.l2_miss_ratio.is_some())
    }
}

/// Returns the name of a domain on a path as a constant.
fn known_domain(name: &str) -> Option<&'static str> {
    const KNOWN: [&str; 6] = ["C2M-Read", "C2M-Write", "P2M-Write", "P2M-Read", "PCIe posted", "PCIe non-posted"];
    KNOWN.into_iter().find(|known| *known == name)
}

/// Unloaded latency of a line of a workload in ns: the time in an LFB entry, or in the IIO. For devices `domain`
/// selects reads or writes.
#[must_use]
pub fn unloaded_ns(socket: &SocketParams, kind: Kind, domain: &str, store_share: f64) -> f64 {
    match (kind, domain) {
        (Kind::Stream, _) => unloaded::c2m_read_ns(socket) + store_share * unloaded::c2m_write_ns(socket),
        (Kind::Fio, "P2M-Read") => unloaded::p2m_read_ns(socket),
        (Kind::Fio, _) => unloaded::p2m_write_ns(socket),
    }
}
