//! What is done to a recording before a fit: told, drawn before and after, part of the fit and of the words that repeat it.

use serde_json::{Value, json};

use crate::client::{Opened, csv};

/// A recording with a gap of two samples, a spike, a stretch that stands still, and a drift.
fn messy() -> String {
    let mut text = String::new();
    for (line, row) in csv(600).lines().enumerate() {
        let cells: Vec<&str> = row.split(',').collect();
        text += &match (line, cells[2].parse::<f64>()) {
            (100 | 101, _) => format!("{},{},\n", cells[0], cells[1]),
            (200, _) => format!("{},{},900\n", cells[0], cells[1]),
            (300..340, _) => format!("{},{},2.5\n", cells[0], cells[1]),
            (_, Ok(level)) => format!("{},{},{:.4}\n", cells[0], cells[1], level + 0.01 * line as f64),
            (_, Err(_)) => format!("{row}\n"),
        };
    }
    text
}

fn wish(prepare: &Value, detrend: &[&str]) -> Value {
    let options = json!({ "inputs": ["valve"], "outputs": ["level"], "prepare": prepare });
    json!({ "options": options, "split": "0.6,0.1,0.3", "detrend": detrend })
}

fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().filter_map(Value::as_str).collect()
}

#[test]
fn a_recording_is_seen_before_and_after() {
    let opened = Opened::new();
    opened.put("/api/data/messy.csv", messy().as_bytes());
    let as_it_is = opened.post("/api/data/messy.csv/view", &wish(&json!({}), &[])).json();
    assert_eq!(
        as_it_is["problem"]["line"], 101,
        "a gap is refused where it is: {as_it_is}"
    );

    let prepare = json!({ "fill_gaps": 3, "clip_spikes": { "named": [["level", 8]] }, "decimate": 2 });
    let view = opened
        .post("/api/data/messy.csv/choice", &wish(&prepare, &["level"]))
        .json();
    let summary = &view["summary"];
    assert_eq!(summary["samples"], 300, "{view}");
    let words = texts(&summary["preparation"]);
    assert_eq!(words.len(), 4, "{words:?}");
    assert!(words[1].contains("level (from 8 standard deviations on)") && words[3].starts_with("A straight line"));
    let told = texts(&summary["warnings"]);
    assert!(
        told[0].starts_with("messy.csv: 2 missing samples"),
        "without the folder: {told:?}"
    );
    let places = summary["places"]["shown"].as_array().expect("places");
    let kinds: Vec<(&str, u64)> = places
        .iter()
        .map(|place| {
            (
                place["kind"].as_str().expect("a kind"),
                place["start"].as_u64().expect("a sample"),
            )
        })
        .collect();
    assert_eq!(kinds, [("gap_filled", 49), ("spike_clipped", 99)]);
    assert_eq!((&places[0]["channel"], &places[0]["end"]), (&json!(1), &json!(51)));

    // Both over the same axis; what was missing is missing, the spike is there before and gone after.
    let series = |query: &str| {
        opened
            .get(&format!("/api/data/messy.csv/series?pixels=2000&{query}"))
            .json()
    };
    let both = series("before=true&from=40&to=120");
    let (after, before) = (&both["lines"][1], &both["before"]["lines"][1]);
    let numbers = |line: &Value| -> Vec<Option<f64>> {
        let line = line.as_array().expect("a line");
        line.iter().map(Value::as_f64).collect()
    };
    assert_eq!((numbers(after).len(), numbers(before).len()), (80, 160));
    assert_eq!(numbers(before)[19..21], [None, None], "{before}");
    let greatest = |line: &Value| numbers(line).into_iter().flatten().fold(0.0, f64::max);
    assert!(greatest(before) > 899.0 && greatest(after) < 20.0);
    let places = numbers(&both["before"]["x"]);
    assert_eq!((places[0], places[159]), (Some(40.0), Some(119.5)));
    assert_eq!(series("from=40&to=120")["before"], Value::Null, "nobody asked");

    // A limit that makes no sense, a drift of nothing, limits by place.
    for (prepare, detrend, expected) in [
        (json!({ "fill_gaps": 3, "decimate": 1 }), &[][..], "decimate"),
        (
            json!({ "fill_gaps": 3, "clip_spikes": { "named": [["level", 0.5]] } }),
            &[],
            "clip_spikes",
        ),
        (json!({ "fill_gaps": 3 }), &["levle"], "levle"),
        (
            json!({ "fill_gaps": 3, "clip_spikes": { "channels": [null, 6] } }),
            &[],
            "by the places",
        ),
    ] {
        let refused = opened.post("/api/data/messy.csv/choice", &wish(&prepare, detrend));
        assert_eq!(refused.status, 400, "{prepare}");
        assert!(
            refused.json()["error"].as_str().expect("words").contains(expected),
            "{refused:?}"
        );
    }
}

