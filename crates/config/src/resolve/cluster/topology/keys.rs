//! Checks that the size keys belong to the topology.

use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{NetworkSpec, TopologySpec};

/// Checks that no key is of another topology.
pub(super) fn check(network: &NetworkSpec) -> Result<(), Issue> {
    use TopologySpec::{
        Direct, Dragonfly, Dumbbell, FatTree, LeafSpine, Mesh, RailOnly, RailOptimised, Ring, Star, Torus, TwoTier,
    };
    let topology = network.topology.unwrap_or(Star);
    let keys: [(&str, bool, &[TopologySpec]); 17] = [
        ("left", network.left.is_some(), &[Dumbbell]),
        ("right", network.right.is_some(), &[Dumbbell]),
        ("bottleneck", network.bottleneck.is_some(), &[Dumbbell]),
        ("leaves", network.leaves.is_some(), &[TwoTier, LeafSpine]),
        ("spines", network.spines.is_some(), &[LeafSpine, RailOptimised]),
        ("hosts_per_switch", network.hosts_per_switch.is_some(), &[TwoTier, LeafSpine, Ring, Mesh, Torus]),
        ("oversubscription", network.oversubscription.is_some(), &[TwoTier, LeafSpine, RailOptimised]),
        ("k", network.k.is_some(), &[FatTree]),
        ("size", network.size.is_some(), &[Ring, Mesh, Torus]),
        ("a", network.a.is_some(), &[Dragonfly]),
        ("p", network.p.is_some(), &[Dragonfly]),
        ("h", network.h.is_some(), &[Dragonfly]),
        ("groups", network.groups.is_some(), &[Dragonfly]),
        ("global", network.global.is_some(), &[Dragonfly]),
        ("accelerators", network.accelerators.is_some(), &[RailOptimised, RailOnly]),
        ("rails", network.rails.is_some(), &[RailOptimised, RailOnly]),
        ("scale_up", network.scale_up.is_some(), &[RailOptimised, RailOnly]),
    ];
    if let Some((key, _, of)) = keys.into_iter().find(|(_, given, of)| *given && !of.contains(&topology)) {
        let names: Vec<String> = of.iter().map(|&one| format!("\"{}\"", name(one))).collect();
        let message = format!("has an effect only with topology = {}", names.join(", "));
        return Err(Issue::between(Code::NoEffect, &[&format!("network.{key}"), "network.topology"], message));
    }
    if network.core.is_some() && [Star, Direct, Dumbbell, RailOnly].contains(&topology) {
        let message = "has an effect only in a topology of many switches, such as \"leaf-spine\"";
        return Err(Issue::between(Code::NoEffect, &["network.core", "network.topology"], message));
    }
    Ok(())
}

/// Returns the user's name for a topology.
fn name(topology: TopologySpec) -> String {
    serde_json::to_value(topology).ok().and_then(|name| Some(name.as_str()?.to_string())).unwrap_or_default()
}
