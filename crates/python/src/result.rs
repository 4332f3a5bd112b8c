//! Results of runs as Python objects.

use crate::parquet;
use hostnet_sim::{Cell, ColumnKind, FinishedRun, Table, Units};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use pyo3::IntoPyObjectExt;

/// Result of a run.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct RunResult {
    finished: FinishedRun,
    checkpoint: Option<Vec<u8>>,
    units: Option<Vec<Units>>,
    trace: Option<Vec<u8>>,
}

impl RunResult {
    pub(crate) fn new(finished: FinishedRun, checkpoint: Option<Vec<u8>>, units: Option<Vec<Units>>) -> Self {
        Self { finished, checkpoint, units, trace: None }
    }

    /// Adds a trace, as the bytes of a file.
    pub(crate) fn with_trace(self, trace: Option<Vec<u8>>) -> Self {
        Self { trace, ..self }
    }

    fn find(&self, name: &str) -> PyResult<&Table> {
        let epochs = Some(&self.finished.epochs).filter(|table| table.name == name);
        self.finished.report.table(name).or(epochs).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

#[pymethods]
impl RunResult {
    /// The summary as JSON.
    #[getter]
    fn summary_json(&self) -> String {
        format!("{:#}", self.finished.report.summary)
    }

    /// True if the run reached its planned end.
    #[getter]
    fn complete(&self) -> bool {
        self.finished.complete
    }

    /// Number of events handled.
    #[getter]
    fn events(&self) -> u64 {
        self.finished.events
    }

    /// Simulated time, in ps.
    #[getter]
    fn simulated_ps(&self) -> u64 {
        self.finished.simulated_ps
    }

    /// Largest number of events pending at the same time.
    #[getter]
    fn pending_max(&self) -> usize {
        self.finished.pending_max
    }

    /// Hash of summary and tables.
    #[getter]
    fn result_hash(&self) -> &str {
        &self.finished.report.result_hash
    }

    /// Checkpoint at the requested time, or None if the run did not get that far.
    #[getter]
    fn checkpoint<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.checkpoint.as_deref().map(|bytes| PyBytes::new(py, bytes))
    }

    /// Counts of every counting unit at the end of each interval since the start of the window, as JSON, or None if
    /// they were not requested.
    #[getter]
    fn units_json(&self) -> PyResult<Option<String>> {
        let json = self.units.as_ref().map(serde_json::to_string).transpose();
        json.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Trace as a file for the Perfetto UI, or None if it was not requested or the run did not get that far.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.trace.as_deref().map(|bytes| PyBytes::new(py, bytes))
    }

    /// Names of the tables that belong to the results.
    #[getter]
    fn table_names(&self) -> Vec<&str> {
        self.finished.report.tables.iter().map(|table| table.name).collect()
    }

    /// Returns the columns of a table by name, each as a list.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let table = self.find(name)?;
        let columns = PyDict::new(py);
        for (index, (column, _)) in table.columns.iter().enumerate() {
            let cells = table.rows.iter().map(|row| cell(py, &row[index])).collect::<PyResult<Vec<_>>>()?;
            columns.set_item(column, PyList::new(py, cells)?)?;
        }
        Ok(columns)
    }

    /// Returns the Arrow types of the columns of a table by name.
    fn column_types<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let types = PyDict::new(py);
        for (column, kind) in &self.find(name)?.columns {
            types.set_item(column, arrow_type(*kind))?;
        }
        Ok(types)
    }

    /// Returns a table as the bytes of a Parquet file.
    fn parquet<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &parquet::bytes_of(self.find(name)?)?))
    }

    fn __repr__(&self) -> String {
        format!("<RunResult {}>", self.finished.report.result_hash)
    }
}

/// Describes each table of a run by its name: `keys` are the columns that identify a row, `given` those that repeat
/// the configuration, and `results` is True if runs are compared by the table.
#[pyfunction]
pub(crate) fn table_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for info in hostnet_sim::table_info() {
        let entry = PyDict::new(py);
        entry.set_item("keys", info.keys)?;
        entry.set_item("given", info.given)?;
        entry.set_item("results", info.holds.results())?;
        tables.set_item(info.name, entry)?;
    }
    Ok(tables)
}

fn cell<'py>(py: Python<'py>, cell: &Cell) -> PyResult<Bound<'py, PyAny>> {
    match cell {
        Cell::Text(text) => text.into_bound_py_any(py),
        Cell::Integer(number) => number.into_bound_py_any(py),
        Cell::Number(number) => number.into_bound_py_any(py),
        Cell::Empty => Ok(py.None().into_bound(py)),
    }
}

fn arrow_type(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "string",
        ColumnKind::Integer => "int64",
        ColumnKind::Number => "float64",
    }
}
