//! Instructions of this processor.

use pyo3::prelude::*;

/// Returns the instruction sets that compiled Python packages may use and this processor lacks. hostnet needs none of
/// them.
#[pyfunction]
pub(crate) fn missing_instructions() -> Vec<&'static str> {
    let present = present();
    present.iter().filter(|(_, present)| !present).map(|(name, _)| *name).collect()
}

#[cfg(target_arch = "x86_64")]
fn present() -> [(&'static str, bool); 3] {
    [
        ("SSE4.2", is_x86_feature_detected!("sse4.2")),
        ("AVX", is_x86_feature_detected!("avx")),
        ("AVX2", is_x86_feature_detected!("avx2")),
    ]
}

/// Packages for other architectures use only what all of their processors have.
#[cfg(not(target_arch = "x86_64"))]
fn present() -> [(&'static str, bool); 0] {
    []
}
