//! Folders that another process writes into: no job and no move touches what is in them.

use intervalid_files::OwnedFolder;
use serde_json::{Value, json};

use crate::client::{Answer, Opened};
use crate::fits::{arx, long, order};
use crate::remarks::{copy, row};

/// What `OwnedFolder` marks a folder with.
const LOCK: &str = ".intervalid-folder-lock";

/// A search for `x` behind a fit that takes long, and the number of that.
fn search_that_waits(opened: &Opened) -> Value {
    order(opened, &long());
    let running = opened.wait("long", "running");
    let search = json!({ "data": "hair-dryer", "name": "x", "budget": 3.0 });
    assert_eq!(order(opened, &search), "x");
    running["id"].clone()
}

fn message(failed: &Value) -> &str {
    failed["message"].as_str().expect("a message")
}

#[test]
fn a_job_that_does_not_get_its_folder_leaves_the_journal_of_another_search() {
    let opened = Opened::new();
    let running = search_that_waits(&opened);
    // Meanwhile a terminal searches under that name.
    let place = opened.path("x");
    let terminal = OwnedFolder::take(&place).expect("a folder");
    let journal = place.join("checkpoint.search");
    std::fs::write(&journal, "the work of hours").expect("written");
    opened.post(&format!("/api/jobs/{running}/cancel"), &json!({}));
    let failed = opened.wait("x", "failed");
    assert!(
        message(&failed).contains("another run is writing into this folder"),
        "{failed}"
    );
    assert!(place.join(LOCK).is_file() && OwnedFolder::take(&place).is_err());
    drop(terminal);
    assert_eq!(
        std::fs::read_to_string(journal).expect("still there"),
        "the work of hours"
    );
}

#[test]
fn a_journal_that_a_job_cannot_go_on_from_stays() {
    let opened = Opened::new();
    let running = search_that_waits(&opened);
    let place = opened.path("x");
    std::fs::create_dir(&place).expect("a folder");
    let journal = place.join("checkpoint.search");
    std::fs::write(&journal, "of another program").expect("written");
    opened.post(&format!("/api/jobs/{running}/cancel"), &json!({}));
    let failed = opened.wait("x", "failed");
    let message = message(&failed);
    assert!(
        message.contains("checkpoint.search") && message.contains("order the fit under another name"),
        "{failed}"
    );
    assert_eq!(
        std::fs::read_to_string(journal).expect("still there"),
        "of another program"
    );
    assert!(!place.join(LOCK).exists(), "the folder is free");
}

#[test]
fn a_folder_that_somebody_writes_into_is_not_moved() {
    let opened = Opened::new();
    let name = arx(&opened);
    let refused = |answer: Answer| {
        assert_eq!(answer.status, 409, "{answer:?}");
        assert!(answer.text().contains("another run is writing into"), "{answer:?}");
    };
    let rename = || opened.post(&format!("/api/fits/{name}/rename"), &json!({ "to": "moved" }));
    let owner = OwnedFolder::take(&opened.path(&name)).expect("a folder");
    refused(rename());
    refused(opened.post(&format!("/api/fits/{name}/discard"), &json!({})));
    assert!(opened.path(&name).join("model.safetensors").is_file());
    drop(owner);
    let renamed = rename();
    assert_eq!(renamed.status, 200, "{renamed:?}");
    assert!(!opened.path("moved").join(LOCK).exists(), "nothing is left of the move");

    assert_eq!(opened.post("/api/fits/moved/discard", &json!({})).status, 200);
    let binned = opened.path(".intervalid-studio/bin/moved");
    assert!(!binned.join(LOCK).exists());
    let owner = OwnedFolder::take(&binned).expect("a folder");
    refused(opened.post("/api/bin/moved/restore", &json!({})));
    refused(opened.post("/api/bin/moved/erase", &json!({})));
    drop(owner);
    assert_eq!(opened.post("/api/bin/moved/restore", &json!({})).status, 200);
    assert!(opened.path("moved").join("model.safetensors").is_file());
}

/// The note is under both names before the folder moves: a kill at any moment leaves it where the fit is.
#[test]
fn a_fit_whose_note_cannot_go_along_stays_where_it_is() {
    let opened = Opened::new();
    let name = arx(&opened);
    copy(&opened, &name, "another");
    let remark = json!({ "note": "the one from May" });
    assert_eq!(opened.post(&format!("/api/fits/{name}/remark"), &remark).status, 200);
    // A folder in the place of the studio's own file cannot be replaced by it.
    let (state, aside) = (opened.path(".intervalid-studio/state.json"), opened.path("aside"));
    std::fs::rename(&state, &aside).expect("moved");
    std::fs::create_dir(&state).expect("a folder");
    let rename = || opened.post(&format!("/api/fits/{name}/rename"), &json!({ "to": "moved" }));
    assert_eq!(rename().status, 500);
    assert_eq!(
        opened.post(&format!("/api/fits/{name}/discard"), &json!({})).status,
        500
    );
    assert_eq!(row(&opened, &name)["note"], "the one from May");
    assert!(!opened.path("moved").exists());
    std::fs::remove_dir(&state).expect("removed");
    std::fs::rename(&aside, &state).expect("moved back");
    assert_eq!(rename().status, 200);
    assert_eq!(row(&opened, "moved")["note"], "the one from May");
    copy(&opened, "another", &name);
    assert_eq!(row(&opened, &name)["note"], "", "the name is free of it");
}
