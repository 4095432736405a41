//! The ring buffer's reading end.

use aya::{
    Ebpf,
    maps::{MapData, RingBuf},
};

use super::CaptureError;
use crate::pairing::Record;

/// The ring of exchanges.
pub(super) struct Ring {
    buffer: RingBuf<MapData>,
    /// Records that do not decode: an object of another build.
    malformed: u64,
}

impl Ring {
    /// Takes the ring out of the loaded object.
    pub(super) fn open(ebpf: &mut Ebpf) -> Result<Self, CaptureError> {
        let broken = |reason: String| CaptureError::Object { reason };
        let map = ebpf.take_map("EXCHANGES").ok_or_else(|| broken("it has no map EXCHANGES".to_owned()))?;
        let buffer = RingBuf::try_from(map)
            .map_err(|error| broken(format!("its map EXCHANGES is not usable: {error}")))?;
        Ok(Self { buffer, malformed: 0 })
    }

    /// Hands over every record that is there.
    pub(super) fn drain(&mut self, mut each: impl FnMut(Record<'_>)) {
        while let Some(item) = self.buffer.next() {
            match Record::parse(&item) {
                Some(record) => each(record),
                None => self.malformed += 1,
            }
        }
    }

    /// How many records did not decode.
    pub(super) fn malformed(&self) -> u64 {
        self.malformed
    }
}
