//! A model on data that are not what it takes them for: put right, refused, or told of.

use std::fmt::Write as _;

use crate::support::{Folder, record};

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
