//! What users and scripts may rely on, as tables; [`crate::contract`] walks them.
//!
//! What is added to the program is added here: a command to [`COMMANDS`], its options to [`OPTIONS`], a file of a fit to
//! [`FIT_FILES`], a key to the shape it belongs to.

use crate::shape::Shape::{self, Count, Either, Flag, List, Maybe, Named, Number, Object, Settings, Text};

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

/// What a fit was judged on.
const RECORD: Shape = Object(&[
    ("data", Text),
    ("samples", Count),
    ("test", Maybe(&Text)),
    ("test_samples", Count),
    ("inputs", List(&Object(&[("name", Text), ("unit", Maybe(&Text))]))),
    ("outputs", List(&Object(&[("name", Text), ("unit", Maybe(&Text))]))),
    ("sample_time", Maybe(&Number)),
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
            ("test_online", Maybe(&$metrics)),
            ("validation", Maybe(&$metrics)),
            ("record", RECORD),
            ("out", Text),
        ])
    };
}
/// `export --json`; what does not belong to the target is null.
const EXPORT: Shape = Object(&[
    ("model", Text),
    ("to", Text),
    ("model_hash", Text),
    ("coverage", Number),
    ("sample_time", Maybe(&Number)),
    ("past_inputs", Count),
    ("past_outputs", Count),
    ("precision", Maybe(&Text)),
    ("ram_bytes", Maybe(&Object(&[("state", Count), ("stack", Count)]))),
    ("flash_bytes", Maybe(&Count)),
    ("opset", Maybe(&Count)),
    ("fmi", Maybe(&Text)),
    ("binary", Maybe(&Flag)),
    ("inputs_at", Maybe(&Text)),
    ("files", List(&Text)),
]);

pub(crate) const FIT: Shape = fit_shape!(METRICS);
pub(crate) const FIT_OF_SEVERAL: Shape = fit_shape!(METRICS_OF_SEVERAL);

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

/// Models of the demo; networks say how they were trained.
const LINEAR_MODEL: Shape = Object(&[
    ("name", Text),
    ("model", Text),
    ("lags", LAGS),
    ("parameters", Count),
    ("test", METRICS),
    ("validation", METRICS),
]);
const NETWORK: Shape = Object(&[
    ("name", Text),
    ("model", Text),
    ("lags", LAGS),
    ("parameters", Count),
    ("strategy", Text),
    ("seed", Count),
    ("epochs_run", Count),
    ("stopped_because", Text),
    ("train_seconds", Number),
    ("test", METRICS),
    ("validation", METRICS),
]);
/// What `study run` prints.
const STUDY_RUN: Shape = Object(&[
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
]);

/// A cell of a study's table.
const CELL: Shape = Object(&[
    (
        "ours",
        Maybe(&Object(&[("mean", Number), ("std", Maybe(&Number)), ("n", Count)])),
    ),
    ("published", Maybe(&Object(&[("mean", Number), ("std", Number)]))),
    ("mark", Maybe(&Text)),
    ("missing", Count),
    ("failed", Count),
    ("diverged", Count),
]);

