//! What users and scripts may rely on, as tables; [`crate::contract`] walks them.
//!
//! What is added to the program is added here: a command to [`COMMANDS`], its options to [`OPTIONS`], a file of a fit to
//! [`FIT_FILES`], a key to the shape it belongs to. It is long because it is the one place where a promise stands.

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
    ("picp_together", Number),
]);

/// What a fit was judged on.
const RECORD: Shape = Object(&[
    ("data", Text),
    ("samples", Count),
    ("test", Maybe(&Text)),
    ("test_samples", Count),
    ("learnt", List(&Text)),
    ("judged", List(&Text)),
    (
        "starts",
        List(&Object(&[
            ("samples", Count),
            ("hash", Text),
            ("learnt", Count),
            ("marks", List(&Text)),
        ])),
    ),
    ("inputs", List(&Object(&[("name", Text), ("unit", Maybe(&Text))]))),
    ("outputs", List(&Object(&[("name", Text), ("unit", Maybe(&Text))]))),
    ("sample_time", Maybe(&Number)),
]);

/// `fit --json` and `metrics.json`, with the metrics of its parts.
macro_rules! fit_shape {
    ($metrics:expr $(, $more:expr)*) => {
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
            $($more,)*
        ])
    };
}
/// What a step takes with one band of a model; memory is null in ONNX.
const BAND_COST: Shape = Object(&[
    ("members", Count),
    ("multiplications", Count),
    ("activations", Count),
    ("ram_bytes", Maybe(&Count)),
    ("flash_bytes", Maybe(&Count)),
]);
/// `export --json`; what does not belong to the target is null.
const EXPORT: Shape = Object(&[
    ("model", Text),
    ("to", Text),
    ("model_hash", Text),
    ("coverage", Number),
    ("band", Text),
    (
        "bands",
        Object(&[
            ("full", BAND_COST),
            ("light", Maybe(&BAND_COST)),
            ("light_difference", Maybe(&Settings)),
        ]),
    ),
    ("sample_time", Maybe(&Number)),
    ("past_inputs", Count),
    ("past_outputs", Count),
    ("precision", Maybe(&Text)),
    ("jacobian_states", Maybe(&Count)),
    (
        "ram_bytes",
        Maybe(&Object(&[
            ("state", Count),
            ("stack", Count),
            ("monitor", Maybe(&Count)),
        ])),
    ),
    ("flash_bytes", Maybe(&Count)),
    ("opset", Maybe(&Count)),
    ("fmi", Maybe(&Text)),
    ("binary", Maybe(&Flag)),
    ("inputs_at", Maybe(&Text)),
    ("files", List(&Text)),
]);

/// `levels` of a fit that was asked for several coverages.
const LEVELS: Shape = List(&Object(&[
    ("coverage", Number),
    ("test", Maybe(&METRICS)),
    ("validation", Maybe(&METRICS)),
]));

const FIT_AT_LEVELS: Shape = fit_shape!(METRICS, ("levels", LEVELS));
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

/// A mean over seeds in `bench table --json`.
const MEAN: Shape = Object(&[("mean", Number), ("std", Maybe(&Number))]);

/// A result of `bench run`, as it is kept in its file.
pub(crate) const BENCH_RESULT: Shape = Object(&[
    ("format", Count),
    ("benchmark", Text),
    ("protocol", Count),
    ("version", Text),
    ("asked", Text),
    ("settings", Settings),
    ("budget_seconds", Maybe(&Number)),
    ("seed", Count),
    ("data", Text),
    ("commit", Maybe(&Text)),
    ("unit", Text),
    ("coverage", Number),
    ("model", Text),
    ("members", Count),
    ("memory", Text),
    ("parameters", Count),
    ("start_outputs", Count),
    ("train_samples", Count),
    ("fit_seconds", Number),
    ("stopped_because", Text),
    ("capped_after_rounds", Maybe(&Count)),
    (
        "step",
        Maybe(&Object(&[("microseconds", Number), ("one_by_one", Flag)])),
    ),
    (
        "scores",
        List(&Object(&[
            ("test", Text),
            ("output", Text),
            ("n", Count),
            ("rmse", Maybe(&Number)),
            ("fit_percent", Maybe(&Number)),
            ("picp", Maybe(&Number)),
            ("picp_online", Maybe(&Number)),
            ("width", Maybe(&Number)),
            ("interval_score", Maybe(&Number)),
            ("crps", Maybe(&Number)),
            ("nll", Maybe(&Number)),
        ])),
    ),
]);

