//! Recordings: loaded, looked at, chosen.

use std::time::Instant;

use serde_json::{Value, json};

use crate::client::{Opened, csv, csv_of};

fn choice(inputs: &[&str], outputs: &[&str]) -> Value {
    json!({ "options": { "inputs": inputs, "outputs": outputs }, "split": "0.5,0.2,0.3" })
}

#[test]
fn a_recording_is_loaded_looked_at_and_chosen() {
    let mut opened = Opened::new();
    assert_eq!(opened.put("/api/data/my%20plant.csv", csv(600).as_bytes()).status, 201);
    let records = opened.get("/api/data").json();
    let ids: Vec<&str> = records["records"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| entry["id"].as_str())
        .collect();
    assert_eq!(ids, ["my plant.csv", "hair-dryer", "robot-arm"]);
    let view = opened.get("/api/data/my%20plant.csv").json();
    assert_eq!(view["columns"], json!(["time", "valve", "level [m]"]));
    assert_eq!(
        (&view["guessed"], &view["summary"]["sample_time"]),
        (&json!(true), &json!(0.5))
    );
    let channels = view["summary"]["channels"].as_array().expect("channels");
    assert_eq!(
        (&channels[0]["name"], &channels[1]["role"], &channels[1]["unit"]),
        (&json!("valve"), &json!("output"), &json!("m"))
    );
    let chosen = opened
        .post("/api/data/my%20plant.csv/choice", &choice(&["valve"], &["level"]))
        .json();
    assert_eq!(chosen["summary"]["split"]["train"], json!([[0, 300]]));
    assert_eq!(chosen["summary"]["split"]["test"], json!([[420, 600]]));
    let series = opened
        .get("/api/data/my%20plant.csv/series?from=100&to=110&pixels=50")
        .json();
    assert_eq!(
        (&series["exact"], series["x"].as_array().map(Vec::len)),
        (&json!(true), Some(10))
    );
    let series = opened.get("/api/data/my%20plant.csv/series?pixels=50").json();
    assert_eq!(
        (&series["exact"], series["lines"][1].as_array().map(Vec::len)),
        (&json!(false), Some(100))
    );
    opened.restart();
    let view = opened.get("/api/data/my%20plant.csv").json();
    assert_eq!(
        (&view["guessed"], &view["choice"]["split"]),
        (&json!(false), &json!("0.5,0.2,0.3"))
    );
}

