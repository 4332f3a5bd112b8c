//! Host congestion controllers written in Python.

use crate::guest::{PyCallback, RaisedException};
use hostnet_model::control::{Actions, Controller, Sampled, Signals, Smoothing, Targets, LEVEL_MAX};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Fractions per line in which the model counts occupancy.
const LINE_PARTS: f64 = 1024.0;
/// Gbit/s per byte per second.
const GBPS: f64 = 8e-9;
/// Largest exponent of a smoothing weight.
const SHIFT_MAX: u32 = 16;

/// Congestion signals of a host, as passed to a controller.
#[pyclass(module = "hostnet._core", name = "Signals", frozen)]
pub(crate) struct PySignals(Signals);

#[pymethods]
impl PySignals {
    /// Simulated time, in ns.
    #[getter]
    fn time_ns(&self) -> f64 {
        self.0.now_ps as f64 / 1000.0
    }

    /// Signal that was just sampled: "occupancy" or "bandwidth".
    #[getter]
    fn sampled(&self) -> &'static str {
        match self.0.sampled {
            Sampled::Occupancy => "occupancy",
            Sampled::Bandwidth => "bandwidth",
        }
    }

    /// Mean number of lines in the IIO between the last two reads of its register (I_S).
    #[getter]
    fn occupancy(&self) -> f64 {
        self.0.occupancy as f64 / LINE_PARTS
    }

    /// Smoothed `occupancy`, in lines.
    #[getter]
    fn occupancy_smoothed(&self) -> f64 {
        self.0.occupancy_smoothed as f64 / LINE_PARTS
    }

    /// Bandwidth into the IIO between the last two reads of its register (B_S), in Gbit/s.
    #[getter]
    fn bandwidth_gbps(&self) -> f64 {
        self.0.bandwidth as f64 * GBPS
    }

    /// Smoothed `bandwidth_gbps`, in Gbit/s.
    #[getter]
    fn bandwidth_smoothed_gbps(&self) -> f64 {
        self.0.bandwidth_smoothed as f64 * GBPS
    }

    /// Current throttling level, 0 to 4.
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

/// A Python object that reacts to host congestion.
#[derive(Clone, Debug)]
pub(crate) struct GuestController {
    guest: PyCallback,
    smoothing: Smoothing,
    targets: Option<Targets>,
}

impl GuestController {
    /// Wraps a controller: an object with a method `on_sample`, or a function.
    ///
    /// # Errors
    /// Fails if the object is neither, or if its smoothing or its targets are out of range.
    pub(crate) fn new(object: &Bound<'_, PyAny>, raised: &RaisedException) -> PyResult<Self> {
        let guest = PyCallback::new(object, "on_sample", raised)?;
        Ok(Self { guest, smoothing: smoothing(object)?, targets: targets(object)? })
    }
}

/// Returns the smoothing that an object sets by its attributes.
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

/// Returns the targets that an object sets by its attributes, if it sets both.
fn targets(object: &Bound<'_, PyAny>) -> PyResult<Option<Targets>> {
    let number = |name: &str| -> PyResult<Option<f64>> {
        let Some(value) = object.getattr_opt(name)? else { return Ok(None) };
        let number = value.extract::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
        number.map(Some).ok_or_else(|| PyValueError::new_err(format!("{name}: {value} must be a number from 0 on")))
    };
    let (occupancy, bandwidth) = (number("occupancy_target")?, number("bandwidth_target_gbps")?);
    // The four regimes need both targets.
    Ok(occupancy.zip(bandwidth).map(|(occupancy, bandwidth)| Targets {
        occupancy: (occupancy * LINE_PARTS).round() as u64,
        bandwidth: (bandwidth / GBPS).round() as u64,
    }))
}

/// Converts the answer of a controller: None, or a level and a flag that packets are marked, each of which may be
/// None.
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

impl Controller for GuestController {
    fn on_sample(&mut self, signals: &Signals) -> Actions {
        self.guest.ask(PySignals(*signals), Actions::default(), actions)
    }

    fn smoothing(&self) -> Smoothing {
        self.smoothing
    }

    fn targets(&self) -> Option<Targets> {
        self.targets
    }

    fn state(&self) -> Option<Vec<u8>> {
        self.guest.state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.guest.restore(state)
    }
}
