//! Partitions on several threads, in step.

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
fn shares<W: Partition>(parts: &mut [Part<W>], threads: usize) -> Vec<Share<'_, W>> {
    let mut parts: Share<W> = parts.iter_mut().enumerate().collect();
    parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.1.handled()));
    let mut shares: Vec<(u64, Share<W>)> = (0..threads).map(|_| (0, Vec::new())).collect();
    for (index, part) in parts {
        let least = shares.iter_mut().min_by_key(|(events, share)| (*events, share.len()));
        let (events, share) = least.expect("there is a thread");
        *events += part.1.handled();
        share.push((index, part));
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// What the threads of one parallel run share. They meet once per window.
pub(crate) struct Crew<W: Partition> {
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
}

impl<W: Partition + Send> Crew<W>
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
        }
    }

    /// Handles every event up to the limit, on `threads` threads: at least one, and no more than there are partitions.
    pub(crate) fn run(mut self, parts: &mut [Part<W>], threads: usize) {
        self.mailboxes.iter_mut().for_each(|boxes| boxes.resize_with(parts.len(), Mutex::default));
        let meeting = Meeting::new(threads);
        std::thread::scope(|scope| {
            for share in shares(parts, threads) {
                let (crew, meeting) = (&self, &meeting);
                scope.spawn(move || crew.work(share, meeting));
            }
        });
        if let Some(panic) = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }

    fn work(&self, mut share: Share<W>, meeting: &Meeting) {
        self.announce(0, share.iter().filter_map(|(_, part)| part.1.next_time()).min());
        for round in 0.. {
            meeting.wait();
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
            lock(&self.mailboxes(round)[self.owners.home(event.target)]).push(sent(world, event));
        }
        first
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
