//! What a user should know about a record before fitting.

use std::fmt;

/// Something worth telling about a record that does not make it invalid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The file had missing samples and was split there.
    SplitAtGaps {
        /// File name.
        file: String,
        /// Rows left out.
        missing_rows: usize,
        /// Experiments that resulted.
        experiments: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SplitAtGaps {
                file,
                missing_rows,
                experiments,
            } => {
                write!(
                    f,
                    "{file}: {missing_rows} row(s) with missing samples left out, {experiments} experiment(s) remain"
                )
            }
        }
    }
}
