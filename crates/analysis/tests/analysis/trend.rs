//! A model that takes a trend out of its data sees recordings without it, in every view.

use intervalid_analysis::{
    FrequencyResponse, Linearisation, PointRequest, Residuals, StaticCurve, input_limits, next_recording, residuals,
    width_shares,
};
use intervalid_data::{Channel, Dataset, Experiment, LinearSystem, Part, Trend};
use intervalid_model::{Model, ModelKind};

use crate::models::{config, fitted, plant, split};

/// The plant with a valve that drifts by ten times its range; the flow follows the valve, not the drift.
fn drifting() -> Dataset {
    let plant = plant();
    let record = &plant.experiments()[0];
    let drift = |(k, value): (usize, &f64)| value + k as f64 / 30.0;
    let valve = record.input(0).iter().enumerate().map(drift).collect();
    let columns = |of: &dyn Fn(usize) -> Vec<f64>| vec![of(0), of(1)];
    let experiment = Experiment::new(
        "drifting",
        vec![valve, record.input(1).to_vec()],
        columns(&|output| record.output(output).to_vec()),
    );
    let (inputs, outputs) = (plant.inputs().to_vec(), plant.outputs().to_vec());
    Dataset::new("plant", inputs, outputs, plant.sample_time(), vec![experiment]).unwrap()
}

#[test]
fn recordings_are_seen_without_the_trend_that_the_model_takes_out() {
    let raw = drifting();
    let trend = Trend::fit(&raw, &split(&raw).train, &["valve"]).unwrap();
    let level = trend.remove(&raw);
    for settings in [
        config(ModelKind::Arx, (2, 1, 2), &[]),
        config(ModelKind::Inode, (1, 0, 2), &[6, 4]),
    ] {
        let without = fitted(&level, &settings);
        let with = without.clone().with_trend(Some(trend.clone())).unwrap();
        let seen = [(&with, &raw), (&without, &level)].map(|(model, record)| {
            let linear = Linearisation::new(model, &PointRequest::default()).unwrap();
            let bands = model.simulate(record, &Part::whole(record)).unwrap();
            let limits = input_limits(&linear, &model.interface().normaliser.inputs, Some(record), &[]).unwrap();
            let response = FrequencyResponse::new(&linear, Some(record)).unwrap();
            let is_told = linear.notes().iter().any(|note| note.contains("a straight line"));
            assert_eq!(is_told, model.interface().trend.is_some());
            (
                StaticCurve::new(model, 0, Some(record)).unwrap(),
                width_shares(model, record, &bands).unwrap(),
                next_recording(&linear, Some(&response), (record, &bands), &limits),
                serde_json::to_string(&response.channels).unwrap(),
                limits,
            )
        });
        let [with, without] = seen;
        assert!(
            with.4[0][1] - with.4[0][0] < 3.0,
            "the range of the valve: {:?}",
            with.4
        );
        assert_eq!(with, without);
    }
}

/// y(k) = 0.5 y(k-1) + u(k-1) + 0.25 u(k-10) of white u; the record has u and y with lines of these slopes added.
fn late(slope_of_u: f64, slope_of_y: f64) -> Dataset {
    let white = LinearSystem::default().generate(1500, 6).unwrap().into_dataset();
    let mut u = white.experiments()[0].input(0).to_vec();
    let mut y = vec![0.0; u.len()];
    for k in 1..u.len() {
        let before = |lag: usize| if k >= lag { u[k - lag] } else { 0.0 };
        y[k] = 0.5 * y[k - 1] + before(1) + 0.25 * before(10);
    }
    for k in 0..u.len() {
        u[k] += slope_of_u * k as f64;
        y[k] += slope_of_y * k as f64;
    }
    let record = Experiment::new("late", vec![u], vec![y]);
    let channels = |name: &str| vec![Channel::new(name)];
    Dataset::new("late", channels("u"), channels("y"), None, vec![record]).unwrap()
}

/// The errors of a model that misses the late answer, as it is and as a model that takes a trend out of the raw data.
fn with_and_without_trend(raw: &Dataset, channels: &[&str]) -> [Residuals; 2] {
    let trend = Trend::fit(raw, &split(raw).train, channels).unwrap();
    let level = trend.remove(raw);
    let without = fitted(&level, &config(ModelKind::Arx, (1, 0, 1), &[]));
    let with = without.clone().with_trend(Some(trend)).unwrap();
    let found = |model: &Model, record: &Dataset| {
        let bands = model.simulate(record, &Part::whole(record)).unwrap();
        residuals(model, record, &bands).unwrap().remove(0)
    };
    [found(&with, raw), found(&without, &level)]
}

#[test]
fn errors_are_correlated_with_inputs_without_their_drift() {
    for (slope, channels) in [(0.0, vec![]), (0.1, vec!["u"])] {
        for found in with_and_without_trend(&late(slope, 0.0), &channels) {
            let cross = &found.cross[0].correlation;
            let largest = (0..cross.values.len())
                .max_by(|&a, &b| cross.values[a].abs().total_cmp(&cross.values[b].abs()))
                .unwrap();
            assert_eq!(cross.first + largest as i64, 10, "slope {slope}: {:?}", cross.values);
            assert!(cross.values[largest] > 0.5, "slope {slope}: {}", cross.values[largest]);
        }
    }
}

#[test]
fn coverage_by_level_is_that_of_levels_without_their_drift() {
    let [with, without] = with_and_without_trend(&late(0.0, 0.5), &["y"]);
    for (a, b) in with.by_amplitude.iter().zip(&without.by_amplitude) {
        assert!(
            (a.from - b.from).abs() < 1e-6 && (a.to - b.to).abs() < 1e-6,
            "{a:?} {b:?}"
        );
        assert_eq!(a.n, b.n);
    }
    let ends = with
        .simulated
        .iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| {
            [low.min(*y), high.max(*y)]
        });
    let widest = with.by_amplitude.last().unwrap().to - with.by_amplitude[0].from;
    assert!(
        widest < 0.1 * (ends[1] - ends[0]),
        "what is told of ŷ has its trend: {widest} {ends:?}"
    );
}
