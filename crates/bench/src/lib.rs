//! Published identification benchmarks under their official rules, with prediction intervals.
//!
//! | step | from | to |
//! |---|---|---|
//! | rules | a file in `protocols/` | [`Protocol`] |
//! | read | a folder of a user's files | [`Benchmark`] |
//! | fit and judge | [`Benchmark`], [`BenchRequest`] | [`BenchResult`] |
//! | keep | a folder | [`Results`] |
//! | show | [`Results`] | [`BenchTables`], ours beside published figures |
//!
//! Fits go through `intervalid-workflow`, as `fit --test` does. The official tests are records of their own: a model may start from
//! the first samples that the protocol allows and knows no more of their outputs.

mod error;
mod files;
mod protocol;
mod result;
mod run;
mod score;
mod store;
mod tables;

pub use error::{BenchError, Result};
pub use files::Benchmark;
pub use protocol::{Channels, Protocol, Published, Record, Source, Target};
pub use result::{BenchResult, Score, StepTiming};
pub use run::BenchRequest;
pub use store::{Key, Results};
pub use tables::{BenchTable, BenchTables, Mean, MeanScore, OurRow, PublishedRow, TableFormat};
