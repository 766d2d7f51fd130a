use intervalid_model::{FitConfig, MarginActivation, ModelKind, Strategy};
use intervalid_study::{Cell, KeepModels, Spec};

const HEAD: &str = "name = \"s\"\ndatasets = [\"hair-dryer\"]\nmodels = [\"inode\", \"bnode\"]\n";

fn error_of(rest: &str) -> String {
    Spec::parse("s.toml", &format!("{HEAD}{rest}")).unwrap_err().to_string()
}

fn cell(model: ModelKind, training: Option<(Strategy, MarginActivation)>) -> Cell {
    Cell {
        dataset: "hair-dryer".to_owned(),
        model: model.into(),
        strategy: training.map(|training| training.0),
        margin: training.map(|training| training.1),
        coverage: 0.9,
        seed: 7,
    }
}

#[test]
fn built_in_studies_are_valid_and_the_reference_has_every_key() {
    for name in Spec::builtin_names() {
        assert_eq!(Spec::load(name).unwrap(), Spec::builtin(name).unwrap());
        assert_eq!(Spec::builtin(name).unwrap().name, name);
    }
    let paper = Spec::builtin("paper").unwrap();
    let text: toml::Table = Spec::builtin_text("paper").unwrap().parse().unwrap();
    let keys = |table: &toml::Table| table.keys().cloned().collect::<std::collections::BTreeSet<_>>();
    let written = toml::Table::try_from(&paper).unwrap();
    assert_eq!(keys(&text), keys(&written));
    let first = |table: &toml::Table| keys(table["override"][0].as_table().unwrap());
    assert_eq!(first(&text), first(&written));
    assert_eq!(paper.seeds, (1..=10).collect::<Vec<_>>());
}

#[test]
fn defaults_are_those_of_the_reference() {
    let spec = Spec::parse("s.toml", HEAD).unwrap();
    assert_eq!(spec.strategies, [Strategy::Cascade, Strategy::Joint]);
    assert_eq!(spec.margins, [MarginActivation::Abs, MarginActivation::Relu]);
    assert_eq!(
        (spec.seeds.as_slice(), spec.keep_models),
        ([1].as_slice(), KeepModels::FirstSeed)
    );
    assert!(spec.coverages.len() == 1 && (spec.coverages[0] - 0.9).abs() < 1e-12);
}

#[test]
fn errors_name_the_key_and_what_it_may_be() {
    let expectations = [
        ("epochs = 3", "unknown key 'epochs'"),
        ("settings = { epoch = 3 }", "settings: unknown key 'epoch'"),
        (
            "settings = { epochs = \"many\" }",
            "settings: epochs = \"many\": invalid type",
        ),
        ("settings = { epochs = 0 }", "epochs = 0 is not allowed"),
        (
            "settings = { lags = { nz = 1 } }",
            "settings: lags = { nz = 1 }: unknown field `nz`",
        ),
        (
            "settings = { seed = 3 }",
            "settings.seed = 3 is not allowed: expected no such key here: a study has `seeds`",
        ),
        ("seeds = \"10..1\"", "expected a range such as \"1..10\""),
        ("seeds = 3", "expected a list of seeds or a range"),
        ("seeds = [1, 1]", "seeds = 1 is not allowed: expected every value once"),
        (
            "coverages = []",
            "coverages = [] is not allowed: expected at least one value",
        ),
        ("coverages = [90.0]", "did you mean 0.9?"),
        ("settings = { together = true }", "settings: unknown key 'together'"),
        ("margins = [\"square\"]", "unknown variant `square`"),
        ("keep_models = \"some\"", "unknown variant `some`"),
        (
            "[[override]]\nset = { epoch = 3 }",
            "override 1: set: unknown key 'epoch'",
        ),
        ("[[override]]\nmodels = \"inode\"\nset = {}", "unknown field `models`"),
        (
            "[[override]]\ndataset = \"dryer\"\nset = {}",
            "override 1: dataset = dryer is not allowed",
        ),
        (
            "[[override]]\nmodel = \"arx\"\nset = {}",
            "override 1: model = arx is not allowed",
        ),
    ];
    for (rest, expected) in expectations {
        let message = error_of(rest);
        assert!(message.contains(expected), "{rest}: {message}");
    }
    let message = Spec::load("papers").unwrap_err().to_string();
    assert!(
        message.contains("papers") && message.contains("paper-quick"),
        "{message}"
    );
    let message = Spec::load("no/such.toml").unwrap_err().to_string();
    assert!(message.contains("cannot read no/such.toml"), "{message}");
}

