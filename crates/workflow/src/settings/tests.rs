use intervalid_data::WindowConfig;
use intervalid_model::{GaussianConfig, IntervalConfig, NetworkConfig, TrainingConfig};

use super::*;

fn settings(text: &str) -> Settings {
    Settings::from_table(&text.parse().unwrap()).unwrap()
}

#[test]
fn the_shape_of_a_state_space_model_can_be_asked_of_a_search() {
    let asked = settings("states = 3\nhidden = [8]");
    assert_eq!(asked.of_one_network(), None);
    let search = asked.search_config().expect("resolves");
    assert_eq!(
        (search.model, search.states, search.hidden),
        (Some(ModelKind::Iss), Some(3), Some([8, 8]))
    );
    // Of all other models the layers are those of one network.
    assert_eq!(settings("hidden = [8]").of_one_network(), Some("hidden"));
    assert_eq!(settings("model = 'inode'\nstates = 3").of_one_network(), Some("states"));
    assert_eq!(settings("states = 3\nepochs = 7").of_one_network(), Some("epochs"));
    assert!(settings("model = 'iss'\nhidden = [8, 8, 8]").search_config().is_err());
    let too_many = settings("states = 21").search_config().expect("resolves");
    assert!(
        too_many
            .check()
            .is_err_and(|error| error.to_string().contains("1 to 20 states"))
    );
}

#[test]
fn settings_win_over_the_preset() {
    let config = settings("epochs = 7\nlags = '1,2,3'").fit_config("hair-dryer");
    assert_eq!((config.training.epochs, config.interval.margin_epochs), (7, None));
    assert_eq!((config.lags, config.lag_search), (Lags { nx: 1, nd: 2, ny: 3 }, false));
    let paper = FitConfig::paper("hair-dryer", ModelKind::Inode, Strategy::Cascade);
    assert_eq!(config.training.batch, paper.training.batch);
    assert_eq!(Settings::default().fit_config("hair-dryer"), paper);
    let both = settings("epochs = 7\nmargin_epochs = 9\nlags = '1,2,3'\nlag_search = true").fit_config("x");
    assert_eq!((both.interval.margin_epochs, both.lag_search), (Some(9), true));
}

#[test]
fn tables_may_be_given_in_part() {
    let config = settings("lags = { ny = 5 }\nwindow = { length = 77 }").fit_config("hair-dryer");
    let paper = FitConfig::paper("hair-dryer", ModelKind::Inode, Strategy::Cascade);
    assert_eq!((config.lags.ny, config.lags.nx), (5, paper.lags.nx));
    assert_eq!(
        (config.training.window.length, config.training.window.step),
        (77, paper.training.window.step)
    );
}

#[test]
fn every_setting_reaches_the_configuration_it_is_named_after() {
    // A configuration with no field at its default, written as settings and read back.
    let config = FitConfig {
        model: ModelKind::Blstm,
        lags: Lags { nx: 5, nd: 6, ny: 7 },
        lag_search: true,
        initial: InitialState::Warmup(3),
        coverage: 0.5,
        precision: Precision::F64,
        seed: 18,
        network: NetworkConfig {
            hidden: vec![3],
            linear_path: true,
            states: Some(19),
        },
        training: TrainingConfig {
            window: WindowConfig { length: 9, step: 8 },
            epochs: 11,
            batch: 13,
            learning_rate: 0.12,
            schedule: Schedule::Constant,
            gradient_clip: 0.13,
            patience: Some(15),
            weight_decay: 0.8,
            weight_noise: 0.9,
            averaging: 0.11,
            hidden_decay: 0.18,
            train_on_validation: true,
        },
        interval: IntervalConfig {
            strategy: Strategy::Joint,
            margin: MarginActivation::Relu,
            width_penalty: 0.1,
            level: QuantileLevel::Literal,
            margin_hidden: 0.2,
            margin_output: 0.3,
            margin_floor: 0.4,
            margin_epochs: Some(12),
            margin_batch: Some(14),
            margin_rate: 0.6,
            margin_schedule: Some(Schedule::Cosine),
            miss_factor: 0.7,
            gradnorm_beta: 0.14,
            gradnorm_rate: 0.15,
            gradnorm_optimiser: GradNormOptimiser::Adam,
        },
        gaussian: GaussianConfig {
            prior_std: 0.16,
            dropout: 0.17,
            members: 16,
            samples: 17,
            feedback: Feedback::Own,
        },
    };
    let table = Table::try_from(&config).unwrap();
    assert!(table.keys().all(|key| Settings::NAMES.contains(&key.as_str())));
    assert_eq!(Settings::from_table(&table).unwrap().fit_config("robot-arm"), config);
    assert_eq!(
        table.len() + 7,
        Settings::NAMES.len(),
        "preset, calibrate, detrend, levels, output_range, rounds and together besides"
    );
}

