//! A simulation, step by step, as an input tells it; beside it the exported C code, if asked for.

use intervalid_data::{Normaliser, Scale};
use intervalid_model::{History, Model, ModelError, Precision, Prediction, Simulator};

use crate::exported::{Answer, Exported};
use crate::models::stepwise;
use crate::script::{Action, Script};

/// Past this many standard deviations, rounding alone may tell two sound simulations apart.
const COMPARED: f64 = 1e3;

/// Runs the story of an input on the model that its first byte names. `with_c`, exported code must answer alike.
///
/// # Errors
/// If models or a compiler are missing, and the last refusal of the simulation.
pub(crate) fn run(input: &[u8], with_c: bool) -> anyhow::Result<()> {
    let models = stepwise()?;
    let mut script = Script(input);
    let index = usize::from(script.byte().unwrap_or(0)) % models.len();
    let exported = match with_c {
        true => Some(Exported::of(index)?),
        false => None,
    };
    let mut simulation = Simulation::new(&models[index], exported)?;
    let mut refusal = None;
    while let Some(action) = script.action() {
        match simulation.act(action, &mut script)? {
            Some(Ok(())) => {}
            Some(Err(error)) => refusal = Some(error),
            None => break,
        }
    }
    refusal.map_or(Ok(()), |error| Err(error.into()))
}

struct Simulation {
    simulator: Simulator,
    exported: Option<Exported>,
    /// Whether the C code has the same past, and rounding has not yet told the two apart.
    is_compared: bool,
    tolerance: f64,
}

impl Simulation {
    /// Started at the means of all channels: nothing is refused more often than a step before a start.
    fn new(model: &Model, exported: Option<Exported>) -> anyhow::Result<Self> {
        let is_single = model.arx().is_none() && model.config().precision == Precision::F32;
        let mut simulation = Self {
            simulator: Simulator::new(model)?,
            exported,
            is_compared: true,
            tolerance: if is_single { 1e-3 } else { 1e-7 },
        };
        let needs = simulation.simulator.needs();
        let Normaliser { inputs, outputs } = &model.interface().normaliser;
        let means = |scales: &[Scale], count: usize| -> Vec<f64> {
            let sample = || scales.iter().map(|scale| f64::from(scale.mean as f32));
            (0..count).flat_map(|_| sample()).collect()
        };
        simulation.reset(&means(inputs, needs.inputs), &means(outputs, needs.outputs))??;
        Ok(simulation)
    }

    /// What the simulation answers; none where the input has ended.
    fn act(&mut self, action: Action, script: &mut Script<'_>) -> anyhow::Result<Option<Result<(), ModelError>>> {
        let Normaliser { inputs, outputs } = self.simulator.interface().normaliser.clone();
        let before = self.simulator.state();
        let found = match action {
            Action::Reset(past_inputs, past_outputs) => {
                let past_inputs = script.samples(past_inputs % 16, &inputs);
                let past_outputs = script.samples(past_outputs % 16, &outputs);
                let (Some(inputs), Some(outputs)) = (past_inputs, past_outputs) else {
                    return Ok(None);
                };
                self.reset(&inputs, &outputs)?
            }
            Action::Step => {
                let Some(inputs) = script.sample(&inputs) else {
                    return Ok(None);
                };
                self.step(&inputs)?
            }
            Action::Observe => {
                let Some(measured) = script.sample(&outputs) else {
                    return Ok(None);
                };
                let found = self.simulator.observe(&measured);
                if let Some(exported) = &mut self.exported {
                    let answer = exported.observe(&measured)?;
                    self.compare(&found, answer);
                }
                found
            }
            Action::Correct => {
                let Some(measured) = script.sample(&outputs) else {
                    return Ok(None);
                };
                match self.exported {
                    // Exported code has no corrections.
                    Some(_) => Ok(()),
                    None => self.simulator.correct(&measured),
                }
            }
            Action::Store => {
                let text = serde_json::to_string(&before)?;
                let restored = self.simulator.restore(&serde_json::from_str(&text)?);
                assert!(restored.is_ok(), "a state that was just stored: {restored:?}");
                assert!(self.simulator.state() == before, "a stored state reads back to itself");
                Ok(())
            }
        };
        if let Err(error) = &found
            && !matches!(error, ModelError::RunDiverged { .. })
        {
            assert!(self.simulator.state() == before, "a refusal leaves the state: {error}");
        }
        Ok(Some(found))
    }

