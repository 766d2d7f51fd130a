//! A model on data that are not what it takes them for: put right, refused, or told of.

use std::fmt::Write as _;

use crate::support::{Folder, csv, plain, record};

const FIT: [&str; 4] = ["--model", "arx", "--lags", "1,0,2"];

/// Exit code, and both streams.
fn code(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let output = folder.run(arguments);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code().expect("an exit code"), text.concat())
}

/// A plant with two inputs of which the second counts for less, under these names.
fn two_inputs(samples: usize, names: &str) -> String {
    let mut text = format!("{names}\n");
    let all = record(samples + 7);
    let mut y = 0.0;
    for (first, second) in all.iter().zip(&all[7..]) {
        let _ = writeln!(text, "{:.4},{:.4},{y:.4}", first.0, second.0);
        y = 0.7 * y + first.0 - 0.3 * second.0;
    }
    text
}

#[test]
fn channels_by_their_own_names_come_in_any_order() {
    let folder = Folder::new();
    folder.write("m.csv", two_inputs(300, "pump1 [V],pump2 [V],level"));
    folder.write("other.csv", two_inputs(300, "p1,p2,level"));
    folder.write("mixed.csv", two_inputs(300, "pump2,x,level"));
    let fit = [
        "fit",
        "m.csv",
        "--input",
        "pump1,pump2",
        "--output",
        "level",
        "--out",
        "m",
        "--json",
    ];
    folder.json(&[&fit[..], &FIT].concat());
    let known = folder.json(&["evaluate", "m", "m.csv", "--json"]);
    for (file, names) in [
        ("m.csv", "pump1,pump2"),
        ("m.csv", "pump2,pump1"),
        ("m.csv", "pump2 [V],pump1 [V]"),
        ("other.csv", "p1,p2"),
    ] {
        let found = folder.json(&["evaluate", "m", file, "--input", names, "--json"]);
        assert_eq!(found["rmse"], known["rmse"], "{names}");
    }
    let planned = |names: &[&str]| {
        let plan = ["predict", "m", "m.csv", "--initial-output", "0", "--json"];
        folder.json(&[&plan[..], names].concat())["predictions"][0]["y_hat"].clone()
    };
    assert_eq!(planned(&["--input", "pump2,pump1"]), planned(&[]));
    for command in [
        &["evaluate", "m", "mixed.csv"][..],
        &["monitor", "m", "mixed.csv"],
        &["recalibrate", "m", "mixed.csv", "--out", "new.safetensors"],
        &["predict", "m", "mixed.csv", "--initial-output", "0"],
    ] {
        let (status, text) = code(&folder, &[command, &["--input", "pump2,x"]].concat());
        let words =
            "--input pump2,x: 'pump2' stands at the place of 'pump1', and the model has a channel 'pump2' of its own";
        assert!(status == 2 && text.contains(words), "{text}");
    }
}

#[test]
fn a_plan_in_other_units_is_refused() {
    let folder = Folder::new();
    let write = |name: &str, header: &str, samples: usize| {
        let rows = record(samples).into_iter();
        let rows: String = rows.map(|(u, y)| format!("{u:.4},{y:.4}\n")).collect();
        folder.write(name, format!("{header}\n{rows}"));
    };
    write("a.csv", "u [V],y [m]", 300);
    write("volts.csv", "u [V],y [m]", 50);
    write("bare.csv", "u,y", 50);
    write("millivolts.csv", "u [mV],y [m]", 50);
    folder.json(&[&["fit", "a.csv", "--out", "m", "--json"], &FIT[..]].concat());
    for past in [["--initial-output", "0"], ["--start-from", "a.csv"]] {
        let plan = |file: &str, more: &[&str]| code(&folder, &[&["predict", "m", file], &past[..], more].concat());
        let (status, known) = plan("volts.csv", &[]);
        assert_eq!(status, 0, "{known}");
        assert_eq!(plan("bare.csv", &[]), (0, known.clone()));
        assert_eq!(plan("millivolts.csv", &["--unit", "u=V"]), (0, known));
        let (status, text) = plan("millivolts.csv", &[]);
        assert!(
            status == 2 && text.contains("the model takes 'u' in V, the data have it in mV"),
            "{text}"
        );
    }
}

