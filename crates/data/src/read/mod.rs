//! Files to a [`Dataset`](crate::Dataset): one reader per format, one path from columns to experiments.

mod arrays;
mod columns;
mod date_text;
mod file;
mod header;
mod limit;
mod mat;
mod mat_hdf5;
mod npy;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_pages;
#[cfg(feature = "parquet")]
mod parquet_value;
mod places;
mod resample;
mod rows;
mod sampling;
mod sheet;
mod table;
mod text;
mod times;
mod whole;

pub(crate) use columns::closest;
pub use date_text::DateOrder;
pub use file::{EXTENSIONS, read};
pub(crate) use file::{Source, read_sources};
pub use header::{is_time_name, split_unit};
pub use options::{Decimal, MissingPolicy, Position, ReadOptions};
pub(crate) use sampling::significant;
pub(crate) use table::{KnownStep, timed_experiments};
pub use table::{SAME_STEP, TimedTable};
pub use whole::{NumericArray, read_mat_arrays};
