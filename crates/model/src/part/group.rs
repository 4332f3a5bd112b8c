//! The groups of pools: what reports call them, and what they share.

use hostnet_measure::{Domain, Usage};

/// Books that the domains of the CHA keep per workload: of its cores, and of its devices.
pub const BOOKS: usize = 2;

/// Every group in the order of the reports: its name there, the pool that it shares its credits `with`, and how many
/// classes its domains keep `per` workload.
macro_rules! groups {
    ($($(#[$doc:meta])* $group:ident $name:literal $(with $pool:ident)? $(per $books:path)?,)*) => {
        /// The domains of a machine and its hops' queues, in the order of the reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Group {
            $($(#[$doc])* $group,)*
        }

        impl Group {
            /// Every group.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$group),*];

            /// Its name in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$group => $name,)*
                }
            }

            /// The pool that it shares its credits with.
            #[must_use]
            pub fn pool(self) -> Option<Self> {
                match self {
                    $($(Self::$group => Some(Self::$pool),)?)*
                    _ => None,
                }
            }

            /// Classes that its domains keep per workload.
            fn books(self) -> usize {
                match self {
                    $($(Self::$group => $books,)?)*
                    _ => 1,
                }
            }
        }
    };
}

groups! {
    /// Reads of cores: LFB to DRAM and back.
    C2mRead "C2M-Read" with Lfb,
    /// Write-backs of cores: LFB to CHA.
    C2mWrite "C2M-Write" with Lfb,
    /// Writes of devices: IIO to the memory controller.
    P2mWrite "P2M-Write",
    /// Reads of devices: IIO to DRAM and back.
    P2mRead "P2M-Read",
    /// The line fill buffers.
    Lfb "LFB",
    /// The request buffers of the CHA.
    Tor "CHA TOR" per BOOKS,
    /// Reads between CHA and DRAM.
    ChaRead "CHA->DRAM read" with Tor per BOOKS,
    /// Writes between CHA and memory controller.
    ChaWrite "CHA->MC write" with Tor per BOOKS,
    /// The read pending queues.
    Rpq "RPQ",
    /// The write pending queues.
    Wpq "WPQ",
    /// Posted credits of the PCIe links.
    Posted "PCIe posted",
    /// Lines that devices have asked for.
    NonPosted "PCIe non-posted",
    /// Lines on their way to an L2 for its prefetchers.
    Prefetch "L2 prefetch",
    /// Reads on their way to the CHA of another socket.
    UpiRequest "UPI request",
    /// Write-backs on their way to the CHA of another socket.
    UpiWriteBack "UPI write-back",
    /// Data on its way to a core of another socket.
    UpiData "UPI data",
    /// Acknowledgements on their way to a core of another socket.
    UpiAnswer "UPI answer",
    /// Snoops on their way to the caches of another socket.
    UpiSnoop "UPI snoop",
    /// Reads of memory behind a link.
    ExpanderRead "CXL read",
    /// Writes to memory behind a link.
    ExpanderWrite "CXL write",
    /// Reads of the host that a DIMM with a NIC works on.
    DimmRead "DIMM read id",
    /// Writes of the host on their way into a DIMM with a NIC.
    DimmWrite "DIMM write",
    /// Lines of the DMA engine of such a DIMM on their way to its memory controllers, and those on their way back.
    DimmDmaWrite "DIMM DMA write",
    /// See above.
    DimmDmaRead "DIMM DMA read",
    /// Lines of the request buffers that are at home in another socket.
    ChaUpi "CHA->UPI" with Tor per BOOKS,
    /// Reads of memory of other servers.
    PoolRead "pool read",
    /// Writes to memory of other servers.
    PoolWrite "pool write",
}

impl Group {
    /// What the workload `class`, or each of them, made of a domain of the group.
    pub fn usages(self, domain: &Domain, class: Option<usize>) -> impl Iterator<Item = &Usage> {
        let usages = domain.classes().iter().enumerate();
        usages.filter(move |(book, _)| class.is_none_or(|class| class == book / self.books())).map(|(_, usage)| usage)
    }

    /// The name of the pool that it shares its credits with, or nothing.
    #[must_use]
    pub fn shares_with(self) -> &'static str {
        self.pool().map_or("", Self::name)
    }
}
