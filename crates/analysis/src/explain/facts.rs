//! What has to be known of a workload before it can be explained.

use crate::binding::{binding, OFFERED_LOAD};
use crate::evidence::{limiting, Stage};
use crate::explain::behind_link::BehindLink;
use crate::explain::on_mesh::{OnMesh, MESH};
use crate::explain::outside::OutsideLimit;
use crate::explain::{unloaded, Cached};
use crate::limits::{Limits, LFB, NOT_KNOWN};
use crate::offered::LINKS;
use crate::regime::{Alone, Basis};
use hostnet_model::params::SocketParams;
use serde::{Deserialize, Serialize};

/// Share of what storage offers from which on it gets all of it: the rest is noise.
const ALL_OF_IT: f64 = 0.98;

/// The stage that limits storage which gets all that its links let through.
const PCIE_LINK: &str = "PCIe link";

/// What kind of workload it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Loads and stores of cores.
    Stream,
    /// Storage IO.
    Fio,
}

/// A pool of credits on the path of a workload: of all the parts (cores, drives) that the workload uses, together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// The domain that it stands for.
    pub domain: String,
    /// Credits.
    pub credits: f64,
    /// Credits in use, mean, whoever uses them.
    pub in_use: f64,
    /// Share of time with all credits in use, mean over the parts.
    pub full_share: f64,
    /// Mean time that the workload holds a credit in ns; nothing without a line.
    pub latency_ns: Option<f64>,
    /// Lines of the workload that pass, in GB/s.
    pub gb_per_s: f64,
    /// Where it is the fullest of several places that the workload uses, such as `socket 0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// The latency of a stream if its cores ran alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Isolated {
    /// Latency in ns.
    pub ns: f64,
    /// Where it comes from.
    pub basis: Basis,
}

/// What has to be known of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// Its name.
    pub workload: String,
    /// Its kind.
    pub kind: Kind,
    /// Lines moved in its domains in GB/s.
    pub gb_per_s: f64,
    /// Data that its application moves, in GB/s; of storage only.
    pub app_gb_per_s: Option<f64>,
    /// Data that it would move if nothing in the host held it back, in GB/s; of storage only.
    pub offered_gb_per_s: Option<f64>,
    /// Names what bounds that, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered_by: Vec<String>,
    /// Share of stores in its accesses; of streams only.
    pub store_share: f64,
    /// Its latency if its cores ran alone, if that is known; of streams only.
    pub isolated: Option<Isolated>,
    /// Gain without the devices, or without the cores for a workload of devices, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Alone>,
    /// The latency of one of its cores alone in ns, as predicted, if that is known; of streams only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lone_ns: Option<f64>,
    /// Whether lines of its path, or snoops that it waits for, cross to other sockets, whose time is not told apart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crosses: bool,
    /// Latency of the path behind a link from the CHA and back without load, in ns, on average over its lines there.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub link_ns: f64,
    /// Latency of the path to the memory of the socket that these lines save, in ns, on the same average.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub saved_ns: f64,
    /// Latency that the way to other sockets and back adds without load, in ns, on average over the lines that are
    /// waited for.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub hop_ns: f64,
    /// What the mesh does to it, if its lines lose any time there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<OnMesh>,
    /// The pools on its path, each at the place where it is fullest.
    pub pools: Vec<Pool>,
    /// Limit that it has if nothing on its way limits it.
    #[serde(skip)]
    pub otherwise: String,
    /// Everything on its way and how near that is to its limit, where no prediction says what would help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// What limits it: limits whose raise helps it, or `not known`. Where predictions do not cover the server, or are
    /// far off, the stage on its way that holds it back instead.
    pub binding: Vec<String>,
    /// The limits whose raise helps it, and by how much; nothing where predictions do not cover the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Share of time that the fullest domain of these, or else on the path, is full.
    pub full_share: f64,
    /// Whether shares of time are estimated from mean occupancies.
    pub estimated: bool,
    /// What the caches do for it, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Cached>,
    /// Its limit, where that lies outside of its path in the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideLimit>,
    /// Share of the time of its cores that the throttle of a host control takes.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub throttled_share: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_nothing(ns: &f64) -> bool {
    *ns == 0.0
}

