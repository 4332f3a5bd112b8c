//! Parts of a latency.

/// Name of the wait that more TOR entries may shorten.
pub(super) const ADMISSION: &str = "CHA admission";

/// Parts of a latency, their names, and their colours: causes at the memory controller share one.
pub const PARTS: [(&str, &str, char); 7] = [
    ("unloaded_ns", "without load", 'n'),
    ("switching_ns", "switching", 'b'),
    ("write_hol_ns", "write head-of-line", 'b'),
    ("read_hol_ns", "read head-of-line", 'b'),
    ("top_of_queue_ns", "top-of-queue", 'b'),
    ("cha_admission_ns", ADMISSION, 'c'),
    ("unexplained_ns", "not explained", 'd'),
];
