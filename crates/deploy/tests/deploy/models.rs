//! Small fitted models of every kind, with a record to run on.

use intervalid_data::{
    ArxModel, Channel, Dataset, Experiment, InitialState, Lags, Normaliser, Part, ReadOptions, Split, SplitFractions,
    load,
};
use intervalid_model::{
    Calibration, FitConfig, FitOptions, Model, ModelError, ModelKind, OutputRange, Precision, Scaling, Strategy,
};

/// A model and the part of a record that it is tried on.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) model: Model,
    pub(crate) dataset: Dataset,
    pub(crate) part: Part,
}

pub(crate) fn split(dataset: &Dataset) -> Split {
    Split::new(dataset, SplitFractions::new(0.4, 0.1, 0.5).unwrap()).unwrap()
}

fn known(name: &str) -> Dataset {
    load(&[name], None, &ReadOptions::default()).unwrap()
}

/// Two inputs, two outputs with units, coupled and nonlinear.
pub(crate) fn coupled() -> Dataset {
    let (mut u1, mut u2) = (Vec::new(), Vec::new());
    let (mut y1, mut y2) = (vec![0.0], vec![20.0]);
    for k in 0..600_usize {
        u1.push(f64::from(u32::try_from(k / 13 * 7919 % 17).unwrap()) / 17.0);
        u2.push(3.0 * (0.05 * k as f64).sin() + 50.0);
        let (a, b) = (y1[k], y2[k]);
        y1.push(0.8 * a + 0.3 * u1[k.saturating_sub(2)] + 0.02 * (b - 20.0));
        y2.push(20.0 + 0.7 * (b - 20.0) + 0.1 * (u2[k] - 50.0) - 0.5 * (a * 0.5).tanh());
    }
    y1.truncate(600);
    y2.truncate(600);
    // Steps with float arguments see rounded inputs: so does `predict` here.
    for column in [&mut u1, &mut u2, &mut y1, &mut y2] {
        column.iter_mut().for_each(|value| *value = f64::from(*value as f32));
    }
    let channels = |names: [(&str, &str); 2]| names.map(|(name, unit)| Channel::new(name).with_unit(unit)).to_vec();
    let (inputs, outputs) = (
        channels([("valve */ 1", "%"), ("heater", "kW")]),
        channels([("flow", "m³/h"), ("temperature", "°C")]),
    );
    let record = Experiment::new("plant", vec![u1, u2], vec![y1, y2]);
    Dataset::new("plant", inputs, outputs, Some(0.5), vec![record]).unwrap()
}

pub(crate) fn config(
    model: ModelKind,
    precision: Precision,
    lags: (usize, usize, usize),
    initial: InitialState,
) -> FitConfig {
    FitConfig::default().with(|config| {
        config.model = model;
        config.precision = precision;
        config.lags = Lags::new(lags.0, lags.1, lags.2).unwrap();
        config.initial = initial;
        config.network.hidden = vec![12, 7];
        config.training.epochs = 4;
        config.interval.strategy = Strategy::Joint;
    })
}

/// A state-space model with these units in its two maps.
fn state_space(precision: Precision, dead_time: usize, initial: InitialState, units: [usize; 2]) -> FitConfig {
    config(ModelKind::Iss, precision, (1, dead_time, 1), initial).with(|config| {
        config.network.hidden = units.to_vec();
        config.network.states = Some(3);
        // At the usual rate, so short a training may end with a free run that leaves every sensible range.
        config.training.learning_rate = 1e-4;
    })
}

pub(crate) fn calibration(outputs: usize) -> Option<Calibration> {
    let scaling = |output: usize| Scaling {
        lower: 1.4,
        upper: 0.9 + output as f64,
        floor: 0.01,
        spread: Some(1.2 + output as f64),
        online_start: Some(0.6),
    };
    Some(Calibration {
        outputs: (0..outputs).map(scaling).collect(),
        level: 0.9,
        blocks: 3,
        samples: 300,
        effective_samples: 100.0,
        block_coverage: vec![0.9; 3],
        cuts: 0,
        cut_coverage: Vec::new(),
        renewal: None,
        together: false,
        expected: None,
        levels: Vec::new(),
    })
}

