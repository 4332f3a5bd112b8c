//! Execution trace of a rank: one node after the other on its accelerator, messages to other stages, and collectives.

use super::costs::{Costs, Work};
use super::passes::{passes, Direction, Pass};
use super::shape::{Model, ModelGroup, Seat};
use super::NamedTrace;
use hostnet_traffic::chakra::{Collective, Node, NodeAction, Trace, NODES_MAX};

/// Writes the nodes of a rank.
pub(super) struct RankNodes<'a> {
    model: &'a Model,
    costs: &'a Costs,
    seat: Seat,
    nodes: Vec<Node>,
    names: Vec<&'static str>,
    groups: Vec<(ModelGroup, String, Vec<u32>)>,
    /// Node that the next one on the accelerator waits for.
    last: Option<u32>,
    /// Passes through layers that parameters are still to be gathered for, and the node that gathers those of the next.
    ungathered: u64,
    gathered: Option<u32>,
    /// Nodes that the update waits for.
    gradients: Vec<u32>,
    /// Number of exchanges with other ranks that have experts.
    exchanges: u64,
}

impl<'a> RankNodes<'a> {
    /// Returns the trace of a rank. Without the bandwidth of a memory, an update takes no time.
    pub(super) fn write(model: &'a Model, costs: &'a Costs, seat: Seat, has_memory: bool) -> NamedTrace {
        let mut rank = Self {
            model,
            costs,
            seat,
            nodes: Vec::new(),
            names: Vec::new(),
            groups: Vec::new(),
            last: None,
            ungathered: 2 * u64::from(model.layers) * u64::from(model.microbatches),
            gathered: None,
            gradients: Vec::new(),
            exchanges: 0,
        };
        rank.gathered = rank.gather_parameters();
        for pass in passes(model, seat.stage) {
            rank.pass(pass);
            // The caller refuses a longer trace.
            if rank.nodes.len() > NODES_MAX {
                break;
            }
        }
        rank.update(has_memory);
        let Self { nodes, names, groups, .. } = rank;
        let members = groups.iter().map(|(_, name, ranks)| (name.clone(), ranks.clone())).collect();
        let groups = groups.into_iter().map(|(_, name, _)| name).collect();
        NamedTrace { trace: Trace { nodes, groups, members }, names }
    }

    /// Adds a node. Returns its place.
    fn add(&mut self, name: &'static str, act: NodeAction, after: impl IntoIterator<Item = u32>) -> u32 {
        let place = self.nodes.len() as u32;
        let mut after: Vec<u32> = after.into_iter().collect();
        after.sort_unstable();
        after.dedup();
        self.nodes.push(Node { id: u64::from(place), act, after });
        self.names.push(name);
        place
    }

    /// Adds a node that the next one on the accelerator waits for.
    fn chain(&mut self, name: &'static str, act: NodeAction, also: Option<u32>) -> u32 {
        let place = self.add(name, act, self.last.into_iter().chain(also));
        self.last = Some(place);
        place
    }

    /// Adds a pass of a microbatch through the stage.
    fn pass(&mut self, pass: Pass) {
        let Pass { direction, microbatch } = pass;
        let (first, last) = (0, self.model.pp - 1);
        let stage = self.seat.stage;
        let (from, to, tag) = match direction {
            Direction::Forward => ((stage != first).then(|| stage - 1), (stage != last).then(|| stage + 1), 0),
            Direction::Backward => ((stage != last).then(|| stage + 1), (stage != first).then(|| stage - 1), 1),
        };
        let (bytes, tag) = (self.costs.activations, 2 * u64::from(microbatch) + tag);
        let received = from.map(|stage| {
            let from = self.seat.at_stage(self.model, stage);
            // A receive is posted at once: it waits for no node of its rank.
            self.add("receive", NodeAction::Receive { from, bytes, tag }, None)
        });
        if let Some(received) = received {
            self.chain("receive", NodeAction::Nothing, Some(received));
        }
        for _ in 0..self.model.layers {
            let gathered = self.gathered;
            // One layer ahead, and before the gradients of this one, as sharded data parallelism does.
            self.gathered = self.gather_parameters();
            self.layer(direction, gathered);
            if direction == Direction::Backward {
                self.reduce_gradients(microbatch + 1 == self.model.microbatches);
            }
        }
        if let Some(stage) = to {
            let to = self.seat.at_stage(self.model, stage);
            self.add("send", NodeAction::Send { to, bytes, tag }, self.last);
        }
    }

    /// Adds a layer, whose computation also waits for `gathered`.
    fn layer(&mut self, direction: Direction, gathered: Option<u32>) {
        let Costs { attention, feed_forward, .. } = *self.costs;
        if self.model.tp == 1 && self.model.experts.is_none() {
            self.compute(direction, attention.plus(feed_forward), gathered);
            return;
        }
        match direction {
            Direction::Forward => {
                self.compute(direction, attention, gathered);
                self.sum_activations();
                self.network(direction, None);
            }
            Direction::Backward => {
                self.network(direction, gathered);
                self.compute(direction, attention, None);
                self.sum_activations();
            }
        }
    }

