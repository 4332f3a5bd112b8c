//! Captures of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    pub time_ps: u64,
    pub ip_bytes: u32,
}
#[derive(Clone, Debug)]
pub struct PcapError {
    message: String,
}
impl PcapError {
    pub fn message(&self) -> String {
        self.message.clone()
    }
}
pub fn read(_path: &std::path::Path) -> Result<Vec<Captured>, PcapError> {
    Ok(Vec::new())
}
