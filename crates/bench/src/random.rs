//! Generates random servers that predictions cover.

use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_kernel::Rng;
use std::path::Path;

const DEVICES: [&str; 5] = ["DDR4_2400", "DDR4_2933", "DDR4_3200", "DDR5_4800", "DDR5_6400"];

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.below(from.len() as u64) as usize]
}

/// Returns a server of 2 to 32 cores that load or store, with drives or without.
///
/// # Panics
/// Panics if the configuration is refused, which is a defect.
#[must_use]
pub fn server(seed: u64) -> Plan {
    let rng = &mut Rng::new(seed, 0);
    let count = 2 << rng.below(5);
    let preset = pick(rng, &["cascade-lake-6234", "ice-lake-8362"]);
    let (channels, device) = (pick(rng, &["1", "2", "3", "4", "6", "8"]), pick(rng, &DEVICES));
    let (entries, tor) = (pick(rng, &["8", "10", "12", "16", "24"]), pick(rng, &["8", "10", "14", "20", "32"]));
    let (writes, reads) = (pick(rng, &["23", "46", "92", "184"]), pick(rng, &["50", "100", "200", "400"]));
    let (share, pattern) = (pick(rng, &["0.0", "0.5", "1.0"]), pick(rng, &["sequential", "random"]));
    // A repeated word has a larger weight.
    let gap = pick(rng, &["0 ns", "0 ns", "0 ns", "40 ns", "200 ns"]);
    let rw = pick(rng, &["", "read", "read", "write", "rw"]);
    let last = if rw.is_empty() { count - 1 } else { (count - 2).max(0) };
    let mut text = format!(
        "server.preset = \"{preset}\"\ncore = {{ count = {count}, lfb.entries = {entries} }}\n\
        cha = {{ slices = {}, tor = {{ entries = {tor}, write_entries = {tor} }} }}\n\
        memory = {{ channels = {channels}, device = \"{device}\" }}\n\
        iio = {{ write_credits = {writes}, read_credits = {reads} }}\n\
        run = {{ duration = \"120 us\", warmup = \"auto\", seed = {seed} }}\n\
        workload.stream = {{ kind = \"stream\", cores = \"0-{last}\", working_set = \"64 MiB\", reads = {share}, \
        pattern = \"{pattern}\", \
        gap = \"{gap}\" }}\n",
        count.max(18)
    );
    if !rw.is_empty() {
        let drives = 1 << rng.below(4);
        let rate = pick(rng, &["0.7", "1.5", "3.5", "7"]);
        let job =
            |drive| format!("{{ rw = \"{rw}\", bs = \"128 KiB\", iodepth = 32, size = \"1 GiB\", ssd = {drive} }}");
        let jobs: Vec<String> = (0..drives).map(job).collect();
        let rates = if preset == "ice-lake-8362" {
            format!("read_bandwidth = \"{rate} GB/s\", write_bandwidth = \"{rate} GB/s\"")
        } else {
            format!("bandwidth = \"{rate} GB/s\"")
        };
        text += &format!(
            "ssd = {{ count = {drives}, {rates} }}\n\
            workload.disk = {{ kind = \"fio\", cores = \"{}\", jobs = [{}] }}\n",
            count - 1,
            jobs.join(", ")
        );
    }
    let input = Input { text: &text, format: Format::Toml, file: "random", base_dir: Path::new("."), overrides: &[] };
    resolve(&input).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
