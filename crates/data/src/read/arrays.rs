//! Files that hold named numeric arrays (`.mat`, `.npz`, `.npy`): naming their columns and decoding their numbers.
//!
//! An array `u` of one column is the column `u`; one of m > 1 columns is the columns `u1` … `um`. Time runs down the
//! rows; a row vector is refused, never transposed on a guess.

use std::collections::BTreeMap;
use std::io::{self, Read};

use crate::error::{ArrayExpectation, DataError, FileProblem};
use crate::read::columns::{Selection, TimeChoice};
use crate::read::header::{Header, split_unit};
use crate::read::limit::Limit;
use crate::read::options::{MissingPolicy, Position, ReadOptions};
use crate::read::table::{Labels, Table, check_value};
use crate::read::times::{TimeCell, Times};

/// More columns than this in one array are a sign of a transposed or damaged file.
const MOST_COLUMNS: u64 = 10_000;

/// What a file says about one of its arrays.
#[derive(Clone, Debug)]
pub(super) struct ArrayInfo {
    pub(super) name: String,
    /// Bytes of the name in front of the field of a structure.
    pub(super) field_at: usize,
    pub(super) rows: u64,
    pub(super) columns: u64,
    /// Rows and columns of numbers in two dimensions, whichever way time runs.
    pub(super) shape: Option<(u64, u64)>,
    /// Why the array cannot be a channel: its shape or type, and what is expected. An error only if it is chosen.
    pub(super) unusable: Option<(String, ArrayExpectation)>,
}

impl ArrayInfo {
    /// An array of numbers; `shape` has no, one, two or more entries.
    pub(super) fn numeric(name: String, shape: &[u64]) -> Self {
        let text = shape.iter().map(u64::to_string).collect::<Vec<_>>().join("×");
        let (rows, columns) = match *shape {
            [] => (1, 1),
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Self::unusable(name, text, ArrayExpectation::TwoDimensions),
        };
        let shape = Some((rows, columns));
        if rows == 1 && columns > 1 {
            return Self {
                shape,
                ..Self::unusable(name, text, ArrayExpectation::SamplesDownRows)
            };
        }
        if columns > MOST_COLUMNS {
            return Self {
                shape,
                ..Self::unusable(name, text, ArrayExpectation::FewerColumns { most: MOST_COLUMNS })
            };
        }
        Self {
            name,
            field_at: 0,
            rows,
            columns,
            shape,
            unusable: None,
        }
    }

    /// The same array as a field of a structure.
    pub(super) fn inside(mut self, structure: &str) -> Self {
        self.name = format!("{structure}.{}", self.name);
        self.field_at = structure.len() + 1;
        self
    }

    pub(super) fn unusable(name: String, found: String, expected: ArrayExpectation) -> Self {
        Self {
            name,
            field_at: 0,
            rows: 0,
            columns: 1,
            shape: None,
            unusable: Some((found, expected)),
        }
    }
}

/// A file format that lists its arrays and decodes some columns of one of them.
pub(super) trait ArrayFile {
    fn arrays(&self) -> &[ArrayInfo];

    /// The columns `wanted` (in this order) of array `index`.
    fn read(&mut self, index: usize, wanted: &[usize]) -> Result<Vec<Vec<f64>>, DataError>;
}

