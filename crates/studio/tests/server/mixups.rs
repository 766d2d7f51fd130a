//! What must not be taken for something else: a recording after a change, the choice of another tab, a fit that had the same name,
//! inputs in other units.

use serde_json::{Value, json};

use crate::client::{Opened, csv, csv_of};
use crate::fits::order;

fn wish(more: &[&str], test: &[&str]) -> Value {
    let options = json!({ "inputs": ["valve"], "outputs": ["level"] });
    json!({ "options": options, "split": "0.5,0.5,0", "more": more, "test": test })
}

fn choose(opened: &Opened, wish: &Value) {
    let answer = opened.post("/api/data/a.csv/choice", wish);
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// What tells the page that a recording, or what is chosen for it, is another one.
fn version(opened: &Opened) -> String {
    let records = opened.get("/api/data").json();
    let records = records["records"].as_array().expect("a list");
    let record = records.iter().find(|record| record["id"] == "a.csv").expect("there");
    record["version"].as_str().expect("a version").to_owned()
}

#[test]
fn a_picture_follows_the_files_that_are_for_the_test() {
    let opened = Opened::new();
    for (name, samples) in [("a.csv", 0..300), ("b.csv", 300..500), ("c.csv", 500..600)] {
        opened.put(&format!("/api/data/{name}"), csv_of(samples).as_bytes());
    }
    choose(&opened, &wish(&["b.csv"], &["c.csv"]));
    let settings = json!({ "model": "arx", "preset": "paper", "lags": "1,1,1" });
    order(
        &opened,
        &json!({ "data": "a.csv", "name": "all", "settings": settings }),
    );
    opened.wait("all", "done");
    let extent = || {
        let asked = json!({ "data": "a.csv", "part": "test", "fits": ["all"], "pixels": 100 });
        let drawn = opened.post("/api/overlay", &asked);
        assert_eq!(drawn.status, 200, "{}", drawn.text());
        drawn.json()["extent"].clone()
    };
    assert_eq!(extent(), json!([500, 600]));
    let before = version(&opened);
    assert_eq!(version(&opened), before);
    // The same files in the same order, and the same shares.
    choose(&opened, &wish(&[], &["b.csv", "c.csv"]));
    assert_eq!(extent(), json!([300, 600]));
    let after = version(&opened);
    assert_ne!(after, before);
    // One of the others has the same length as before, and says something else.
    let whole = csv_of(300..500);
    let text = whole.replace("0.0,", "0.0,1");
    std::fs::write(opened.path("b.csv"), &text[..whole.len()]).expect("written");
    assert_ne!(version(&opened), after);
}

#[test]
fn a_choice_that_was_changed_elsewhere_is_neither_replaced_nor_fitted() {
    let opened = Opened::new();
    opened.put("/api/data/a.csv", csv(400).as_bytes());
    let path = "/api/data/a.csv";
    let revision = |view: &Value| view["revision"].as_str().expect("a revision").to_owned();
    let with = |split: &str, revision: &str| {
        let mut wish = wish(&[], &[]);
        wish["split"] = split.into();
        wish["revision"] = revision.into();
        opened.post(&format!("{path}/choice"), &wish)
    };
    // Two tabs look at it, and both change it.
    let seen = revision(&opened.get(path).json());
    let first = with("0.6,0.1,0.3", &seen);
    assert_eq!(first.status, 200, "{}", first.text());
    let newer = revision(&first.json());
    assert_eq!(newer, revision(&opened.get(path).json()));
    let second = with("0.2,0.1,0.7", &seen);
    assert_eq!(second.status, 409, "{second:?}");
    assert!(second.text().contains("was changed elsewhere"), "{second:?}");
    assert_eq!(opened.get(path).json()["choice"]["split"], "0.6,0.1,0.3");
    // Looking at how it would be read is no change.
    let looked = opened.post(&format!("{path}/view"), &wish(&[], &[])).json();
    assert_eq!(revision(&looked), newer);

    let settings = json!({ "model": "arx", "preset": "paper", "lags": "1,1,1" });
    let ordered = |name: &str, revision: &str| {
        let body = json!({ "data": "a.csv", "name": name, "settings": settings, "revision": revision });
        opened.post("/api/jobs", &body).status
    };
    assert_eq!((ordered("old", &seen), ordered("new", &newer)), (409, 201));
    // Scripts need not say what they have seen.
    choose(&opened, &wish(&[], &[]));
    let words = opened.post(&format!("{path}/choice"), &json!({ "revision": 5 }));
    assert_eq!(words.status, 422, "{words:?}");
}

#[test]
fn the_python_code_is_that_of_the_fit_and_not_of_one_that_had_its_name() {
    let mut opened = Opened::new();
    let fit = |settings: Value| {
        order(
            &opened,
            &json!({ "data": "hair-dryer", "name": "x", "settings": settings }),
        );
        opened.wait("x", "done");
        let binned = opened.post("/api/fits/x/discard", &json!({})).json();
        binned["bin"].as_str().expect("a name").to_owned()
    };
    assert_eq!(fit(json!({ "model": "arx", "preset": "paper" })), "x");
    assert_eq!(
        fit(json!({ "model": "inode", "preset": "paper", "epochs": 3, "hidden": [4] })),
        "x-2"
    );
    for name in ["x", "x-2"] {
        assert_eq!(opened.post(&format!("/api/bin/{name}/restore"), &json!({})).status, 200);
    }
    opened.restart();
    let python = |name: &str| {
        let words = opened.get(&format!("/api/fits/{name}/words")).json();
        words["python"].as_str().expect("code").to_owned()
    };
    assert!(python("x").contains("ARX("), "{}", python("x"));
    assert!(python("x-2").contains("IntervalNODE("), "{}", python("x-2"));
    // Nobody knows how a fit came about whose list of files is gone.
    std::fs::remove_file(opened.path("x").join("manifest.json")).expect("removed");
    assert!(python("x").contains("load_model("), "{}", python("x"));
}

#[test]
fn inputs_of_a_recording_in_other_units_or_at_another_rate_are_refused() {
    let opened = Opened::new();
    let text = csv(400);
    let slower: String = text
        .lines()
        .enumerate()
        .map(|(line, row)| match (line, row.split_once(',')) {
            (1.., Some((_, rest))) => format!("{:.1},{rest}\n", (line - 1) as f64 * 2.0),
            _ => format!("{row}\n"),
        })
        .collect();
    let in_percent = text.replace("valve", "valve [%]");
    let as_flow = text.replace("valve", "valve [kg/s]");
    let in_millimetres = in_percent.replace("[m]", "[mm]");
    for (name, text) in [
        ("a.csv", &in_percent),
        ("again.csv", &in_percent),
        ("millimetres.csv", &in_millimetres),
        ("flow.csv", &as_flow),
        ("slower.csv", &slower),
    ] {
        opened.put(&format!("/api/data/{name}"), text.as_bytes());
    }
    let mut own = wish(&[], &[]);
    own["split"] = "0.6,0.1,0.3".into();
    choose(&opened, &own);
    let settings = json!({ "model": "arx", "preset": "paper", "lags": "1,1,1" });
    order(&opened, &json!({ "data": "a.csv", "name": "x", "settings": settings }));
    opened.wait("x", "done");
    let inputs = |data: &str| opened.get(&format!("/api/fits/x/inputs?data={data}&samples=50"));
    let fitting = inputs("again.csv");
    assert_eq!(fitting.status, 200, "{}", fitting.text());
    assert_eq!(fitting.json()["inputs"][0].as_array().map(Vec::len), Some(50));
    for (data, why) in [
        ("flow.csv", "kg/s"),
        ("millimetres.csv", "mm"),
        ("slower.csv", "one every 2 s"),
    ] {
        let refused = inputs(data);
        assert_eq!(refused.status, 400, "{data}: {}", refused.text());
        assert!(refused.text().contains(why), "{data}: {}", refused.text());
    }
}
