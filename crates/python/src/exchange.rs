//! The way to the other processes of a run: a Python object that has one.

use crate::errors::last_panic;
use hostnet_kernel::Exchange;
use hostnet_sim::Way;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::sync::{Arc, Mutex};

/// A Python object with `rank`, `ranks`, `exchange(letters)` and `fail(message)`, which does not come back.
pub(crate) struct Post {
    object: Py<PyAny>,
    rank: usize,
    ranks: usize,
}

impl Post {
    /// The way that an object has.
    ///
    /// # Errors
    /// If it has no numbers.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Way> {
        let rank = object.getattr("rank")?.extract()?;
        let ranks = object.getattr("ranks")?.extract()?;
        Ok(Arc::new(Mutex::new(Self { object: object.clone().unbind(), rank, ranks })))
    }

    fn trade(&self, py: Python<'_>, letters: &[Vec<u8>]) -> PyResult<Vec<Vec<u8>>> {
        let letters = PyList::new(py, letters.iter().map(|letter| PyBytes::new(py, letter)))?;
        self.object.bind(py).call_method1("exchange", (letters,))?.extract()
    }
}

impl Exchange for Post {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn exchange(&mut self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        Python::attach(|py| {
            self.trade(py, &letters).unwrap_or_else(|error| {
                fail(&self.object, py, &error.to_string());
                panic!("the other processes are lost: {error}")
            })
        })
    }
}

/// Ends all processes of a run when this one panics, as the others wait for it.
pub(crate) struct Alarm(pub(crate) Option<Py<PyAny>>);

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(object) = self.0.as_ref().filter(|_| std::thread::panicking()) {
            Python::attach(|py| fail(object, py, &last_panic()));
        }
    }
}

/// Ends all processes; if that is not possible, nobody is left to tell.
fn fail(object: &Py<PyAny>, py: Python<'_>, message: &str) {
    if let Err(error) = object.call_method1(py, "fail", (message,)) {
        error.print(py);
    }
}
