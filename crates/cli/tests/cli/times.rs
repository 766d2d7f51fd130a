//! Time on the command line: from a file's column to predictions, plots and messages.

use std::fmt::Write as _;

use crate::support::{Folder, record};

/// The record with a date per row; `seconds` gives the time of a sample, none leaves it out.
fn dated(samples: usize, seconds: impl Fn(usize) -> Option<f64>) -> String {
    let mut text = String::from("Timestamp,valve [%],level [m]\n");
    for (index, (u, y)) in record(samples).into_iter().enumerate() {
        if let Some(seconds) = seconds(index) {
            let (minutes, seconds) = ((seconds / 60.0).floor(), seconds % 60.0);
            let (hours, minutes) = (10.0 + (minutes / 60.0).floor(), minutes % 60.0);
            let _ = writeln!(text, "2024-03-01 {hours:02}:{minutes:02}:{seconds:06.3},{u:.4},{y:.4}");
        }
    }
    text
}

const FIT: [&str; 9] = [
    "fit", "a.csv", "--input", "valve", "--output", "level", "--model", "arx", "--out=m",
];

fn error(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn predictions_keep_the_row_and_the_time() {
    let folder = Folder::new();
    folder.write("a.csv", dated(300, |k| Some(5.0 * k as f64)));
    folder.json(&[&FIT[..], &["--json"]].concat());
    let text = std::fs::read_to_string(folder.path().join("m/predictions.csv")).expect("written");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("k,y,y_hat,y_lower,y_upper,extrapolated,row,time"));
    let last = lines.next_back().expect("rows");
    assert!(last.ends_with(",301,2024-03-01T10:24:55"), "{last}");
    let shown = folder.json(&[
        "data", "show", "a.csv", "--input", "valve", "--output", "level", "--json",
    ]);
    assert_eq!(shown["sample_time"], 5.0);
    assert_eq!(
        (&shown["outputs"][0]["name"], &shown["outputs"][0]["unit"]),
        (&"level".into(), &"m".into())
    );
    let predicted = folder.json(&["predict", "m", "a.csv", "--part", "test", "--json"]);
    let first = &predicted["predictions"][0];
    assert!(first["first_row"].as_u64() > Some(100) && first["first_time"].as_str() > Some("2024-03-01T10:00:00"));
    folder.run(&["predict", "m", "a.csv", "--plot", "p.svg"]);
    let plot = std::fs::read_to_string(folder.path().join("p.svg")).expect("drawn");
    assert!(plot.contains("time (s) since 2024-03-01T10:00:00"));
    // The axis of the page, too.
    let page = std::fs::read_to_string(folder.path().join("m/report.json")).expect("written");
    assert!(page.contains("time (s) since 2024-03-01T10:00:00"));
}

#[test]
fn uneven_sampling_is_refused_and_resampled_on_request() {
    let folder = Folder::new();
    folder.write(
        "a.csv",
        dated(300, |k| Some(5.0 * k as f64 + if k % 7 == 0 { 1.0 } else { 0.0 })),
    );
    let refused = error(&folder, &FIT);
    assert!(
        refused.contains("line 3, time column 'Timestamp': 4 s after the sample before"),
        "{refused}"
    );
    assert!(
        refused.contains("hint: --resample 5 puts the samples on an even grid"),
        "{refused}"
    );
    let output = folder.run(&[&FIT[..], &["--resample", "5s"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && told.contains("resampled to 299 samples every 5 s"),
        "{told}"
    );
    let text = std::fs::read_to_string(folder.path().join("m/predictions.csv")).expect("written");
    assert!(
        text.starts_with("k,y,y_hat,y_lower,y_upper,extrapolated,time\n"),
        "resampled samples have no row"
    );
    let page = std::fs::read_to_string(folder.path().join("m/report.html")).expect("written");
    assert!(
        page.contains("--resample 5"),
        "the command that repeats the fit resamples, too"
    );
}

#[test]
fn gaps_are_refused_or_split() {
    let folder = Folder::new();
    folder.write(
        "a.csv",
        dated(300, |k| (!(100..130).contains(&k)).then_some(5.0 * k as f64)),
    );
    let refused = error(&folder, &FIT);
    assert!(
        refused.contains("line 102, time column 'Timestamp': a gap of 155 s where 5 s are usual"),
        "{refused}"
    );
    let output = folder.run(&[&FIT[..], &["--missing", "split"]].concat());
    assert!(output.status.success());
    let text = std::fs::read_to_string(folder.path().join("m/predictions.csv")).expect("written");
    assert!(text.contains("a#2,"), "{text}");
}

#[test]
fn a_model_refuses_data_of_another_rate() {
    let folder = Folder::new();
    folder.write("a.csv", dated(300, |k| Some(5.0 * k as f64)));
    folder.write("fast.csv", dated(300, |k| Some(k as f64)));
    folder.json(&[&FIT[..], &["--json"]].concat());
    let refused = error(&folder, &["evaluate", "m", "fast.csv"]);
    assert!(
        refused.contains("the model was fitted on samples every 5 s, the data have one every 1 s")
            && refused.contains("--resample 5"),
        "{refused}"
    );
    assert!(
        folder
            .run(&["evaluate", "m", "fast.csv", "--resample", "5"])
            .status
            .success()
    );
}

#[test]
fn names_with_commas_and_units_of_the_users_own() {
    let folder = Folder::new();
    let text = dated(300, |k| Some(k as f64)).replace("valve [%]", "\"valve, main\"");
    folder.write("a.csv", format!("Plant 7\n\n{text}"));
    let shown = folder.json(&[
        "data",
        "show",
        "a.csv",
        "--input",
        "\"valve, main\"",
        "--output",
        "level [m]",
        "--skip-rows",
        "2",
        "--unit",
        "valve, main=%",
        "--json",
    ]);
    assert_eq!(
        (&shown["inputs"][0]["name"], &shown["inputs"][0]["unit"]),
        (&"valve, main".into(), &"%".into())
    );
}
