//! Python objects that take part in a run.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception that an object of a run raised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Whether there is one.
    pub(crate) fn any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes it out.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps what went wrong, if anything did; false then.
    pub(crate) fn unless(&self, outcome: PyResult<()>) -> bool {
        outcome.map_err(|error| self.keep(error)).is_ok()
    }

    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// An object that is asked what to do.
#[derive(Clone, Debug)]
pub(crate) struct PyCallback {
    /// What is called.
    call: Arc<Py<PyAny>>,
    object: Arc<Py<PyAny>>,
    keeps_state: bool,
    raised: Raised,
}

impl PyCallback {
    /// An object with this method, or a function.
    ///
    /// # Errors
    /// If it is neither.
    pub(crate) fn new(object: &Bound<'_, PyAny>, method: &str, raised: &Raised) -> PyResult<Self> {
        let call = match object.getattr_opt(method)? {
            Some(method) => method,
            None => object.clone(),
        };
        if !call.is_callable() {
            let kind = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{kind} is neither a function nor has it a method {method}")));
        }
        Ok(Self {
            call: Arc::new(call.unbind()),
            keeps_state: object.hasattr("state")? && object.hasattr("restore")?,
            object: Arc::new(object.clone().unbind()),
            raised: raised.clone(),
        })
    }

    /// What it answers, as `read`; `otherwise` when it raises, and once it has: the run ends at its next stop then, and
    /// what happens until there is not told to anybody.
    pub(crate) fn ask<Q, A>(&self, question: Q, otherwise: A, read: impl Fn(&Bound<'_, PyAny>) -> PyResult<A>) -> A
    where
        Q: for<'py> IntoPyObject<'py>,
    {
        if self.raised.any() {
            return otherwise;
        }
        let answer = Python::attach(|py| read(&self.call.bind(py).call1((question,))?));
        answer.unwrap_or_else(|error| {
            self.raised.keep(error);
            otherwise
        })
    }

    /// All that it remembers, if it tells that.
    pub(crate) fn state(&self) -> Option<Vec<u8>> {
        if !self.keeps_state {
            return None;
        }
        let state = Python::attach(|py| {
            let state = self.object.bind(py).call_method0("state")?;
            let bytes = state.cast::<PyBytes>().map_err(|_| PyTypeError::new_err("state() must return bytes"))?;
            Ok(bytes.as_bytes().to_vec())
        });
        state.map_err(|error| self.raised.keep(error)).ok()
    }

    /// Hands it what it remembered.
    ///
    /// # Errors
    /// Why it does not take it.
    pub(crate) fn restore(&self, state: &[u8]) -> Result<(), String> {
        if !self.keeps_state {
            return Err("has no state() and restore(), so that it cannot be continued".to_owned());
        }
        Python::attach(|py| {
            let restored = self.object.bind(py).call_method1("restore", (PyBytes::new(py, state),));
            restored.map(drop).map_err(|error: PyErr| error.to_string())
        })
    }
}
