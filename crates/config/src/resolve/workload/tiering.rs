//! Workloads of kind "tiering".

use super::cores::Cores;
use super::{ResolveWorkload, WorkloadScope};
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::units::{format, Dimension};
use hostnet_params::{
    Spec, StreamSpec, TieringParams, TieringPolicySpec, TieringSpec, WorkloadKind, WorkloadSpec, BUFFER_ALIGNMENT,
};

/// Maximum number of pages that a policy looks at.
const PAGES_MAX: u64 = 1 << 20;

impl ResolveWorkload for TieringSpec {
    fn claim(&self, name: &str, cores: &mut Cores) -> Result<(), Issue> {
        cores.take_all(&self.cores, name, "cores")
    }

    fn resolve(&self, name: &str, scope: &mut WorkloadScope) -> Result<WorkloadKind, Issue> {
        let spec = scope.spec;
        let path = |key: &str| format!("workload.{name}.{key}");
        check_server(name, spec)?;
        let page_bytes = page_bytes(name, spec)?;
        let streams = streams(self, &path("workloads"), spec)?;
        let pages_of =
            |(_, stream): &(u8, &StreamSpec)| stream.working_set.0.div_ceil(page_bytes) * stream.cores.0.len() as u64;
        let pages: u64 = streams.iter().map(pages_of).sum();
        if pages > PAGES_MAX {
            let message = format!("their buffers have {pages} pages; at most {PAGES_MAX} can migrate");
            return Err(Issue::between(Code::TooMany, &[&path("workloads"), "memory.run"], message));
        }
        // Interleaved buffers begin in the memory of the socket.
        let local_at_first: u64 = streams
            .iter()
            .map(|stream| match stream.1.memory.as_deref() {
                None | Some("local" | "first-touch" | "node:0") => pages_of(stream),
                Some("interleave") => pages_of(stream).div_ceil(2),
                Some(_) => 0,
            })
            .sum();
        let local_pages = self.local.0 / page_bytes;
        if local_pages < local_at_first {
            let shown = |pages: u64| format(pages * page_bytes, Dimension::Size);
            let message = format!(
                "{} is less than the {} that their buffers begin with there; give more, or begin with some behind the \
                 link (memory = \"interleave\" or \"node:1\")",
                format(self.local.0, Dimension::Size),
                shown(local_at_first)
            );
            return Err(Issue::between(Code::DoesNotFit, &[&path("local"), &path("workloads")], message));
        }
        Ok(WorkloadKind::Tiering(TieringParams {
            cores: self.cores.0.clone(),
            classes: streams.iter().map(|(class, _)| *class).collect(),
            local_pages: local_pages.min(pages) as u32,
            pages: pages as u32,
            page_bytes,
            needs_policy: self.policy == TieringPolicySpec::User,
            period_ps: self.period.0,
            sample: self.sample,
            shootdown_ps: self.shootdown.0,
        }))
    }
}

/// Checks that the server has memory behind a link, no caches, and no other migration.
fn check_server(name: &str, spec: &Spec) -> Result<(), Issue> {
    let path = format!("workload.{name}.kind");
    if spec.expander.is_none() {
        let message = "\"tiering\" needs [expander]: pages migrate between the socket and memory behind a CXL link";
        return Err(Issue::between(Code::RequiresKey, &[&path, "expander"], message));
    }
    if spec.cache.enabled {
        let message = "\"tiering\" cannot be combined with cache.enabled = true: cached lines of a page that migrates \
                       are not modelled";
        return Err(Issue::between(Code::NotSupported, &[&path, "cache.enabled"], message));
    }
    let migrates = |(_, workload): &(&String, &WorkloadSpec)| matches!(workload, WorkloadSpec::Tiering(_));
    match spec.workload.iter().filter(migrates).find(|(other, _)| *other != name) {
        Some((other, _)) => {
            let message = format!(
                "workload.{name} and workload.{other} both migrate pages; a server has one workload of this kind"
            );
            Err(Issue::between(Code::TooMany, &[&path, &format!("workload.{other}.kind")], message))
        }
        None => Ok(()),
    }
}

/// Returns the bytes of a page: of a run of contiguous memory.
fn page_bytes(name: &str, spec: &Spec) -> Result<u64, Issue> {
    let run_bytes = spec.memory.run.0.max(spec.memory.page.0);
    // Buffers begin at multiples of this, so no page is part of two of them.
    if BUFFER_ALIGNMENT % run_bytes == 0 {
        return Ok(run_bytes);
    }
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    let message =
        format!("{} does not divide {}: pages could not migrate alone", shown(run_bytes), shown(BUFFER_ALIGNMENT));
    Err(Issue::between(Code::NotAMultiple, &["memory.run", &format!("workload.{name}.kind")], message))
}

/// Returns the streams whose pages migrate, each with its class, in the order of their classes.
fn streams<'a>(tiering: &TieringSpec, path: &str, spec: &'a Spec) -> Result<Vec<(u8, &'a StreamSpec)>, Issue> {
    if tiering.workloads.is_empty() {
        return Err(Issue::new(Code::WrongCount, path, "is empty; name the streams whose pages migrate"));
    }
    let is_stream = |workload: &WorkloadSpec| matches!(workload, WorkloadSpec::Stream(_));
    for (at, name) in tiering.workloads.iter().enumerate() {
        let known = spec.workload.iter().filter(|(_, workload)| is_stream(workload)).map(|(name, _)| name.as_str());
        match spec.workload.get(name) {
            None => {
                let message = format!("{name:?} is no workload; {}", suggestion(name, known));
                return Err(Issue::new(Code::UnknownName, path, message));
            }
            Some(workload) if !is_stream(workload) => {
                let message = format!("{name:?} is no stream; {}", suggestion(name, known));
                return Err(Issue::new(Code::WrongKind, path, message));
            }
            Some(_) if tiering.workloads[..at].contains(name) => {
                return Err(Issue::new(Code::Duplicate, path, format!("{name:?} is there twice")));
            }
            Some(_) => {}
        }
    }
    let named = (0..).zip(&spec.workload).filter(|(_, (name, _))| tiering.workloads.contains(name));
    let streams = named.filter_map(|(class, (_, workload))| match workload {
        WorkloadSpec::Stream(stream) => Some((class, stream)),
        _ => None,
    });
    Ok(streams.collect())
}

/// Returns the bytes that a node reserves for pages that migrate there.
pub(super) fn bytes(tiering: &TieringParams) -> u128 {
    u128::from(tiering.pages) * u128::from(tiering.page_bytes) + u128::from(BUFFER_ALIGNMENT)
}
