//! The tiles and edges of a chip, and the polls of queue lines that their caches hold.

use crate::agenda::Action;
use crate::caches::Caches;
use crate::core::{Core, CoreActivity};
use crate::fabric::Fabric;
use crate::floor::Unit;
use crate::ni::{Backend, Frontend, Rrpp};
use crate::params::QUEUE_LINES;
use crate::Placement;
use serde::{Deserialize, Serialize};

/// A tile without its slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tile {
    pub(crate) core: Core,
    pub(crate) caches: Caches,
    pub(crate) front: Frontend,
    pub(crate) backend: Backend,
}

/// Units at the edge of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) caches: Caches,
    pub(crate) backend: Backend,
    pub(crate) rrpp: Rrpp,
}

/// The tiles and edges of a chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Units {
    pub(crate) tiles: Vec<Tile>,
    pub(crate) edges: Vec<Edge>,
}

impl Units {
    /// Returns the caches of queue lines at a place.
    pub(crate) fn caches(&mut self, at: Unit) -> &mut Caches {
        match at {
            Unit::Edge(row) => &mut self.edges[usize::from(row)].caches,
            Unit::Core(core) | Unit::Slice(core) | Unit::Memory(core) => &mut self.tiles[usize::from(core)].caches,
        }
    }

    /// Returns the backend at a place.
    pub(crate) fn backend(&mut self, at: Unit) -> &mut Backend {
        match at {
            Unit::Edge(row) => &mut self.edges[usize::from(row)].backend,
            Unit::Core(core) | Unit::Slice(core) | Unit::Memory(core) => &mut self.tiles[usize::from(core)].backend,
        }
    }

    /// Reacts to a change of a queue line in a cache: a core or NI that polls the line there sees the change.
    pub(crate) fn changed(&mut self, at: Unit, line: u64, fabric: &mut Fabric) {
        let core = (line / QUEUE_LINES) as u16;
        // The lower half of a core's page is its work queue.
        if line % QUEUE_LINES < QUEUE_LINES / 2 {
            self.wq_changed(at, core, fabric);
        } else if at == Unit::Core(core) {
            let one = &self.tiles[usize::from(core)].core;
            if one.doing == CoreActivity::Spinning && !one.loading && fabric.cq_line(core, one.read) == line {
                self.poll_soon(core, fabric);
            }
        }
    }

    /// Schedules a poll of the completion queue of a core, unless one is scheduled.
    pub(crate) fn poll_soon(&mut self, core: u16, fabric: &mut Fabric) {
        let one = &mut self.tiles[usize::from(core)].core;
        if !one.polling {
            one.polling = true;
            fabric.schedule(1, Action::Poll(core));
        }
    }

    /// Reacts to a change of the line that a frontend polls: schedules a poll for the next turn of the queue.
    fn wq_changed(&mut self, at: Unit, core: u16, fabric: &mut Fabric) {
        let front = &self.tiles[usize::from(core)].front;
        // A poll that is scheduled, or a fetch of the line, will see the change anyway.
        if at == fabric.frontend_at(core) && !front.visiting && !front.loading {
            self.plan_visit(core, fabric);
        }
    }

    /// Schedules a poll. A frontend polls one queue per cycle, its queues in round robin.
    pub(crate) fn plan_visit(&mut self, core: u16, fabric: &mut Fabric) {
        self.tiles[usize::from(core)].front.visiting = true;
        let queues = u64::from(fabric.floor.cores_per_edge());
        let wait = match fabric.params.ni.placement {
            Placement::Edge => {
                // The first cycle from the next one on in which the queue has its turn.
                let turn = u64::from(core) % queues;
                let next = (fabric.now + 1) % queues;
                1 + (turn + queues - next) % queues
            }
            _ => 1,
        };
        fabric.schedule(wait as u32, Action::Visit(core));
    }
}
