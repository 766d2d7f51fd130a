//! The files that a linear system can be written to.

use crate::linearise::Linearisation;
use crate::mat_file::mat_file;
use crate::python_code::python_code;

/// What a file is to hold, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinearForm {
    /// Everything that was found, as JSON.
    Json,
    /// A, B, C, D and their bounds for MATLAB and Octave.
    Mat,
    /// Code for the Python package control.
    Python,
}

impl LinearForm {
    /// The endings of names, in words.
    pub const ENDINGS: &'static str = ".json, .mat or .py";

    /// The form of a file with this ending, written in capitals or not; none of any other.
    #[must_use]
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "mat" => Some(Self::Mat),
            "py" => Some(Self::Python),
            _ => None,
        }
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// If a number cannot be written as JSON.
    pub fn content(self, linear: &Linearisation) -> Result<Vec<u8>, serde_json::Error> {
        Ok(match self {
            Self::Json => serde_json::to_vec_pretty(linear)?,
            Self::Mat => mat_file(linear),
            Self::Python => python_code(linear).into_bytes(),
        })
    }
}
