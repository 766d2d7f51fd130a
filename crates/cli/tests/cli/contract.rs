//! The outside of the program, walked: every command and option, every key of every JSON object, every file of a fit.
//!
//! The tables are the contract. What is added to the program is added here: a command to [`COMMANDS`], its options to
//! [`OPTIONS`], a file of a fit to [`FIT_FILES`], a key to the shape it belongs to.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::shape::Shape::{self, Count, Flag, List, Maybe, Named, Number, Object, Settings, Text};
use crate::support::{Folder, csv, plain};

/// Promised and not there yet. Whoever adds one takes it away here and enters it in the tables below.
const PENDING_COMMANDS: [&[&str]; 5] = [
    &["report", "fit"],
    &["export", "fit", "--to", "c", "--out", "step.c"],
    &["fit", "hair-dryer", "--print-config", "--preset", "auto"],
    &["fit", "hair-dryer", "--print-config", "--budget", "2m"],
    &["evaluate", "fit", "hair-dryer", "--online"],
];
const PENDING_FILES: [&str; 1] = ["report.html"];
const PENDING_KEYS: [&str; 1] = ["test_online"];

/// Metrics of one output.
const METRICS: Shape = Object(&[
    ("n", Count),
    ("rmse", Number),
    ("fit_percent", Number),
    ("picp", Number),
    ("pinaw", Number),
    ("cwc", Number),
    ("interval_score", Number),
    ("worst_rolling_picp", Number),
]);

/// Metrics of several outputs: by name, and `all`.
const METRICS_OF_SEVERAL: Shape = Object(&[
    ("n", Count),
    ("rmse", Named(&Number)),
    ("fit_percent", Named(&Number)),
    ("picp", Named(&Number)),
    ("pinaw", Named(&Number)),
    ("cwc", Named(&Number)),
    ("interval_score", Named(&Number)),
    ("worst_rolling_picp", Named(&Number)),
]);

/// `fit --json` and `metrics.json`, with the metrics of its parts.
macro_rules! fit_shape {
    ($metrics:expr) => {
        Object(&[
            ("dataset", Text),
            ("model", Text),
            ("strategy", Maybe(&Text)),
            ("margin", Maybe(&Text)),
            ("coverage", Number),
            ("seed", Count),
            ("preset", Text),
            ("epochs_run", Count),
            ("stopped_because", Text),
            ("train_seconds", Number),
            ("parameters", Count),
            ("test", Maybe(&$metrics)),
            ("validation", Maybe(&$metrics)),
            ("out", Text),
        ])
    };
}
pub(crate) const FIT: Shape = fit_shape!(METRICS);
const FIT_OF_SEVERAL: Shape = fit_shape!(METRICS_OF_SEVERAL);

const LAGS: Shape = Object(&[("nx", Count), ("nd", Count), ("ny", Count)]);
const LAG_CANDIDATE: Shape = Object(&[("lags", LAGS), ("parameters", Count), ("validation_rmse", Number)]);
const CHANNEL: Shape = Object(&[
    ("name", Text),
    ("unit", Maybe(&Text)),
    ("min", Number),
    ("max", Number),
    ("mean", Number),
    ("std", Number),
    ("levels", Maybe(&Count)),
    ("longest_constant", Count),
]);
const RUN_COUNTS: Shape = Object(&[("total", Count), ("done", Count), ("failed", Count), ("left", Count)]);

