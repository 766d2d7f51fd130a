//! C99: one header, one source file.

mod code;
mod footprint;
mod literal;
mod monitor;
mod tables;

pub use code::identifier;
pub use code::{CCode, COptions, CPrecision, c_code};
pub(crate) use code::{Numbers, check_name, render};
pub use footprint::Footprint;
