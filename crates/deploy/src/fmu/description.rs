//! The variables of an FMU.

use std::collections::HashSet;

use intervalid_data::{Channel, Scale};
use intervalid_model::CoverageTest;
use minijinja::{Value, context};

use crate::step_program::StepProgram;

/// One variable of `modelDescription.xml`.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    reference: usize,
    causality: &'static str,
    variability: &'static str,
    initial: Option<&'static str>,
    description: String,
    start: Option<String>,
    unit: Option<String>,
}

impl Variable {
    fn value(&self) -> Value {
        context! {
            name => self.name.clone(),
            reference => self.reference,
            causality => self.causality,
            variability => self.variability,
            initial => self.initial,
            description => self.description.clone(),
            start => self.start.clone(),
            unit => self.unit.clone(),
        }
    }
}

/// Makes names unique by trailing underscores.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn take(&mut self, wanted: &str) -> String {
        let mut name = clean(wanted);
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// Text without control characters, which XML and FMI names may not hold.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

struct List {
    names: Names,
    variables: Vec<Variable>,
    start_values: Vec<f64>,
}

impl List {
    /// An output that is no channel of the model.
    fn push_number(&mut self, name: String, description: String, start: f64) {
        let bare = (&Channel::new(name.as_str()), &Scale { mean: start, std: 1.0 });
        self.push(name.clone(), OUTPUT, description, bare);
    }

