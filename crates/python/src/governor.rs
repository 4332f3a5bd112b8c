//! Governors of frequencies written in Python.

use crate::guest::{PyCallback, Raised};
use hostnet_model::power::{Governor, Look};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

const KHZ_PER_GHZ: f64 = 1e6;
/// The utilisation of a core that always works at the highest frequency.
const CAPACITY: f64 = 1024.0;
/// What the conversion of a frequency may be off by, in kHz.
const ROUNDING_KHZ: f64 = 1e-3;

/// What a core has done: shares of the window, and its utilisation, 0 to 1.
#[derive(Clone, Copy, Debug)]
struct Core {
    busy: f64,
    waiting: f64,
    util: f64,
}

/// What a governor is shown.
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
    /// Simulated time in ns.
    #[getter]
    fn time_ns(&self) -> f64 {
        self.now_ps as f64 / 1000.0
    }

    /// Time since the last look in ns.
    #[getter]
    fn window_ns(&self) -> f64 {
        self.window_ps as f64 / 1000.0
    }

    /// Which frequency domain this is, from 0 on.
    #[getter]
    fn domain(&self) -> usize {
        self.domain
    }

    /// The P-state that was set last, by its place in `ghz`.
    #[getter]
    fn pstate(&self) -> usize {
        self.at
    }

    /// The frequencies of all P-states, from the slowest.
    #[getter]
    fn ghz(&self) -> Vec<f64> {
        self.khz.iter().map(|&khz| f64::from(khz) / KHZ_PER_GHZ).collect()
    }

    /// Of each core of the domain the share of the window in which it was not idle.
    #[getter]
    fn busy(&self) -> Vec<f64> {
        self.cores.iter().map(|core| core.busy).collect()
    }

    /// Of each core of the domain the share in which it was idle while storage was waited for.
    #[getter]
    fn waiting(&self) -> Vec<f64> {
        self.cores.iter().map(|core| core.waiting).collect()
    }

    /// Of each core of the domain the utilisation as the scheduler tracks it, 0 to 1 at the highest frequency.
    #[getter]
    fn util(&self) -> Vec<f64> {
        self.cores.iter().map(|core| core.util).collect()
    }

    /// The place of the slowest P-state of at least this frequency, in whole kHz; else of the fastest.
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

/// A Python object that decides on frequencies; all domains of a host ask the same.
#[derive(Clone, Debug)]
pub(crate) struct GuestGovernor(PyCallback);

impl GuestGovernor {
    /// A governor: an object with a method `decide`, or a function.
    ///
    /// # Errors
    /// If it is neither.
    pub(crate) fn new(object: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Self> {
        PyCallback::new(object, "decide", raised).map(Self)
    }
}

/// What a governor answered: the place of a P-state among `count`, or None for `at`.
fn pstate(answer: &Bound<'_, PyAny>, at: usize, count: usize) -> PyResult<usize> {
    if answer.is_none() {
        return Ok(at);
    }
    let last = count - 1;
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
