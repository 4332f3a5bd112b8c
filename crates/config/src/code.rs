//! Defines the stable codes of the errors that users see.

use std::fmt;
use std::path::Path;

macro_rules! codes {
    ($($variant:ident, $name:literal, $rule:literal, $fix:literal;)*) => {
        /// Rule that an input breaks. Messages may change; names of codes stay.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $rule] $variant,)*
        }

        impl Code {
            /// All codes, in the order of the table in `docs/errors.md`.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// Name in kebab case, as messages and the Python attribute `code` show it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)*
                }
            }

            /// Sentence that states the rule.
            #[must_use]
            pub fn rule(self) -> &'static str {
                match self {
                    $(Code::$variant => $rule,)*
                }
            }

            /// Sentence on how to fix an input that breaks the rule.
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
        "A configuration is TOML or JSON, at most 1 MiB long and 16 levels deep.",
        "Correct the text at the line and column that the message names.";
    UnknownKey, "unknown-key",
        "Every key is one that its table has.",
        "Correct the spelling; the message names the nearest key.";
    MisplacedKey, "misplaced-key",
        "A key stands in the table that it belongs to.",
        "Move the key to the place that the message names.";
    MissingKey, "missing-key",
        "Every key or option that is needed is given.",
        "Give the key; the message says what it wants.";
    RequiresKey, "requires-key",
        "A key, value or option comes with the others that it needs.",
        "Give the other key the value that the message names, or leave this one out.";
    NoEffect, "no-effect",
        "A key or option has an effect together with the other settings.",
        "Leave the key out, or change the setting that takes its effect away.";
    ConflictingKeys, "conflicting-keys",
        "Keys or options that exclude each other are not given together.",
        "Keep one of them.";
    WrongType, "wrong-type",
        "A value has the type of its key: text, number, true or false, list or table.",
        "Write a value of the type that the message names.";
    BadUnit, "bad-unit",
        "A quantity is a number followed by a unit of its kind.",
        "Write a number and a unit, such as 10 us, 64 KiB or 100 Gbps.";
    MalformedValue, "malformed-value",
        "A text has the form that its key or option wants.",
        "Write the value as the example in the message.";
    UnknownName, "unknown-name",
        "A name is one that hostnet knows: a preset, device, pattern, kind or choice.",
        "Use the nearest name, or one of those that the message lists.";
    DoesNotExist, "does-not-exist",
        "A host, switch, flow, socket, core, drive, channel or node that is referred to exists.",
        "Refer to one that is there, or describe more of them.";
    OutOfRange, "out-of-range",
        "A number lies in the range that its key or option allows.",
        "Choose a value in the range that the message names.";
    NotAMultiple, "not-a-multiple",
        "A number is a multiple, or a power, of the step that its key wants.",
        "Choose a near value that is one.";
    WrongCount, "wrong-count",
        "A list has as many entries, and a system as many parts, as the rule in the message says.",
        "Add or remove entries.";
    Duplicate, "duplicate",
        "An entry, a name or a part is given once.",
        "Remove or rename one of the two.";
    WrongOrder, "wrong-order",
        "Values that bound each other, or follow one another, are in order.",
        "Raise one of the values, or lower the other.";
    MustAgree, "must-agree",
        "Values that several parts share are the same, or fit each other, everywhere.",
        "Give all of the parts the same value.";
    BadDistribution, "bad-distribution",
        "Points of a distribution rise, and its shares are 1 in all.",
        "Sort the points, and correct the shares.";
    BadAddressMap, "bad-address-map",
        "An address map gives each line a place of its own in the memory that is described.",
        "Use as many bits of each field as the memory has, and masks that are independent.";
    TooMany, "too-many",
        "A count stays within what the simulator takes in all.",
        "Describe fewer, to at most the number in the message.";
    TooLarge, "too-large",
        "A simulation fits into the memory of this machine that it may use.",
        "Describe less, or raise run.memory where there is more.";
    OutOfMemorySpace, "out-of-memory-space",
        "Everything that lies in a simulated memory fits into it.",
        "Use smaller buffers, or give that memory more.";
    DoesNotFit, "does-not-fit",
        "A packet, request or threshold fits into its buffer, queue, ring or MTU.",
        "Make it smaller, or its place larger.";
    CoreTaken, "core-taken",
        "A core does the work of one owner where it cannot be shared.",
        "Choose another core, or simulate the host line by line where that lets cores be shared.";
    TooManyCores, "too-many-cores",
        "Workloads, flows and ranks use no more cores than there are.",
        "Use fewer cores, or give the server more.";
    TooFewSlots, "too-few-slots",
        "Lanes, slots, ports and drives are enough for what uses them.",
        "Use fewer of them, or describe more.";
    Unreachable, "unreachable",
        "Hosts that send to each other are joined by cables and switches.",
        "Add the cable that is missing, or send to another host.";
    BadCabling, "bad-cabling",
        "Each host and each switch has the cables and the place that the topology wants.",
        "Add, remove or move the cable, or choose another topology.";
    SendsInCircle, "sends-in-circle",
        "Nothing that is sent comes back to its sender: not at once, and not by a loop.",
        "Send to another place, or open the loop.";
    Deadlock, "deadlock",
        "Packets, ports and ranks do not wait for each other for ever.",
        "Break the circle that the message names, for example by other routes or fewer pauses.";
    WrongHostKind, "wrong-host-kind",
        "A host is a server, an endpoint or a DIMM as its task needs.",
        "Give the task to a host of the kind that the message names.";
    NeedsLineFidelity, "needs-line-fidelity",
        "A part that only the simulation of lines has is simulated line by line.",
        "Set fidelity = \"line\", or leave the part out.";
    NotSupported, "not-supported",
        "A combination of features is one that hostnet models.",
        "Leave one of the two out.";
    NothingToDo, "nothing-to-do",
        "A run has something to do, and measures something before it ends.",
        "Add traffic, or make the run longer.";
    WrongKind, "wrong-kind",
        "A command gets a description of the kind that it takes: of a server, a cluster, a chip or a run.",
        "Give it another file, or use another command for this one.";
    MalformedFile, "malformed-file",
        "A file of data has the form that its format prescribes, and is whole.",
        "Correct the place that the message names, or write the file anew.";
    FileNotFound, "file-not-found",
        "A file or folder that is named exists.",
        "Correct the path; relative paths in a configuration start at its folder.";
    FileAccess, "file-access",
        "A place that is named can be read or written, and nobody else writes there.",
        "Name another place, or change its permissions.";
    ImplausibleData, "implausible-data",
        "Measured values can be true of the hardware, and do not contradict each other.",
        "Check units, columns and conditions of the measurement, or state its noise.";
    OtherVersion, "other-version",
        "Files, processes and workers are of this version of hostnet.",
        "Run again with this version, or install the other one.";
    OtherConfiguration, "other-configuration",
        "A run is continued, repeated or compared with the configuration that it began with.",
        "Give the same configuration, or start anew in another place.";
    BadCheckpoint, "bad-checkpoint",
        "A checkpoint is a whole file that hostnet wrote, and holds a state that a run comes to.",
        "Continue from an older checkpoint, or start the run anew.";
    MissingPackage, "missing-package",
        "A program or package that an option needs is installed.",
        "Install it as the message says, or leave the option out.";
    ClusterFailed, "cluster-failed",
        "The processes and workers of a distributed run answer until it ends.",
        "Start them anew, and continue the run with --resume where there is one.";
    Stuck, "stuck",
        "A simulated system moves on: nothing waits for what never comes.",
        "Raise the limit of the domain that the message names, or remove the cause of its backpressure.";
    Usage, "usage",
        "A command line has the form that `hostnet COMMAND --help` shows.",
        "Correct the command, option or argument that the message names.";
    Defect, "defect",
        "hostnet holds its own invariants.",
        "Report the message: no input should lead to it.";
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
        match std::fs::metadata(place).and_then(|about| std::fs::File::open(place).map(|_| about.is_file())) {
            Ok(true) => Code::MalformedFile,
            Ok(false) => Code::FileAccess,
            Err(error) => Code::from(&error),
        }
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
