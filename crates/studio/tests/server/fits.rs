//! Fits: ordered, kept, compared, asked and taken away.

use std::io::Read as _;
use std::time::Instant;

use intervalid_data::ReadOptions;
use intervalid_model::Model;
use intervalid_studio::Limits;
use intervalid_workflow::{FitRequest, RecordRequest, Settings, TrainOptions};
use serde_json::{Value, json};

use crate::client::{Opened, csv};

pub(crate) fn order(opened: &Opened, body: &Value) -> String {
    let answer = opened.post("/api/jobs", body);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["name"].as_str().expect("a name").to_owned()
}

pub(crate) fn arx(opened: &Opened) -> String {
    let name = order(
        opened,
        &json!({ "data": "hair-dryer", "settings": { "model": "arx", "preset": "paper", "lags": "2,2,3" } }),
    );
    opened.wait(&name, "done");
    name
}

/// A fit that takes long enough to be ended.
pub(crate) fn long() -> Value {
    json!({ "data": "hair-dryer", "name": "long", "settings": { "model": "inode", "preset": "paper", "epochs": 50_000, "patience": 50_000 } })
}

#[test]
fn a_fit_is_an_ordinary_folder_with_the_numbers_of_the_library() {
    let mut opened = Opened::new();
    let name = arx(&opened);
    assert_eq!(name, "hair-dryer-arx");
    let entries = std::fs::read_dir(opened.path(&name)).expect("a folder").flatten();
    let mut files: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    files.sort_unstable();
    files.retain(|file| !file.starts_with('.'));
    let promised = [
        "config.toml",
        "history.csv",
        "manifest.json",
        "metrics.json",
        "model.safetensors",
        "predictions.csv",
        "report.html",
        "report.json",
    ];
    assert_eq!(files, promised, "as `fit --out` writes");
    let record = RecordRequest::new(vec!["hair-dryer".to_owned()], None, ReadOptions::default(), None);
    let (dataset, split) = record.read().expect("built in");
    let settings = Settings::from_table(&"model = 'arx'\npreset = 'paper'\nlags = '2,2,3'".parse().expect("TOML"))
        .expect("settings");
    let request = FitRequest::new(&settings, record.known_name()).expect("resolves");
    let trained = request
        .train(&dataset, &split, TrainOptions::default())
        .expect("trains");
    let outcome = trained.evaluate(&dataset, &split, 1).expect("evaluates");
    let model = Model::load(opened.path(&name).join("model.safetensors")).expect("reads");
    assert_eq!(model, outcome.model);
    let expected = outcome.metrics.test.expect("a test part").all.fit_percent;
    // A fit that somebody else put there is in the table, too.
    std::fs::create_dir(opened.path("other")).expect("a folder");
    for file in promised {
        std::fs::copy(opened.path(&name).join(file), opened.path("other").join(file)).expect("copied");
    }
    opened.restart();
    let fits = opened.get("/api/fits").json();
    let rows = fits["fits"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!((row["fit_percent"].as_f64(), &row["problem"]), (expected, &Value::Null));
    }
    assert_eq!(opened.wait(&name, "done")["name"], name.as_str(), "the queue remembers");
    let again = order(
        &opened,
        &json!({ "data": "hair-dryer", "settings": { "model": "arx", "preset": "paper" } }),
    );
    assert_eq!(again, "hair-dryer-arx-2", "nothing is replaced");
}

#[test]
fn orders_that_cannot_be_are_refused_before_the_queue() {
    let opened = Opened::new();
    let refused = |body: Value, status: u16| {
        let answer = opened.post("/api/jobs", &body);
        assert_eq!(answer.status, status, "{answer:?}");
        answer.json()["error"].as_str().expect("a reason").to_owned()
    };
    assert!(
        refused(json!({ "data": "hair-dryer", "settings": { "epoch": 3 } }), 400).contains("did you mean 'epochs'?")
    );
    assert!(refused(json!({ "data": "hair-dryer", "settings": { "coverage": 2.0 } }), 400).contains("coverage"));
    assert!(
        refused(
            json!({ "data": "hair-dryer", "settings": { "epochs": 3 }, "budget": 3.0 }),
            400
        )
        .contains("budget")
    );
    assert!(refused(json!({ "data": "absent.csv" }), 404).contains("absent.csv"));
    assert!(refused(json!({ "data": "hair-dryer", "name": "../x" }), 400).contains("../x"));
    assert_eq!(opened.get("/api/jobs").json()["jobs"], json!([]));
}

