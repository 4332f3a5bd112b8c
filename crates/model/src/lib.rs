//! Models of the parts of a server and of the network between servers, one module each, and the [`Machine`] that
//! connects the parts.
//!
//! A part is a struct that holds its state, implements [`Part`] and has one function per event. Parts interact only
//! through events. A part receives the ids of its peers when it is built, and state that it shares with others through
//! a [`Context`]. Requests (one line each) live in a slab and travel as [`RequestId`].
//!
//! `docs/architecture.md` lists the modules. A new part needs its module here, a line in `part_kinds`, and a line in
//! `pool_groups` for each new group of pools.

pub mod app;
pub mod cache;
pub mod cha;
pub mod control;
pub mod core;
pub mod dimm;
pub mod dma;
pub mod ether;
pub mod expander;
pub mod flow;
pub mod fluid;
pub mod iio;
mod lfb;
pub mod line;
pub mod link;
pub mod mcn;
pub mod memory;
pub mod mesh;
pub mod met;
pub mod nic;
pub mod nvme;
pub mod os;
pub use hostnet_params as params;
mod part;
pub mod pool;
pub mod power;
pub mod tiering;
pub mod transport;
mod world;

pub use line::{
    Content, Ecn, Fifo, Packet, PacketId, Packets, Pages, Request, RequestId, RequestKind, Requests, Slab, SlabEntry,
};
pub use part::{
    Context, IioCounter, MessageEvent, NetContext, Notice, Part, PartIds, PartKind, PartName, Payload, Pool, PoolGroup,
    RegisterAccess, RingEvent, Slot, StartContext, UpiPool,
};
pub use world::{Component, ComponentKind, Machine, World};

/// Passes every kind of part to the macro `$make`, one per line: the variant; its name in reports; `single` if a
/// socket has at most one, so that its name needs no number; the module and the struct, if the kind has its own
/// struct.
macro_rules! part_kinds {
    ($make:ident) => {
        $make! {
            /// A core of this socket.
            Core "core" = core::Core,
            /// The caching and home agents.
            Cha "cha" single = cha::Cha,
            /// A memory channel.
            Channel "channel" = memory::Channel,
            /// The integrated IO controller, or the fluid memory (rates instead of lines) in its place.
            Iio "iio" single = iio::Iio,
            /// Memory behind a CXL link.
            Expander "expander" = expander::Expander,
            /// The buffer device of a DIMM that contains a NIC.
            Dimm "dimm" single = dimm::Dimm,
            /// A drive.
            Ssd "ssd" = nvme::Ssd,
            /// A device that generates DMA.
            Dma "dma" single = dma::Dma,
            /// The NIC.
            Nic "nic" single = nic::Nic,
            /// The UPI link to a remote socket.
            Upi "upi" = link::Upi,
            /// A core of a remote socket.
            Remote "remote",
            /// The host congestion control (hostCC, for example).
            Control "control" single = control::Control,
            /// The migration of pages to and from memory behind a link.
            Tiering "tiering" single = tiering::Tiering,
            /// The power management.
            Power "power" single = power::PowerManager,
            /// The interfaces of a memory channel network.
            Mcn "mcn" single = mcn::Mcn,
            /// The port of a server in a memory pool.
            Pool "pool" single = pool::PoolPort,
            /// A load generator that measures the rates of a server.
            Feeder "feeder" = fluid::Probe,
        }
    };
}

/// Passes every group of pools to the macro `$make`, in the order of the reports: the variant; its name; the group
/// `with` which it shares its credits; the number of classes that its domains keep `per` workload.
macro_rules! pool_groups {
    ($make:ident) => {
        $make! {
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
            /// Entries of the request buffers that hold lines behind a CXL link, if these have a share.
            ChaExpander "CHA->CXL" with Tor per CHA_CLASSES_PER_WORKLOAD,
            /// Reads of memory of other servers.
            PoolRead "pool read",
            /// Writes to memory of other servers.
            PoolWrite "pool write",
            /// Page walks of the IOMMU.
            IommuWalk "IOMMU walk",
        }
    };
}

pub(crate) use {part_kinds, pool_groups};
