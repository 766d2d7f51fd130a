//! A model in use: `recalibrate`, `card`, the online band between calls, `update`.

use std::fmt::Write as _;
use std::fs;

use intervalid_files::OwnedFolder;
use serde_json::Value;

use crate::support::{Folder, csv, plain, record};

/// A folder with a fitted ARX model of the plant of [`record`], in `fit`.
pub(crate) fn fitted() -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", csv(600, plain));
    let fit = [
        "fit",
        "train.csv",
        "--model",
        "arx",
        "--lags",
        "1,1,1",
        "--out",
        "fit",
        "--json",
    ];
    folder.json(&fit);
    folder
}

/// Another record of the plant from sample `start` on: `change` gets its index and the measured output.
pub(crate) fn later(samples: std::ops::Range<usize>, change: impl Fn(usize, f64) -> f64) -> String {
    let mut text = String::from("u,y\n");
    for (index, (u, y)) in record(samples.end).into_iter().enumerate().skip(samples.start) {
        let _ = writeln!(text, "{u:.4},{:.4}", change(index, y));
    }
    text
}

#[test]
fn a_band_is_recalibrated_and_the_old_model_stays() {
    let folder = fitted();
    // Four times the noise of the plant, which is uniform over 0.1.
    let louder = |k: usize, y: f64| y + 0.3 * (((k * 7919) % 101) as f64 / 101.0 - 0.5);
    folder.write("louder.csv", later(600..1200, louder));
    folder.write("later.csv", later(1200..1800, louder));
    let old = fs::read(folder.path().join("fit/model.safetensors")).expect("a model");
    let arguments = ["recalibrate", "fit", "louder.csv", "--out", "new.safetensors", "--json"];
    let found = folder.json(&arguments);
    assert_eq!(
        fs::read(folder.path().join("fit/model.safetensors")).expect("a model"),
        old
    );
    let share = |value: &Value| value.as_f64().expect("a number");
    assert!(share(&found["before"]["coverage"]) < 0.8, "{found}");
    assert!((share(&found["after"]["coverage"]) - 0.9).abs() < 0.06, "{found}");
    let judged = folder.json(&["evaluate", "new.safetensors", "later.csv", "--json"]);
    assert!((share(&judged["picp"]) - 0.9).abs() < 0.07, "{judged}");
    for reader in [
        &["predict", "new.safetensors", "later.csv", "--out", "p.csv"][..],
        &["explain", "new.safetensors"],
        &["card", "new.safetensors"],
        &["monitor", "new.safetensors", "later.csv"],
        &["export", "new.safetensors", "--to", "c", "--out", "step.c"],
        &["export", "new.safetensors", "--to", "onnx", "--out", "step.onnx"],
    ] {
        let output = folder.run(reader);
        assert!(
            output.status.success(),
            "{reader:?} {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    folder.write("short.csv", later(600..615, |_, y| y));
    for (arguments, words) in [
        (
            &["short.csv", "--out", "x.safetensors"][..],
            "independent ones, expected at least 30",
        ),
        (&["louder.csv", "--out", "fit/model.safetensors"], "would replace"),
        (
            &["louder.csv", "--out", "x.safetensors", "--weight", "2"],
            "weight = 2 is not allowed",
        ),
    ] {
        let text = folder.transcript(&[&["recalibrate", "fit"], arguments].concat());
        assert!(text.contains("exit code: 2") && text.contains(words), "{words}: {text}");
        assert!(!folder.path().join("x.safetensors").exists());
    }
}

#[test]
fn a_band_is_not_recalibrated_by_what_the_model_has_learnt() {
    let folder = fitted();
    folder.write("copy.csv", csv(600, plain));
    folder.write("other.csv", later(600..1200, |_, y| y + 0.05));
    let several = [
        "fit",
        "train.csv",
        "other.csv",
        "--model",
        "arx",
        "--lags",
        "1,1,1",
        "--out",
        "several",
    ];
    assert!(folder.run(&several).status.success());
    for (model, data) in [
        ("fit", &["copy.csv"][..]),
        ("fit/model.safetensors", &["other.csv", "copy.csv"]),
        ("several", &["copy.csv"]),
    ] {
        let text = folder.transcript(&[&["recalibrate", model], data, &["--out", "x.safetensors"]].concat());
        let words = "'copy' holds samples that the model was fitted to";
        assert!(text.contains("exit code: 2") && text.contains(words), "{text}");
        assert!(!folder.path().join("x.safetensors").exists());
    }
    let other = folder.transcript(&["recalibrate", "fit", "other.csv", "--out", "y.safetensors"]);
    assert!(other.contains("exit code: 0") && !other.contains("warning"), "{other}");
    // Errors that change from one half to the other.
    let wild = |k: usize, y: f64| match k {
        ..900 => y,
        _ => y + if k.is_multiple_of(2) { 1.0 } else { -1.0 },
    };
    folder.write("wild.csv", later(600..1200, wild));
    let wild = folder.transcript(&["recalibrate", "fit", "wild.csv", "--out", "z.safetensors"]);
    assert!(
        wild.contains("exit code: 0") && wild.contains("it does not hold what it promises"),
        "{wild}"
    );
}

#[test]
fn a_model_of_all_parts_is_not_recalibrated_by_its_test() {
    let folder = fitted();
    folder.write("other.csv", later(600..1200, |_, y| y + 0.05));
    folder.write("new.csv", later(1200..1800, |_, y| y + 0.05));
    let fit = [
        "fit",
        "train.csv",
        "--test",
        "other.csv",
        "--refit-all",
        "--model",
        "arx",
        "--lags",
        "1,1,1",
    ];
    assert!(folder.run(&[&fit[..], &["--out", "all"]].concat()).status.success());
    let recalibrate = |model: &str, data: &[&str]| {
        folder.transcript(&[&["recalibrate", model], data, &["--out", "x.safetensors"]].concat())
    };
    let words = "'other' holds samples that the model was fitted to";
    for data in [&["other.csv"][..], &["new.csv", "other.csv"]] {
        let text = recalibrate("all/model-all.safetensors", data);
        assert!(text.contains("exit code: 2") && text.contains(words), "{text}");
    }
    // The model that was judged by it has not seen it, and nothing has seen a new one.
    for (model, data) in [("all", "other.csv"), ("all/model-all.safetensors", "new.csv")] {
        let text = recalibrate(model, &[data]);
        assert!(text.contains("exit code: 0"), "{text}");
    }
}

#[test]
fn a_model_is_recalibrated_from_inside_its_folder() {
    let folder = fitted();
    folder.write("other.csv", later(600..1200, |_, y| y + 0.05));
    let inside = |data: &str| {
        let mut command = folder.command(&["recalibrate", "model.safetensors", data, "--out", "../x.safetensors"]);
        command
            .current_dir(folder.path().join("fit"))
            .output()
            .expect("the program runs")
    };
    let output = inside("../other.csv");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = inside("../train.csv");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("holds samples that the model was fitted to"),
        "{message}"
    );
}

#[test]
fn a_card_says_what_is_known_and_what_is_not() {
    let folder = fitted();
    let card = folder.json(&["card", "fit", "--data-licence", "CC BY 4.0", "--json"]);
    let text = card.to_string();
    for words in [
        "CC BY 4.0",
        "SHA-256 of the file",
        "sample time",
        "0.6,0.1,0.3",
        "train",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let unknown = card["unknown"].as_array().expect("a list");
    assert!(unknown.iter().any(|name| name == "sample time"), "{unknown:?}");
    assert!(!unknown.iter().any(|name| name == "licence of the data"));
    for (file, words) in [
        ("card.md", "# Model card: y (arx)"),
        ("card.html", "<h2>Not known</h2>"),
    ] {
        assert!(folder.run(&["card", "fit", "--out", file]).status.success());
        let text = fs::read_to_string(folder.path().join(file)).expect("a card");
        assert!(text.contains(words) && text.contains("licence of the data"), "{text}");
    }
    // A model by itself: its figures are nobody's.
    fs::copy(
        folder.path().join("fit/model.safetensors"),
        folder.path().join("alone.safetensors"),
    )
    .expect("copied");
    let alone = folder.json(&["card", "alone.safetensors", "--json"]);
    let unknown = alone["unknown"].to_string();
    assert!(
        unknown.contains("figures on held-out data") && unknown.contains("data set"),
        "{unknown}"
    );
    let text = folder.transcript(&["card", "fit", "--out", "card.pdf"]);
    assert!(
        text.contains("exit code: 2") && text.contains("ends in .md or .html"),
        "{text}"
    );
}

#[test]
fn a_card_tells_the_protocol_of_its_model() {
    let folder = Folder::new();
    folder.write("train.csv", csv(300, plain));
    let arx = ["fit", "train.csv", "--model", "arx", "--lags", "1,1,1", "--json"];
    folder.json(&[&arx[..], &["--refit-all", "--out", "searched"]].concat());
    folder.json(&[&arx[..], &["--preset", "paper", "--out", "one"]].concat());
    fs::copy(
        folder.path().join("one/model.safetensors"),
        folder.path().join("alone.safetensors"),
    )
    .expect("copied");
    for (model, words) in [
        ("searched", "Chosen by a search on the training and validation parts"),
        (
            "searched/model-all.safetensors",
            "Fitted to all parts of its record, the test part included",
        ),
        (
            "one",
            "Fitted to the training part; choices were made on the validation part. The test part was looked at once",
        ),
        ("alone.safetensors", "Nothing is known of which samples"),
    ] {
        let text = folder.transcript(&["card", model]);
        assert!(text.contains("exit code: 0") && text.contains(words), "{model}: {text}");
    }
}

#[test]
fn an_online_band_goes_on_between_calls() {
    let folder = fitted();
    folder.write("a.csv", later(600..800, |_, y| y + 0.1));
    folder.write("b.csv", later(800..1000, |_, y| y + 0.1));
    let predict = |files: &[&str], more: &[&str]| {
        let all = [&["predict", "fit"], files, &["--online", "--json"], more].concat();
        folder.json(&all)
    };
    let alone = predict(&["b.csv"], &[]);
    let first = predict(&["a.csv"], &["--state", "s"]);
    assert_eq!(
        first["predictions"],
        predict(&["a.csv"], &[])["predictions"],
        "it starts as without a state"
    );
    let after = predict(&["b.csv"], &["--state", "s"]);
    let upper = |value: &Value| value["predictions"][0]["y_upper_online"][0].as_f64().expect("a number");
    assert!(upper(&after) > upper(&alone), "it has learnt from the first recording");
    assert_eq!(
        predict(&["b.csv"], &["--state", "s"]),
        after,
        "a repeated call gives the same"
    );
    folder.write("s", "{}");
    let text = folder.transcript(&["predict", "fit", "b.csv", "--online", "--state", "s"]);
    assert!(
        text.contains("exit code: 2") && text.contains("not the state of an online band"),
        "{text}"
    );
    let text = folder.transcript(&["predict", "fit", "b.csv", "--state", "s"]);
    assert!(text.contains("exit code: 2") && text.contains("--online"), "{text}");
}

#[test]
fn an_online_band_learns_once_from_a_recording_that_grows_and_from_each_part() {
    let folder = Folder::new();
    folder.write("train.csv", csv(1200, plain));
    let fit = [
        "fit",
        "train.csv",
        "--decimate",
        "2",
        "--model",
        "arx",
        "--lags",
        "1,1,1",
        "--out",
        "fit",
    ];
    assert!(folder.run(&fit).status.success());
    let predict = |more: &[&str]| {
        let output = folder.run(&[&["predict", "fit", "log.csv", "--online", "--json"], more].concat());
        let found: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        found["predictions"].clone()
    };
    folder.write("log.csv", later(1200..1600, |_, y| y + 0.2));
    predict(&["--state", "s"]);
    folder.write("log.csv", later(1200..1800, |_, y| y + 0.2));
    assert_eq!(predict(&["--state", "s"]), predict(&[]), "as one call over all of it");
    // With another recording after it, too, as a gap makes one.
    folder.write("next.csv", later(1800..2200, |_, y| y + 0.2));
    let both = predict(&["next.csv", "--state", "s"]);
    assert_eq!(both, predict(&["next.csv", "--state", "once"]), "as one call over both");
    // A part after another one is no repetition.
    predict(&["--part", "train", "--state", "p"]);
    let after = predict(&["--part", "test", "--state", "p"]);
    assert_ne!(
        after,
        predict(&["--part", "test"]),
        "it has learnt from the training part"
    );
    assert_eq!(
        after,
        predict(&["--part", "test", "--state", "p"]),
        "a repeated call gives the same"
    );
}

#[test]
fn an_update_is_kept_if_it_is_no_worse() {
    let folder = fitted();
    // The plant answers half as much again.
    folder.write("changed.csv", later(600..1200, |_, y| 1.5 * y));
    let old = fs::read(folder.path().join("fit/model.safetensors")).expect("a model");
    let arguments = [
        "update",
        "fit",
        "changed.csv",
        "--with",
        "train.csv",
        "--out",
        "updated",
        "--json",
    ];
    let found = folder.json(&arguments);
    assert!(
        found["score_ratio"].as_f64().is_some_and(|ratio| ratio < 1.0),
        "{found}"
    );
    assert_eq!(
        fs::read(folder.path().join("fit/model.safetensors")).expect("a model"),
        old
    );
    let page = fs::read_to_string(folder.path().join("updated/comparison.html")).expect("a page");
    assert!(page.contains("updated"));
    assert!(
        folder
            .run(&["predict", "updated", "changed.csv", "--out", "p.csv"])
            .status
            .success()
    );
    // Once more into the same folder: there is a model in it.
    let text = folder.transcript(&arguments[..7]);
    assert!(
        text.contains("exit code: 2") && text.contains("there is a model.safetensors in it"),
        "{text}"
    );
    // Nor does it replace a page alone.
    folder.write("pages/comparison.html", "of somebody else");
    let text = folder.transcript(&["update", "fit", "changed.csv", "--with", "train.csv", "--out", "pages"]);
    assert!(
        text.contains("exit code: 2") && text.contains("there is a comparison.html in it"),
        "{text}"
    );
    // New data that end otherwise than they began: what was learnt from their start is wrong at their end.
    let turned = |k: usize, y: f64| if k < 1020 { 3.0 - y } else { y };
    folder.write("turned.csv", later(600..1200, turned));
    let text = folder.transcript(&["update", "fit", "turned.csv", "--with", "train.csv", "--out", "worse"]);
    assert!(
        text.contains("exit code: 3") && text.contains("nothing was written"),
        "{text}"
    );
    assert!(!folder.path().join("worse").exists());
    // Of two updates into one folder, the second is refused before any work.
    let held = OwnedFolder::take(&folder.path().join("taken")).expect("nobody has it");
    let text = folder.transcript(&["update", "fit", "turned.csv", "--with", "train.csv", "--out", "taken"]);
    assert!(
        text.contains("exit code: 2") && text.contains("another run is writing into this folder"),
        "{text}"
    );
    drop(held);
}

#[test]
fn a_card_says_what_the_band_of_a_linear_model_was_sized_by() {
    let folder = Folder::new();
    folder.write("train.csv", csv(300, plain));
    for (name, split) in [("held", "0.6,0.1,0.3"), ("none", "0.7,0,0.3")] {
        let fit = [
            "fit",
            "train.csv",
            "--model",
            "arx",
            "--lags",
            "1,1,1",
            "--preset",
            "paper",
        ];
        assert!(
            folder
                .run(&[&fit[..], &["--split", split, "--out", name]].concat())
                .status
                .success()
        );
    }
    fs::copy(
        folder.path().join("held/model.safetensors"),
        folder.path().join("alone.safetensors"),
    )
    .expect("copied");
    for (model, words) in [
        (
            "held",
            "The band was sized by errors of free runs over the validation part",
        ),
        ("none", "with no held-out data: expect less inside on new data"),
        ("alone.safetensors", "over the validation part of the fit if it had one"),
    ] {
        let text = folder.transcript(&["card", model]);
        assert!(text.contains("exit code: 0") && text.contains(words), "{model}: {text}");
    }
}

#[test]
fn a_card_leaves_out_what_another_fit_says() {
    let folder = fitted();
    let another = [
        "fit",
        "train.csv",
        "--model",
        "arx",
        "--lags",
        "3,0,3",
        "--out",
        "other",
        "--quiet",
    ];
    assert!(folder.run(&another).status.success());
    let file = |name: &str| folder.path().join(name).join("model.safetensors");
    std::fs::copy(file("other"), file("fit")).expect("copied");
    let output = folder.run(&["card", "fit/model.safetensors", "--json"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && error.contains("leaves out"), "{error}");
    let card: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let text = card.to_string();
    assert!(!text.contains("train.csv") && !text.contains("RMSE"), "{text}");
}
