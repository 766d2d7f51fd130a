//! The command that fits one model of a study alone.

use intervalid_model::{FitConfig, GaussianConfig, IntervalConfig, Method, NetworkConfig, TrainingConfig};
use intervalid_search::SearchConfig;
use intervalid_study::{Cell, RunConfig, SearchRun, Spec};
use intervalid_workflow::{Preset, Settings};

use crate::folder::command_line;

/// A command, and what it cannot say.
#[derive(Debug)]
pub(super) struct Alone {
    /// For a shell.
    pub(super) command: String,
    /// Settings of the study that have no option, such as `margin_epochs = 2`.
    pub(super) left_out: Vec<String>,
}

/// The command that fits the model of a cell as its study does, as far as options of `fit` say it.
pub(super) fn alone(spec: &Spec, cell: &Cell) -> Alone {
    let mut words = ["intervalid", "fit", cell.dataset.as_str()].map(str::to_owned).to_vec();
    let columns = spec.columns_of(&cell.dataset);
    for (option, names) in [("--input", columns.input), ("--output", columns.output)] {
        if let Some(names) = names {
            words.extend([option.to_owned(), column_list(&names)]);
        }
    }
    let left_out = match spec.config(cell) {
        Ok(RunConfig::One(config)) => one_model(&config, &cell.dataset, &mut words),
        Ok(RunConfig::Search(run)) => search(&run, &mut words),
        // A study whose settings cannot be resolved was refused when it was read.
        Err(_) => Vec::new(),
    };
    Alone {
        command: command_line(&words),
        left_out,
    }
}

/// Names as `fit` reads a list of them: one with a comma is in double quotes.
fn column_list(names: &[String]) -> String {
    let name = |name: &String| match name.contains(',') {
        true => format!("\"{name}\""),
        false => name.clone(),
    };
    names.iter().map(name).collect::<Vec<_>>().join(",")
}

/// Options that make `config` from the paper's settings, and the settings that they do not reach.
fn one_model(config: &FitConfig, dataset: &str, words: &mut Vec<String>) -> Vec<String> {
    let config = what_is_read(config);
    let paper = what_is_read(&FitConfig::paper(dataset, config.model, config.interval.strategy));
    let is_interval = config.model.method() == Method::Interval;
    let (network, training) = (&config.network, &config.training);
    let lags_differ = (config.lags, config.lag_search) != (paper.lags, paper.lag_search);
    let epochs_differ = training.epochs != paper.training.epochs
        || (config.interval.margin_epochs.is_none() && paper.interval.margin_epochs.is_some());
    let rates_differ = training.learning_rate.total_cmp(&paper.training.learning_rate).is_ne();
    let given = Settings {
        preset: Some(Preset::Paper),
        model: Some(config.model),
        strategy: is_interval.then_some(config.interval.strategy),
        margin: is_interval.then_some(config.interval.margin),
        lags: (lags_differ && !config.lag_search).then(|| config.lags.into()),
        // An empty list has no form as an option.
        hidden: Some(network.hidden.clone()).filter(|hidden| !hidden.is_empty() && *hidden != paper.network.hidden),
        states: network.states.filter(|_| network.states != paper.network.states),
        initial: Some(config.initial).filter(|initial| *initial != paper.initial),
        epochs: epochs_differ.then_some(training.epochs),
        batch: Some(training.batch).filter(|batch| *batch != paper.training.batch),
        learning_rate: rates_differ.then_some(training.learning_rate),
        precision: Some(config.precision).filter(|precision| *precision != paper.precision),
        coverage: Some(config.coverage),
        seed: Some(config.seed),
        ..Settings::default()
    };
    let hidden = given.hidden.as_ref().map(|hidden| {
        let widths: Vec<String> = hidden.iter().map(usize::to_string).collect();
        widths.join(",")
    });
    let options = [
        ("--preset", given.preset.map(|preset| preset.name().to_owned())),
        ("--model", given.model.map(|model| model.name().to_owned())),
        ("--strategy", given.strategy.map(|strategy| strategy.name().to_owned())),
        ("--margin", given.margin.map(|margin| margin.name().to_owned())),
        ("--lags", given.lags.map(|_| config.lags.to_string())),
        ("--hidden", hidden),
        ("--states", given.states.map(|states| states.to_string())),
        ("--initial", given.initial.map(|initial| initial.to_string())),
        ("--epochs", given.epochs.map(|epochs| epochs.to_string())),
        ("--batch", given.batch.map(|batch| batch.to_string())),
        ("--lr", given.learning_rate.map(|rate| rate.to_string())),
        (
            "--precision",
            given.precision.map(|precision| precision.name().to_owned()),
        ),
        ("--coverage", given.coverage.map(|coverage| coverage.to_string())),
        ("--seed", given.seed.map(|seed| seed.to_string())),
    ];
    push(words, options);
    differences(&given.applied_to(paper), &config)
}

/// The configuration with what its model does not read at the defaults: a study has one table of settings for all its models.
fn what_is_read(config: &FitConfig) -> FitConfig {
    let mut read = config.clone();
    let method = config.model.method();
    if method != Method::Interval {
        read.interval = IntervalConfig::default();
    }
    if matches!(method, Method::Interval | Method::Linear) {
        read.gaussian = GaussianConfig::default();
    }
    if method == Method::Linear {
        (read.network, read.training) = (NetworkConfig::default(), TrainingConfig::default());
    }
    read
}

