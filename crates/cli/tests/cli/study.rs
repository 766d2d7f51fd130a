//! A small study end to end, as a user runs it.

use crate::support::{Folder, csv, plain};

pub(crate) const SPEC: &str = r#"
name = "small"
datasets = ["hair-dryer", "mr-damper"]
models = ["inode", "ensemble-node", "arx"]
strategies = ["cascade", "joint"]
margins = ["abs"]
coverages = [0.9, 0.95]
seeds = [1, 2]

[settings]
epochs = 2
hidden = [6, 5]
members = 2
"#;

#[test]
fn a_study_runs_resumes_and_is_looked_at() {
    let folder = Folder::new();
    folder.write("small.toml", SPEC);
    let run = ["study", "run", "small.toml", "--out", "small", "--jobs", "2"];
    let text = folder.transcript(&run);
    assert!(
        text.contains("exit code: 0") && text.contains("data set 'mr-damper' is missing"),
        "{text}"
    );
    let output = folder.run(&[&run[..], &["--json"]].concat());
    let again: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&again["done"], &again["resumed"]), (&0.into(), &16.into()));

    let status = folder.json(&["study", "status", "small", "--json"]);
    assert_eq!(status["runs"]["done"], 16);
    let tables = [("md", "| "), ("csv", ","), ("latex", "\\toprule"), ("json", "{")];
    for (format, mark) in tables {
        let text = folder.transcript(&["study", "table", "small", "--format", format]);
        assert!(text.contains("exit code: 0") && text.contains(mark), "{format}: {text}");
    }
    let figures = folder.json(&["study", "figures", "small", "--json"]);
    let names: Vec<&str> = figures["figures"]
        .as_array()
        .expect("names")
        .iter()
        .filter_map(|name| name.as_str())
        .collect();
    for expected in [
        "boxes-hair-dryer-0.90",
        "snapshot-hair-dryer-0.95-joint",
        "snapshot-hair-dryer-0.90-baselines",
    ] {
        assert!(names.contains(&expected), "{expected} in {names:?}");
    }
    for name in names {
        for ending in ["svg", "png"] {
            let file = folder.path().join("small/figures").join(format!("{name}.{ending}"));
            assert!(file.is_file(), "{}", file.display());
        }
    }
}

#[test]
fn built_in_studies_can_be_printed() {
    let folder = Folder::new();
    for name in ["paper", "paper-faithful", "paper-auto", "paper-quick"] {
        let text = folder.transcript(&["study", "run", name, "--print"]);
        assert!(text.contains("exit code: 0") && text.contains("datasets"), "{text}");
    }
}

