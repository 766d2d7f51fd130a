//! `export`: what is written and said, and what is refused. The numbers of the exported code are tested in `crates/deploy`.

use std::fs;

use insta::assert_snapshot;

use crate::support::{Folder, csv, plain, record};

/// A folder with fits `net` (inode), `line` (arx) and `drop` (a baseline).
fn fitted() -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", csv(200, plain));
    for (model, out) in [("inode", "net"), ("arx", "line"), ("dropout-node", "drop")] {
        let mut arguments = vec![
            "fit",
            "data.csv",
            "--model",
            model,
            "--quiet",
            "--out",
            out,
            "--sample-time",
            "0.5",
        ];
        arguments.extend(["--lags", "2,1,2"]);
        if model != "arx" {
            arguments.extend(["--preset", "paper", "--epochs", "1", "--hidden", "4,3"]);
        }
        let output = folder.run(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    folder
}

/// Names in a folder, to see that nothing is left behind.
fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Hashes depend on the last bits of a fit, and so do small differences.
fn without_hash(text: &str) -> String {
    let lines = text.lines().map(|line| {
        match (
            line.split_once("model hash "),
            line.split_once("on the data of the fit): "),
        ) {
            (Some((before, hash)), _) if hash.len() == 64 => format!("{before}model hash (64 digits)"),
            (_, Some((before, _))) => format!("{before}on the data of the fit): (a number per output)"),
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn what_is_written_and_said() {
    let folder = fitted();
    let mut text = String::new();
    for arguments in [
        ["export", "net", "--to", "c", "--out", "step.c"].as_slice(),
        &["export", "line", "--to", "c", "--out", "line.c", "--precision", "float"],
        &["export", "net", "--to", "onnx", "--out", "net.onnx"],
        &[
            "export",
            "line",
            "--to",
            "onnx",
            "--out",
            "line.onnx",
            "--precision",
            "double",
        ],
        &["export", "net", "--to", "fmu", "--out", "net.fmu", "--no-binary"],
    ] {
        text.push_str(&without_hash(&folder.transcript(arguments)));
    }
    assert_snapshot!(text);
    let parts = ["net.onnx", "net_init.onnx", "net_simulate.onnx"];
    for name in ["step.h", "step.c", "line.h", "line.c", "net.fmu"].iter().chain(&parts) {
        assert!(names(&folder).contains(&(*name).to_owned()), "{name}");
    }
    let header = fs::read_to_string(folder.path().join("step.h")).unwrap();
    assert!(
        header.contains("0.5 s between two calls") && header.contains("not a guarantee"),
        "{header}"
    );
    let hash = folder.json(&["export", "net", "--to", "c", "--out", "again.c", "--json"])["model_hash"].clone();
    assert!(header.contains(hash.as_str().unwrap()));
    // The same model gives the same bytes.
    let files = ["step.c", "again.c"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    assert_eq!(files[0], files[1].replace("again", "step").replace("AGAIN", "STEP"));
}

#[test]
fn the_light_band_takes_less_and_is_the_one_that_predict_has() {
    let folder = fitted();
    for target in ["c", "onnx", "fmu"] {
        let out = format!("light.{target}");
        let mut arguments = vec![
            "export", "line", "--to", target, "--out", &out, "--band", "light", "--json",
        ];
        if target == "fmu" {
            arguments.push("--no-binary");
        }
        let said = folder.json(&arguments);
        assert_eq!(said["band"], "light", "{said}");
        let (full, light) = (&said["bands"]["full"], &said["bands"]["light"]);
        assert_eq!(
            (full["members"].as_u64(), light["members"].as_u64()),
            (Some(6), Some(1)),
            "{said}"
        );
        for key in ["multiplications", "ram_bytes", "flash_bytes"] {
            match (target, key) {
                // Memory is the runtime's.
                ("onnx", "ram_bytes" | "flash_bytes") => assert!(light[key].is_null() && full[key].is_null(), "{said}"),
                _ => assert!(light[key].as_u64() < full[key].as_u64(), "{key}: {said}"),
            }
        }
        let difference = said["bands"]["light_difference"]["y"].as_f64();
        assert!(difference.is_some_and(|rms| rms > 0.0 && rms < 0.1), "{said}");
    }
    let header = fs::read_to_string(folder.path().join("light.h")).unwrap();
    assert!(header.contains("This is the light band: 1 member of the 6"), "{header}");
    // What it computes can be judged first: another band around nearly the same predictions.
    let bands = ["full", "light"].map(|band| folder.json(&["predict", "line", "data.csv", "--band", band, "--json"]));
    let column = |which: usize, name: &str| -> Vec<f64> {
        let values = bands[which]["predictions"][0][name].as_array().unwrap();
        values.iter().map(|value| value.as_f64().unwrap()).collect()
    };
    assert_ne!(column(0, "y_upper"), column(1, "y_upper"));
    let apart = column(0, "y_hat")
        .iter()
        .zip(column(1, "y_hat"))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    assert!(apart < 0.2, "{apart}");
    let light = folder.json(&["evaluate", "line", "data.csv", "--band", "light", "--json"]);
    assert!(light["picp"].as_f64() > Some(0.7), "{light}");
    // One member is as light as it gets, and that is said.
    let text = folder.transcript(&["export", "net", "--to", "c", "--out", "net.c", "--band", "light"]);
    assert!(
        text.contains("the model has one member: its own band is as light as it gets"),
        "{text}"
    );
}

#[test]
fn what_is_refused() {
    let folder = fitted();
    folder.write("there.c", "mine");
    folder.write("broken/model.safetensors", "not a model");
    folder.write("folder.c/inner", "");
    // One of the files that go with fresh.onnx.
    folder.write("fresh_init.onnx", "mine");
    let before = names(&folder);
    let mut text = String::new();
    for arguments in [
        ["export", "drop", "--to", "c", "--out", "step.c"].as_slice(),
        &["export", "net", "--to", "c", "--out", "there.c"],
        &["export", "net", "--to", "rust", "--out", "step.rs"],
        &["export", "net", "--to", "c", "--out", "step.fmu"],
        &["export", "net", "--to", "onnx", "--out", "step"],
        &["export", "drop", "--to", "onnx", "--out", "step.onnx"],
        &["export", "net", "--to", "onnx", "--out", "fresh.onnx"],
        &["export", "net", "--to", "onnx", "--out", "step.onnx", "--no-binary"],
        &["export", "net", "--to", "c", "--out", "my-step.c"],
        &["export", "net", "--to", "c", "--out", "folder.c", "--force"],
        &["export", "net", "--to", "c", "--out", "nowhere/step.c"],
        &["export", "net", "--to", "c", "--out", "step.c", "--fmi", "3"],
        &[
            "export",
            "net",
            "--to",
            "fmu",
            "--out",
            "step.fmu",
            "--precision",
            "float",
        ],
        &["export", "absent", "--to", "c", "--out", "step.c"],
        &["export", "broken", "--to", "c", "--out", "step.c"],
    ] {
        let transcript = folder.transcript(arguments);
        assert!(transcript.contains("\nexit code: 2\n"), "{transcript}");
        text.push_str(&transcript);
    }
    assert_snapshot!(text);
    assert_eq!(names(&folder), before, "nothing was written");
    assert_eq!(fs::read_to_string(folder.path().join("there.c")).unwrap(), "mine");
    let forced = folder.run(&["export", "net", "--to", "c", "--out", "there.c", "--force"]);
    assert!(forced.status.success());
    assert!(
        fs::read_to_string(folder.path().join("there.c"))
            .unwrap()
            .contains("there_step")
    );
}

#[test]
fn a_missing_compiler_is_named() {
    let folder = fitted();
    let before = names(&folder);
    let mut command = folder.command(&["export", "net", "--to", "fmu", "--out", "net.fmu"]);
    let output = command.env("CC", "no-such-compiler").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(&folder), before, "nothing was written");
}

#[test]
fn a_state_space_model_is_exported_in_every_form() {
    let folder = Folder::new();
    folder.write("data.csv", csv(300, plain));
    let mut fit = vec!["fit", "data.csv", "--model", "iss", "--states", "2", "--hidden", "3,0"];
    fit.extend(["--preset", "paper", "--epochs", "1", "--quiet", "--out", "iss"]);
    let output = folder.run(&fit);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (to, out) in [("c", "iss.c"), ("onnx", "iss.onnx"), ("fmu", "iss.fmu")] {
        let mut arguments = vec!["export", "iss", "--to", to, "--out", out];
        arguments.extend((to == "fmu").then_some("--no-binary"));
        let output = folder.run(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let header = fs::read_to_string(folder.path().join("iss.h")).unwrap();
    assert!(
        header.contains(
            "interval state-space model with 2 states, 3 units in the state map and no units in the output map"
        ),
        "{header}"
    );
}

/// Ten million and one is no number in single precision's steps of one.
#[test]
fn channels_that_single_precision_is_too_coarse_for_are_told() {
    let folder = Folder::new();
    let rows = record(300).into_iter().map(|(u, y)| format!("{u},{}\n", y + 1e7));
    folder.write("far.csv", format!("u,y\n{}", rows.collect::<String>()));
    let mut fit = vec![
        "fit", "far.csv", "--model", "inode", "--preset", "paper", "--hidden", "3",
    ];
    fit.extend(["--epochs", "1", "--quiet", "--out", "far"]);
    assert!(folder.run(&fit).status.success());
    let told = |precision: &str| {
        let out = format!("{precision}.c");
        let output = folder.run(&["export", "far", "--to", "c", "--precision", precision, "--out", &out]);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let words = told("float");
    assert!(
        words.contains("single precision rounds 'y'") && words.contains("--precision double"),
        "{words}"
    );
    assert!(!words.contains("'u'"), "{words}");
    assert_eq!(told("double"), "");
}

#[test]
fn a_watch_comes_with_c_and_an_fmu_alone() {
    let folder = fitted();
    let found = folder.json(&[
        "export",
        "line",
        "--to",
        "c",
        "--out",
        "watched.c",
        "--monitor",
        "--json",
    ]);
    assert!(
        found["ram_bytes"]["monitor"].as_u64().is_some_and(|bytes| bytes > 1600),
        "{found}"
    );
    let header = std::fs::read_to_string(folder.path().join("watched.h")).expect("a header");
    assert!(header.contains("watched_monitor_observe") && header.contains("at most 0.01"));
    // With blocks that are given nothing waits for them to be chosen.
    let blocks = ["--monitor", "--block", "20", "--false-alarm", "0.05"];
    let arguments: Vec<&str> = ["export", "line", "--to", "c", "--out", "small.c", "--json"]
        .into_iter()
        .chain(blocks)
        .collect();
    let small = folder.json(&arguments);
    assert!(
        small["ram_bytes"]["monitor"].as_u64().is_some_and(|bytes| bytes < 300),
        "{small}"
    );
    let plain = folder.json(&["export", "line", "--to", "c", "--out", "plain.c", "--json"]);
    assert!(plain["ram_bytes"]["monitor"].is_null());
    let header = std::fs::read_to_string(folder.path().join("plain.h")).expect("a header");
    assert!(!header.contains("monitor"));
    for (more, words) in [
        (
            ["--to", "onnx", "--out", "x.onnx", "--monitor"].as_slice(),
            "--to c and --to fmu",
        ),
        (&["--to", "c", "--out", "x.c", "--block", "20"], "--monitor"),
        (&["--to", "c", "--out", "x.c", "--monitor", "--block", "2"], "block"),
        (
            &["--to", "c", "--out", "x.c", "--monitor", "--false-alarm", "2"],
            "false_alarm",
        ),
    ] {
        let arguments: Vec<&str> = ["export", "line"].iter().chain(more).copied().collect();
        let text = folder.transcript(&arguments);
        assert!(text.contains("exit code: 2") && text.contains(words), "{text}");
    }
}
