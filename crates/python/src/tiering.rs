//! Tiering policies written in Python.

use crate::guest::{PyCallback, RaisedException};
use hostnet_model::tiering::{PageMove, PageState, TieringPolicy, TieringView};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Pages and latencies, as passed to a tiering policy.
#[pyclass(module = "hostnet._core", name = "Pages", frozen)]
pub(crate) struct PyPages {
    time_ns: f64,
    pages: Vec<PageState>,
    latency_ns: [Option<f64>; 2],
    local_free: u32,
    waiting: u32,
}

impl PyPages {
    fn of(view: &TieringView) -> Self {
        Self {
            time_ns: view.now_ps as f64 / 1000.0,
            pages: view.pages.to_vec(),
            latency_ns: view.latency_ns,
            local_free: view.local_free,
            waiting: view.waiting,
        }
    }
}

#[pymethods]
impl PyPages {
    /// Simulated time, in ns.
    #[getter]
    fn time_ns(&self) -> f64 {
        self.time_ns
    }

    /// Node of each page: 0 for the memory of the socket, 1 for memory behind the link.
    #[getter]
    fn nodes(&self) -> Vec<u32> {
        self.pages.iter().map(|page| page.node.into()).collect()
    }

    /// Sampled accesses to each page since the last decision.
    #[getter]
    fn samples(&self) -> Vec<u32> {
        self.pages.iter().map(|page| page.samples).collect()
    }

    /// Mean latency of the sampled accesses to each node since the last decision, in ns; None without any.
    #[getter]
    fn latency_ns(&self) -> (Option<f64>, Option<f64>) {
        self.latency_ns.into()
    }

    /// Pages for which the memory of the socket still has room.
    #[getter]
    fn local_free(&self) -> u32 {
        self.local_free
    }

    /// Pages that are being moved, or wait for a core that copies them.
    #[getter]
    fn waiting(&self) -> u32 {
        self.waiting
    }

    fn __repr__(&self) -> String {
        format!(
            "Pages(time_ns={}, pages={}, local_free={}, waiting={})",
            self.time_ns,
            self.pages.len(),
            self.local_free,
            self.waiting
        )
    }
}

/// A Python object that decides which pages move.
#[derive(Clone, Debug)]
pub(crate) struct GuestPolicy(PyCallback);

impl GuestPolicy {
    /// Method that tells a policy from a controller.
    pub(crate) const METHOD: &str = "on_pages";

    /// Wraps an object with a method `on_pages`.
    ///
    /// # Errors
    /// Fails if the object has none.
    pub(crate) fn new(object: &Bound<'_, PyAny>, raised: &RaisedException) -> PyResult<Self> {
        Ok(Self(PyCallback::new(object, Self::METHOD, raised)?))
    }
}

/// Converts the answer of a policy: None, or pairs of a page and a node.
fn moves(answer: &Bound<'_, PyAny>, pages: usize) -> PyResult<Vec<PageMove>> {
    if answer.is_none() {
        return Ok(Vec::new());
    }
    let Ok(pairs) = answer.extract::<Vec<(i64, i64)>>() else {
        let message =
            format!("a tiering policy returned {}; it must return None or pairs (page, node)", answer.repr()?);
        return Err(PyTypeError::new_err(message));
    };
    let legal = |(page, node): (i64, i64)| {
        let page = u32::try_from(page).ok().filter(|&page| (page as usize) < pages);
        let node = u8::try_from(node).ok().filter(|&node| node <= 1);
        page.zip(node).map(|(page, node)| PageMove { page, node })
    };
    let wrong = |(page, node): (i64, i64)| {
        PyValueError::new_err(format!(
            "a tiering policy returned the move ({page}, {node}); pages are 0 to {}, nodes 0 and 1",
            pages - 1
        ))
    };
    pairs.into_iter().map(|pair| legal(pair).ok_or_else(|| wrong(pair))).collect()
}

impl TieringPolicy for GuestPolicy {
    fn decide(&mut self, view: &TieringView) -> Vec<PageMove> {
        let count = view.pages.len();
        self.0.ask(PyPages::of(view), Vec::new(), |answer| moves(answer, count))
    }

    fn state(&self) -> Option<Vec<u8>> {
        self.0.state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.0.restore(state)
    }
}