#[test]
fn a_plan_goes_on_where_the_recording_ends() {
    let folder = Folder::new();
    let date = |minute: usize| format!("2024-03-01 {:02}:{:02}:00", minute / 60, minute % 60);
    let seconds = |minute: usize| format!("{}", 60 * minute);
    let timed = |from: usize, samples: usize, time: &dyn Fn(usize) -> String| {
        let rows = record(samples).into_iter().enumerate();
        let rows = rows.map(|(k, (u, y))| format!("{},{u:.4},{y:.4}\n", time(from + k)));
        format!("time,u,y\n{}", rows.collect::<String>())
    };
    folder.write("a.csv", timed(0, 300, &date));
    folder.write("next.csv", timed(300, 20, &date));
    folder.write("later.csv", timed(310, 20, &date));
    folder.write("overlap.csv", timed(299, 20, &date));
    folder.write("past.csv", timed(0, 300, &seconds));
    folder.write("own-clock.csv", timed(0, 20, &seconds));
    folder.json(&[&["fit", "a.csv", "--out", "m", "--json"], &FIT[..]].concat());
    let plan = |file: &str, past: &str| code(&folder, &["predict", "m", file, "--start-from", past]);
    for (file, past) in [("next.csv", "a.csv"), ("own-clock.csv", "a.csv")] {
        let (status, text) = plan(file, past);
        assert!(status == 0 && !text.contains("warning"), "{text}");
    }
    let (status, text) = plan("later.csv", "a.csv");
    let words = "warning: later starts at 2024-03-01T05:10:00, expected 2024-03-01T05:00:00: a.csv ends at 2024-03-01T04:59:00; the plan is \
                 simulated as if it followed at once";
    assert!(status == 0 && text.contains(words), "{text}");
    let (status, text) = plan("own-clock.csv", "past.csv");
    assert!(
        status == 0 && text.contains("own-clock starts at 0, expected 18000"),
        "{text}"
    );
    let (status, text) = plan("overlap.csv", "a.csv");
    assert!(
        status == 2 && text.contains("overlap starts at 2024-03-01T04:59:00"),
        "{text}"
    );
    // Over midnight, and on the next day.
    let of_day = |minute: usize| format!("{:02}:{:02}:00", (minute + 1300) / 60 % 24, (minute + 1300) % 60);
    for (name, samples) in [("evening", 140), ("night", 200)] {
        folder.write(&format!("{name}.csv"), timed(0, samples, &of_day));
        folder.write(&format!("{name}-plan.csv"), timed(samples, 20, &of_day));
        let (status, text) = plan(&format!("{name}-plan.csv"), &format!("{name}.csv"));
        assert!(status == 0 && !text.contains("warning"), "{text}");
    }
    let (status, text) = plan("night-plan.csv", "evening.csv");
    assert!(
        status == 0 && text.contains("starts at 01:00:00, expected 00:00:00"),
        "{text}"
    );
}

#[test]
fn a_plan_and_its_past_have_the_columns_that_are_asked_for() {
    let folder = Folder::new();
    let write = |name: &str, header: &str, samples: usize| {
        let rows = record(samples).into_iter();
        let rows: String = rows.map(|(u, y)| format!("{u:.4},{y:.4},0.5\n")).collect();
        folder.write(name, format!("{header}\n{rows}"));
    };
    write("a.csv", "u,y,z", 300);
    // Columns of the model's names that hold something else.
    write("renamed.csv", "valve,level,u", 300);
    folder.json(&[&["fit", "a.csv", "--out", "m", "--json"], &FIT[..]].concat());
    let known = folder.json(&["predict", "m", "a.csv", "--start-from", "a.csv", "--json"]);
    let renamed = ["--input", "valve", "--output", "level", "--json"];
    let plan = ["predict", "m", "renamed.csv", "--start-from", "renamed.csv"];
    let found = folder.json(&[&plan[..], &renamed].concat());
    assert_eq!(found["predictions"][0]["y_hat"], known["predictions"][0]["y_hat"]);
}

