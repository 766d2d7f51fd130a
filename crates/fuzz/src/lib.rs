//! Hostile files, made by the thousand: seeds from the repository are mutated and given to everything that reads files. No input
//! may panic, hang, or take more memory than it can justify; every refusal is an error.
//!
//! It runs on the stable compiler, so branches cannot be counted. Instead an input is kept and mutated further when a target answers
//! it in a way not seen before: another error, or success after one. Messages with their numbers and quoted words taken out tell
//! answers apart.

mod fuzzer;
mod mutate;
mod seeds;
mod target;
mod workbook;

pub use fuzzer::{Finding, Fuzzer, Statistics};
pub use mutate::mutate;
pub use seeds::{corpus, seeds};
pub use target::Target;
