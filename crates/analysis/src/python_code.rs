//! A linear system as Python code for the package `control`.

use std::fmt::Write as _;

use crate::linearise::{Linearisation, Rows};

/// A module that defines `system`, a `control.StateSpace`, and the point `u0`, `y0`.
#[must_use]
pub fn python_code(linear: &Linearisation) -> String {
    let mut text = format!(
        "\"\"\"{} around an operating point, linearised by intervalid: deviations from u0 and y0.\"\"\"\n\nimport control\nimport numpy as \
         np\n\n",
        linear.model
    );
    for (name, rows, columns) in [
        ("A", &linear.a, linear.states.len()),
        ("B", &linear.b, linear.inputs.len()),
        ("C", &linear.c, linear.states.len()),
        ("D", &linear.d, linear.inputs.len()),
    ] {
        let _ = writeln!(text, "{name} = {}", matrix(rows, columns));
    }
    let list = |values: &[f64]| values.iter().map(|value| number(*value)).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "u0 = np.array([{}])", list(&linear.operating_point.inputs));
    let _ = writeln!(text, "y0 = np.array([{}])", list(&linear.operating_point.outputs));
    let names = |names: Vec<&str>| names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
    let step = linear.sample_time.map_or_else(|| "True".to_owned(), number);
    let _ = write!(
        text,
        "\nsystem = control.ss(\n    A, B, C, D, {step},\n    inputs=[{}],\n    outputs=[{}],\n    states=[{}],\n)\n",
        names(linear.inputs.iter().map(|channel| channel.name.as_str()).collect()),
        names(linear.outputs.iter().map(|channel| channel.name.as_str()).collect()),
        names(linear.states.iter().map(String::as_str).collect()),
    );
    text
}

fn matrix(rows: &Rows, columns: usize) -> String {
    if rows.is_empty() || columns == 0 {
        return format!("np.zeros(({}, {columns}))", rows.len());
    }
    let row = |row: &Vec<f64>| {
        let cells: Vec<String> = row.iter().map(|value| number(*value)).collect();
        format!("    [{}],\n", cells.join(", "))
    };
    format!("np.array([\n{}])", rows.iter().map(row).collect::<String>())
}

/// Reads back to the bit.
fn number(value: f64) -> String {
    format!("{value:?}")
}

/// A text as Python writes it. Dots part signal names from system names in `control`.
fn literal(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|character| if character == '.' { '_' } else { character })
        .collect();
    let mut quoted = String::from("\"");
    for character in plain.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            character if character.is_control() => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text() {
        assert_eq!(literal("a\"b\\c.d\n"), "\"a\\\"b\\\\c_d\\x0a\"");
        assert_eq!(matrix(&vec![vec![]; 2], 0), "np.zeros((2, 0))");
        assert_eq!(matrix(&vec![vec![1.0, -0.5]], 2), "np.array([\n    [1.0, -0.5],\n])");
    }
}