#[test]
fn a_record_without_preparation_still_has_its_places() {
    let opened = Opened::new();
    let mut text = String::from("u,y\n");
    for k in 0..400 {
        let y = if (200..260).contains(&k) {
            1.5
        } else {
            f64::from(k * k % 97)
        };
        text += &format!("{},{y}\n", k * 7 % 23);
    }
    opened.put("/api/data/stuck.csv", text.as_bytes());
    let summary = opened.get("/api/data/stuck.csv").json()["summary"].clone();
    let places = summary["places"]["shown"].as_array().expect("places");
    assert_eq!(places.len(), 1, "{places:?}");
    assert_eq!(
        (
            &places[0]["kind"],
            &places[0]["start"],
            &places[0]["end"],
            &places[0]["text"]
        ),
        (
            &json!("constant"),
            &json!(200),
            &json!(260),
            &json!("y: no change over 60 samples from line 202 on (1.5)")
        )
    );
    assert_eq!(summary["preparation"], json!([]));
}

#[test]
fn preparation_is_part_of_the_fit_and_of_the_words_that_repeat_it() {
    let mut opened = Opened::new();
    opened.put("/api/data/messy.csv", messy().as_bytes());
    let prepare = json!({ "fill_gaps": 3, "clip_spikes": { "named": [["level", 8]] }, "decimate": 2 });
    opened.post("/api/data/messy.csv/choice", &wish(&prepare, &["level"]));
    let order =
        |name: &str| json!({ "data": "messy.csv", "name": name, "settings": { "preset": "paper", "model": "arx" } });
    assert_eq!(opened.post("/api/jobs", &order("prepared")).status, 201);
    opened.wait("prepared", "done");
    let config = String::from_utf8(opened.get("/fits/prepared/download/config.toml").body).expect("text");
    for line in [
        "fill_gaps = 3",
        "decimate = 2",
        "clip_spikes = \"level=8\"",
        "detrend = [\"level\"]",
    ] {
        assert!(config.contains(line), "{line} in {config}");
    }
    let words = opened.get("/api/fits/prepared/words").json();
    let python = words["python"].as_str().expect("code");
    for argument in [
        "fill_gaps=3",
        "clip_spikes={\"level\":8.0}",
        "decimate=2",
        "detrend=[\"level\"]",
    ] {
        assert!(python.contains(argument), "{argument} in {python}");
    }
    assert!(words["command_line"][0].as_str().expect("a line").contains("--config"));
    // What is drawn has no clock for the drift to go on by.
    let drawn = opened.post("/api/fits/prepared/whatif", &json!({ "inputs": [[0.2, 0.5, 0.5]] }));
    let drawn = drawn.json();
    assert_eq!(
        texts(&drawn["warnings"]),
        [
            "what if: the model's trend goes by the clock, and these data have none: it starts as that of the training data did"
        ]
    );

    // The model asks for its own preparation, whatever is chosen for the next fit.
    opened.restart();
    let stored = opened.get("/api/data/messy.csv").json();
    assert_eq!(stored["choice"]["detrend"], json!(["level"]), "remembered");
    opened.post("/api/data/messy.csv/choice", &wish(&json!({ "fill_gaps": 3 }), &[]));
    assert_eq!(opened.post("/api/jobs", &order("as-recorded")).status, 201);
    opened.wait("as-recorded", "done");
    let show = |fits: &[&str]| {
        opened.post(
            "/api/overlay",
            &json!({ "data": "messy.csv", "part": "test", "fits": fits, "pixels": 500 }),
        )
    };
    let extent = |name: &str| show(&[name]).json()["extent"].clone();
    assert_eq!(
        (extent("prepared"), extent("as-recorded")),
        (json!([210, 300]), json!([420, 600]))
    );
    let refused = show(&["prepared", "as-recorded"]);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(
        refused.json()["error"]
            .as_str()
            .expect("words")
            .contains("different rates")
    );
}
