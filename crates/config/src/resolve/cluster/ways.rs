//! Explicit paths of flows.

use super::fabric::Fabric;
use super::host_names::HostNames;
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::units::shorten;
use hostnet_params::CableEnd;

/// Returns the switches of the path `via` of the flows at `path` between `pairs` of hosts.
pub(super) fn find_path(
    fabric: &Fabric,
    via: &[String],
    pairs: &[(usize, usize)],
    hosts: &HostNames,
    path: &str,
) -> Result<Vec<u16>, Issue> {
    let at = format!("{path}.via");
    let mut way = Vec::with_capacity(via.len());
    for name in via {
        let Some(switch) = fabric.switches.iter().position(|switch| switch.name == *name) else {
            let known = fabric.switches.iter().map(|switch| switch.name.as_str());
            let message = format!("there is no switch {}; {}", shorten(name), suggestion(name, known));
            return Err(Issue::new(Code::DoesNotExist, at, message));
        };
        if way.contains(&(switch as u16)) {
            return Err(Issue::new(Code::Duplicate, at, format!("{} stands twice", shorten(name))));
        }
        way.push(switch as u16);
    }
    let (Some(&first), Some(&last)) = (way.first(), way.last()) else { return Ok(way) };
    for pair in way.windows(2) {
        check_joined(fabric, [CableEnd::Switch(pair[0]), CableEnd::Switch(pair[1])], hosts, &at)?;
    }
    for &(from, to) in pairs {
        check_joined(fabric, [CableEnd::Host(from as u16), CableEnd::Switch(first)], hosts, &at)?;
        check_joined(fabric, [CableEnd::Switch(last), CableEnd::Host(to as u16)], hosts, &at)?;
    }
    Ok(way)
}

/// Checks that a cable connects two neighbours on a path.
fn check_joined(fabric: &Fabric, ends: [CableEnd; 2], hosts: &HostNames, at: &str) -> Result<(), Issue> {
    let [one, other] = ends;
    if fabric.cables.iter().any(|cable| cable.ends == [one, other] || cable.ends == [other, one]) {
        return Ok(());
    }
    let name = |end: CableEnd| match end {
        CableEnd::Switch(at) => shorten(&fabric.switches[usize::from(at)].name),
        CableEnd::Host(at) => shorten(hosts.name(usize::from(at))),
    };
    Err(Issue::new(Code::Unreachable, at, format!("no cable joins {} and {}", name(one), name(other))))
}
