//! What the errors of a simulation still know: of themselves, and of the inputs.

use intervalid_analysis::{NORMAL_95, bartlett, centred, correlation};
use intervalid_data::Dataset;
use intervalid_model::{Aligned, Band, Model, align};
use serde::{Deserialize, Serialize};

use crate::chart::{Chart, LinesChart, Reference, Series, SeriesStyle};
use crate::column::rounded;
use crate::error::Result;
use crate::text::count;

/// Lags that are shown, fewer in short records.
const LAGS: usize = 40;

/// Residuals of one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResidualView {
    pub(crate) output: String,
    pub(crate) autocorrelation: Chart,
    /// One per input.
    pub(crate) cross: Vec<Chart>,
    pub(crate) readings: Vec<String>,
}

pub(super) fn views(model: &Model, dataset: &Dataset, bands: &[Band]) -> Result<Vec<ResidualView>> {
    // Inputs as the model saw them: a drift would hide all else that an input does.
    let level = model.level(dataset)?;
    let mut views = Vec::new();
    for (index, channel) in dataset.outputs().iter().enumerate() {
        let runs = align(dataset, bands, index)?;
        let residuals = centred(runs.iter().map(residual).collect());
        let longest = residuals.iter().map(Vec::len).max().unwrap_or(0);
        let lags = LAGS.min(longest / 4);
        let energy: f64 = residuals.iter().flatten().map(|value| value * value).sum();
        // Without a few lags, or of a simulation without errors, there is nothing to correlate.
        if lags < 2 || !(energy > 0.0 && energy.is_finite()) {
            continue;
        }
        let n: usize = residuals.iter().map(Vec::len).sum();
        let own = correlation(&residuals, &residuals, lags);
        let bound = NORMAL_95 / (n as f64).sqrt();
        let mut readings = vec![own_reading(&own[lags + 1..], bound)];
        let mut cross = Vec::new();
        for (input, input_channel) in level.inputs().iter().enumerate() {
            let signals = bands.iter().map(|band| {
                let values = level.experiments()[band.experiment].input(input);
                let unscored = band.warmup.min(band.len());
                values[band.first + unscored..band.first + band.len()].to_vec()
            });
            let signals = centred(signals.collect());
            let input_own = correlation(&signals, &signals, lags);
            let both = correlation(&residuals, &signals, lags);
            let bound = bartlett(&own, &input_own, n);
            readings.push(cross_reading(&input_channel.name, &both, lags, bound));
            cross.push(stems(
                format!("Error of {} and input {}", channel.name, input_channel.name),
                "lag of the input (samples)",
                -(lags as i64),
                &both,
                bound,
            ));
        }
        views.push(ResidualView {
            output: channel.name.clone(),
            autocorrelation: stems(
                format!("Autocorrelation of the error of {}", channel.name),
                "lag (samples)",
                0,
                &own[lags..],
                bound,
            ),
            cross,
            readings,
        });
    }
    Ok(views)
}

fn residual(run: &Aligned<'_>) -> Vec<f64> {
    run.target
        .iter()
        .zip(run.centre)
        .map(|(target, y)| target - y)
        .collect()
}

fn stems(title: String, x_label: &str, first: i64, values: &[f64], bound: f64) -> Chart {
    let reference = |value: f64, label: &str| Reference {
        value,
        label: label.to_owned(),
    };
    Chart::Lines(LinesChart {
        title,
        x_label: x_label.to_owned(),
        y_label: "correlation".to_owned(),
        x: (0..values.len()).map(|index| (first + index as i64) as f64).collect(),
        series: vec![Series {
            name: "correlation".to_owned(),
            values: rounded(values.iter().copied()),
            style: SeriesStyle::Stem,
        }],
        references: vec![reference(bound, "95 % of noise"), reference(-bound, "")],
        log: false,
        y_range: Some([-1.0, 1.0]),
        ..LinesChart::default()
    })
}

fn own_reading(lags: &[f64], bound: f64) -> String {
    let beyond = lags.iter().filter(|value| value.abs() > bound).count();
    let total = lags.len();
    // One in twenty is beyond the bounds by chance; twice as many are not.
    if beyond * 10 <= total {
        return format!(
            "The errors look like white noise: {beyond} of {} exceed the bounds.",
            count(total, "lag")
        );
    }
    format!(
        "The errors are autocorrelated: {beyond} of {} exceed the bounds. That is normal in a free run, which feeds its errors \
         back. It means that misses cluster, and that the coverage rests on fewer independent samples than it seems.",
        count(total, "lag")
    )
}

