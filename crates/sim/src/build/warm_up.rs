//! Fills the caches before simulated time begins.
//!
//! Simulating the turnovers of a large LLC event by event would take longer than the measurement itself. Cores and
//! devices therefore first access the caches without events, each at about its rate without contention. Then time
//! begins, and the timed warm-up settles what depends on rates.

use crate::build::feeds::TraceFeeds;
use crate::build::Layout;
use crate::read::sample::Sample;
use hostnet_kernel::ComponentId;
use hostnet_model::cache::{Caches, ClassCounts, Victim};
use hostnet_model::core::{Core, EngineKind, Executor};
use hostnet_model::dma::Dma;
use hostnet_model::line::socket_of;
use hostnet_model::nvme::{Ssd, WrittenLine};
use hostnet_model::params::{CacheParams, ServerParams, SocketParams};
use hostnet_model::{Component, Machine, PartIds};
use std::cmp::Reverse;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::ops::Range;

/// Minimum number of turnovers of the LLC, and of its DDIO ways, before time begins.
pub const TURNOVERS: u64 = 3;

/// Turnovers after which filling ends even if the content of the LLC still changes. At most one read in fifty then
/// brings in a dirty line, so few writes to memory are missing.
const TURNOVERS_MAX: u64 = 48;

/// Share of the reads of a turnover that is negligible.
const NEGLIGIBLE: f64 = 0.01;

/// Standard deviations of a count by which two turnovers may differ by chance.
const CHANCE: f64 = 4.0;

/// Maximum number of core accesses per required LLC lookup. The limit ends the filling for cores that hit in their
/// L2s, and for cores beside slow drives.
const ACCESSES_PER_LINE: u64 = 4;

/// Core accesses that are always allowed beside drives, however small the LLC is, as they take negligible time.
const ACCESSES_FREE: u64 = 1 << 22;

/// Accesses between two progress reports.
const REPORT_STEPS: u64 = 1 << 14;

/// Progress of filling the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillProgress {
    /// Lines that have been looked up in the LLC or written by devices.
    pub done: u64,
    /// Upper bound of the final value of `done`.
    pub lines: u64,
}

/// A part, or an engine of a core, that fills the caches, and the time of its next access. Agents order by time; ties
/// go to the first part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FillAgent {
    at_ps: u64,
    component: usize,
    /// Engine, if the part is a core.
    engine: usize,
    lines: u64,
    /// Minimum time between two accesses, in ps.
    pace_ps: u64,
}

/// Agents with accesses left, the next one on top.
type FillAgents = BinaryHeap<Reverse<FillAgent>>;

/// State of filling the caches of one socket.
struct CacheFiller<'a> {
    caches: &'a mut Caches,
    components: &'a mut [Component],
    feeds: &'a mut TraceFeeds,
    /// Indices of the parts of the socket, and the ids of its cores.
    parts: Range<usize>,
    cores: PartIds,
    /// Id of the first part of the machine.
    origin: u32,
    /// Number of the socket.
    socket: u8,
    /// Lines done by the sockets before.
    before: u64,
    filling: FillProgress,
    /// Accesses of cores and lines of devices so far.
    steps: u64,
    on_filling: &'a mut dyn FnMut(FillProgress) -> bool,
}

/// Fills the caches of the sockets of a machine. The cores of each socket run until they have looked up three
/// turnovers of lines in its LLC, or made four times as many accesses if they hit in their L2s, and its content is
/// steady. Then the devices run until they have written three turnovers of their ways. `on_filling` is called with
/// the progress several times a second and returns false to stop.
pub(crate) fn fill(
    machine: &mut Machine,
    params: &ServerParams,
    layout: &Layout,
    feeds: &mut TraceFeeds,
    on_filling: &mut dyn FnMut(FillProgress) -> bool,
) -> bool {
    let (caches_of, components) = machine.warm_up_parts();
    let lines = params.sockets.iter().filter_map(wanted).map(|[lines, written]| lines + written).sum();
    let mut filling = FillProgress { done: 0, lines };
    for ((caches, of_socket), layout_of) in caches_of.iter_mut().zip(&params.sockets).zip(&layout.sockets) {
        let (Some([lines, written]), Some(caches)) = (wanted(of_socket), caches) else { continue };
        let before = filling.done;
        let origin = layout.first();
        let [first, end] = [layout_of.all().first(), layout_of.all().end()].map(|id| (id.0 - origin) as usize);
        let (parts, cores) = (first..end, layout_of.cores());
        let (socket, ddio) = (layout_of.number, params.ddio_at(layout_of.number));
        let mut filler = CacheFiller {
            caches,
            components,
            feeds,
            parts,
            cores,
            origin,
            socket,
            before,
            filling,
            steps: 0,
            on_filling,
        };
        // A drive without contention writes lines at its read bandwidth.
        let line_ps = 64 * 1_000_000_000_000 / of_socket.ssd.read_bytes_per_s.max(1);
        let filled = filler.run_cores(lines) && filler.run_all(&ddio, line_ps, lines, written);
        write_windows(components, caches, layout_of.number);
        // The accesses of the filling are not those of the run.
        caches.reset_counts();
        if !filled {
            return false;
        }
        filling.done = before + lines + written;
    }
    drop_dirty_copies(caches_of);
    true
}

