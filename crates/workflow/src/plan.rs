//! Inputs to come: nothing was measured yet, and a simulation starts from what is known of the past.

use intervalid_data::{Dataset, Experiment, Part, Segment, TimeAxis};
use intervalid_model::{Model, ModelError};

use crate::error::Result;

/// What is known of the time before the plan.
#[derive(Clone, Copy, Debug)]
pub enum Past<'a> {
    /// The plant has been at rest: one value per output.
    AtRest(&'a [f64]),
    /// What was recorded, at least [`Plan::needed`] samples.
    Recorded(&'a Experiment),
}

/// When the samples of a plan are taken, and what it is called.
#[derive(Clone, Debug, Default)]
pub struct PlanLabel {
    /// Name of the record and its experiment.
    pub name: String,
    /// Unit of each input; that of the model where nothing is said.
    pub units: Vec<Option<String>>,
    /// Clock of the rows, where they have one.
    pub time: Option<TimeAxis>,
    /// Seconds between samples; those of the model where nothing is said.
    pub sample_time: Option<f64>,
}

/// Inputs to come, behind what is known of the past.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The inputs behind the past; outputs to come hold values that nothing reads.
    pub dataset: Dataset,
    /// What is to be simulated of it.
    pub part: Part,
    /// Samples of the past in front of the plan.
    pub past: usize,
}

impl Plan {
    /// Samples of the past that a simulation of this model starts from.
    #[must_use]
    pub fn needed(model: &Model) -> usize {
        let config = model.config();
        config.initial.known_samples(config.lags)
    }

    /// Puts the past in front of `ahead`, the samples of each input.
    ///
    /// # Errors
    /// If there are not as many inputs, or outputs to start from, as the model has, or they are not finite numbers of one length.
    pub fn new(model: &Model, ahead: &[&[f64]], past: Past<'_>, label: PlanLabel) -> Result<Self> {
        let interface = model.interface();
        let initial = model.config().initial;
        let needed = Self::needed(model);
        let (inputs, outputs) = (interface.inputs.len(), interface.outputs.len());
        if ahead.len() != inputs {
            return Err(ModelError::option("inputs", ahead.len(), format!("{inputs}, as the model has")).into());
        }
        let clock_of_past = match past {
            Past::Recorded(last) => last.time().copied(),
            Past::AtRest(_) => None,
        };
        let mut columns: [Vec<Vec<f64>>; 2] = [vec![Vec::new(); inputs], vec![Vec::new(); outputs]];
        let (past, known) = match past {
            Past::Recorded(last) => {
                for (channel, column) in columns[0].iter_mut().enumerate() {
                    column.extend(last.input(channel));
                }
                for (channel, column) in columns[1].iter_mut().enumerate() {
                    column.extend(last.output(channel));
                }
                (last.len(), last.len())
            }
            Past::AtRest(start) => {
                if start.len() != outputs {
                    let expected = format!("{outputs}, one per output of the model");
                    return Err(ModelError::option("initial outputs", start.len(), expected).into());
                }
                // For as long as the model can remember, the plant has been at rest there.
                let known = needed.max(model.config().lags.memory());
                let past = known - 1;
                for (column, values) in columns[0].iter_mut().zip(ahead) {
                    column.extend(values.first().map(|first| vec![*first; past]).unwrap_or_default());
                }
                for (column, value) in columns[1].iter_mut().zip(start) {
                    column.extend(std::iter::repeat_n(*value, known));
                }
                (past, known)
            }
        };
        let length = past + ahead.first().map_or(0, |values| values.len());
        for (column, values) in columns[0].iter_mut().zip(ahead) {
            column.extend(*values);
        }
        for column in &mut columns[1] {
            let last = column.last().copied().unwrap_or_default();
            column.resize(length, last);
        }
        let [input_columns, output_columns] = columns;
        let samples_before = past;
        // With the clock of the plan, so that a plan of another rate is refused, or else that of the past.
        let before = |axis: TimeAxis| TimeAxis {
            start: axis.start.after(-(samples_before as f64) * axis.step),
            ..axis
        };
        let clock = label.time.map(before).or(clock_of_past);
        let experiment = Experiment::new(&label.name, input_columns, output_columns).with_time(clock);
        // In the units of the plan, so that a plan in others than the model's is refused.
        let mut input_channels = interface.inputs.clone();
        for (channel, unit) in input_channels.iter_mut().zip(label.units) {
            channel.unit = unit.or(channel.unit.take());
        }
        let dataset = Dataset::new(
            label.name,
            input_channels,
            interface.outputs.clone(),
            label.sample_time.or(interface.sample_time),
            vec![experiment],
        )?
        .with_preparation(interface.preparation.clone());
        let part = Part::from_segments(vec![Segment {
            experiment: 0,
            // A history lies before the part on its own account.
            start: known - 1 - (initial.unscored() - initial.looks_back()),
            end: length,
        }]);
        Ok(Self { dataset, part, past })
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Channel, InitialState, Lags, Split, SplitFractions};
    use intervalid_model::{FitConfig, FitOptions, ModelKind};

    use super::*;

    #[test]
    fn a_plan_at_rest_stays_there_after_a_dead_time() {
        const DEAD_TIME: usize = 9;
        let u: Vec<f64> = (0..400)
            .map(|k| 20.0 + 50.0 * f64::from(u8::from((k / 23 + k / 31) % 2 == 0)))
            .collect();
        let mut y = vec![0.5 * u[0]; 400];
        for k in 1..u.len() {
            y[k] = 0.9 * y[k - 1] + 0.05 * u[k.saturating_sub(DEAD_TIME)];
        }
        let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
        let experiment = Experiment::new("run", vec![u], vec![y]);
        let dataset = Dataset::new("plant", inputs, outputs, None, vec![experiment]).expect("a record");
        let split = Split::new(&dataset, SplitFractions::default()).expect("parts");
        for initial in [
            InitialState::Measured,
            InitialState::ZeroPadded,
            InitialState::History(20),
        ] {
            let config = FitConfig::default().with(|config| {
                config.model = ModelKind::Arx;
                config.lags = Lags {
                    nx: 0,
                    nd: DEAD_TIME,
                    ny: 1,
                };
                config.initial = initial;
            });
            let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).expect("a fit");
            let plan = Plan::new(&model, &[&[75.0; 30]], Past::AtRest(&[37.5]), PlanLabel::default()).expect("a plan");
            let bands = model.simulate(&plan.dataset, &plan.part).expect("simulates");
            let [band] = bands.as_slice() else { panic!("one run") };
            assert_eq!(band.first + band.len(), plan.past + 30);
            let planned = &band.centre[0][band.len() - 29..];
            assert!(
                planned.iter().all(|y| (y - 37.5).abs() < 1e-6),
                "{initial}: {planned:?}"
            );
        }
    }
}
