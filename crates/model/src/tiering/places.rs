//! Places of pages in the memory of a socket and behind a link.

use crate::line::socket_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Places of the pages that migrate, and the free ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PagePlaces {
    page_lines: u64,
    /// First physical line of each page.
    lines: Vec<u64>,
    /// Page by its first line.
    pages: BTreeMap<u64, u32>,
    /// First lines of free places, by node.
    free: [Vec<u64>; 2],
    local: u32,
}

impl PagePlaces {
    /// Creates the places of pages of `page_lines` lines that begin at `lines`, with free ones in both nodes.
    #[must_use]
    pub fn new(page_lines: u64, lines: Vec<u64>, free: [Vec<u64>; 2]) -> Self {
        let local = lines.iter().filter(|&&line| socket_of(line) == 0).count() as u32;
        Self { page_lines, pages: lines.iter().copied().zip(0..).collect(), lines, free, local }
    }

    /// Returns the first line of a page.
    pub(super) fn line(&self, page: u32) -> u64 {
        self.lines[page as usize]
    }

    /// Returns the node of a page: 0 for the socket, 1 for memory behind the link.
    pub(super) fn node(&self, page: u32) -> u8 {
        socket_of(self.line(page))
    }

    /// Returns the page that holds a line.
    pub(super) fn page_at(&self, line: u64) -> Option<u32> {
        self.pages.get(&(line / self.page_lines * self.page_lines)).copied()
    }

    /// Returns the number of pages in the memory of the socket.
    pub(super) fn local(&self) -> u32 {
        self.local
    }

    /// Takes a free place in a node, and returns its first line.
    pub(super) fn take(&mut self, node: u8) -> Option<u64> {
        self.free[usize::from(node)].pop()
    }

    /// Moves a page to the place that begins at `line`, which has been taken, and frees its old one.
    pub(super) fn place(&mut self, page: u32, line: u64) {
        let old = std::mem::replace(&mut self.lines[page as usize], line);
        self.pages.remove(&old);
        self.pages.insert(line, page);
        self.free[usize::from(socket_of(old))].push(old);
        self.local = self.local + u32::from(socket_of(line) == 0) - u32::from(socket_of(old) == 0);
    }
}
