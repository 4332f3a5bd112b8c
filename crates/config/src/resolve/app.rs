//! Workloads of kind "app".

use super::workload::share;
use crate::error::Issue;
use crate::spec::{AppName, AppSpec, Spec, COMMON_KEYS};
use hostnet_model::params::{App, AppParams, GraphParams, RedisLayout, RedisParams, RedisWork, WalkParams};

pub(super) fn resolve(name: &str, app: &AppSpec, spec: &Spec) -> Result<AppParams, Issue> {
    if !spec.cache.enabled {
        return Err(needs_caches(&format!("workload.{name}.app"), "an application"));
    }
    check_keys(name, app)?;
    let reader = Reader { workload: name };
    let ipc = reader.want("ipc", app.ipc)?;
    Ok(AppParams {
        cores: app.cores.0.clone(),
        clients: Vec::new(),
        walks: Some(WalkParams { tlb_pages: 1536, page_bytes: 4096 }),
        app: resolve_kind(&reader, app)?,
        instruction_fs: (FS_PER_S / (spec.core.frequency.0 as f64 * ipc)).round() as u64,
        in_flight: reader.want("in_flight", app.in_flight)?,
        think_ps: reader.want("think", app.think)?.0,
    })
}

const FS_PER_S: f64 = 1e15;

/// What is wrong when a key asks for caches and there are none.
pub(super) fn needs_caches(path: &str, what: &str) -> Issue {
    let message = format!("{what} needs caches; set cache.enabled = true");
    Issue::between(&[path, "cache.enabled"], message)
}

fn resolve_kind(reader: &Reader, app: &AppSpec) -> Result<App, Issue> {
    let graph = || {
        Ok(GraphParams {
            scale: reader.want("scale", app.scale)?,
            degree: reader.want("degree", app.degree)?,
            rounds: 20,
            node: 20,
            edge: 5,
            successor: 5,
        })
    };
    Ok(match app.app {
        AppName::Redis => App::Redis(RedisParams {
            keys: reader.want("keys", app.keys)?,
            value_bytes: reader.want("value", app.value)?.0,
            sets: share(reader.want("sets", app.sets)?),
            connections: 2,
            pipeline: 32,
            socket_bytes: 262144,
            layout: RedisLayout {
                entry_bytes: 24,
                key_bytes: 32,
                object_bytes: 16,
                header_bytes: 16,
                request_bytes: 40,
                reply_bytes: 16,
            },
            work: RedisWork { request: 900, entry: 30, reply: 500, set: 600, line: 6, kernel: 600, client: 1500 },
        }),
        AppName::PageRank => App::PageRank(graph()?),
        AppName::Bc => App::Betweenness(graph()?),
    })
}

/// Checks that no key of another application is set.
fn check_keys(name: &str, app: &AppSpec) -> Result<(), Issue> {
    let set = serde_json::to_value(app).map_err(super::plan_error)?;
    let own = app.app.keys();
    let foreign = set.as_object().into_iter().flat_map(|map| map.keys());
    let foreign = foreign.map(String::as_str).find(|key| !COMMON_KEYS.contains(key) && !own.contains(key));
    let Some(key) = foreign else {
        return Ok(());
    };
    let owners = AppName::ALL.into_iter().filter(|other| other.keys().contains(&key)).map(AppName::name);
    let owners = owners.collect::<Vec<_>>().join(" and ");
    let shown = app.app.name();
    let message = format!("is a key of {owners}, not of {shown}; {shown} takes {}", own.join(", "));
    Err(Issue::new(format!("workload.{name}.{key}"), message))
}

/// Takes what has to be there.
struct Reader<'a> {
    workload: &'a str,
}

impl Reader<'_> {
    fn want<T>(&self, key: &str, value: Option<T>) -> Result<T, Issue> {
        value.ok_or_else(|| Issue::new(format!("workload.{}.{key}", self.workload), "missing"))
    }
}
