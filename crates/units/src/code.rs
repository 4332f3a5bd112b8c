//! Defines the stable codes of the errors that users see.

use hostnet_files::UserFile;
use std::fmt;
use std::path::Path;

macro_rules! codes {
    ($($variant:ident, $name:literal, $meaning:literal, $fix:literal;)*) => {
        /// Kind of mistake in an input. Messages may change; names of codes do not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// All codes, in the order of the table in `docs/errors.md`.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// Returns the name in kebab case, as messages and the Python attribute `code` show it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)*
                }
            }

            /// Returns what is wrong with the input, as a sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Code::$variant => $meaning,)*
                }
            }

            /// Returns how to fix the input, as a sentence.
            #[must_use]
            pub fn fix(self) -> &'static str {
                match self {
                    $(Code::$variant => $fix,)*
                }
            }
        }
    };
}

codes! {
    Syntax, "syntax",
        "The file is not valid TOML or JSON, or exceeds 1 MiB or 16 levels of nesting.",
        "Correct the text at the line and column in the message.";
    UnknownKey, "unknown-key",
        "The table has no key of that name.",
        "Use the key that the message names, or look it up in the reference.";
    MisplacedKey, "misplaced-key",
        "The key belongs to another table.",
        "Move the key to the table in the message.";
    MissingKey, "missing-key",
        "A required key or option is missing.",
        "Add the key; the message says what it takes.";
    RequiresKey, "requires-key",
        "A key, value or option needs another one that is missing.",
        "Add the key in the message, or remove this one.";
    NoEffect, "no-effect",
        "A key or option has no effect with the other settings.",
        "Remove the key, or change the setting that disables it.";
    ConflictingKeys, "conflicting-keys",
        "Keys or options that exclude each other are used together.",
        "Keep one of them.";
    WrongType, "wrong-type",
        "The value has the wrong type: text, number, boolean, list or table.",
        "Use a value of the type in the message.";
    BadUnit, "bad-unit",
        "The quantity lacks a unit, or has a unit of another kind.",
        "Use a number with a unit, such as 10 us, 64 KiB or 100 Gbps.";
    MalformedValue, "malformed-value",
        "The text does not have the expected format.",
        "Follow the example in the message.";
    UnknownName, "unknown-name",
        "No preset, device, pattern, kind or choice has that name.",
        "Use the nearest name, or one that the message lists.";
    DoesNotExist, "does-not-exist",
        "A host, switch, flow, socket, core, drive, channel or node that is referred to does not exist.",
        "Refer to an existing one, or add it.";
    OutOfRange, "out-of-range",
        "The number is outside the allowed range.",
        "Choose a value in the range in the message.";
    NotAMultiple, "not-a-multiple",
        "The number is not a multiple of the required step, or not a power of two.",
        "Choose the nearest value that is.";
    WrongCount, "wrong-count",
        "A list has too few or too many entries, or a system too few or too many parts.",
        "Add or remove entries.";
    Duplicate, "duplicate",
        "An entry, name or part appears twice.",
        "Remove or rename one of the two.";
    WrongOrder, "wrong-order",
        "Values that bound or follow each other are out of order.",
        "Raise one of the values, or lower the other.";
    MustAgree, "must-agree",
        "Values that must be equal or compatible across parts are not.",
        "Use the same value for all of them.";
    BadDistribution, "bad-distribution",
        "The points of a distribution are not increasing, or its shares do not add up to 1.",
        "Sort the points and correct the shares.";
    BadAddressMap, "bad-address-map",
        "The address map does not map each line to a location of its own.",
        "Use as many bits per field as the memory has, and linearly independent masks.";
    TooMany, "too-many",
        "A count exceeds a limit of the simulator.",
        "Reduce the count to the maximum in the message.";
    TooLarge, "too-large",
        "The simulation needs more memory than it may use on this machine.",
        "Simulate less, or raise run.memory if the machine has more.";
    OutOfMemorySpace, "out-of-memory-space",
        "The buffers exceed the capacity of a simulated memory.",
        "Use smaller buffers, or more memory.";
    DoesNotFit, "does-not-fit",
        "A packet, request or threshold is larger than its buffer, queue, ring or MTU.",
        "Reduce its size, or enlarge the buffer, queue, ring or MTU.";
    CoreTaken, "core-taken",
        "Two owners claim a core that cannot be shared.",
        "Choose another core, or use fidelity = \"line\" where it allows sharing.";
    TooManyCores, "too-many-cores",
        "Workloads, flows and ranks need more cores than the server has.",
        "Use fewer cores, or a server with more.";
    TooFewSlots, "too-few-slots",
        "Lanes, slots, ports or drives do not suffice.",
        "Use fewer of them, or configure more.";
    Unreachable, "unreachable",
        "No path of cables and switches joins two hosts that communicate.",
        "Add the missing cable, or choose another destination.";
    BadCabling, "bad-cabling",
        "The cables of a host or switch do not match the topology.",
        "Add, remove or move the cable, or choose another topology.";
    SendsInCircle, "sends-in-circle",
        "Traffic returns to its sender, directly or through a loop.",
        "Choose another destination, or open the loop.";
    Deadlock, "deadlock",
        "Packets, ports or ranks wait for each other in a cycle.",
        "Break the cycle in the message, for example by other routes or fewer pauses.";
    WrongHostKind, "wrong-host-kind",
        "A host is of the wrong kind for its task: server, endpoint or DIMM.",
        "Give the task to a host of the kind in the message.";
    NeedsLineFidelity, "needs-line-fidelity",
        "A part can be modelled only at cache-line granularity (fidelity = \"line\").",
        "Set fidelity = \"line\", or remove the part.";
    NotSupported, "not-supported",
        "hostnet does not model this combination of features.",
        "Remove one of the features.";
    NothingToDo, "nothing-to-do",
        "The run has no traffic, or ends before it measures anything.",
        "Add traffic, or make the run longer.";
    WrongKind, "wrong-kind",
        "The command takes another kind of input: a server, cluster, chip or run.",
        "Use another file, or another command for this one.";
    MalformedFile, "malformed-file",
        "A data file violates its format, or is truncated.",
        "Correct the position in the message, or create the file again.";
    FileNotFound, "file-not-found",
        "A file or folder does not exist.",
        "Correct the path; paths in a configuration are relative to its folder.";
    FileAccess, "file-access",
        "A file or folder cannot be read or written, or is in use.",
        "Use another path, or change the permissions.";
    ImplausibleData, "implausible-data",
        "Measured values are impossible for the hardware, or contradict each other.",
        "Check units, columns and conditions of the measurement, or state its noise.";
    OtherVersion, "other-version",
        "A file, process or worker belongs to another version of hostnet.",
        "Run again with this version, or install the other one.";
    OtherConfiguration, "other-configuration",
        "The run to continue, repeat or compare has another configuration.",
        "Use the same configuration, or start again in another folder.";
    BadCheckpoint, "bad-checkpoint",
        "The checkpoint is damaged, or holds a state that no run reaches.",
        "Continue from an older checkpoint, or start the run again.";
    MissingPackage, "missing-package",
        "A program or package that an option needs is not installed.",
        "Install it as the message says, or omit the option.";
    ClusterFailed, "cluster-failed",
        "Processes or workers of a distributed run stopped answering.",
        "Start them again, and continue with --resume if possible.";
    Stuck, "stuck",
        "The simulated system makes no progress.",
        "Raise the limit of the domain in the message, or remove the cause of its backpressure.";
    Usage, "usage",
        "The command line does not match `hostnet COMMAND --help`.",
        "Correct the command, option or argument in the message.";
    Defect, "defect",
        "hostnet violated an invariant of its own.",
        "Report the message: no input should cause it.";
}

impl Code {
    /// Returns the code with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// Returns the code for a file that could not be read: the file is missing, cannot be opened, or is malformed.
    #[must_use]
    pub fn of_file(place: &Path) -> Self {
        UserFile::open_regular(place).map_or_else(|error| Code::from(&error), |_| Code::MalformedFile)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<&std::io::Error> for Code {
    fn from(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Code::FileNotFound,
            _ => Code::FileAccess,
        }
    }
}
