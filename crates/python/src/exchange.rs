//! Exchanges messages with the other processes of a run through a Python object.

use crate::errors::last_panic;
use hostnet_kernel::Exchange;
use hostnet_sim::SharedExchange;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::sync::{Arc, Mutex};

/// A Python object with `rank`, `ranks`, `exchange(letters)`, and `fail(message)`, which does not return.
pub(crate) struct PythonExchange {
    object: Py<PyAny>,
    rank: usize,
    ranks: usize,
}

impl PythonExchange {
    /// Wraps the object of this process.
    ///
    /// # Errors
    /// Fails if the object has no integers `rank` and `ranks`.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<SharedExchange> {
        let rank = object.getattr("rank")?.extract()?;
        let ranks = object.getattr("ranks")?.extract()?;
        Ok(Arc::new(Mutex::new(Self { object: object.clone().unbind(), rank, ranks })))
    }

    fn trade(&self, py: Python<'_>, letters: &[Vec<u8>]) -> PyResult<Vec<Vec<u8>>> {
        let letters = PyList::new(py, letters.iter().map(|letter| PyBytes::new(py, letter)))?;
        self.object.bind(py).call_method1("exchange", (letters,))?.extract()
    }
}

impl Exchange for PythonExchange {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn exchange(&mut self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        Python::attach(|py| {
            self.trade(py, &letters).unwrap_or_else(|error| {
                // The other processes would wait for this one forever.
                fail(&self.object, py, &error.to_string());
                panic!("the other processes are lost: {error}")
            })
        })
    }
}

/// Ends all processes of a run if this one panics, because the others would wait for it forever.
pub(crate) struct AbortOnPanic(pub(crate) Option<Py<PyAny>>);

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if let Some(object) = self.0.as_ref().filter(|_| std::thread::panicking()) {
            Python::attach(|py| fail(object, py, &last_panic()));
        }
    }
}

/// Ends all processes. If that fails, the error can only be printed.
fn fail(object: &Py<PyAny>, py: Python<'_>, message: &str) {
    if let Err(error) = object.call_method1(py, "fail", (message,)) {
        error.print(py);
    }
}
