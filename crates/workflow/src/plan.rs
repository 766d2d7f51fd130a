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
        config.initial.first_start(config.lags) + config.initial.unscored() + 1
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
                // Where more outputs than one are needed, the plant has been at rest there.
                let past = needed - 1;
                for (column, values) in columns[0].iter_mut().zip(ahead) {
                    column.extend(values.first().map(|first| vec![*first; past]).unwrap_or_default());
                }
                for (column, value) in columns[1].iter_mut().zip(start) {
                    column.extend(std::iter::repeat_n(*value, needed));
                }
                (past, needed)
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