    fn push(
        &mut self,
        name: String,
        (causality, variability, initial): (&'static str, &'static str, Option<&'static str>),
        description: String,
        (channel, scale): (&Channel, &Scale),
    ) {
        self.start_values.push(scale.mean);
        self.variables.push(Variable {
            name,
            reference: self.start_values.len(),
            causality,
            variability,
            initial,
            description,
            start: (causality != "output").then(|| format!("{:?}", scale.mean)),
            unit: channel.unit.as_deref().map(clean).filter(|unit| !unit.is_empty()),
        });
    }
}

const INPUT: (&str, &str, Option<&str>) = ("input", "discrete", None);
const OUTPUT: (&str, &str, Option<&str>) = ("output", "discrete", Some("calculated"));
const PARAMETER: (&str, &str, Option<&str>) = ("parameter", "fixed", Some("exact"));

/// What the templates need to know, from the plan of the step that the FMU makes.
pub(super) fn context(plan: &StepProgram, name: &str, sample_time: f64, monitor: Option<&CoverageTest>) -> Value {
    let mut list = List {
        names: Names::default(),
        variables: Vec::new(),
        start_values: Vec::new(),
    };
    let needs = plan.needs();
    let percent = (1e4 * plan.coverage).round() / 100.0;
    let inputs = || plan.inputs.iter().map(|input| (&input.channel, &input.scale));
    let outputs = || plan.outputs.iter().map(|output| (&output.channel, &output.scale));
    // Channels keep their names; what is made from them gives way.
    let input_names: Vec<String> = inputs().map(|(channel, _)| list.names.take(&channel.name)).collect();
    let output_names: Vec<String> = outputs().map(|(channel, _)| list.names.take(&channel.name)).collect();
    for (variable, name) in inputs().zip(&input_names) {
        list.push(
            name.clone(),
            INPUT,
            format!("Input {name}, held over the step"),
            variable,
        );
    }
    for (variable, name) in outputs().zip(&output_names) {
        let description = format!("Measured {name} at the beginning of the step, used when online or correct is true");
        let measured = list.names.take(&format!("{name}_measured"));
        list.push(measured, INPUT, description, variable);
    }
    let first_output = list.start_values.len();
    for (variable, name) in outputs().zip(&output_names) {
        list.push(name.clone(), OUTPUT, format!("Prediction of {name}"), variable);
        for (side, which) in [("lower", "Lower"), ("upper", "Upper")] {
            let description = format!("{which} bound of {name}: about {percent} % of measurements are expected inside");
            let bound = list.names.take(&format!("{name}_{side}"));
            list.push(bound, OUTPUT, description, variable);
        }
    }
    let first_monitor = list.start_values.len();
    if let Some(test) = monitor {
        let state = list.names.take("monitor_state");
        let description = "How the model is by the measured outputs: 0 ok, 1 watch, 2 refit; needs online to be true";
        list.push_number(state, description.to_owned(), 0.0);
        for name in &output_names {
            for (suffix, of) in [
                ("coverage", "all samples"),
                ("recent_coverage", "the last blocks of samples"),
            ] {
                let share = list.names.take(&format!("{name}_{suffix}"));
                let measured = match test.together {
                    true => "measured outputs were all".to_owned(),
                    false => format!("measured {name} was"),
                };
                let description = format!("Share of {of} whose {measured} inside the band; -1 before the first");
                list.push_number(share, description, -1.0);
            }
        }
    }
    let first_past_input = list.start_values.len();
    for age in 1..=needs.inputs {
        for (variable, name) in inputs().zip(&input_names) {
            let past = list.names.take(&format!("{name}_initial_{age}"));
            list.push(
                past,
                PARAMETER,
                format!("{name} {age} step(s) before the first"),
                variable,
            );
        }
    }
    let first_past_output = list.start_values.len();
    for age in 1..=plan.useful_outputs() {
        for (variable, name) in outputs().zip(&output_names) {
            let description = format!("Measured {name} {age} sample(s) before the first predicted one");
            let past = list.names.take(&format!("{name}_initial_{age}"));
            list.push(past, PARAMETER, description, variable);
        }
    }
    let mut units: Vec<&String> = list
        .variables
        .iter()
        .filter_map(|variable| variable.unit.as_ref())
        .collect();
    units.sort_unstable();
    units.dedup();
    let units: Vec<String> = units.into_iter().cloned().collect();
    let values = list.start_values.len();
    let starts: Vec<String> = list.start_values.iter().map(|value| format!("    {value:e}")).collect();
    let token = &plan.fingerprint;
    context! {
        p => name,
        P => name.to_uppercase(),
        name => name,
        version => env!("CARGO_PKG_VERSION"),
        fingerprint => token,
        token => format!("{{{}-{}-{}-{}-{}}}", &token[..8], &token[8..12], &token[12..16], &token[16..20], &token[20..32]),
        description => described(plan, percent),
        sample_time => format!("{sample_time:?}"),
        sample_limit => format!("{:e}", plan.sample_limit),
        first_measured => plan.inputs.len(),
        first_output => first_output,
        is_watched => monitor.is_some(),
        first_monitor => first_monitor,
        first_past_input => first_past_input,
        first_past_output => first_past_output,
        values => values,
        online_reference => values + 1,
        online_name => list.names.take("online"),
        online_description => "Whether the band follows the measured outputs",
        knows_region => plan.region.is_some(),
        extrapolated_reference => values + 2,
        extrapolated_name => list.names.take("extrapolated"),
        extrapolated_description => "Whether inputs and past outputs lie outside the region of the training data",
        correct_reference => values + 3,
        correct_name => list.names.take("correct"),
        correct_description => "Whether the measured outputs are what this step and the next ones start from, instead of the model's own predictions",
        time_name => list.names.take("time"),
        start_values => starts.join(",\n"),
        past_inputs_len => (needs.inputs * plan.inputs.len()).max(1),
        units => units,
        variables => list.variables.iter().map(Variable::value).collect::<Vec<_>>(),
    }
}

/// What the model is, for the importing tool.
fn described(plan: &StepProgram, percent: f64) -> String {
    let token = &plan.fingerprint;
    let mut words = format!("Identified model with a {percent} % prediction band, model hash {token}");
    if let Some(band) = plan.band_in_words() {
        words = format!("{words}. {}", clean(&band));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_without_control_characters() {
        let mut names = Names::default();
        assert_eq!(names.take("y"), "y");
        assert_eq!(names.take("y"), "y_");
        assert_eq!(names.take("y\n"), "y__");
        assert_eq!(names.take("m³/h"), "m³/h");
    }
}