#[test]
fn a_part_that_the_model_may_have_seen_is_told_of() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    let fit = [
        "fit",
        "a.csv",
        "--split",
        "0.3,0.1,0.6",
        "--refit-all",
        "--out",
        "m",
        "--json",
    ];
    folder.json(&[&fit[..], &FIT].concat());
    let of = |name: &str| folder.path().join(name);
    std::fs::copy(of("m/model.safetensors"), of("alone.safetensors")).expect("copied");
    for command in ["predict", "evaluate", "analyse"] {
        let on = |model: &str, more: &[&str]| {
            let data = if command == "analyse" {
                &["--data", "a.csv"][..]
            } else {
                &["a.csv"]
            };
            let (status, text) = code(&folder, &[&[command, model], data, &["--part", "test"], more].concat());
            assert_eq!(status, 0, "{text}");
            text
        };
        let alone = on("alone.safetensors", &[]);
        let words = "nor a config.toml beside it knows the split of the fit: the parts are those of 0.6,0.1,0.3";
        assert!(alone.contains(words), "{alone}");
        let everything = on("m/model-all.safetensors", &[]);
        assert!(
            everything.contains("was fitted to all parts of its record"),
            "{everything}"
        );
        for text in [on("m", &[]), on("alone.safetensors", &["--split", "0.3,0.1,0.6"])] {
            assert!(!text.contains("warning"), "{text}");
        }
    }
}

#[test]
fn recordings_too_short_to_start_are_named() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    folder.write("brief.csv", csv(2, plain));
    folder.json(&[&["fit", "a.csv", "--out", "m", "--json"], &FIT[..]].concat());
    for command in [
        &["predict", "m"][..],
        &["predict", "m", "--horizon", "2"],
        &["monitor", "m"],
        &["evaluate", "m"],
    ] {
        let (status, text) = code(&folder, &[command, &["a.csv", "brief.csv"]].concat());
        let words = "warning: a: left out, too short for the model to start: 'brief' (2 samples)";
        assert!(status == 0 && text.contains(words), "{text}");
        let (status, text) = code(&folder, &[command, &["a.csv"]].concat());
        assert!(status == 0 && !text.contains("left out"), "{text}");
    }
}

#[test]
fn a_plan_goes_on_after_the_last_row_of_a_recording_that_is_thinned_out() {
    let folder = Folder::new();
    // A slow plant under slow inputs, of which every eighth sample tells enough.
    let mut y = 0.0;
    let rows = (0..2000).map(|k| {
        let t = f64::from(k);
        let u = (t / 31.0).sin() + (t / 47.0 + 1.0).sin() + 0.5 * (t / 19.0 + 2.0).sin();
        let row = (u, y);
        y += 0.05 * (u - y);
        row
    });
    let rows: Vec<(f64, f64)> = rows.collect();
    let write = |name: &str, rows: &[(f64, f64)]| {
        let rows: String = rows.iter().map(|(u, y)| format!("{u:.6},{y:.6}\n")).collect();
        folder.write(name, format!("u,y\n{rows}"));
    };
    write("a.csv", &rows);
    let fit = [
        "--model",
        "arx",
        "--lags",
        "2,0,2",
        "--decimate",
        "8",
        "--quiet",
        "--out",
        "m",
    ];
    assert!(folder.run(&[&["fit", "a.csv"], &fit[..]].concat()).status.success());
    for samples in 1000..=1008 {
        write("past.csv", &rows[..samples]);
        write("plan.csv", &rows[samples..samples + 400]);
        let arguments = [
            "predict",
            "m",
            "plan.csv",
            "--start-from",
            "past.csv",
            "--json",
            "--quiet",
        ];
        let planned = folder.json(&arguments);
        let planned = &planned["predictions"][0];
        assert_eq!(planned["first"], 1);
        let y_hat = planned["y_hat"].as_array().expect("numbers");
        let errors = y_hat.iter().take(4).enumerate().map(|(step, y_hat)| {
            let measured = rows[samples + 8 * step].1;
            (y_hat.as_f64().expect("a number") - measured).abs()
        });
        let worst = errors.fold(0.0, f64::max);
        assert!(worst < 0.015, "after {samples} samples: {worst}");
    }
    // Too few for a model that takes every eighth.
    write("past.csv", &rows[..7]);
    let (status, text) = code(&folder, &["predict", "m", "plan.csv", "--start-from", "past.csv"]);
    assert!(status == 2 && text.contains("its last stretch has 0 samples"), "{text}");
}

