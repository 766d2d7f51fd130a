//! Tables in memory whose rows have times, such as a data frame with dates for an index.

use crate::channel::Channel;
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::prepare::Clipping;
use crate::read::{KnownStep, ReadOptions, TimedTable, timed_experiments};

/// Makes experiments of tables with a time per row, by the rules that a time column of a file is read with: uneven sampling is an
/// error, `options.missing` says what happens at gaps, and `options.resample` puts the rows on a grid.
///
/// # Errors
/// Those of [`read`](crate::read()) about times, and those of [`Dataset::new`].
pub fn from_timed_tables(
    name: &str,
    inputs: Vec<Channel>,
    outputs: Vec<Channel>,
    tables: Vec<TimedTable>,
    options: &ReadOptions,
) -> Result<Dataset, DataError> {
    let mut experiments = Vec::new();
    let mut warnings = Vec::new();
    let mut step = KnownStep::given(options.sample_time);
    let mut clipping = match options.resample {
        Some(_) => Some(Clipping::new(&options.prepare, &inputs, &outputs)?),
        None => None,
    };
    for table in tables {
        let pieces = timed_experiments(table, name, inputs.len(), (options, clipping.as_mut()), &mut step)?;
        experiments.extend(pieces.0);
        warnings.extend(pieces.1);
    }
    let dataset = Dataset::new(name, inputs, outputs, step.seconds(), experiments)?;
    let dataset = dataset.with_warnings(warnings);
    match clipping {
        Some(clipping) => options.prepare.apply_to_clipped(dataset, clipping),
        None => options.prepare.apply(dataset),
    }
}
