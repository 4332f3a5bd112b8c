//! Finds listed cores that have nothing to do.

use super::draft::FlowDraft;
use super::table;
use crate::cores::idle_note;
use hostnet_params::{ClusterSpec, FlowParams, JobParams, JobSpec};

/// Returns a note for every job that lists cores on which none of its ranks is.
pub(super) fn of_jobs(spec: &ClusterSpec, jobs: &[JobParams]) -> Vec<String> {
    let note = |((name, spec), job): ((&String, &JobSpec), &JobParams)| {
        let used = |core| job.cores.iter().any(|rank| rank.core == core);
        idle_note(&format!("{}.cores", table("job", name)), &spec.cores.as_ref()?.0, used, "rank")
    };
    spec.job.iter().zip(jobs).filter_map(note).collect()
}

/// Returns a note for every table of flows that lists cores on which none of its applications is.
pub(super) fn of_flows(drafts: &[FlowDraft], flows: &[FlowParams]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut rest = flows;
    for draft in drafts {
        let (own, others) = rest.split_at(draft.drawn.flows());
        rest = others;
        for (which, key) in ["from_cores", "to_cores"].into_iter().enumerate() {
            let listed = draft.cores[which].as_deref().unwrap_or_default();
            let used = |core| own.iter().any(|flow| runs_on(flow, which, core));
            notes.extend(idle_note(&format!("{}.{key}", draft.path), listed, used, "application"));
        }
    }
    notes
}

/// Returns true if an application of a flow is on a core at the side that begins the flow, 0, or at the other, 1.
fn runs_on(flow: &FlowParams, side: usize, core: u32) -> bool {
    [flow.from_core, flow.to_core][side] == core
        || flow.moves.iter().any(|to| to.initiator == (side == 0) && to.core == core)
}
