//! What is refused, and that nobody else suffers from it.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use intervalid_studio::{Limits, Studio, StudioConfig, StudioError};
use serde_json::json;

use crate::client::{Opened, admitted, csv, raw, start};

#[test]
fn nobody_gets_in_without_the_link() {
    let opened = Opened::new();
    let address = opened.address();
    let ask = |path: &str, headers: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n");
        raw(address, head.as_bytes()).status
    };
    let name = opened.cookie.split('=').next().expect("a name");
    for path in [
        "/",
        "/?token=",
        "/?token=0123",
        "/api/data",
        "/assets/main.js",
        "/api/events",
        "/api/data?token=1",
    ] {
        assert_eq!(ask(path, ""), 401, "{path}");
        assert_eq!(
            ask(path, &format!("Cookie: {name}={}\r\n", "0".repeat(64))),
            401,
            "{path}"
        );
    }
    assert_eq!(opened.get("/").status, 200);
    // The link that was used lets nobody else in, the next one does, once.
    let studio = opened.studio.as_ref().expect("running");
    let second = admitted(studio);
    assert_eq!(second, opened.cookie, "the same session in another browser");
    let link = studio.link();
    let path = link.split_once(&address.to_string()).expect("an address").1;
    assert_eq!((ask(path, ""), ask(path, "")), (303, 401));
}

#[test]
fn foreign_hosts_and_origins_are_refused_whatever_cookie_they_bring() {
    let opened = Opened::new();
    let (address, cookie) = (opened.address(), &opened.cookie);
    let ask = |method: &str, host: &str, origin: Option<&str>| {
        let origin = origin.map_or_else(String::new, |origin| format!("Origin: {origin}\r\n"));
        let head = format!(
            "{method} /api/jobs HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n{origin}\r\n{{}}"
        );
        raw(address, head.as_bytes()).status
    };
    let (own, port) = (address.to_string(), address.port());
    for host in [
        format!("evil.example:{port}"),
        "evil.example".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1:1".to_owned(),
        format!("192.168.0.7:{port}"),
        format!("{own}@evil.example"),
    ] {
        assert_eq!(ask("GET", &host, None), 403, "{host}");
    }
    assert_eq!(ask("GET", &format!("localhost:{port}"), None), 200);
    for origin in [
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        "http://127.0.0.1:1",
        &format!("https://{own}"),
    ] {
        assert_eq!(ask("GET", &own, Some(origin)), 403, "{origin}");
        assert_eq!(ask("POST", &own, Some(origin)), 403, "{origin}");
    }
    assert_eq!(ask("POST", &own, None), 403, "a change without an origin");
    // The right one is let through to the order, which lacks its data.
    assert_eq!(ask("POST", &own, Some(&format!("http://{own}"))), 422);
    let two =
        format!("GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n");
    assert!([400, 403].contains(&raw(address, two.as_bytes()).status));
}

#[test]
fn every_answer_carries_the_policy() {
    let opened = Opened::new();
    for path in ["/", "/assets/main.js", "/api/data", "/nothing", "/api/data/absent.csv"] {
        let answer = opened.get(path);
        assert!(
            answer
                .headers
                .contains("content-security-policy: default-src 'none'; script-src 'self'"),
            "{path}: {answer:?}"
        );
        for header in [
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(answer.headers.contains(header), "{path}: {header}");
        }
    }
    let page = opened.get("/").text();
    assert!(
        !page.contains("<script>") && !page.contains(" style=") && !page.contains("http://"),
        "nothing inline, nothing foreign"
    );
}

