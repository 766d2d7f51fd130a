//! How recordings are read and split: what users chose, and what the library is asked for.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;

use intervalid_data::{Channel, ClipSpikes, Dataset, Preparation, ReadOptions, known_dataset};
use intervalid_model::ModelInterface;
use intervalid_workflow::RecordRequest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::cache::stamp;

/// More files than this are for the command line.
const MOST_FILES: usize = 100;

/// How a recording is read and split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Choice {
    pub(crate) options: ReadOptions,
    /// Shares of the parts as text such as `0.6,0.1,0.3`; those that `fit` takes by default where there is none.
    pub(crate) split: Option<String>,
    /// Further files of the workspace, each an experiment of the same record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) more: Vec<String>,
    /// Files that are the test part as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) test: Vec<String>,
    /// Channels that lose a straight line through the training part, which their model remembers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) detrend: Vec<String>,
}

/// A choice, and the one that it is made in place of.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub(crate) struct Chosen {
    pub(crate) choice: Choice,
    /// Of the choice that the user has before them.
    pub(crate) revision: Option<String>,
}

impl TryFrom<Map<String, Value>> for Chosen {
    type Error = serde_json::Error;

    fn try_from(mut fields: Map<String, Value>) -> serde_json::Result<Self> {
        let revision = fields.remove("revision").map(serde_json::from_value).transpose()?;
        Ok(Self {
            choice: serde_json::from_value(Value::Object(fields))?,
            revision: revision.flatten(),
        })
    }
}

impl Choice {
    /// The same with the columns of a model, prepared as its own record was, whatever is chosen for the next fit.
    pub(crate) fn for_model(&self, interface: &ModelInterface) -> Self {
        let names = |channels: &[Channel]| Some(channels.iter().map(|channel| channel.name.clone()).collect());
        let mut choice = self.clone();
        choice.options.inputs = names(&interface.inputs);
        choice.options.outputs = names(&interface.outputs);
        choice.options.prepare = interface.preparation.clone();
        if let (None, Some(column)) = (&choice.options.experiment, &interface.experiment) {
            choice.options.divide_by(column.clone());
        }
        choice.detrend.clear();
        choice
    }

    /// Whether anything is done to the recording.
    pub(crate) fn prepares(&self) -> bool {
        !self.options.prepare.is_none() || !self.detrend.is_empty()
    }

    /// The recording as it was. Its gaps are filled, since no record has any; who draws it leaves them out.
    pub(crate) fn unprepared(&self) -> Self {
        let mut choice = self.clone();
        choice.options.prepare = Preparation {
            fill_gaps: self.options.prepare.fill_gaps,
            ..Preparation::default()
        };
        choice.detrend.clear();
        choice
    }

    /// Refuses what has no form in a configuration file: limits by the places of channels, which models alone remember.
    pub(crate) fn check(&self) -> ApiResult<()> {
        match &self.options.prepare.clip_spikes {
            ClipSpikes::Channels(_) => Err(ApiError::bad(
                "clip_spikes by the places of channels: expected one limit for all outputs, or channels by name",
            )),
            _ => Ok(()),
        }
    }
}

impl App {
    /// The choice that was made, if one was.
    pub(crate) fn stored_choice(&self, id: &str) -> Option<Choice> {
        self.store.read(|kept| kept.choices.get(id).cloned())
    }

