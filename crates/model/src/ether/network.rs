//! All switches and endpoints of a world, in however many partitions they are.

use super::endpoint::Endpoint;
use super::fabric::Fabric;
use super::learning::LearningSwitch;
use super::switch::Switch;
use crate::line::Packets;
use hostnet_kernel::ComponentId;

/// The switches and endpoints of all fabrics of a world, to look at.
#[derive(Clone, Debug)]
pub struct Network<'a> {
    fabrics: Vec<&'a Fabric>,
    /// The switches in their order, each with its number and the packets of its partition.
    switches: Vec<(u32, &'a Switch, &'a Packets)>,
    /// The endpoints in the order of the hosts, each with its number.
    endpoints: Vec<(u32, &'a Endpoint)>,
}

impl<'a> Network<'a> {
    /// The network that some fabrics are, in the order of their components.
    #[must_use]
    pub fn of(fabrics: impl IntoIterator<Item = &'a Fabric>) -> Self {
        let fabrics: Vec<&Fabric> = fabrics.into_iter().collect();
        let of_fabric = |fabric: &&'a Fabric| {
            let packets = fabric.packets();
            fabric.numbered_switches().map(move |(number, switch)| (number, switch, packets)).collect::<Vec<_>>()
        };
        let switches = fabrics.iter().flat_map(of_fabric).collect();
        let mut endpoints: Vec<_> = fabrics.iter().flat_map(|fabric| fabric.numbered_endpoints()).collect();
        endpoints.sort_unstable_by_key(|endpoint| endpoint.0);
        Self { fabrics, switches, endpoints }
    }

    /// Whether there is no fabric.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fabrics.is_empty()
    }

    fn at(&self, number: usize) -> Option<&(u32, &'a Switch, &'a Packets)> {
        let place = self.switches.binary_search_by_key(&number, |switch| switch.0 as usize).ok()?;
        self.switches.get(place)
    }

    /// A switch by its number, if it is here.
    #[must_use]
    pub fn switch(&self, number: usize) -> Option<&'a Switch> {
        self.at(number).map(|switch| switch.1)
    }

    /// The packets of the partition that a switch is in.
    pub(super) fn packets_at(&self, number: usize) -> Option<&'a Packets> {
        self.at(number).map(|switch| switch.2)
    }

    /// The switch that a component is, by its number.
    #[must_use]
    pub fn switch_at(&self, component: ComponentId) -> Option<usize> {
        self.fabrics.iter().find_map(|fabric| fabric.switch_at(component))
    }

    /// The switches with their numbers, in their order.
    pub fn switches(&self) -> impl Iterator<Item = (u32, &'a Switch)> + '_ {
        self.switches.iter().map(|switch| (switch.0, switch.1))
    }

    /// The switches that learn with their numbers among all switches, in their order.
    pub fn learning_switches(&self) -> impl Iterator<Item = (u32, &'a LearningSwitch)> + '_ {
        self.fabrics.iter().flat_map(|fabric| fabric.learning_switches())
    }

    /// The endpoints with their numbers among the endpoints of the world, in the order of the hosts.
    pub fn endpoints(&self) -> impl Iterator<Item = (u32, &'a Endpoint)> + '_ {
        self.endpoints.iter().copied()
    }
}