#[test]
fn no_path_leads_out_of_the_workspace() {
    let opened = Opened::new();
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret.csv"), csv(50)).expect("written");
    let absolute = outside
        .path()
        .join("secret.csv")
        .display()
        .to_string()
        .replace('/', "%2F");
    let names = [
        "..%2F..%2Fetc%2Fpasswd",
        "..",
        "%2e%2e%2fsecret.csv",
        "a%00.csv",
        "..%5Csecret.csv",
        ".intervalid-studio",
        ".hidden.csv",
        "%2Fetc%2Fpasswd",
        "C%3Asecret.csv",
        absolute.as_str(),
    ];
    for name in names {
        for path in [
            format!("/api/data/{name}"),
            format!("/api/data/{name}/series"),
            format!("/api/fits/{name}"),
            format!("/fits/{name}/report"),
            format!("/fits/{name}/download/model.safetensors"),
        ] {
            let answer = opened.get(&path);
            assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        }
        let answer = opened.put(&format!("/api/data/{name}"), b"u,y\n1,2\n");
        assert!([400, 404, 405].contains(&answer.status), "{name}: {answer:?}");
    }
    for what in ["..%2F..%2Fstate.json", "manifest.json", "%2Fetc%2Fpasswd"] {
        assert_eq!(opened.get(&format!("/fits/x/download/{what}")).status, 404, "{what}");
    }
    let answer = opened.post("/api/bin/..%2F..%2Fx/restore", &json!({}));
    assert_eq!(answer.status, 400, "{answer:?}");
    assert_eq!(std::fs::read_dir(outside.path()).expect("a folder").count(), 1);
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_outside() {
    use std::os::unix::fs::symlink;
    let opened = Opened::new();
    let outside = tempfile::tempdir().expect("a folder");
    let file = outside.path().join("secret.csv");
    std::fs::write(&file, csv(50)).expect("written");
    std::fs::write(outside.path().join("metrics.json"), "{}").expect("written");
    std::fs::write(outside.path().join("model.safetensors"), "x").expect("written");
    symlink(&file, opened.path("link.csv")).expect("linked");
    symlink(outside.path(), opened.path("fit")).expect("linked");
    symlink(opened.path(".intervalid-studio/state.json"), opened.path("own.txt")).expect("linked");
    std::fs::create_dir(opened.path("half")).expect("a folder");
    for name in ["metrics.json", "model.safetensors"] {
        symlink(outside.path().join(name), opened.path("half").join(name)).expect("linked");
    }
    for path in [
        "/api/data/link.csv",
        "/api/data/link.csv/series",
        "/api/data/own.txt",
        "/api/fits/fit",
        "/fits/fit/download/metrics.json",
        "/fits/half/download/metrics.json",
    ] {
        let answer = opened.get(path);
        assert!(
            [400, 404].contains(&answer.status) && !answer.text().contains("valve"),
            "{path}: {answer:?}"
        );
    }
    let records = opened.get("/api/data").text();
    assert!(!records.contains("link.csv"), "{records}");
    assert_eq!(
        opened.put("/api/data/link.csv", b"u,y\n1,2\n").status,
        409,
        "nothing is written through a link"
    );
    assert!(
        std::fs::read_to_string(&file)
            .expect("still there")
            .starts_with("time,")
    );
}

fn files(opened: &Opened) -> Vec<String> {
    let entries = std::fs::read_dir(opened.folder.path()).expect("a folder").flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn large_and_slow_uploads_leave_nothing() {
    let opened = Opened::with(Limits {
        upload_bytes: 10_000,
        upload_idle_seconds: 0.3,
        ..Limits::default()
    });
    let (address, cookie) = (opened.address(), &opened.cookie);
    let head = |length: &str| {
        format!(
            "PUT /api/data/big.csv HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nCookie: {cookie}\r\nConnection: close\r\n{length}\r\n\r\n"
        )
    };
    // A gigabyte that is announced is refused before it is sent.
    assert_eq!(raw(address, head("Content-Length: 1073741824").as_bytes()).status, 413);
    // One that is not announced is cut off.
    let chunk = format!("1000\r\n{}\r\n", "7".repeat(0x1000));
    let endless = [head("Transfer-Encoding: chunked"), chunk.repeat(20)].concat();
    assert_eq!(raw(address, endless.as_bytes()).status, 413);
    // One that never comes is given up.
    assert_eq!(
        raw(
            address,
            [head("Content-Length: 900").as_str(), "u,y\n1"].concat().as_bytes()
        )
        .status,
        408
    );
    assert_eq!(files(&opened), [".intervalid-studio"]);
    assert_eq!(opened.put("/api/data/notes.exe", b"x").status, 400);
    assert_eq!(opened.put("/api/data/ok.csv", csv(60).as_bytes()).status, 201);
    assert_eq!(
        opened.put("/api/data/ok.csv", b"u,y\n1,2\n").status,
        409,
        "what is there stays"
    );
    let large = json!({ "data": "x".repeat(3 << 20) });
    assert_eq!(opened.post("/api/jobs", &large).status, 413, "other requests are small");
}

#[test]
fn slow_clients_keep_nobody_waiting_and_are_let_go() {
    let opened = Opened::with(Limits {
        header_seconds: 3.0,
        ..Limits::default()
    });
    let mut slow: Vec<TcpStream> = (0..40)
        .map(|_| TcpStream::connect(opened.address()).expect("connected"))
        .collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nHos").expect("sent");
    }
    assert_eq!(opened.get("/api/data").status, 200);
    slow[0].set_nonblocking(true).expect("set");
    let waits = slow[0].read(&mut [0]).expect_err("nothing to read");
    assert_eq!(
        waits.kind(),
        ErrorKind::WouldBlock,
        "others are served while slow ones are waited for"
    );
    slow[0].set_nonblocking(false).expect("set");
    for mut stream in slow {
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a timeout");
        // Closed by the server, with or without a word, and not given up by us.
        let ended = stream.read_to_end(&mut Vec::new());
        let gave_up = ended.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
        assert!(!gave_up, "the server let go");
    }
}

#[test]
fn connections_beyond_the_limit_wait_for_a_place() {
    let opened = Opened::with(Limits {
        connections: 2,
        header_seconds: 0.5,
        ..Limits::default()
    });
    let held: Vec<TcpStream> = (0..2)
        .map(|_| TcpStream::connect(opened.address()).expect("connected"))
        .collect();
    assert_eq!(
        opened.get("/api/data").status,
        200,
        "as soon as the idle ones were let go"
    );
    drop(held);
}

#[test]
fn ten_clients_at_once() {
    let opened = Opened::new();
    assert_eq!(opened.put("/api/data/plant.csv", csv(2000).as_bytes()).status, 201);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..10)
            .map(|client| {
                let opened = &opened;
                scope.spawn(move || {
                    for round in 0..5 {
                        let view = opened.get("/api/data/plant.csv").json();
                        assert_eq!(view["summary"]["samples"], 2000);
                        let path = format!(
                            "/api/data/hair-dryer/series?from={}&to=900&pixels=100",
                            client * 10 + round
                        );
                        assert_eq!(opened.get(&path).json()["to"], 900);
                        assert_eq!(opened.get("/api/jobs").status, 200);
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().expect("served"));
    });
}

#[test]
fn a_workspace_has_one_studio() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = start(folder.path(), Limits::default());
    let second = Studio::start(StudioConfig::new(folder.path()));
    assert!(matches!(second, Err(StudioError::Busy { .. })));
    let port = first.address().port();
    let taken = StudioConfig {
        port,
        ..StudioConfig::new(folder.path().join("other"))
    };
    assert!(matches!(Studio::start(taken), Err(StudioError::Listen { .. })));
    drop(first);
    std::fs::write(folder.path().join(".intervalid-studio/state.json"), "{").expect("written");
    let damaged = Studio::start(StudioConfig::new(folder.path()));
    assert!(matches!(damaged, Err(StudioError::State { .. })), "never overwritten");
}
