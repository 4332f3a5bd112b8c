//! Error feedback.

use crate::codec::Codec;

/// Adds to each gradient what rounding took from the one before, so that small gradients are late instead of lost.
#[derive(Clone, Debug)]
pub struct ErrorFeedback {
    codec: Codec,
    residual: Vec<f32>,
    corrected: Vec<f32>,
}

impl ErrorFeedback {
    /// For gradients of `floats` floats, with nothing taken yet.
    #[must_use]
    pub fn new(codec: Codec, floats: usize) -> Self {
        Self { codec, residual: vec![0.0; floats], corrected: Vec::new() }
    }

    /// What rounding has taken from each float and not yet given back. Below the bound where the mode keeps it.
    #[must_use]
    pub fn residual(&self) -> &[f32] {
        &self.residual
    }

    /// The stream of the gradient and what was left of those before it. `None` if it has another length than they.
    ///
    /// A sum that is not finite is sent as it is, and nothing of it is kept.
    pub fn compress(&mut self, gradient: &[f32]) -> Option<Vec<u8>> {
        if gradient.len() != self.residual.len() {
            return None;
        }
        self.corrected.clear();
        self.corrected.extend(gradient.iter().zip(&self.residual).map(|(value, residual)| value + residual));
        for (residual, &value) in self.residual.iter_mut().zip(&self.corrected) {
            *residual = if value.is_finite() { value - self.codec.round(value) } else { 0.0 };
        }
        Some(self.codec.compress(&self.corrected))
    }
}
