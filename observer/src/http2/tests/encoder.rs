//! Compresses header fields as far as it can: every field is put into the dynamic table when it is first sent.

use std::collections::VecDeque;

/// The only static fields that conversations have.
const STATIC: [(usize, &str, &str); 8] = [
    (2, ":method", "GET"),
    (3, ":method", "POST"),
    (4, ":path", "/"),
    (6, ":scheme", "http"),
    (8, ":status", "200"),
    (13, ":status", "404"),
    (31, "content-type", ""),
    (33, "date", ""),
];

#[derive(Default)]
pub(super) struct Encoder {
    /// The newest first.
    table: VecDeque<(String, String)>,
}

impl Encoder {
    pub(super) fn encode(&mut self, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        for &(name, value) in fields {
            let fixed = STATIC.iter().filter(|(_, known, _)| *known == name);
            let exact = fixed.clone().find(|(.., known)| *known == value).map(|&(index, ..)| index);
            let remembered =
                self.table.iter().position(|(n, v)| n == name && v == value).map(|index| index + 62);
            if let Some(index) = exact.or(remembered) {
                integer(0x80, 7, index, &mut block);
                continue;
            }
            let remembered = self.table.iter().position(|(known, _)| known == name).map(|index| index + 62);
            let index = fixed.clone().next().map(|&(index, ..)| index).or(remembered).unwrap_or(0);
            integer(0x40, 6, index, &mut block);
            if index == 0 {
                string(name, &mut block);
            }
            string(value, &mut block);
            self.table.push_front((name.into(), value.into()));
            while self.table.iter().map(|(name, value)| name.len() + value.len() + 32).sum::<usize>() > 4096 {
                self.table.pop_back();
            }
        }
        block
    }
}

fn string(text: &str, block: &mut Vec<u8>) {
    integer(0, 7, text.len(), block);
    block.extend(text.as_bytes());
}

fn integer(start: u8, bits: u32, value: usize, block: &mut Vec<u8>) {
    let mask = (1 << bits) - 1;
    if value < mask {
        block.push(start | u8::try_from(value).unwrap());
        return;
    }
    block.push(start | u8::try_from(mask).unwrap());
    let mut rest = value - mask;
    while rest >= 128 {
        block.push(u8::try_from(rest % 128).unwrap() | 0x80);
        rest /= 128;
    }
    block.push(u8::try_from(rest).unwrap());
}
