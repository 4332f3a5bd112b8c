//! The gradient codec, for any buffer of floats.

use crate::errors::config_error;
use hostnet_codec::{
    BoundError, Codec, ErrorFeedback, Header, Mode, Sizes, StreamError, GROUP, GROUP_BYTES_MAX, HEADER_BYTES,
};
use hostnet_config::Code;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PySlice};

/// Number of floats copied out of a buffer at a time. Copying needs the GIL, the codec works without it.
const PART: usize = (1 << 20) / GROUP * GROUP;

fn codec_of(bound: i64, mode: &str) -> PyResult<Codec> {
    let mode = Mode::named(mode).ok_or_else(|| {
        let known = Mode::ALL.map(Mode::name).join(", ");
        config_error(Code::UnknownName, format!("mode {mode:?}: must be one of {known}"))
    })?;
    Codec::new(mode, bound).map_err(|error: BoundError| config_error(Code::OutOfRange, error))
}

/// Calls `work` for each part of a sequence of floats, with the buffer of the part and scratch space of the same
/// length.
fn for_parts(
    values: &Bound<'_, PyAny>,
    mut work: impl FnMut(PyBuffer<f32>, &mut [f32]) -> PyResult<()>,
) -> PyResult<()> {
    let (py, floats) = (values.py(), values.len()?);
    let mut space = vec![0.0; PART.min(floats)];
    for from in (0..floats).step_by(PART) {
        let part = &mut space[..PART.min(floats - from)];
        work(PyBuffer::get(&slice(values, from, part.len())?)?, part)?;
        // An interrupt takes effect between two parts.
        py.check_signals()?;
    }
    Ok(())
}

/// Returns the largest size in bytes of a stream of so many floats.
#[pyfunction]
pub(crate) fn codec_bytes_max(floats: usize) -> usize {
    HEADER_BYTES + floats.div_ceil(GROUP).saturating_mul(GROUP_BYTES_MAX)
}

/// Compresses a buffer of floats into the buffer `out` and returns the length of the stream in bytes.
///
/// `bound` is the exponent k of the error bound 2^-k. `out` must have at least `codec_bytes_max(len(values))` bytes.
#[pyfunction]
pub(crate) fn codec_compress(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    bound: i64,
    mode: &str,
) -> PyResult<usize> {
    let codec = codec_of(bound, mode)?;
    let (floats, room) = (values.len()?, out.len()?);
    if room < codec_bytes_max(floats) {
        let rule = format!("must have {}, the most of {floats} floats", codec_bytes_max(floats));
        return Err(config_error(Code::WrongCount, format!("out: {room} bytes; {rule}")));
    }
    let (mut at, mut stream) = (0, Header { codec, floats: floats as u64 }.to_bytes().to_vec());
    let mut put = |stream: &mut Vec<u8>| {
        let part = slice(out, at, stream.len())?;
        PyBuffer::get(&part)?.copy_from_slice(py, stream)?;
        at += stream.len();
        stream.clear();
        PyResult::Ok(())
    };
    put(&mut stream)?;
    for_parts(values, |from, part| {
        from.copy_to_slice(py, part)?;
        py.detach(|| codec.encode(part, &mut stream));
        put(&mut stream)
    })?;
    Ok(at)
}

/// Returns `length` elements of a sequence from index `from` on.
fn slice<'py>(sequence: &Bound<'py, PyAny>, from: usize, length: usize) -> PyResult<Bound<'py, PyAny>> {
    sequence.get_item(PySlice::new(sequence.py(), from as isize, (from + length) as isize, 1))
}

/// Decompresses a stream into `out`, a buffer with as many floats as the stream.
#[pyfunction]
pub(crate) fn codec_decompress(py: Python<'_>, stream: PyBackedBytes, out: &Bound<'_, PyAny>) -> PyResult<()> {
    let header = Header::read(&stream).map_err(refused)?;
    if out.len()? as u64 != header.floats {
        let rule = format!("must have the {} of the stream", header.floats);
        return Err(config_error(Code::WrongCount, format!("out: {} floats; {rule}", out.len()?)));
    }
    let mut decoder = header.decoder(&stream);
    // Without a part, nothing would check the end of the stream.
    if header.floats == 0 {
        return decoder.fill(&mut []).map_err(refused);
    }
    for_parts(out, |to, part| {
        py.detach(|| decoder.fill(part)).map_err(refused)?;
        to.copy_from_slice(py, part)
    })
}

fn refused(error: StreamError) -> PyErr {
    config_error(Code::MalformedFile, format!("stream: {error}"))
}

/// Returns the mode, the exponent k of the error bound 2^-k, and the number of floats of a stream.
#[pyfunction]
pub(crate) fn codec_header(stream: PyBackedBytes) -> PyResult<(&'static str, u32, u64)> {
    let header = Header::read(&stream).map_err(refused)?;
    Ok((header.codec.mode().name(), header.codec.bound_exponent(), header.floats))
}

/// Returns the number of floats that take 0, 8, 16 and 32 bits, and the size of their payload in bytes.
#[pyfunction]
pub(crate) fn codec_sizes(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    bound: i64,
    mode: &str,
) -> PyResult<([u64; 4], u64)> {
    let codec = codec_of(bound, mode)?;
    let mut sizes = Sizes::default();
    for_parts(values, |from, part| {
        from.copy_to_slice(py, part)?;
        sizes = sizes.plus(py.detach(|| codec.sizes(part)));
        Ok(())
    })?;
    Ok((sizes.classes, sizes.payload_bytes()))
}

/// Replaces the floats of a buffer by their decompressed values and returns the largest error.
#[pyfunction]
pub(crate) fn codec_round(py: Python<'_>, values: &Bound<'_, PyAny>, bound: i64, mode: &str) -> PyResult<f32> {
    let codec = codec_of(bound, mode)?;
    let mut worst = 0.0_f32;
    for_parts(values, |buffer, part| {
        buffer.copy_to_slice(py, part)?;
        worst = worst.max(py.detach(|| codec.roundtrip(part)));
        buffer.copy_from_slice(py, part)
    })?;
    Ok(worst)
}

/// Error feedback for the successive gradients of one buffer.
#[pyclass]
pub(crate) struct CodecFeedback(ErrorFeedback);

#[pymethods]
impl CodecFeedback {
    #[new]
    fn new(floats: usize, bound: i64, mode: &str) -> PyResult<Self> {
        Ok(Self(ErrorFeedback::new(codec_of(bound, mode)?, floats)))
    }

    /// Compresses a gradient plus the rounding errors of earlier gradients, and returns the stream.
    fn compress<'py>(&mut self, py: Python<'py>, gradient: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let gradient = PyBuffer::<f32>::get(gradient)?.to_vec(py)?;
        let stream = py.detach(|| self.0.compress(&gradient)).ok_or_else(|| {
            let (given, before) = (gradient.len(), self.0.residual().len());
            config_error(Code::WrongCount, format!("gradient: {given} floats; must be {before}, as before"))
        })?;
        Ok(PyBytes::new(py, &stream))
    }

    /// Returns the rounding errors that are not compensated yet, as native-endian floats of 32 bits.
    fn residual<'py>(&self, py: Python<'py>) -> Bound<'py, PyByteArray> {
        PyByteArray::new(py, bytemuck::cast_slice(self.0.residual()))
    }
}