/// Reads the chosen columns; also returns the names of all columns.
pub(super) fn read_table(
    file: &str,
    source: &mut impl ArrayFile,
    limit: &Limit<'_>,
    options: &ReadOptions,
) -> Result<(Header, Selection, Table), DataError> {
    let mut names = Vec::new();
    let mut parts = Vec::new();
    let mut places = Vec::new();
    for (index, array) in source.arrays().iter().enumerate() {
        for column in 0..array.columns {
            let name = match array.columns {
                1 => array.name.clone(),
                _ => format!("{}{}", array.name, column + 1),
            };
            let (short, unit) = split_unit(&name[array.field_at..]);
            parts.push((short.to_owned(), unit.map(str::to_owned)));
            names.push(name);
            places.push((index, column as usize));
        }
    }
    let header = Header::with_short_names(names, parts);
    let selection = Selection::new(file, &header, options)?;
    // A column that merely looks like the times must not make a file unreadable.
    let is_usable = |time: &TimeChoice| {
        let array = &source.arrays()[places[time.column].0];
        let channel = selection
            .channels()
            .next()
            .map(|column| source.arrays()[places[column].0].rows);
        time.is_asked || (array.unusable.is_none() && Some(array.rows) == channel)
    };
    let time = selection.time.clone().filter(is_usable);
    let time_column = time.as_ref().map(|time| time.column);
    let chosen: Vec<usize> = selection
        .channels()
        .chain(selection.experiment)
        .chain(time_column)
        .collect();
    let mut first: Option<ArrayInfo> = None;
    for &column in &chosen {
        let array = &source.arrays()[places[column].0];
        if let Some((found, expected)) = &array.unusable {
            return Err(FileProblem::ArrayShape {
                array: array.name.clone(),
                found: found.clone(),
                expected: *expected,
            }
            .of(file));
        }
        let first = first.get_or_insert_with(|| array.clone());
        if array.rows != first.rows {
            return Err(FileProblem::ArrayLengths {
                array: array.name.clone(),
                found: array.rows,
                expected: first.rows,
                first: first.name.clone(),
            }
            .of(file));
        }
    }
    let rows = first.map_or(0, |array| array.rows);
    limit.check(rows.saturating_mul(chosen.len() as u64))?;
    // One pass over each array, whatever the order in which its columns were chosen.
    let mut columns: Vec<Vec<f64>> = chosen.iter().map(|_| Vec::new()).collect();
    let mut slots_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (slot, column) in chosen.iter().enumerate() {
        slots_of.entry(places[*column].0).or_default().push(slot);
    }
    for (index, slots) in slots_of {
        let wanted: Vec<usize> = slots.iter().map(|slot| places[chosen[*slot]].1).collect();
        for (slot, column) in slots.into_iter().zip(source.read(index, &wanted)?) {
            columns[slot] = column;
        }
    }
    let (time, warning) = match time {
        Some(choice) => {
            let mut times = Times::new(file, &header, choice, options);
            for (row, value) in columns.pop().unwrap_or_default().into_iter().enumerate() {
                times.push(TimeCell::Number(value), Position::Row(row as u64 + 1), || {
                    value.to_string()
                })?;
            }
            times.finish()?
        }
        None => (None, None),
    };
    let mut labels = Labels::default();
    if selection.experiment.is_some() {
        for (row, value) in columns.pop().unwrap_or_default().into_iter().enumerate() {
            let label = if value.is_nan() {
                String::new()
            } else {
                value.to_string()
            };
            labels.push(row, &label, file, Position::Row(row as u64 + 1))?;
        }
    }
    check_columns(file, &header, &selection, &columns, options.while_reading())?;
    let table = Table {
        columns,
        labels,
        time,
        first_row: Some(Position::Row(1)),
        available: header.full.clone(),
        warnings: warning.into_iter().collect(),
        filled: Vec::new(),
    };
    Ok((header, selection, table))
}

/// Checks the samples of all columns.
pub(super) fn check_columns(
    file: &str,
    header: &Header,
    selection: &Selection,
    columns: &[Vec<f64>],
    policy: MissingPolicy,
) -> Result<(), DataError> {
    for (name, column) in selection.channels().zip(columns) {
        for (row, value) in column.iter().enumerate() {
            check_value(*value, policy, file, &header.full[name], Position::Row(row as u64 + 1))?;
        }
    }
    Ok(())
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

/// A stored number type with its byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) kind: Kind,
    pub(super) big_endian: bool,
}

impl Element {
    /// Bytes per number, 1 to 8.
    pub(super) fn size(self) -> usize {
        match self.kind {
            Kind::Signed(size) | Kind::Unsigned(size) | Kind::Float(size) => size,
        }
    }

