//! The paper's tables, made from a study's records.

mod build;
mod chosen;
mod format;
mod latex;
mod markdown;
mod scoreboard;
mod side_by_side;

pub use build::{
    Column, Mark, Row, SeedSummary, StudyTables, Table, TableCell, TableKind, TrainedFor, study_tables,
    tables_of_records,
};
pub use chosen::{Chosen, ChosenModel};
pub use format::TableFormat;
pub use scoreboard::Scoreboard;
pub use side_by_side::side_by_side;