fn cross_reading(input: &str, values: &[f64], lags: usize, bound: f64) -> String {
    let past = values[lags..].iter().filter(|value| value.abs() > bound).count();
    let total = lags + 1;
    if past * 10 <= total {
        return format!(
            "Past values of {input} explain nothing more of the error ({past} of {} exceed the bounds).",
            count(total, "lag")
        );
    }
    format!(
        "Past values of {input} still explain part of the error ({past} of {} exceed the bounds): other lags or a larger network \
         may capture it.",
        count(total, "lag")
    )
}

#[cfg(test)]
mod tests {
    use intervalid_data::{ArxModel, Channel, Experiment, Lags, Normaliser, Part, Scale, Trend};
    use intervalid_model::FitConfig;

    use super::*;

    /// A model of y(k) = u(k-1).
    fn delay(dataset: &Dataset) -> Model {
        let member = ArxModel {
            lags: Lags { nx: 0, nd: 1, ny: 1 },
            coefficients: vec![vec![0.0, 1.0]],
            bias: vec![0.0],
        };
        let scale = || vec![Scale { mean: 0.0, std: 1.0 }];
        let normaliser = Normaliser {
            inputs: scale(),
            outputs: scale(),
        };
        Model::from_arx(dataset, normaliser, vec![member], vec![0.5], &FitConfig::default())
    }

    #[test]
    fn a_drift_of_an_input_does_not_hide_what_it_explains() {
        let white = noise(1500, 5);
        let before = |k: usize, lag: usize| if k >= lag { white[k - lag] } else { 0.0 };
        let y: Vec<f64> = (0..white.len()).map(|k| before(k, 1) + 0.25 * before(k, 10)).collect();
        let u = (0..white.len()).map(|k| white[k] + 0.1 * k as f64).collect();
        let record = Experiment::new("drifting", vec![u], vec![y]);
        let (inputs, outputs) = (vec![Channel::new("u")], vec![Channel::new("y")]);
        let raw = Dataset::new("drifting", inputs, outputs, None, vec![record]).unwrap();
        let trend = Trend::fit(&raw, &Part::whole(&raw), &["u"]).unwrap();
        let model = delay(&raw).with_trend(Some(trend)).unwrap();
        let bands = model.simulate(&raw, &Part::whole(&raw)).unwrap();
        let found = views(&model, &raw, &bands).unwrap().remove(0);
        let Chart::Lines(chart) = &found.cross[0] else {
            panic!("lines")
        };
        let at_ten = (chart.x.iter().zip(&chart.series[0].values)).find(|(x, _)| (**x - 10.0).abs() < 0.5);
        let (_, value) = at_ten.expect("lag 10");
        assert!(value.expect("a number") > 0.5, "{value:?}");
    }

    /// A pseudo-random sequence in -0.5…0.5.
    fn noise(n: usize, mut state: u64) -> Vec<f64> {
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn a_delayed_copy_is_found_at_its_lag() {
        let input = noise(400, 1);
        let mut delayed = vec![0.0; 3];
        delayed.extend(&input[..397]);
        let both = correlation(&centred(vec![delayed]), &centred(vec![input]), 10);
        // Index 10 is lag 0; the error repeats the input of three samples before.
        let peak = (0..both.len())
            .max_by(|&a, &b| both[a].total_cmp(&both[b]))
            .expect("values");
        assert_eq!(peak, 13);
        assert!(both[13] > 0.97, "{both:?}");
        assert!(
            cross_reading("u", &both, 10, 0.1).contains("nothing more"),
            "one lag alone is chance"
        );
    }

    #[test]
    fn runs_are_pooled_and_not_joined() {
        // Two runs whose ends would correlate if they were one.
        let runs = vec![vec![1.0, -1.0, 1.0], vec![1.0, -1.0, 1.0]];
        let own = correlation(&runs, &runs, 1);
        assert!(
            (own[1] - 1.0).abs() < 1e-12 && (own[2] + 4.0 / 6.0).abs() < 1e-12,
            "{own:?}"
        );
    }

    #[test]
    fn bounds_hold_noise_and_widen_for_slow_signals() {
        let n = 4000;
        let (a, b) = (centred(vec![noise(n, 3)]), centred(vec![noise(n, 4)]));
        let (own_a, own_b) = (correlation(&a, &a, 20), correlation(&b, &b, 20));
        let bound = bartlett(&own_a, &own_b, n);
        let beyond = correlation(&a, &b, 20)
            .iter()
            .filter(|value| value.abs() > bound)
            .count();
        assert!(beyond <= 6, "{beyond} of 41 where two are expected");
        let slow: Vec<f64> = (-20..=20_i32).map(|lag| 0.95_f64.powi(lag.abs())).collect();
        assert!(bartlett(&slow, &slow, n) > 3.0 * bound);
        assert!(
            own_reading(&own_a[21..], NORMAL_95 / (n as f64).sqrt()).starts_with("The errors look like white noise")
        );
        assert!(own_reading(&slow[21..], 0.03).starts_with("The errors are autocorrelated"));
    }
}
