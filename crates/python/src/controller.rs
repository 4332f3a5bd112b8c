//! Controllers written in Python.

use hostnet_model::control::{Actions, Controller, Sampled, Signals, Smoothing, Targets, LEVEL_MAX};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// Parts of a line in which controllers count occupancy.
const LINE_PARTS: f64 = 1024.0;
/// Gbit/s of a byte per second.
const GBPS: f64 = 8e-9;
/// The largest exponent of a weight.
const SHIFT_MAX: u32 = 16;

/// What a controller is shown.
#[pyclass(module = "hostnet._core", name = "Signals", frozen)]
pub(crate) struct PySignals(Signals);

#[pymethods]
impl PySignals {
    /// Simulated time in ns.
    #[getter]
    fn time_ns(&self) -> f64 {
        self.0.now_ps as f64 / 1000.0
    }

    /// What is new: "occupancy" or "bandwidth".
    #[getter]
    fn sampled(&self) -> &'static str {
        match self.0.sampled {
            Sampled::Occupancy => "occupancy",
            Sampled::Bandwidth => "bandwidth",
        }
    }

    /// Mean lines in the IIO between the last two reads of its register (I_S).
    #[getter]
    fn occupancy(&self) -> f64 {
        self.0.occupancy as f64 / LINE_PARTS
    }

    /// The same, smoothed.
    #[getter]
    fn occupancy_smoothed(&self) -> f64 {
        self.0.occupancy_smoothed as f64 / LINE_PARTS
    }

    /// Gbit/s that entered the IIO between the last two reads of its register (B_S).
    #[getter]
    fn bandwidth_gbps(&self) -> f64 {
        self.0.bandwidth as f64 * GBPS
    }

    /// The same, smoothed.
    #[getter]
    fn bandwidth_smoothed_gbps(&self) -> f64 {
        self.0.bandwidth_smoothed as f64 * GBPS
    }

    /// The level, 0 to 4.
    #[getter]
    fn level(&self) -> u8 {
        self.0.level
    }

    fn __repr__(&self) -> String {
        format!(
            "Signals(time_ns={}, sampled={:?}, occupancy_smoothed={}, bandwidth_smoothed_gbps={}, level={})",
            self.time_ns(),
            self.sampled(),
            self.occupancy_smoothed(),
            self.bandwidth_smoothed_gbps(),
            self.level()
        )
    }
}

/// The first exception that a controller of a run raised.
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

/// A Python object that decides what is done about host congestion.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    /// What is called for every sample.
    call: Arc<Py<PyAny>>,
    object: Arc<Py<PyAny>>,
    smoothing: Smoothing,
    targets: Option<Targets>,
    keeps_state: bool,
    raised: Raised,
}

impl Guest {
    /// A controller: an object with a method `on_sample`, or a function.
    ///
    /// # Errors
    /// If it is neither, or what it says about its samples is no legal value.
    pub(crate) fn new(object: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Self> {
        let call = match object.getattr_opt("on_sample")? {
            Some(method) => method,
            None => object.clone(),
        };
        if !call.is_callable() {
            let kind = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{kind} is neither a function nor has it a method on_sample")));
        }
        Ok(Self {
            call: Arc::new(call.unbind()),
            smoothing: smoothing(object)?,
            targets: targets(object)?,
            keeps_state: object.hasattr("state")? && object.hasattr("restore")?,
            object: Arc::new(object.clone().unbind()),
            raised: raised.clone(),
        })
    }

    fn ask(&self, signals: Signals) -> PyResult<Actions> {
        Python::attach(|py| {
            let answer = self.call.bind(py).call1((PySignals(signals),))?;
            actions(&answer)
        })
    }
}

/// The smoothing that an object asks for by its attributes.
fn smoothing(object: &Bound<'_, PyAny>) -> PyResult<Smoothing> {
    let mut smoothing = Smoothing::default();
    for (name, shift) in
        [("occupancy_shift", &mut smoothing.occupancy_shift), ("bandwidth_shift", &mut smoothing.bandwidth_shift)]
    {
        if let Some(value) = object.getattr_opt(name)? {
            *shift = value.extract::<u32>().ok().filter(|&shift| shift <= SHIFT_MAX).ok_or_else(|| {
                PyValueError::new_err(format!("{name}: {value} must be a whole number from 0 to {SHIFT_MAX}"))
            })?;
        }
    }
    Ok(smoothing)
}

/// The targets that an object names by its attributes.
fn targets(object: &Bound<'_, PyAny>) -> PyResult<Option<Targets>> {
    let number = |name: &str| -> PyResult<Option<f64>> {
        let Some(value) = object.getattr_opt(name)? else { return Ok(None) };
        let number = value.extract::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
        number.map(Some).ok_or_else(|| PyValueError::new_err(format!("{name}: {value} must be a number from 0 on")))
    };
    let (occupancy, bandwidth) = (number("occupancy_target")?, number("bandwidth_target_gbps")?);
    Ok(occupancy.zip(bandwidth).map(|(occupancy, bandwidth)| Targets {
        occupancy: (occupancy * LINE_PARTS).round() as u64,
        bandwidth: (bandwidth / GBPS).round() as u64,
    }))
}

/// What a controller answered: None, or a level and whether packets are marked, each of which may be None.
fn actions(answer: &Bound<'_, PyAny>) -> PyResult<Actions> {
    if answer.is_none() {
        return Ok(Actions::default());
    }
    let Ok((level, echo)) = answer.extract::<(Option<i64>, Option<bool>)>() else {
        let message = format!("a controller returned {}; it must return None or Actions(level, echo)", answer.repr()?);
        return Err(PyTypeError::new_err(message));
    };
    let level = level.map(|level| {
        let legal = u8::try_from(level).ok().filter(|&level| level <= LEVEL_MAX);
        legal.ok_or_else(|| {
            PyValueError::new_err(format!("a controller returned level {level}; it must be 0 to {LEVEL_MAX}"))
        })
    });
    Ok(Actions { level: level.transpose()?, echo })
}

impl Controller for Guest {
    fn on_sample(&mut self, signals: &Signals) -> Actions {
        // After an exception the run ends at its next stop; what happens until then is not told to anybody.
        if self.raised.any() {
            return Actions::default();
        }
        self.ask(*signals).unwrap_or_else(|error| {
            self.raised.keep(error);
            Actions::default()
        })
    }

    fn smoothing(&self) -> Smoothing {
        self.smoothing
    }

    fn targets(&self) -> Option<Targets> {
        self.targets
    }

    fn state(&self) -> Option<Vec<u8>> {
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

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        if !self.keeps_state {
            return Err("has no state() and restore(), so that it cannot be continued".to_owned());
        }
        Python::attach(|py| {
            let restored = self.object.bind(py).call_method1("restore", (PyBytes::new(py, state),));
            restored.map(drop).map_err(|error: PyErr| error.to_string())
        })
    }
}
