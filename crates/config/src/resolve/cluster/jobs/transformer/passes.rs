//! Order of the forward and backward passes of a stage of a pipeline.

use super::shape::Model;
use hostnet_params::PipelineScheduleSpec;

/// Direction of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// Pass of a microbatch through a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) direction: Direction,
    pub(super) microbatch: u32,
}

/// Returns the passes of a stage in order. With 1F1B (Narayanan et al., SOSP 2019) a stage begins with as many forward
/// passes as stages follow; with GPipe (Huang et al., NeurIPS 2019) with all.
pub(super) fn passes(model: &Model, stage: u32) -> impl Iterator<Item = Pass> {
    let all = model.microbatches;
    let first = match model.schedule {
        PipelineScheduleSpec::OneForwardOneBackward => all.min(model.pp - 1 - stage),
        PipelineScheduleSpec::Gpipe => all,
    };
    let forward = |microbatch| Pass { direction: Direction::Forward, microbatch };
    let backward = |microbatch| Pass { direction: Direction::Backward, microbatch };
    let pairs = (first..all).flat_map(move |next| [forward(next), backward(next - first)]);
    (0..first).map(forward).chain(pairs).chain((all - first..all).map(backward))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(schedule: PipelineScheduleSpec, stage: u32) -> String {
        let model = Model { pp: 4, microbatches: 6, schedule, ..Model::example() };
        let name = |pass: Pass| match pass.direction {
            Direction::Forward => format!("F{}", pass.microbatch),
            Direction::Backward => format!("B{}", pass.microbatch),
        };
        passes(&model, stage).map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn stages_begin_with_as_many_forward_passes_as_stages_follow() {
        let order = |stage| order(PipelineScheduleSpec::OneForwardOneBackward, stage);
        assert_eq!(order(0), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
        assert_eq!(order(2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
        assert_eq!(order(3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
    }

    #[test]
    fn all_forward_passes_come_first_with_gpipe() {
        assert_eq!(order(PipelineScheduleSpec::Gpipe, 1), "F0 F1 F2 F3 F4 F5 B0 B1 B2 B3 B4 B5");
    }
}