/// One test of `monitor`.
const MONITOR_TEST: Shape = Object(&[
    ("state", Text),
    ("evidence", Number),
    ("greatest_evidence", Number),
    ("now", Number),
    ("at_first", Number),
]);
/// `monitor --json`; its state is `ok`, `watch` or `refit`.
const MONITOR: Shape = Object(&[
    ("dataset", Text),
    ("model", Text),
    ("new_samples", Count),
    ("state", Text),
    ("samples", Count),
    ("blocks", Count),
    ("block_length", Maybe(&Count)),
    ("samples_to_start", Maybe(&Count)),
    ("false_alarm", Number),
    ("horizon", Maybe(&Count)),
    ("promised_coverage", Number),
    ("together", Flag),
    ("least_coverage", Number),
    ("watch_at", Number),
    ("refit_at", Number),
    ("extrapolated", Maybe(&Number)),
    ("recently_extrapolated", Maybe(&Number)),
    ("refit_since", Maybe(&Count)),
    (
        "outputs",
        List(&Object(&[
            ("name", Text),
            ("unit", Maybe(&Text)),
            ("coverage", Maybe(&Number)),
            ("recent_coverage", Maybe(&Number)),
            ("cause", Maybe(&Text)),
            (
                "tests",
                Object(&[
                    ("coverage", MONITOR_TEST),
                    ("level", MONITOR_TEST),
                    ("gain", MONITOR_TEST),
                    ("noise", MONITOR_TEST),
                ]),
            ),
            (
                "trend",
                List(&Object(&[
                    ("end", Count),
                    ("coverage", Number),
                    ("level", Number),
                    ("gain", Number),
                    ("noise", Number),
                    ("half_width", Number),
                    ("evidence", List(&Number)),
                ])),
            ),
        ])),
    ),
    ("reasons", List(&Text)),
    ("state_file", Maybe(&Text)),
    ("out", Maybe(&Text)),
]);
const BAND_QUALITY: Shape = Object(&[("coverage", Number), ("width", Number)]);

/// A pole.
const POLE: Shape = Object(&[
    ("re", Number),
    ("im", Number),
    ("magnitude", Number),
    ("time_constant", Maybe(&Number)),
    ("damping", Maybe(&Number)),
    ("natural_frequency", Maybe(&Number)),
]);

/// Keys of a linearisation.
macro_rules! linearisation {
    ($($more:expr),*) => {
        Object(&[
            ("model", Text),
            ("members", Count),
            ("sample_time", Maybe(&Number)),
            ("time_unit", Text),
            ("inputs", List(&Object(&[("name", Text), ("unit", Maybe(&Text))]))),
            ("outputs", List(&Object(&[("name", Text), ("unit", Maybe(&Text))]))),
            ("states", List(&Text)),
            (
                "operating_point",
                Object(&[
                    ("inputs", List(&Number)),
                    ("outputs", List(&Number)),
                    ("is_steady", Flag),
                    ("drift", List(&Number)),
                    ("is_extrapolated", Maybe(&Flag)),
                ]),
            ),
            ("a", List(&List(&Number))),
            ("b", List(&List(&Number))),
            ("c", List(&List(&Number))),
            ("d", List(&List(&Number))),
            ("poles", List(&POLE)),
            ("is_stable", Flag),
            (
                "channels",
                List(&Object(&[
                    ("input", Text),
                    ("output", Text),
                    ("delay", Count),
                    ("gain", Maybe(&Number)),
                    ("gain_range", Maybe(&List(&Number))),
                    ("zeros", List(&Object(&[("re", Number), ("im", Number)]))),
                ])),
            ),
            (
                "intervals",
                Maybe(&Object(&[
                    ("from", Text),
                    ("samples", Count),
                    ("stable_samples", Count),
                    ("a", List(&List(&List(&Number)))),
                    ("b", List(&List(&List(&Number)))),
                    ("c", List(&List(&List(&Number)))),
                    ("d", List(&List(&List(&Number)))),
                ])),
            ),
            $($more),*
        ])
    };
}
const LINEARISATION: Shape = linearisation!();
const LINEARISE: Shape = linearisation!(("notes", List(&Text)), ("out", Maybe(&Text)));

