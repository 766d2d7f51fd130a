//! What is wrong with a recording, and the rows of its file up to there.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use intervalid_data::{DataError, Position};
use serde::Serialize;

/// Rows shown before a mistake in a file, and how much of a row.
const ROWS_BEFORE: usize = 12;
const ROW_BYTES: u64 = 400;

/// What is wrong, and where.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) message: String,
    line: Option<u64>,
    /// The rows up to it.
    rows: Vec<Row>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Row {
    line: u64,
    text: String,
}

impl Problem {
    /// Of a choice that cannot be followed.
    pub(crate) fn of_choice(message: String) -> Self {
        Self {
            message,
            line: None,
            rows: Vec::new(),
        }
    }

    /// Of a file in `folder`, which is known: only the file's name tells something.
    pub(crate) fn new(error: &DataError, folder: &str) -> Self {
        let (file, position) = match error {
            DataError::File(error) => (Some(error.file.as_str()), error.problem.position()),
            _ => (None, None),
        };
        let line = match position {
            Some(Position::Line(line)) => Some(line),
            _ => None,
        };
        let rows = file.zip(line).map(|(file, line)| rows_up_to(Path::new(file), line));
        Self {
            message: error.to_string().replace(&format!("{folder}/"), ""),
            line,
            rows: rows.unwrap_or_default(),
        }
    }
}

/// The rows of a text file up to this line, which is the last; what is not text is shown with replacement characters.
fn rows_up_to(file: &Path, line: u64) -> Vec<Row> {
    let Ok(file) = File::open(file) else {
        return Vec::new();
    };
    let mut reader = BufReader::new(file);
    let mut rows = VecDeque::new();
    for number in 1..=line {
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(ROW_BYTES).read_until(b'\n', &mut bytes);
        if !read.is_ok_and(|count| count > 0) {
            break;
        }
        // The rest of a long row.
        if bytes.len() as u64 == ROW_BYTES && !bytes.ends_with(b"\n") && reader.skip_until(b'\n').is_err() {
            break;
        }
        rows.push_back(Row {
            line: number,
            text: String::from_utf8_lossy(&bytes).trim_end().to_owned(),
        });
        if rows.len() > ROWS_BEFORE {
            rows.pop_front();
        }
    }
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_with_the_mistake() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.csv");
        let long = "9".repeat(5000);
        let mut text = format!("u,y\n{long},1\n");
        for row in 0..30 {
            text += &format!("{row},2\n");
        }
        std::fs::write(&file, text).expect("written");
        let rows = rows_up_to(&file, 3);
        assert_eq!(rows.len(), 3);
        assert_eq!((rows[1].text.len(), rows[2].text.as_str()), (400, "0,2"));
        let rows = rows_up_to(&file, 20);
        assert_eq!((rows.len(), rows[11].line, rows[11].text.as_str()), (12, 20, "17,2"));
        assert_eq!(rows_up_to(&file, 900).last().map(|row| row.line), Some(32));
    }
}
