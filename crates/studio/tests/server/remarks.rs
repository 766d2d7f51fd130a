//! Pins, notes, the bin, and what others put into the folder.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Opened;
use crate::fits::arx;

pub(crate) fn copy(opened: &Opened, from: &str, to: &str) {
    std::fs::create_dir(opened.path(to)).expect("a folder");
    for entry in std::fs::read_dir(opened.path(from)).expect("a folder").flatten() {
        std::fs::copy(entry.path(), opened.path(to).join(entry.file_name())).expect("copied");
    }
}

pub(crate) fn row(opened: &Opened, name: &str) -> Value {
    let fits = opened.get("/api/fits").json();
    let rows = fits["fits"].as_array().expect("rows");
    rows.iter()
        .find(|row| row["name"] == name)
        .cloned()
        .unwrap_or(Value::Null)
}

#[test]
fn pins_and_notes_follow_a_fit_through_names_the_bin_and_a_restart() {
    let mut opened = Opened::new();
    let name = arx(&opened);
    copy(&opened, &name, "another");
    let note = "<img src=x onerror=alert(1)> \"quoted\"\nsecond line é";
    let remark = |name: &str, body: Value| opened.post(&format!("/api/fits/{name}/remark"), &body);
    assert_eq!(remark(&name, json!({ "pinned": true, "note": note })).status, 200);
    assert_eq!(remark("absent", json!({ "note": "x" })).status, 404);
    let long = remark(&name, json!({ "note": "x".repeat(4001) }));
    assert!(long.status == 400 && long.text().contains("4001"), "{long:?}");
    assert_eq!(remark(&name, json!({ "colour": "red" })).status, 422);
    let fits = opened.get("/api/fits").json();
    assert_eq!(fits["fits"][0]["name"], name.as_str(), "what is pinned stands first");
    assert_eq!(
        (&fits["fits"][0]["note"], &fits["fits"][1]["note"]),
        (&json!(note), &json!(""))
    );
    opened.post(&format!("/api/fits/{name}/rename"), &json!({ "to": "kept" }));
    opened.restart();
    assert_eq!(
        (&row(&opened, "kept")["pinned"], &row(&opened, "kept")["note"]),
        (&json!(true), &json!(note))
    );
    opened.post("/api/fits/kept/discard", &json!({}));
    opened.restart();
    // Whoever has the name meanwhile has nothing of it.
    copy(&opened, "another", "kept");
    assert_eq!(row(&opened, "kept")["note"], "");
    assert_eq!(opened.post("/api/bin/kept/restore", &json!({})).status, 409);
    opened.post("/api/fits/kept/rename", &json!({ "to": "other" }));
    assert_eq!(opened.post("/api/bin/kept/restore", &json!({})).status, 200);
    assert_eq!(row(&opened, "kept")["note"], note);
    // For good.
    opened.post("/api/fits/kept/discard", &json!({}));
    for (path, status) in [
        ("..", 400),
        (".hidden", 400),
        ("absent", 404),
        ("kept", 200),
        ("kept", 404),
    ] {
        let answer = opened.post(&format!("/api/bin/{}/erase", path.replace('.', "%2E")), &json!({}));
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    assert_eq!(opened.get("/api/fits").json()["bin"], json!([]));
    copy(&opened, "another", "kept");
    assert_eq!(row(&opened, "kept")["note"], "", "what was erased is forgotten");
}

#[test]
fn names_that_a_terminal_gave_come_back_from_the_bin() {
    let opened = Opened::new();
    let name = arx(&opened);
    let hostile = "<b onmouseover=x>&'";
    copy(&opened, &name, hostile);
    assert_eq!(row(&opened, hostile)["problem"], Value::Null);
    let path = "%3Cb%20onmouseover%3Dx%3E%26%27";
    assert_eq!(
        opened.post(&format!("/api/fits/{path}/discard"), &json!({})).json()["bin"],
        hostile
    );
    assert_eq!(opened.post(&format!("/api/bin/{path}/restore"), &json!({})).status, 200);
    assert_eq!(row(&opened, hostile)["name"], hostile);
}

#[test]
fn a_fit_that_a_terminal_makes_is_told_without_a_restart() {
    let opened = Opened::new();
    let name = arx(&opened);
    let mut stream = TcpStream::connect(opened.address()).expect("connected");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    let (address, cookie) = (opened.address(), &opened.cookie);
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n"
    )
    .expect("sent");
    let mut lines = BufReader::new(stream).lines();
    let mut listing = || -> u64 {
        let line = lines
            .by_ref()
            .map(|line| line.expect("an event"))
            .find(|line| line.starts_with("data: "));
        let event: Value = serde_json::from_str(&line.expect("an event")["data: ".len()..]).expect("JSON");
        event["listing"].as_u64().expect("a number")
    };
    let before = listing();
    // The folder is looked at once before anything can be seen to change.
    std::thread::sleep(Duration::from_millis(1500));
    copy(&opened, &name, "from-a-terminal");
    assert!(listing() > before);
    assert_eq!(row(&opened, "from-a-terminal")["problem"], Value::Null);
}
