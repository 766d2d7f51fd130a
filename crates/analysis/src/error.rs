//! What can go wrong, with the values that say why.

use intervalid_data::DataError;
use intervalid_deploy::DeployError;
use intervalid_model::ModelError;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The model cannot run step by step, or not on these data.
    #[error(transparent)]
    Model(#[from] ModelError),

    /// The data do not fit.
    #[error(transparent)]
    Data(#[from] DataError),

    /// The model's step cannot be read.
    #[error(transparent)]
    Deploy(DeployError),

    /// A channel that the model does not have.
    #[error("the model has no channel '{name}': expected one of {expected}")]
    UnknownChannel {
        /// The name.
        name: String,
        /// The channels that it has.
        expected: String,
    },

    /// A value that is no number, or so far away that the model says nothing about it.
    #[error("'{channel}' = {value} is not allowed: expected a number from {least} to {most}")]
    Value {
        /// Name of the channel.
        channel: String,
        /// The value.
        value: f64,
        /// The least allowed.
        least: f64,
        /// The greatest allowed.
        most: f64,
    },

    /// Some outputs of a point were given and others not.
    #[error(
        "the operating point has no value of output '{missing}': give all outputs, or none to look for the steady state"
    )]
    PartOfOutputs {
        /// The first that is missing.
        missing: String,
    },

    /// No steady state was found for these inputs.
    #[error(
        "no steady state was found at {inputs}: from the nearest point found, '{output}' still moves by {drift:e} per sample"
    )]
    NoSteadyState {
        /// Inputs and their values, in words.
        inputs: String,
        /// The output that moves most.
        output: String,
        /// By how much, in its unit.
        drift: f64,
    },

    /// Poles, zeros or gains that cannot be computed.
    #[error("the linearisation has entries that are not finite, or eigenvalues that do not converge")]
    Eigenvalues,

    /// A setting outside its range.
    #[error("{option} = {found} is not allowed: expected {expected}")]
    Option {
        /// Which.
        option: &'static str,
        /// The value given.
        found: String,
        /// What is allowed.
        expected: String,
    },

    /// A view that needs inputs, of a model without any.
    #[error("the model has no inputs: there is nothing to respond to")]
    NoInputs,

    /// Too few samples for a view.
    #[error("{what} needs {expected} samples in a stretch, the longest has {found}")]
    TooShort {
        /// The view.
        what: &'static str,
        /// The least.
        expected: usize,
        /// What there is.
        found: usize,
    },
}

impl From<DeployError> for AnalysisError {
    fn from(error: DeployError) -> Self {
        match error {
            // What cannot run step by step is refused alike, whoever asks.
            DeployError::Model(error) => Self::Model(error),
            error => Self::Deploy(error),
        }
    }
}

/// Result with this crate's error.
pub type Result<T, E = AnalysisError> = std::result::Result<T, E>;
