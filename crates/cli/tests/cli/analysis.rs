//! `linearise` and `analyse` as a user meets them.

use std::process::Command;

use crate::support::{Folder, csv, plain};

/// A folder with a linear model of a first-order system, y(k) = 0.8 y(k-1) + u(k-1).
fn with_model() -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", csv(600, plain));
    let fitted = folder.run(&[
        "fit", "data.csv", "--model", "arx", "--preset", "paper", "--lags", "0,1,1", "--out", "m", "--quiet",
    ]);
    assert!(fitted.status.success(), "{}", String::from_utf8_lossy(&fitted.stderr));
    folder
}

fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_linear_model_is_linearised_and_written_in_every_form() {
    let folder = with_model();
    let json = folder.json(&["linearise", "m", "--at", "u=0.5", "--json"]);
    let gain = json["channels"][0]["gain"].as_f64().expect("a gain");
    assert!((gain - 5.0).abs() < 0.3, "{gain}");
    let pole = json["poles"][0]["re"].as_f64().expect("a pole");
    assert!((pole - 0.8).abs() < 0.02, "{pole}");
    for form in ["json", "mat", "py"] {
        let path = format!("linear.{form}");
        let text = folder.transcript(&["linearise", "m", "--out", &path]);
        assert!(
            text.contains("steady state") && text.contains(&format!("Written to {path}")),
            "{text}"
        );
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
    let written: serde_json::Value = serde_json::from_slice(&read("linear.json")).expect("JSON");
    assert_eq!(written["states"], json["states"]);
    assert!(read("linear.mat").starts_with(b"MATLAB 5.0 MAT-file"));
    // The generated code is Python, whether or not the package control is there.
    let parse = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
    let parsed = Command::new("python3")
        .args(["-c", parse])
        .arg(folder.path().join("linear.py"))
        .status();
    match parsed {
        Ok(status) => assert!(status.success()),
        Err(error) => skipped(&format!("no python3 to parse generated code with: {error}")),
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn skipped(message: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("SKIPPED: {message}");
}

#[test]
fn an_analysis_is_one_page_and_an_excitation_within_limits() {
    let folder = with_model();
    let arguments = [
        "analyse",
        "m",
        "--data",
        "data.csv",
        "--out",
        "page.html",
        "--figures",
        "charts",
        "--excite",
        "next.csv",
        "--limit",
        "u=0:2",
        "--excite-samples",
        "500",
    ];
    let text = folder.transcript(&arguments);
    assert!(
        text.starts_with(&format!("$ intervalid {}\nexit code: 0", arguments.join(" "))),
        "{text}"
    );
    for words in [
        "steps",
        "fit by samples ahead",
        "free run",
        "u was hardly ever at 1.0000 to 2.0000",
        "Where the band of y is widest it is 100 % constant width.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    for words in [
        "Poles and zeros",
        "Frequency response",
        "Static characteristic",
        "Why is the band wide here?",
        "What to measure next",
    ] {
        assert!(page.contains(words), "{words}");
    }
    for chart in ["frequency-1.svg", "steps-1.png", "errors-5.svg"] {
        assert!(folder.path().join("charts").join(chart).is_file(), "{chart}");
    }
    let excitation = std::fs::read_to_string(folder.path().join("next.csv")).expect("an excitation");
    let mut lines = excitation.lines();
    assert_eq!(lines.next(), Some("u"));
    let values: Vec<f64> = lines.map(|line| line.parse().expect("a number")).collect();
    assert!(values.len() == 500 && values.iter().all(|value| (0.0..=2.0).contains(value)));
    // Without data there is a page of the model alone.
    let json = folder.json(&["analyse", "m", "--json", "--amplitude", "0.5"]);
    assert!(json["residuals"].as_array().is_some_and(Vec::is_empty) && json["next"].is_null());
    assert_eq!(json["responses"][0]["steps"].as_array().map(Vec::len), Some(1));
}

#[test]
fn bad_requests_are_refused_before_work_and_nothing_is_written() {
    let folder = with_model();
    let cases: [(&[&str], &str); 7] = [
        (
            &["linearise", "m", "--at", "valve=1"],
            "the model has no channel 'valve': expected one of u, y",
        ),
        (&["linearise", "m", "--at", "u=much"], "expected NAME=VALUE"),
        (&["linearise", "m", "--at", "u=1e9"], "expected a number from"),
        (&["linearise", "m", "--out", "x.txt"], "ends in .json, .mat or .py"),
        (&["analyse", "m", "--amplitude", "0"], "amplitude = 0 is not allowed"),
        (
            &["analyse", "m", "--limit", "u=2:1", "--excite", "e.csv"],
            "limit = u from 2 to 1",
        ),
        (&["analyse", "m", "--out", "m/model.safetensors"], "would replace"),
    ];
    for (arguments, expected) in cases {
        let text = refused(&folder, arguments);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    assert!(!folder.path().join("x.txt").exists() && !folder.path().join("e.csv").exists());
}

#[test]
fn a_model_without_steps_is_refused_with_its_reason() {
    let folder = Folder::new();
    folder.write("data.csv", csv(300, plain));
    let arguments = [
        "fit",
        "data.csv",
        "--model",
        "dropout-node",
        "--epochs",
        "1",
        "--hidden",
        "4",
        "--lags",
        "0,1,1",
        "--out",
        "m",
        "--quiet",
    ];
    assert!(folder.run(&arguments).status.success());
    assert!(refused(&folder, &["linearise", "m"]).contains("cannot run step by step"));
    assert!(refused(&folder, &["analyse", "m"]).contains("cannot run step by step"));
}