/// Puts the windows of devices that generate DMA into the LLC of the socket whose memory holds them, as a core does
/// that has written them.
fn write_windows(components: &[Component], caches: &mut Caches, socket: u8) {
    for dma in components.iter().filter_map(|component| component.get::<Dma>()) {
        for (line, class) in dma.warm_lines().filter(|&(line, _)| socket_of(line) == socket) {
            let _ = caches.put(0, Victim { line, class, dirty: true, taken: true });
        }
    }
}

/// Removes lines that are dirty in one socket from all other sockets, because each socket was filled separately.
fn drop_dirty_copies(all: &mut [Option<Caches>]) {
    // A single socket has no others to compare with.
    for at in 0..if all.len() > 1 { all.len() } else { 0 } {
        let dirty: Vec<u64> = all[at].iter().flat_map(Caches::dirty_lines).collect();
        let others = all.iter_mut().enumerate().filter(|&(other, _)| other != at);
        for caches in others.filter_map(|(_, caches)| caches.as_mut()) {
            dirty.iter().for_each(|&line| caches.io_invalidate(line));
        }
    }
}

/// Returns the number of lines that the LLC of a socket holds, or `None` without caches.
pub(crate) fn held_lines(socket: &SocketParams) -> Option<u64> {
    let llc = &socket.cache.as_ref()?.llc;
    Some(u64::from(llc.sets) * u64::from(llc.ways) * u64::from(socket.cha.slices))
}

/// Returns the lines that the cores of a socket must look up in its LLC, and those that its devices must write there.
fn wanted(socket: &SocketParams) -> Option<[u64; 2]> {
    let CacheParams { llc, ddio, .. } = socket.cache.as_ref()?;
    let lines = TURNOVERS * held_lines(socket)?;
    Some([lines, lines * u64::from(ddio.ways.count_ones()) / u64::from(llc.ways)])
}

fn count_lookups(caches: &Caches) -> u64 {
    caches.counts().classes().iter().map(|counts| counts.llc_lookups).sum()
}

/// Counters of the caches at the ends of the last two turnovers, by workload.
#[derive(Default)]
struct Turnovers {
    done: u64,
    ends: [Vec<ClassCounts>; 2],
}

impl Turnovers {
    /// Records the end of turnover `done`. Returns true if it was like the turnover before.
    fn end(&mut self, done: u64, caches: &Caches) -> bool {
        let now = caches.counts().classes().to_vec();
        let asked = count_lookups(caches) - self.ends[1].iter().map(|counts| counts.llc_lookups).sum::<u64>();
        let [first, middle] = &self.ends;
        // The first two turnovers have nothing to be compared with.
        let settled = !first.is_empty()
            && first.iter().zip(middle).zip(&now).all(|((first, middle), now)| {
                lines_have_settled(asked, middle, now) && misses_have_settled(first, middle, now)
            });
        self.done = done;
        self.ends.rotate_left(1);
        self.ends[1] = now;
        settled
    }
}

/// Returns the largest difference between cache contents before and after `reads` reads that counts as steady.
pub(crate) fn tolerance(reads: u64) -> f64 {
    let reads = reads as f64;
    NEGLIGIBLE * reads + CHANCE * reads.sqrt()
}

