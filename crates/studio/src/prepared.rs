//! What is done to a recording before a fit, and where its samples deserve a look.

use std::sync::Arc;

use intervalid_data::{Dataset, SpotKind, Summary, Trend, spots};
use intervalid_workflow::RecordRequest;
use serde::Serialize;

use crate::api_error::ApiResult;
use crate::app::App;
use crate::choice::{Choice, split_key};
use crate::tracks::starts;

/// A list of more places than this helps nobody; the sentences about whole channels count them all.
const MOST_PLACES: usize = 200;

/// Samples that a user should look at.
#[derive(Debug, Serialize)]
pub(crate) struct Place {
    kind: SpotKind,
    /// Inputs counted before outputs; none where it is about all channels.
    channel: Option<usize>,
    /// Samples of the whole record.
    start: usize,
    end: usize,
    text: String,
}

/// What there is to look at.
#[derive(Debug, Serialize)]
pub(crate) struct Places {
    shown: Vec<Place>,
    /// How many more there are: the shorter ones.
    left_out: usize,
}

impl Places {
    /// The longest ones where there are too many, in the order of their samples.
    pub(crate) fn of(dataset: &Dataset, summary: &Summary) -> Self {
        let mut found = spots(dataset, &summary.warnings);
        let left_out = found.len().saturating_sub(MOST_PLACES);
        if left_out > 0 {
            found.sort_by_key(|spot| std::cmp::Reverse(spot.end - spot.start));
            found.truncate(MOST_PLACES);
            found.sort_by_key(|spot| (spot.experiment, spot.start, spot.channel));
        }
        let starts = starts(dataset);
        let shown = found.iter().map(|spot| Place {
            kind: spot.kind,
            channel: spot.channel,
            start: starts[spot.experiment] + spot.start,
            end: starts[spot.experiment] + spot.end,
            text: spot.in_words(dataset),
        });
        Self {
            shown: shown.collect(),
            left_out,
        }
    }
}

/// What is done, a sentence each.
pub(crate) fn in_words(dataset: &Dataset, trend: Option<&Trend>) -> Vec<String> {
    let channels = dataset.inputs().iter().chain(dataset.outputs());
    let names: Vec<&str> = channels.map(|channel| channel.name.as_str()).collect();
    let mut words = dataset.preparation().in_words(&names);
    words.extend(trend.map(|trend| trend.in_words(&names)));
    words
}

impl App {
    /// The lines that a fit would take out; none where none are asked for, or the record cannot be split yet.
    pub(crate) fn trend(
        &self,
        request: &RecordRequest,
        choice: &Choice,
        dataset: &Dataset,
    ) -> ApiResult<Option<Trend>> {
        let Some(split) = request.split(dataset).ok().filter(|_| !choice.detrend.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(Trend::fit(dataset, &split.train, &choice.detrend)?))
    }

    /// The record as a model sees it: prepared, and without its drift.
    pub(crate) fn prepared(&self, id: &str, choice: &Choice) -> ApiResult<Arc<Dataset>> {
        let request = self.request(id, choice)?;
        let dataset = self.dataset(&request)?;
        if choice.detrend.is_empty() {
            return Ok(dataset);
        }
        let key = format!("{}|without the drift of {:?}", split_key(&request), choice.detrend);
        self.caches.records.get(&key, || {
            Ok(match self.trend(&request, choice, &dataset)? {
                Some(trend) => trend.remove(&dataset),
                None => (*dataset).clone(),
            })
        })
    }
}
