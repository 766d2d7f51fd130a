//! `studio` as a process: it says where it is, refuses what cannot be, and loses nothing when it is killed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::promised::SERVERS;
use crate::support::Folder;

/// A studio that is ended with the test.
struct Server {
    child: Child,
    address: String,
    cookie: String,
}

impl Server {
    fn start(folder: &Folder, arguments: &[&str]) -> (Self, Value) {
        let mut child = folder
            .command(&[arguments, &["--json"]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut depth = 0_i32;
        let mut text = String::new();
        // One object, on one line or several.
        while lines.read_line(&mut line).is_ok_and(|count| count > 0) {
            depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
            text += &line;
            line.clear();
            if depth == 0 {
                break;
            }
        }
        let started: Value = serde_json::from_str(&text).expect("JSON");
        let url = started["url"].as_str().expect("a link");
        let (address, path) = url["http://".len()..].split_once('/').expect("a path");
        let mut server = Self {
            child,
            address: address.to_owned(),
            cookie: String::new(),
        };
        let answer = server.send("GET", &format!("/{path}"), "");
        let cookie = answer
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "))
            .expect("a cookie");
        server.cookie = cookie.split(';').next().expect("a pair").to_owned();
        (server, started)
    }

    fn send(&self, method: &str, path: &str, body: &str) -> String {
        let Self { address, cookie, .. } = self;
        let mut stream = TcpStream::connect(address).expect("connected");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nCookie: {cookie}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn wait(&self, word: &str) {
        let begun = Instant::now();
        while !self.send("GET", "/api/jobs", "").contains(word) {
            assert!(begun.elapsed() < Duration::from_secs(60), "never {word}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_says_where_it_is() {
    let folder = Folder::new();
    for &(arguments, shape) in SERVERS {
        let (server, started) = Server::start(&folder, arguments);
        let differences = shape.differences(&started);
        assert!(differences.is_empty(), "{differences:?}");
        assert_eq!(started["address"], "127.0.0.1", "this machine alone");
        assert!(server.send("GET", "/", "").contains("<title>intervalid studio</title>"));
        // The folder is taken, which is a mistake in the arguments of who comes next.
        let second = folder.run(arguments);
        assert_eq!(second.status.code(), Some(2));
        let port = started["port"].to_string();
        let other = folder.run(&["studio", "elsewhere", "--no-open", "--port", &port]);
        assert_eq!(other.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&other.stderr).contains("--port"));
    }
    folder.write("file", "x");
    assert_eq!(folder.run(&["studio", "file"]).status.code(), Some(2));
    assert_eq!(folder.run(&["studio", "--listen", "plant"]).status.code(), Some(2));
}

#[test]
fn killed_in_the_middle_of_a_fit_it_loses_nothing_that_was_finished() {
    let folder = Folder::new();
    let arguments = ["studio", "w", "--no-open"];
    let (mut server, _) = Server::start(&folder, &arguments);
    let order =
        |name: &str, settings: Value| json!({ "data": "hair-dryer", "name": name, "settings": settings }).to_string();
    server.send(
        "POST",
        "/api/jobs",
        &order("quick", json!({ "preset": "paper", "model": "arx" })),
    );
    server.wait("\"done\"");
    server.send(
        "POST",
        "/api/jobs",
        &order(
            "slow",
            json!({ "preset": "paper", "model": "inode", "epochs": 50_000, "patience": 50_000 }),
        ),
    );
    server.wait("\"losses\":[[");
    server.child.kill().expect("killed");
    server.child.wait().expect("ended");
    let (server, _) = Server::start(&folder, &arguments);
    let jobs = server.send("GET", "/api/jobs", "");
    assert!(jobs.contains("\"done\"") && jobs.contains("\"interrupted\""), "{jobs}");
    let fits = server.send("GET", "/api/fits", "");
    assert!(fits.contains("\"quick\"") && !fits.contains("\"slow\""), "{fits}");
    // The command line reads what the studio wrote.
    let evaluated = folder.json(&["evaluate", "w/quick", "hair-dryer", "--json"]);
    assert_eq!(evaluated["model"], "arx");
}

#[test]
fn the_printed_command_repeats_what_was_clicked() {
    let folder = Folder::new();
    let (server, _) = Server::start(&folder, &["studio", "w", "--no-open"]);
    let mut text = String::from("time,valve,level\n");
    let mut level = 0.0;
    for sample in 0..400_u32 {
        let valve = f64::from(sample.wrapping_mul(2_654_435_761) >> 24) / 256.0;
        text += &format!("{:.1},{valve:.4},{level:.4}\n", f64::from(sample) * 0.5);
        level = 0.8 * level + valve;
    }
    folder.write("w/my plant.csv", &text);
    folder.write("w/second run.csv", &text);
    let choice = json!({
        "options": { "inputs": ["valve"], "outputs": ["level"], "units": [["level", "m"]] },
        "split": "0.5,0.2,0.3", "more": ["second run.csv"],
    });
    let answer = server.send("POST", "/api/data/my%20plant.csv/choice", &choice.to_string());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let orders = [
        (
            "linear",
            json!({ "preset": "paper", "model": "arx", "lags": "1,1,1", "coverage": 0.8 }),
            Value::Null,
        ),
        (
            "network",
            json!({ "preset": "paper", "model": "inode", "epochs": 3, "hidden": [4], "seed": 5 }),
            Value::Null,
        ),
        ("search", json!({ "seed": 2 }), json!(3.0)),
    ];
    for (name, settings, budget) in &orders {
        let order = json!({ "data": "my plant.csv", "name": name, "settings": settings, "budget": budget });
        let answer = server.send("POST", "/api/jobs", &order.to_string());
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }
    server.wait(r#""name":"search","order""#);
    let begun = Instant::now();
    while server.send("GET", "/api/jobs", "").matches("\"done\"").count() < orders.len() {
        assert!(begun.elapsed() < Duration::from_secs(90), "not done");
        std::thread::sleep(Duration::from_millis(50));
    }
    for (name, ..) in &orders {
        let answer = server.send("GET", &format!("/api/fits/{name}/words"), "");
        let body = answer.split("\r\n\r\n").nth(1).expect("a body");
        let words: Value = serde_json::from_str(body).expect("JSON");
        let line = words["command_line"][0].as_str().expect("a line");
        let mut arguments = shlex::split(line).expect("words of a shell");
        assert_eq!(arguments.remove(0), "intervalid");
        let again = format!("again-{name}");
        arguments.extend(["--out".to_owned(), again.clone()]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = folder.run(&arguments);
        assert!(
            output.status.success(),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let metrics = |path: &str| {
            let text = std::fs::read_to_string(folder.path().join(path).join("metrics.json")).expect("numbers");
            let mut metrics: Value = serde_json::from_str(&text).expect("JSON");
            forget_times(&mut metrics);
            metrics
        };
        assert_eq!(metrics(&format!("w/{name}")), metrics(&again), "{line}");
    }
}

/// What may differ: seconds, the folder, and how a search ended, one by its time in the middle of a round, its repetition after as many whole
/// ones. Nothing else may.
const MAY_DIFFER: [&str; 5] = ["out", "end", "capped", "stopped_because", "work"];

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("seconds") && !MAY_DIFFER.contains(&name.as_str()));
            fields.values_mut().for_each(forget_times);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_times),
        _ => {}
    }
}
