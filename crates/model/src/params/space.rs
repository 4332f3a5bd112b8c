//! How virtual memory is handed out: whoever sums up what is needed counts as whoever takes it.

/// Buffers begin at multiples of so many bytes.
pub const BUFFER_ALIGNMENT: u64 = 1 << 20;

/// Bytes of kernel structures that every core that serves a fio workload walks through.
pub const KERNEL_BYTES: u64 = 256 << 20;

/// Bytes of the region that a job's DMA beyond the data goes to.
pub const EXTRA_BYTES: u64 = 16 << 20;
