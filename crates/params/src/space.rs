//! Constants of the layout of virtual memory, shared by the code that sums up the memory needed and the code that
//! allocates it.

/// Alignment of buffers, in bytes.
pub const BUFFER_ALIGNMENT: u64 = 1 << 20;

/// Bytes of kernel structures that each core serving a fio workload accesses.
pub const KERNEL_BYTES: u64 = 256 << 20;

/// Bytes of the region that holds a job's DMA beyond the data.
pub const EXTRA_BYTES: u64 = 16 << 20;

/// Bytes of the buffer that segments of a network core are sent from: more than the NIC ever holds at a time.
pub const NET_SEND_BYTES: u64 = 4 << 20;

/// Bytes of the buffers of the applications of a network core.
pub const NET_USER_BYTES: u64 = 64 << 20;

/// Bytes of the other data of the kernel of a network core.
pub const NET_KERNEL_BYTES: u64 = 16 << 20;

/// Bytes of all buffers of a network core.
pub const NET_CORE_BYTES: u64 = NET_SEND_BYTES + NET_USER_BYTES + NET_KERNEL_BYTES;

/// Bytes of a file that is sent repeatedly. Devices leave nothing of it in caches, so that its size hardly matters.
pub const FILE_BYTES: u64 = 4 << 20;

/// Bytes of memory of a file. A segment that begins before the end of the file reads up to 1 MiB after it, as the
/// largest segment has 1 MiB.
pub const FILE_MEMORY_BYTES: u64 = FILE_BYTES + (1 << 20);
