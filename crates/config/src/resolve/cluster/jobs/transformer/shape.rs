//! Shape of a model and of its division among ranks.

use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{PipelineScheduleSpec, Size, TransformerSpec};

/// Size of a number, in bytes: 16-bit floating point.
const NUMBER_BYTES: u64 = 2;
const EXPERTS_PER_TOKEN: u32 = 2;

/// Model, and how its training is divided.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Layers of a stage.
    pub(super) layers: u32,
    pub(super) width: u32,
    pub(super) feed_forward: u32,
    pub(super) sequence: u32,
    /// Sequences of a microbatch, and microbatches of an iteration.
    pub(super) microbatch: u32,
    pub(super) microbatches: u32,
    pub(super) dp: u32,
    pub(super) tp: u32,
    pub(super) pp: u32,
    pub(super) ep: u32,
    pub(super) schedule: PipelineScheduleSpec,
    pub(super) zero: u32,
    /// Experts of a layer, and those that a token is sent to; none without experts.
    pub(super) experts: Option<(u32, u32)>,
    pub(super) skew: f64,
    pub(super) number_bytes: u64,
}

/// Place of a rank: ranks of a tensor group are next to each other, then replicas, then stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) rank: u32,
    pub(super) tensor: u32,
    pub(super) replica: u32,
    pub(super) stage: u32,
}

impl Seat {
    pub(super) fn of(model: &Model, rank: u32) -> Self {
        let block = rank / model.tp;
        Self { rank, tensor: rank % model.tp, replica: block % model.dp, stage: block / model.dp }
    }

    /// Returns the rank with the same place in another stage.
    pub(super) fn at_stage(self, model: &Model, stage: u32) -> u32 {
        model.rank(self.tensor, self.replica, stage)
    }

    /// Returns the place among the replicas that share the experts of a layer.
    pub(super) fn expert(self, model: &Model) -> u32 {
        self.replica % model.ep
    }
}

/// Ranks that take part in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelGroup {
    /// They share each matrix.
    Tensor,
    /// They have the same part of the model.
    Data,
    /// They share the experts of a layer.
    Expert,
    /// They have the same experts.
    ExpertData,
}

impl ModelGroup {
    /// Returns the name of the group of a rank, a number from 1 as other simulators want it, and its ranks.
    pub(super) fn of(self, model: &Model, seat: Seat) -> (String, Vec<u32>) {
        let Seat { tensor, replica, stage, .. } = seat;
        let Model { dp, tp, pp, ep, .. } = *model;
        let (first, expert) = (replica - replica % ep, seat.expert(model));
        let replica_rank = |replica| model.rank(tensor, replica, stage);
        // Of each kind there are at most as many groups as ranks.
        let kind = |kind: u32, number: u32| (1 + kind * dp * tp * pp + number).to_string();
        match self {
            Self::Tensor => {
                let ranks = (0..tp).map(|tensor| model.rank(tensor, replica, stage)).collect();
                (kind(0, stage * dp + replica), ranks)
            }
            Self::Data => (kind(1, stage * tp + tensor), (0..dp).map(replica_rank).collect()),
            Self::Expert => {
                (kind(2, (stage * dp + first) * tp + tensor), (first..first + ep).map(replica_rank).collect())
            }
            Self::ExpertData => {
                let ranks = (expert..dp).step_by(ep as usize).map(replica_rank).collect();
                (kind(3, (stage * ep + expert) * tp + tensor), ranks)
            }
        }
    }

    /// Returns the number of ranks of a group.
    pub(super) fn count(self, model: &Model) -> u32 {
        match self {
            Self::Tensor => model.tp,
            Self::Data => model.dp,
            Self::Expert => model.ep,
            Self::ExpertData => model.dp / model.ep,
        }
    }
}

