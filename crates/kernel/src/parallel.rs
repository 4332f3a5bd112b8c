//! Partitions on several threads, and in several processes, in step.

use crate::exchange::Others;
use crate::meeting::{lock, Meeting};
use crate::partition::{receive, sent, Owners, Sent};
use crate::{Partition, Scheduler, Time};
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

type Mailbox<W> = Mutex<Vec<Sent<W>>>;
type Part<W> = (W, Scheduler<<W as Partition>::Payload>);
/// The partitions of one thread, each with its number.
type Share<'a, W> = Vec<(usize, &'a mut Part<W>)>;

/// Shares partitions out among `threads`: each, the busiest so far first, goes to the thread that has least to do.
fn shares<W: Partition>(mut parts: Share<'_, W>, threads: usize) -> Vec<Share<'_, W>> {
    parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.1.handled()));
    let threads = threads.clamp(1, parts.len().max(1));
    let mut shares: Vec<(u64, Share<W>)> = (0..threads).map(|_| (0, Vec::new())).collect();
    for (index, part) in parts {
        let least = shares.iter_mut().min_by_key(|(events, share)| (*events, share.len()));
        let (events, share) = least.expect("there is a thread");
        *events += part.1.handled();
        share.push((index, part));
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// What the threads of one parallel run share. They meet once per window, and with other processes twice.
pub(crate) struct Crew<'a, W: Partition> {
    owners: Owners,
    window_ps: u64,
    limit: Time,
    /// Events that crossed a cut, per partition: those to take in this round, and those to take in the next, in turn.
    mailboxes: [Vec<Mailbox<W>>; 2],
    /// When the first event of a round happens, in ps. Of three cells one is read, one is written and one is being
    /// made ready, in turn, so that one meeting per round is enough.
    next: [AtomicU64; 3],
    /// The round that must not begin because a thread panicked.
    failed_round: AtomicU64,
    failure: Mutex<Option<Box<dyn Any + Send>>>,
    others: Option<Abroad<'a, W>>,
}

/// What the threads of one process share of the others.
struct Abroad<'a, W: Partition> {
    others: Mutex<&'a mut dyn Others<W>>,
    /// Of each partition the process that has it, if that is another one.
    away: Vec<Option<usize>>,
    /// Events that leave for each process.
    mail: Vec<Mailbox<W>>,
}

impl<'a, W: Partition + Send> Crew<'a, W>
where
    W::Payload: Send,
{
    pub(crate) fn new(owners: Owners, window_ps: u64, limit: Time) -> Self {
        Self {
            owners,
            window_ps,
            limit,
            mailboxes: [Vec::new(), Vec::new()],
            next: [const { AtomicU64::new(u64::MAX) }; 3],
            failed_round: AtomicU64::new(u64::MAX),
            failure: Mutex::new(None),
            others: None,
        }
    }

    /// The same with other processes, that `ranks` are in all, which have some of the `partitions`.
    pub(crate) fn with(mut self, others: &'a mut dyn Others<W>, ranks: usize, partitions: usize) -> Self {
        let away = (0..partitions).map(|partition| others.away(partition)).collect();
        let mail = (0..ranks).map(|_| Mutex::default()).collect();
        self.others = Some(Abroad { others: Mutex::new(others), away, mail });
        self
    }

    /// Handles every event up to the limit in the partitions that are here, on at most `threads` threads, at least one.
    pub(crate) fn run(mut self, parts: &mut [Part<W>], threads: usize) {
        self.mailboxes.iter_mut().for_each(|boxes| boxes.resize_with(parts.len(), Mutex::default));
        let parts = parts.iter_mut().enumerate().filter(|part| self.away(part.0).is_none()).collect();
        let shares = shares(parts, threads);
        let meeting = Meeting::new(shares.len());
        std::thread::scope(|scope| {
            for (thread, share) in shares.into_iter().enumerate() {
                let (crew, meeting) = (&self, &meeting);
                scope.spawn(move || crew.work(share, meeting, thread == 0));
            }
        });
        if let Some(panic) = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }

    /// The process that has a partition, if that is another one.
    fn away(&self, partition: usize) -> Option<usize> {
        self.others.as_ref().and_then(|others| others.away[partition])
    }

    /// Does the work of one thread; the one that `leads` speaks with the other processes.
    fn work(&self, mut share: Share<W>, meeting: &Meeting, leads: bool) {
        for (world, scheduler) in share.iter_mut().map(|(_, part)| &mut **part) {
            // What was sent between two runs.
            let posted = self.post(world, scheduler, 0);
            self.announce(0, [posted, scheduler.next_time()].into_iter().flatten().min());
        }
        for round in 0.. {
            meeting.wait();
            if let Some(others) = &self.others {
                if leads && self.failed_round.load(Ordering::SeqCst) > round {
                    self.trade(others, round);
                }
                meeting.wait();
            }
            let next = Time::from_ps(self.cell(round).load(Ordering::SeqCst));
            self.cell(round + 2).store(u64::MAX, Ordering::SeqCst);
            if self.failed_round.load(Ordering::SeqCst) <= round {
                return;
            }
            let end = self.window_end(next);
            // A panic must not leave the others waiting.
            match catch_unwind(AssertUnwindSafe(|| self.window(&mut share, round, end))) {
                Ok(first) => self.announce(round + 1, first),
                Err(panic) => {
                    *lock(&self.failure) = Some(panic);
                    self.failed_round.fetch_min(round + 1, Ordering::SeqCst);
                }
            }
            if end.is_none() {
                return;
            }
        }
    }

    /// The last moment of the window that begins at `next`, or none when nothing happens up to the limit.
    fn window_end(&self, next: Time) -> Option<Time> {
        // The end of time stands for no event at all.
        (next <= self.limit && next < Time::MAX).then(|| self.limit.min(next.saturating_add(self.window_ps - 1)))
    }

    /// Takes in the mail and runs the partitions to `end`. Returns when the first event happens that this left
    /// pending or sent away.
    fn window(&self, share: &mut Share<W>, round: u64, end: Option<Time>) -> Option<Time> {
        for (index, (world, scheduler)) in share.iter_mut().map(|(index, part)| (*index, &mut **part)) {
            let mut mail = lock(&self.mailboxes(round)[index]);
            // Mail lies in the order in which threads came by; what the world names it by must not depend on that.
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

    /// Hands over what `scheduler` sent, to be taken in in `round`. Returns when the first of it happens.
    fn post(&self, world: &mut W, scheduler: &mut Scheduler<W::Payload>, round: u64) -> Option<Time> {
        let mut first = None;
        for event in scheduler.outgoing().drain(..) {
            first = Some(first.map_or(event.time, |time: Time| time.min(event.time)));
            let home = self.owners.home(event.target);
            let mailbox = match (&self.others, self.away(home)) {
                (Some(others), Some(rank)) => &others.mail[rank],
                _ => &self.mailboxes(round)[home],
            };
            lock(mailbox).push(sent(world, event));
        }
        first
    }

    /// Tells the other processes of `round` what they need, and takes in what they tell.
    fn trade(&self, others: &Abroad<W>, round: u64) {
        let first = Some(self.cell(round).load(Ordering::SeqCst)).filter(|&ps| ps < u64::MAX).map(Time::from_ps);
        let mail = others.mail.iter().map(|mail| std::mem::take(&mut *lock(mail))).collect();
        let told = lock(&others.others).trade(first, mail);
        for parcel in told.mail {
            lock(&self.mailboxes(round)[self.owners.home(parcel.0.target)]).push(parcel);
        }
        self.announce(round, told.first);
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