#[test]
fn several_coverages_are_one_and_others() {
    let several = settings("coverage = [0.5, 0.9, 0.99]");
    assert_eq!((several.coverage, several.levels), (Some(0.9), Some(vec![0.5, 0.99])));
    let over = settings("coverage = 0.8").over(settings("coverage = [0.5, 0.9]"));
    assert_eq!((over.coverage, over.levels), (Some(0.8), None));
    let written = settings("coverage = 0.9\nlevels = [0.5]");
    assert_eq!((written.coverage, written.levels), (Some(0.9), Some(vec![0.5])));
    for bad in ["coverage = []", "coverage = ['0.9']"] {
        let refused = Settings::from_table(&bad.parse().unwrap()).unwrap_err();
        assert!(refused.to_string().starts_with("coverage = ["), "{refused}");
    }
}

#[test]
fn bad_settings_are_named() {
    let refused = |text: &str| Settings::from_table(&text.parse().unwrap()).unwrap_err();
    assert!(
        refused("margin = 'cube'")
            .to_string()
            .starts_with("margin = \"cube\": unknown variant")
    );
    assert!(
        refused("model = 'gru'")
            .to_string()
            .starts_with("model = \"gru\": unknown variant")
    );
    assert!(
        refused("rounds = 'many'")
            .to_string()
            .starts_with("rounds = \"many\": invalid type")
    );
    assert!(refused("lags = { nz = 1 }").to_string().contains("unknown field"));
    assert!(matches!(
        refused("epoch = 3"),
        WorkflowError::UnknownSetting {
            nearest: Some("epochs"),
            ..
        }
    ));
    assert!(matches!(
        refused("qwertz = 3"),
        WorkflowError::UnknownSetting { nearest: None, .. }
    ));
}

#[test]
fn a_search_takes_its_own_settings_and_no_others() {
    let config = settings("lags = '1,0,2'\ncoverage = 0.95").search_config().unwrap();
    assert_eq!(config.lags, Some(Lags { nx: 1, nd: 0, ny: 2 }));
    assert_eq!(config.rounds, SearchConfig::default().rounds);
    let part = settings("lags = { ny = 5 }").search_config().unwrap_err().to_string();
    assert_eq!(
        part,
        "lags = a part of them: a search takes all of nx, nd and ny, or none"
    );
    assert!(matches!(
        settings("epochs = 3").search_config(),
        Err(WorkflowError::NotForSearch { key: "epochs" })
    ));
    assert!(matches!(
        settings("model = 'bnode'").search_config(),
        Err(WorkflowError::NotSearched {
            model: ModelKind::Bnode
        })
    ));
}

#[test]
fn limits_of_one_output_leave_those_of_others() {
    let flags = settings("output_range = { y1 = '0:9' }");
    let file = settings("output_range = { y1 = '1:2', y2 = '-3:' }");
    assert_eq!(
        flags.over(file).output_range,
        settings("output_range = { y1 = '0:9', y2 = '-3:' }").output_range
    );
}

#[test]
fn settings_that_do_nothing_to_a_model_are_known() {
    let given = settings("seed = 3\nmargin = 'relu'\nepochs = 7");
    for (model, expected) in [
        (ModelKind::Inode, None),
        (ModelKind::Bnode, Some("margin")),
        (ModelKind::EnsembleLstm, Some("margin")),
        (ModelKind::Arx, Some("margin")),
    ] {
        assert_eq!(given.without_effect(model), expected, "{model}");
    }
    assert_eq!(settings("epochs = 7").without_effect(ModelKind::Bnode), None);
    assert_eq!(settings("epochs = 7").without_effect(ModelKind::Arx), Some("epochs"));
    assert_eq!(settings("lags = '1,1,1'").without_effect(ModelKind::Arx), None);
}
