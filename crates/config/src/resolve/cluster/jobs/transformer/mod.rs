//! Jobs that train a transformer: each rank has the execution trace of its part of the model.
//!
//! * [`shape`]: the model, and the place of each rank in it.
//! * [`costs`]: operations, memory traffic and messages of a layer.
//! * [`router`]: tokens of each expert.
//! * [`passes`]: the order of forward and backward passes.
//! * [`nodes`]: the trace of a rank.

mod costs;
mod nodes;
mod passes;
mod router;
mod shape;

use crate::code::Code;
use crate::error::Issue;
use costs::Costs;
use hostnet_params::{Bandwidth, JobSpec};
use hostnet_traffic::chakra::{Trace, NODES_MAX};
use nodes::RankNodes;
use shape::{Model, Seat};

/// Maximum number of nodes of all ranks.
const NODES_OF_ALL_MAX: usize = 1 << 22;

/// Trace of a rank, and the name of each of its nodes.
pub(super) struct NamedTrace {
    pub(super) trace: Trace,
    pub(super) names: Vec<&'static str>,
}

/// Returns true if the ranks of a model exchange tokens in all-to-alls. A skewed router takes messages.
pub(super) fn has_all_to_alls(spec: &JobSpec) -> bool {
    let model = spec.model.as_ref();
    model.is_some_and(|model| model.experts.is_some() && model.skew.unwrap_or(0.0) == 0.0)
}

/// Returns the traces of all ranks of a job.
///
/// # Errors
/// Returns an error if keys are missing or do not fit together, or if there are too many nodes.
pub(super) fn traces(path: &str, spec: &mut JobSpec, ranks: u32) -> Result<Vec<NamedTrace>, Issue> {
    let Some(given) = &mut spec.model else {
        let message = "missing; give at least { layers = 32, width = 4096, sequence = 4096, batch = 64 }";
        return Err(Issue::new(Code::MissingKey, format!("{path}.model"), message));
    };
    if spec.peak.is_none() {
        let message = "missing; give the operations per second of a rank's accelerator, such as 400e12";
        return Err(Issue::new(Code::MissingKey, format!("{path}.peak"), message));
    }
    let model = Model::new(&format!("{path}.model"), given, ranks)?;
    let costs = Costs::new(&format!("{path}.model"), &model)?;
    let has_memory = spec.memory_rate.is_some_and(|Bandwidth(rate)| rate > 0);
    let mut total = 0;
    let one = |rank| {
        let trace = RankNodes::write(&model, &costs, Seat::of(&model, rank), has_memory);
        total += trace.names.len();
        if trace.names.len() > NODES_MAX || total > NODES_OF_ALL_MAX {
            let message = format!(
                "more than {NODES_MAX} operations of a rank, or {NODES_OF_ALL_MAX} of all; a smaller batch or fewer \
                 layers are wanted"
            );
            let keys = ["batch", "layers"].map(|key| format!("{path}.model.{key}"));
            return Err(Issue::between(Code::TooMany, &[&keys[0], &keys[1]], message));
        }
        Ok(trace)
    };
    (0..ranks).map(one).collect()
}
