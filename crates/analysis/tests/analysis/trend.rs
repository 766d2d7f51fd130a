//! A model that takes a trend out of its data sees recordings without it, in every view.

use intervalid_analysis::{
    FrequencyResponse, Linearisation, PointRequest, StaticCurve, input_limits, next_recording, width_shares,
};
use intervalid_data::{Dataset, Experiment, Part, Trend};
use intervalid_model::ModelKind;

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
