//! Answers to steps and pulses.

use intervalid_analysis::{Linearisation, Response, Responses};

use super::plot::Plot;
use super::{Section, TableView, with_unit};
use crate::chart::{Chart, SeriesStyle};
use crate::text::significant;

pub(super) fn section(linear: &Linearisation, responses: &[Responses]) -> Option<Section> {
    let first = responses.first()?;
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| significant(value, 4));
    let mut rows = Vec::new();
    let mut charts = Vec::new();
    for found in responses {
        for step in &found.steps {
            for answer in &step.outputs {
                let figures = answer.figures;
                rows.push(vec![
                    format!("{} by {}", found.input, significant(step.amplitude, 3)),
                    answer.output.clone(),
                    number(figures.map(|figures| figures.gain)),
                    number(figures.and_then(|figures| figures.rise_time)),
                    number(figures.and_then(|figures| figures.settling_time)),
                    figures.map_or_else(|| "–".to_owned(), |figures| format!("{:.1} %", figures.overshoot)),
                ]);
            }
        }
        for output in 0..linear.outputs.len() {
            charts.extend(of_output(linear, found, output));
        }
    }
    let unit = first.time_unit;
    Some(Section {
        id: "steps".to_owned(),
        label: "Steps".to_owned(),
        heading: "Steps and pulses".to_owned(),
        words: vec![
            "From rest, one input changes and stays (step) or changes for one sample (pulse). The band is that of a simulation; for a \
             model of several members the least and greatest of them are shown too. Per unit of the input the answers of a linear model \
             lie on one another: where they part, the model is nonlinear."
                .to_owned(),
        ],
        tables: vec![TableView {
            headings: vec![
                "step".to_owned(),
                "output".to_owned(),
                "gain".to_owned(),
                format!("rise time ({unit})"),
                format!("settling time ({unit})"),
                "overshoot".to_owned(),
            ],
            rows,
        }],
        charts,
    })
}

fn of_output(linear: &Linearisation, found: &Responses, output: usize) -> Vec<Chart> {
    let channel = &linear.outputs[output];
    let name = format!("{} → {}", found.input, channel.name);
    let x_label = format!("time ({})", found.time_unit);
    let y_label = with_unit(&linear.outputs, &channel.name);
    let mut steps = Plot::new(format!("Steps {name}"), &x_label, &y_label);
    for step in &found.steps {
        steps = steps.curve(label(step), &found.time, &step.outputs[output].y, SeriesStyle::Joined);
    }
    // One band is enough: that of the largest step.
    let largest = (0..found.steps.len()).max_by(|&a, &b| {
        found.steps[a]
            .amplitude
            .abs()
            .total_cmp(&found.steps[b].amplitude.abs())
    });
    if let Some(largest) = largest {
        let answer = &found.steps[largest].outputs[output];
        steps = steps.band("band", largest, &found.time, [&answer.lower, &answer.upper]);
        if let Some([least, most]) = &answer.members {
            steps = steps.band("members", largest, &found.time, [least, most]);
        }
    }
    let per_unit = |title: &str, responses: &[Response]| {
        let label_of = format!("{} per {}", y_label, with_unit(&linear.inputs, &found.input));
        let mut plot = Plot::new(format!("{title} {name}, per unit"), &x_label, label_of);
        for response in responses {
            let answer = &response.outputs[output];
            let values: Vec<f64> = answer
                .y
                .iter()
                .map(|y| (y - answer.rest) / response.amplitude)
                .collect();
            plot = plot.curve(label(response), &found.time, &values, SeriesStyle::Joined);
        }
        plot.chart()
    };
    vec![
        steps.chart(),
        per_unit("Steps", &found.steps),
        per_unit("Pulses", &found.pulses),
    ]
}

fn label(response: &Response) -> String {
    significant(response.amplitude, 3)
}
