//! Exchange between the processes that share the partitions of one simulation.

use crate::partition::CrossingEvent;
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
    fn exchange(&mut self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Sends one message to all processes, and returns the message of each.
    fn share(&mut self, message: &[u8]) -> Vec<Vec<u8>> {
        self.exchange(vec![message.to_vec(); self.ranks()])
    }
}

/// Shares `own` with all processes, and returns the values of all, by rank.
///
/// # Panics
/// Panics if the processes do not run the same program.
pub fn all_gather<T: Serialize + DeserializeOwned>(exchange: &mut dyn Exchange, own: &T) -> Vec<T> {
    let messages = exchange.share(&encode(own));
    messages.iter().map(|message| decode(message)).collect()
}

/// Sends `own` to the first process, which gets the values of all, by rank; the other processes get an empty vector.
///
/// # Panics
/// Panics under the same conditions as [`all_gather`].
pub fn gather_at_first<T: Serialize + DeserializeOwned>(exchange: &mut dyn Exchange, own: &T) -> Vec<T> {
    let mut messages = vec![Vec::new(); exchange.ranks()];
    // All processes must call `exchange` equally often, so those without a message send an empty one.
    messages[0] = encode(own);
    let messages = exchange.exchange(messages);
    messages.iter().filter(|_| exchange.rank() == 0).map(|message| decode(message)).collect()
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("what is told is plain values")
}

fn decode<T: DeserializeOwned>(message: &[u8]) -> T {
    postcard::from_bytes(message).expect("all processes run the same program")
}

/// Processes of a simulation, and the assignment of partitions to them.
pub struct ProcessGroup<'a> {
    /// Connection to the other processes.
    pub exchange: &'a mut dyn Exchange,
    /// Rank of the process that owns each partition, indexed by partition.
    pub homes: &'a [usize],
}

/// Message between two processes at the end of a window: the time of the sender's next event, and the events that
/// cross.
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "P: Serialize, C: Serialize", deserialize = "P: Deserialize<'de>, C: Deserialize<'de>"))]
struct WindowMessage<P, C> {
    first: Option<Time>,
    mail: Vec<(Event<P>, C)>,
}

/// Messages received from the other processes, merged.
pub(crate) struct ReceivedMail<W: Partition> {
    pub(crate) first: Option<Time>,
    pub(crate) mail: Vec<CrossingEvent<W>>,
}

/// Other processes, as seen by the threads of this one.
pub(crate) trait OtherProcesses<W: Partition>: Send {
    /// Returns the rank of the process that has a partition, or `None` for this process.
    fn remote_rank(&self, partition: usize) -> Option<usize>;

    /// Sends the time of the next local event to every process, and delivers `mail`, by rank. Returns the mail
    /// received.
    fn exchange_mail(&mut self, first: Option<Time>, mail: Vec<Vec<CrossingEvent<W>>>) -> ReceivedMail<W>;
}

impl<W: Partition> OtherProcesses<W> for ProcessGroup<'_>
where
    W::Payload: Serialize + DeserializeOwned,
    W::Cargo: Serialize + DeserializeOwned,
{
    fn remote_rank(&self, partition: usize) -> Option<usize> {
        Some(self.homes[partition]).filter(|&home| home != self.exchange.rank())
    }

    fn exchange_mail(&mut self, first: Option<Time>, mail: Vec<Vec<CrossingEvent<W>>>) -> ReceivedMail<W> {
        let messages = mail.into_iter().map(|mail| encode(&WindowMessage { first, mail })).collect();
        let messages = self.exchange.exchange(messages);
        let mut received = ReceivedMail { first: None, mail: Vec::new() };
        for message in messages {
            let message: WindowMessage<W::Payload, W::Cargo> = decode(&message);
            // All processes must begin the same window, so the earliest event of any of them counts.
            received.first = [received.first, message.first].into_iter().flatten().min();
            received.mail.extend(message.mail);
        }
        received
    }
}
