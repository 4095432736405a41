//! Header blocks of one direction of a connection (RFC 7541, sections 3 and 6).

use super::{
    Malformed,
    dynamic_table::{DynamicTable, Found},
    reader::Reader,
    static_table,
};

/// Bytes of text in the literals of one block. A block of 64 KiB that takes its names from one large entry again and
/// again would otherwise have gigabytes copied.
const MOST_TEXT: usize = 1024 * 1024;

/// What one direction's sender and the decoder both remember.
#[derive(Debug)]
pub(in super::super) struct Decoder {
    table: DynamicTable,
    name: Vec<u8>,
    value: Vec<u8>,
}

/// Where a field's name comes from.
enum Name {
    Static(&'static [u8]),
    /// It is in `Decoder::name`.
    Copied,
    Hidden,
}

impl Decoder {
    /// For a connection that is seen from its start, or is not.
    pub(in super::super) fn new(from_the_start: bool) -> Self {
        let mut table = DynamicTable::new();
        if !from_the_start {
            table.lose();
        }
        Self { table, name: Vec::new(), value: Vec::new() }
    }

    /// Something was not seen: what the dynamic table holds is unknown, but for what is added from now on.
    pub(in super::super) fn lose(&mut self) {
        self.table.lose();
    }

    /// Whether every field can be read.
    #[cfg(test)]
    pub(in super::super) const fn is_certain(&self) -> bool {
        self.table.is_whole()
    }

    /// Bytes of memory in use for texts.
    #[cfg(test)]
    pub(in super::super) fn held(&self) -> usize {
        self.table.held() + self.name.capacity() + self.value.capacity()
    }

    /// Hands every field of a whole block to `each`, in order: name and value, or nothing where it refers to a part of
    /// the table that is not known. How a block is taken apart does not depend on the table, so that what can be read
    /// without it is certain.
    pub(in super::super) fn decode(
        &mut self,
        block: &[u8],
        mut each: impl FnMut(Option<(&[u8], &[u8])>),
    ) -> Result<(), Malformed> {
        let result = self.fields(block, &mut each);
        if result.is_err() {
            self.lose();
        }
        result
    }

    fn fields(
        &mut self,
        block: &[u8],
        each: &mut impl FnMut(Option<(&[u8], &[u8])>),
    ) -> Result<(), Malformed> {
        let mut reader = Reader::new(block);
        let mut text = 0;
        while let Some(first) = reader.byte() {
            if first & 0x80 != 0 {
                // Section 6.1: name and value from a table.
                let index = reader.integer(first, 7)?;
                each(self.get(index)?);
            } else if first & 0xc0 == 0x40 {
                // Section 6.2.1: a literal to be remembered.
                text += self.literal(&mut reader, first, true, each)?;
            } else if first & 0xe0 == 0x20 {
                // Section 6.3.
                self.table.resize(reader.integer(first, 5)?);
            } else {
                // Sections 6.2.2 and 6.2.3: a literal that is not remembered.
                text += self.literal(&mut reader, first, false, each)?;
            }
            if text > MOST_TEXT {
                return Err(Malformed);
            }
        }
        Ok(())
    }

    /// The field at an index of both tables (section 2.3.3); nothing where it is hidden.
    #[expect(clippy::type_complexity, reason = "a name and a value, as everywhere here")]
    fn get(&self, index: usize) -> Result<Option<(&[u8], &[u8])>, Malformed> {
        if index <= static_table::LENGTH {
            return static_table::get(index).map(Some).ok_or(Malformed);
        }
        match self.table.get(index - static_table::LENGTH - 1) {
            Found::Field(name, value) => Ok(Some((name, value))),
            Found::Hidden => Ok(None),
            Found::Nothing => Err(Malformed),
        }
    }

    /// A literal, whose name may come from a table: the first byte says from where. How many bytes of text it has.
    fn literal(
        &mut self,
        reader: &mut Reader<'_>,
        first: u8,
        remember: bool,
        each: &mut impl FnMut(Option<(&[u8], &[u8])>),
    ) -> Result<usize, Malformed> {
        let index = reader.integer(first, if remember { 6 } else { 4 })?;
        let source = self.name(reader, index)?;
        let value = reader.string(&mut self.value)?;
        let name = match source {
            Name::Static(name) => name,
            Name::Copied => self.name.as_slice(),
            Name::Hidden => {
                each(None);
                if remember {
                    self.table.insert_hidden();
                }
                return Ok(0);
            }
        };
        each(Some((name, value)));
        if remember {
            self.table.insert(name, value);
        }
        Ok(name.len() + value.len())
    }

    fn name(&mut self, reader: &mut Reader<'_>, index: usize) -> Result<Name, Malformed> {
        if index == 0 {
            let mut decoded = std::mem::take(&mut self.value);
            let name = reader.string(&mut decoded);
            if let Ok(name) = name {
                self.name.clear();
                self.name.extend_from_slice(name);
            }
            let result = name.map(|_| Name::Copied);
            self.value = decoded;
            return result;
        }
        if let Some((name, _)) = static_table::get(index) {
            return Ok(Name::Static(name));
        }
        match self.table.get(index - static_table::LENGTH - 1) {
            Found::Field(name, _) => {
                self.name.clear();
                self.name.extend_from_slice(name);
                Ok(Name::Copied)
            }
            Found::Hidden => Ok(Name::Hidden),
            Found::Nothing => Err(Malformed),
        }
    }
}
