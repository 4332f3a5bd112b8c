//! Peak memory of this process, where the system counts it.

/// Returns the peak memory of this process since the current benchmark group began, in bytes; `None` where the system
/// has no `/proc/self/status`.
#[must_use]
pub fn peak_bytes() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Resets the peak. If the system refuses, the peak remains that of the whole run.
pub(crate) fn reset_peak() {
    // "5" resets VmHWM (Linux, Documentation/filesystems/proc.rst).
    let _refused = std::fs::write("/proc/self/clear_refs", "5");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_high_water_mark() {
        assert_eq!(parse("VmPeak:\t    9 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 7 kB\n"), Some(1234 * 1024));
        assert_eq!(parse("VmPeak:\t    9 kB\n"), None);
        assert_eq!(parse("VmHWM:\t many\n"), None);
    }
}
