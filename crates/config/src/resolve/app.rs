//! Workloads of kind "app".

use super::arithmetic::share;
use super::context::Context;
use crate::code::Code;
use crate::content::{content, place_of};
use crate::error::Issue;
use crate::layers::leaves;
use hostnet_params::{
    App, AppName, AppParams, AppSpec, ChaseParams, GraphParams, MlcParams, OrderSpec, RedisLayout, RedisParams,
    RedisWork, Size, Spec, StreamKernelParams, TraceParams, WalkParams, COMMON_KEYS, OWN_KEYS,
};

const FS_PER_S: f64 = 1e15;

pub(super) fn resolve(name: &str, app: &AppSpec, spec: &Spec) -> Result<AppParams, Issue> {
    if !spec.cache.enabled {
        return Err(needs_caches(&format!("workload.{name}.app"), "an application"));
    }
    check_keys(name, app)?;
    let reader = Reader { workload: name };
    let ipc = reader.want("ipc", app.ipc)?;
    Ok(AppParams {
        cores: app.cores.0.clone(),
        clients: clients(name, app)?,
        app: resolve_kind(&reader, app)?,
        // In fs, as rounding to ps would add up over the instructions.
        instruction_fs: (FS_PER_S / (spec.core.frequency.0 as f64 * ipc)).round() as u64,
        in_flight: reader.want("in_flight", app.in_flight)?,
        think_ps: reader.want("think", app.think)?.0,
        walks: walks(&reader, app, spec)?,
    })
}

/// Replaces the trace name of a workload by its absolute path, so that the effective configuration is valid in any
/// directory.
pub(super) fn find_trace(name: &str, app: &mut AppSpec, context: &Context) -> Result<(), Issue> {
    if let Some(file) = &mut app.file {
        *file = place_of(context.base_dir, file, &format!("workload.{name}.file"))?;
    }
    Ok(())
}

fn walks(reader: &Reader, app: &AppSpec, spec: &Spec) -> Result<Option<WalkParams>, Issue> {
    let tlb_pages = reader.want("tlb_pages", app.tlb_pages)?;
    let walks = WalkParams { tlb_pages, page_bytes: spec.memory.page.0 };
    Ok(reader.want("page_walks", app.page_walks)?.then_some(walks))
}

/// Returns the issue of a key that needs caches in a server that has none.
pub(super) fn needs_caches(path: &str, what: &str) -> Issue {
    let message = format!("{what} needs caches; set cache.enabled = true");
    Issue::between(Code::RequiresKey, &[path, "cache.enabled"], message)
}

/// Returns the cores of the clients: none, or one per thread.
fn clients(name: &str, app: &AppSpec) -> Result<Vec<u32>, Issue> {
    let clients = app.clients.as_ref().map(|list| list.0.clone()).unwrap_or_default();
    let threads = app.cores.0.len();
    if !clients.is_empty() && app.in_flight == Some(0) {
        let path = |key: &str| format!("workload.{name}.{key}");
        let message = "clients that keep no operation in flight ask for none; in_flight must be 1 or more";
        return Err(Issue::between(Code::OutOfRange, &[&path("clients"), &path("in_flight")], message));
    }
    if clients.is_empty() || clients.len() == threads {
        return Ok(clients);
    }
    let path = |key: &str| format!("workload.{name}.{key}");
    let message = format!("{} cores of clients for {threads} cores; every server has one of its own", clients.len());
    Err(Issue::between(Code::WrongCount, &[&path("clients"), &path("cores")], message))
}

fn resolve_kind(reader: &Reader, app: &AppSpec) -> Result<App, Issue> {
    let work = app.instructions.clone().unwrap_or_default();
    Ok(match app.app {
        AppName::Redis => App::Redis(redis(reader, app)?),
        AppName::PageRank => App::PageRank(graph(reader, app)?),
        AppName::Bc => App::Betweenness(graph(reader, app)?),
        AppName::Stream => App::Stream(StreamKernelParams {
            kernel: reader.want("kernel", app.kernel)?,
            array_bytes: reader.bytes("array", app.array)?,
            line: reader.want("instructions.line", work.line)?,
        }),
        AppName::Mlc => App::Mlc(MlcParams {
            working_set_bytes: reader.bytes("working_set", app.working_set)?,
            reads: share(reader.want("reads", app.reads)?),
            random: reader.want("pattern", app.pattern)? == OrderSpec::Random,
            delay_ps: reader.want("delay", app.delay)?.0,
            line: reader.want("instructions.line", work.line)?,
        }),
        AppName::Chase => App::Chase(ChaseParams {
            working_set_bytes: reader.bytes("working_set", app.working_set)?,
            line: reader.want("instructions.line", work.line)?,
        }),
        AppName::Trace => App::Trace(trace(reader, app)?),
    })
}

