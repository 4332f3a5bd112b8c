//! Synchronised partitions on several threads, and in several processes.

use crate::barrier::{lock, SpinBarrier};
use crate::exchange::OtherProcesses;
use crate::partition::{detach_event, receive, ComponentOwners, CrossingEvent};
use crate::{Partition, Scheduler, Time};
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

type Mailbox<W> = Mutex<Vec<CrossingEvent<W>>>;
type Part<W> = (W, Scheduler<<W as Partition>::Payload>);
/// Partitions of one thread, each with its index.
type Share<'a, W> = Vec<(usize, &'a mut Part<W>)>;

/// Distributes partitions over `threads` threads: each, the busiest so far first, goes to the thread with the least
/// work.
fn shares<W: Partition>(mut parts: Share<'_, W>, threads: usize) -> Vec<Share<'_, W>> {
    // Longest processing time first (Graham): at most 4/3 of the best makespan. It changes no result.
    parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.1.handled()));
    let threads = threads.clamp(1, parts.len().max(1));
    let mut shares: Vec<(u64, Share<W>)> = (0..threads).map(|_| (0, Vec::new())).collect();
    for (index, part) in parts {
        // Before the first event all parts have done nothing: the second key then spreads them evenly.
        let least = shares.iter_mut().min_by_key(|(events, share)| (*events, share.len()));
        let (events, share) = least.expect("there is a thread");
        *events += part.1.handled();
        share.push((index, part));
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// State shared by the threads of one parallel run. The threads synchronise once per window, and twice if there are
/// other processes.
pub(crate) struct ParallelRun<'a, W: Partition> {
    owners: ComponentOwners,
    window_ps: u64,
    limit: Time,
    /// Events that crossed a cut, by partition: those to deliver in this round and those to deliver in the next,
    /// alternately.
    mailboxes: [Vec<Mailbox<W>>; 2],
    /// Time of the first event of a round, in ps. Of three cells one is read, one is written and one is reset,
    /// cyclically, so that one barrier per round suffices.
    next: [AtomicU64; 3],
    /// Round that must not begin because a thread panicked.
    failed_round: AtomicU64,
    failure: Mutex<Option<Box<dyn Any + Send>>>,
    others: Option<RemoteProcesses<'a, W>>,
}

/// State about the other processes that the threads of one process share.
struct RemoteProcesses<'a, W: Partition> {
    others: Mutex<&'a mut dyn OtherProcesses<W>>,
    /// For each partition, the process that has it, if that is another one.
    remote_rank: Vec<Option<usize>>,
    /// Events that leave for each process.
    mail: Vec<Mailbox<W>>,
}

