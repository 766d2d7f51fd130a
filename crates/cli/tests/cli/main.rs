//! The command line as a user meets it: the real program, run in a fresh folder.

mod auto;
mod contract;
mod data;
mod demo;
mod errors;
mod export;
mod failures;
mod fit;
mod folders;
mod guide;
mod help;
mod hostile;
mod promised;
mod report;
mod shape;
mod shell;
mod studio;
mod study;
mod support;
mod terminal;
mod times;
mod use_and_judge;
mod version_0_1;
