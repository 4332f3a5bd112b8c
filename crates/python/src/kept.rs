//! Files of the user's cache that Python makes.

use hostnet_files::{user_cache, CacheFolder};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bounds of the folder of operating points: those of all studies are about 3,000 files of 100 MiB.
const FILES_MAX: usize = 8192;
const BYTES_MAX: u64 = 512 << 20;

fn points() -> Option<CacheFolder> {
    user_cache().map(|folder| CacheFolder::new(folder.join("points"), FILES_MAX, BYTES_MAX))
}

/// Returns the bytes that the user's cache keeps for an operating point, or None.
#[pyfunction]
pub(crate) fn kept_point<'py>(py: Python<'py>, key: &str) -> Option<Bound<'py, PyBytes>> {
    let kept = py.detach(|| points()?.read(key))?;
    Some(PyBytes::new(py, &kept))
}

/// Keeps bytes for an operating point, unless the cache is off or cannot be written.
#[pyfunction]
pub(crate) fn keep_point(py: Python, key: &str, content: &[u8]) {
    py.detach(|| points().into_iter().for_each(|folder| folder.write(key, content)));
}