fn trace(reader: &Reader, app: &AppSpec) -> Result<TraceParams, Issue> {
    let file = app.file.clone().ok_or_else(|| {
        let message = "missing; give the trace of a program, such as file = \"program.lackey.xz\"";
        Issue::new(Code::MissingKey, format!("workload.{}.file", reader.workload), message)
    })?;
    Ok(TraceParams {
        content: content(&file, &format!("workload.{}.file", reader.workload))?,
        file,
        format: app.format.map(|format| format.name().to_string()),
        repeat: reader.want("repeat", app.repeat)?,
        // Known only when the buffers of all other workloads are placed (`server::share_memory`).
        memory_bytes: 0,
    })
}

fn graph(reader: &Reader, app: &AppSpec) -> Result<GraphParams, Issue> {
    let work = app.instructions.clone().unwrap_or_default();
    Ok(GraphParams {
        scale: reader.want("scale", app.scale)?,
        degree: reader.want("degree", app.degree)?,
        rounds: reader.want("rounds", app.rounds)?,
        node: reader.want("instructions.node", work.node)?,
        edge: reader.want("instructions.edge", work.edge)?,
        successor: reader.want("instructions.successor", work.successor)?,
        dependency: reader.want("instructions.dependency", work.dependency)?,
    })
}

fn redis(reader: &Reader, app: &AppSpec) -> Result<RedisParams, Issue> {
    let (layout, work) = (app.layout.clone().unwrap_or_default(), app.instructions.clone().unwrap_or_default());
    Ok(RedisParams {
        keys: reader.want("keys", app.keys)?,
        value_bytes: reader.bytes("value", app.value)?,
        sets: share(reader.want("sets", app.sets)?),
        connections: reader.want("connections", app.connections)?,
        pipeline: reader.want("pipeline", app.pipeline)?,
        socket_bytes: reader.bytes("socket", app.socket)?,
        layout: RedisLayout {
            entry_bytes: reader.bytes("layout.entry", layout.entry)?,
            key_bytes: reader.bytes("layout.key", layout.key)?,
            object_bytes: reader.bytes("layout.object", layout.object)?,
            header_bytes: reader.bytes("layout.header", layout.header)?,
            request_bytes: reader.bytes("layout.request", layout.request)?,
            reply_bytes: reader.bytes("layout.reply", layout.reply)?,
        },
        work: RedisWork {
            request: reader.want("instructions.request", work.request)?,
            entry: reader.want("instructions.entry", work.entry)?,
            reply: reader.want("instructions.reply", work.reply)?,
            set: reader.want("instructions.set", work.set)?,
            finish: reader.want("instructions.finish", work.finish)?,
            line: reader.want("instructions.line", work.line)?,
            kernel: reader.want("instructions.kernel", work.kernel)?,
            client: reader.want("instructions.client", work.client)?,
        },
    })
}

/// Checks that no key of another application is set.
fn check_keys(name: &str, app: &AppSpec) -> Result<(), Issue> {
    let set = leaves(&serde_json::to_value(app).map_err(super::plan_error)?);
    let takes = |app: AppName, key: &str| app.keys().contains(&key) || app.optional_keys().contains(&key);
    let of_all = |key: &str| COMMON_KEYS.contains(&key) || OWN_KEYS.contains(&key);
    let Some(key) = set.iter().find(|key| !of_all(key) && !takes(app.app, key)) else {
        return Ok(());
    };
    let owners = AppName::ALL.into_iter().filter(|other| takes(*other, key)).map(AppName::name);
    let owners = owners.collect::<Vec<_>>().join(" and ");
    let own: Vec<&str> = app.app.keys().iter().copied().filter(|key| !key.contains('.')).collect();
    let shown = app.app.name();
    let message = format!("is a key of {owners}, not of {shown}; {shown} takes {}", own.join(", "));
    Err(Issue::new(Code::NoEffect, format!("workload.{name}.{key}"), message))
}

/// Reader of the required keys of an application.
struct Reader<'a> {
    workload: &'a str,
}

impl Reader<'_> {
    fn want<T>(&self, key: &str, value: Option<T>) -> Result<T, Issue> {
        value.ok_or_else(|| Issue::new(Code::MissingKey, format!("workload.{}.{key}", self.workload), "missing"))
    }

    fn bytes(&self, key: &str, value: Option<Size>) -> Result<u64, Issue> {
        self.want(key, value).map(|Size(bytes)| bytes)
    }
}
