//! The IOMMU and the device that generates DMA: valid documents and errors.

use crate::common::{assert_tells, plan, resolve_text, socket, told};
use hostnet_config::Format;

const SERVER: &str = r#"
[server]
preset = "cascade-lake-6234"
[workload.d]
kind = "dma"
operation = "read"
size = "64 B"
window = "1 MiB"
outstanding = 4
"#;

fn assert_refused(overrides: &[&str], says: &str) {
    match resolve_text(SERVER, Format::Toml, overrides) {
        Ok(_) => panic!("is allowed: {overrides:?}"),
        Err(error) => assert_tells(&told(&error), &[says]),
    }
}

#[test]
fn an_iommu_is_there_unless_it_is_off() {
    assert_eq!(socket(SERVER, &["iommu.mode=off"]).iommu, None);
    assert_eq!(plan(SERVER, &["iommu.mode=off"]).hash, plan(SERVER, &[]).hash);
    let iommu = socket(SERVER, &["iommu.mode=strict", "iommu.iotlb.entries=48", "iommu.iotlb.ways=4"]).iommu;
    let iommu = iommu.expect("an IOMMU");
    assert_eq!([iommu.iotlb_sets, iommu.iotlb_ways, iommu.flush, iommu.page_bits], [12, 4, 0, 12]);
    assert_eq!(iommu.levels().collect::<Vec<_>>(), [12, 21, 30, 39]);
    let lazy = socket(SERVER, &["iommu.mode=lazy", "iommu.page=1 GiB", "memory.page=1 GiB"]).iommu.expect("an IOMMU");
    assert_eq!((lazy.flush, lazy.levels().collect::<Vec<_>>()), (256, vec![30, 39]));
}

#[test]
fn keys_of_an_iommu_that_is_off_are_noted() {
    let notes = plan(SERVER, &["iommu.iotlb.entries=16"]).ignored;
    assert!(notes.iter().any(|note| note.starts_with("iommu: ")), "{notes:?}");
    let drives = "server.preset = \"cascade-lake-6234\"\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n";
    let notes = plan(drives, &["dma.latency=1 us"]).ignored;
    assert!(notes.iter().any(|note| note.starts_with("dma: ")), "{notes:?}");
    assert!(!plan(SERVER, &["iommu.mode=lazy"]).ignored.iter().any(|note| note.starts_with("iommu")));
}

#[test]
fn what_is_wrong_is_said() {
    let lazy = "iommu.mode=lazy";
    assert_refused(&["iommu.mode=lazzy"], "[unknown-name iommu.mode] lazzy | \"lazy\"");
    assert_refused(&[lazy, "iommu.page=8 KiB"], "[out-of-range iommu.page] 8 KiB | 4 KiB");
    assert_refused(&[lazy, "iommu.page=2 MiB"], "[does-not-fit iommu.page] 2 MiB | 16 KiB | memory.run");
    assert_refused(&[lazy, "iommu.iotlb.ways=65"], "[does-not-fit iommu.iotlb.ways] 65 | 64");
    assert_refused(&[lazy, "iommu.iotlb.ways=48"], "[not-a-multiple iommu.iotlb.ways] 64 | 48");
    assert_refused(&[lazy, "iommu.walks=0"], "[out-of-range iommu.walks] 1 to 1024");
    assert_refused(&[lazy, "iommu.walk=3"], "[unknown-key iommu.walk] \"walks\"");
    let small = ["workload.d.window=64 B", "workload.d.size=128 B"];
    assert_refused(&small, "[wrong-order workload.d.window] 64 B | 128 B");
    assert_refused(&["workload.d.size=100 B"], "[not-a-multiple workload.d.size] 64 B");
    assert_refused(&["workload.d.warm=true"], "[requires-key workload.d.warm] cache.enabled");
    assert_refused(&["workload.d.operation=swap"], "[unknown-name workload.d.operation] swap | read");
}
