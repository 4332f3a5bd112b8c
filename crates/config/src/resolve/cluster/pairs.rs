//! Selection of senders and receivers among many hosts.

use super::host_names::HostNames;
use crate::code::Code;
use crate::error::Issue;
use crate::units::shorten;
use hostnet_kernel::Rng;
use hostnet_params::PairsSpec;

/// Maximum number of draws until a permutation has no host that sends to itself. Three are needed on average.
const DRAWS_MAX: u32 = 1000;
/// Maximum number of pairs of a table of flows.
const PAIRS_MAX: usize = 1 << 20;

/// The sending and receiving hosts of a table of flows.
pub(super) struct Sides<'a> {
    pub(super) path: &'a str,
    pub(super) from: &'a [usize],
    pub(super) to: &'a [usize],
    pub(super) hosts: &'a HostNames,
}

impl Sides<'_> {
    fn issue(&self, code: Code, message: String) -> Issue {
        let path = self.path;
        Issue::between(code, &[&format!("{path}.pairs"), &format!("{path}.from"), &format!("{path}.to")], message)
    }

    /// Checks that the number of pairs is within the limit.
    fn check_count(&self, each: usize) -> Result<(), Issue> {
        let pairs = self.to.len().saturating_mul(each);
        if pairs > PAIRS_MAX {
            return Err(self.issue(Code::TooMany, format!("{pairs} pairs of hosts; at most {PAIRS_MAX} are allowed")));
        }
        Ok(())
    }

    /// Returns the pairs of a pattern; each host of `from` has `count` flows to hosts at random.
    pub(super) fn pairs(
        &self,
        pattern: PairsSpec,
        senders: Option<u32>,
        count: u32,
        rng: &mut Rng,
    ) -> Result<Vec<(usize, usize)>, Issue> {
        match pattern {
            PairsSpec::AllToAll => {
                self.check_count(self.from.len())?;
                let all = self.from.iter().flat_map(|&from| self.to.iter().map(move |&to| (from, to)));
                self.any(all.filter(|(from, to)| from != to).collect())
            }
            PairsSpec::Permutation => self.permutation(rng),
            PairsSpec::Incast => self.incast(senders, rng),
            PairsSpec::Random => {
                self.check_draw()?;
                if self.from.len().saturating_mul(count as usize) > PAIRS_MAX {
                    return Err(self.issue(Code::TooMany, format!("more than {PAIRS_MAX} flows")));
                }
                let each = self.from.iter().flat_map(|&from| std::iter::repeat_n(from, count as usize));
                Ok(each.map(|from| (from, self.other(from, rng))).collect())
            }
        }
    }

    fn any(&self, pairs: Vec<(usize, usize)>) -> Result<Vec<(usize, usize)>, Issue> {
        match pairs.is_empty() {
            true => Err(self.issue(Code::SendsInCircle, "no host sends to another one".to_string())),
            false => Ok(pairs),
        }
    }

    fn permutation(&self, rng: &mut Rng) -> Result<Vec<(usize, usize)>, Issue> {
        if self.from.len() != self.to.len() {
            let message = format!("{} hosts to {}: a permutation has as many", self.from.len(), self.to.len());
            return Err(self.issue(Code::WrongCount, message));
        }
        let mut to = self.to.to_vec();
        // Rejecting whole permutations keeps the accepted ones equally likely; about 1 in e is accepted.
        for _ in 0..DRAWS_MAX {
            shuffle(&mut to, rng);
            let pairs = || self.from.iter().copied().zip(to.iter().copied());
            if pairs().all(|(from, to)| from != to) {
                return Ok(pairs().collect());
            }
        }
        Err(self.issue(Code::SendsInCircle, "in every permutation a host sends to itself".to_string()))
    }

    fn incast(&self, senders: Option<u32>, rng: &mut Rng) -> Result<Vec<(usize, usize)>, Issue> {
        let each = senders.map_or(self.from.len(), |senders| senders as usize);
        self.check_count(each)?;
        let mut pairs = Vec::new();
        for &to in self.to {
            let mut others: Vec<usize> = self.from.iter().copied().filter(|&from| from != to).collect();
            if senders.is_some_and(|senders| senders as usize > others.len()) {
                let message = format!("{each} senders; there are {} others", others.len());
                let path = self.path;
                return Err(Issue::between(
                    Code::WrongCount,
                    &[&format!("{path}.senders"), &format!("{path}.from")],
                    message,
                ));
            }
            if senders.is_some() {
                shuffle(&mut others, rng);
                others.truncate(each);
                // The draw decides which hosts send, not the order of their flows.
                others.sort_unstable();
            }
            pairs.extend(others.into_iter().map(|from| (from, to)));
        }
        self.any(pairs)
    }

    /// Checks that every sender has a possible receiver other than itself.
    fn check_draw(&self) -> Result<(), Issue> {
        match self.to {
            [only] if self.from.contains(only) => {
                Err(self.issue(Code::SendsInCircle, format!("{} sends to itself", shorten(self.hosts.name(*only)))))
            }
            _ => Ok(()),
        }
    }

    /// Draws a host of `to` other than `from`.
    fn other(&self, from: usize, rng: &mut Rng) -> usize {
        loop {
            let to = self.to[rng.below(self.to.len() as u64) as usize];
            if to != from {
                return to;
            }
        }
    }

    /// Draws a random pair.
    pub(super) fn draw(&self, rng: &mut Rng) -> (usize, usize) {
        let from = self.from[rng.below(self.from.len() as u64) as usize];
        (from, self.other(from, rng))
    }

    /// Checks that [`Sides::draw`] finds pairs.
    pub(super) fn check(&self) -> Result<(), Issue> {
        self.check_draw()
    }
}

fn shuffle(all: &mut [usize], rng: &mut Rng) {
    // Fisher-Yates shuffle.
    for last in (1..all.len()).rev() {
        all.swap(last, rng.below(last as u64 + 1) as usize);
    }
}
