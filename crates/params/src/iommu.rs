//! Keys and parameters of the IOMMU.

use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Translation of the addresses of devices, by its name in Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IommuModeSpec {
    /// No translation; also that of `iommu=pt` (passthrough).
    #[default]
    Off,
    /// Translations that the kernel flushes all at once, after many buffers have been unmapped.
    Lazy,
    /// Translations that the kernel invalidates one by one, as soon as their buffer is unmapped.
    Strict,
}

/// IOMMU between the devices and the memory of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IommuSpec {
    /// Translation of the addresses of devices: "off", also for passthrough; "lazy", flushed all at once after many
    /// buffers have been unmapped; "strict", invalidated one by one.
    #[serde(default)]
    pub mode: IommuModeSpec,
    /// Size of the pages that buffers of devices are mapped with (size): "4 KiB", "2 MiB" or "1 GiB"; at most a run of
    /// physical memory (`memory.run`).
    #[serde(default = "page_4_kib")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 GiB"))]
    pub page: Size,
    /// Cache of translations.
    #[serde(default)]
    pub iotlb: IotlbSpec,
    /// Entries of the cache of upper levels of the page table, which shorten a walk; 0 = none.
    #[serde(default = "upper_entries")]
    #[schemars(range(min = 0, max = 4096))]
    pub walk_cache: u32,
    /// Page walks in flight.
    #[serde(default = "walks")]
    #[schemars(range(min = 1, max = 1024))]
    pub walks: u32,
    /// Entries of the translation cache of each device (ATS), which requests translations over its link; 0 = none.
    #[serde(default)]
    #[schemars(range(min = 0, max = 4096))]
    pub ats: u32,
    /// Time that a core waits for an invalidation (time).
    #[serde(default = "invalidate_700_ns")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub invalidate: Time,
    /// With mode "lazy": buffers that are unmapped until all translations are flushed.
    #[serde(default = "flush_256")]
    #[schemars(range(min = 1, max = 65536))]
    pub flush: u32,
}

impl Default for IommuSpec {
    fn default() -> Self {
        Self {
            mode: IommuModeSpec::Off,
            page: page_4_kib(),
            iotlb: IotlbSpec::default(),
            walk_cache: upper_entries(),
            walks: walks(),
            ats: 0,
            invalidate: invalidate_700_ns(),
            flush: flush_256(),
        }
    }
}

/// Cache of translations (IOTLB).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IotlbSpec {
    /// Entries, each of which translates a page.
    #[serde(default = "iotlb_entries")]
    #[schemars(range(min = 1, max = 4096))]
    pub entries: u32,
    /// Ways, a divisor of the entries; all entries (fully associative) when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub ways: Option<u32>,
}

impl Default for IotlbSpec {
    fn default() -> Self {
        Self { entries: iotlb_entries(), ways: None }
    }
}

fn page_4_kib() -> Size {
    Size(4096)
}

fn iotlb_entries() -> u32 {
    64
}

fn upper_entries() -> u32 {
    64
}

fn walks() -> u32 {
    6
}

fn invalidate_700_ns() -> Time {
    Time(700_000)
}

fn flush_256() -> u32 {
    256
}

/// IOMMU of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IommuParams {
    /// Bits of an address within a page: 12, 21 or 30.
    pub page_bits: u32,
    /// Sets of the IOTLB.
    pub iotlb_sets: u32,
    /// Ways of the IOTLB.
    pub iotlb_ways: u32,
    /// Entries of the cache of upper levels of the page table; 0 = none.
    pub upper_entries: u32,
    /// Page walks in flight.
    pub walks: u32,
    /// Entries of the translation cache of each device (ATS); 0 = none.
    pub ats_entries: u32,
    /// Buffers that are unmapped until all translations are flushed; 0 if each buffer's are invalidated at once.
    pub flush: u32,
    /// Time that a core waits for an invalidation, in ps.
    pub invalidate_ps: u64,
    /// Memory that the page tables map, in bytes.
    pub memory_bytes: u64,
}

/// Bits of an address that one level of a page table translates.
pub const LEVEL_BITS: u32 = 9;

/// Bits of an address that four levels of page tables translate.
const TRANSLATED_BITS: u32 = 48;

/// Bytes of an entry of a page table.
pub const TABLE_ENTRY_BYTES: u64 = 8;

impl IommuParams {
    /// Returns, from the last level of the page table to the first, the bits of an address below those that the level
    /// translates.
    pub fn levels(&self) -> impl DoubleEndedIterator<Item = u32> + Clone {
        let (page_bits, count) = (self.page_bits, (TRANSLATED_BITS - self.page_bits) / LEVEL_BITS);
        (0..count).map(move |level| page_bits + level * LEVEL_BITS)
    }

    /// Returns the mean time that a core spends on invalidations per buffer that it unmaps, in ps.
    #[must_use]
    pub fn unmap_ps(&self) -> u64 {
        self.invalidate_ps / u64::from(self.flush.max(1))
    }

    /// Returns the entries of the level of the page table that has `bits` bits of an address below it, at least those
    /// of one table.
    #[must_use]
    pub fn entries(&self, bits: u32) -> u64 {
        (self.memory_bytes >> bits).next_multiple_of(1 << LEVEL_BITS).max(1 << LEVEL_BITS)
    }

    /// Returns the bytes of all page tables.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        self.levels().map(|bits| self.entries(bits) * TABLE_ENTRY_BYTES).sum()
    }
}
