//! Files to a [`Dataset`](crate::Dataset): one reader per format, one path from columns to experiments.

mod arrays;
mod columns;
mod file;
mod limit;
mod mat;
mod npy;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod table;
mod text;

pub(crate) use columns::closest;
pub use file::read;
pub(crate) use file::{Source, read_sources};
pub use options::{Decimal, MissingPolicy, Position, ReadOptions};
