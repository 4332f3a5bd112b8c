//! Workloads of kind "dma".

use super::cores::Cores;
use super::{ResolveWorkload, WorkloadScope};
use crate::code::Code;
use crate::error::Issue;
use crate::resolve::app;
use crate::units::{format, Dimension};
use hostnet_params::{DmaLoadParams, DmaLoadSpec, WorkloadKind, BUFFER_ALIGNMENT};

impl ResolveWorkload for DmaLoadSpec {
    /// Claims no core, as the device works alone.
    fn claim(&self, _: &str, _: &mut Cores) -> Result<(), Issue> {
        Ok(())
    }

    fn resolve(&self, name: &str, scope: &mut WorkloadScope) -> Result<WorkloadKind, Issue> {
        if self.warm && !scope.spec.cache.enabled {
            return Err(app::needs_caches(&format!("workload.{name}.warm"), "a window that the LLC holds"));
        }
        let (size, window) = (self.size.0, self.window.0);
        if window < size {
            let shown = |bytes: u64| format(bytes, Dimension::Size);
            let path = |key: &str| format!("workload.{name}.{key}");
            let message = format!("{} is less than size = {}", shown(window), shown(size));
            return Err(Issue::between(Code::WrongOrder, &[&path("window"), &path("size")], message));
        }
        Ok(WorkloadKind::Dma(DmaLoadParams {
            operation: self.operation,
            size_bytes: size,
            window_bytes: window / size * size,
            pattern: self.pattern,
            outstanding: self.outstanding,
            warm: self.warm,
        }))
    }
}

/// Returns the bytes of the window.
pub(super) fn bytes(dma: &DmaLoadParams) -> u128 {
    dma.window_bytes.next_multiple_of(BUFFER_ALIGNMENT).into()
}
