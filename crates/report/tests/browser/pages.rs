//! Pages of a small fit, of a comparison, of a small study and of an analysis.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use intervalid_analysis::{
    FrequencyResponse, Linearisation, PointRequest, Responses, StaticCurve, fits_ahead, input_limits, next_recording,
    residuals, width_shares,
};
use intervalid_data::{Channel, Dataset, Experiment, ReadOptions, Split, SplitFractions, WienerSystem, load};
use intervalid_model::{FitConfig, FitOptions, Model, ModelKind, Strategy};
use intervalid_report::{
    AnalysisReport, Comparison, FitReport, Page, analysis_page, compare_page, fit_page, study_page,
};
use intervalid_study::{RunOptions, Spec, run_study};
use intervalid_workflow::{FitRequest, Settings, TrainOptions};

pub(crate) fn hair_dryer() -> Dataset {
    load(&["hair-dryer"], None, &ReadOptions::default()).expect("built in")
}

/// Two inputs, two outputs, two experiments: coupled first-order lags with a little noise.
pub(crate) fn coupled() -> Dataset {
    let mut state = 1_u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 20) / 4096.0 - 0.5
    };
    let experiment = |name: &str, random: &mut dyn FnMut() -> f64| {
        let (mut inputs, mut outputs) = (vec![Vec::new(); 2], vec![Vec::new(); 2]);
        let mut levels = [0.0; 2];
        for _ in 0..300 {
            let [u, v] = [random(), random()];
            for (channel, value) in inputs.iter_mut().zip([u, v]) {
                channel.push(value);
            }
            for (channel, level) in outputs.iter_mut().zip(levels) {
                channel.push(level + 0.05 * random());
            }
            levels = [0.8 * levels[0] + u, 0.7 * levels[1] + 0.3 * levels[0] + 0.5 * v];
        }
        Experiment::new(name, inputs, outputs)
    };
    let experiments = ["first", "second"].map(|name| experiment(name, &mut random));
    let inputs = ["valve", "pump"].map(Channel::new).to_vec();
    let outputs = ["upper level", "lower level"].map(Channel::new).to_vec();
    Dataset::new("tanks", inputs, outputs, Some(0.5), experiments.to_vec()).expect("a record")
}

/// A system that a linear model cannot follow.
pub(crate) fn wiener() -> Dataset {
    WienerSystem::default()
        .generate(600, 3)
        .expect("a record")
        .into_dataset()
}

fn parts(dataset: &Dataset) -> Split {
    Split::new(dataset, SplitFractions::new(0.4, 0.1, 0.5).expect("shares")).expect("parts")
}

/// The page of a short fit.
pub(crate) fn fit(dataset: &Dataset, model: ModelKind, strategy: Strategy) -> Page {
    let settings = Settings {
        model: Some(model),
        strategy: Some(strategy),
        epochs: Some(4),
        hidden: Some(vec![6, 5]),
        ..Settings::default()
    };
    page(dataset, &FitRequest::one(&settings, "hair-dryer").expect("settings"))
}

/// The page of a short search.
pub(crate) fn search(dataset: &Dataset, rounds: usize) -> Page {
    let settings = Settings {
        rounds: Some(rounds),
        ..Settings::default()
    };
    page(dataset, &FitRequest::search(&settings).expect("settings"))
}

fn page(dataset: &Dataset, request: &FitRequest) -> Page {
    let split = parts(dataset);
    let trained = request.train(dataset, &split, TrainOptions::default()).expect("a fit");
    let outcome = trained.evaluate(dataset, &split, 1).expect("simulations");
    let report = FitReport {
        dataset,
        split: &split,
        outcome: &outcome,
        config: "epochs = 4\n",
        commands: &["intervalid fit hair-dryer".to_owned()],
    };
    fit_page(&report).expect("a page")
}

pub(crate) fn comparison() -> Page {
    let dataset = hair_dryer();
    let cascade = fit(&dataset, ModelKind::Inode, Strategy::Cascade);
    let ensemble = fit(&dataset, ModelKind::EnsembleNode, Strategy::Cascade);
    let fits = [
        Comparison {
            name: "cascade",
            page: &cascade,
        },
        Comparison {
            name: "ensemble",
            page: &ensemble,
        },
    ];
    compare_page(&fits, "intervalid compare cascade ensemble").expect("a page")
}

/// The page of the mean of three linear models, which has every view with a band.
pub(crate) fn analysis() -> Page {
    let dataset = hair_dryer();
    let split = parts(&dataset);
    let config = FitConfig::default().with(|config| config.model = ModelKind::Arx);
    let (fitted, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).expect("a fit");
    let (arx, half_width) = fitted.arx().expect("a linear model");
    let like = |share: f64| {
        let mut arx = arx[0].clone();
        arx.coefficients.iter_mut().flatten().for_each(|value| *value *= share);
        arx
    };
    let members = [1.0, 0.99, 0.97].map(like).to_vec();
    let normaliser = fitted.interface().normaliser.clone();
    let model = Model::from_arx(&dataset, normaliser, members, half_width.to_vec(), &config);
    let linear = Linearisation::new(&model, &PointRequest::default()).expect("a rest");
    let frequency = FrequencyResponse::new(&linear, Some(&dataset)).expect("a response");
    let bands = model.simulate(&dataset, &split.test).expect("a simulation");
    let scales = &model.interface().normaliser.inputs;
    let limits = input_limits(&linear, scales, Some(&dataset), &[]).expect("limits");
    let next = next_recording(&linear, Some(&frequency), (&dataset, &bands), &limits);
    let report = AnalysisReport {
        model: &model,
        dataset: Some(&dataset),
        linear: &linear,
        frequency: Some(&frequency),
        responses: &[Responses::new(&model, &linear, 0, &[]).expect("steps")],
        curves: &[StaticCurve::new(&model, 0, Some(&dataset)).expect("a curve")],
        residuals: &residuals(&model, &dataset, &bands).expect("errors"),
        ahead: &fits_ahead(&model, &dataset, &split.test).expect("fits"),
        widths: &width_shares(&model, &dataset, &bands).expect("shares"),
        next: Some(&next),
        notes: &linear.notes(),
    };
    analysis_page(&report).expect("a page")
}

/// The page of a study of two models with two seeds.
pub(crate) fn study(folder: &Path) -> Page {
    let text = "name = \"small\"\ndatasets = [\"hair-dryer\"]\nmodels = [\"inode\", \"arx\"]\nstrategies = [\"cascade\"]\n\
                margins = [\"abs\", \"relu\"]\ncoverages = [0.9]\nseeds = [1, 2]\nsettings = { epochs = 2, margin_epochs = 2 }\n";
    let file = folder.join("small.toml");
    std::fs::write(&file, text).expect("a file");
    let spec = Spec::load(&file.display().to_string()).expect("a study");
    let options = RunOptions {
        jobs: 2,
        data_dir: None,
        shard: None,
        stop: &AtomicBool::new(false),
        observer: &|_| {},
    };
    let summary = run_study(&spec, folder, &options).expect("a run");
    assert_eq!(summary.failed, 0);
    study_page(folder).expect("a page")
}
