//! What a model wants done to data before it runs on them, and undoes in what it predicts.
//!
//! Clipped and thinned samples are a matter of records ([`Preparation`]): a model remembers what its record went through, and refuses one that did not.
//! A [`Trend`] is the model's own: data come with it, leave it at the door, and predictions get it back.

use std::borrow::Cow;

use intervalid_data::{Dataset, Preparation, Trend, Warning};

use crate::band::prediction::Band;
use crate::error::{ModelError, Result};
use crate::interface::ModelInterface;
use crate::model::Model;

impl ModelInterface {
    /// Refuses a record that was not prepared as the model's own.
    pub(crate) fn check_preparation(&self, dataset: &Dataset) -> Result<()> {
        let (expected, found) = (&self.preparation, dataset.preparation());
        // A record has no gaps: whether some were filled makes no difference.
        if (expected.decimate, &expected.clip_spikes) == (found.decimate, &found.clip_spikes) {
            return Ok(());
        }
        let words = |preparation: &Preparation| {
            let preparation = Preparation {
                fill_gaps: None,
                ..preparation.clone()
            };
            preparation.in_words(&self.channel_names()).join(" ")
        };
        Err(ModelError::Preparation {
            expected: words(expected),
            found: words(found),
        })
    }

    fn channel_names(&self) -> Vec<&str> {
        let channels = self.inputs.iter().chain(&self.outputs);
        channels.map(|channel| channel.name.as_str()).collect()
    }

    /// What is done to data and undone in predictions, a sentence each; empty where that is nothing.
    #[must_use]
    pub fn preparation_in_words(&self) -> Vec<String> {
        let names = self.channel_names();
        let mut words = self.preparation.in_words(&names);
        words.extend(self.trend.as_ref().map(|trend| trend.in_words(&names)));
        words
    }
}

impl Model {
    /// The same model for data with this trend, which it was fitted without; none takes it off.
    ///
    /// # Errors
    /// If the trend is of other numbers of channels.
    pub fn with_trend(self, trend: Option<Trend>) -> Result<Self> {
        let interface = self.interface();
        if let Some(trend) = &trend {
            trend
                .check(interface.inputs.len(), interface.outputs.len())
                .map_err(|reason| ModelError::option("detrend", reason, "a line per channel that has one"))?;
        }
        Ok(self.map_interface(|interface| interface.trend = trend))
    }

    /// The same model for data that are prepared already and have no trend: what its step computes.
    #[must_use]
    pub fn bare(&self) -> Self {
        self.clone().map_interface(|interface| {
            interface.trend = None;
            interface.preparation = Preparation::default();
        })
    }

    /// A record prepared as the model's own was, unless it is already.
    ///
    /// # Errors
    /// If it has other channels, or was prepared in another way.
    pub fn prepare(&self, dataset: Dataset) -> Result<Dataset> {
        match dataset.preparation().is_none() {
            true => Ok(self.interface().preparation.apply(dataset)?),
            false => {
                self.interface().check_preparation(&dataset)?;
                Ok(dataset)
            }
        }
    }

    /// What there is to say of the model's trend over a record; nothing of a model without one.
    #[must_use]
    pub fn trend_warnings(&self, dataset: &Dataset) -> Vec<Warning> {
        let trend = self.interface().trend.as_ref();
        trend.map_or_else(Vec::new, |trend| trend.warnings(dataset))
    }

    /// The data without the model's trend.
    ///
    /// # Errors
    /// If they have other channels, units or rates, or were prepared in another way.
    pub fn level<'a>(&self, dataset: &'a Dataset) -> Result<Cow<'a, Dataset>> {
        self.interface().check_channels(dataset)?;
        Ok(match &self.interface().trend {
            Some(trend) => Cow::Owned(trend.remove(dataset)),
            None => Cow::Borrowed(dataset),
        })
    }

    /// Predictions of levelled data with the trend of `dataset`.
    pub(crate) fn with_its_trend(&self, dataset: &Dataset, bands: Vec<Band>) -> Vec<Band> {
        self.shifted(dataset, bands, 1.0)
    }

    /// The other way round.
    pub(crate) fn without_its_trend(&self, dataset: &Dataset, bands: &[Band]) -> Vec<Band> {
        self.shifted(dataset, bands.to_vec(), -1.0)
    }

    fn shifted(&self, dataset: &Dataset, mut bands: Vec<Band>, sign: f64) -> Vec<Band> {
        let Some(trend) = &self.interface().trend else {
            return bands;
        };
        for band in &mut bands {
            let (experiment, first) = (band.experiment, band.first);
            for output in 0..self.interface().outputs.len() {
                for side in [&mut band.lower, &mut band.centre, &mut band.upper] {
                    for (step, value) in side[output].iter_mut().enumerate() {
                        *value += sign * trend.output_at(dataset, experiment, output, first + step);
                    }
                }
            }
        }
        bands
    }

    /// Refuses what would run on raw samples, one at a time, and cannot do to them what was done to the record.
    pub(crate) fn check_stepwise_preparation(&self) -> Result<()> {
        let interface = self.interface();
        let clips_inputs = match &interface.preparation.clip_spikes {
            intervalid_data::ClipSpikes::Channels(limits) => {
                limits.iter().take(interface.inputs.len()).any(Option::is_some)
            }
            _ => false,
        };
        let what = if interface.preparation.decimate.is_some() {
            "its record was filtered and thinned out, which takes samples that are still to come"
        } else if clips_inputs {
            "spikes of its inputs are clipped, which takes samples that are still to come"
        } else if interface.trend.is_some() {
            "its trend goes by the clock, which a step does not have"
        } else {
            return Ok(());
        };
        Err(ModelError::PreparedStep { reason: what })
    }
}