/// What a job array does: a shard per process, each in its own folder, then a merge.
#[test]
fn shards_merged_are_the_study() {
    let folder = Folder::new();
    folder.write("small.toml", SPEC);
    let run = |out: &str, shard: &[&str]| {
        let arguments = ["study", "run", "small.toml", "--out", out, "--jobs", "1", "--quiet"];
        let output = folder.run(&[&arguments[..], shard].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run("whole", &[]);
    let shards = ["shard-1", "shard-2", "shard-3"];
    for (index, out) in shards.iter().enumerate() {
        run(out, &["--shard", &format!("{}/3", index + 1)]);
    }
    let merge = |from: &[&str]| folder.json(&[&["study", "merge", "merged"], from, &["--json"]].concat());
    let first = merge(&shards[..2]);
    assert!(first["runs"]["left"].as_u64() > Some(16), "{first}");
    let text = folder.transcript(&["study", "merge", "merged", "shard-1"]);
    assert!(
        text.contains("exit code: 0") && text.contains("is a shard missing?"),
        "{text}"
    );
    let all = merge(&shards);
    assert_eq!((&all["runs"]["done"], &all["runs"]["left"]), (&16.into(), &16.into()));
    assert_eq!(merge(&shards)["added"], 0);
    let table = |out: &str| folder.run(&["study", "table", out, "--json"]).stdout;
    assert_eq!(table("merged"), table("whole"));
    assert!(folder.run(&["study", "figures", "merged", "--quiet"]).status.success());

    // Another study is refused, and nothing is left of the attempt.
    folder.write("other.toml", SPEC.replace("epochs = 2", "epochs = 3"));
    let other = [
        "study",
        "run",
        "other.toml",
        "--out",
        "other",
        "--shard",
        "1/9",
        "--quiet",
    ];
    assert!(folder.run(&other).status.success());
    for out in ["merged", "new"] {
        let text = folder.transcript(&["study", "merge", out, "shard-1", "other"]);
        assert!(
            text.contains("exit code: 2") && text.contains("other contents"),
            "{text}"
        );
    }
    assert!(!folder.path().join("new").exists());
    assert_eq!(table("merged"), table("whole"));
}

#[test]
fn data_of_ones_own_have_their_columns_their_unit_and_the_names_of_figures() {
    let folder = Folder::new();
    folder.write("plant.csv", csv(300, plain).replacen("u,y", "valve,level", 1));
    let spec = |name: &str, settings: &str| {
        format!(
            "name = '{name}'\ndatasets = ['plant.csv']\nmodels = ['inode', 'arx']\nstrategies = ['joint']\nmargins = ['abs']\n\
             seeds = [1]\n[columns.'plant.csv']\ninput = 'valve'\noutput = ['level']\n\
             [settings]\nepochs = 1\nhidden = [4]\nlags = '1,0,1'\n{settings}"
        )
    };
    folder.write("tuned.toml", spec("tuned", "miss_factor = 0.5"));
    folder.write(
        "faithful.toml",
        spec("faithful", "miss_factor = 1.0").replace("['inode', 'arx']", "['inode']"),
    );
    for name in ["tuned", "faithful"] {
        folder.json(&["study", "run", &format!("{name}.toml"), "--out", name, "--json"]);
    }
    let table = folder.transcript(&["study", "table", "tuned"]);
    for part in [
        "| plant.csv | RMSE |",
        "| plant.csv | trained for % | 95 |",
        "J-INODE-2 (abs)",
        "| ARX |",
    ] {
        assert!(table.contains(part), "{part} in {table}");
    }
    assert!(!table.contains("100·RMSE"), "{table}");
    let rows = folder.json(&["study", "table", "tuned", "--json"]);
    let in_table = rows["tables"][1]["rows"][0]["cells"][0]["ours"]["mean"]
        .as_f64()
        .expect("RMSE of ARX");
    // The record moves within a few units, and its noise is a tenth wide.
    assert!(in_table > 0.0 && in_table < 1.0, "{in_table}");

    let both = folder.transcript(&["study", "table", "faithful", "tuned"]);
    for part in [
        "| data set | model | metric | faithful | tuned | published |",
        // ARX is in one of them alone.
        "| data set | model | metric | tuned | published |",
        "| trained for % | 90 | 95 | |",
    ] {
        assert!(both.contains(part), "{part} in {both}");
    }
    let both = folder.json(&["study", "table", "faithful", "tuned", "--json"]);
    assert_eq!(both["studies"].as_array().map(Vec::len), Some(2));
    let csv = folder.transcript(&["study", "table", "faithful", "tuned", "--format", "csv"]);
    assert!(
        csv.contains("study,table,dataset") && csv.contains("\ntuned,joint,plant.csv,inode"),
        "{csv}"
    );

    folder.json(&["study", "figures", "tuned", "--json"]);
    let boxes =
        std::fs::read_to_string(folder.path().join("tuned/figures/boxes-plant.csv-0.90.svg")).expect("a figure");
    for label in ["ARX", "J-INODE-2", ">RMSE<"] {
        assert!(boxes.contains(label), "{label} in the box plots");
    }
    folder.write(
        "wrong.toml",
        spec("wrong", "").replace("columns.'plant.csv'", "columns.'plants.csv'"),
    );
    let text = folder.transcript(&["study", "run", "wrong.toml", "--out", "wrong"]);
    assert!(text.contains("exit code: 2") && text.contains("plants.csv"), "{text}");
}
