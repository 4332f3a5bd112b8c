//! Keeps tables of rates: in memory for other runs of the process, and in the folder of a cache for other processes.

use super::measuring::{measure, Measuring};
use super::table::TableInputs;
use hostnet_files::CacheFolder;
use hostnet_kernel::checkpoint;
use hostnet_model::params::FluidParams;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of tables in memory.
const RECENT_MAX: usize = 64;
/// Folder in the cache. Its number changes with the format of its files.
const FOLDER: &str = "rates-1";
/// Bounds of that folder.
const FILES_MAX: usize = 256;
const BYTES_MAX: u64 = 64 << 20;

/// Tables of the rates of fluid memories that several runs share.
///
/// A table is found by a hash of all that it depends on: parameters of the server, its seed, its cores and largest
/// packet, and the sources of the simulator. So results are the same with and without kept tables.
#[derive(Debug)]
pub struct RateTables {
    folder: fn() -> Option<PathBuf>,
    /// Tables and their keys; the one used last is the last.
    recent: Mutex<Vec<(String, KnownTable)>>,
}

/// A table, complete or not.
#[derive(Clone, Debug)]
enum KnownTable {
    Complete(Arc<FluidParams>),
    /// It is measured by every run that needs it.
    UnderWay(Arc<Measuring>),
}

impl RateTables {
    /// Creates an empty set of tables. `folder` returns the folder of a cache, which outlasts the process, if there is
    /// one.
    #[must_use]
    pub const fn new(folder: fn() -> Option<PathBuf>) -> Self {
        Self { folder, recent: Mutex::new(Vec::new()) }
    }

    fn recent(&self) -> MutexGuard<'_, Vec<(String, KnownTable)>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache(&self) -> Option<CacheFolder> {
        Some(CacheFolder::new((self.folder)()?.join(FOLDER), FILES_MAX, BYTES_MAX))
    }

    /// Returns the table with a key, or begins it.
    fn find(&self, key: &str, inputs: TableInputs) -> KnownTable {
        let mut recent = self.recent();
        let at = recent.iter().position(|(other, _)| other == key);
        let known = at.map_or_else(|| self.read(key, inputs), |at| recent.remove(at).1);
        if recent.len() >= RECENT_MAX {
            recent.remove(0);
        }
        recent.push((key.to_owned(), known.clone()));
        known
    }

    /// Reads a table from the folder, or begins it. A damaged file counts as missing, and will be replaced.
    fn read(&self, key: &str, inputs: TableInputs) -> KnownTable {
        let bytes = self.cache().and_then(|cache| cache.read(key));
        let table = bytes.and_then(|bytes| checkpoint::read(key, &bytes).ok());
        match table {
            Some(table) => KnownTable::Complete(Arc::new(table)),
            None => KnownTable::UnderWay(Arc::new(Measuring::new(inputs))),
        }
    }

    /// Keeps a table that is now complete. The runs that measured it all call this, and the first keeps it.
    fn keep(&self, key: &str, table: &Arc<FluidParams>) {
        let mut recent = self.recent();
        let Some((_, known)) = recent.iter_mut().find(|(other, _)| other == key) else { return };
        if matches!(known, KnownTable::Complete(_)) {
            return;
        }
        *known = KnownTable::Complete(table.clone());
        drop(recent);
        if let (Some(cache), Ok(bytes)) = (self.cache(), checkpoint::write(key, &**table)) {
            cache.write(key, &bytes);
        }
    }
}

/// Where tables come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableSource {
    /// Threads that measure.
    pub(crate) threads: usize,
    /// Tables of other runs.
    pub(crate) kept: Option<&'static RateTables>,
}

impl TableSource {
    /// Measures every table, on one thread.
    pub(crate) const ANEW: Self = Self { threads: 1, kept: None };

    /// Returns the tables of servers, in their order. `on_progress` is called with the number of points that are
    /// measured and that of all points. Returns `None` if it returns false.
    pub(crate) fn tables(
        self,
        inputs: Vec<TableInputs>,
        on_progress: &mut dyn FnMut([usize; 2]) -> bool,
    ) -> Option<Vec<Arc<FluidParams>>> {
        let find = |inputs: TableInputs| {
            let kept = self.kept.and_then(|kept| Some((kept, inputs.key()?)));
            let known = match &kept {
                Some((kept, key)) => kept.find(key, inputs),
                None => KnownTable::UnderWay(Arc::new(Measuring::new(inputs))),
            };
            (kept, known)
        };
        let found: Vec<_> = inputs.into_iter().map(find).collect();
        let under_way: Vec<Arc<Measuring>> = found.iter().filter_map(|(_, known)| known.under_way()).collect();
        let mut tell = || {
            let progress = under_way.iter().map(|table| table.progress());
            on_progress(progress.fold([0; 2], |[done, points], [own, all]| [done + own, points + all]))
        };
        let measured = under_way.is_empty() || (tell() && measure(&under_way, self.threads, &mut tell));
        if !measured {
            return None;
        }
        let complete = |(kept, known): (Option<(&RateTables, String)>, KnownTable)| match known {
            KnownTable::Complete(table) => table,
            KnownTable::UnderWay(measuring) => {
                let table = measuring.table().expect("it is measured");
                if let Some((kept, key)) = kept {
                    kept.keep(&key, &table);
                }
                table
            }
        };
        Some(found.into_iter().map(complete).collect())
    }
}

impl KnownTable {
    fn under_way(&self) -> Option<Arc<Measuring>> {
        match self {
            Self::Complete(_) => None,
            Self::UnderWay(measuring) => Some(measuring.clone()),
        }
    }
}