#[test]
fn a_bad_file_shows_its_error_and_the_rows_up_to_it() {
    let opened = Opened::new();
    let mut text = csv(40);
    text = text.replace("\n9.5,", "\n9.5,oops");
    opened.put("/api/data/bad.csv", text.as_bytes());
    let view = opened.get("/api/data/bad.csv").json();
    let problem = &view["problem"];
    assert_eq!(problem["line"], 21, "{view}");
    let message = problem["message"].as_str().expect("a message");
    assert!(message.starts_with("bad.csv: line 21, column 'valve'"), "{message}");
    let rows = problem["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 12);
    assert!(rows[11]["text"].as_str().expect("text").starts_with("9.5,oops"));
    assert_eq!(view["summary"], Value::Null);
    let refused = opened.post("/api/data/bad.csv/choice", &choice(&["valve"], &["level"]));
    assert_eq!(refused.status, 400);
    // Names in a file are text, whatever they hold.
    opened.put("/api/data/names.csv", b"u<script>,y\n1,2\n2,3\n");
    let view = opened.get("/api/data/names.csv");
    assert!(view.headers.contains("application/json") && view.json()["columns"][0] == "u<script>");
}

#[test]
fn a_choice_that_cannot_be_is_refused_with_its_reason() {
    let opened = Opened::new();
    let refused = |choice: Value| {
        let answer = opened.post("/api/data/hair-dryer/choice", &choice);
        assert_eq!(answer.status, 400, "{answer:?}");
        answer.json()["error"].as_str().expect("a reason").to_owned()
    };
    assert!(refused(choice(&["nothing"], &["y"])).contains("no column 'nothing'"));
    assert!(refused(json!({ "split": "0.5,0.5,0.5" })).contains("0.5"));
    let unknown = opened.post("/api/data/hair-dryer/choice", &json!({ "splits": 1 }));
    assert!(
        unknown.status == 422 && unknown.text().contains("splits"),
        "{unknown:?}"
    );
}

#[test]
fn several_files_are_one_record_with_units_and_a_test_of_its_own() {
    let mut opened = Opened::new();
    for (name, samples) in [("a.csv", 300), ("b.csv", 200)] {
        opened.put(&format!("/api/data/{name}"), csv(samples).as_bytes());
    }
    // What comes after them: a test may not hold what is learnt from.
    opened.put("/api/data/c.csv", csv_of(300..400).as_bytes());
    let wish = json!({
        "options": { "inputs": ["valve"], "outputs": ["level"], "sample_time": 0.5, "time": "", "units": [["valve", "%"]] },
        "split": "0.5,0.5,0", "more": ["b.csv"], "test": ["c.csv"],
    });
    let answer = opened.post("/api/data/a.csv/choice", &wish);
    assert_eq!(answer.status, 200, "{}", answer.text());
    opened.restart();
    let view = opened.get("/api/data/a.csv").json();
    let summary = &view["summary"];
    let samples: Vec<(u64, bool)> = summary["experiments"]
        .as_array()
        .expect("experiments")
        .iter()
        .map(|found| (found["samples"].as_u64().expect("a number"), found["test"] == true))
        .collect();
    assert_eq!(samples, [(300, false), (200, false), (100, true)]);
    assert_eq!(summary["split"]["train"], json!([[0, 150], [300, 400]]));
    assert_eq!(summary["split"]["test"], json!([[500, 600]]));
    assert_eq!(
        (&summary["channels"][0]["unit"], &summary["sample_time"]),
        (&json!("%"), &json!(0.5))
    );
    let series = opened.get("/api/data/a.csv/series?pixels=2000").json();
    assert_eq!(series["samples"], 600);

    // A fit over all of them, and the words that repeat it.
    let order =
        json!({ "data": "a.csv", "name": "all", "settings": { "model": "arx", "preset": "paper", "lags": "1,1,1" } });
    assert_eq!(opened.post("/api/jobs", &order).status, 201);
    opened.wait("all", "done");
    let words = opened.get("/api/fits/all/words").json();
    let line = words["command_line"][0].as_str().expect("a line");
    for part in ["a.csv", "b.csv", "--test", "c.csv", "--unit 'valve=%'"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let python = words["python"].as_str().expect("text");
    assert!(
        python.contains("units={\"valve\":\"%\"}") && python.contains("model.metrics(test)"),
        "{python}"
    );

    let refused = |more: Value| {
        let answer = opened.post("/api/data/a.csv/choice", &json!({ "more": more }));
        assert!((400..500).contains(&answer.status), "{answer:?}");
        answer.json()["error"].as_str().expect("a reason").to_owned()
    };
    assert!(refused(json!(["a.csv"])).contains("twice"));
    assert!(refused(json!(["../c.csv"])).contains("../c.csv"));
    assert!(refused(json!(["absent.csv"])).contains("absent.csv"));
    // A file that is gone is named, and the record can be chosen anew.
    std::fs::remove_file(opened.path("b.csv")).expect("removed");
    let view = opened.get("/api/data/a.csv").json();
    assert!(
        view["problem"]["message"].as_str().expect("a reason").contains("b.csv"),
        "{view}"
    );
    assert_eq!(view["columns"], json!(["time", "valve", "level [m]"]));
}

#[test]
fn a_million_samples_are_shown_by_their_extremes() {
    let opened = Opened::new();
    let samples = 1_000_000;
    let mut text = String::with_capacity(12 * samples);
    text += "u,y\n";
    for sample in 0..samples {
        let y = if sample == 654_321 { 99 } else { sample % 7 };
        text += &format!("{},{y}\n", sample % 5);
    }
    assert_eq!(opened.put("/api/data/long.csv", text.as_bytes()).status, 201);
    let begun = Instant::now();
    let series = opened.get("/api/data/long.csv/series?pixels=1000").json();
    let read_and_shown = begun.elapsed();
    let line = series["lines"][1].as_array().expect("a line");
    assert_eq!((series["samples"].as_u64(), line.len()), (Some(1_000_000), 2000));
    assert!(
        line.iter().any(|value| value.as_f64() == Some(99.0)),
        "the peak is shown"
    );
    // The file is in memory now: a stretch need not be read again.
    let begun = Instant::now();
    opened
        .get("/api/data/long.csv/series?from=200000&to=900000&pixels=1000")
        .json();
    let shown = begun.elapsed();
    assert!(shown < read_and_shown, "{shown:?} {read_and_shown:?}");
}