/// Every command, in an order in which each finds what it needs, and what it prints with `--json`.
const COMMANDS: [(&[&str], Shape); 15] = [
    (
        &["data", "list"],
        Object(&[
            ("data_dir", Maybe(&Text)),
            (
                "datasets",
                List(&Object(&[
                    ("name", Text),
                    ("available", Flag),
                    ("origin", Text),
                    ("samples", Maybe(&Count)),
                    ("inputs", Maybe(&Count)),
                    ("outputs", Maybe(&Count)),
                    ("sample_time", Maybe(&Number)),
                    ("description", Maybe(&Text)),
                    ("source", Maybe(&Text)),
                    ("problem", Maybe(&Text)),
                ])),
            ),
        ]),
    ),
    (
        &["data", "show", "hair-dryer"],
        Object(&[
            ("name", Text),
            ("description", Maybe(&Text)),
            ("source", Maybe(&Text)),
            ("samples", Count),
            ("sample_time", Maybe(&Number)),
            ("experiments", List(&Object(&[("name", Text), ("samples", Count)]))),
            ("inputs", List(&CHANNEL)),
            ("outputs", List(&CHANNEL)),
            (
                "split",
                Maybe(&Object(&[
                    (
                        "fractions",
                        Object(&[("train", Number), ("validation", Number), ("test", Number)]),
                    ),
                    ("chosen_by", Text),
                    ("train", Count),
                    ("validation", Count),
                    ("test", Count),
                ])),
            ),
            (
                "dead_time",
                Maybe(&List(&Object(&[
                    ("input", Text),
                    ("output", Text),
                    ("delay", Maybe(&Count)),
                    ("bound", Number),
                    ("correlation", List(&Number)),
                ]))),
            ),
            (
                "lags",
                List(&Object(&[
                    ("initial", Text),
                    ("suggested", LAG_CANDIDATE),
                    ("best", LAG_CANDIDATE),
                ])),
            ),
            ("paper_lags", Maybe(&LAGS)),
            ("warnings", List(&Text)),
            ("notes", List(&Text)),
        ]),
    ),
    (&["fit", "hair-dryer", "--print-config"], Settings),
    (&["fit", "hair-dryer", "--epochs", "2", "--out", "fit"], FIT),
    (
        &["predict", "fit", "hair-dryer", "--out", "p.csv", "--plot", "p.svg"],
        Object(&[
            ("dataset", Text),
            ("model", Text),
            ("coverage", Number),
            ("metrics", METRICS),
            (
                "predictions",
                List(&Object(&[
                    ("experiment", Text),
                    ("output", Text),
                    ("first", Count),
                    ("y_hat", List(&Number)),
                    ("y_lower", List(&Number)),
                    ("y_upper", List(&Number)),
                ])),
            ),
            ("out", Maybe(&Text)),
            ("plot", Maybe(&Text)),
        ]),
    ),
    (
        &["evaluate", "fit", "hair-dryer", "--part", "test"],
        Object(&[
            ("dataset", Text),
            ("model", Text),
            ("coverage", Number),
            ("n", Count),
            ("rmse", Number),
            ("fit_percent", Number),
            ("picp", Number),
            ("pinaw", Number),
            ("cwc", Number),
            ("interval_score", Number),
            ("worst_rolling_picp", Number),
            (
                "rolling",
                List(&Maybe(&Object(&[
                    ("window", Count),
                    ("mean", Number),
                    ("worst", Number),
                ]))),
            ),
            (
                "horizons",
                List(&List(&Object(&[
                    ("first", Count),
                    ("last", Count),
                    ("n", Count),
                    ("picp", Number),
                ]))),
            ),
        ]),
    ),
    (
        &["explain", "fit", "--out", "elasticity"],
        Object(&[
            ("model", Text),
            (
                "layers",
                List(&Object(&[
                    ("layer", Text),
                    (
                        "channels",
                        List(&Object(&[
                            ("name", Text),
                            ("role", Text),
                            ("elasticity", Number),
                            ("unbounded", Count),
                        ])),
                    ),
                ])),
            ),
            ("out", Maybe(&Text)),
        ]),
    ),
    (&["compare", "fit", "fit"], Object(&[("fits", List(&FIT))])),
    (
        &["demo", "--epochs", "2"],
        Object(&[
            ("dataset", Text),
            ("preset", Text),
            ("coverage", Number),
            ("dead_time", Maybe(&Count)),
            // Those of networks say how they were trained, those of linear models have nothing to say.
            ("models", List(&Settings)),
            ("chosen", Text),
            ("out", Text),
            ("files", List(&Text)),
        ]),
    ),
    (
        &["study", "run", "study.toml", "--out", "study"],
        Object(&[
            ("study", Text),
            ("done", Count),
            ("failed", Count),
            ("resumed", Count),
            ("skipped", Count),
            ("left", Count),
            ("outdated", Count),
            ("missing_datasets", List(&Text)),
            ("seconds", Number),
            ("out", Text),
        ]),
    ),
    (
        &["study", "status", "study"],
        Object(&[
            ("name", Text),
            ("runs", RUN_COUNTS),
            (
                "groups",
                List(&Object(&[("dataset", Text), ("model", Text), ("runs", RUN_COUNTS)])),
            ),
            ("failures", List(&Object(&[("run", Text), ("reason", Text)]))),
            ("train_seconds", Number),
            ("created", Text),
            ("last_finished", Maybe(&Text)),
            ("versions", List(&Text)),
            ("spec_hash", Text),
        ]),
    ),
    (
        &["study", "table", "study"],
        Object(&[
            ("name", Text),
            ("seeds", Count),
            (
                "tables",
                List(&Object(&[
                    ("kind", Text),
                    ("coverage", Number),
                    (
                        "columns",
                        List(&Object(&[
                            ("label", Text),
                            ("model", Text),
                            ("strategy", Maybe(&Text)),
                            ("margin", Maybe(&Text)),
                        ])),
                    ),
                    (
                        "rows",
                        List(&Object(&[
                            ("dataset", Text),
                            ("metric", Text),
                            ("cells", List(&Settings)),
                        ])),
                    ),
                ])),
            ),
            ("scoreboards", List(&Settings)),
        ]),
    ),
    (
        &["study", "figures", "study"],
        Object(&[("figures", List(&Text)), ("out", Text)]),
    ),
    (&["completions", "bash"], Object(&[("shell", Text), ("script", Text)])),
    (
        &["man"],
        Object(&[
            ("pages", List(&Object(&[("name", Text), ("roff", Text)]))),
            ("out", Maybe(&Text)),
        ]),
    ),
];

