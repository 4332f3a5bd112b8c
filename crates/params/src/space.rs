//! Constants of the layout of virtual memory, shared by the code that sums up the memory needed and the code that
//! allocates it.

/// Alignment of buffers, in bytes.
pub const BUFFER_ALIGNMENT: u64 = 1 << 20;

/// Bytes of kernel structures that each core serving a fio workload accesses.
pub const KERNEL_BYTES: u64 = 256 << 20;

/// Bytes of the region that holds a job's DMA beyond the data.
pub const EXTRA_BYTES: u64 = 16 << 20;