pub(crate) fn fitted(dataset: &Dataset, config: &FitConfig) -> Model {
    fitted_if_it_converges(dataset, config).unwrap()
}

/// None where training diverges.
pub(crate) fn fitted_if_it_converges(dataset: &Dataset, config: &FitConfig) -> Option<Model> {
    match Model::fit(dataset, &split(dataset), config, FitOptions::default()) {
        Ok((model, _)) => Some(model),
        Err(ModelError::Diverged { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn ensemble_f32(dataset: &Dataset, config: &FitConfig) -> Model {
    ensemble_if_it_converges(dataset, config).unwrap()
}

/// None where the training of a member diverges.
pub(crate) fn ensemble_if_it_converges(dataset: &Dataset, config: &FitConfig) -> Option<Model> {
    let members = (1..4).map(|seed| fitted_if_it_converges(dataset, &FitConfig { seed, ..config.clone() }));
    Some(Model::ensemble(members.collect::<Option<_>>()?).unwrap())
}

/// Three linear models that differ a little.
fn averaged_arx(dataset: &Dataset, config: &FitConfig) -> Model {
    let model = fitted(dataset, config);
    let (arx, half_width) = model.arx().unwrap();
    let like = |share: f64| {
        let mut arx = arx[0].clone();
        arx.coefficients.iter_mut().flatten().for_each(|value| *value *= share);
        arx
    };
    let members = [1.0, 0.97, 0.9].map(like).to_vec();
    let normaliser = model.interface().normaliser.clone();
    Model::from_arx(dataset, normaliser, members, half_width.to_vec(), config)
}

/// The model with limits well inside the swing of its outputs, the first with both ends, others with a greatest value.
pub(crate) fn limited(model: Model) -> Model {
    let scales = &model.interface().normaliser.outputs;
    let range = |(output, scale): (usize, &intervalid_data::Scale)| OutputRange {
        least: (output == 0).then_some(scale.mean - 0.4 * scale.std),
        most: Some(scale.mean + 0.3 * scale.std),
    };
    let ranges = scales.iter().enumerate().map(range).collect();
    model.with_output_ranges(ranges).unwrap()
}

/// The light model of a mean, with these members.
fn light(model: Model, dataset: &Dataset, members: Vec<usize>) -> Model {
    let outputs = dataset.outputs().len();
    let full = model.calibrated(calibration(outputs)).unwrap();
    let with = full.with_light(
        members,
        calibration(outputs).unwrap(),
        dataset,
        &split(dataset).validation,
    );
    with.unwrap().light().unwrap()
}

/// Names of cases that know a region: every kind of model and every kind of start.
const WITH_REGION: [&str; 10] = [
    "inode f32",
    "ilstm f64, warm-up",
    "ensemble of inode f32, linear path, calibrated",
    "arx",
    "mean of arx with two outputs, calibrated",
    "mean of arx, warm-up",
    "ensemble of inode f32, calibrated, limited",
    "ensemble of ilstm f32 with two inputs and outputs, warm-up",
    "iss f32 with two inputs and outputs, history",
    "iss f64 with a linear output map",
];

/// All kinds of models that can be exported.
pub(crate) fn cases() -> Vec<Case> {
    let (dryer, arm, plant) = (known("hair-dryer"), known("robot-arm"), coupled());
    let (zero, measured, warmup) = (
        InitialState::ZeroPadded,
        InitialState::Measured,
        InitialState::Warmup(9),
    );
    let (f32, f64) = (Precision::F32, Precision::F64);
    let (inode, ilstm) = (ModelKind::Inode, ModelKind::Ilstm);
    let linear_path = |config: FitConfig| config.with(|config| config.network.linear_path = true);
    let case = |name, dataset: &Dataset, model: Model| {
        let split = split(dataset);
        // That of a short part, so that much of the test part lies outside.
        let model = match WITH_REGION.contains(&name) {
            true => model.with_region(dataset, &split.validation).unwrap(),
            false => model,
        };
        assert_eq!(
            model.interface().region.is_some(),
            WITH_REGION.contains(&name),
            "{name}"
        );
        Case {
            name,
            model,
            part: split.test,
            dataset: dataset.clone(),
        }
    };
    vec![
        case(
            "inode f32",
            &dryer,
            fitted(&dryer, &config(inode, f32, (2, 2, 3), zero)),
        ),
        case("ilstm f32", &arm, fitted(&arm, &config(ilstm, f32, (2, 1, 3), zero))),
        case(
            "inode f64, linear path, calibrated",
            &arm,
            fitted(&arm, &linear_path(config(inode, f64, (6, 0, 8), measured)))
                .calibrated(calibration(1))
                .unwrap(),
        ),
        case(
            "ilstm f64, warm-up",
            &dryer,
            fitted(&dryer, &config(ilstm, f64, (0, 0, 1), warmup)),
        ),
        case(
            "ensemble of inode f32, linear path, calibrated",
            &dryer,
            ensemble_f32(&dryer, &linear_path(config(inode, f32, (2, 3, 3), measured)))
                .calibrated(calibration(1))
                .unwrap(),
        ),
        case(
            "arx",
            &arm,
            fitted(&arm, &config(ModelKind::Arx, f64, (5, 0, 8), measured)),
        ),
        case(
            "arx with two outputs",
            &plant,
            fitted(&plant, &config(ModelKind::Arx, f64, (2, 1, 2), zero)),
        ),
        case(
            "mean of arx with two outputs, calibrated",
            &plant,
            averaged_arx(&plant, &config(ModelKind::Arx, f64, (2, 1, 2), measured))
                .calibrated(calibration(2))
                .unwrap(),
        ),
        case(
            "mean of arx, warm-up",
            &dryer,
            averaged_arx(&dryer, &config(ModelKind::Arx, f64, (2, 3, 3), warmup)),
        ),
        case(
            "arx with two outputs, limited",
            &plant,
            limited(fitted(&plant, &config(ModelKind::Arx, f64, (2, 1, 2), measured))),
        ),
        case(
            "ensemble of inode f32, calibrated, limited",
            &dryer,
            limited(
                ensemble_f32(&dryer, &linear_path(config(inode, f32, (2, 3, 3), measured)))
                    .calibrated(calibration(1))
                    .unwrap(),
            ),
        ),
        case(
            "inode f32 with two inputs and outputs",
            &plant,
            fitted(&plant, &config(inode, f32, (1, 2, 2), measured)),
        ),
        case(
            "ensemble of ilstm f32 with two inputs and outputs, warm-up",
            &plant,
            ensemble_f32(&plant, &config(ilstm, f32, (1, 1, 2), warmup))
                .calibrated(calibration(2))
                .unwrap(),
        ),
        case(
            "iss f32 with two inputs and outputs, history",
            &plant,
            fitted(&plant, &state_space(f32, 2, InitialState::History(20), [6, 4])),
        ),
        case(
            "iss f64 with a linear output map",
            &dryer,
            fitted(&dryer, &state_space(f64, 0, zero, [5, 0])),
        ),
        case(
            "iss f64 with a linear state map, warm-up, calibrated",
            &arm,
            fitted(&arm, &state_space(f64, 1, warmup, [0, 5]))
                .calibrated(calibration(1))
                .unwrap(),
        ),
        case(
            "ensemble of iss f32 with two inputs and outputs, history, calibrated",
            &plant,
            ensemble_f32(&plant, &state_space(f32, 1, InitialState::History(12), [4, 4]))
                .calibrated(calibration(2))
                .unwrap(),
        ),
        case(
            "linear iss f64 with two inputs and outputs, measured",
            &plant,
            fitted(&plant, &state_space(f64, 0, measured, [0, 0])),
        ),
        case(
            "light model of a mean of arx with two outputs",
            &plant,
            light(
                averaged_arx(&plant, &config(ModelKind::Arx, f64, (2, 1, 2), measured)),
                &plant,
                vec![1],
            ),
        ),
        case(
            "light model of an ensemble of iss f32, two of three",
            &plant,
            light(
                ensemble_f32(&plant, &state_space(f32, 1, InitialState::History(12), [4, 4])),
                &plant,
                vec![0, 2],
            ),
        ),
    ]
}

/// Combinations that are rarer: records without inputs, warm-ups that are shorter than the lags, linear paths beside cells.
pub(crate) fn rare_cases() -> Vec<Case> {
    let swing = |k: usize| 300.0 + 5.0 * (0.2 * k as f64).sin() * (-0.002 * k as f64).exp();
    let record = Experiment::new("swing", Vec::new(), vec![(0..500).map(swing).collect()]);
    let output = Channel::new("temperature").with_unit("K");
    let swing = Dataset::new("swing", Vec::new(), vec![output], None, vec![record]).unwrap();
    let (dryer, plant) = (known("hair-dryer"), coupled());
    let (inode, ilstm, arx) = (ModelKind::Inode, ModelKind::Ilstm, ModelKind::Arx);
    let (measured, warmup) = (InitialState::Measured, InitialState::Warmup);
    let kinds = [
        ("inode without inputs", &swing, inode, (0, 0, 3), measured, false),
        ("ilstm without inputs", &swing, ilstm, (0, 0, 3), warmup(5), false),
        ("arx without inputs", &swing, arx, (0, 0, 3), measured, false),
        ("inode, warm-up", &plant, inode, (1, 2, 4), warmup(2), false),
        ("arx, warm-up", &plant, arx, (2, 1, 4), warmup(2), false),
        ("ilstm, linear path", &dryer, ilstm, (2, 3, 3), measured, true),
        ("ilstm, linear path, warm-up", &dryer, ilstm, (2, 3, 4), warmup(2), true),
    ];
    let case = |(name, dataset, kind, lags, initial, linear_path): (_, &Dataset, _, _, _, _)| Case {
        name,
        model: fitted(
            dataset,
            &config(kind, Precision::F64, lags, initial).with(|config| {
                config.network.linear_path = linear_path;
                // At the usual rate, so short a training may end with a free run that leaves every sensible range.
                config.training.learning_rate = 1e-4;
            }),
        ),
        part: split(dataset).test,
        dataset: dataset.clone(),
    };
    let mut cases: Vec<Case> = kinds.map(case).into();
    let alone = state_space(Precision::F64, 0, InitialState::History(5), [4, 3]);
    cases.push(Case {
        name: "iss without inputs",
        model: fitted(&swing, &alone),
        part: split(&swing).test,
        dataset: swing.clone(),
    });
    cases
}

/// y(k) = 1.3 y(k-1) + 0.1 u(k) + 0.1 in normalised units: it leaves every sensible range within some 35 steps.
pub(crate) fn unstable_arx() -> Case {
    let dataset = known("hair-dryer");
    let arx = ArxModel {
        lags: Lags::new(0, 0, 1).unwrap(),
        coefficients: vec![vec![1.3, 0.1]],
        bias: vec![0.1],
    };
    let normaliser = Normaliser::fit(&dataset, &split(&dataset).train).unwrap();
    let model = Model::from_arx(&dataset, normaliser, vec![arx], vec![0.2], &FitConfig::default());
    Case {
        name: "unstable arx",
        model,
        part: split(&dataset).test,
        dataset,
    }
}

/// What `predict` says about a case: history, then per scored sample inputs, measured outputs and the expected
/// `[y, lower, upper, online lower, online upper]` of every output.
#[derive(Clone)]
pub(crate) struct Expected {
    pub(crate) past_inputs: Vec<Vec<f64>>,
    pub(crate) past_outputs: Vec<Vec<f64>>,
    pub(crate) inputs: Vec<Vec<f64>>,
    pub(crate) measured: Vec<Vec<f64>>,
    pub(crate) bounds: Vec<Vec<[f64; 5]>>,
    /// 1 where `predict` says that a sample is extrapolated, 0 where not; -1 where the model does not know.
    pub(crate) extrapolated: Vec<i32>,
}

impl Case {
    /// The run over the first segment of the part, with at most `history` samples before it.
    pub(crate) fn expected(&self, history: usize) -> Expected {
        let bands = self.model.simulate(&self.dataset, &self.part).unwrap();
        let online = &self.model.online(&self.dataset, &bands).unwrap()[0];
        let band = &bands[0];
        let record = &self.dataset.experiments()[0];
        let (nu, ny) = (self.dataset.inputs().len(), self.dataset.outputs().len());
        let inputs = |k: usize| (0..nu).map(|channel| record.input(channel)[k]).collect::<Vec<_>>();
        let outputs = |k: usize| (0..ny).map(|channel| record.output(channel)[k]).collect::<Vec<_>>();
        let first = band.first + band.warmup;
        let before = first.saturating_sub(history)..first;
        let bounds = |step: usize| {
            (0..ny)
                .map(|output| {
                    [&band.centre, &band.lower, &band.upper, &online.lower, &online.upper]
                        .map(|values| values[output][step])
                })
                .collect()
        };
        let steps = band.warmup..band.len();
        let flags = self.model.extrapolated(&self.dataset, &bands).unwrap();
        let flag = |step: usize| flags.as_ref().map_or(-1, |flags| i32::from(flags[0][step]));
        Expected {
            past_inputs: before.clone().map(inputs).collect(),
            past_outputs: before.map(outputs).collect(),
            inputs: steps.clone().map(|step| inputs(band.first + step)).collect(),
            measured: steps.clone().map(|step| outputs(band.first + step)).collect(),
            bounds: steps.clone().map(bounds).collect(),
            extrapolated: steps.map(flag).collect(),
        }
    }

    /// Checks that the first `values` numbers of each output in `found` are those of `expected` up to `tolerance`, relative
    /// to the number or the output's standard deviation.
    pub(crate) fn assert_close(&self, expected: &Expected, found: &[Vec<[f64; 5]>], values: usize, tolerance: f64) {
        assert_eq!(expected.bounds.len(), found.len(), "{}: samples", self.name);
        let scales = &self.model.interface().normaliser.outputs;
        let (mut largest, mut place) = (0.0, String::new());
        for (step, (expected, found)) in expected.bounds.iter().zip(found).enumerate() {
            for (output, scale) in scales.iter().enumerate() {
                for (which, (a, b)) in expected[output].iter().zip(&found[output]).take(values).enumerate() {
                    assert!(b.is_finite(), "{}: {b}", self.name);
                    // The online band is the model's, magnified: so are the rounding errors of its sides.
                    let [y, ..] = expected[output];
                    let magnified = match which {
                        3 | 4 => ((a - y) / (expected[output][which - 2] - y)).max(1.0),
                        _ => 1.0,
                    };
                    let error = (a - b).abs() / (a.abs().max(y.abs()).max(scale.std) * magnified);
                    if error > largest {
                        largest = error;
                        place = format!("step {step}, output {output}, number {which}: expected {a}, found {b}");
                    }
                }
            }
        }
        assert!(largest <= tolerance, "{}: {largest:e} at {place}", self.name);
    }
}
