//! What is done to recordings before anything else: of `fit` and `data show`. Commands with a model do what its fit did.

use clap::Args;
use intervalid_data::{ClipSpikes, Preparation};

/// Steps between a recording and the record of a fit.
#[derive(Args, Clone, Debug, Default)]
#[group(requires = "data")]
pub(crate) struct PrepareArgs {
    /// Fill gaps of up to N missing samples by straight lines; with --resample also times that are missing
    #[arg(long, value_name = "N", help_heading = "Preparation (stored in the model)")]
    pub(crate) fill_gaps: Option<usize>,
    /// Replace samples more than K standard deviations from the median of their neighbours by it: K for all outputs, or
    /// NAME=K,... for some channels; 6 is a start
    #[arg(
        long,
        value_name = "K",
        value_parser = |text: &str| text.parse::<ClipSpikes>(),
        allow_hyphen_values = true,
        help_heading = "Preparation (stored in the model)"
    )]
    pub(crate) clip_spikes: Option<ClipSpikes>,
    /// Keep one sample in N, after a low-pass filter without delay
    #[arg(long, value_name = "N", help_heading = "Preparation (stored in the model)")]
    pub(crate) decimate: Option<usize>,
    /// Channels that drift: a straight line through the training part is taken out, and put back into predictions, where it
    /// goes on by the clock (constant offsets need no option)
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        help_heading = "Preparation (stored in the model)"
    )]
    pub(crate) detrend: Option<Vec<String>>,
}

impl PrepareArgs {
    /// All but the trend, which is a setting of the fit.
    pub(crate) fn preparation(&self) -> Preparation {
        Preparation {
            fill_gaps: self.fill_gaps,
            clip_spikes: self.clip_spikes.clone().unwrap_or_default(),
            decimate: self.decimate,
        }
    }
}
