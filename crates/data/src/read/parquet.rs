//! Apache Parquet tables: flat columns of numbers; a null is a missing sample.

use std::collections::HashSet;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::error::{ArrayExpectation, DataError, FileProblem};
use crate::read::arrays::check_columns;
use crate::read::columns::{Selection, TimeChoice};
use crate::read::date_text::DateText;
use crate::read::header::{Header, TimeUnit};
use crate::read::limit::Limit;
use crate::read::options::{Position, ReadOptions};
use crate::read::parquet_pages::CheckedPages;
use crate::read::parquet_value::{Meaning, Stored, Value};
use crate::read::table::{Labels, Table, push};
use crate::read::times::{TimeCell, Times};

/// Records decoded at a time.
const BATCH: usize = 8192;

/// Reads the chosen columns; also returns the names of all columns.
pub(super) fn read(
    file: &str,
    handle: File,
    limit: &Limit<'_>,
    options: &ReadOptions,
) -> Result<(Header, Selection, Table), DataError> {
    // The decoder asserts on some damaged files; a user's file must end in a message, not in a panic.
    catch_unwind(AssertUnwindSafe(|| read_unguarded(file, handle, limit, options)))
        .unwrap_or_else(|_| Err(malformed(file, "the file is damaged")))
}

fn read_unguarded(
    file: &str,
    handle: File,
    limit: &Limit<'_>,
    options: &ReadOptions,
) -> Result<(Header, Selection, Table), DataError> {
    let reader = SerializedFileReader::new(handle).map_err(|error| malformed(file, error))?;
    check_ranges(file, &reader)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let header = Header::new(names);
    let mut selection = Selection::new(file, &header, options)?;
    find_timestamps(&schema, &mut selection, options);
    let time = selection.time.clone().filter(|time| {
        let column = schema.column(time.column);
        let is_number = matches!(
            column.physical_type(),
            Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE
        );
        time.is_asked || (is_number && column.max_rep_level() == 0)
    });
    let chosen = selection
        .channels()
        .chain(selection.experiment)
        .chain(time.as_ref().map(|time| time.column))
        .count() as u64;
    // What the file says of its length is a claim: its pages may hold more.
    let claimed = reader.metadata().row_groups().iter().map(|group| group.num_rows());
    let claimed = claimed.fold(0_u64, |sum, rows| sum.saturating_add(rows.max(0) as u64));
    limit.check(claimed.saturating_mul(chosen))?;
    let mut columns = Vec::new();
    for index in selection.channels() {
        let mut column = Vec::new();
        for_each_value(file, &reader, index, |value| {
            if column.len() as u64 >= claimed {
                return Err(malformed(
                    file,
                    format!("its columns hold more than their {claimed} rows"),
                ));
            }
            match value {
                Value::Number(number) => push(&mut column, number),
                Value::Null => push(&mut column, f64::NAN),
                _ => return Err(not_numeric(file, &schema.column(index))),
            }
            Ok(())
        })?;
        columns.push(column);
    }
    let rows = columns.first().map_or(0, Vec::len);
    if let Some(short) = columns.iter().position(|column| column.len() != rows) {
        return Err(malformed(
            file,
            format!("its columns have {rows} and {} rows", columns[short].len()),
        ));
    }
    let mut labels = Labels::default();
    if let Some(index) = selection.experiment {
        let mut row = 0;
        for_each_value(file, &reader, index, |value| {
            row += 1;
            labels.push(row - 1, &value.to_string(), file, Position::Row(row as u64))
        })?;
        if row != rows {
            return Err(malformed(file, format!("its columns have {rows} and {row} rows")));
        }
    }
    check_columns(file, &header, &selection, &columns, options.while_reading())?;
    let (time, warning) = match time {
        Some(choice) => {
            let mut times = Times::new(file, &header, choice.clone(), options);
            read_times(file, &reader, choice.column, rows, &mut times)?;
            times.finish()?
        }
        None => (None, None),
    };
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

/// Where no name tells, the first column of timestamps that is not chosen is the time.
fn find_timestamps(schema: &SchemaDescriptor, selection: &mut Selection, options: &ReadOptions) {
    if selection.time.is_some() || options.time.is_some() {
        return;
    }
    let chosen: HashSet<usize> = selection.channels().chain(selection.experiment).collect();
    let column = (0..schema.num_columns())
        .filter(|column| !chosen.contains(column))
        .find(|column| {
            let column = schema.column(*column);
            Meaning::of(&column).is_timestamp() && column.max_rep_level() == 0
        });
    selection.time = column.map(|column| TimeChoice {
        column,
        unit: TimeUnit::Unsaid,
        is_asked: false,
    });
}

fn read_times(
    file: &str,
    reader: &SerializedFileReader<File>,
    index: usize,
    rows: usize,
    times: &mut Times<'_>,
) -> Result<(), DataError> {
    let mut row = 0;
    for_each_value(file, reader, index, |value| {
        row += 1;
        // More than announced may be more than memory holds.
        if row > rows {
            return Err(malformed(file, format!("its columns hold more than their {rows} rows")));
        }
        let cell = match value {
            Value::Number(number) => TimeCell::Number(number),
            Value::Moment(moment) => TimeCell::Date(DateText::Certain(moment)),
            Value::Text(bytes) => {
                DateText::read(&String::from_utf8_lossy(bytes)).map_or(TimeCell::Other, TimeCell::Date)
            }
            Value::NoDate(_) => TimeCell::Other,
            Value::Null => TimeCell::Missing,
        };
        times.push(cell, Position::Row(row as u64), || value.to_string())
    })?;
    match row == rows {
        true => Ok(()),
        false => Err(malformed(file, format!("its columns have {rows} and {row} rows"))),
    }
}

/// The decoder asserts that chunks have sensible places; a damaged file must not get that far.
fn check_ranges(file: &str, reader: &SerializedFileReader<File>) -> Result<(), DataError> {
    for chunk in reader.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        let start = chunk
            .dictionary_page_offset()
            .unwrap_or_else(|| chunk.data_page_offset());
        if start < 0 || chunk.compressed_size() < 0 {
            let (column, size) = (chunk.column_path().string(), chunk.compressed_size());
            return Err(malformed(
                file,
                format!("column '{column}' claims to be {size} bytes at byte {start}"),
            ));
        }
    }
    Ok(())
}