impl Model {
    /// Creates the shape from the keys, and fills in those that are absent.
    pub(super) fn new(path: &str, spec: &mut TransformerSpec, ranks: u32) -> Result<Self, Issue> {
        let keys = Keys { path };
        let tp = *spec.tp.get_or_insert(1);
        let pp = *spec.pp.get_or_insert(1);
        let ep = *spec.ep.get_or_insert(1);
        let width = spec.width;
        let feed_forward = *spec.feed_forward.get_or_insert(width.saturating_mul(4));
        let microbatch = *spec.microbatch.get_or_insert(1);
        let dp = keys.replicas(spec, ranks, u64::from(tp) * u64::from(pp))?;
        keys.check_divides(("layers", spec.layers), ("pp", pp))?;
        keys.check_divides(("width", width), ("tp", tp))?;
        keys.check_divides(("feed_forward", feed_forward), ("tp", tp))?;
        keys.check_divides(("dp", dp), ("ep", ep))?;
        let experts = keys.experts(spec, ep)?;
        let zero = *spec.zero.get_or_insert(0);
        if zero > 0 && dp == 1 {
            return Err(keys.fault(Code::NoEffect, &["zero", "dp"], "has an effect only with at least two replicas"));
        }
        let at_once = u64::from(dp) * u64::from(microbatch);
        if u64::from(spec.batch) % at_once != 0 {
            let message = format!("{} is no multiple of {at_once}, dp times microbatch", spec.batch);
            return Err(keys.fault(Code::NotAMultiple, &["batch", "dp", "microbatch"], message));
        }
        Ok(Self {
            layers: spec.layers / pp,
            width,
            feed_forward,
            sequence: spec.sequence,
            microbatch,
            microbatches: (u64::from(spec.batch) / at_once) as u32,
            dp,
            tp,
            pp,
            ep,
            schedule: *spec.schedule.get_or_insert_default(),
            zero,
            experts,
            skew: spec.skew.unwrap_or(0.0),
            number_bytes: spec.number.get_or_insert(Size(NUMBER_BYTES)).0,
        })
    }

    #[cfg(test)]
    pub(super) fn example() -> Self {
        Self {
            layers: 2,
            width: 8,
            feed_forward: 32,
            sequence: 16,
            microbatch: 1,
            microbatches: 4,
            dp: 1,
            tp: 1,
            pp: 1,
            ep: 1,
            schedule: PipelineScheduleSpec::default(),
            zero: 0,
            experts: None,
            skew: 0.0,
            number_bytes: NUMBER_BYTES,
        }
    }

    fn rank(&self, tensor: u32, replica: u32, stage: u32) -> u32 {
        tensor + self.tp * (replica + self.dp * stage)
    }

    /// Returns the tokens of a microbatch.
    pub(super) fn tokens(&self) -> u64 {
        u64::from(self.microbatch) * u64::from(self.sequence)
    }
}

/// Keys of a model.
struct Keys<'a> {
    path: &'a str,
}

impl Keys<'_> {
    fn fault(&self, code: Code, keys: &[&str], message: impl Into<String>) -> Issue {
        let places: Vec<String> = keys.iter().map(|key| format!("{}.{key}", self.path)).collect();
        Issue::between(code, &places.iter().map(String::as_str).collect::<Vec<_>>(), message)
    }

    fn check_divides(&self, (whole, of): (&str, u32), (part, by): (&str, u32)) -> Result<(), Issue> {
        if of % by == 0 {
            return Ok(());
        }
        let message = format!("{of} is no multiple of {part} = {by}");
        Err(self.fault(Code::NotAMultiple, &[whole, part], message))
    }

    /// Returns the number of replicas, which the number of ranks must agree with.
    fn replicas(&self, spec: &mut TransformerSpec, ranks: u32, of_replica: u64) -> Result<u32, Issue> {
        let fitting = u64::from(ranks) / of_replica;
        let dp = u64::from(*spec.dp.get_or_insert(fitting.max(1) as u32));
        if dp * of_replica == u64::from(ranks) {
            return Ok(dp as u32);
        }
        let message = format!("dp x tp x pp are {} ranks, and the job has {ranks}", dp * of_replica);
        Err(self.fault(Code::WrongCount, &["dp", "tp", "pp"], message))
    }

    /// Returns the experts of a layer and those of a token, if there are experts.
    fn experts(&self, spec: &mut TransformerSpec, ep: u32) -> Result<Option<(u32, u32)>, Issue> {
        let Some(experts) = spec.experts else {
            let given = [
                ("ep", ep > 1),
                ("experts_per_token", spec.experts_per_token.is_some()),
                ("skew", spec.skew.is_some()),
            ];
            return match given.into_iter().find(|(_, is_given)| *is_given) {
                Some((key, _)) => Err(self.fault(Code::NoEffect, &[key, "experts"], "has an effect only with experts")),
                None => Ok(None),
            };
        };
        let each = *spec.experts_per_token.get_or_insert(EXPERTS_PER_TOKEN);
        spec.skew.get_or_insert(0.0);
        self.check_divides(("experts", experts), ("ep", ep))?;
        if each > experts {
            let message = format!("{each} is more than experts = {experts}");
            return Err(self.fault(Code::OutOfRange, &["experts_per_token", "experts"], message));
        }
        Ok(Some((experts, each)))
    }
}
