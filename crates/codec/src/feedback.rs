//! Error feedback.

use crate::codec::Codec;

/// Error feedback: adds the rounding error of each gradient to the next one, so that small gradients are delayed and
/// not lost.
#[derive(Clone, Debug)]
pub struct ErrorFeedback {
    codec: Codec,
    residual: Vec<f32>,
    corrected: Vec<f32>,
}

impl ErrorFeedback {
    /// Creates the feedback for gradients of `floats` floats, with residuals of 0.
    #[must_use]
    pub fn new(codec: Codec, floats: usize) -> Self {
        Self { codec, residual: vec![0.0; floats], corrected: Vec::new() }
    }

    /// Returns the accumulated rounding error of each float. It is below the bound in the modes that keep the bound.
    #[must_use]
    pub fn residual(&self) -> &[f32] {
        &self.residual
    }

    /// Adds the residual of the previous gradients to `gradient`, compresses the sum to a stream, and keeps the new
    /// residual. Returns `None` if `gradient` does not have the length given to [`ErrorFeedback::new`].
    ///
    /// A sum that is not finite is encoded as it is, and its residual is 0.
    pub fn compress(&mut self, gradient: &[f32]) -> Option<Vec<u8>> {
        if gradient.len() != self.residual.len() {
            return None;
        }
        self.corrected.clear();
        self.corrected.extend(gradient.iter().zip(&self.residual).map(|(value, residual)| value + residual));
        for (residual, &value) in self.residual.iter_mut().zip(&self.corrected) {
            // inf - inf would be NaN and would stay in the residual for ever.
            *residual = if value.is_finite() { value - self.codec.round(value) } else { 0.0 };
        }
        Some(self.codec.compress(&self.corrected))
    }
}