fn malformed(file: &str, problem: impl ToString) -> DataError {
    FileProblem::Malformed {
        format: "Parquet",
        problem: problem.to_string(),
    }
    .of(file)
}

fn not_numeric(file: &str, column: &ColumnDescriptor) -> DataError {
    FileProblem::ArrayShape {
        array: column.path().string(),
        found: match Meaning::of(column).clock() {
            Some(what) => format!("one of {what}"),
            None => format!("of type {}", column.physical_type()),
        },
        expected: ArrayExpectation::FlatNumbers,
    }
    .of(file)
}

/// Calls `take` for every record of column `index`, in order of the row groups.
fn for_each_value(
    file: &str,
    reader: &SerializedFileReader<File>,
    index: usize,
    mut take: impl FnMut(Value<'_>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let column = reader.metadata().file_metadata().schema_descr().column(index);
    if column.max_rep_level() > 0 {
        return Err(not_numeric(file, &column));
    }
    for group in 0..reader.num_row_groups() {
        let pages = reader
            .get_row_group(group)
            .and_then(|group| group.get_column_page_reader(index));
        let pages = CheckedPages::new(pages.map_err(|error| malformed(file, error))?);
        match get_column_reader(column.clone(), Box::new(pages)) {
            ColumnReader::BoolColumnReader(pages) => drain(file, pages, &column, &mut take),
            ColumnReader::Int32ColumnReader(pages) => drain(file, pages, &column, &mut take),
            ColumnReader::Int64ColumnReader(pages) => drain(file, pages, &column, &mut take),
            ColumnReader::FloatColumnReader(pages) => drain(file, pages, &column, &mut take),
            ColumnReader::DoubleColumnReader(pages) => drain(file, pages, &column, &mut take),
            ColumnReader::ByteArrayColumnReader(pages) => drain(file, pages, &column, &mut take),
            _ => Err(not_numeric(file, &column)),
        }?;
    }
    Ok(())
}

fn drain<T: DataType>(
    file: &str,
    mut pages: ColumnReaderImpl<T>,
    column: &ColumnDescriptor,
    take: &mut impl FnMut(Value<'_>) -> Result<(), DataError>,
) -> Result<(), DataError>
where
    T::T: Stored,
{
    let meaning = Meaning::of(column);
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    loop {
        levels.clear();
        values.clear();
        let read = pages.read_records(BATCH, Some(&mut levels), None, &mut values);
        let (records, ..) = read.map_err(|error| malformed(file, error))?;
        if records == 0 {
            return Ok(());
        }
        let mut present = values.iter();
        for record in 0..records {
            // A column that cannot be null has no levels.
            let null = levels.get(record).is_some_and(|level| *level < column.max_def_level());
            let value = if null {
                Some(Value::Null)
            } else {
                present.next().map(|value| value.value(meaning))
            };
            take(value.ok_or_else(|| malformed(file, "fewer values than rows"))?)?;
        }
    }
}