/// Keys of a configuration whose values differ, as the study's file has them.
fn differences(from: &FitConfig, to: &FitConfig) -> Vec<String> {
    let table = |config: &FitConfig| toml::Table::try_from(config).expect("a configuration is plain data");
    let (from, to) = (table(from), table(to));
    let others = to.iter().filter(|(key, value)| from.get(*key) != Some(*value));
    let gone = from.keys().filter(|key| !to.contains_key(*key));
    others
        .map(|(key, value)| format!("{key} = {value}"))
        .chain(gone.map(|key| format!("no {key}")))
        .collect()
}

/// Options of a search, and its settings that have none.
fn search(run: &SearchRun, words: &mut Vec<String>) -> Vec<String> {
    let SearchRun {
        search,
        coverage,
        budget_seconds,
    } = run;
    let defaults = SearchConfig::default();
    // A study's search has one core.
    let threads = budget_seconds.map(|_| "1".to_owned());
    let precision = Some(search.precision).filter(|precision| *precision != defaults.precision);
    let coverage = match search.coverage.total_cmp(coverage).is_eq() {
        true => coverage.to_string(),
        // All coverages of a study are bands of one search.
        false => format!("{},{coverage}", search.coverage),
    };
    let options = [
        ("--budget", budget_seconds.map(|seconds| format!("{seconds}s"))),
        ("--threads", threads),
        ("--lags", search.lags.map(|lags| lags.to_string())),
        ("--initial", search.initial.map(|initial| initial.to_string())),
        ("--precision", precision.map(|precision| precision.name().to_owned())),
        ("--coverage", Some(coverage)),
        ("--seed", Some(search.seed.to_string())),
    ];
    push(words, options);
    match search.rounds == defaults.rounds {
        true => Vec::new(),
        false => vec![format!("rounds = {}", search.rounds)],
    }
}

fn push<const N: usize>(words: &mut Vec<String>, options: [(&str, Option<String>); N]) {
    for (option, value) in options {
        if let Some(value) = value {
            words.extend([option.to_owned(), value]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that a shell makes of the command, and what is left out.
    fn words_of(study: &str) -> (Vec<String>, Vec<String>) {
        let spec = Spec::parse("s", &format!("name = \"s\"\n{study}")).expect("a study");
        let cell = spec.cells().last().expect("a cell");
        let Alone { command, left_out } = alone(&spec, &cell);
        (shlex::split(&command).expect("words of a shell"), left_out)
    }

    #[test]
    fn names_stay_one_word_each() {
        let (words, left_out) = words_of(
            "datasets = [\"my dir/a;b.csv\"]\nmodels = [\"arx\"]\n\
             [columns.\"my dir/a;b.csv\"]\ninput = [\"valve, left\", \"$HOME\"]\noutput = \"level\"\n",
        );
        let expected = [
            "intervalid",
            "fit",
            "my dir/a;b.csv",
            "--input",
            "\"valve, left\",$HOME",
            "--output",
            "level",
            "--preset",
            "paper",
            "--model",
            "arx",
            "--coverage",
            "0.9",
            "--seed",
            "1",
        ];
        assert_eq!(words, expected);
        assert_eq!(left_out, [""; 0]);
    }

    #[test]
    fn settings_of_the_study_are_options_or_named() {
        let (words, left_out) = words_of(
            "datasets = [\"hair-dryer\"]\nmodels = [\"ilstm\"]\nstrategies = [\"joint\"]\nmargins = [\"relu\"]\nseeds = [3]\n\
             [settings]\nlags = '3,1,3'\nhidden = [4, 4]\nepochs = 7\nlr = 0.03\nbatch = 5\ninitial = 'measured'\nprecision = 'f64'\n\
             margin_epochs = 2\nwindow = { length = 77, step = 10 }\nmembers = 3\n\
             [[override]]\nmodel = \"ilstm\"\nset = { epochs = 9, margin_epochs = 4 }\n",
        );
        let line = "intervalid fit hair-dryer --preset paper --model ilstm --strategy joint --margin relu --lags 3,1,3 --hidden 4,4 \
                    --initial measured --epochs 9 --batch 5 --lr 0.03 --precision f64 --coverage 0.9 --seed 3";
        assert_eq!(words.join(" "), line);
        // `members` means nothing to an interval network.
        assert_eq!(left_out, ["margin_epochs = 4", "window = { length = 77, step = 10 }"]);
    }

    #[test]
    fn what_a_linear_model_does_not_read_is_not_told() {
        let (words, left_out) =
            words_of("datasets = [\"hair-dryer\"]\nmodels = [\"arx\"]\nsettings = { epochs = 7, margin_epochs = 2 }\n");
        assert_eq!(
            words.join(" "),
            "intervalid fit hair-dryer --preset paper --model arx --coverage 0.9 --seed 1"
        );
        assert_eq!(left_out, [""; 0]);
    }

    #[test]
    fn a_search_has_its_settings_and_all_its_coverages() {
        let (words, left_out) = words_of(
            "datasets = [\"hair-dryer\"]\nmodels = [\"auto\"]\ncoverages = [0.9, 0.95]\n\
             auto = { budget = \"90s\", rounds = 3, lags = \"2,0,3\", initial = \"warmup:25\" }\n",
        );
        let line = "intervalid fit hair-dryer --budget 90s --threads 1 --lags 2,0,3 --initial warmup:25 --coverage 0.9,0.95 --seed 1";
        assert_eq!(words.join(" "), line);
        assert_eq!(left_out, ["rounds = 3"]);
    }
}
