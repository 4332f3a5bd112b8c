//! Processes that share the partitions of one simulation, and what they hand to each other.

use crate::partition::Sent;
use crate::{Event, Partition, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// How the processes of one simulation hand bytes to each other.
pub trait Exchange: Send {
    /// The number of this process, from 0 on.
    fn rank(&self) -> usize;

    /// How many processes there are.
    fn ranks(&self) -> usize;

    /// Hands a letter to each process, by their numbers, and returns what each has handed to this one. All processes
    /// call it equally often; the letter to oneself comes back.
    fn exchange(&mut self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Hands the same letter to all processes, and returns that of each.
    fn share(&mut self, letter: &[u8]) -> Vec<Vec<u8>> {
        self.exchange(vec![letter.to_vec(); self.ranks()])
    }
}

/// Tells all processes something, and returns what each has told, by their numbers.
///
/// # Panics
/// If the processes do not run the same program.
pub fn told<T: Serialize + DeserializeOwned>(exchange: &mut dyn Exchange, own: &T) -> Vec<T> {
    let letters = exchange.share(&encode(own));
    letters.iter().map(|letter| decode(letter)).collect()
}

/// Tells the first process something; that one gets what each has told, by their numbers, and the others nothing.
///
/// # Panics
/// As [`told`].
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

/// The processes of a simulation, and which of them has each partition.
pub struct Across<'a> {
    /// The way to the other processes.
    pub exchange: &'a mut dyn Exchange,
    /// The process that has each partition, by the number of the partition.
    pub homes: &'a [usize],
}

/// What a process tells another between two windows: when its next event happens, and the events that cross.
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "P: Serialize, C: Serialize", deserialize = "P: Deserialize<'de>, C: Deserialize<'de>"))]
struct Letter<P, C> {
    first: Option<Time>,
    mail: Vec<(Event<P>, C)>,
}

/// What the other processes have told.
pub(crate) struct Told<W: Partition> {
    pub(crate) first: Option<Time>,
    pub(crate) mail: Vec<Sent<W>>,
}

/// The other processes as the threads of this one see them.
pub(crate) trait Others<W: Partition>: Send {
    /// The process that has a partition; none when it is this one.
    fn away(&self, partition: usize) -> Option<usize>;

    /// Tells every process when the next event here happens, and hands over `mail`, by process.
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
