//! Defines the resolved configuration of a server or a cluster.

use crate::document::{join, Format};
use hostnet_params::{ClusterParams, Fidelity, HostKind, HostParams, NetworkFidelity, ServerParams};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Configuration to resolve, with its name, folder and overrides.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Text of the configuration.
    pub text: &'a str,
    /// Format of the text: TOML or JSON.
    pub format: Format,
    /// Name of the configuration in messages. The stem of a file name is the default name of the run.
    pub file: &'a str,
    /// Folder that relative paths of other files start at.
    pub base_dir: &'a Path,
    /// Overrides on top of the text, each as `a.b=VALUE`.
    pub overrides: &'a [String],
}

/// Checked configuration of a server or a cluster, with every name, unit and default resolved. A server is a cluster
/// of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the run.
    pub name: String,
    /// Hosts, and the network between them. Runs of the plan share it.
    pub cluster: Arc<ClusterParams>,
    /// Seed, warm-up and length of a run.
    pub run: RunPlan,
    /// Hexadecimal SHA-256 of the canonical JSON of the server or the cluster, and of `run`. The name of the run is
    /// not hashed.
    pub hash: String,
    /// Complete configuration in the terms of the user. Resolving it gives this plan again.
    pub effective: serde_json::Value,
    /// Notes for the user about settings without effect, each with the reason.
    pub ignored: Vec<String>,
    /// Reason why results are not validated against measurements, `None` if they are. For hosts, "HOST: reason" for
    /// each.
    pub unvalidated: Option<String>,
    /// Dotted paths of the keys that the user set.
    pub given: Vec<String>,
}

/// Key of a server that the user set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenKey {
    /// Dotted path in the configuration.
    pub path: String,
    /// Path within the server, or within the table of a socket.
    pub key: String,
    /// Socket that the table with the key belongs to; `None` for a key of the server.
    pub socket: Option<usize>,
}

/// Name of the only host in a configuration that describes a server without a cluster.
const LONE: &str = "";

impl Plan {
    /// Returns the server of a configuration that describes a server without a cluster; `None` for a configuration of
    /// hosts.
    #[must_use]
    pub fn server(&self) -> Option<&ServerParams> {
        match &self.cluster.hosts[..] {
            [HostParams { name, kind: HostKind::Server(server), .. }] if name == LONE => Some(server),
            _ => None,
        }
    }

    /// Returns the hosts that are servers, in the order of the configuration.
    pub fn servers(&self) -> impl Iterator<Item = (&HostParams, &ServerParams)> {
        self.cluster.hosts.iter().filter_map(|host| match &host.kind {
            HostKind::Server(server) => Some((host, &**server)),
            HostKind::Endpoint(_) => None,
        })
    }

    /// Returns the keys of a host that the user set. For a server without a cluster, `host` is empty, and the result is
    /// every key that the user set.
    #[must_use]
    pub fn given_of(&self, host: &str) -> Vec<GivenKey> {
        let prefix = if host == LONE { String::new() } else { join("host", self.table_of(host)) + "." };
        let within = self.given.iter().filter_map(|path| Some((path, path.strip_prefix(&prefix)?)));
        within.map(|(path, key)| GivenKey::new(path, key)).collect()
    }

    /// Returns the name of the table under `host` that describes a host. If a table describes many hosts, each is
    /// named after the table with a number appended.
    fn table_of<'a>(&self, host: &'a str) -> &'a str {
        let many = || host.rsplit_once('-').map_or(host, |(table, _)| table);
        // A table may be called `a-1` itself, so the full name is tried before the number is cut off.
        if self.effective["host"].get(host).is_some() {
            host
        } else {
            many()
        }
    }

    /// Like [`Plan::server`], but returns a mutable reference.
    pub fn server_mut(&mut self) -> Option<&mut ServerParams> {
        match &mut Arc::make_mut(&mut self.cluster).hosts[..] {
            [HostParams { name, kind: HostKind::Server(server), .. }] if name == LONE => Some(server),
            _ => None,
        }
    }
}

impl GivenKey {
    fn new(path: &str, within: &str) -> Self {
        let of_socket = || {
            let (number, key) = within.strip_prefix("socket.")?.split_once('.')?;
            Some((number.parse().ok()?, key))
        };
        let (socket, key) = of_socket().map_or((None, within), |(number, key)| (Some(number), key));
        GivenKey { path: path.to_owned(), key: key.to_owned(), socket }
    }
}

/// Returns a cluster that consists of one server without a network, simulated at a fidelity.
pub(crate) fn lone(server: ServerParams, fidelity: Fidelity) -> ClusterParams {
    let seed = server.seed;
    let host = HostParams { name: LONE.to_owned(), kind: HostKind::Server(Box::new(server)), fidelity, compress: None };
    ClusterParams {
        hosts: vec![host],
        switches: Vec::new(),
        cables: Vec::new(),
        jobs: Vec::new(),
        flows: Vec::new(),
        classes: Vec::new(),
        seed,
        fidelity: NetworkFidelity::Packet,
    }
}

/// Seed, warm-up and length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunPlan {
    /// Seed of every random stream.
    pub seed: u64,
    /// Warm-up before the measurement.
    pub warm_up: WarmUp,
    /// Condition that ends the measurement.
    pub length: Length,
    /// Longest measurement, in ps.
    pub duration_max_ps: u64,
    /// True if the measurement may end once the state is certified as stationary.
    pub forward: bool,
}

/// Warm-up before the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum WarmUp {
    /// The warm-up ends when the queues are in steady state.
    Auto,
    /// The warm-up lasts a fixed time.
    Fixed {
        /// Length of the warm-up, in ps.
        ps: u64,
    },
}

/// Condition that ends the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Length {
    /// The measurement ends after a fixed time.
    Duration {
        /// Length of the measurement from the end of the warm-up, in ps.
        ps: u64,
    },
    /// The measurement ends when the 95% confidence interval of every workload's throughput is narrow enough.
    Precision {
        /// Largest half-width of the interval, as a share of the mean throughput.
        relative: f64,
    },
    /// The measurement ends at the first periodic check after all jobs of the cluster are done.
    Jobs,
}
