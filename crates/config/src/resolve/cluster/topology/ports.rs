//! Endpoints with several parallel cables.

use super::super::host_names::HostNames;
use super::super::named_cables::{NamedCable, CABLES_MAX};
use super::super::table;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{ClusterSpec, HostSpec};
use std::collections::BTreeMap;

/// Repeats the cables of hosts with several ports.
pub(super) fn widen(cables: Vec<NamedCable>, spec: &ClusterSpec, hosts: &HostNames) -> Result<Vec<NamedCable>, Issue> {
    if spec.host.values().all(|host| host.ports.is_none()) {
        return Ok(cables);
    }
    let tables = (0..hosts.count()).map(|host| (hosts.name(host), hosts.table_of(host).name.as_str()));
    let tables: BTreeMap<&str, &str> = tables.collect();
    let mut wide = Vec::new();
    for cable in cables {
        let own = cable.ends.iter().filter_map(|end| tables.get(end.as_str()).copied());
        let own: Vec<(&str, u32)> = own.map(|name| (name, ports(&spec.host[name]))).collect();
        if let [(one, ports), (other, others)] = own[..] {
            check_equal([(one, ports), (other, others)])?;
        }
        let count = own.first().map_or(1, |&(_, ports)| ports);
        let copy = || NamedCable::new(cable.path.clone(), cable.ends.clone(), cable.spec.clone());
        wide.extend((1..count).map(|_| copy()));
        wide.push(cable);
        if wide.len() > CABLES_MAX {
            let message = format!("more than {CABLES_MAX} cables in all");
            let keys = own.iter().map(|(name, _)| format!("{}.ports", table("host", name))).next();
            return Err(Issue::new(Code::TooMany, keys.unwrap_or_default(), message));
        }
    }
    Ok(wide)
}

fn ports(host: &HostSpec) -> u32 {
    host.ports.unwrap_or(1)
}

/// Checks that two hosts with cables between them have as many ports.
fn check_equal([(one, ports), (other, others)]: [(&str, u32); 2]) -> Result<(), Issue> {
    if ports == others {
        return Ok(());
    }
    let keys = [one, other].map(|name| format!("{}.ports", table("host", name)));
    let message = format!("{ports} ports at one end and {others} at the other; each cable takes one at both");
    Err(Issue::between(Code::MustAgree, &[&keys[0], &keys[1]], message))
}

/// Checks that no host gives its ports, because `key` does.
pub(super) fn check_none(spec: &ClusterSpec, key: &str) -> Result<(), Issue> {
    match spec.host.iter().find(|(_, host)| host.ports.is_some()) {
        Some((name, _)) => {
            let path = format!("{}.ports", table("host", name));
            let message = format!("has no effect: {key} says which cables end at a host");
            Err(Issue::between(Code::NoEffect, &[&path, key], message))
        }
        None => Ok(()),
    }
}