#[test]
fn units_of_outputs_are_for_the_recording_before_a_plan() {
    let folder = Folder::new();
    let write = |name: &str, header: &str, samples: usize| {
        let rows = record(samples).into_iter();
        let rows: String = rows.map(|(u, y)| format!("{u:.4},{y:.4}\n")).collect();
        folder.write(name, format!("{header}\n{rows}"));
    };
    write("a.csv", "u [V],y [m]", 300);
    write("bare.csv", "u,y", 300);
    folder.json(&[&["fit", "a.csv", "--out", "m", "--json"], &FIT[..]].concat());
    let plan = |more: &[&str]| code(&folder, &[&["predict", "m", "bare.csv"], more].concat());
    let start = ["--start-from", "bare.csv"];
    let (status, known) = plan(&start);
    assert_eq!(status, 0, "{known}");
    assert_eq!(
        plan(&[&start[..], &["--unit", "y=m", "--unit", "u=V"]].concat()),
        (0, known)
    );
    assert_eq!(plan(&["--initial-output", "0", "--unit", "y=m"]).0, 0);
    for (unit, words) in [("y=mm", "the model takes 'y' in m"), ("z=m", "no channel 'z'")] {
        let (status, text) = plan(&[&start[..], &["--unit", unit]].concat());
        assert!(status == 2 && text.contains(words), "{text}");
    }
}

#[test]
fn what_measured_outputs_led_is_no_prediction_in_json_either() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    let fit = [
        "fit",
        "a.csv",
        "--model",
        "arx",
        "--lags",
        "1,0,2",
        "--initial",
        "warmup:25",
        "--out",
        "m",
        "--quiet",
    ];
    assert!(folder.run(&fit).status.success());
    let json = folder.json(&["predict", "m", "a.csv", "--online", "--json"]);
    let one = &json["predictions"][0];
    let text = folder.run(&["predict", "m", "a.csv"]).stdout;
    let text = String::from_utf8(text).expect("text");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let first: u64 = rows[0]
        .split(',')
        .next()
        .and_then(|cell| cell.parse().ok())
        .expect("a number");
    assert_eq!(one["first"], first);
    for name in ["y_hat", "y_lower", "y_upper", "y_lower_online", "extrapolated"] {
        assert_eq!(one[name].as_array().map(Vec::len), Some(rows.len()), "{name}");
    }
    assert_eq!(json["metrics"]["n"], rows.len());
}

#[test]
fn a_state_without_an_online_band_is_refused() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    let fit = [
        "fit", "a.csv", "--model", "arx", "--lags", "1,0,2", "--out", "m", "--quiet",
    ];
    assert!(folder.run(&fit).status.success());
    for more in [
        &["--initial-output", "1"][..],
        &["--start-from", "a.csv"],
        &["--horizon", "3"],
        &[],
    ] {
        let (status, text) = code(&folder, &[&["predict", "m", "a.csv", "--state", "s"], more].concat());
        assert!(status == 2 && !folder.path().join("s").exists(), "{more:?}: {text}");
    }
}

