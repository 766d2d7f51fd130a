//! All views of a model together: what a page of an analysis shows.

use intervalid_data::{Dataset, Part};
use intervalid_model::{Band, Model};
use serde::Serialize;

use crate::error::Result;
use crate::frequency::FrequencyResponse;
use crate::linearise::Linearisation;
use crate::next_recording::{NextRecording, next_recording};
use crate::residuals::{AheadFit, Residuals, fits_ahead, residuals};
use crate::response::Responses;
use crate::static_curve::StaticCurve;
use crate::width::{WidthShares, width_shares};

/// A free run over a recording.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The recording.
    pub dataset: &'a Dataset,
    /// The part of it that was simulated.
    pub part: &'a Part,
    /// The simulation.
    pub bands: &'a [Band],
}

/// All views of a model. Those that it cannot have are left out, and `notes` says why.
#[derive(Clone, Debug, Serialize)]
pub struct Views {
    /// Around the operating point.
    pub linear: Linearisation,
    /// Bode and Nyquist; none of a model without inputs.
    pub frequency: Option<FrequencyResponse>,
    /// Steps and pulses, one entry per input; none where the point is no stable rest.
    pub responses: Vec<Responses>,
    /// Static characteristics, one per input.
    pub curves: Vec<StaticCurve>,
    /// Errors of the run, one entry per output.
    pub residuals: Vec<Residuals>,
    /// Fits by horizon.
    pub ahead: Vec<AheadFit>,
    /// What the band is made of, one entry per output.
    pub widths: Vec<WidthShares>,
    /// What to measure next.
    pub next: Option<NextRecording>,
    /// What a reader should know, in words.
    pub notes: Vec<String>,
}

impl Views {
    /// Everything that can be seen around a point, and of a run if there is one. `amplitudes` are those of steps, the usual ones if
    /// there are none; `limits` those of every input, as [`input_limits`](crate::input_limits) gives them.
    ///
    /// # Errors
    /// If an amplitude is no use, or the run is not one of this model.
    pub fn new(
        model: &Model,
        linear: Linearisation,
        run: Option<Run<'_>>,
        amplitudes: &[f64],
        limits: &[[f64; 2]],
    ) -> Result<Self> {
        let mut notes = linear.notes();
        let dataset = run.map(|run| run.dataset);
        let (frequency, left_out) = FrequencyResponse::beside(&linear, dataset)?;
        notes.extend(left_out);
        let mut responses = Vec::new();
        let mut curves = Vec::new();
        for input in 0..linear.inputs.len() {
            curves.push(StaticCurve::new(model, input, dataset)?);
            match linear.operating_point.is_steady && linear.is_stable {
                true => responses.push(Responses::new(model, &linear, input, amplitudes)?),
                false if input == 0 => {
                    notes.push(
                        "Steps and pulses start from a stable steady state; there is none here, so they are left out."
                            .to_owned(),
                    );
                }
                false => {}
            }
        }
        notes.extend(still_moving(&responses));
        let (mut errors, mut ahead, mut widths, mut next) = (Vec::new(), Vec::new(), Vec::new(), None);
        if let Some(Run { dataset, part, bands }) = run {
            errors = residuals(model, dataset, bands)?;
            ahead = fits_ahead(model, dataset, part)?;
            widths = width_shares(model, dataset, bands)?;
            next = Some(next_recording(&linear, frequency.as_ref(), (dataset, bands), limits));
        }
        Ok(Self {
            linear,
            frequency,
            responses,
            curves,
            residuals: errors,
            ahead,
            widths,
            next,
            notes,
        })
    }
}

/// Says which steps have no figures since a run ends before their answers do.
fn still_moving(responses: &[Responses]) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    for response in responses {
        let outputs = response.steps.iter().flat_map(|step| &step.outputs);
        for output in outputs.filter(|output| output.still_moves) {
            let words = format!("{} to {}", response.input, output.output);
            if !found.contains(&words) {
                found.push(words);
            }
        }
    }
    (!found.is_empty()).then(|| {
        format!(
            "Steps whose answers do not come to rest within a run have no gain, times or overshoot: {}.",
            found.join(", ")
        )
    })
}
