//! Caches of all sockets of a server, as a component of one socket sees them.

use super::Caches;

/// Caches of all sockets, and the index of the component's own socket.
pub struct SocketCaches<'a> {
    all: &'a mut [Option<Caches>],
    own: usize,
}

impl<'a> SocketCaches<'a> {
    /// Creates the view of a component of socket `own`. A component outside of the sockets passes the number of
    /// sockets.
    #[must_use]
    #[inline]
    pub fn new(all: &'a mut [Option<Caches>], own: usize) -> Self {
        Self { all, own }
    }

    /// Creates the view of a server without caches.
    #[must_use]
    pub fn none() -> Self {
        Self { all: &mut [], own: 0 }
    }

    /// Returns true if the component's socket has caches.
    #[must_use]
    #[inline]
    pub fn are_there(&self) -> bool {
        self.all.get(self.own).is_some_and(Option::is_some)
    }

    /// Returns the caches of the component's socket, if it has any.
    #[inline]
    pub fn own(&mut self) -> Option<&mut Caches> {
        self.all.get_mut(self.own)?.as_mut()
    }

    /// Returns true if no other socket has caches that could hold a line.
    #[must_use]
    #[inline]
    pub fn are_alone(&self) -> bool {
        self.all.len() <= 1
    }

    /// Returns the first remote socket, except `asks`, whose caches have a line, or a dirty copy of it if `dirty` is
    /// set.
    #[must_use]
    pub fn peer_with(&self, line: u64, asks: Option<u8>, dirty: bool) -> Option<u8> {
        let has = |caches: &Caches| if dirty { caches.has_dirty(line) } else { caches.has(line) };
        let others =
            (0..).zip(self.all.iter()).filter(|&(socket, _)| usize::from(socket) != self.own && Some(socket) != asks);
        others.into_iter().find(|(_, caches)| caches.as_ref().is_some_and(has)).map(|(socket, _)| socket)
    }

    /// Invalidates a line in the caches of all remote sockets, because a core of this socket stores to it.
    #[inline]
    pub fn claim(&mut self, line: u64) {
        // Speed only: there is no other socket to look at.
        if self.are_alone() {
            return;
        }
        let own = self.own;
        let others = self.all.iter_mut().enumerate().filter(|&(socket, _)| socket != own);
        others.filter_map(|(_, caches)| caches.as_mut()).for_each(|caches| caches.io_invalidate(line));
    }
}
