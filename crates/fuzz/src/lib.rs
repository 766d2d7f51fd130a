//! Hostile files, made by the thousand: seeds from the repository are mutated and given to everything that reads files. No input
//! may panic, hang, or take more memory than it can justify; every refusal is an error.
//!
//! Two fuzzers share the targets and the seeds. The program `intervalid-fuzz-guided` is driven by libFuzzer, which counts branches.
//! [`Fuzzer`] needs nothing but the compiler: it keeps an input and mutates it further when a target answers it in a way not seen
//! before, another error, or success after one. Messages with their numbers and quoted words taken out tell answers apart.

mod archive;
mod exported;
mod fuzzer;
mod journal;
mod models;
mod mutate;
mod script;
mod seeds;
mod steps;
mod target;
mod uses;
mod workbook;

pub use fuzzer::{Finding, Fuzzer, Statistics};
pub use mutate::{LONGEST, mutate};
pub use seeds::{corpus, seeds};
pub use target::Target;
