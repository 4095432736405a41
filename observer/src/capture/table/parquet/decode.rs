//! From a column of Arrow to a field of many exchanges.

use arrow_array::{
    Array, DictionaryArray,
    cast::AsArray,
    types::{
        ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
        UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::DataType;

use super::super::{Contradiction, contradiction};
use crate::{
    exchange::{Exchange, Names},
    recording::columns::{Column, Field, outcome_of, role_of},
};

/// A value that cannot be used.
pub(super) struct Fault {
    /// The row, from 0 within the batch.
    pub(super) row: usize,
    /// Its column.
    pub(super) column: &'static str,
    /// The value, where there is one.
    pub(super) found: Option<String>,
    /// What it has to be.
    pub(super) expected: &'static str,
}

/// Adds what only a whole row shows: times that contradict each other.
pub(super) fn contradictions(exchanges: &[Exchange], faults: &mut Vec<Fault>) {
    let contradictory = exchanges.iter().enumerate().filter_map(|(row, exchange)| {
        let Contradiction { column, found, expected } = contradiction(exchange)?;
        Some(Fault { row, column, found: Some(found), expected })
    });
    faults.extend(contradictory);
}

/// Where the values of one column go.
struct Sink<'a> {
    column: &'static Column,
    faults: &'a mut Vec<Fault>,
}

impl Sink<'_> {
    /// The value is of no use.
    fn refuse(&mut self, row: usize, value: &impl ToString) {
        self.fault(row, Some(value.to_string()));
    }

    /// There is no value.
    fn miss(&mut self, row: usize) {
        if self.column.is_required() {
            self.fault(row, None);
        }
    }

    fn fault(&mut self, row: usize, found: Option<String>) {
        let (column, expected) = (self.column.name, self.column.expected());
        self.faults.push(Fault { row, column, found, expected });
    }
}

/// Takes over one column of a batch. The array's type was checked before.
pub(super) fn column(
    column: &'static Column,
    array: &dyn Array,
    exchanges: &mut [Exchange],
    names: &mut Names,
    faults: &mut Vec<Fault>,
) {
    let mut sink = Sink { column, faults };
    match column.field {
        Field::RequiredNumber(_, set) | Field::Number(_, set) => {
            numbers(array, &mut sink, Some, |row, value| set(&mut exchanges[row], value));
        }
        Field::SmallNumber(_, set) => {
            let small = |value| u32::try_from(value).ok();
            numbers(array, &mut sink, small, |row, value| set(&mut exchanges[row], value));
        }
        Field::RequiredText(_, set) | Field::DefaultedText(_, set) | Field::OptionalText(_, set) => {
            texts(array, &mut sink, |text| Some(names.id(text)), |row, id| set(&mut exchanges[row], id));
        }
        Field::Outcome => {
            texts(array, &mut sink, outcome_of, |row, outcome| exchanges[row].outcome = outcome);
        }
        Field::Role => texts(array, &mut sink, role_of, |row, role| exchanges[row].role = role),
        Field::Failed => {
            for (row, value) in array.as_boolean_opt().into_iter().flatten().enumerate() {
                exchanges[row].failed = value.unwrap_or(false);
            }
        }
    }
}

/// Calls `set` for every number that is there and that `narrow` lets through.
fn numbers<N>(
    array: &dyn Array,
    sink: &mut Sink<'_>,
    narrow: impl Fn(u64) -> Option<N>,
    mut set: impl FnMut(usize, N),
) {
    let mut narrowed = |row, value: Option<u64>| match value.and_then(&narrow) {
        Some(value) => {
            set(row, value);
            true
        }
        None => false,
    };
    let each = &mut narrowed;
    match array.data_type() {
        DataType::UInt64 => primitives::<UInt64Type>(array, sink, Some, each),
        DataType::Int64 => primitives::<Int64Type>(array, sink, |value| value.try_into().ok(), each),
        DataType::UInt32 => primitives::<UInt32Type>(array, sink, |value| Some(value.into()), each),
        DataType::Int32 => primitives::<Int32Type>(array, sink, |value| value.try_into().ok(), each),
        DataType::UInt16 => primitives::<UInt16Type>(array, sink, |value| Some(value.into()), each),
        DataType::Int16 => primitives::<Int16Type>(array, sink, |value| value.try_into().ok(), each),
        DataType::UInt8 => primitives::<UInt8Type>(array, sink, |value| Some(value.into()), each),
        DataType::Int8 => primitives::<Int8Type>(array, sink, |value| value.try_into().ok(), each),
        DataType::Float64 => primitives::<Float64Type>(array, sink, whole, each),
        DataType::Float32 => primitives::<Float32Type>(array, sink, |value| whole(value.into()), each),
        _ => (0..array.len()).for_each(|row| sink.miss(row)), // a column without any value
    }
}

fn primitives<T: ArrowPrimitiveType<Native: ToString>>(
    array: &dyn Array,
    sink: &mut Sink<'_>,
    convert: impl Fn(T::Native) -> Option<u64>,
    set: &mut impl FnMut(usize, Option<u64>) -> bool,
) {
    for (row, value) in array.as_primitive::<T>().iter().enumerate() {
        match value {
            Some(value) => {
                if !set(row, convert(value)) {
                    sink.refuse(row, &value);
                }
            }
            None => sink.miss(row),
        }
    }
}

/// A whole number that some program kept as floating point, because others of its column are missing.
fn whole(value: f64) -> Option<u64> {
    // Above 2⁵³ not every whole number has a floating-point form.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within bounds")]
    ((0.0..=EXACT).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

/// Calls `set` for every text that is there, with what `resolve` makes of it, once for each distinct text.
/// An empty text is none, as in CSV.
fn texts<T: Copy>(
    array: &dyn Array,
    sink: &mut Sink<'_>,
    mut resolve: impl FnMut(&str) -> Option<T>,
    mut set: impl FnMut(usize, T),
) {
    let dictionary = array.as_any().downcast_ref::<DictionaryArray<Int32Type>>();
    let values = dictionary.and_then(|dictionary| dictionary.values().as_string_opt::<i32>());
    let (Some(dictionary), Some(values)) = (dictionary, values) else {
        (0..array.len()).for_each(|row| sink.miss(row)); // a column without any value
        return;
    };
    let mut resolved: Vec<Option<Option<T>>> = vec![None; values.len()];
    for (row, key) in dictionary.keys().iter().enumerate() {
        let Some(key) =
            key.and_then(|key| usize::try_from(key).ok()).filter(|&key| !values.value(key).is_empty())
        else {
            sink.miss(row);
            continue;
        };
        match *resolved[key].get_or_insert_with(|| resolve(values.value(key))) {
            Some(value) => set(row, value),
            None => sink.refuse(row, &values.value(key)),
        }
    }
}
