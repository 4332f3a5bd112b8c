//! Calls Python objects that take part in a run.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception that a Python object raised during a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RaisedException(Arc<Mutex<Option<PyErr>>>);

impl RaisedException {
    /// Returns true if an exception was raised.
    pub(crate) fn any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes the exception, if there is one.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stores the exception of `outcome`, if it is one. Returns true if it is none.
    pub(crate) fn unless(&self, outcome: PyResult<()>) -> bool {
        outcome.map_err(|error| self.keep(error)).is_ok()
    }

    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// A Python object that makes decisions.
#[derive(Clone, Debug)]
pub(crate) struct PyCallback {
    /// Method or function that is called for a decision.
    call: Arc<Py<PyAny>>,
    object: Arc<Py<PyAny>>,
    keeps_state: bool,
    raised: RaisedException,
}

impl PyCallback {
    /// Wraps an object with the method `method`, or a function.
    ///
    /// # Errors
    /// Fails if the object is neither.
    pub(crate) fn new(object: &Bound<'_, PyAny>, method: &str, raised: &RaisedException) -> PyResult<Self> {
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

    /// Calls the object with `question` and converts its answer by `read`.
    ///
    /// Returns `otherwise` if the call raises. After an exception the run ends at its next stop, and the object is
    /// not called any more.
    pub(crate) fn ask<Q, A>(&self, question: Q, otherwise: A, read: impl Fn(&Bound<'_, PyAny>) -> PyResult<A>) -> A
    where
        Q: for<'py> IntoPyObject<'py>,
    {
        // The run is about to end, so the object is not called again.
        if self.raised.any() {
            return otherwise;
        }
        let answer = Python::attach(|py| read(&self.call.bind(py).call1((question,))?));
        answer.unwrap_or_else(|error| {
            self.raised.keep(error);
            otherwise
        })
    }

    /// Returns the state of the object, if it has the methods `state` and `restore`.
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

    /// Restores the state of the object.
    ///
    /// # Errors
    /// Returns the reason why the object cannot be restored.
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
