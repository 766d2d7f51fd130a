//! A linear system as a MAT file, version 5: `load` in MATLAB and Octave, `scipy.io.loadmat` in Python.

use crate::linearise::{Linearisation, Rows};

const DOUBLES: u32 = 9;
const INT8: u32 = 1;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const UINT16: u32 = 4;
const MATRIX: u32 = 14;
const DOUBLE_CLASS: u32 = 6;
const CHAR_CLASS: u32 = 4;

/// Variables A, B, C, D, Ts (-1 where the sample time is not known), u0, y0, and the names of inputs, outputs and states as lines of
/// text; with intervals A_lower, A_upper and so on.
///
/// **Reference.** *MAT-File Format*, The MathWorks, chapter "Level 5 MAT-File Format".
#[must_use]
pub fn mat_file(linear: &Linearisation) -> Vec<u8> {
    let mut file = header();
    for (name, matrix) in [("A", &linear.a), ("B", &linear.b), ("C", &linear.c), ("D", &linear.d)] {
        file.extend(numbers(name, matrix, matrix_columns(linear, name)));
    }
    let column = |values: &[f64]| -> Rows { values.iter().map(|value| vec![*value]).collect() };
    let sample_time = linear.sample_time.unwrap_or(-1.0);
    file.extend(numbers("Ts", &vec![vec![sample_time]], 1));
    file.extend(numbers("u0", &column(&linear.operating_point.inputs), 1));
    file.extend(numbers("y0", &column(&linear.operating_point.outputs), 1));
    let names =
        |channels: &[intervalid_data::Channel]| channels.iter().map(|channel| channel.name.clone()).collect::<Vec<_>>();
    file.extend(text("input_names", &names(&linear.inputs)));
    file.extend(text("output_names", &names(&linear.outputs)));
    file.extend(text("state_names", &linear.states));
    if let Some(intervals) = &linear.intervals {
        let all = [
            ("A", &intervals.a),
            ("B", &intervals.b),
            ("C", &intervals.c),
            ("D", &intervals.d),
        ];
        for (name, [lower, upper]) in all {
            let columns = matrix_columns(linear, name);
            file.extend(numbers(&format!("{name}_lower"), lower, columns));
            file.extend(numbers(&format!("{name}_upper"), upper, columns));
        }
    }
    file
}

fn matrix_columns(linear: &Linearisation, name: &str) -> usize {
    match name {
        "A" | "C" => linear.states.len(),
        _ => linear.inputs.len(),
    }
}

fn header() -> Vec<u8> {
    let mut header = b"MATLAB 5.0 MAT-file, written by intervalid".to_vec();
    header.resize(124, b' ');
    header.extend(0x0100_u16.to_le_bytes());
    header.extend(b"IM");
    header
}

/// A data element: type, length, content up to a multiple of eight bytes.
fn element(kind: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(content.len() + 16);
    bytes.extend(kind.to_le_bytes());
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn array(class: u32, name: &str, [rows, columns]: [usize; 2], content: &[u8]) -> Vec<u8> {
    let mut parts = element(UINT32, &[class.to_le_bytes(), [0; 4]].concat());
    let sizes = [rows, columns].map(|size| (size as i32).to_le_bytes());
    parts.extend(element(INT32, &sizes.concat()));
    parts.extend(element(INT8, name.as_bytes()));
    parts.extend(content);
    element(MATRIX, &parts)
}

/// Columns come one after the other.
fn numbers(name: &str, rows: &Rows, columns: usize) -> Vec<u8> {
    let values = (0..columns).flat_map(|column| rows.iter().map(move |row| row[column]));
    let bytes: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
    array(DOUBLE_CLASS, name, [rows.len(), columns], &element(DOUBLES, &bytes))
}

/// Lines of a character array, filled up with blanks.
fn text(name: &str, lines: &[String]) -> Vec<u8> {
    let lines: Vec<Vec<u16>> = lines.iter().map(|line| line.encode_utf16().collect()).collect();
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);
    let blank = u16::from(b' ');
    let values =
        (0..longest).flat_map(|column| lines.iter().map(move |line| line.get(column).copied().unwrap_or(blank)));
    let bytes: Vec<u8> = values.flat_map(u16::to_le_bytes).collect();
    array(CHAR_CLASS, name, [lines.len(), longest], &element(UINT16, &bytes))
}
