//! The training of a transformer as execution traces.

use super::chakra::Accelerator;
use super::rounding::Rounding;
use super::transformer::{self, NamedTrace};
use super::written_traces::{check_count, WrittenTraces};
use crate::error::Fault;
use hostnet_params::JobSpec;
use hostnet_traffic::chakra::{Node, NodeAction, TraceReader, TraceWriter};

/// Returns the traces of all ranks of a job, and the ranks of each group.
pub(super) fn write(path: &str, spec: &mut JobSpec, ranks: u32, reader: TraceReader) -> Result<WrittenTraces, Fault> {
    let traces = transformer::traces(path, spec, ranks).map_err(Fault::from)?;
    let accelerator = Accelerator::new(spec);
    let times = spec.iterations.unwrap_or(1);
    let mut written = WrittenTraces::default();
    for (rank, NamedTrace { trace, names }) in (0..).zip(traces) {
        let scribe = TraceWriter::new(rank, reader).with_groups(trace.groups, &trace.members);
        written.groups.extend(trace.members);
        let mut pen = ModelPen { reader, accelerator: &accelerator, scribe, rounding: Rounding::default() };
        let mut before = Vec::new();
        for _ in 0..times {
            before = pen.write(&trace.nodes, &names, &before)?;
            check_count(path, pen.scribe.nodes(), written.nodes)?;
        }
        written.nodes += pen.scribe.nodes();
        written.traces.push(pen.scribe.finish());
    }
    Ok(written)
}

/// Writes the nodes of a rank.
struct ModelPen<'a> {
    reader: TraceReader,
    accelerator: &'a Accelerator,
    scribe: TraceWriter,
    rounding: Rounding,
}

impl ModelPen<'_> {
    /// Writes an iteration that begins after the nodes `before`. Returns the nodes that the next one waits for.
    fn write(&mut self, nodes: &[Node], names: &[&str], before: &[u64]) -> Result<Vec<u64>, Fault> {
        // What to wait for in place of each node: its number, or those before a node that is not written.
        let mut ids: Vec<Vec<u64>> = Vec::with_capacity(nodes.len());
        let mut is_last = vec![true; nodes.len()];
        for (node, name) in nodes.iter().zip(names) {
            node.after.iter().for_each(|&other| is_last[other as usize] = false);
            let mut after: Vec<u64> =
                node.after.iter().flat_map(|&other| ids[other as usize].iter().copied()).collect();
            if node.after.is_empty() {
                after.extend(before);
            }
            after.sort_unstable();
            after.dedup();
            // ASTRA-sim has no node that takes no time.
            ids.push(match (node.act, self.reader) {
                (NodeAction::Nothing, TraceReader::AstraSim) => after,
                (act, _) => {
                    let act = self.timed(act)?;
                    vec![self.scribe.node(name, act, &after)]
                }
            });
        }
        let last = ids.into_iter().zip(is_last).filter(|(_, is_last)| *is_last);
        Ok(last.flat_map(|(ids, _)| ids).collect())
    }

    /// Gives a computation its duration for a reader that takes none from operations.
    fn timed(&mut self, act: NodeAction) -> Result<NodeAction, Fault> {
        match (act, self.reader) {
            (NodeAction::Work { ops, bytes }, TraceReader::AstraSim) => {
                Ok(NodeAction::Compute(self.rounding.of(self.accelerator.time_ps(ops, bytes)?)))
            }
            _ => Ok(act),
        }
    }
}
