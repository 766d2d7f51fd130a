//! Steps between a recording and the record that a model is fitted to: gaps filled, spikes clipped, samples thinned out.
//!
//! Each works on neighbouring samples alone and learns nothing from the record, so that it does the same to a training part, to a test
//! part and to a recording of next year. What a step does is part of the record ([`Dataset::preparation`]), and a model remembers it
//! and wants it of all data. A [`Trend`] is fitted, to the training part, and belongs to the model instead.

mod clip;
mod decimate;
mod fill;
mod preparation;
mod trend;

pub(crate) use fill::{Filled, fill_gaps};
pub use preparation::{ClipSpikes, Preparation};
pub(crate) use preparation::{Clipping, spike_marks};
pub use trend::{Line, Trend};

#[cfg(doc)]
use crate::Dataset;
