//! Names and numbers of the hosts of a cluster, and the tables that they are in.

use super::table;
use crate::code::Code;
use crate::error::{nearest, suggestion, Issue};
use crate::units::shorten;
use hostnet_params::Names;
use std::collections::BTreeMap;
use std::ops::Range;

const HOSTS_MAX: usize = 16384;

/// A table of hosts.
pub(super) struct HostTable {
    pub(super) name: String,
    /// Range of the numbers of its hosts.
    pub(super) members: Range<usize>,
}

/// Names of the hosts of a cluster. A host's number is its place in the order of the document.
#[derive(Default)]
pub(super) struct HostNames {
    tables: Vec<HostTable>,
    names: Vec<String>,
    /// Number of the table of each host.
    table_of: Vec<usize>,
}

impl HostNames {
    /// Adds the hosts of a table. Several hosts of one table are numbered.
    pub(super) fn add(&mut self, name: &str, count: u32) -> Result<(), Issue> {
        let first = self.names.len();
        for at in 0..count {
            self.names.push(if count == 1 { name.to_string() } else { format!("{name}-{at}") });
            self.table_of.push(self.tables.len());
        }
        if self.names.len() > HOSTS_MAX {
            let message = format!("more than {HOSTS_MAX} hosts in all");
            return Err(Issue::new(Code::TooMany, format!("{}.count", table("host", name)), message));
        }
        self.tables.push(HostTable { name: name.to_string(), members: first..self.names.len() });
        Ok(())
    }

    /// Checks that no two hosts have the same name.
    pub(super) fn check(&self) -> Result<(), Issue> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, name) in self.names.iter().enumerate() {
            // A table `a` with two hosts and a table `a-1` collide, although no key does.
            if let Some(other) = seen.insert(name, at) {
                let tables = [other, at].map(|at| self.table_path(at));
                let message = format!("two hosts are named {}", shorten(name));
                return Err(Issue::between(Code::Duplicate, &[&tables[0], &tables[1]], message));
            }
        }
        Ok(())
    }

    /// Returns the number of hosts.
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns the name of a host.
    pub(super) fn name(&self, host: usize) -> &str {
        &self.names[host]
    }

    /// Returns the names of all hosts, in the order of their numbers.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the tables of hosts.
    pub(super) fn tables(&self) -> &[HostTable] {
        &self.tables
    }

    /// Returns the table of a host.
    pub(super) fn table_of(&self, host: usize) -> &HostTable {
        &self.tables[self.table_of[host]]
    }

    /// Returns the path of a host's table.
    pub(super) fn table_path(&self, host: usize) -> String {
        table("host", &self.table_of(host).name)
    }

    /// Returns the range of hosts that a name refers to: a single host, or all hosts of a table.
    pub(super) fn find(&self, name: &str, path: &str) -> Result<Range<usize>, Issue> {
        // The name of a table stands for all its hosts, so it goes before that of a single one.
        if let Some(table) = self.tables.iter().find(|table| table.name == name) {
            return Ok(table.members.clone());
        }
        match self.names().position(|host| host == name) {
            Some(at) => Ok(at..at + 1),
            None => {
                let text = match nearest(name, self.names()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => suggestion(name, self.tables.iter().map(|table| table.name.as_str())),
                };
                Err(Issue::new(Code::DoesNotExist, path, format!("there is no host {}; {text}", shorten(name))))
            }
        }
    }

    /// Returns the hosts that names refer to, in order.
    pub(super) fn find_all(&self, Names(names): &Names, path: &str) -> Result<Vec<usize>, Issue> {
        let ranges: Vec<_> = names.iter().map(|name| self.find(name, path)).collect::<Result<_, _>>()?;
        let mut twice = vec![false; self.count()];
        let mut found = Vec::new();
        for at in ranges.into_iter().flatten() {
            if std::mem::replace(&mut twice[at], true) {
                return Err(Issue::new(Code::Duplicate, path, format!("{} stands twice", shorten(self.name(at)))));
            }
            found.push(at);
        }
        Ok(found)
    }
}
