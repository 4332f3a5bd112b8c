//! Jobs whose messages go over RoCE.

use crate::error::Issue;
use crate::resolve::cluster::hosts::Hosts;
use crate::spec::JobSpec;
use crate::units::shorten;

/// Checks that a job has nothing that RoCE, which it names as `transport`, has no use for. Ranks are at endpoints then.
pub(super) fn check(path: &str, spec: &JobSpec, placed: &[u16], hosts: &Hosts) -> Result<(), Issue> {
    let transport = format!("{path}.transport");
    let named = shorten(spec.transport.as_deref().unwrap_or_default());
    let refused = |key: &str, message: String| Err(Issue::between(&[&format!("{path}.{key}"), &transport], message));
    if spec.socket_rate.is_some() {
        return refused("socket_rate", format!("has no effect over RoCE ({named}): no core copies what NICs write"));
    }
    if spec.compress == Some(true) {
        let message = format!("{named} is RoCE; engines of NICs know packets of TCP only, such as those of \"dctcp\"");
        return refused("compress", message);
    }
    if let Some(&host) = placed.iter().find(|&&host| hosts.resolved(host.into()).is_some()) {
        let name = shorten(&hosts.hosts[usize::from(host)].name);
        let message =
            format!("{named} is RoCE, and {name} is a server; ranks at servers send over TCP, such as \"dctcp\"");
        return refused("hosts", message);
    }
    Ok(())
}
