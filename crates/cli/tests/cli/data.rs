//! `data list` and `data show`.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::support::{Folder, csv, plain};

#[test]
fn list() {
    assert_snapshot!(Folder::new().transcript(&["data", "list"]));
}

#[test]
fn list_with_a_data_folder() {
    let folder = Folder::new();
    folder.write("data/my_tank.csv", csv(30, plain));
    folder.write("data/mr_damper.csv", csv(40, plain));
    folder.write("data/odd.csv", "time,level\n0,1\n");
    folder.write("data/notes.txt", "not data");
    assert_snapshot!(folder.transcript(&["data", "list", "--data-dir", "data"]));
    let by_variable = folder
        .command(&["data", "list", "-q"])
        .env("INTERVALID_DATA", "data")
        .output();
    let by_option = folder.run(&["data", "list", "-q", "--data-dir", "data"]);
    assert_eq!(by_variable.expect("the program runs").stdout, by_option.stdout);
    // A variable that is set but empty is no folder.
    let empty = folder.command(&["data", "list"]).env("INTERVALID_DATA", "").output();
    assert_eq!(
        empty.expect("the program runs").stdout,
        folder.run(&["data", "list"]).stdout
    );
}

#[test]
fn list_json() {
    let folder = Folder::new();
    folder.write("data/my_tank.csv", csv(30, plain));
    let list = folder.json(&["data", "list", "--json", "--data-dir", "data"]);
    let datasets = list["datasets"].as_array().expect("a list");
    let find = |name: &str| datasets.iter().find(|entry| entry["name"] == name).expect("listed");
    assert_eq!(find("hair-dryer")["origin"], "built-in");
    assert_eq!(find("mr-damper")["available"], false);
    assert_eq!(find("my-tank")["samples"], 30);
}

#[test]
fn show_built_in() {
    let folder = Folder::new();
    assert_snapshot!("show_hair_dryer", folder.transcript(&["data", "show", "hair-dryer"]));
    assert_snapshot!("show_robot_arm", folder.transcript(&["data", "show", "robot-arm"]));
}

#[test]
fn show_json() {
    let shown = Folder::new().json(&["data", "show", "hair-dryer", "--json"]);
    assert_eq!(shown["samples"], 1000);
    assert_eq!(shown["inputs"][0]["unit"], "V");
    assert_eq!(shown["split"]["train"], 400);
    assert_eq!(shown["split"]["chosen_by"], "paper");
    assert_eq!(shown["dead_time"][0]["delay"].as_u64(), Some(3));
    assert_eq!(shown["lags"][0]["initial"], "zero");
    assert!(shown["lags"][0]["suggested"]["lags"]["ny"].is_u64());
    assert_eq!(shown["notes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn show_several_files_and_a_gap() {
    let folder = Folder::new();
    folder.write("first.csv", csv(150, plain));
    let gap = |row, column, value| {
        if row == 57 {
            "NaN".to_owned()
        } else {
            plain(row, column, value)
        }
    };
    folder.write("second.csv", csv(150, gap));
    let arguments = [
        "data",
        "show",
        "first.csv",
        "second.csv",
        "--missing",
        "split",
        "--sample-time",
        "0.5",
    ];
    assert_snapshot!(folder.transcript(&arguments));
}

#[test]
fn show_what_is_too_short_or_stands_still() {
    let folder = Folder::new();
    folder.write("short.csv", csv(20, plain));
    let constant = |row, column, value| {
        if column == 'u' {
            "3".to_owned()
        } else {
            plain(row, column, value)
        }
    };
    folder.write("constant.csv", csv(300, constant));
    folder.write("two.csv", csv(2, plain));
    let shown = ["short.csv", "constant.csv", "two.csv"].map(|file| folder.transcript(&["data", "show", file]));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn show_a_time_series_without_inputs() {
    let folder = Folder::new();
    folder.write("series.csv", csv(300, plain));
    let shown = folder.json(&["data", "show", "series.csv", "--input", "", "--output", "u,y", "--json"]);
    assert_eq!(shown["inputs"].as_array().map(Vec::len), Some(0));
    assert_eq!(shown["outputs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn show_every_kind_of_file() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/fixtures");
    let folder = Folder::new();
    for name in ["compressed.mat", "plain.npz", "plain.parquet"] {
        let file = fixtures.join(name);
        let shown = folder.json(&["data", "show", file.to_str().expect("UTF-8 path"), "--json"]);
        assert!(shown["samples"].as_u64() > Some(0), "{name}");
    }
    folder.write("a.tsv", csv(50, plain).replace(',', "\t"));
    folder.write("b.csv", csv(50, plain).replace(',', ";"));
    assert_eq!(folder.json(&["data", "show", "a.tsv", "--json"])["samples"], 50);
    assert_eq!(
        folder.json(&["data", "show", "b.csv", "--delimiter", ";", "--json"])["samples"],
        50
    );
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new();
    let mut child = folder
        .command(&["data", "show", "hair-dryer", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // Closed before anything is printed.
    drop(child.stdout.take());
    let mut message = String::new();
    let mut stderr = child.stderr.take().expect("piped");
    stderr.read_to_string(&mut message).expect("text");
    assert_eq!((child.wait().expect("ends").code(), message.as_str()), (Some(0), ""));
}

#[test]
fn show_a_name_of_the_data_folder() {
    let folder = Folder::new();
    folder.write("data/my_tank.csv", csv(200, plain));
    folder.write("data/heat_exchanger.csv", csv(400, plain));
    let own = folder.json(&["--data-dir", "data", "data", "show", "my-tank", "--json"]);
    assert_eq!(
        (&own["samples"], &own["split"]["chosen_by"]),
        (&200.into(), &"default".into())
    );
    // A known name brings its split, sample time and units along.
    let known = folder.json(&["data", "show", "heat-exchanger", "--data-dir", "data", "--json"]);
    assert_eq!(known["split"]["train"], 80);
    assert_eq!(known["sample_time"], 1.0);
    assert_eq!(known["outputs"][0]["unit"], "°C");
    let asked = [
        "data",
        "show",
        "heat-exchanger",
        "--data-dir",
        "data",
        "--split",
        "0.5,0.2,0.3",
        "--json",
    ];
    assert_eq!(folder.json(&asked)["split"]["validation"], 80);
}
