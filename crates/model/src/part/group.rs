//! Groups of pools: their names in reports, and the credits that they share.

use hostnet_measure::{Domain, Usage};

/// Classes that the domains of the CHA keep per workload: one for its cores, and one for its devices.
pub const CHA_CLASSES_PER_WORKLOAD: usize = 2;

/// Defines the groups in the order of the reports: the name of each, the pool `with` which it shares its credits, and
/// the number of classes that its domains keep `per` workload.
macro_rules! groups {
    ($($(#[$doc:meta])* $group:ident $name:literal $(with $pool:ident)? $(per $classes_per_workload:path)?,)*) => {
        /// Group of pools: one of the domains of a machine, or the queue of a hop. In the order of the reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum PoolGroup {
            $($(#[$doc])* $group,)*
        }

        impl PoolGroup {
            /// Every group, in the order of the reports.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$group),*];

            /// Returns the name of the group in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$group => $name,)*
                }
            }

            /// Returns the pool with which the group shares its credits, if any.
            #[must_use]
            pub fn pool(self) -> Option<Self> {
                match self {
                    $($(Self::$group => Some(Self::$pool),)?)*
                    _ => None,
                }
            }

            /// Returns the number of classes that the domains of the group keep per workload.
            fn classes_per_workload(self) -> usize {
                match self {
                    $($(Self::$group => $classes_per_workload,)?)*
                    _ => 1,
                }
            }
        }
    };
}

groups! {
    /// Reads of cores: from the LFB to DRAM and back.
    C2mRead "C2M-Read" with Lfb,
    /// Write-backs of cores: from the LFB to the CHA.
    C2mWrite "C2M-Write" with Lfb,
    /// Writes of devices: from the IIO to the memory controller.
    P2mWrite "P2M-Write",
    /// Reads of devices: from the IIO to DRAM and back.
    P2mRead "P2M-Read",
    /// Line fill buffers of the cores.
    Lfb "LFB",
    /// Request buffers of the CHA (TOR).
    Tor "CHA TOR" per CHA_CLASSES_PER_WORKLOAD,
    /// Reads between CHA and DRAM.
    ChaRead "CHA->DRAM read" with Tor per CHA_CLASSES_PER_WORKLOAD,
    /// Writes between CHA and memory controller.
    ChaWrite "CHA->MC write" with Tor per CHA_CLASSES_PER_WORKLOAD,
    /// Read pending queues.
    Rpq "RPQ",
    /// Write pending queues.
    Wpq "WPQ",
    /// Posted credits of the PCIe links, in lines.
    Posted "PCIe posted",
    /// Lines that devices have requested over their PCIe links (non-posted).
    NonPosted "PCIe non-posted",
    /// Lines in flight to an L2 for its prefetchers.
    Prefetch "L2 prefetch",
    /// Reads in flight to the CHA of a remote socket.
    UpiRequest "UPI request",
    /// Write-backs in flight to the CHA of a remote socket.
    UpiWriteBack "UPI write-back",
    /// Lines of data in flight to a remote socket that has requested them.
    UpiData "UPI data",
    /// Acknowledgements in flight to a remote socket.
    UpiAnswer "UPI answer",
    /// Snoops in flight to the caches of a remote socket.
    UpiSnoop "UPI snoop",
    /// Reads of memory behind a CXL link.
    ExpanderRead "CXL read",
    /// Writes to memory behind a CXL link.
    ExpanderWrite "CXL write",
    /// Reads of the host in progress at a DIMM that contains a NIC, each with a request id.
    DimmRead "DIMM read id",
    /// Writes of the host in flight into a DIMM that contains a NIC.
    DimmWrite "DIMM write",
    /// Lines that the DMA engine of such a DIMM is writing to the memory controllers of the DIMM.
    DimmDmaWrite "DIMM DMA write",
    /// Lines that the DMA engine of such a DIMM is reading from the memory controllers of the DIMM.
    DimmDmaRead "DIMM DMA read",
    /// Entries of the request buffers that hold lines homed on a remote socket.
    ChaUpi "CHA->UPI" with Tor per CHA_CLASSES_PER_WORKLOAD,
    /// Reads of memory of other servers.
    PoolRead "pool read",
    /// Writes to memory of other servers.
    PoolWrite "pool write",
}

impl PoolGroup {
    /// Returns the statistics that the workload `class`, or every workload if `None`, has in `domain`, a domain of
    /// this group.
    pub fn usages(self, domain: &Domain, class: Option<usize>) -> impl Iterator<Item = &Usage> {
        let usages = domain.classes().iter().enumerate();
        usages
            .filter(move |(domain_class, _)| {
                class.is_none_or(|class| class == domain_class / self.classes_per_workload())
            })
            .map(|(_, usage)| usage)
    }

    /// Returns the name of the pool with which the group shares its credits, or an empty string if there is none.
    #[must_use]
    pub fn shares_with(self) -> &'static str {
        self.pool().map_or("", Self::name)
    }
}