/// Returns true if the caches of a server held about as many lines of every workload, and as many dirty lines, at the
/// end of the second half of `samples` as at its start. The tolerance grows with the lines read from memory
/// meanwhile: dirty lines that pile up are missing from the writes.
pub(crate) fn has_filled(samples: &[Sample]) -> bool {
    // Halfway, as MSER accepts a steady state that starts in the first half (architecture.md, Warm-up).
    let (Some(middle), Some(last)) = (samples.get(samples.len() / 2), samples.last()) else { return true };
    let alike = tolerance(last.lines_read - middle.lines_read);
    middle.caches.iter().zip(&last.caches).all(|(before, now)| {
        let of = |counts: &ClassCounts| [counts.core_lines, counts.io_lines, counts.dirty_lines];
        of(before).iter().zip(of(now)).all(|(&before, now)| before.abs_diff(now) as f64 <= alike)
    })
}

/// Returns true if a workload kept its number of lines, and of dirty lines, in the LLC while all cores made `asked`
/// requests to it. Growing dirty lines are memory writes still to come.
fn lines_have_settled(asked: u64, before: &ClassCounts, now: &ClassCounts) -> bool {
    // Lines of devices are not compared: no device has written yet.
    let held = [(before.core_lines, now.core_lines), (before.dirty_lines, now.dirty_lines)];
    held.iter().all(|&(before, now)| before.abs_diff(now) as f64 <= tolerance(asked))
}

/// Returns true if the miss ratio of a workload equals that of the turnover before, within [`tolerance`].
fn misses_have_settled(first: &ClassCounts, middle: &ClassCounts, now: &ClassCounts) -> bool {
    let share = |from: &ClassCounts, to: &ClassCounts| {
        let reads = to.llc_lookups - from.llc_lookups;
        ((to.llc_misses - from.llc_misses) as f64 / reads.max(1) as f64, reads)
    };
    let ((before, reads_before), (now, reads)) = (share(first, middle), share(middle, now));
    // The smaller turnover has the larger noise, so it sets the tolerance.
    let fewer = reads.min(reads_before);
    (now - before).abs() * fewer as f64 <= tolerance(fewer)
}

/// Runs the agent with the earliest access. `act` returns the duration of the access, or `None` if the agent has
/// finished. Returns false if no agent is left.
fn next(agents: &mut FillAgents, act: impl FnOnce(&FillAgent) -> Option<u64>) -> bool {
    let Some(mut first) = agents.peek_mut() else { return false };
    let Reverse(agent) = &mut *first;
    match act(agent) {
        Some(took) => {
            agent.at_ps = agent.at_ps.saturating_add(took);
            agent.lines += 1;
        }
        None => {
            PeekMut::pop(first);
        }
    }
    true
}

