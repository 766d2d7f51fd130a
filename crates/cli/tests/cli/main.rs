//! The command line as a user meets it: the real program, run in a fresh folder.

mod auto;
mod data;
mod demo;
mod errors;
mod fit;
mod help;
mod study;
mod support;