    /// Adds the feed-forward network of a layer, or its experts between two exchanges of tokens.
    fn network(&mut self, direction: Direction, gathered: Option<u32>) {
        if self.model.experts.is_some() {
            self.exchange_tokens(true);
            let own = self.costs.experts[self.seat.expert(self.model) as usize];
            self.compute(direction, own, gathered);
            self.exchange_tokens(false);
        } else {
            self.compute(direction, self.costs.feed_forward, gathered);
        }
        self.sum_activations();
    }

    /// Adds a computation. A backward pass computes the gradients of inputs and of parameters.
    fn compute(&mut self, direction: Direction, forward: Work, gathered: Option<u32>) {
        let (name, Work { ops, bytes }) = match direction {
            Direction::Forward => ("forward", forward),
            Direction::Backward => ("backward", forward.times(2)),
        };
        self.chain(name, NodeAction::Work { ops, bytes }, gathered);
    }

    /// Adds the sum of partial activations over the ranks that share matrices (Shoeybi et al., 2019).
    fn sum_activations(&mut self) {
        let after = self.last;
        if let Some(sum) = self.collective(ModelGroup::Tensor, Collective::AllReduce, self.costs.activations, after) {
            self.last = Some(sum);
        }
    }

    /// Adds the exchange of tokens with the ranks that share experts: to the experts if `there`, otherwise back.
    fn exchange_tokens(&mut self, there: bool) {
        self.exchanges += 1;
        let after = self.last;
        if self.model.skew == 0.0 {
            let bytes = self.costs.dispatched();
            self.last = self.collective(ModelGroup::Expert, Collective::AllToAll, bytes, after).or(after);
            return;
        }
        let own = self.seat.expert(self.model) as usize;
        let (_, ranks) = ModelGroup::Expert.of(self.model, self.seat);
        // Tags that passes between stages do not have: those have another rank at the other end.
        let tag = self.exchanges;
        let mut ends: Vec<u32> = Vec::with_capacity(2 * ranks.len());
        for (place, &rank) in ranks.iter().enumerate().filter(|&(place, _)| place != own) {
            let [to, from] = [place, own].map(|place| self.costs.sent_tokens[place] * self.costs.token);
            let (sent, received) = if there { (to, from) } else { (from, to) };
            ends.push(self.add("send", NodeAction::Send { to: rank, bytes: sent, tag }, after));
            ends.push(self.add("receive", NodeAction::Receive { from: rank, bytes: received, tag }, after));
        }
        self.last = Some(self.add("exchange", NodeAction::Nothing, ends.into_iter().chain(after)));
    }

    /// Adds a collective of the rank's group. Returns none for a group of one rank.
    fn collective(
        &mut self,
        group: ModelGroup,
        kind: Collective,
        bytes: u64,
        after: impl IntoIterator<Item = u32>,
    ) -> Option<u32> {
        if group.count(self.model) == 1 || bytes == 0 {
            return None;
        }
        let known = self.groups.iter().position(|(known, ..)| *known == group);
        let index = known.unwrap_or_else(|| {
            let (name, ranks) = group.of(self.model, self.seat);
            self.groups.push((group, name, ranks));
            self.groups.len() - 1
        });
        Some(self.add(kind.name(), NodeAction::Collective { kind, bytes, group: index as u32 }, after))
    }

    /// Adds the gathering of the parameters of the next layer, if there is one and each replica has a part of them.
    fn gather_parameters(&mut self) -> Option<u32> {
        if self.model.zero < 3 || self.ungathered == 0 {
            return None;
        }
        self.ungathered -= 1;
        let gathered = self.gather(self.last);
        // One node stands for both groups.
        (!gathered.is_empty()).then(|| self.add("gather", NodeAction::Nothing, gathered))
    }

    /// Gathers the parameters of a layer from all replicas.
    fn gather(&mut self, after: Option<u32>) -> Vec<u32> {
        let groups = [(ModelGroup::Data, self.costs.dense), (ModelGroup::ExpertData, self.costs.of_experts)];
        let gather = |(group, bytes): (ModelGroup, u64)| {
            let each = bytes.div_ceil(u64::from(group.count(self.model)));
            self.collective(group, Collective::AllGather, each, after)
        };
        groups.into_iter().filter_map(gather).collect()
    }

    /// Sums up the gradients of the layer over all replicas: after the last microbatch, and with parts of gradients
    /// after each.
    fn reduce_gradients(&mut self, is_last: bool) {
        if !is_last && self.model.zero < 2 {
            return;
        }
        let kind = if self.model.zero == 0 { Collective::AllReduce } else { Collective::ReduceScatter };
        let groups = [(ModelGroup::Data, self.costs.dense), (ModelGroup::ExpertData, self.costs.of_experts)];
        for (group, bytes) in groups {
            let after = self.last;
            let reduced = self.collective(group, kind, bytes, after);
            self.gradients.extend(reduced);
        }
    }

    /// Adds the update of the parameters, which are then gathered if each replica updates a part of them.
    fn update(&mut self, has_memory: bool) {
        let after: Vec<u32> = self.gradients.drain(..).chain(self.last).collect();
        let act = match has_memory {
            true => NodeAction::Work { ops: 0, bytes: self.costs.update },
            false => NodeAction::Nothing,
        };
        let updated = self.add("update", act, after);
        if matches!(self.model.zero, 1 | 2) {
            for _ in 0..self.model.layers {
                self.gather(Some(updated));
            }
        }
    }
}
