//! The list of the kinds of parts.

/// Hands every kind of part to the macro `$make`, a line each: the kind; its name in reports; `single` if a socket has
/// at most one, whose name needs no number; the folder and the struct, if it has one of its own.
macro_rules! kinds {
    ($make:ident) => {
        $make! {
            /// A core of this socket.
            Core "core" = core::Core,
            /// The caching and home agents.
            Cha "cha" single = cha::Cha,
            /// A memory channel.
            Channel "channel" = memory::Channel,
            /// The integrated IO controller, or the memory of rates in its place.
            Iio "iio" single = iio::Iio,
            /// Memory behind a link.
            Expander "expander" = expander::Expander,
            /// The buffer device of a DIMM with a NIC in it.
            Dimm "dimm" single = dimm::Dimm,
            /// A drive.
            Ssd "ssd" = nvme::Ssd,
            /// The NIC.
            Nic "nic" single = nic::Nic,
            /// The way to another socket.
            Upi "upi" = link::Upi,
            /// A core of another socket.
            Remote "remote",
            /// What watches the host.
            Control "control" single = control::Control,
            /// The power management.
            Power "power" single = power::PowerManager,
            /// The interfaces of a memory channel network.
            Mcn "mcn" single = mcn::Mcn,
            /// Its place in a pool of memory.
            Pool "pool" single = pool::PoolPort,
            /// What loads a server to find its rates: what feeds it, and cores that copy.
            Feeder "feeder" = fluid::Probe,
        }
    };
}

pub(crate) use kinds;
