//! The caches of all sockets of a server, as a part of one of them sees them.

use super::Caches;

/// The caches of all sockets, and which are those of the part that looks.
pub struct SocketCaches<'a> {
    all: &'a mut [Option<Caches>],
    own: usize,
}

impl<'a> SocketCaches<'a> {
    /// Those of all sockets, in the order of their numbers, for a part of socket `own`; one past the last for a part
    /// that is on none of these.
    #[must_use]
    #[inline]
    pub fn new(all: &'a mut [Option<Caches>], own: usize) -> Self {
        Self { all, own }
    }

    /// Of a server without caches.
    #[must_use]
    pub fn none() -> Self {
        Self { all: &mut [], own: 0 }
    }

    /// Whether the socket has caches.
    #[must_use]
    #[inline]
    pub fn are_there(&self) -> bool {
        self.all.get(self.own).is_some_and(Option::is_some)
    }

    /// Those of the socket itself, if it has any.
    #[inline]
    pub fn own(&mut self) -> Option<&mut Caches> {
        self.all.get_mut(self.own)?.as_mut()
    }

    /// Whether there is no other socket with caches, so that nobody else can have a line.
    #[must_use]
    #[inline]
    pub fn are_alone(&self) -> bool {
        self.all.len() <= 1
    }

    /// The first of the other sockets, but for that of who asks, whose caches have a line, or a `dirty` copy of it.
    #[must_use]
    pub fn peer_with(&self, line: u64, asks: Option<u8>, dirty: bool) -> Option<u8> {
        let has = |caches: &Caches| if dirty { caches.has_dirty(line) } else { caches.has(line) };
        let others =
            (0..).zip(self.all.iter()).filter(|&(socket, _)| usize::from(socket) != self.own && Some(socket) != asks);
        others.into_iter().find(|(_, caches)| caches.as_ref().is_some_and(has)).map(|(socket, _)| socket)
    }

    /// The other sockets lose a line because a core of this one stores to it.
    #[inline]
    pub fn claim(&mut self, line: u64) {
        if self.are_alone() {
            return;
        }
        let own = self.own;
        let others = self.all.iter_mut().enumerate().filter(|&(socket, _)| socket != own);
        others.filter_map(|(_, caches)| caches.as_mut()).for_each(|caches| caches.io_invalidate(line));
    }
}