/// Long options of every command, but for those that every command has.
pub(crate) const OPTIONS: [(&[&str], &str); 15] = [
    (&["data", "list"], ""),
    (&["data", "show"], DATA_OPTIONS),
    (
        &["fit"],
        "input output experiment sample-time split delimiter decimal missing out preset model strategy margin coverage \
         lags hidden initial epochs batch lr seed precision threads config print-config",
    ),
    (
        &["predict"],
        "input output experiment sample-time split delimiter decimal missing part out plot",
    ),
    (
        &["evaluate"],
        "input output experiment sample-time split delimiter decimal missing part",
    ),
    (&["explain"], "out"),
    (&["compare"], ""),
    (&["demo"], "out epochs"),
    (&["study", "run"], "out jobs print"),
    (&["study", "status"], ""),
    (&["study", "table"], "format"),
    (&["study", "figures"], "out"),
    (&["completions"], ""),
    (&["man"], "out"),
    (&[], "version"),
];
const DATA_OPTIONS: &str = "input output experiment sample-time split delimiter decimal missing";
pub(crate) const GLOBAL_OPTIONS: &str = "json quiet verbose data-dir help";

/// Every setting of `fit` that has a flag: a value, the key of the resolved configuration, and what it says then.
const SETTINGS: [(&str, &str, &str, &str); 13] = [
    ("--preset", "paper", "preset", r#""paper""#),
    ("--model", "ilstm", "model", r#""ilstm""#),
    ("--strategy", "joint", "strategy", r#""joint""#),
    ("--margin", "relu", "margin", r#""relu""#),
    ("--coverage", "0.95", "coverage", "0.95"),
    ("--lags", "4,1,2", "lags", r#""4,1,2""#),
    ("--hidden", "7,5", "hidden", "[7,5]"),
    ("--initial", "warmup:9", "initial", r#""warmup:9""#),
    ("--epochs", "17", "epochs", "17"),
    ("--batch", "9", "batch", "9"),
    ("--lr", "0.25", "learning_rate", "0.25"),
    ("--seed", "5", "seed", "5"),
    ("--precision", "f64", "precision", r#""f64""#),
];

/// Models that `--model` takes.
const MODELS: [&str; 9] = [
    "inode",
    "ilstm",
    "arx",
    "bnode",
    "blstm",
    "dropout-node",
    "dropout-lstm",
    "ensemble-node",
    "ensemble-lstm",
];

/// All that is in the folder of a finished fit.
const FIT_FILES: [&str; 5] = [
    "config.toml",
    "history.csv",
    "metrics.json",
    "model.safetensors",
    "predictions.csv",
];

const STUDY: &str = "name = 'small'\ndatasets = ['hair-dryer']\nmodels = ['inode', 'arx']\nstrategies = ['cascade', 'joint']\n\
                     margins = ['abs']\ncoverages = [0.9]\nseeds = [1, 2]\n[settings]\nepochs = 2\nhidden = [5]\n";

fn files(folder: &Folder, name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path().join(name)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).expect(name)
}

fn header(folder: &Folder, name: &str) -> String {
    read(folder, name).lines().next().unwrap_or_default().to_owned()
}

fn check(shape: Shape, value: &Value, what: &str) {
    let differences = shape.differences(value);
    assert!(differences.is_empty(), "{what}:\n{}", differences.join("\n"));
}

#[test]
fn every_command_prints_one_json_object_of_the_promised_shape() {
    let folder = Folder::new();
    folder.write("study.toml", STUDY);
    for (arguments, shape) in COMMANDS {
        let value = folder.json(&[arguments, &["--json"]].concat());
        check(shape, &value, &arguments.join(" "));
    }
    assert_eq!(files(&folder, "fit"), FIT_FILES);
    let metrics: Value = serde_json::from_str(&read(&folder, "fit/metrics.json")).expect("JSON");
    check(FIT, &metrics, "metrics.json");
    assert_eq!(header(&folder, "fit/predictions.csv"), "k,y,y_hat,y_lower,y_upper");
    assert_eq!(header(&folder, "p.csv"), "k,y,y_hat,y_lower,y_upper");
    assert_eq!(
        header(&folder, "fit/history.csv"),
        "stage,epoch,train_mse,train_rqrw,validation_mse,validation_rqrw,learning_rate,scale_mse,scale_rqrw"
    );
    for format in ["md", "csv", "latex", "json"] {
        let output = folder.run(&["study", "table", "study", "--format", format]);
        assert!(output.status.success() && !output.stdout.is_empty(), "{format}");
    }

    for arguments in PENDING_COMMANDS {
        let code = folder.run(arguments).status.code();
        assert_eq!(code, Some(2), "{arguments:?} is there now: enter it in the tables");
    }
    for file in PENDING_FILES {
        assert!(!FIT_FILES.contains(&file), "{file} is there now: it is pending no more");
    }
    for key in PENDING_KEYS {
        assert!(metrics.get(key).is_none(), "{key} is there now: it is pending no more");
    }
}

#[test]
fn commands_and_options_are_those_of_the_tables() {
    let folder = Folder::new();
    let help = |arguments: &[&str]| {
        let output = folder.run(&[arguments, &["--help"]].concat());
        String::from_utf8(output.stdout).expect("text")
    };
    // `-h, --help` and `    --json` start a line; what else has two dashes is an example or an explanation.
    let options = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let long = lines.filter_map(|line| line.split_once("--").map(|(_, rest)| rest.to_owned()));
        long.map(|rest| rest.split([' ', '<', '[']).next().unwrap_or_default().to_owned())
            .collect()
    };
    for (command, own) in OPTIONS {
        let expected = own.split_whitespace().chain(GLOBAL_OPTIONS.split_whitespace());
        let expected: BTreeSet<String> = expected.map(str::to_owned).collect();
        assert_eq!(options(&help(command)), expected, "options of {command:?}");
    }
    let verbs = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().skip_while(|line| *line != "Commands:").skip(1);
        let lines = lines.take_while(|line| line.starts_with("  "));
        let words = lines
            .filter(|line| !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next());
        words.filter(|word| *word != "help").map(str::to_owned).collect()
    };
    for group in [&[][..], &["data"], &["study"]] {
        let known = OPTIONS
            .iter()
            .map(|(command, _)| command)
            .filter(|command| command.starts_with(group));
        let known: BTreeSet<String> = known
            .filter_map(|command| command.get(group.len()))
            .map(ToString::to_string)
            .collect();
        assert_eq!(verbs(&help(group)), known, "commands of {group:?}");
    }
    let walked: BTreeSet<&[&str]> = COMMANDS.iter().map(|(arguments, _)| *arguments).collect();
    for (command, _) in OPTIONS {
        assert!(
            walked.iter().any(|arguments| arguments.starts_with(command)),
            "{command:?} is not walked"
        );
    }
}

#[test]
fn every_setting_of_a_fit_reaches_the_resolved_configuration() {
    let folder = Folder::new();
    let plain = folder.json(&["fit", "hair-dryer", "--print-config", "--json"]);
    for (flag, value, key, expected) in SETTINGS {
        let resolved = folder.json(&["fit", "hair-dryer", "--print-config", "--json", flag, value]);
        assert_eq!(resolved[key].to_string(), expected, "{flag} {value}");
        assert!(plain.get(key).is_some(), "{key}");
    }
    for model in MODELS {
        let resolved = folder.json(&["fit", "hair-dryer", "--print-config", "--json", "--model", model]);
        assert_eq!(resolved["model"], model);
    }
    for initial in ["zero", "measured"] {
        let resolved = folder.json(&["fit", "hair-dryer", "--print-config", "--json", "--initial", initial]);
        assert_eq!(resolved["initial"], initial);
    }
}

#[test]
fn several_outputs_and_experiments() {
    let folder = Folder::new();
    for (file, factor) in [("run1.csv", 2.0), ("run2.csv", 3.0)] {
        let lines = csv(150, plain);
        let rows = lines.lines().skip(1).map(|line| {
            let y: f64 = line
                .split(',')
                .nth(1)
                .and_then(|cell| cell.parse().ok())
                .expect("a number");
            format!("{line},{:.4}\n", factor * y)
        });
        folder.write(file, format!("u,level,flow\n{}", rows.collect::<String>()));
    }
    let records = ["run1.csv", "run2.csv", "--json"];
    let columns = [
        "--output",
        "level,flow",
        "--epochs",
        "2",
        "--hidden",
        "4",
        "--out",
        "fit",
    ];
    let fit = folder.json(&[&["fit"][..], &records, &columns].concat());
    check(FIT_OF_SEVERAL, &fit, "fit of two outputs");
    let names: Vec<&String> = fit["test"]["rmse"].as_object().expect("per output").keys().collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 3);
    let [level, flow, all] = ["level", "flow", "all"].map(|name| fit["test"]["rmse"][name].as_f64().expect(name));
    assert!((0.5 * (level + flow) - all).abs() < 1e-12 * all, "all is the mean");
    assert_eq!(
        header(&folder, "fit/predictions.csv"),
        "experiment,k,level_y,level_y_hat,level_y_lower,level_y_upper,flow_y,flow_y_hat,flow_y_lower,flow_y_upper"
    );
    let text = read(&folder, "fit/predictions.csv");
    let experiments: BTreeSet<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(experiments.len(), 2, "{experiments:?}");
    // Two files are two experiments, and so are two values of a column.
    let [first, second] = ["run1.csv", "run2.csv"].map(|name| read(&folder, name));
    let rows = |text: &str, run: &str| {
        text.lines()
            .skip(1)
            .map(|line| format!("{line},{run}\n"))
            .collect::<String>()
    };
    folder.write(
        "all.csv",
        format!("u,level,flow,run\n{}{}", rows(&first, "a"), rows(&second, "b")),
    );
    let by_column = ["fit", "all.csv", "--json", "--experiment", "run"];
    let by_column = folder.json(&[&by_column[..], &columns[..6], &["--out", "by-column"]].concat());
    assert_eq!(by_column["test"], fit["test"]);
}

#[test]
fn results_do_not_depend_on_threads_or_jobs() {
    let folder = Folder::new();
    folder.write("study.toml", STUDY);
    for threads in ["1", "2"] {
        let arguments = [
            "fit",
            "hair-dryer",
            "--model",
            "ensemble-node",
            "--epochs",
            "2",
            "--threads",
            threads,
        ];
        folder.json(&[&arguments[..], &["--json", "--out", &format!("threads-{threads}")]].concat());
        let study = format!("jobs-{threads}");
        folder.json(&[
            "study",
            "run",
            "study.toml",
            "--json",
            "--jobs",
            threads,
            "--out",
            &study,
        ]);
    }
    for file in FIT_FILES.iter().filter(|file| **file != "metrics.json") {
        let [one, two] = ["1", "2"].map(|threads| fs::read(folder.path().join(format!("threads-{threads}/{file}"))));
        assert!(one.expect("written") == two.expect("written"), "{file}");
    }
    let [one, two] = ["1", "2"].map(|threads| -> Value {
        serde_json::from_str(&read(&folder, &format!("threads-{threads}/metrics.json"))).expect("JSON")
    });
    assert_eq!((&one["test"], &one["validation"]), (&two["test"], &two["validation"]));
    let [one, two] = ["1", "2"].map(|jobs| folder.run(&["study", "table", &format!("jobs-{jobs}"), "--format", "csv"]));
    assert!(one.status.success() && one.stdout == two.stdout);
}

#[test]
fn exit_codes() {
    let folder = Folder::new();
    let code = |arguments: &[&str]| folder.run(arguments).status.code();
    assert_eq!(code(&["data", "list"]), Some(0));
    assert_eq!(code(&["data", "lists"]), Some(2));
    assert_eq!(code(&["fit", "absent.csv"]), Some(2));
    // A learning rate that no network survives: the run failed, the usage was right.
    let diverging = ["fit", "hair-dryer", "--epochs", "2", "--lr", "1e30", "--out", "fit"];
    let output = folder.run(&diverging);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!folder.path().join("fit").exists(), "nothing is left of a failed run");
}
