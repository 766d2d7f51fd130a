//! Spreadsheets, `.xlsx` and `.xlsm`: the first sheet that is not empty, read as a table with a header row.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use calamine::{Cell, Data, DataRef, Range, Reader, SheetType, Xlsx, XlsxError, open_workbook};

use crate::error::{DataError, FileProblem};
use crate::read::columns::Selection;
use crate::read::header::Header;
use crate::read::limit::Limit;
use crate::read::options::{Decimal, Position, ReadOptions};
use crate::read::places::impossible_claim;
use crate::read::rows::{Cells, Rows, SheetCell};
use crate::read::table::Table;
use crate::time::Moment;

/// A number takes at least so many bytes of a sheet: `<c r="A1"><v>1</v></c>`.
const CELL_BYTES: u64 = 24;
/// Days from the start of spreadsheet time, 1899-12-30, to 1970.
const DAYS_TO_1970: f64 = 25_569.0;
/// The same for workbooks that count from 1904, as old ones of the Macintosh do.
const DAYS_FROM_1904: f64 = 24_107.0;

/// Reads the chosen columns; also returns the header.
pub(super) fn read(
    file: &str,
    path: &Path,
    limit: &Limit<'_>,
    options: &ReadOptions,
) -> Result<(Header, Selection, Table), DataError> {
    let malformed = |problem: String| {
        FileProblem::Malformed {
            format: "spreadsheet",
            problem,
        }
        .of(file)
    };
    check_parts(file, path, limit)?;
    let mut book: Xlsx<_> = open_workbook(path).map_err(|error: XlsxError| malformed(error.to_string()))?;
    let mut sheet: Option<Range<Data>> = None;
    // Charts have sheets of their own, without cells.
    let sheets = book
        .sheets_metadata()
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let names: Vec<String> = sheets.map(|sheet| sheet.name.clone()).collect();
    for name in names {
        let (extent, cells) = cells(&mut book, &name, limit).map_err(|error| malformed(error.to_string()))?;
        limit.check(extent)?;
        if !cells.is_empty() {
            sheet = Some(Range::from_sparse(cells));
            break;
        }
    }
    let sheet = sheet.ok_or_else(|| FileProblem::EmptyFile.of(file))?;
    let start = match book.has_1904_epoch() {
        true => DAYS_FROM_1904,
        false => DAYS_TO_1970,
    };
    // Empty rows and columns in front are not part of the range, but are counted by whoever looks at the sheet.
    let top = sheet.start().map_or(0, |(row, _)| row as usize);
    let mut rows = sheet
        .rows()
        .enumerate()
        .map(|(row, cells)| (Position::Row((top + row) as u64 + 1), cells))
        .skip(options.skip_rows.saturating_sub(top));
    let names = rows
        .find(|(_, cells)| cells.iter().any(|cell| !matches!(cell, Data::Empty)))
        .map(|(_, cells)| cells.iter().map(|cell| text(cell, start).trim().to_owned()).collect());
    let names: Vec<String> = names.ok_or_else(|| FileProblem::EmptyFile.of(file))?;
    let mut table = Rows::new(file, names, options.decimal, options)?;
    let typed = |cell: &Data| SheetCell {
        text: match (cell, options.decimal) {
            // Written as the text of others is, so that one rule reads both.
            (Data::Float(_) | Data::DateTime(_), Decimal::Comma) => text(cell, start).replacen('.', ",", 1),
            _ => text(cell, start),
        },
        clock: clock(cell),
    };
    for (position, cells) in rows {
        let cells = Cells::Sheet(cells.iter().map(typed).collect());
        if cells.is_blank() {
            table.blank(position);
        } else {
            table.push(&cells, position)?;
        }
    }
    table.finish()
}

/// Refuses an archive whose parts claim to be too large, since they are read before a cell can be counted, or claim what no sheet has.
fn check_parts(file: &str, path: &Path, limit: &Limit<'_>) -> Result<(), DataError> {
    let malformed = |problem: String| {
        FileProblem::Malformed {
            format: "spreadsheet",
            problem,
        }
        .of(file)
    };
    let damaged = |error: zip::result::ZipError| malformed(error.to_string());
    let handle = File::open(path).map_err(|source| FileProblem::Io { source }.of(file))?;
    let mut archive = zip::ZipArchive::new(handle).map_err(damaged)?;
    let mut bytes = 0_u64;
    for index in 0..archive.len() {
        bytes = bytes.saturating_add(archive.by_index_raw(index).map_err(damaged)?.size());
    }
    limit.check(bytes / CELL_BYTES)?;
    impossible_claim(&mut archive).map_or(Ok(()), |claim| Err(malformed(claim)))
}

/// The cells of a sheet that hold something, and how many a table up to the last of them has. One cell in a far corner takes no room
/// in the file and all of it in memory: where the table is too large, the cells are only counted.
fn cells(book: &mut Xlsx<BufReader<File>>, name: &str, limit: &Limit<'_>) -> Result<(u64, Vec<Cell<Data>>), XlsxError> {
    let mut reader = book.worksheet_cells_reader(name)?;
    let (mut rows, mut columns, mut fits) = (0, 0, true);
    let mut cells = Vec::new();
    while let Some(cell) = reader.next_cell()? {
        if matches!(cell.get_value(), DataRef::Empty) {
            continue;
        }
        let (row, column) = cell.get_position();
        let (row, column) = (u64::from(row) + 1, u64::from(column) + 1);
        if row > rows || column > columns {
            (rows, columns) = (rows.max(row), columns.max(column));
            fits = fits && limit.check(rows.saturating_mul(columns)).is_ok();
        }
        if fits {
            cells.push(Cell::new(cell.get_position(), Data::from(cell.get_value().clone())));
        } else {
            cells = Vec::new();
        }
    }
    Ok((rows.saturating_mul(columns), cells))
}

/// Seconds of a time of day or a duration. They are stored as days: a unit in the header is not about them.
fn clock(cell: &Data) -> Option<Moment> {
    match cell {
        // A number of days from one on is a date.
        Data::DateTime(date) if date.is_datetime() && date.as_f64() >= 1.0 => None,
        Data::DateTime(time) => {
            // To the microsecond: days in binary do not hold seconds exactly.
            let seconds = (time.as_f64() * 86_400e6).round() / 1e6;
            Some(match time.is_datetime() {
                true => Moment::TimeOfDay(seconds),
                false => Moment::Seconds(seconds),
            })
        }
        _ => None,
    }
}

/// A cell as text that reads back to the same number or date; the workbook starts its days so many before 1970.
fn text(cell: &Data, days_to_1970: f64) -> String {
    match cell {
        Data::Empty => String::new(),
        Data::String(text) => text.trim().to_owned(),
        Data::Bool(flag) => u8::from(*flag).to_string(),
        Data::DateTime(date) if clock(cell).is_none() => {
            // To the millisecond, the smallest unit that spreadsheets show.
            let milliseconds = ((date.as_f64() - days_to_1970) * 86_400e3).round();
            let moment = Moment::from_nanoseconds(milliseconds as i128 * 1_000_000, false);
            moment.map_or_else(|| (date.as_f64() * 86_400.0).to_string(), |moment| moment.to_string())
        }
        Data::DateTime(time) => (time.as_f64() * 86_400.0).to_string(),
        other => other.to_string(),
    }
}
