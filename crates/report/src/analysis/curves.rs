//! Static characteristics.

use intervalid_analysis::{Linearisation, StaticCurve};

use super::plot::Plot;
use super::{Section, with_unit};
use crate::chart::SeriesStyle;
use crate::text::{count, significant};

pub(super) fn section(linear: &Linearisation, curves: &[StaticCurve]) -> Option<Section> {
    let first = curves.first()?;
    let values = |list: &[Option<f64>]| list.iter().map(|value| value.unwrap_or(f64::NAN)).collect::<Vec<_>>();
    let range = match first.range {
        "data" => "the range of the recording, the other inputs at their median".to_owned(),
        range => format!("the {range}, the other inputs at their mean"),
    };
    let mut words = vec![format!(
        "Where the output comes to rest when the input is held: over {range}. The slope is the local gain; a linear model has one slope."
    )];
    let mut charts = Vec::new();
    for curve in curves {
        let x_label = with_unit(&linear.inputs, &curve.input);
        let missing = curve.outputs[0].y.iter().filter(|y| y.is_none()).count();
        if missing > 0 {
            words.push(format!(
                "No steady state was found at {} of {}.",
                count(missing, "value"),
                curve.input
            ));
        }
        if !curve.others.is_empty() {
            let held: Vec<String> = curve
                .others
                .iter()
                .map(|held| format!("{} = {}", held.input, significant(held.value, 4)))
                .collect();
            words.push(format!("While {} moves: {}.", curve.input, held.join(", ")));
        }
        for output in &curve.outputs {
            let y_label = with_unit(&linear.outputs, &output.output);
            let title = format!("{} at rest over {}", output.output, curve.input);
            let plot = Plot::new(title, &x_label, &y_label)
                .curve("ŷ at rest", &curve.u, &values(&output.y), SeriesStyle::Line)
                .band("band", 0, &curve.u, [&values(&output.lower), &values(&output.upper)]);
            charts.push(plot.chart());
            let title = format!("Local gain {} → {}", curve.input, output.output);
            let gain =
                Plot::new(title, &x_label, "gain").curve("gain", &curve.u, &values(&output.gain), SeriesStyle::Line);
            charts.push(gain.chart());
        }
    }
    Some(Section {
        id: "static".to_owned(),
        label: "Static".to_owned(),
        heading: "Static characteristic".to_owned(),
        words,
        charts,
        ..Section::default()
    })
}
