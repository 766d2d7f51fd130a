//! The outside of the program, walked: every command and option, every key of every JSON object, every file of a fit,
//! as [`crate::promised`] has them.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::promised::{COMMANDS, FIT, FIT_FILES, FIT_OF_SEVERAL, GLOBAL_OPTIONS, MODELS, OPTIONS, SERVERS, SETTINGS};
use crate::shape::Shape;
use crate::support::{Folder, csv, plain};

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
    crate::bench::tanks(&folder);
    folder.write("changed.csv", csv(400, plain));
    // The second half of the built-in record, under a header.
    let record = include_str!("../../../data/datasets/hair_dryer.csv");
    let lines: Vec<&str> = record.lines().collect();
    folder.write("later.csv", [&lines[..1], &lines[501..]].concat().join("\n"));
    for &(arguments, shape) in COMMANDS {
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
    for &(command, own) in OPTIONS {
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
    for group in [&[][..], &["data"], &["study"], &["bench"]] {
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
    let walked = COMMANDS.iter().chain(SERVERS);
    let walked: BTreeSet<&[&str]> = walked.map(|(arguments, _)| *arguments).collect();
    for &(command, _) in OPTIONS {
        assert!(
            walked.iter().any(|arguments| arguments.starts_with(command)),
            "{command:?} is not walked"
        );
    }
}

#[test]
fn every_setting_of_a_fit_reaches_the_resolved_configuration() {
    let folder = Folder::new();
    let plain = folder.json(&["fit", "hair-dryer", "--preset", "paper", "--print-config", "--json"]);
    for &(flag, value, key, expected) in SETTINGS {
        let resolved = folder.json(&["fit", "hair-dryer", "--print-config", "--json", flag, value]);
        assert_eq!(resolved[key].to_string(), expected, "{flag} {value}");
        assert!(plain.get(key).is_some(), "{key}");
    }
    for &model in MODELS {
        let resolved = folder.json(&["fit", "hair-dryer", "--print-config", "--json", "--model", model]);
        assert_eq!(resolved["model"], model);
    }
    // Only an iss has states, so that asking for some asks for one.
    let resolved = folder.json(&["fit", "hair-dryer", "--print-config", "--json", "--states", "3"]);
    assert_eq!((&resolved["states"], &resolved["model"]), (&3.into(), &"iss".into()));
    assert_eq!(
        folder
            .run(&["fit", "hair-dryer", "--model", "inode", "--states", "3"])
            .status
            .code(),
        Some(2)
    );
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
    // These say how long it took and where it is written.
    let differ = ["manifest.json", "metrics.json", "report.html", "report.json"];
    for file in FIT_FILES.iter().filter(|file| !differ.contains(file)) {
        let [one, two] = ["1", "2"].map(|threads| fs::read(folder.path().join(format!("threads-{threads}/{file}"))));
        assert!(one.expect("written") == two.expect("written"), "{file}");
    }
    let json = |threads: &str, file: &str| -> Value {
        serde_json::from_str(&read(&folder, &format!("threads-{threads}/{file}"))).expect("JSON")
    };
    let [one, two] = ["1", "2"].map(|threads| json(threads, "metrics.json"));
    assert_eq!((&one["test"], &one["validation"]), (&two["test"], &two["validation"]));
    let [one, two] = ["1", "2"].map(|threads| {
        let mut page = json(threads, "report.json");
        page["train_seconds"].take();
        page["commands"].take();
        page
    });
    assert!(one == two, "the page shows the same");
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

#[test]
fn a_simd_level_that_does_not_exist_is_a_usage_error() {
    let folder = Folder::new();
    let run = |level: &str| {
        let mut command = folder.command(&["data", "list"]);
        command
            .env("INTERVALID_SIMD", level)
            .output()
            .expect("the program runs")
    };
    assert_eq!(run("baseline").status.code(), Some(0));
    let output = run("sse9");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: INTERVALID_SIMD must be baseline, avx2 or avx512, found 'sse9'\n"
    );
}

#[test]
fn a_coverage_can_be_of_all_outputs_together() {
    let folder = Folder::new();
    let lines = csv(400, plain);
    let rows = lines.lines().skip(1).enumerate().map(|(k, line)| {
        // Another output with noise of its own.
        let y: f64 = line
            .split(',')
            .nth(1)
            .and_then(|cell| cell.parse().ok())
            .expect("a number");
        let noise = 0.2 * ((k * k) as f64).sin();
        format!("{line},{:.4}\n", 2.0 * y + noise)
    });
    folder.write("plant.csv", format!("u,level,flow\n{}", rows.collect::<String>()));
    let fit = |out: &str, more: &[&str]| {
        let arguments = [
            "fit",
            "plant.csv",
            "--output",
            "level,flow",
            "--model",
            "arx",
            "--json",
            "--out",
            out,
        ];
        folder.json(&[&arguments[..], more].concat())
    };
    let of_each = fit("each", &[]);
    let together = fit("together", &["--together"]);
    let share = |fit: &Value| fit["test"]["picp_together"].as_f64().expect("a share");
    let width = |fit: &Value, name: &str| fit["test"]["pinaw"][name].as_f64().expect("a width");
    assert!(
        share(&together) >= share(&of_each),
        "{} {}",
        share(&together),
        share(&of_each)
    );
    assert!(share(&of_each) <= of_each["test"]["picp"]["flow"].as_f64().expect("a share"));
    assert!(
        ["level", "flow"]
            .iter()
            .all(|name| width(&together, name) > width(&of_each, name))
    );
    // What was asked is known later, and can be asked again.
    let again = folder.json(&[
        "fit",
        "plant.csv",
        "--output",
        "level,flow",
        "--config",
        "together/config.toml",
        "--print-config",
        "--json",
    ]);
    assert_eq!(again["together"], true);
    let strict = ["evaluate", "together", "plant.csv", "--require-coverage", "0.9999"];
    let output = folder.run(&strict);
    assert_eq!(output.status.code(), Some(3));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("of the samples of all outputs together"), "{message}");
    // A band that nothing sizes cannot hold all outputs.
    let output = folder.run(&[
        "fit",
        "plant.csv",
        "--output",
        "level,flow",
        "--together",
        "--epochs",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--calibrate"));
}
