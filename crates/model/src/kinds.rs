//! List of the kinds of parts.

/// Passes every kind of part to the macro `$make`, one per line: the variant; its name in reports; `single` if a
/// socket has at most one, so that its name needs no number; the module and the struct, if the kind has its own
/// struct.
macro_rules! kinds {
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
            /// The NIC.
            Nic "nic" single = nic::Nic,
            /// The UPI link to a remote socket.
            Upi "upi" = link::Upi,
            /// A core of a remote socket.
            Remote "remote",
            /// The host congestion control (hostCC, for example).
            Control "control" single = control::Control,
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

pub(crate) use kinds;