/// Answers to a change of one input.
const RESPONSE: Shape = Object(&[
    ("amplitude", Number),
    (
        "outputs",
        List(&Object(&[
            ("output", Text),
            ("rest", Number),
            ("y", List(&Number)),
            ("lower", List(&Number)),
            ("upper", List(&Number)),
            ("members", Maybe(&List(&List(&Number)))),
            (
                "figures",
                Maybe(&Object(&[
                    ("gain", Number),
                    ("rise_time", Maybe(&Number)),
                    ("settling_time", Maybe(&Number)),
                    ("overshoot", Number),
                ])),
            ),
        ])),
    ),
]);
const CORRELATION: Shape = Object(&[("first", Number), ("values", List(&Number)), ("bound", Number)]);
const COVERAGE_GROUP: Shape = Object(&[
    ("from", Number),
    ("to", Number),
    ("n", Count),
    ("inside", Maybe(&Number)),
    ("width", Maybe(&Number)),
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
            ("preparation", List(&Text)),
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
        &[
            "fit",
            "hair-dryer",
            "--model",
            "dropout-node",
            "--epochs",
            "2",
            "--coverage",
            "0.5,0.9",
            "--out",
            "levels",
        ],
        FIT_AT_LEVELS,
    ),
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
    (
        &["evaluate", "levels", "hair-dryer", "--coverage", "0.8,0.5"],
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
            ("rolling", List(&Settings)),
            ("horizons", List(&List(&Settings))),
            (
                "levels",
                List(&Object(&[
                    ("coverage", Number),
                    ("n", Count),
                    ("rmse", Number),
                    ("fit_percent", Number),
                    ("picp", Number),
                    ("pinaw", Number),
                    ("cwc", Number),
                    ("interval_score", Number),
                    ("worst_rolling_picp", Number),
                ])),
            ),
        ]),
    ),
    (&["export", "fit", "--to", "c", "--out", "step.c"], EXPORT),
    (&["export", "fit", "--to", "onnx", "--out", "step.onnx"], EXPORT),
    (
        &["export", "fit", "--to", "c", "--out", "derived.c", "--jacobian"],
        EXPORT,
    ),
    (
        &["export", "fit", "--to", "fmu", "--out", "step.fmu", "--no-binary"],
        EXPORT,
    ),
    (
        &["export", "fit", "--to", "c", "--out", "watched.c", "--monitor"],
        EXPORT,
    ),
    (
        &["export", "fit", "--to", "c", "--out", "light.c", "--band", "light"],
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
        &["compare", "fit", "fit", "--data", "hair-dryer"],
        Object(&[
            ("dataset", Text),
            (
                "fits",
                List(&Object(&[
                    ("fit", Text),
                    ("model", Text),
                    ("coverage", Number),
                    ("metrics", METRICS),
                ])),
            ),
            ("differences", List(&Text)),
        ]),
    ),
    (
        &["report", "fit"],
        Object(&[("kind", Text), ("out", Text), ("bytes", Count)]),
    ),
    (
        &[
            "fit",
            "hair-dryer",
            "--preset",
            "paper",
            "--model",
            "arx",
            "--out",
            "linear",
        ],
        FIT,
    ),
    (
        &["recalibrate", "linear", "later.csv", "--out", "renewed.safetensors"],
        Object(&[
            ("dataset", Text),
            ("model", Text),
            ("coverage", Number),
            ("new_weight", Number),
            ("old_weight", Number),
            ("new_samples", Count),
            ("new_effective_samples", Number),
            ("before", BAND_QUALITY),
            ("after", BAND_QUALITY),
            ("model_hash", Text),
            ("out", Text),
        ]),
    ),
    (
        &[
            "monitor",
            "renewed.safetensors",
            "hair-dryer",
            "--state",
            "monitor.json",
            "--out",
            "trend.html",
        ],
        MONITOR,
    ),
    (
        &[
            "update",
            "linear",
            "changed.csv",
            "--with",
            "hair-dryer",
            "--out",
            "updated",
        ],
        Object(&[
            ("dataset", Text),
            ("model", Text),
            ("coverage", Number),
            ("old", METRICS),
            ("new", METRICS),
            ("score_ratio", Number),
            ("out", Maybe(&Text)),
        ]),
    ),
    (
        &["card", "linear", "--out", "card.md"],
        Object(&[
            ("title", Text),
            (
                "sections",
                List(&Object(&[
                    ("heading", Text),
                    ("words", List(&Text)),
                    ("columns", List(&Text)),
                    ("rows", List(&List(&Text))),
                    ("commands", List(&Text)),
                ])),
            ),
            ("unknown", List(&Text)),
            ("out", Maybe(&Text)),
        ]),
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
            ("versions", List(&Text)),
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
                        "trained_for",
                        List(&Object(&[("dataset", Text), ("coverages", List(&Number))])),
                    ),
                    (
                        "chosen",
                        List(&Object(&[
                            ("dataset", Text),
                            ("models", List(&Object(&[("model", Text), ("seeds", Count)]))),
                        ])),
                    ),
                    (
                        "rows",
                        List(&Object(&[
                            ("dataset", Text),
                            ("metric", Text),
                            ("quantity", Text),
                            ("cells", List(&CELL)),
                        ])),
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
    (
        &["bench", "list", "--data-dir", "files"],
        Object(&[
            ("data_dir", Maybe(&Text)),
            (
                "benchmarks",
                List(&Object(&[
                    ("name", Text),
                    ("title", Text),
                    ("protocol", Count),
                    ("unit", Text),
                    ("unscored", Count),
                    ("train", List(&Text)),
                    ("tests", List(&Text)),
                    ("outputs", List(&Text)),
                    ("files", List(&Text)),
                    ("home", Text),
                    ("published", Count),
                    ("available", Flag),
                ])),
            ),
        ]),
    ),
    (
        &[
            "bench",
            "run",
            "cascaded-tanks",
            "--data-dir",
            "files",
            "--model",
            "arx",
            "--budget",
            "3s",
            "--out",
            "bench",
        ],
        Object(&[
            ("done", Count),
            ("skipped", Count),
            ("results", List(&BENCH_RESULT)),
            ("out", Text),
        ]),
    ),
    (
        &["bench", "table", "bench"],
        Object(&[(
            "benchmarks",
            List(&Object(&[
                ("benchmark", Text),
                ("title", Text),
                ("protocol", Count),
                ("outdated", Flag),
                ("home", Text),
                ("unscored", Maybe(&Count)),
                ("unit", Text),
                ("targets", List(&Object(&[("test", Text), ("output", Text)]))),
                ("headings", List(&Text)),
                (
                    "ours",
                    List(&Object(&[
                        ("label", Text),
                        ("seeds", List(&Count)),
                        ("version", Text),
                        ("commits", List(&Text)),
                        ("coverage", Number),
                        ("models", List(&Text)),
                        (
                            "scores",
                            List(&Object(&[
                                ("test", Text),
                                ("output", Text),
                                ("rmse", Maybe(&MEAN)),
                                ("fit_percent", Maybe(&MEAN)),
                                ("picp", Maybe(&MEAN)),
                                ("picp_online", Maybe(&MEAN)),
                                ("width", Maybe(&MEAN)),
                                ("interval_score", Maybe(&MEAN)),
                                ("crps", Maybe(&MEAN)),
                                ("nll", Maybe(&MEAN)),
                                ("diverged", Count),
                            ])),
                        ),
                        ("fit_seconds", Maybe(&MEAN)),
                        ("step_microseconds", Maybe(&MEAN)),
                        ("parameters", Maybe(&MEAN)),
                    ])),
                ),
                (
                    "published",
                    List(&Object(&[
                        ("method", Text),
                        ("source", Maybe(&Text)),
                        ("checked", Flag),
                        ("rmse", List(&Maybe(&Number))),
                    ])),
                ),
            ])),
        )]),
    ),
    (
        &["linearise", "fit", "--at", "u=5,y=4.5", "--out", "linear.mat"],
        LINEARISE,
    ),
    (
        &[
            "analyse",
            "fit",
            "--at",
            "u=5,y=4.5",
            "--data",
            "hair-dryer",
            "--part",
            "test",
            "--out",
            "analysis.html",
            "--excite",
            "next.csv",
        ],
        Object(&[
            ("model", Text),
            ("dataset", Maybe(&Text)),
            ("linearisation", LINEARISATION),
            (
                "frequency_response",
                Maybe(&Object(&[
                    ("frequency_unit", Text),
                    ("frequency", List(&Number)),
                    (
                        "channels",
                        List(&Object(&[
                            ("input", Text),
                            ("output", Text),
                            ("magnitude", List(&Number)),
                            ("phase", List(&Number)),
                            ("real", List(&Number)),
                            ("imaginary", List(&Number)),
                            (
                                "band",
                                Maybe(&Object(&[
                                    ("magnitude", List(&List(&Number))),
                                    ("phase", List(&List(&Number))),
                                ])),
                            ),
                            (
                                "certified",
                                Maybe(&Object(&[
                                    ("magnitude", List(&List(&Maybe(&Number)))),
                                    ("phase", List(&List(&Maybe(&Number)))),
                                    ("proven", Count),
                                ])),
                            ),
                            (
                                "measured",
                                Maybe(&Object(&[
                                    ("frequency", List(&Number)),
                                    ("magnitude", List(&Number)),
                                    ("phase", List(&Number)),
                                    ("coherence", List(&Number)),
                                    ("deviation", List(&Number)),
                                    ("pieces", Count),
                                ])),
                            ),
                        ])),
                    ),
                ])),
            ),
            (
                "responses",
                List(&Object(&[
                    ("input", Text),
                    ("time_unit", Text),
                    ("time", List(&Number)),
                    ("steps", List(&RESPONSE)),
                    ("pulses", List(&RESPONSE)),
                ])),
            ),
            (
                "static_curves",
                List(&Object(&[
                    ("input", Text),
                    ("range", Text),
                    ("others", List(&Object(&[("input", Text), ("value", Number)]))),
                    ("u", List(&Number)),
                    (
                        "outputs",
                        List(&Object(&[
                            ("output", Text),
                            ("y", List(&Maybe(&Number))),
                            ("lower", List(&Maybe(&Number))),
                            ("upper", List(&Maybe(&Number))),
                            ("gain", List(&Maybe(&Number))),
                        ])),
                    ),
                ])),
            ),
            (
                "residuals",
                List(&Object(&[
                    ("output", Text),
                    ("n", Count),
                    ("mean", Number),
                    ("std", Number),
                    ("errors", List(&Number)),
                    ("measured", List(&Number)),
                    ("simulated", List(&Number)),
                    (
                        "histogram",
                        Object(&[
                            ("middle", List(&Number)),
                            ("density", List(&Number)),
                            ("normal", List(&Number)),
                            ("beyond", Count),
                        ]),
                    ),
                    (
                        "spectrum",
                        Maybe(&Object(&[("frequency", List(&Number)), ("power", List(&Number))])),
                    ),
                    ("autocorrelation", CORRELATION),
                    (
                        "cross",
                        List(&Object(&[
                            ("input", Text),
                            ("first", Number),
                            ("values", List(&Number)),
                            ("bound", Number),
                        ])),
                    ),
                    ("by_time", List(&COVERAGE_GROUP)),
                    ("by_amplitude", List(&COVERAGE_GROUP)),
                    ("by_region", Maybe(&List(&COVERAGE_GROUP))),
                ])),
            ),
            (
                "ahead",
                List(&Object(&[
                    ("horizon", Maybe(&Count)),
                    ("fit_percent", List(&Maybe(&Number))),
                ])),
            ),
            (
                "widths",
                List(&Object(&[
                    ("output", Text),
                    ("sample", List(&Count)),
                    ("half_width", List(&Number)),
                    ("extrapolated", Maybe(&List(&Flag))),
                    (
                        "parts",
                        List(&Object(&[
                            ("name", Text),
                            ("mean", Number),
                            ("where_wide", Number),
                            ("share", List(&Number)),
                        ])),
                    ),
                    ("calibration", Number),
                    ("words", Text),
                ])),
            ),
            (
                "next",
                Maybe(&Object(&[
                    (
                        "inputs",
                        List(&Object(&[
                            ("input", Text),
                            (
                                "parts",
                                List(&Object(&[
                                    ("from", Number),
                                    ("to", Number),
                                    ("share", Number),
                                    ("width", Maybe(&Number)),
                                    ("is_rare", Flag),
                                    ("is_wide", Flag),
                                ])),
                            ),
                        ])),
                    ),
                    (
                        "frequencies",
                        List(&Object(&[
                            ("output", Text),
                            ("from", Number),
                            ("to", Number),
                            ("coherence", Number),
                        ])),
                    ),
                    ("words", List(&Text)),
                ])),
            ),
            ("excite", Maybe(&Text)),
            ("figures", Maybe(&Text)),
            ("notes", List(&Text)),
            ("out", Maybe(&Text)),
        ]),
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
    (
        &["data", "show"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples fill-gaps clip-spikes decimate detrend",
    ),
    (
        &["fit"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples out force preset model strategy margin coverage \
         lags hidden states initial epochs batch lr seed precision threads budget calibrate config print-config test refit-all output-range together fill-gaps clip-spikes decimate detrend",
    ),
    (
        &["predict"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples part online state horizon initial-output start-from allow-divergence out plot coverage band",
    ),
    (
        &["evaluate"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples part online horizon require-coverage out coverage band",
    ),
    (&["explain"], "out"),
    (
        &["export"],
        "to out precision jacobian monitor false-alarm block fmi no-binary force band",
    ),
    (
        &["compare"],
        "out data input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples",
    ),
    (&["report"], "out"),
    (
        &["monitor"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples horizon false-alarm block state follow out",
    ),
    (
        &["recalibrate"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples weight out",
    ),
    (&["card"], "data-licence out"),
    (
        &["update"],
        "input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples with out",
    ),
    (&["demo"], "out epochs"),
    (&["study", "run"], "out jobs shard print"),
    (&["study", "merge"], ""),
    (&["study", "status"], ""),
    (&["study", "table"], "format"),
    (&["study", "figures"], "out"),
    (&["bench", "list"], ""),
    (
        &["bench", "run"],
        "out again seed model preset budget coverage epochs threads config",
    ),
    (&["bench", "table"], "format"),
    (&["linearise"], "at out"),
    (
        &["analyse"],
        "at amplitude data part excite excite-samples limit figures out input output experiment time resample sample-time split delimiter decimal skip-rows unit missing max-samples",
    ),
    (&["studio"], "port listen no-open threads"),
    (&["completions"], ""),
    (&["man"], "out"),
    (&[], "version"),
];
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
