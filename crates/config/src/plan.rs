//! The resolved configuration.

use crate::document::join;
use hostnet_model::params::{ClusterParams, Fidelity, HostKind, HostParams, ServerParams};
use serde::Serialize;
use std::path::Path;

/// What to resolve.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The configuration.
    pub text: &'a str,
    /// Its language.
    pub format: Format,
    /// Its name for messages; a file's stem is the default name of the run.
    pub file: &'a str,
    /// The folder that names of other files are relative to.
    pub base_dir: &'a Path,
    /// Settings on top of the text, each `a.b=VALUE`.
    pub overrides: &'a [String],
}

/// The language of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.
    Toml,
    /// JSON with the same tables.
    Json,
}

/// A checked configuration with every name, unit and default resolved. A server is a cluster of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the run.
    pub name: String,
    /// Hosts, and what is between them.
    pub cluster: ClusterParams,
    /// How long to simulate.
    pub run: RunPlan,
    /// Hexadecimal SHA-256 of the canonical JSON of the server or the cluster, and of `run`. The run's name is no part
    /// of it.
    pub hash: String,
    /// The complete configuration in the user's terms. Resolving it gives this plan again.
    pub effective: serde_json::Value,
    /// What the user wrote that has no effect, and why.
    pub ignored: Vec<String>,
    /// Why results are not checked against measurements, if they are not; of hosts, "HOST: reason" for each.
    pub unvalidated: Option<String>,
    /// Dotted paths of the keys that the user wrote himself.
    pub given: Vec<String>,
}

/// A key of a server that the user wrote himself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenKey {
    /// Its dotted path in the configuration.
    pub path: String,
    /// Its path within the server, or within the table of a socket.
    pub key: String,
    /// The socket whose table it is in; none for a key of the server.
    pub socket: Option<usize>,
}

/// The name of the host of a configuration that describes a server and nothing around it.
const LONE: &str = "";

impl Plan {
    /// The server of a configuration that describes one and nothing around it; none of a configuration of hosts.
    #[must_use]
    pub fn server(&self) -> Option<&ServerParams> {
        match &self.cluster.hosts[..] {
            [HostParams { name, kind: HostKind::Server(server), .. }] if name == LONE => Some(server),
            _ => None,
        }
    }

    /// The hosts that are servers, in their order.
    pub fn servers(&self) -> impl Iterator<Item = (&HostParams, &ServerParams)> {
        self.cluster.hosts.iter().filter_map(|host| match &host.kind {
            HostKind::Server(server) => Some((host, &**server)),
            HostKind::Endpoint(_) => None,
        })
    }

    /// Returns the keys of a host that the user wrote himself; of a server with nothing around it, whose name is empty,
    /// all.
    #[must_use]
    pub fn given_of(&self, host: &str) -> Vec<GivenKey> {
        let prefix = if host == LONE { String::new() } else { join("host", self.table_of(host)) + "." };
        let within = self.given.iter().filter_map(|path| Some((path, path.strip_prefix(&prefix)?)));
        within.map(|(path, key)| GivenKey::new(path, key)).collect()
    }

    /// The table that a host comes from: of many equal hosts each has a number behind the name of their table.
    fn table_of<'a>(&self, host: &'a str) -> &'a str {
        let many = || host.rsplit_once('-').map_or(host, |(table, _)| table);
        if self.effective["host"].get(host).is_some() {
            host
        } else {
            many()
        }
    }

    /// As [`Plan::server`], to change it.
    pub fn server_mut(&mut self) -> Option<&mut ServerParams> {
        match &mut self.cluster.hosts[..] {
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

/// A server with nothing around it.
pub(crate) fn lone(server: ServerParams) -> ClusterParams {
    let seed = server.seed;
    let host = HostParams {
        name: LONE.to_owned(),
        kind: HostKind::Server(Box::new(server)),
        fidelity: Fidelity::Line,
        compress: None,
    };
    ClusterParams {
        hosts: vec![host],
        switches: Vec::new(),
        cables: Vec::new(),
        jobs: Vec::new(),
        flows: Vec::new(),
        classes: Vec::new(),
        seed,
    }
}

/// How long to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunPlan {
    /// Seed of every random stream.
    pub seed: u64,
    /// What comes before the measurement.
    pub warm_up: WarmUp,
    /// When the measurement ends.
    pub length: Length,
    /// Longest measurement in ps.
    pub duration_max_ps: u64,
}

/// What comes before the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum WarmUp {
    /// Until the queues have settled.
    Auto,
    /// A fixed time.
    Fixed {
        /// That time in ps.
        ps: u64,
    },
}

/// When the measurement ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Length {
    /// After a fixed time.
    Duration {
        /// That time in ps, from the end of the warm-up.
        ps: u64,
    },
    /// When the 95% confidence interval of every workload's throughput is small enough.
    Precision {
        /// The interval as a share of the throughput.
        relative: f64,
    },
    /// When all jobs of the cluster are done, at the next moment at which that is looked for.
    Jobs,
}