impl CacheFiller<'_> {
    /// Creates the agents of all threads of the cores, at time 0.
    fn threads(&self) -> FillAgents {
        let of = |component: usize| {
            let engines = self.components[component].get().map_or(&[][..], Core::engines);
            engines.iter().enumerate().filter_map(move |(engine, kind)| {
                let pace_ps = self.pace_ps(component, Executor::of(kind)?)?;
                Some(Reverse(FillAgent { at_ps: 0, component, engine, lines: 0, pace_ps }))
            })
        };
        self.parts.clone().flat_map(of).collect()
    }

    /// Returns the minimum time between two accesses of a thread, in ps, or `None` if it makes none. The kernel's work
    /// keeps pace with the drives, as if nothing held them back.
    fn pace_ps(&self, component: usize, executor: &Executor) -> Option<u64> {
        let Some((lines_per_page, class)) = executor.kernel_work() else { return Some(0) };
        let core = ComponentId(self.origin + component as u32);
        let drives = self.components.iter().filter_map(|component| component.get::<Ssd>());
        let bytes_per_s: u64 = drives.map(|drive| drive.bytes_per_s_for(core, class)).sum();
        // A page has 2^12 B, and lines per page are in units of 2^-16.
        let ps = (1_000_000_000_000_u128 << 28).checked_div(u128::from(bytes_per_s) * u128::from(lines_per_page))?;
        Some(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Creates the agents of all drives with a link to this socket whose DDIO is enabled in `ddio`. The drives may be
    /// on any socket.
    fn drives(&self, ddio: &[bool]) -> FillAgents {
        let puts = |component: &Component| {
            let link = component.get::<Ssd>().and_then(|drive| drive.link(self.socket));
            link.is_some_and(|link| ddio.get(usize::from(link)) == Some(&true))
        };
        let all = self.components.iter().enumerate().filter(|(_, component)| puts(component));
        all.map(|(component, _)| Reverse(FillAgent { at_ps: 0, component, engine: 0, lines: 0, pace_ps: 0 })).collect()
    }

    /// Counts a step, and reports progress every [`REPORT_STEPS`] steps. Returns false if the caller wants to stop.
    fn count_step(&mut self, done: u64) -> bool {
        self.steps += 1;
        // The remainder is 1, so that the first step reports at once.
        if self.steps % REPORT_STEPS != 1 {
            return true;
        }
        self.filling.done = (self.before + done).clamp(self.filling.done, self.filling.lines);
        (self.on_filling)(self.filling)
    }

    /// Performs the access of the core that is next. Returns false if no core is left.
    fn access(&mut self, cores: &mut FillAgents) -> bool {
        next(cores, |agent| {
            let core: &mut Core = self.components[agent.component].get_mut()?;
            let executor = Executor::of_mut(&mut core.engines_mut()[agent.engine])?;
            self.feeds.fill_empty(agent.component, executor);
            Some(executor.warm_up(self.caches)?.max(agent.pace_ps))
        })
    }

    /// Runs the cores alone until the LLC has had `lines` lookups and its content is steady. Returns false if the
    /// caller wants to stop.
    fn run_cores(&mut self, lines: u64) -> bool {
        let mut cores = self.threads();
        let turnover = (lines / TURNOVERS).max(1);
        let mut turnovers = Turnovers::default();
        let mut found = 0;
        // Bounded by accesses too, as cores that hit in their L2s never look lines up.
        for number in 0..ACCESSES_PER_LINE * TURNOVERS_MAX * turnover {
            // Lookups are summed only now and then, as that is costly, and wherever a turnover ends by accesses.
            if number % 1024 == 0 || number % (ACCESSES_PER_LINE * turnover) == 0 {
                found = count_lookups(self.caches);
                let done = found.max(number / ACCESSES_PER_LINE) / turnover;
                if done > turnovers.done && turnovers.end(done, self.caches) && done >= TURNOVERS {
                    return true;
                }
            }
            if !self.count_step(found.max(number / ACCESSES_PER_LINE).min(lines)) {
                return false;
            }
            if !self.access(&mut cores) || turnovers.done >= TURNOVERS_MAX {
                return true;
            }
        }
        true
    }

    /// Runs cores and devices until the devices have written `written` lines to the LLC, if any of them writes there.
    /// Meanwhile the cores may make as many accesses as for `lines` alone, and as many again in step with the
    /// devices. Lines of drives slower than that are written early.
    fn run_all(&mut self, ddio: &[bool], line_ps: u64, lines: u64, written: u64) -> bool {
        let mut cores = self.threads();
        let mut drives = self.drives(ddio);
        let budget = u128::from(ACCESSES_FREE.max(ACCESSES_PER_LINE * lines));
        let (mut accesses, mut done) = (0_u64, 0_u64);
        while done < written && !drives.is_empty() {
            if !self.count_step(lines + done) {
                return false;
            }
            // The heap holds reversed agents, so the greater one comes first.
            let first = cores.peek().is_some_and(|core| Some(core) > drives.peek());
            let allowed = budget + budget * u128::from(done) / u128::from(written);
            if first && u128::from(accesses) < allowed {
                accesses += 1;
                self.access(&mut cores);
                continue;
            }
            next(&mut drives, |agent| {
                let drive = self.components[agent.component].get()?;
                let put = write_and_consume_line(drive, agent.lines, self.socket, self.cores, self.caches);
                done += u64::from(put);
                put.then_some(line_ps)
            });
        }
        true
    }
}

/// Writes line `number` of a drive to the LLC, and has the core that consumes its data read a line of the block
/// before. Returns false if the drive writes nothing here: nothing at all, or to the memory of another socket.
fn write_and_consume_line(ssd: &Ssd, number: u64, socket: u8, cores: PartIds, caches: &mut Caches) -> bool {
    let Some(written) = ssd.written_line(number).filter(|written| socket_of(written.line) == socket) else {
        return false;
    };
    let _ = caches.io_write(written.line, written.class);
    let consumed = ssd.consumed_line(number).filter(|line| line.reader.is_some_and(|reader| cores.contains(reader)));
    if let Some(WrittenLine { line, class, reader: Some(reader) }) = consumed {
        let core = cores.number(reader);
        let found = caches.read(core, line, class);
        if found.hit.is_none() {
            // The line was evicted before its core read it, so it comes back from memory.
            let _ = caches.fetched(line, class);
        }
        if let Some(victim) = caches.fill(core, line, class, found.hit == Some(true), false) {
            let _ = caches.put(core, victim);
        }
    }
    true
}
