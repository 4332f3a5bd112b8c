//! Frequency governors written in Python.

use crate::guest::{PyCallback, RaisedException};
use hostnet_model::power::{Governor, Look};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

const KHZ_PER_GHZ: f64 = 1e6;
/// Utilisation, in the units of the scheduler, of a core that is always busy at the highest frequency.
const CAPACITY: f64 = 1024.0;
/// Tolerance for rounding when a frequency is converted, in kHz.
const ROUNDING_KHZ: f64 = 1e-3;

/// Load of one core: shares of the window, and its utilisation; all 0 to 1.
#[derive(Clone, Copy, Debug)]
struct Core {
    busy: f64,
    waiting: f64,
    util: f64,
}

/// Loads of the cores of a frequency domain, as passed to a governor.
#[pyclass(module = "hostnet._core", name = "Look", frozen)]
pub(crate) struct PyLook {
    now_ps: u64,
    window_ps: u64,
    domain: usize,
    at: usize,
    khz: Vec<u32>,
    cores: Vec<Core>,
}

impl PyLook {
    fn of(look: &Look) -> Self {
        let share = |ps: u64| ps.min(look.window_ps) as f64 / look.window_ps.max(1) as f64;
        let cores = look.loads.iter().map(|load| Core {
            busy: share(load.busy_ps),
            waiting: share(load.waiting_ps),
            util: load.util as f64 / CAPACITY,
        });
        Self {
            now_ps: look.now_ps,
            window_ps: look.window_ps,
            domain: look.domain,
            at: look.at,
            khz: look.pstates.iter().map(|state| state.khz).collect(),
            cores: cores.collect(),
        }
    }
}

#[pymethods]
impl PyLook {
    /// Simulated time, in ns.
    #[getter]
    fn time_ns(&self) -> f64 {
        self.now_ps as f64 / 1000.0
    }

    /// Time since the previous call of the governor, in ns.
    #[getter]
    fn window_ns(&self) -> f64 {
        self.window_ps as f64 / 1000.0
    }

    /// Number of the frequency domain, from 0.
    #[getter]
    fn domain(&self) -> usize {
        self.domain
    }

    /// Index in `ghz` of the P-state that was set last.
    #[getter]
    fn pstate(&self) -> usize {
        self.at
    }

    /// Frequencies of all P-states in GHz, the slowest first.
    #[getter]
    fn ghz(&self) -> Vec<f64> {
        self.khz.iter().map(|&khz| f64::from(khz) / KHZ_PER_GHZ).collect()
    }

    /// Share of the window in which each core of the domain was busy, 0 to 1.
    #[getter]
    fn busy(&self) -> Vec<f64> {
        self.cores.iter().map(|core| core.busy).collect()
    }

    /// Share of the window in which each core of the domain was idle while waiting for storage, 0 to 1.
    #[getter]
    fn waiting(&self) -> Vec<f64> {
        self.cores.iter().map(|core| core.waiting).collect()
    }

    /// Utilisation of each core of the domain as tracked by the scheduler, 0 to 1 (always busy at the highest
    /// frequency).
    #[getter]
    fn util(&self) -> Vec<f64> {
        self.cores.iter().map(|core| core.util).collect()
    }

    /// Returns the index of the slowest P-state of at least `ghz` GHz, compared in whole kHz, or else that of the
    /// fastest.
    fn at_least(&self, ghz: f64) -> PyResult<usize> {
        if ghz.is_nan() {
            return Err(PyValueError::new_err("at_least: the frequency is not a number"));
        }
        let wanted_khz = (ghz * KHZ_PER_GHZ + ROUNDING_KHZ).floor();
        let found = self.khz.iter().position(|&khz| f64::from(khz) >= wanted_khz);
        Ok(found.unwrap_or(self.khz.len() - 1))
    }

    fn __repr__(&self) -> String {
        format!(
            "Look(time_ns={}, window_ns={}, domain={}, pstate={}, busy={:?}, waiting={:?}, util={:?})",
            self.time_ns(),
            self.window_ns(),
            self.domain,
            self.at,
            self.busy(),
            self.waiting(),
            self.util()
        )
    }
}

/// A Python object that chooses frequencies; all frequency domains of a host share it.
#[derive(Clone, Debug)]
pub(crate) struct GuestGovernor(PyCallback);

impl GuestGovernor {
    /// Wraps a governor: an object with a method `decide`, or a function.
    ///
    /// # Errors
    /// Fails if the object is neither.
    pub(crate) fn new(object: &Bound<'_, PyAny>, raised: &RaisedException) -> PyResult<Self> {
        PyCallback::new(object, "decide", raised).map(Self)
    }
}

/// Converts the answer of a governor: the index of one of `count` P-states, or None for the current one, `at`.
fn pstate(answer: &Bound<'_, PyAny>, at: usize, count: usize) -> PyResult<usize> {
    if answer.is_none() {
        return Ok(at);
    }
    let last = count - 1;
    // `True` and `False` are integers in Python, but no places in a list.
    let whole = if answer.is_instance_of::<PyBool>() { None } else { answer.extract::<i128>().ok() };
    let Some(place) = whole else {
        let message = format!(
            "a governor returned {}; it must return None or the index of a P-state, 0 to {last}, such as \
             look.at_least(2.4) for one of at least 2.4 GHz",
            answer.repr()?
        );
        return Err(PyTypeError::new_err(message));
    };
    let legal = usize::try_from(place).ok().filter(|&place| place < count);
    legal.ok_or_else(|| PyValueError::new_err(format!("a governor returned P-state {place}; it must be 0 to {last}")))
}

impl Governor for GuestGovernor {
    fn decide(&mut self, look: &Look) -> usize {
        self.0.ask(PyLook::of(look), look.at, |answer| pstate(answer, look.at, look.pstates.len()))
    }

    fn state(&self) -> Option<Vec<u8>> {
        self.0.state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.0.restore(state)
    }
}
