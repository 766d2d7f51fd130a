//! The result of one run on its way from where it was computed into a database.

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::error::{Result, StudyError};
use crate::job::{Outcome, PROGRAM_VERSION};
use crate::plan::Run;
use crate::record::RunState;
use crate::run_config::RunConfig;

/// Grows with every change of [`RunOutput`] or [`Task`](crate::Task).
pub(crate) const MESSAGE_FORMAT: u32 = 1;

/// Everything a database keeps of a run. As JSON it travels between machines without loss: numbers read back to the bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOutput {
    pub(crate) format: u32,
    /// Version of the program that computed it.
    pub version: String,
    /// Hash of the study it was computed for.
    pub spec_hash: String,
    /// Key of the run.
    pub key: String,
    /// Place in the grid.
    pub cell: Cell,
    /// Resolved configuration as JSON, with the lags, or the whole model, that were found where they were searched; of a search that
    /// failed, what was to be searched.
    pub config: String,
    /// How it ended.
    pub state: RunState,
    /// When it was recorded, UTC; none before that.
    pub finished_at: Option<String>,
    /// Bands of the test part as the database keeps them; none of a failed run.
    #[serde(with = "text")]
    pub(crate) predictions: Option<Vec<u8>>,
    /// The model file, if it is kept.
    #[serde(with = "text")]
    pub(crate) model: Option<Vec<u8>>,
}

impl RunOutput {
    pub(crate) fn new(run: &Run, spec_hash: &str, outcome: Result<Outcome, String>) -> Self {
        let (config, state, predictions, model) = match outcome {
            Ok(outcome) => (
                RunConfig::One(Box::new(outcome.config)),
                RunState::Done(outcome.result),
                Some(crate::predictions::encode(&outcome.predictions)),
                outcome.model,
            ),
            Err(reason) => (run.config.clone(), RunState::Failed { reason }, None, None),
        };
        Self {
            format: MESSAGE_FORMAT,
            version: PROGRAM_VERSION.to_owned(),
            spec_hash: spec_hash.to_owned(),
            key: run.key.clone(),
            cell: run.cell.clone(),
            config: serde_json::to_string(&config).expect("a configuration is plain data"),
            state,
            finished_at: None,
            predictions,
            model,
        }
    }

    /// As JSON, to be sent.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a result is plain data")
    }

    /// The inverse of [`RunOutput::to_json`].
    ///
    /// # Errors
    /// If the text is anything else, or of another version of the program.
    pub fn from_json(json: &str) -> Result<Self> {
        decode("result", json)
    }

    /// Whether the run was fitted and evaluated.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state, RunState::Done(_))
    }
}

/// Reads a message, its version first: of another version the rest may mean anything.
pub(crate) fn decode<T: for<'de> Deserialize<'de>>(what: &'static str, json: &str) -> Result<T> {
    #[derive(Deserialize)]
    struct Head {
        format: u32,
        version: String,
    }
    let wrong = |error: serde_json::Error| StudyError::Message {
        what,
        reason: error.to_string(),
    };
    let Head { format, version } = serde_json::from_str(json).map_err(wrong)?;
    check_version(&format!("this {what}"), &version)?;
    if format != MESSAGE_FORMAT {
        return Err(StudyError::Message {
            what,
            reason: format!("its format is {format}, expected {MESSAGE_FORMAT}"),
        });
    }
    serde_json::from_str(json).map_err(wrong)
}

/// Refuses what another version of the program made: it may have trained or evaluated otherwise.
pub(crate) fn check_version(what: &str, found: &str) -> Result<()> {
    if found == PROGRAM_VERSION {
        return Ok(());
    }
    Err(StudyError::OtherVersion {
        what: what.to_owned(),
        found: found.to_owned(),
        expected: PROGRAM_VERSION.to_owned(),
    })
}

/// Bytes as base64.
mod text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        bytes.as_ref().map(|bytes| STANDARD.encode(bytes)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let bytes = text.map(|text| STANDARD.decode(text)).transpose();
        bytes.map_err(serde::de::Error::custom)
    }
}