/// Every command, in an order in which each finds what it needs, and what it prints with `--json`.
pub(crate) const COMMANDS: &[(&[&str], Shape)] = &[
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
    (
        &[
            "fit",
            "hair-dryer",
            "--print-config",
            "--preset",
            "auto",
            "--budget",
            "2m",
        ],
        Settings,
    ),
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
        &["evaluate", "fit", "hair-dryer", "--part", "test", "--online"],
        Object(&[
            ("dataset", Text),
            ("model", Text),
            ("band", Text),
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
    (&["export", "fit", "--to", "c", "--out", "step.c"], EXPORT),
    (&["export", "fit", "--to", "onnx", "--out", "step.onnx"], EXPORT),
    (
        &["export", "fit", "--to", "fmu", "--out", "step.fmu", "--no-binary"],
        EXPORT,
    ),
    (
        &["compare", "fit", "fit"],
        Object(&[
            ("fits", List(&FIT)),
            ("linear", Maybe(&Object(&[("name", Text), ("test", METRICS)]))),
            ("differences", List(&Text)),
            ("out", Maybe(&Text)),
        ]),
    ),
    (
        &["report", "fit"],
        Object(&[("kind", Text), ("out", Text), ("bytes", Count)]),
    ),
    (
        &["demo", "--epochs", "2"],
        Object(&[
            ("dataset", Text),
            ("preset", Text),
            ("coverage", Number),
            ("dead_time", Maybe(&Count)),
            ("models", List(&Either(&LINEAR_MODEL, &NETWORK))),
            ("chosen", Text),
            ("out", Text),
            ("files", List(&Text)),
        ]),
    ),
    (&["study", "run", "study.toml", "--out", "study"], STUDY_RUN),
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
        &["study", "run", "study.toml", "--out", "shard", "--shard", "1/2"],
        STUDY_RUN,
    ),
    (
        &["study", "merge", "merged", "shard"],
        Object(&[
            ("study", Text),
            ("shards", Count),
            ("added", Count),
            ("known", Count),
            ("runs", RUN_COUNTS),
            ("out", Text),
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
                        List(&Object(&[("dataset", Text), ("metric", Text), ("cells", List(&CELL))])),
                    ),
                ])),
            ),
            (
                "scoreboards",
                List(&Object(&[
                    ("coverage", Number),
                    ("cells", Count),
                    ("compared", Count),
                    ("rmse_at_most_mean", Count),
                    ("rmse_at_most_mean_plus_std", Count),
                    ("cwc_at_most_mean", Count),
                ])),
            ),
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

/// Commands that run until they are stopped; their object comes when they are ready.
pub(crate) const SERVERS: &[(&[&str], Shape)] = &[(
    &["studio", "workspace", "--no-open"],
    Object(&[("url", Text), ("address", Text), ("port", Count), ("folder", Text)]),
)];

/// Long options of every command, but for those that every command has.
pub(crate) const OPTIONS: &[(&[&str], &str)] = &[
    (&["data", "list"], ""),
    (&["data", "show"], DATA_OPTIONS),
    (
        &["fit"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples out force preset model strategy margin coverage \
         lags hidden states initial epochs batch lr seed precision threads budget calibrate config print-config test refit-all",
    ),
    (
        &["predict"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples part online horizon initial-output start-from allow-divergence out plot",
    ),
    (
        &["evaluate"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples part online horizon require-coverage out",
    ),
    (&["explain"], "out"),
    (&["export"], "to out precision fmi no-binary force"),
    (
        &["compare"],
        "out data input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples",
    ),
    (&["report"], "out"),
    (&["demo"], "out epochs"),
    (&["study", "run"], "out jobs shard print"),
    (&["study", "merge"], ""),
    (&["study", "status"], ""),
    (&["study", "table"], "format"),
    (&["study", "figures"], "out"),
    (&["studio"], "port listen no-open threads"),
    (&["completions"], ""),
    (&["man"], "out"),
    (&[], "version"),
];
const DATA_OPTIONS: &str =
    "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples";
pub(crate) const GLOBAL_OPTIONS: &str = "json quiet verbose data-dir help";

/// Every setting of `fit` that has a flag: a value, the key of the resolved configuration, and what it says then.
pub(crate) const SETTINGS: &[(&str, &str, &str, &str)] = &[
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
pub(crate) const MODELS: &[&str] = &[
    "inode",
    "ilstm",
    "iss",
    "arx",
    "bnode",
    "blstm",
    "dropout-node",
    "dropout-lstm",
    "ensemble-node",
    "ensemble-lstm",
];

/// All that is in the folder of a finished fit.
pub(crate) const FIT_FILES: &[&str] = &[
    "config.toml",
    "history.csv",
    "manifest.json",
    "metrics.json",
    "model.safetensors",
    "predictions.csv",
    "report.html",
    "report.json",
];