#[test]
fn the_queue_is_bounded_and_fits_can_be_ended() {
    let opened = Opened::with(Limits {
        queued: 2,
        ..Limits::default()
    });
    order(&opened, &long());
    let waiting = order(
        &opened,
        &json!({ "data": "hair-dryer", "settings": { "model": "arx", "preset": "paper" } }),
    );
    let full = opened.post("/api/jobs", &json!({ "data": "hair-dryer" }));
    assert_eq!(full.status, 429, "{full:?}");
    let jobs = opened.get("/api/jobs").json();
    let id = |name: &str| {
        jobs["jobs"]
            .as_array()
            .expect("jobs")
            .iter()
            .find(|job| job["name"] == name)
            .expect("there")["id"]
            .clone()
    };
    opened.post(&format!("/api/jobs/{}/cancel", id(&waiting)), &json!({}));
    opened.wait(&waiting, "cancelled");
    // Losses come while it runs.
    let begun = Instant::now();
    while opened.get("/api/jobs").json()["live"]["losses"]
        .as_array()
        .is_none_or(|losses| losses.len() < 3)
    {
        assert!(begun.elapsed().as_secs() < 60, "no losses");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    opened.post(&format!("/api/jobs/{}/cancel", id("long")), &json!({}));
    let job = opened.wait("long", "done");
    assert!(
        job["message"].as_str().expect("a word").contains("best so far"),
        "{job}"
    );
    let fits = opened.get("/api/fits").json();
    assert_eq!(fits["fits"][0]["name"], "long", "the best so far is kept");
}

#[test]
fn a_fit_that_the_studio_did_not_survive_is_marked_and_can_go_on() {
    let mut opened = Opened::new();
    order(&opened, &long());
    opened.wait("long", "running");
    let behind = order(
        &opened,
        &json!({ "data": "hair-dryer", "settings": { "model": "arx", "preset": "paper" } }),
    );
    opened.restart();
    let job = opened.wait("long", "interrupted");
    opened.wait(&behind, "interrupted");
    assert_eq!(
        opened.get("/api/fits").json()["fits"],
        json!([]),
        "what is not finished is no fit"
    );
    let answer = opened.post(&format!("/api/jobs/{}/again", job["id"]), &json!({}));
    assert_eq!(answer.status, 201, "{answer:?}");
    opened.wait("long", "running");
}

#[test]
fn models_are_compared_renamed_and_binned() {
    let mut opened = Opened::new();
    let name = arx(&opened);
    let overlay = json!({ "data": "hair-dryer", "part": "test", "fits": [name], "pixels": 100 });
    let drawn = opened.post("/api/overlay", &overlay).json();
    assert_eq!(drawn["extent"], json!([500, 1000]));
    let model = &drawn["models"][0];
    let row = opened.get("/api/fits").json()["fits"][0].clone();
    assert_eq!(
        model["metrics"]["fit_percent"], row["fit_percent"],
        "the record it was judged on gives the same number"
    );
    let (lower, upper) = (
        model["lower"].as_array().expect("a line"),
        model["upper"].as_array().expect("a line"),
    );
    assert_eq!(
        (lower.len(), upper.len(), drawn["x"].as_array().map(Vec::len)),
        (200, 200, Some(200))
    );
    assert!(lower.iter().zip(upper).all(|(low, high)| low.as_f64() <= high.as_f64()));
    let none = opened.post(
        "/api/overlay",
        &json!({ "data": "hair-dryer", "part": "test", "fits": [], "pixels": 9 }),
    );
    assert_eq!(none.status, 400);
    let rename = |from: &str, to: &str| {
        opened
            .post(&format!("/api/fits/{from}/rename"), &json!({ "to": to }))
            .status
    };
    assert_eq!(rename(&name, "../out"), 400);
    assert_eq!(rename(&name, "first try"), 200);
    assert_eq!(rename(&name, "again"), 404);
    assert_eq!(
        opened.post("/api/fits/first%20try/discard", &json!({})).json()["bin"],
        "first try"
    );
    opened.restart();
    let fits = opened.get("/api/fits").json();
    assert_eq!((&fits["fits"], &fits["bin"]), (&json!([]), &json!(["first try"])));
    assert_eq!(opened.post("/api/bin/first%20try/restore", &json!({})).status, 200);
    assert_eq!(opened.get("/api/fits").json()["fits"][0]["name"], "first try");
}

/// A recording of a plant under this name, split like this, with what else is chosen.
fn chosen(opened: &Opened, split: &str) {
    let wish = json!({ "options": { "inputs": ["valve"], "outputs": ["level"] }, "split": split });
    let answer = opened.post("/api/data/plant.csv/choice", &wish);
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn the_test_part_is_that_of_the_fit_whatever_is_chosen_later() {
    let opened = Opened::new();
    opened.put("/api/data/plant.csv", csv(400).as_bytes());
    chosen(&opened, "0.6,0.1,0.3");
    let settings = json!({ "model": "arx", "preset": "paper" });
    let name = order(&opened, &json!({ "data": "plant.csv", "settings": settings }));
    opened.wait(&name, "done");
    let own = opened.get("/api/fits").json()["fits"][0]["fit_percent"].clone();
    let overlay = json!({ "data": "plant.csv", "part": "test", "fits": [name], "pixels": 100 });
    let drawn = || opened.post("/api/overlay", &overlay).json();
    let first = drawn();
    assert_eq!(
        (&first["extent"], &first["models"][0]["warnings"]),
        (&json!([280, 400]), &json!([]))
    );
    // The next fit will learn from less of it.
    chosen(&opened, "0.2,0.1,0.7");
    let later = drawn();
    assert_eq!(later["extent"], json!([280, 400]));
    assert_eq!(later["models"][0]["metrics"]["fit_percent"], own);
    // Without its settings nobody knows what it learnt from.
    std::fs::remove_file(opened.path(&name).join("config.toml")).expect("a file");
    let unknown = drawn();
    assert_eq!(unknown["extent"], json!([120, 400]));
    let warning = unknown["models"][0]["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("may hold what it learnt from"), "{warning}");
}

#[test]
fn a_fit_that_is_brought_back_is_never_written_over() {
    let opened = Opened::new();
    let name = arx(&opened);
    let model = opened.path(&name).join("model.safetensors");
    let bytes = std::fs::read(&model).expect("a model");
    assert_eq!(
        opened.post(&format!("/api/fits/{name}/discard"), &json!({})).status,
        200
    );
    order(&opened, &long());
    opened.wait("long", "running");
    let body = json!({ "data": "hair-dryer", "name": name, "settings": { "model": "arx", "preset": "paper", "lags": "1,1,1" } });
    assert_eq!(order(&opened, &body), name);
    let refused = opened.post(&format!("/api/bin/{name}/restore"), &json!({}));
    assert_eq!(refused.status, 409, "{refused:?}");
    // Somebody puts it back by hand, and the queue comes to its name.
    std::fs::rename(opened.path(".intervalid-studio/bin").join(&name), opened.path(&name)).expect("moved");
    let running = opened.get("/api/jobs").json()["jobs"][1].clone();
    assert_eq!(running["name"], "long", "{running}");
    opened.post(&format!("/api/jobs/{}/cancel", running["id"]), &json!({}));
    let failed = opened.wait(&name, "failed");
    let message = failed["message"].as_str().expect("a message");
    assert!(message.contains("there is a fit named"), "{message}");
    assert_eq!(std::fs::read(&model).expect("a model"), bytes);
}

#[test]
fn what_if_simulates_the_inputs_that_were_drawn() {
    let opened = Opened::new();
    let name = arx(&opened);
    let interface = opened.get(&format!("/api/fits/{name}")).json();
    let mean = interface["inputs"][0]["mean"].as_f64().expect("a mean");
    let input: Vec<f64> = (0..1000)
        .map(|sample| mean + f64::from(u8::from(sample >= 100)))
        .collect();
    let path = format!("/api/fits/{name}/whatif");
    let answer = opened.post(&path, &json!({ "inputs": [input] }));
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    let first = answer["first"].as_u64().expect("a sample");
    let centre = answer["outputs"][0]["centre"].as_array().expect("a line");
    assert_eq!(first + centre.len() as u64, 1000);
    let (before, after) = (
        centre[80].as_f64().expect("a number"),
        centre[900].as_f64().expect("a number"),
    );
    assert!(after > before + 0.1, "the dryer gets warmer: {before} to {after}");
    assert_eq!(
        opened
            .post(&path, &json!({ "inputs": [[1.0, 2.0], [1.0, 2.0]] }))
            .status,
        400,
        "one input too many"
    );
    assert_eq!(
        opened.post(&path, &json!({ "inputs": [vec![0.0; 30_000]] })).status,
        400,
        "too long"
    );
    let loaded = opened
        .get(&format!("/api/fits/{name}/inputs?data=hair-dryer&samples=50"))
        .json();
    assert_eq!(loaded["inputs"][0].as_array().map(Vec::len), Some(50));
}

#[test]
fn files_and_words_to_take_away() {
    let opened = Opened::new();
    opened.put("/api/data/it%20plant.csv", csv(400).as_bytes());
    opened.post(
        "/api/data/it%20plant.csv/choice",
        &json!({ "options": { "inputs": ["valve"], "outputs": ["level"] }, "split": "0.5,0.2,0.3" }),
    );
    let name = order(
        &opened,
        &json!({ "data": "it plant.csv", "settings": { "model": "arx", "preset": "paper", "coverage": 0.8 } }),
    );
    assert_eq!(name, "it-plant-arx");
    opened.wait(&name, "done");
    let answer = opened.get(&format!("/fits/{name}/download/c"));
    assert!(
        answer.headers.contains("filename=\"it_plant_arx-c.zip\""),
        "{}",
        answer.headers
    );
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(answer.body)).expect("an archive");
    let mut code = String::new();
    archive
        .by_name("it_plant_arx.c")
        .expect("the source")
        .read_to_string(&mut code)
        .expect("text");
    assert!(code.contains("it_plant_arx_step"), "{code}");
    let onnx = opened.get(&format!("/fits/{name}/download/onnx"));
    assert!(onnx.status == 200 && onnx.body.starts_with(b"PK"));
    let report = opened.get(&format!("/fits/{name}/report"));
    assert!(
        report
            .headers
            .contains("content-security-policy: sandbox allow-scripts"),
        "{}",
        report.headers
    );
    assert!(report.text().contains("<!doctype html>"));
    let words = opened.get(&format!("/api/fits/{name}/words")).json();
    let line = words["command_line"][0].as_str().expect("a line");
    assert!(
        line.starts_with("intervalid fit '") && line.contains("it plant.csv'") && line.contains("--config"),
        "{line}"
    );
    let python = words["python"].as_str().expect("text");
    assert!(
        python.contains("inputs=[\"valve\"]") && python.contains("ARX(coverage=0.8, split=(0.5, 0.2, 0.3))"),
        "{python}"
    );
    assert!(
        python.ends_with("print(model.result_[\"test\"])\n"),
        "what it was not fitted to: {python}"
    );
    let renamed = opened.post(&format!("/api/fits/{name}/rename"), &json!({ "to": "first try" }));
    assert_eq!(renamed.status, 200, "{renamed:?}");
    let words = opened.get("/api/fits/first%20try/words").json();
    let line = words["command_line"][0].as_str().expect("a line");
    let place = opened.path("first try").join("config.toml");
    assert!(
        place.is_file() && line.contains(&format!("'{}'", place.display())),
        "{line}"
    );
    let name = "first%20try";
    assert_eq!(opened.get(&format!("/fits/{name}/download/cake")).status, 404);
}

#[test]
fn candidates_of_a_search_are_told_as_they_are_judged() {
    let opened = Opened::new();
    order(
        &opened,
        &json!({ "data": "hair-dryer", "name": "found", "budget": 4.0 }),
    );
    let begun = Instant::now();
    let mut seen: Vec<usize> = Vec::new();
    let last = loop {
        let jobs = opened.get("/api/jobs").json();
        let live = &jobs["live"];
        let judged = live["judged"].as_u64().unwrap_or(0) as usize;
        if judged > 0 && seen.last().is_none_or(|before| *before < judged) {
            seen.push(judged);
            let rows = live["candidates"].as_array().expect("rows");
            let errors: Vec<f64> = rows
                .iter()
                .filter(|row| row["whole"] == true)
                .filter_map(|row| row["error"].as_f64())
                .collect();
            assert!(errors.is_sorted(), "the best first: {errors:?}");
            let best = live["bests"]
                .as_array()
                .expect("a curve")
                .last()
                .expect("a best")
                .clone();
            assert_eq!(best[1].as_f64(), errors.first().copied());
            assert!(rows[0]["parameters"].as_u64() > Some(0) && rows[0]["model"].is_string());
        }
        if seen.len() > 1 && live["seconds_left"].is_number() {
            break live.clone();
        }
        assert!(begun.elapsed().as_secs() < 60, "the table does not grow: {live}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert!(last["seconds_left"].as_f64() < Some(4.0));
    opened.wait("found", "done");
    // Those that were told are those of the report.
    let table = std::fs::read_to_string(opened.path("found").join("candidates.csv")).expect("a table");
    let name = last["candidates"][0]["name"].as_str().expect("a name");
    assert!(table.contains(name), "{name}: {table}");
}
