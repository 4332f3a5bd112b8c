//! A NIC in a DIMM.

use crate::books::datagrams;
use crate::lab::{plan, run};
use hostnet_model::transport::journey::Stage;

/// Two nodes of the NetDIMM study at a cable.
fn nodes(keys: &str, flow: &str) -> String {
    format!(
        "[host.node]\npreset = \"netdimm-host\"\ncount = 2\nnic.attach = \"dimm\"\n{keys}\n\
         [network]\ntopology = \"direct\"\nrate = \"40 Gbps\"\nlatency = \"10 ns\"\nmtu = \"9000 B\"\n\
         [run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n\
         [flow.f]\nkind = \"datagram\"\nfrom = \"node-0\"\nto = \"node-1\"\n{flow}"
    )
}

fn ping(bytes: u32) -> String {
    format!("pattern = \"ping\"\nrequest = \"{bytes} B\"\nresponse = \"{bytes} B\"\nthink = \"1 us\"\n")
}

/// Mean ps of each stage of what an idle server is asked.
fn idle(keys: &str, bytes: u32) -> [f64; 10] {
    let simulation = run(&plan(&nodes(keys, &ping(bytes))), 200);
    let all = datagrams(&simulation);
    let end = all.iter().find(|end| end.host == 1).expect("an end there");
    let journeys = end.application.journeys();
    assert!(journeys.total().count() > 10, "{keys}");
    Stage::ALL.map(|stage| journeys.sum_ps(stage) as f64 / journeys.total().count() as f64)
}

#[test]
fn explore() {
    for bytes in [10, 64, 256, 1024, 2000] {
        for keys in ["nic.attach = \"pcie\"", "nic.attach = \"onchip\"", ""] {
            let text = nodes(keys, &ping(bytes)).replace("nic.attach = \"dimm\"\nnic", "nic");
            let simulation = run(&plan(&text), 200);
            let all = datagrams(&simulation);
            let end = all.iter().find(|end| end.host == 1).expect("an end there");
            let journeys = end.application.journeys();
            let n = journeys.total().count().max(1) as f64;
            let s: Vec<String> = Stage::ALL.iter().map(|&s| format!("{s:?} {:.0}", journeys.sum_ps(s) as f64 / n / 1000.0)).collect();
            println!("{bytes} {keys:24} n={n} total {:.0} {}", journeys.total().mean().unwrap_or(0.0) / 1000.0, s.join(" "));
        }
    }
}
