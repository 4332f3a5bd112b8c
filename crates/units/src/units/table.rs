//! Defines the table of units.

use super::Dimension;

/// Unit, as a fraction of base units of its dimension.
pub(super) struct Unit {
    pub(super) name: &'static str,
    pub(super) dimension: Dimension,
    pub(super) numerator: u64,
    pub(super) denominator: u64,
}

const fn unit(name: &'static str, dimension: Dimension, numerator: u64) -> Unit {
    Unit { name, dimension, numerator, denominator: 1 }
}

const fn bits(name: &'static str, numerator: u64) -> Unit {
    Unit { name, dimension: Dimension::Bandwidth, numerator, denominator: 8 }
}

pub(super) const K: u64 = 1_000;
pub(super) const M: u64 = K * K;
pub(super) const G: u64 = M * K;
pub(super) const T: u64 = G * K;
pub(super) const KI: u64 = 1 << 10;
pub(super) const MI: u64 = 1 << 20;
pub(super) const GI: u64 = 1 << 30;
pub(super) const TI: u64 = 1 << 40;

/// Every known unit. If a unit has several names, values are written with the first.
pub(super) const UNITS: &[Unit] = &[
    unit("ps", Dimension::Time, 1),
    unit("ns", Dimension::Time, K),
    unit("us", Dimension::Time, M),
    unit("µs", Dimension::Time, M),
    unit("μs", Dimension::Time, M),
    unit("ms", Dimension::Time, G),
    unit("s", Dimension::Time, T),
    unit("B", Dimension::Size, 1),
    unit("kB", Dimension::Size, K),
    unit("KB", Dimension::Size, K),
    unit("MB", Dimension::Size, M),
    unit("GB", Dimension::Size, G),
    unit("TB", Dimension::Size, T),
    unit("KiB", Dimension::Size, KI),
    unit("MiB", Dimension::Size, MI),
    unit("GiB", Dimension::Size, GI),
    unit("TiB", Dimension::Size, TI),
    Unit { name: "bit", dimension: Dimension::Size, numerator: 1, denominator: 8 },
    unit("B/s", Dimension::Bandwidth, 1),
    unit("kB/s", Dimension::Bandwidth, K),
    unit("KB/s", Dimension::Bandwidth, K),
    unit("MB/s", Dimension::Bandwidth, M),
    unit("GB/s", Dimension::Bandwidth, G),
    unit("TB/s", Dimension::Bandwidth, T),
    unit("KiB/s", Dimension::Bandwidth, KI),
    unit("MiB/s", Dimension::Bandwidth, MI),
    unit("GiB/s", Dimension::Bandwidth, GI),
    bits("b/s", 1),
    bits("kb/s", K),
    bits("Mb/s", M),
    bits("Gb/s", G),
    bits("Tb/s", T),
    bits("bps", 1),
    bits("kbps", K),
    bits("Mbps", M),
    bits("Gbps", G),
    bits("Tbps", T),
    bits("kbit/s", K),
    bits("Mbit/s", M),
    bits("Gbit/s", G),
    unit("T/s", Dimension::TransferRate, 1),
    unit("kT/s", Dimension::TransferRate, K),
    unit("MT/s", Dimension::TransferRate, M),
    unit("GT/s", Dimension::TransferRate, G),
    unit("Hz", Dimension::Frequency, 1),
    unit("kHz", Dimension::Frequency, K),
    unit("MHz", Dimension::Frequency, M),
    unit("GHz", Dimension::Frequency, G),
    unit("uW", Dimension::Power, 1),
    unit("µW", Dimension::Power, 1),
    unit("mW", Dimension::Power, K),
    unit("W", Dimension::Power, M),
    unit("kW", Dimension::Power, G),
    unit("fJ", Dimension::Energy, 1),
    unit("pJ", Dimension::Energy, K),
    unit("nJ", Dimension::Energy, M),
    unit("uJ", Dimension::Energy, G),
    unit("µJ", Dimension::Energy, G),
    unit("mJ", Dimension::Energy, T),
    unit("J", Dimension::Energy, K * T),
    unit("uV", Dimension::Voltage, 1),
    unit("µV", Dimension::Voltage, 1),
    unit("mV", Dimension::Voltage, K),
    unit("V", Dimension::Voltage, M),
    unit("uV/us", Dimension::Slew, 1),
    unit("mV/us", Dimension::Slew, K),
    unit("V/us", Dimension::Slew, M),
    unit("V/ms", Dimension::Slew, K),
    unit("/s", Dimension::Rate, 1),
    unit("k/s", Dimension::Rate, K),
    unit("M/s", Dimension::Rate, M),
    unit("G/s", Dimension::Rate, G),
];

/// Lists every unit: its name, its dimension, and the numerator and denominator of its size in base units.
pub fn list_units() -> impl Iterator<Item = (&'static str, Dimension, u64, u64)> {
    UNITS.iter().map(|unit| (unit.name, unit.dimension, unit.numerator, unit.denominator))
}
