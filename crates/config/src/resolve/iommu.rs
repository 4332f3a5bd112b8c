//! `[iommu]`: translation of the addresses of devices.

use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{
    Fidelity, IommuModeSpec, IommuParams, IommuSpec, IotlbSpec, MemoryParams, ServerParams, Spec, BUFFER_ALIGNMENT,
};

/// Sizes of pages that a level of the page table maps, in bytes.
const PAGES: [u64; 3] = [4 << 10, 2 << 20, 1 << 30];

/// Resolves the IOMMU of a socket with `memory`; `None` without translation.
pub(super) fn resolve(spec: &Spec, memory: &MemoryParams) -> Result<Option<IommuParams>, Issue> {
    let Some(iommu) = &spec.iommu else { return Ok(None) };
    check_page(iommu, memory)?;
    let ways = ways(&iommu.iotlb)?;
    Ok((iommu.mode != IommuModeSpec::Off).then(|| IommuParams {
        page_bits: iommu.page.0.trailing_zeros(),
        iotlb_sets: iommu.iotlb.entries / ways,
        iotlb_ways: ways,
        upper_entries: iommu.walk_cache,
        walks: iommu.walks,
        ats_entries: iommu.ats,
        flush: if iommu.mode == IommuModeSpec::Lazy { iommu.flush } else { 0 },
        invalidate_ps: iommu.invalidate.0,
        memory_bytes: memory.pages.memory_bytes,
    }))
}

/// Checks that a level of the page table maps pages of this size, and that memory has such pages.
fn check_page(iommu: &IommuSpec, memory: &MemoryParams) -> Result<(), Issue> {
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    let (page, run) = (iommu.page.0, memory.pages.run_bytes);
    if !PAGES.contains(&page) {
        let message = format!("{} is not a size of pages; 4 KiB, 2 MiB and 1 GiB are", shown(page));
        return Err(Issue::new(Code::OutOfRange, "iommu.page", message));
    }
    if page > run {
        let message = format!(
            "a page of {} is contiguous in physical memory, whose runs have {}; memory.run = \"{}\" would fit",
            shown(page),
            shown(run),
            shown(page)
        );
        return Err(Issue::between(Code::DoesNotFit, &["iommu.page", "memory.run", "memory.page"], message));
    }
    Ok(())
}

/// Returns the ways of the IOTLB.
fn ways(iotlb: &IotlbSpec) -> Result<u32, Issue> {
    let (entries, ways) = (iotlb.entries, iotlb.ways.unwrap_or(iotlb.entries));
    if ways > entries {
        let message = format!("{ways} ways are more than the {entries} entries");
        return Err(Issue::between(Code::DoesNotFit, &["iommu.iotlb.ways", "iommu.iotlb.entries"], message));
    }
    if entries % ways != 0 {
        let message = format!("{entries} entries are not a multiple of {ways} ways");
        return Err(Issue::between(Code::NotAMultiple, &["iommu.iotlb.ways", "iommu.iotlb.entries"], message));
    }
    Ok(ways)
}

/// Returns the bytes of the page tables of a server, and the key that determines them.
pub(super) fn needs(server: &ServerParams) -> Option<(u128, String)> {
    let tables = |iommu: &IommuParams| u128::from(iommu.table_bytes().next_multiple_of(BUFFER_ALIGNMENT));
    let bytes: u128 = server.sockets.iter().filter_map(|socket| socket.iommu.as_ref()).map(tables).sum();
    (bytes > 0).then(|| (bytes, "iommu.page".to_owned()))
}

/// Checks that a server with an IOMMU, or with a device that generates DMA, is simulated line by line.
pub(super) fn check_lines(server: &ServerParams, fidelity: Fidelity, key: &str) -> Result<(), Issue> {
    let socket = server.socket();
    let given = [("iommu.mode", socket.iommu.is_some()), ("workload", socket.dma.is_some())];
    match given.into_iter().find(|(_, given)| *given && fidelity != Fidelity::Line) {
        Some((path, _)) => {
            let message = "needs fidelity = \"line\": translations, and DMA that a device generates, are no rates";
            Err(Issue::between(Code::NeedsLineFidelity, &[key, path], message))
        }
        None => Ok(()),
    }
}

/// Returns a note about keys without an effect.
pub(super) fn ignored(spec: &Spec) -> Option<String> {
    let iommu = spec.iommu.as_ref().filter(|iommu| iommu.mode == IommuModeSpec::Off)?;
    let changed = *iommu != IommuSpec { mode: IommuModeSpec::Off, ..IommuSpec::default() };
    changed.then(|| "iommu: has no effect with iommu.mode = \"off\"".to_owned())
}