/// Batches that begin anywhere, one after the other, with the number of each in a column.
fn batches(numbers: std::ops::Range<usize>, column: &str) -> String {
    let mut text = format!("u,y{column}\n");
    for batch in numbers {
        let mut y = if batch % 2 == 0 { 3.0 } else { -3.0 };
        for (u, _) in &record(60 * (batch + 1))[60 * batch..] {
            let number = if column.is_empty() {
                String::new()
            } else {
                format!(",{batch}")
            };
            let _ = writeln!(text, "{u:.4},{y:.4}{number}");
            y = 0.8 * y + 0.5 * u;
        }
    }
    text
}

#[test]
fn a_model_of_several_experiments_tells_them_apart_in_new_data() {
    let folder = Folder::new();
    folder.write("train.csv", batches(0..8, ",batch"));
    folder.write("new.csv", batches(8..12, ",batch"));
    folder.write("one.csv", batches(8..9, ""));
    let fit = [
        "fit",
        "train.csv",
        "--experiment",
        "batch",
        "--initial",
        "measured",
        "--out",
        "m",
        "--quiet",
    ];
    let (status, text) = code(&folder, &[&fit[..], &FIT].concat());
    assert_eq!(status, 0, "{text}");
    let rmse = |options: &[&str]| {
        let (status, text) = code(&folder, &[&["evaluate", "m", "new.csv", "--json"], options].concat());
        assert_eq!(status, 0, "{text}");
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        report["rmse"].as_f64().expect("a number")
    };
    let apart = rmse(&[]);
    assert!(apart.total_cmp(&rmse(&["--experiment", "batch"])).is_eq());
    assert!(apart < 1e-3 && rmse(&["--experiment", ""]) > 0.1, "{apart}");
    // Of a model that was sized again as well, and a recording of one run needs no such column.
    assert_eq!(
        code(&folder, &["recalibrate", "m", "new.csv", "--out", "r.safetensors"]).0,
        0
    );
    for model in ["m", "r.safetensors"] {
        let (status, text) = code(&folder, &["monitor", model, "new.csv"]);
        assert!(status == 0 && !text.contains(": refit"), "{model}: {text}");
        assert_eq!(code(&folder, &["predict", model, "one.csv"]).0, 0, "{model}");
    }
}

#[test]
fn a_mark_among_inputs_is_told_of() {
    let folder = Folder::new();
    folder.write("train.csv", csv(300, plain));
    folder.write(
        "twice.csv",
        csv(300, |_, column, value| {
            format!("{:.4}", if column == 'u' { 2.0 * value } else { value })
        }),
    );
    let mark = |row: usize, column: char, value: f64| match (row, column) {
        (100, 'u') => "-99".to_owned(),
        _ => format!("{value:.4}"),
    };
    folder.write("marked.csv", csv(300, mark));
    let (status, text) = code(
        &folder,
        &[&["fit", "train.csv", "--out", "m", "--quiet"], &FIT[..]].concat(),
    );
    assert_eq!(status, 0, "{text}");
    for command in ["predict", "evaluate"] {
        let (status, text) = code(&folder, &[command, "m", "marked.csv"]);
        assert!(
            status == 0 && text.contains("'u' is -99 at sample 100, where the training data lie between"),
            "{text}"
        );
        assert!(!code(&folder, &[command, "m", "twice.csv"]).1.contains("a mark"));
    }
    // A plan counts its own rows.
    let plan = (1..30).map(|k| if k == 3 { "-99\n".to_owned() } else { format!("0.{k}\n") });
    folder.write("plan.csv", format!("u\n{}", plan.collect::<String>()));
    let text = code(&folder, &["predict", "m", "plan.csv", "--start-from", "marked.csv"]).1;
    assert!(text.contains("'u' is -99 at sample 3,"), "{text}");
    // A limit of the command line is no setting of a file.
    let (status, text) = code(&folder, &["monitor", "m", "train.csv", "--block", "3"]);
    assert!(status == 2 && !text.contains("--config"), "{text}");
}
