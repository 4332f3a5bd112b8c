//! All switches and endpoints of a world, over any number of partitions.

use super::endpoint::Endpoint;
use super::fabric::Fabric;
use super::learning::LearningSwitch;
use super::switch::Switch;
use crate::line::Packets;
use hostnet_kernel::ComponentId;

/// Read-only view of the switches and endpoints of all fabrics of a world.
#[derive(Clone, Debug)]
pub struct Network<'a> {
    fabrics: Vec<&'a Fabric>,
    /// Switches in ascending order of their numbers, each with the packets of its partition.
    switches: Vec<(u32, &'a Switch, &'a Packets)>,
    /// Endpoints in the order of the hosts, with their numbers.
    endpoints: Vec<(u32, &'a Endpoint)>,
}

impl<'a> Network<'a> {
    /// Creates the view of some fabrics, which must be in the order of their components.
    #[must_use]
    pub fn of(fabrics: impl IntoIterator<Item = &'a Fabric>) -> Self {
        let fabrics: Vec<&Fabric> = fabrics.into_iter().collect();
        let of_fabric = |fabric: &&'a Fabric| {
            let packets = fabric.packets();
            fabric.numbered_switches().map(move |(number, switch)| (number, switch, packets)).collect::<Vec<_>>()
        };
        let switches = fabrics.iter().flat_map(of_fabric).collect();
        let mut endpoints: Vec<_> = fabrics.iter().flat_map(|fabric| fabric.numbered_endpoints()).collect();
        // Racks interleave endpoints with switches, so their numbers are not in order.
        endpoints.sort_unstable_by_key(|endpoint| endpoint.0);
        Self { fabrics, switches, endpoints }
    }

    /// Returns true if there is no fabric.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fabrics.is_empty()
    }

    fn find_switch(&self, number: usize) -> Option<&(u32, &'a Switch, &'a Packets)> {
        let place = self.switches.binary_search_by_key(&number, |switch| switch.0 as usize).ok()?;
        self.switches.get(place)
    }

    /// Returns a switch by its number, if it is in this view.
    #[must_use]
    pub fn switch(&self, number: usize) -> Option<&'a Switch> {
        self.find_switch(number).map(|switch| switch.1)
    }

    /// Returns the packets of the partition of a switch.
    pub(super) fn packets_at(&self, number: usize) -> Option<&'a Packets> {
        self.find_switch(number).map(|switch| switch.2)
    }

    /// Returns the number of the switch that is the component `component`, if it is one.
    #[must_use]
    pub fn switch_at(&self, component: ComponentId) -> Option<usize> {
        self.fabrics.iter().find_map(|fabric| fabric.switch_at(component))
    }

    /// Iterates over the switches and their numbers, in order.
    pub fn switches(&self) -> impl Iterator<Item = (u32, &'a Switch)> + '_ {
        self.switches.iter().map(|switch| (switch.0, switch.1))
    }

    /// Iterates over the learning switches and their numbers among all switches, in order.
    pub fn learning_switches(&self) -> impl Iterator<Item = (u32, &'a LearningSwitch)> + '_ {
        self.fabrics.iter().flat_map(|fabric| fabric.learning_switches())
    }

    /// Iterates over the endpoints and their numbers among the endpoints of the world, in the order of the hosts.
    pub fn endpoints(&self) -> impl Iterator<Item = (u32, &'a Endpoint)> + '_ {
        self.endpoints.iter().copied()
    }
}