    fn reset(&mut self, inputs: &[f64], outputs: &[f64]) -> anyhow::Result<Result<(), ModelError>> {
        let found = self.simulator.reset(History { inputs, outputs });
        if let Some(exported) = &mut self.exported {
            let answer = exported.reset(inputs, outputs)?;
            let diverged = answer == Answer::Diverged || matches!(found, Err(ModelError::RunDiverged { .. }));
            let was_compared = std::mem::replace(&mut self.is_compared, !diverged);
            self.compare(&found, answer);
            // What is refused keeps a past that may differ.
            self.is_compared &= found.is_ok() || was_compared;
        }
        Ok(found)
    }

    fn step(&mut self, inputs: &[f64]) -> anyhow::Result<Result<(), ModelError>> {
        let found = self.simulator.step(inputs).map(checked);
        if let Some(exported) = &mut self.exported {
            let (answer, bounds) = exported.step(inputs)?;
            if let Ok(found) = &found {
                self.compare_bounds(found, &bounds);
            } else if answer == Answer::Done {
                // Near the border of divergence, rounding decides who has crossed it.
                self.compare_bounds(&bounds, &bounds);
            }
            self.compare(&found, answer);
        }
        Ok(found.map(|_| ()))
    }

    fn compare<T>(&self, found: &Result<T, ModelError>, answer: Answer) {
        let agrees = found.is_ok() == (answer == Answer::Done);
        let text = found
            .as_ref()
            .err()
            .map_or_else(|| "done".to_owned(), ToString::to_string);
        assert!(agrees || !self.is_compared, "Rust says '{text}', C says {answer:?}");
    }

    /// Ends the comparison where values are so large that rounding differs.
    fn compare_bounds(&mut self, found: &[[f64; 3]], c: &[[f64; 3]]) {
        let scales = &self.simulator.interface().normaliser.outputs;
        for ((rust, c), scale) in found.iter().zip(c).zip(scales) {
            let distances = rust.iter().map(|value| (value - scale.mean).abs());
            let size = distances.fold(scale.std, f64::max);
            self.is_compared &= size <= COMPARED * scale.std;
            let is_close = rust
                .iter()
                .zip(c)
                .all(|(rust, c)| (rust - c).abs() <= self.tolerance * size);
            assert!(
                is_close || !self.is_compared,
                "Rust predicts {rust:?}, C predicts {c:?}"
            );
        }
    }
}

/// The bounds of a step, `[lower, y, upper]` of every output.
fn checked(prediction: Prediction<'_>) -> Vec<[f64; 3]> {
    let Prediction {
        y,
        lower,
        upper,
        online_lower,
        online_upper,
    } = prediction;
    let all = [y, lower, upper, online_lower, online_upper];
    assert!(
        all.iter().copied().flatten().all(|value| value.is_finite()),
        "a step must give finite bounds: {prediction:?}"
    );
    let bounds: Vec<[f64; 3]> = (0..y.len())
        .map(|output| [lower[output], y[output], upper[output]])
        .collect();
    let in_order = bounds.iter().all(|[lower, y, upper]| lower <= y && y <= upper);
    let online = online_lower
        .iter()
        .zip(online_upper)
        .all(|(lower, upper)| lower <= upper);
    assert!(
        in_order && online,
        "a step must give bounds in their order: {prediction:?}"
    );
    bounds
}