impl WorkloadFacts {
    /// The facts of a workload that moves `gb_per_s` through these pools, bound by one of them or by `otherwise`.
    /// Domains must have their usual names.
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

    /// The same, with what limits it.
    #[must_use]
    pub fn with_limits(mut self, limits: Option<Limits>) -> Self {
        let Some(mut limits) = limits else { return self };
        let held = self.pools.first().filter(|_| self.kind == Kind::Stream).map(|pool| pool.domain.clone());
        for gain in limits.gains.iter_mut().filter(|gain| gain.limit == LFB) {
            gain.limit = held.clone().unwrap_or_else(|| LFB.to_owned());
        }
        if let Some(moved) = self.app_gb_per_s.filter(|moved| *moved > 0.0) {
            limits.cap_gains(moved);
        }
        if limits.covered && !self.doubts(&limits) {
            self.binding = limits.names();
        }
        self.limits = Some(limits);
        self.full_share = self.main_pool().map_or(0.0, |pool| pool.full_share);
        self
    }

    /// Marks the facts as those of lines that cross to other sockets: a full pool may only wait for one over there.
    #[must_use]
    pub fn crossing(self) -> Self {
        Self { crosses: true, alone: None, ..self }
    }

    /// Adds the stages on its way: where no prediction says what would help, the limit is the stage that holds it
    /// back, or what it was before where none does.
    #[must_use]
    pub fn with_stages(mut self, stages: Vec<Stage>) -> Self {
        let is_told = self.mesh_limit().is_some() || self.is_named_behind_link() || self.is_predicted();
        if is_told || stages.is_empty() {
            return self;
        }
        // Links that carry all that drives move are nearly full, and yet drives would not be faster behind wider ones.
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

    /// Is true if predictions say what would help it.
    pub(super) fn is_predicted(&self) -> bool {
        !self.crosses && self.limits.as_ref().is_some_and(|limits| limits.covered && !self.doubts(limits))
    }

    /// Is true if the utilization behind a link named its limit.
    pub(super) fn is_named_behind_link(&self) -> bool {
        self.link_ns > 0.0 && self.stages.is_empty() && self.binding != [NOT_KNOWN]
    }

    /// The stage that names its limit.
    pub(super) fn limiting(&self) -> Option<&Stage> {
        limiting(&self.stages).filter(|stage| self.binding == [stage.limit.as_str()])
    }

    /// The same of lines some of which lie behind a link, on a server of `socket`.
    #[must_use]
    pub fn behind_link(self, socket: &SocketParams, way: &BehindLink) -> Self {
        let far = Self { link_ns: way.ns, saved_ns: way.saved_ns, limits: None, ..self.crossing() };
        let added_ns = far.added_by_link_ns();
        let isolated = far.isolated.map(|alone| Isolated { ns: alone.ns + added_ns, ..alone });
        let lone_ns = far.lone_ns.map(|alone| alone + added_ns);
        let ns = added_ns + socket.core.refill_ps as f64 / 1000.0;
        let again_ns = |lfb: &Pool| unloaded_ns(socket, far.kind, &lfb.domain, far.store_share) + ns;
        let lfb = far.pools.first().filter(|_| far.kind == Kind::Stream).map(|lfb| (lfb, again_ns(lfb)));
        let limit = way.limit(lfb).unwrap_or_else(|| NOT_KNOWN.to_owned());
        Self { isolated, lone_ns, binding: vec![limit], ..far }
    }

    /// Returns what memory behind a link or at another socket adds to the latency without load, in ns; negative if it
    /// is the faster one.
    pub(super) fn added_by_link_ns(&self) -> f64 {
        self.link_ns - self.saved_ns + self.hop_ns
    }

    /// The same of lines that lose time on a mesh, which predictions know nothing of: if that counts, a full link is
    /// named, or nothing is.
    #[must_use]
    pub fn on_mesh(mut self, mesh: Option<OnMesh>) -> Self {
        let latency_ns = self.main_pool().and_then(|pool| pool.latency_ns);
        if let Some(mesh) = mesh.as_ref().filter(|mesh| mesh.counts(latency_ns)) {
            (self.limits, self.alone) = (None, None);
            if mesh.limits(latency_ns) && !self.crosses {
                self.binding = vec![MESH.to_owned()];
            }
        }
        self.mesh = mesh;
        self
    }

    /// The mesh, if it is what limits it.
    pub(super) fn mesh_limit(&self) -> Option<&OnMesh> {
        self.mesh.as_ref().filter(|_| self.binding == [MESH])
    }

    /// Whether what is predicted of its limits is so far from what was measured that it may be wrong.
    fn doubts(&self, limits: &Limits) -> bool {
        let of_cores = self.pools.first().filter(|_| self.kind == Kind::Stream);
        limits.are_doubtful(self.gb_per_s, of_cores.and_then(|pool| pool.latency_ns))
    }

    /// Whether it is storage that gets all it asks for.
    fn gets_what_it_offers(&self) -> bool {
        self.offered_gb_per_s.zip(self.app_gb_per_s).is_some_and(|(offered, moved)| moved >= ALL_OF_IT * offered)
    }

    /// Is true if it gets all it asks for, and that is named.
    fn is_limited_by_its_offer(&self) -> bool {
        let named = self.binding == [OFFERED_LOAD] || self.binding == [PCIE_LINK] && self.offered_by == [LINKS];
        named && self.gets_what_it_offers()
    }

    /// Why what is said to limit it may be wrong; nothing where its limits were raised, and predictions are near.
    pub(super) fn doubt(&self) -> Option<String> {
        match &self.limits {
            _ if self.outside.is_some() => None,
            _ if self.throttled_share > 0.0 => {
                let lost = 100.0 * self.throttled_share;
                Some(format!("not known for sure: the throttle of its host takes {lost:.0} % of its time"))
            }
            _ if self.is_limited_by_its_offer() => None,
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

    /// Whether what is said to limit it may be wrong.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.doubt().is_some()
    }

    /// The pool that binds it, or the fullest on its path.
    #[must_use]
    pub fn main_pool(&self) -> Option<&Pool> {
        let bound = self.pools.iter().find(|pool| self.binding.first() == Some(&pool.domain));
        let share = |pool: &Pool| pool.in_use / pool.credits.max(1.0);
        let fuller = |a: &&Pool, b: &&Pool| a.full_share.total_cmp(&b.full_share).then(share(a).total_cmp(&share(b)));
        bound.or_else(|| self.pools.iter().max_by(fuller))
    }

    /// Whether it held a credit or looked into a cache.
    pub(super) fn has_traffic(&self) -> bool {
        !self.pools.is_empty() || self.looked()
    }

    /// Whether it looked into caches.
    pub(super) fn looked(&self) -> bool {
        self.cached.is_some_and(|cached| cached.l2_miss_ratio.is_some())
    }
}

/// The name of a domain on a path, as a constant.
fn known_domain(name: &str) -> Option<&'static str> {
    const KNOWN: [&str; 6] = ["C2M-Read", "C2M-Write", "P2M-Write", "P2M-Read", "PCIe posted", "PCIe non-posted"];
    KNOWN.into_iter().find(|known| *known == name)
}

/// Latency of a line of a workload without load in ns: of an LFB entry, or in the IIO. `domain` says which for devices.
#[must_use]
pub fn unloaded_ns(socket: &SocketParams, kind: Kind, domain: &str, store_share: f64) -> f64 {
    match (kind, domain) {
        (Kind::Stream, _) => unloaded::c2m_read_ns(socket) + store_share * unloaded::c2m_write_ns(socket),
        (Kind::Fio, "P2M-Read") => unloaded::p2m_read_ns(socket),
        (Kind::Fio, _) => unloaded::p2m_write_ns(socket),
    }
}
