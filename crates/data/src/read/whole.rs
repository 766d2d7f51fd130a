//! Whole arrays of a MATLAB file, for callers who know how it is laid out.
//!
//! [`read`](crate::read()) takes time to run down the rows and never turns an array on a guess. Files of published benchmarks hold row
//! vectors, and matrices with a channel per row; who has their description reads them here.

use std::path::Path;

use crate::error::{ArrayExpectation, DataError, FileProblem};
use crate::read::arrays::ArrayFile;
use crate::read::columns::closest;
use crate::read::file::open;
use crate::read::limit::Limit;
use crate::read::mat::MatFile;
use crate::read::options::ReadOptions;

/// Numbers of a file in two dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct NumericArray {
    /// Name in the file.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Column by column.
    values: Vec<f64>,
}

impl NumericArray {
    /// The numbers of a row or column vector; none if it is a matrix.
    #[must_use]
    pub fn vector(&self) -> Option<&[f64]> {
        (self.rows == 1 || self.columns == 1).then_some(self.values.as_slice())
    }

    /// A row, from 0.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<f64> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let values = self.values.iter().skip(row);
        values.step_by(self.rows).copied().collect()
    }
}

/// Reads arrays of a MATLAB file of level 5 by name, in the order asked.
///
/// # Errors
/// If the file cannot be read, has no array of a name, or it does not hold numbers in two dimensions.
pub fn read_mat_arrays<S: AsRef<str>>(path: &Path, names: &[S]) -> Result<Vec<NumericArray>, DataError> {
    let file = path.display().to_string();
    let handle = open(path, &file)?;
    let file_bytes = handle.metadata().map_or(0, |metadata| metadata.len());
    let options = ReadOptions::default();
    let limit = Limit::new(&file, file_bytes, &options);
    let mut mat = MatFile::new(&file, handle)?;
    let mut found = Vec::new();
    let mut values: u64 = 0;
    for name in names {
        let name = name.as_ref();
        let Some(index) = mat.arrays().iter().position(|array| array.name == name) else {
            let available: Vec<String> = mat.arrays().iter().map(|array| array.name.clone()).collect();
            return Err(FileProblem::MissingColumn {
                column: name.to_owned(),
                closest: closest(name, available.iter().map(String::as_str)).map(str::to_owned),
                available,
            }
            .of(&file));
        };
        let array = &mat.arrays()[index];
        let Some((rows, columns)) = array.shape else {
            let (found, expected) = array
                .unusable
                .clone()
                .unwrap_or_else(|| ("no numbers".to_owned(), ArrayExpectation::MatlabNumbers));
            let array = name.to_owned();
            return Err(FileProblem::ArrayShape { array, found, expected }.of(&file));
        };
        values = values.saturating_add(rows.saturating_mul(columns));
        limit.check(values)?;
        found.push(NumericArray {
            name: name.to_owned(),
            rows: rows as usize,
            columns: columns as usize,
            values: mat.read_all(index)?,
        });
    }
    Ok(found)
}
