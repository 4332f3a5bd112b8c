//! Migration of pages between the memory of a socket and memory behind a link.
//!
//! A policy from outside sees how often each page is accessed and how long the accesses take, and says which pages
//! move. A page that moves is unmapped: every core of the workloads invalidates its translation, and one that needs
//! the page waits. Then a core copies it line by line, and it is mapped at its new place.

mod places;
mod policy;

pub use places::PagePlaces;
pub use policy::{ClonePolicy, PageMove, PageState, TieringPolicy, TieringView};

use crate::params::TieringParams;
use crate::part::{Context, Part, PartKind, Payload, StartContext};
use hostnet_kernel::{ComponentId, Time};
use policy::PolicySlot;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Parts that a migration of pages is connected to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TieringWiring {
    /// Cores whose translations are invalidated.
    pub cores: Vec<ComponentId>,
    /// Cores that copy pages.
    pub copiers: Vec<ComponentId>,
}

/// Page that is being moved.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Migration {
    page: u32,
    /// First line of its new place.
    to: u64,
    /// Cores that have not invalidated their translation yet.
    translations: u32,
}

/// Counts of a migration since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TieringCounts {
    /// Pages that have moved to the memory of the socket, and to the memory behind the link.
    pub moved: [u64; 2],
    /// Moves that the policy wanted and that were not possible.
    pub refused: u64,
    /// Samples of accesses to the memory of the socket, and to the memory behind the link.
    pub samples: [u64; 2],
    /// Sum of their latencies, in ns.
    pub latency_ns: [u64; 2],
    /// Decisions of the policy.
    pub decisions: u64,
}

/// Migration of pages, as a policy decides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tiering {
    params: TieringParams,
    wiring: TieringWiring,
    policy: PolicySlot,
    places: PagePlaces,
    /// Samples by page since the last decision.
    pages: Vec<PageState>,
    /// Number and sum in ns of the latencies by node since the last decision.
    latencies: [(u64, u64); 2],
    waiting: VecDeque<PageMove>,
    /// Page that each copying core moves.
    migrations: Vec<Option<Migration>>,
    counts: TieringCounts,
    stopped: bool,
}

impl Tiering {
    /// Creates a migration of the pages in `places`, connected as `wiring` says.
    #[must_use]
    pub fn new(params: TieringParams, wiring: TieringWiring, places: PagePlaces) -> Self {
        let state = |page| PageState { node: places.node(page), samples: 0, moving: false };
        Self {
            pages: (0..params.pages).map(state).collect(),
            migrations: vec![None; wiring.copiers.len()],
            policy: PolicySlot::default(),
            latencies: [(0, 0); 2],
            waiting: VecDeque::new(),
            counts: TieringCounts::default(),
            stopped: false,
            params,
            wiring,
            places,
        }
    }

    /// Attaches the policy, which decides from now on. After a checkpoint it continues with its state from there.
    ///
    /// # Errors
    /// Returns an error if its state cannot be restored.
    pub fn attach(&mut self, policy: Box<dyn TieringPolicy>) -> Result<(), String> {
        self.policy.attach(policy)
    }

    /// Returns true if the policy comes from outside.
    #[must_use]
    pub fn needs_policy(&self) -> bool {
        self.params.needs_policy
    }