    fn decode(self, bytes: &[u8]) -> f64 {
        let size = self.size();
        let mut low_first = [0_u8; 8];
        for (index, slot) in low_first[..size].iter_mut().enumerate() {
            *slot = bytes[if self.big_endian { size - 1 - index } else { index }];
        }
        let bits = u64::from_le_bytes(low_first);
        match self.kind {
            Kind::Unsigned(_) => bits as f64,
            // Shift up and back to extend the sign.
            Kind::Signed(_) => {
                let unused = 64 - 8 * size as u32;
                ((bits << unused) as i64 >> unused) as f64
            }
            Kind::Float(4) => f64::from(f32::from_bits(bits as u32)),
            Kind::Float(_) => f64::from_bits(bits),
        }
    }
}

/// Numbers of an array in file order.
pub(super) struct Layout {
    pub(super) element: Element,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) column_major: bool,
    /// Bytes that certainly hold data: the most that is reserved on the file's word alone.
    pub(super) justified_bytes: u64,
}

/// Decodes the `wanted` columns and skips the others.
pub(super) fn read_columns(reader: &mut dyn Read, layout: &Layout, wanted: &[usize]) -> io::Result<Vec<Vec<f64>>> {
    let size = layout.element.size();
    let justified = layout.justified_bytes / (size as u64 * layout.columns.max(1));
    let capacity = layout.rows.min(justified) as usize;
    let mut columns: Vec<Vec<f64>> = wanted.iter().map(|_| Vec::with_capacity(capacity)).collect();
    let mut slots: Vec<Vec<usize>> = vec![Vec::new(); layout.columns as usize];
    for (slot, &column) in wanted.iter().enumerate() {
        slots[column].push(slot);
    }
    let total = layout
        .rows
        .checked_mul(layout.columns)
        .ok_or(io::ErrorKind::InvalidData)?;
    let mut buffer = vec![0_u8; 8192 * size];
    let mut done = 0;
    let (mut row, mut column) = (0, 0);
    while done < total {
        let count = (total - done).min(8192) as usize;
        let bytes = &mut buffer[..count * size];
        reader.read_exact(bytes)?;
        for number in bytes.chunks_exact(size) {
            for &slot in &slots[column] {
                super::table::push(&mut columns[slot], layout.element.decode(number));
            }
            if layout.column_major {
                row += 1;
                if row == layout.rows {
                    (row, column) = (0, column + 1);
                }
            } else {
                column += 1;
                if column == slots.len() {
                    column = 0;
                }
            }
        }
        done += count as u64;
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_kinds() {
        let value = |kind, big_endian, bytes: &[u8]| Element { kind, big_endian }.decode(bytes);
        let cases = [
            (value(Kind::Signed(1), false, &[0xff]), -1.0),
            (value(Kind::Unsigned(1), false, &[0xff]), 255.0),
            (value(Kind::Signed(2), true, &[0xff, 0xfe]), -2.0),
            (value(Kind::Unsigned(4), false, &[1, 1, 0, 0]), 257.0),
            (value(Kind::Signed(8), false, &(-3_i64).to_le_bytes()), -3.0),
            (value(Kind::Float(4), true, &1.5_f32.to_be_bytes()), 1.5),
            (value(Kind::Float(8), false, &(-2.25_f64).to_le_bytes()), -2.25),
        ];
        for (found, expected) in cases {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }

    #[test]
    fn both_orders_pick_the_same_columns() {
        let element = Element {
            kind: Kind::Unsigned(1),
            big_endian: false,
        };
        let layout = |column_major| Layout {
            element,
            rows: 3,
            columns: 2,
            column_major,
            justified_bytes: 6,
        };
        let by_row = read_columns(&mut [1, 10, 2, 20, 3, 30].as_slice(), &layout(false), &[1, 0]).expect("reads");
        let by_column = read_columns(&mut [1, 2, 3, 10, 20, 30].as_slice(), &layout(true), &[1, 0]).expect("reads");
        assert_eq!(by_row, by_column);
        assert_eq!(by_row, [[10.0, 20.0, 30.0], [1.0, 2.0, 3.0]]);
    }
}
