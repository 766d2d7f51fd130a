//! Views of models: the same as those of the library, alone and together.

use intervalid_analysis::{Linearisation, PointRequest, Run, Views, input_limits};
use intervalid_data::ReadOptions;
use intervalid_model::Model;
use intervalid_report::{AnalysisReport, analysis_page};
use intervalid_workflow::RecordRequest;
use serde_json::{Value, json};

use crate::client::{Opened, csv};
use crate::fits::{arx, order};

fn sections(page: &Value) -> Vec<&str> {
    let all = page["sections"].as_array().expect("sections");
    all.iter().filter_map(|section| section["id"].as_str()).collect()
}

#[test]
fn views_are_those_of_the_library() {
    let opened = Opened::new();
    let name = arx(&opened);
    let answer = opened.post(
        "/api/analysis",
        &json!({ "data": "hair-dryer", "part": "test", "fits": [name] }),
    );
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    assert_eq!(answer["together"], Value::Null, "one model is no overlay");
    let page = &answer["models"][0]["page"];

    let model = Model::load(opened.path(&name).join("model.safetensors")).expect("reads");
    let record = RecordRequest::new(vec!["hair-dryer".to_owned()], None, ReadOptions::default(), None);
    let (dataset, split) = record.read().expect("built in");
    let linear = Linearisation::new(&model, &PointRequest::default()).expect("a point");
    let limits = input_limits(&linear, &model.interface().normaliser.inputs, Some(&dataset), &[]).expect("limits");
    let bands = model.simulate(&dataset, &split.test).expect("runs");
    let run = Run {
        dataset: &dataset,
        part: &split.test,
        bands: &bands,
    };
    let views = Views::new(&model, linear, Some(run), &[], &limits).expect("views");
    let expected = analysis_page(&AnalysisReport::new(&model, Some(&dataset), &views)).expect("a page");
    let expected = serde_json::to_string(&expected).expect("JSON");
    assert_eq!(*page, serde_json::from_str::<Value>(&expected).expect("JSON"));
    assert_eq!(
        sections(page),
        ["linear", "frequency", "steps", "static", "errors", "width", "next"],
        "an ARX model has no margins, so no elasticity"
    );
}

#[test]
fn several_models_share_charts_and_one_that_cannot_hides_no_other() {
    let opened = Opened::new();
    let first = arx(&opened);
    let second = order(
        &opened,
        &json!({ "data": "hair-dryer", "name": "net", "settings": { "model": "inode", "preset": "paper", "epochs": 3, "hidden": [4] } }),
    );
    opened.wait(&second, "done");
    opened.put("/api/data/tank.csv", csv(300).as_bytes());
    let columns = json!({ "options": { "inputs": ["valve"], "outputs": ["level"] } });
    assert_eq!(opened.post("/api/data/tank.csv/choice", &columns).status, 200);
    let other = order(
        &opened,
        &json!({ "data": "tank.csv", "name": "tank", "settings": { "model": "arx", "preset": "paper", "lags": "1,1,1" } }),
    );
    opened.wait(&other, "done");
    let asked = json!({ "data": "hair-dryer", "part": "test", "fits": [first, second, other] });
    let answer = opened.post("/api/analysis", &asked);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    let together = &answer["together"];
    assert_eq!(sections(together), ["steps", "frequency", "static", "errors"]);
    for section in together["sections"].as_array().expect("sections") {
        for chart in section["charts"].as_array().expect("charts") {
            let names: Vec<&str> = chart["series"]
                .as_array()
                .expect("lines")
                .iter()
                .filter_map(|series| series["name"].as_str())
                .collect();
            let has = |name: &str| names.iter().any(|label| label.starts_with(name));
            assert!(has("hair-dryer-arx") && has("net") && !has("tank"), "{names:?}");
        }
    }
    let models = answer["models"].as_array().expect("models");
    assert!(sections(&models[1]["page"]).contains(&"elasticity"));
    assert!(
        models[2]["problem"].as_str().expect("a reason").contains("valve") && models[2]["page"].is_null(),
        "{}",
        models[2]
    );
    let none = opened.post(
        "/api/analysis",
        &json!({ "data": "hair-dryer", "part": "test", "fits": [] }),
    );
    assert_eq!(none.status, 400);
}
