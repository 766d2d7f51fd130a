//! What would the plant do: inputs that somebody drew, simulated at once.

use intervalid_workflow::{Past, Plan, PlanLabel};
use serde::{Deserialize, Serialize};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;

/// Longer plans are for the command line.
const MOST_SAMPLES: usize = 20_000;

/// What to simulate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// Samples of each input.
    inputs: Vec<Vec<f64>>,
    /// Where the outputs are at rest before it; their means where nothing is said.
    initial: Option<Vec<f64>>,
}

/// What comes of it.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    sample_time: Option<f64>,
    coverage: f64,
    /// First sample that is predicted.
    first: usize,
    outputs: Vec<Output>,
    /// Whether the model has seen anything like it, sample by sample, where it knows.
    extrapolated: Option<Vec<bool>>,
    /// Sample at which the simulation left every reasonable range.
    diverged_at: Option<usize>,
    /// What to know before it is believed.
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Output {
    name: String,
    unit: Option<String>,
    centre: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Inputs of a recording, to start drawing from.
#[derive(Debug, Serialize)]
pub(crate) struct Loaded {
    inputs: Vec<Vec<f64>>,
    /// The outputs where it begins.
    initial: Vec<f64>,
}

impl App {
    /// Simulates inputs that nobody has measured outputs of.
    pub(crate) fn what_if(&self, fit: &str, asked: &Asked) -> ApiResult<Answer> {
        let model = self.model(fit)?;
        let interface = model.interface();
        let samples = asked.inputs.first().map_or(0, Vec::len);
        if interface.inputs.is_empty() {
            return Err(ApiError::bad("this model has no inputs, so there is nothing to draw"));
        }
        if !(2..=MOST_SAMPLES).contains(&samples) || asked.inputs.iter().any(|input| input.len() != samples) {
            return Err(ApiError::bad(format!(
                "{samples} samples: expected 2 to {MOST_SAMPLES}, as many for every input"
            )));
        }
        let usual: Vec<f64> = interface.normaliser.outputs.iter().map(|scale| scale.mean).collect();
        let initial = asked.initial.as_deref().unwrap_or(&usual);
        let columns: Vec<&[f64]> = asked.inputs.iter().map(Vec::as_slice).collect();
        let label = PlanLabel {
            name: "what if".to_owned(),
            ..PlanLabel::default()
        };
        let plan = Plan::new(&model, &columns, Past::AtRest(initial), label)?;
        let bands = model.simulate(&plan.dataset, &plan.part)?;
        let [band] = bands.as_slice() else {
            return Err(ApiError::bad("too short to be simulated"));
        };
        let flags = model.extrapolated(&plan.dataset, &bands)?;
        let skipped = band.warmup.min(band.len());
        let outputs = interface.outputs.iter().enumerate().map(|(at, channel)| Output {
            name: channel.name.clone(),
            unit: channel.unit.clone(),
            centre: band.centre[at][skipped..].to_vec(),
            lower: band.lower[at][skipped..].to_vec(),
            upper: band.upper[at][skipped..].to_vec(),
        });
        let lost = (band.first + band.len()).saturating_sub(plan.past);
        Ok(Answer {
            sample_time: interface.sample_time,
            coverage: model.config().coverage,
            first: (band.first + skipped).saturating_sub(plan.past),
            outputs: outputs.collect(),
            extrapolated: flags.map(|flags| flags[0][skipped..].to_vec()),
            diverged_at: band.diverged_at.map(|_| lost),
            warnings: model
                .trend_warnings(&plan.dataset)
                .iter()
                .map(ToString::to_string)
                .collect(),
        })
    }

    /// The first samples of a recording's inputs, in the order of the model.
    pub(crate) fn inputs_of(&self, fit: &str, data: &str, from: usize, samples: usize) -> ApiResult<Loaded> {
        let model = self.model(fit)?;
        let interface = model.interface();
        let choice = self.stored_choice(data).unwrap_or_default();
        let dataset = self.dataset(&self.request(data, &choice.for_model(interface))?)?;
        // What is drawn has no units and no clock of its own: samples in others would be taken for the model's.
        model.level(&dataset)?;
        let Some(experiment) = dataset.experiments().first() else {
            return Err(ApiError::bad(format!("{data} holds no samples")));
        };
        let from = from.min(experiment.len().saturating_sub(2));
        let to = from
            .saturating_add(samples.clamp(2, MOST_SAMPLES))
            .min(experiment.len());
        Ok(Loaded {
            inputs: (0..interface.inputs.len())
                .map(|channel| experiment.input(channel)[from..to].to_vec())
                .collect(),
            initial: (0..interface.outputs.len())
                .map(|channel| experiment.output(channel)[from])
                .collect(),
        })
    }
}