    /// What `fit` would be given to read the recording.
    pub(crate) fn request(&self, id: &str, choice: &Choice) -> ApiResult<RecordRequest> {
        if choice.more.len() + choice.test.len() >= MOST_FILES {
            return Err(ApiError::bad(format!(
                "{} files: expected at most {MOST_FILES} for one record",
                1 + choice.more.len() + choice.test.len()
            )));
        }
        let mut named = vec![id];
        for other in choice.more.iter().chain(&choice.test) {
            if named.contains(&other.as_str()) {
                return Err(ApiError::bad(format!(
                    "{other} was named twice: a file has one place in a record"
                )));
            }
            named.push(other);
        }
        let is_built_in = known_dataset(id).is_some_and(|known| known.is_built_in());
        let file = |name: &String| -> ApiResult<String> {
            self.workspace.record(name)?;
            Ok(format!("{}/{name}", self.workspace.text()))
        };
        let files = |names: &[String]| names.iter().map(file).collect::<ApiResult<Vec<_>>>();
        let mut data = match is_built_in {
            true => vec![id.to_owned()],
            false => vec![file(&id.to_owned())?],
        };
        data.extend(files(&choice.more)?);
        let split = choice.split.as_deref().map(str::parse).transpose()?;
        let request = RecordRequest::new(data, self.data_dir.clone(), choice.options.clone(), split);
        Ok(request.with_test(files(&choice.test)?))
    }

    /// The recording, read now or a moment ago.
    pub(crate) fn dataset(&self, request: &RecordRequest) -> ApiResult<Arc<Dataset>> {
        let key = record_key(request);
        Ok(self.caches.records.get(&key, || request.load())?)
    }
}

/// Changes with the files and with how they are read.
pub(crate) fn record_key(request: &RecordRequest) -> String {
    let files = request.data().iter().chain(request.test());
    let files: Vec<String> = files.map(|file| stamp(Path::new(file))).collect();
    let options = serde_json::to_string(request.options()).unwrap_or_default();
    format!("{}|{options}", files.join("|"))
}

/// Changes with the files, with how they are read, and with what is for training, validation and test.
pub(crate) fn split_key(request: &RecordRequest) -> String {
    let learnt = request.data().len();
    format!(
        "{}|{}|{learnt} files to learn from",
        record_key(request),
        request.fractions
    )
}

/// Tells a stored choice from others, and from none.
pub(crate) fn revision(choice: Option<&Choice>) -> String {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(&choice).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Refuses to go on from a choice that somebody has changed since it was seen. Scripts need not say what they have seen.
pub(crate) fn check_seen(seen: Option<&str>, stored: Option<&Choice>) -> ApiResult<()> {
    match seen {
        Some(seen) if seen != revision(stored) => Err(ApiError::conflict(
            "the choice of this recording was changed elsewhere: look at it again",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Experiment, Normaliser, Part};

    use super::*;

    #[test]
    fn the_same_files_with_another_test_part_are_split_in_another_way() {
        let request = |data: &[&str], test: &[&str]| {
            let named = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
            let split = Some("0.5,0.5,0".parse().expect("shares"));
            RecordRequest::new(named(data), None, ReadOptions::default(), split).with_test(named(test))
        };
        let [before, after] = [
            request(&["a.csv", "b.csv"], &["c.csv"]),
            request(&["a.csv"], &["b.csv", "c.csv"]),
        ];
        assert_eq!(record_key(&before), record_key(&after), "they are read as before");
        assert_ne!(split_key(&before), split_key(&after));
    }
    #[test]
    fn a_model_brings_the_column_of_its_experiments() {
        let columns = || vec![(0..9).map(f64::from).collect()];
        let run = Experiment::new("run", columns(), columns());
        let channels = |name| vec![Channel::new(name)];
        let dataset = Dataset::new("plant", channels("u"), channels("y"), None, vec![run]).expect("a record");
        let normaliser = Normaliser::fit(&dataset, &Part::whole(&dataset)).expect("moves");
        let mut interface = ModelInterface::new(&dataset, normaliser);
        assert_eq!(Choice::default().for_model(&interface).options.experiment, None);
        interface.experiment = Some("batch".to_owned());
        let found = Choice::default().for_model(&interface).options;
        assert_eq!(
            (found.experiment.as_deref(), found.experiment_may_lack),
            (Some("batch"), true)
        );
        let mut chosen = Choice::default();
        chosen.options.experiment = Some("shift".to_owned());
        assert_eq!(
            chosen.for_model(&interface).options.experiment,
            chosen.options.experiment
        );
    }
}
