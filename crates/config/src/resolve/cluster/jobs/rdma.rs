//! Jobs whose messages use RoCE.

use crate::code::Code;
use crate::error::Issue;
use crate::units::shorten;
use hostnet_params::JobSpec;

/// Checks that a job with RoCE as its `transport` has no key that RoCE does not use.
pub(super) fn check(path: &str, spec: &JobSpec) -> Result<(), Issue> {
    let transport = format!("{path}.transport");
    let named = shorten(spec.transport.as_deref().unwrap_or_default());
    let refused = |code: Code, key: &str, message: String| {
        Err(Issue::between(code, &[&format!("{path}.{key}"), &transport], message))
    };
    if spec.socket_rate.is_some() {
        return refused(
            Code::NoEffect,
            "socket_rate",
            format!("has no effect over RoCE ({named}): no core copies what NICs write"),
        );
    }
    if spec.compress == Some(true) {
        let message = format!("{named} is RoCE; engines of NICs know packets of TCP only, such as those of \"dctcp\"");
        return refused(Code::NotSupported, "compress", message);
    }
    Ok(())
}