    /// Returns true if a policy from outside has not been attached. Until it is, no page moves.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.needs_policy() && self.policy.is_empty()
    }

    /// Checks that the migration can be part of a checkpoint.
    ///
    /// # Errors
    /// Returns an error if the policy does not give its state.
    pub fn check_state(&self) -> Result<(), String> {
        self.policy.check_state()
    }

    /// Returns the counts since the last reset.
    #[must_use]
    pub fn counts(&self) -> &TieringCounts {
        &self.counts
    }

    /// Returns the number of pages in the memory of the socket.
    #[must_use]
    pub fn local_pages(&self) -> u32 {
        self.places.local()
    }

    /// Returns the number of pages that are moved now.
    #[must_use]
    pub fn moving(&self) -> u32 {
        self.migrations.iter().flatten().count() as u32
    }

    fn on_sample(&mut self, line: u64, latency_ns: u32) {
        // The page may have moved while the line was in flight.
        let Some(page) = self.places.page_at(line) else { return };
        let node = usize::from(self.places.node(page));
        self.pages[page as usize].samples += 1;
        self.latencies[node].0 += 1;
        self.latencies[node].1 += u64::from(latency_ns);
        self.counts.samples[node] += 1;
        self.counts.latency_ns[node] += u64::from(latency_ns);
    }

    /// Asks the policy what moves.
    fn decide(&mut self, context: &mut Context) {
        let mean = |(count, sum): (u64, u64)| (count > 0).then(|| sum as f64 / count as f64);
        let view = TieringView {
            now_ps: context.now().ps(),
            pages: &self.pages,
            latency_ns: self.latencies.map(mean),
            local_free: self.local_free(),
            waiting: self.waiting.len() as u32 + self.moving(),
        };
        let moves = self.policy.decide(&view);
        self.counts.decisions += 1;
        self.pages.iter_mut().for_each(|page| page.samples = 0);
        self.latencies = [(0, 0); 2];
        self.waiting.extend(moves);
        self.start_migrations(context);
    }

    /// Returns the pages for which the memory of the socket has room.
    fn local_free(&self) -> u32 {
        let coming = self.migrations.iter().flatten().filter(|migration| self.places.node(migration.page) == 1);
        self.params.local_pages - self.places.local() - coming.count() as u32
    }

    /// Begins to move pages as far as cores are free to copy them.
    fn start_migrations(&mut self, context: &mut Context) {
        for copier in 0..self.migrations.len() {
            while self.migrations[copier].is_none() {
                let Some(next) = self.waiting.pop_front() else { return };
                self.migrations[copier] = self.start_migration(next, context);
                self.counts.refused += u64::from(self.migrations[copier].is_none());
            }
        }
    }

    fn start_migration(&mut self, PageMove { page, node }: PageMove, context: &mut Context) -> Option<Migration> {
        let state = self.pages.get(page as usize)?;
        if state.moving || state.node == node || node > 1 || node == 0 && self.local_free() == 0 {
            return None;
        }
        let to = self.places.take(node)?;
        self.pages[page as usize].moving = true;
        self.wiring
            .cores
            .iter()
            .for_each(|&core| context.send(core, 1, Payload::UnmapPage { page, tiering: context.id }));
        Some(Migration { page, to, translations: self.wiring.cores.len() as u32 })
    }

    /// Handles the invalidation of a translation: after the last one the page is copied.
    fn on_unmapped(&mut self, page: u32, context: &mut Context) {
        let mut all = self.migrations.iter_mut().zip(&self.wiring.copiers);
        let moves = |(migration, _): &(&mut Option<Migration>, _)| migration.is_some_and(|own| own.page == page);
        let Some((Some(migration), &copier)) = all.find(moves) else { return };
        migration.translations -= 1;
        if migration.translations == 0 {
            context.send(copier, 1, Payload::CopyPage { line: self.places.line(page), to: false });
            context.send(copier, 1, Payload::CopyPage { line: migration.to, to: true });
        }
    }

    /// Handles the end of a copy: the page is mapped at its new place.
    fn on_copied(&mut self, copier: ComponentId, context: &mut Context) {
        let number = self.wiring.copiers.iter().position(|&own| own == copier);
        let Some(Migration { page, to, .. }) = number.and_then(|number| self.migrations[number].take()) else { return };
        self.places.place(page, to);
        let state = &mut self.pages[page as usize];
        (state.node, state.moving) = (self.places.node(page), false);
        self.counts.moved[usize::from(state.node)] += 1;
        self.wiring.cores.iter().for_each(|&core| context.send(core, 1, Payload::MapPage { page, line: to }));
        self.start_migrations(context);
    }
}

impl Part for Tiering {
    fn kind(&self) -> PartKind {
        PartKind::Tiering
    }

    /// Schedules the first decision.
    fn start(&mut self, start: &mut StartContext<'_>) {
        start.wake(self.params.period_ps, Payload::Step);
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Sampled { line, latency_ns } => self.on_sample(line, latency_ns),
            Payload::PageUnmapped { page } => self.on_unmapped(page, context),
            Payload::PageCopied => self.on_copied(source, context),
            Payload::Step if self.stopped => {}
            Payload::Step => {
                self.decide(context);
                context.send(context.id, self.params.period_ps, Payload::Step);
            }
            other => unreachable!("the migration of pages was sent {other:?}"),
        }
    }

    fn settle(&mut self, _: Time) {}

    fn reset(&mut self, _: Time) {
        self.counts = TieringCounts::default();
    }

    /// Decides no more; pages that are being moved still arrive.
    fn stop(&mut self) {
        self.stopped = true;
        self.waiting.clear();
    }
}