impl<'a, W: Partition + Send> ParallelRun<'a, W>
where
    W::Payload: Send,
{
    pub(crate) fn new(owners: ComponentOwners, window_ps: u64, limit: Time) -> Self {
        Self {
            owners,
            window_ps,
            limit,
            mailboxes: [Vec::new(), Vec::new()],
            // The maximum stands for no event, so that fetch_min needs no special case.
            next: [const { AtomicU64::new(u64::MAX) }; 3],
            failed_round: AtomicU64::new(u64::MAX),
            failure: Mutex::new(None),
            others: None,
        }
    }

    /// Adds other processes, `ranks` in all, which have some of the `partitions`.
    pub(crate) fn with(mut self, others: &'a mut dyn OtherProcesses<W>, ranks: usize, partitions: usize) -> Self {
        let remote_rank = (0..partitions).map(|partition| others.remote_rank(partition)).collect();
        let mail = (0..ranks).map(|_| Mutex::default()).collect();
        self.others = Some(RemoteProcesses { others: Mutex::new(others), remote_rank, mail });
        self
    }

    /// Handles every event up to the limit in the local partitions, on at most `threads` threads, at least one.
    pub(crate) fn run(mut self, parts: &mut [Part<W>], threads: usize) {
        self.mailboxes.iter_mut().for_each(|boxes| boxes.resize_with(parts.len(), Mutex::default));
        let parts = parts.iter_mut().enumerate().filter(|part| self.remote_rank(part.0).is_none()).collect();
        let shares = shares(parts, threads);
        let barrier = SpinBarrier::new(shares.len());
        std::thread::scope(|scope| {
            for (thread, share) in shares.into_iter().enumerate() {
                // One thread leads: every process must exchange exactly once per round.
                let (run, barrier) = (&self, &barrier);
                scope.spawn(move || run.work(share, barrier, thread == 0));
            }
        });
        if let Some(panic) = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }

    /// Returns the process that has a partition, if that is another one.
    fn remote_rank(&self, partition: usize) -> Option<usize> {
        self.others.as_ref().and_then(|others| others.remote_rank[partition])
    }

    /// Does the work of one thread; the thread that `leads` communicates with the other processes.
    fn work(&self, mut share: Share<W>, barrier: &SpinBarrier, leads: bool) {
        for (world, scheduler) in share.iter_mut().map(|(_, part)| &mut **part) {
            // Delivers the events that were sent between two runs.
            let posted = self.post(world, scheduler, 0);
            self.announce(0, [posted, scheduler.next_time()].into_iter().flatten().min());
        }
        for round in 0.. {
            barrier.wait();
            if let Some(others) = &self.others {
                // Behind the first barrier this process has posted everything, behind the second the others have too.
                if leads && self.failed_round.load(Ordering::SeqCst) > round {
                    self.exchange_mail(others, round);
                }
                barrier.wait();
            }
            let next = Time::from_ps(self.cell(round).load(Ordering::SeqCst));
            // No thread uses this cell before it has passed the next barrier.
            self.cell(round + 2).store(u64::MAX, Ordering::SeqCst);
            // A thread that panicked in round n names n + 1, which all threads see behind the same barrier.
            if self.failed_round.load(Ordering::SeqCst) <= round {
                return;
            }
            let end = self.window_end(next);
            // A panic must not leave the other threads waiting at the barrier.
            match catch_unwind(AssertUnwindSafe(|| self.window(&mut share, round, end))) {
                Ok(first) => self.announce(round + 1, first),
                Err(panic) => {
                    *lock(&self.failure) = Some(panic);
                    self.failed_round.fetch_min(round + 1, Ordering::SeqCst);
                }
            }
            // The last round still delivers its mail: events past the limit stay pending for the next run.
            if end.is_none() {
                return;
            }
        }
    }

    /// Returns the last instant of the window that begins at `next`, or `None` if no event occurs up to the limit.
    fn window_end(&self, next: Time) -> Option<Time> {
        // The maximum time stands for no event at all.
        (next <= self.limit && next < Time::MAX).then(|| self.limit.min(next.saturating_add(self.window_ps - 1)))
    }

    /// Delivers the mail and runs the partitions to `end`. Returns the time of the first event left pending or sent.
    fn window(&self, share: &mut Share<W>, round: u64, end: Option<Time>) -> Option<Time> {
        for (index, (world, scheduler)) in share.iter_mut().map(|(index, part)| (*index, &mut **part)) {
            let mut mail = lock(&self.mailboxes(round)[index]);
            // Mail arrives in the order of the threads; the names that the world gives the data must not depend on
            // that order.
            mail.sort_unstable_by_key(|(event, _)| event.key());
            mail.drain(..).for_each(|parcel| receive(world, scheduler, parcel));
        }
        let end = end?;
        let mut first = None;
        for (world, scheduler) in share.iter_mut().map(|(_, part)| &mut **part) {
            scheduler.run(world, end, u64::MAX);
            let posted = self.post(world, scheduler, round + 1);
            first = [first, posted, scheduler.next_time()].into_iter().flatten().min();
        }
        first
    }

    /// Posts the events that `scheduler` sent, for delivery in `round`. Returns the time of the first of them.
    fn post(&self, world: &mut W, scheduler: &mut Scheduler<W::Payload>, round: u64) -> Option<Time> {
        let mut first = None;
        for event in scheduler.outgoing().drain(..) {
            first = Some(first.map_or(event.time, |time: Time| time.min(event.time)));
            let home = self.owners.home(event.target);
            let mailbox = match (&self.others, self.remote_rank(home)) {
                // Only the leader empties this mailbox, between two barriers, so it needs no alternate.
                (Some(others), Some(rank)) => &others.mail[rank],
                _ => &self.mailboxes(round)[home],
            };
            lock(mailbox).push(detach_event(world, event));
        }
        first
    }

    /// Exchanges first times and mail of `round` with the other processes.
    fn exchange_mail(&self, others: &RemoteProcesses<W>, round: u64) {
        let first = Some(self.cell(round).load(Ordering::SeqCst)).filter(|&ps| ps < u64::MAX).map(Time::from_ps);
        let mail = others.mail.iter().map(|mail| std::mem::take(&mut *lock(mail))).collect();
        let received = lock(&others.others).exchange_mail(first, mail);
        for parcel in received.mail {
            lock(&self.mailboxes(round)[self.owners.home(parcel.0.target)]).push(parcel);
        }
        self.announce(round, received.first);
    }

    fn announce(&self, round: u64, first: Option<Time>) {
        if let Some(time) = first {
            self.cell(round).fetch_min(time.ps(), Ordering::SeqCst);
        }
    }

    fn mailboxes(&self, round: u64) -> &[Mailbox<W>] {
        &self.mailboxes[(round % 2) as usize]
    }

    fn cell(&self, round: u64) -> &AtomicU64 {
        &self.next[(round % 3) as usize]
    }
}