#[test]
fn settings_and_overrides_apply_in_order() {
    let spec = format!(
        "{HEAD}[settings]\nepochs = 9\nmargin_floor = 1\nlags = {{ ny = 5 }}\n\
         [[override]]\nmodel = \"inode\"\nset = {{ epochs = 8, batch = 7 }}\n\
         [[override]]\nstrategy = [\"joint\"]\nmargin = \"relu\"\nset = {{ epochs = 6 }}\n"
    );
    let spec = Spec::parse("s.toml", &spec).unwrap();
    let config = |model, training| spec.config(&cell(model, training)).unwrap().one().unwrap().clone();
    let base = FitConfig::paper("hair-dryer", ModelKind::Bnode, Strategy::Cascade);
    let bayesian = config(ModelKind::Bnode, None);
    assert_eq!(
        (bayesian.training.epochs, bayesian.training.batch, bayesian.seed),
        (9, base.training.batch, 7)
    );
    assert_eq!((bayesian.lags.nx, bayesian.lags.nd, bayesian.lags.ny), (2, 2, 5));
    let cascade = config(ModelKind::Inode, Some((Strategy::Cascade, MarginActivation::Relu)));
    assert_eq!(
        (cascade.training.epochs, cascade.training.batch, cascade.interval.margin),
        (8, 7, MarginActivation::Relu)
    );
    let joint = config(ModelKind::Inode, Some((Strategy::Joint, MarginActivation::Relu)));
    assert_eq!(
        (joint.training.epochs, joint.training.batch, joint.interval.strategy),
        (6, 7, Strategy::Joint)
    );
    assert_eq!(
        config(ModelKind::Inode, Some((Strategy::Joint, MarginActivation::Abs)))
            .training
            .epochs,
        8
    );
}

#[test]
fn the_hash_is_that_of_the_contents() {
    let hash = |text: &str| Spec::parse("s.toml", &format!("{HEAD}{text}")).unwrap().hash();
    assert_eq!(hash("seeds = [1, 2]"), hash("# two\nseeds = \"1..2\""));
    assert_ne!(hash("seeds = [1, 2]"), hash("seeds = [2, 1]"));
    assert_ne!(hash(""), hash("settings = { epochs = 9 }"));
}

/// As `fit` does: what is given is not searched for, and epochs are those of every stage.
#[test]
fn given_lags_are_not_searched_and_epochs_mean_every_stage() {
    let text = "name = \"s\"\ndatasets = [\"mine.csv\", \"hair-dryer\"]\nmodels = [\"inode\"]\n\
                [settings]\nlags = { nx = 1, nd = 0, ny = 2 }\nepochs = 7\n";
    let spec = Spec::parse("s", text).unwrap();
    for cell in spec.cells() {
        let Some(config) = spec.config(&cell).unwrap().one().cloned() else {
            panic!("{cell} is no search");
        };
        assert!(!config.lag_search, "{cell}");
        assert_eq!(
            (config.training.epochs, config.interval.margin_epochs),
            (7, None),
            "{cell}"
        );
    }
}

#[test]
fn coverages_that_a_search_cannot_give_are_refused_before_it() {
    let of = |coverages: &str| {
        let text = format!("name = \"s\"\ndatasets = [\"hair-dryer\"]\nmodels = [\"auto\"]\ncoverages = {coverages}\n");
        Spec::parse("s.toml", &text)
    };
    // The search is made for the first; bands of others lie around it.
    for coverages in ["[0.995]", "[0.99, 0.1]", "[0.995, 0.05]", "[0.9, 0.995]", "[0.05, 0.9]"] {
        let message = of(coverages).err().map(|error| error.to_string());
        let is_refused = coverages.contains("0.05") || coverages.contains("0.9, 0.995");
        assert_eq!(message.is_some(), is_refused, "{coverages}: {message:?}");
        let names_range =
            |message: &String| message.contains("coverage") && message.contains("expected a share from 0.1 to 0.99");
        assert!(message.as_ref().is_none_or(names_range), "{message:?}");
    }
}
