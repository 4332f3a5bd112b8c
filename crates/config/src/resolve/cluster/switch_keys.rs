//! Locates the values of a switch in the document.

use hostnet_params::SwitchSpec;

/// A switch, as messages name it.
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    pub(super) own: &'a SwitchSpec,
    /// Name and specification of the group of similar switches that this switch belongs to.
    pub(super) kind: Option<(&'a str, &'a SwitchSpec)>,
}

impl Place<'_> {
    /// Returns the path of a value of the switch: in its own table, in that of its group, or in `network.switch`.
    pub(super) fn origin(&self, key: &str) -> String {
        match self.kind {
            _ if gives(self.own, key) => format!("switch.{}.{key}", self.name),
            Some((kind, spec)) if gives(spec, key) => format!("switch.{kind}.{key}"),
            _ => format!("network.switch.{key}"),
        }
    }
}

/// Returns true if a key of a switch is given.
pub(super) fn gives(spec: &SwitchSpec, key: &str) -> bool {
    let keys = [
        ("kind", spec.kind.is_some()),
        ("buffer", spec.buffer.is_some()),
        ("alpha", spec.alpha.is_some()),
        ("latency", spec.latency.is_some()),
        ("ecn", spec.ecn.is_some()),
        ("pfc", spec.pfc.is_some()),
        ("table", spec.table.is_some()),
        ("ttl", spec.ttl.is_some()),
        ("fabric", spec.fabric.is_some()),
        ("delay", spec.delay.is_some()),
        ("jitter", spec.jitter.is_some()),
        ("sum", spec.sum.is_some()),
        ("sharers", spec.sharers.is_some()),
        ("energy", spec.energy.is_some()),
    ];
    keys.contains(&(key, true))
}
