//! What an exported model says about itself.

use intervalid_data::Channel;
use serde_json::json;

use super::proto::StringStringEntryProto;
use super::start::history_ports;
use super::state::state_ports;
use crate::step_program::StepProgram;

/// A channel in words.
pub(super) fn channel(channel: &Channel) -> String {
    match &channel.unit {
        Some(unit) => format!("{} [{unit}]", channel.name),
        None => channel.name.clone(),
    }
}

/// Keys and values for programs; lists are JSON.
pub(super) fn metadata(plan: &StepProgram) -> Vec<StringStringEntryProto> {
    let needs = plan.needs();
    let channels = |channels: Vec<&Channel>| {
        let entries: Vec<_> = channels
            .iter()
            .map(|channel| json!({"name": channel.name, "unit": channel.unit}))
            .collect();
        json!(entries).to_string()
    };
    let calibrated = plan.outputs.iter().all(|output| output.calibration.is_some());
    let mut entries = vec![
        ("model_hash", plan.fingerprint.clone()),
        ("model", plan.kind.name().to_owned()),
        ("networks", plan.members().to_string()),
        (
            "inputs",
            channels(plan.inputs.iter().map(|input| &input.channel).collect()),
        ),
        (
            "outputs",
            channels(plan.outputs.iter().map(|output| &output.channel).collect()),
        ),
        ("coverage", plan.coverage.to_string()),
        ("band", band(plan)),
        ("calibrated", calibrated.to_string()),
        ("knows_region", plan.region.is_some().to_string()),
        ("lags", plan.lags.to_string()),
        ("initial", plan.initial.to_string()),
        ("past_u_rows", needs.inputs.to_string()),
        ("past_u_least_rows", needs.least_inputs.to_string()),
        ("past_y_rows", needs.outputs.to_string()),
        (
            "states",
            json!(
                state_ports(plan)
                    .iter()
                    .map(|port| port.name.as_str())
                    .collect::<Vec<_>>()
            )
            .to_string(),
        ),
    ];
    if let Some(seconds) = plan.sample_time {
        entries.push(("sample_time_seconds", seconds.to_string()));
    }
    entries
        .into_iter()
        .map(|(key, value)| StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value),
        })
        .collect()
}

/// What the band means.
fn band(plan: &StepProgram) -> String {
    let which = plan.band_in_words();
    format!(
        "y_lower <= y <= y_upper; made to hold {} % of measured samples of records like those it was fitted on, sample by \
         sample; no guarantee{}",
        percent(plan.coverage),
        which.map_or_else(String::new, |words| format!(". {}", words.trim_end_matches('.')))
    )
}

/// 0.9 as 90, without the digits that a product in binary adds.
fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// How to use one of the models, for people.
pub(super) fn documentation(plan: &StepProgram, name: &str) -> String {
    let history: Vec<String> = history_ports(plan)
        .into_iter()
        .map(|port| format!("{}: {}.", port.name, port.doc))
        .collect();
    let own = match name {
        "init" => format!(
            "The state before the first step, from what was measured before it, in physical units. {} Its outputs go into \
             the inputs of the step model that have the same names.",
            history.join(" ")
        ),
        "step" => "One sample: inputs u in physical units and the state in; y and its bounds in physical units, and the next \
                   state, out. The first state comes from the init model; every next_state_... of a step goes into state_... of \
                   the next one. States are normalised."
            .to_owned(),
        "correct" => "What was measured at the sample of the last step, in physical units, and the state after that step in; the state from \
                      which the next step starts out. Predictions then go on from the measurement, with the band of so few samples \
                      ahead where the model knows it; leave it out where nothing was measured."
            .to_owned(),
        _ => format!(
            "A whole record: u holds one row per sample, y and its bounds get one row each, all in physical units. {}",
            history.join(" ")
        ),
    };
    let runaway = match plan.members() {
        1 => format!(
            "Where a prediction passes {} standard deviations of the training record the run has diverged: results are not a \
             number until it is started again.",
            plan.diverged
        ),
        _ => format!(
            "A network whose prediction passes {} standard deviations of the training record is left out for the rest of the \
             run; where none is left, results are not a number.",
            plan.diverged
        ),
    };
    let refused = format!(
        "An input, or a measured output of the start, that is further than {:e} standard deviations from its training mean makes \
         all results after it not a number until the next start.",
        plan.sample_limit
    );
    let alarm = match (&plan.region, name) {
        (Some(_), "step" | "simulate") => {
            " extrapolated is 1 where inputs and past outputs lie outside the region of the training data, so that neither y nor its \
             band can be relied on."
        }
        _ => "",
    };
    format!("{own} {runaway} {refused} Band: {}.{alarm}", band(plan))
}
