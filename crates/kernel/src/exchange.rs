//! Exchange between the processes that share the partitions of one simulation.

use crate::partition::Sent;
use crate::{Event, Partition, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Exchange of bytes between the processes of one simulation.
pub trait Exchange: Send {
    /// Returns the rank of this process, counted from 0.
    fn rank(&self) -> usize;

    /// Returns the number of processes.
    fn ranks(&self) -> usize;

    /// Sends one message to each process, by rank, and returns the messages of all processes to this one. All
    /// processes must call it equally often; a message to oneself is returned as well.
    fn exchange(&mut self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Sends one message to all processes, and returns the message of each.
    fn share(&mut self, letter: &[u8]) -> Vec<Vec<u8>> {
        self.exchange(vec![letter.to_vec(); self.ranks()])
    }
}

/// Shares `own` with all processes, and returns the values of all, by rank.
///
/// # Panics
/// Panics if the processes do not run the same program.
pub fn told<T: Serialize + DeserializeOwned>(exchange: &mut dyn Exchange, own: &T) -> Vec<T> {
    let letters = exchange.share(&encode(own));
    letters.iter().map(|letter| decode(letter)).collect()
}

/// Sends `own` to the first process, which gets the values of all, by rank; the other processes get an empty vector.
///
/// # Panics
/// Panics as [`told`].
pub fn told_first<T: Serialize + DeserializeOwned>(exchange: &mut dyn Exchange, own: &T) -> Vec<T> {
    let mut letters = vec![Vec::new(); exchange.ranks()];
    letters[0] = encode(own);
    let letters = exchange.exchange(letters);
    letters.iter().filter(|_| exchange.rank() == 0).map(|letter| decode(letter)).collect()
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("what is told is plain values")
}

fn decode<T: DeserializeOwned>(letter: &[u8]) -> T {
    postcard::from_bytes(letter).expect("all processes run the same program")
}

/// Processes of a simulation, and the assignment of partitions to them.
pub struct Across<'a> {
    /// Connection to the other processes.
    pub exchange: &'a mut dyn Exchange,
    /// Rank of the process that has each partition, by the index of the partition.
    pub homes: &'a [usize],
}

/// Message between two processes at the end of a window: the time of the sender's next event, and the events that
/// cross.
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "P: Serialize, C: Serialize", deserialize = "P: Deserialize<'de>, C: Deserialize<'de>"))]
struct Letter<P, C> {
    first: Option<Time>,
    mail: Vec<(Event<P>, C)>,
}

/// Messages received from the other processes, merged.
pub(crate) struct Told<W: Partition> {
    pub(crate) first: Option<Time>,
    pub(crate) mail: Vec<Sent<W>>,
}

/// Other processes, as seen by the threads of this one.
pub(crate) trait Others<W: Partition>: Send {
    /// Returns the rank of the process that has a partition, or `None` for this process.
    fn away(&self, partition: usize) -> Option<usize>;

    /// Sends the time of the next local event to every process, and delivers `mail`, by rank. Returns what was
    /// received.
    fn trade(&mut self, first: Option<Time>, mail: Vec<Vec<Sent<W>>>) -> Told<W>;
}

impl<W: Partition> Others<W> for Across<'_>
where
    W::Payload: Serialize + DeserializeOwned,
    W::Cargo: Serialize + DeserializeOwned,
{
    fn away(&self, partition: usize) -> Option<usize> {
        Some(self.homes[partition]).filter(|&home| home != self.exchange.rank())
    }

    fn trade(&mut self, first: Option<Time>, mail: Vec<Vec<Sent<W>>>) -> Told<W> {
        let letters = mail.into_iter().map(|mail| encode(&Letter { first, mail })).collect();
        let letters = self.exchange.exchange(letters);
        let mut told = Told { first: None, mail: Vec::new() };
        for letter in letters {
            let letter: Letter<W::Payload, W::Cargo> = decode(&letter);
            told.first = [told.first, letter.first].into_iter().flatten().min();
            told.mail.extend(letter.mail);
        }
        told
    }
}
