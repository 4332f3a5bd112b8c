//! Groups of ranks that take part in collectives.

use crate::code::Code;
use crate::content::place_of;
use crate::error::Fault;
use crate::error::Issue;
use hostnet_files::UserFile;
use hostnet_params::JobSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// Maximum number of groups of a job, and maximum size of the file of groups in bytes.
const GROUPS_MAX: usize = 1 << 16;
const FILE_BYTES_MAX: u64 = 1 << 24;
/// Maximum number of members of all groups of a job.
const MEMBERS_MAX: usize = 1 << 22;

/// Identity of a group: its name, and its ranks in order.
type Key = (String, Vec<u32>);

/// The communication groups of a job.
pub(super) struct Groups {
    ranks: u32,
    /// Key of the job that names the file of groups, and the groups of that file by name.
    key: String,
    told: BTreeMap<String, Vec<u32>>,
    numbers: BTreeMap<Key, u32>,
    /// Numbers of the groups of all ranks, by name.
    all: BTreeMap<String, u32>,
    /// Number of members of all groups so far.
    counted: usize,
}

impl Groups {
    /// Reads the file of groups, if there is one: a JSON object with a list of ranks for each name.
    pub(super) fn new(path: &str, spec: &mut JobSpec, ranks: u32, base_dir: &Path) -> Result<Self, Issue> {
        let key = format!("{path}.groups");
        let mut told = BTreeMap::new();
        if let Some(name) = &mut spec.groups {
            *name = place_of(base_dir, name, &key)?;
            let wrong = |fault| Issue::in_file(Code::of_file(Path::new(&*name)), name, None, &key, fault);
            told = read(name, ranks).map_err(wrong)?;
        }
        Ok(Self { ranks, key, told, numbers: BTreeMap::new(), all: BTreeMap::new(), counted: 0 })
    }

    /// Returns the number of a group that a rank names; `own` are the groups that its trace describes.
    pub(super) fn number(&mut self, rank: u32, name: &str, own: &BTreeMap<String, Vec<u32>>) -> Result<u32, Fault> {
        let members = match (self.told.get(name), own.get(name)) {
            // The file of the user goes before the groups that the trace describes.
            (Some(members), _) => members.clone(),
            (None, Some(members)) if !members.is_empty() => {
                checked(members, self.ranks)
                    .map_err(|fault| Fault::new(Code::MalformedFile, format!("the group \"{name}\" {fault}")))?;
                members.clone()
            }
            // Groups of all ranks: those for which PyTorch lists no ranks, the one without a name, and number 0.
            (None, Some(_)) => return self.of_all(name),
            (None, None) if name.is_empty() || name == "0" => return self.of_all(""),
            (None, None) => {
                return Err(Fault::new(
                    Code::MissingKey,
                    format!(
                        "the trace does not say which ranks are in the group \"{name}\"; give a file that does with {}",
                        self.key
                    ),
                ))
            }
        };
        if !members.contains(&rank) {
            return Err(Fault::new(
                Code::MalformedFile,
                format!("rank {rank} is not in the group \"{name}\", which it takes part in"),
            ));
        }
        self.numbered((name.to_owned(), members))
    }

    /// Returns the number of a group that has all ranks.
    fn of_all(&mut self, name: &str) -> Result<u32, Fault> {
        if let Some(&number) = self.all.get(name) {
            return Ok(number);
        }
        let number = self.numbered((name.to_owned(), (0..self.ranks).collect()))?;
        self.all.insert(name.to_owned(), number);
        Ok(number)
    }

    fn numbered(&mut self, key: Key) -> Result<u32, Fault> {
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(number);
        }
        self.counted += key.1.len();
        if self.numbers.len() == GROUPS_MAX || self.counted > MEMBERS_MAX {
            return Err(Fault::new(
                Code::TooMany,
                format!("more than {GROUPS_MAX} groups, or {MEMBERS_MAX} ranks in all of them"),
            ));
        }
        let next = self.numbers.len() as u32;
        self.numbers.insert(key, next);
        Ok(next)
    }

    /// Returns the names and ranks of the groups, in the order of their numbers.
    pub(super) fn into_members(self) -> Vec<Key> {
        let mut found = vec![Key::default(); self.numbers.len()];
        for (key, number) in self.numbers {
            found[number as usize] = key;
        }
        found
    }
}

fn read(place: &str, ranks: u32) -> Result<BTreeMap<String, Vec<u32>>, String> {
    let mut text = Vec::new();
    let file = UserFile::open_regular(Path::new(place)).map_err(|error| error.to_string())?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("is longer than {} MiB", FILE_BYTES_MAX >> 20));
    }
    let groups: BTreeMap<String, Vec<u32>> =
        serde_json::from_slice(&text).map_err(|error| format!("is no object of lists of ranks: {error}"))?;
    for (name, members) in &groups {
        checked(members, ranks).map_err(|fault| format!("the group \"{name}\" {fault}"))?;
    }
    Ok(groups)
}

/// Checks the ranks of a group.
fn checked(members: &[u32], ranks: u32) -> Result<(), String> {
    if members.is_empty() {
        return Err("has no ranks".to_owned());
    }
    if let Some(rank) = members.iter().find(|&&rank| rank >= ranks) {
        return Err(format!("has rank {rank}; the job has {ranks}, counted from 0"));
    }
    let distinct: BTreeSet<&u32> = members.iter().collect();
    if distinct.len() < members.len() {
        return Err("has a rank twice".to_owned());
    }
    Ok(())
}
